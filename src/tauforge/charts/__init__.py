"""Figures as data, and their drawing by matplotlib (PNG, SVG)."""
