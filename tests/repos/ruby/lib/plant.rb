class Garden::Plant
  Needs = Struct.new(:light, :water) do
    def modest?
      light < 3
    end
  end

  def drink(litres)
    @water += litres
  end
end

def plant(name)
  Garden::Plant.new(name)
end
