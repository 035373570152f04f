#include "shape.h"

#include <cmath>
#include <ostream>

namespace geo {

namespace {
constexpr double kPi = 3.14159;
}

class Circle : public Shape {
 public:
  explicit Circle(double radius);
  double area() const override;
  bool operator==(const Circle& other) const {
    return radius_ == other.radius_;
  }

 private:
  double radius_;
};

Circle::Circle(double radius) : Shape("circle"), radius_(radius) {}

// Pi r squared.
double Circle::area() const {
  return kPi * std::pow(radius_, 2);
}

template <typename T>
void Box<T>::put(T item) {
  items_.push_back(item);
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  return out << shape.name();
}

}  // namespace geo

int main() {
  geo::Circle circle(2);
  return static_cast<int>(circle.area());
}
