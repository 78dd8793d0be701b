"""Stewart platforms: universal or spherical joints at the base, prismatic legs, spherical joints at the platform."""
