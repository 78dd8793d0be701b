"""Stewart platforms: universal joints at the base, prismatic legs, spherical joints at the platform (6-UPS)."""
