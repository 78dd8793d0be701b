"""Robots: frozen, validated descriptions with the public methods."""
