# frozen_string_literal: true

require_relative "garden/plant"

# What grows, and when it is watered.
module Garden
  SEASONS = %i[spring summer].freeze

  class Error < StandardError; end

  # A bed with its plants.
  class Bed < Base::Plot
    include Enumerable
    attr_reader :plants

    def initialize(plants = [])
      @plants = plants
    end

    # Every plant in turn.
    def each(&block)
      plants.each(&block)
    end

    def thirsty? = plants.any?(&:dry?)

    class << self
      def of(*names)
        new(names.map { |name| Plant.new(name) })
      end
    end
  end

  def self.water(bed)
    bed.each { |plant| plant.drink(1) }
  end
end

Garden.water(Garden::Bed.of("rose"))
