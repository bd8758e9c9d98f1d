"""Ways to bring a worker into the world: they differ in what dies with it."""
