#pragma once

#include <string>
#include <vector>

namespace geo {

/// What has an area.
class Shape {
 public:
  explicit Shape(std::string name) : name_(std::move(name)) {}
  virtual ~Shape() = default;

  virtual double area() const = 0;

  /// Its name.
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

struct Point {
  double x, y;
};

enum class Unit { Metre, Foot };

using Shapes = std::vector<Shape*>;

// The larger of two.
template <typename T>
T larger(const T& a, const T& b) {
  return a.area() > b.area() ? a : b;
}

template <typename T>
class Box {
 public:
  void put(T item);

 private:
  std::vector<T> items_;
};

}  // namespace geo
