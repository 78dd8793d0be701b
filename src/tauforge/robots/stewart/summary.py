"""A Stewart platform in words and tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tauforge.formulations.stewart.parameters import LEGS
from tauforge.robots.summary import (
    INERTIAS,
    PRODUCTS,
    Cell,
    Each,
    Rows,
    Span,
    Summary,
    SummaryTable,
    Words,
    six_numbers,
)

if TYPE_CHECKING:
    from tauforge.robots.stewart.stewart_platform import StewartPlatform


def summary(platform: StewartPlatform) -> Summary:
    return Summary(_headline(platform), tuple(_tables(platform)))


def _headline(platform: StewartPlatform) -> Words:
    if not platform.has_masses:
        return f"{platform.name}: Stewart platform, geometry without masses"
    legs = float(sum((*(platform.lower_mass or ()), *(platform.upper_mass or ()))))
    mass = platform.platform_mass or 0.0
    return (f"{platform.name}: Stewart platform, ", mass, " kg on legs of ", legs, " kg together")


def _tables(platform: StewartPlatform) -> Iterator[SummaryTable]:
    points: Rows = tuple((str(i + 1), *platform.base_points[i], *platform.platform_points[i]) for i in range(LEGS))
    header = ("leg", "x", "y", "z", "x'", "y'", "z'")
    yield SummaryTable("Joints [m]: x, y, z on the base, x', y', z' on the platform", header, points)
    if platform.has_masses:
        bodies = _bodies(platform)
        columns = ("body", "mass [kg]", "x [m]", "y [m]", "z [m]")
        title = "Bodies: mass, and mass centre in the platform's or the leg's axes"
        yield SummaryTable(title, columns, tuple((name, mass, *com) for name, mass, com, _ in bodies))
        inertias = tuple((name, *six_numbers(inertia)) for name, _, _, inertia in bodies)
        yield SummaryTable(INERTIAS, ("body", *PRODUCTS), inertias)
    yield SummaryTable("Limits and joints", ("what", "value"), tuple(_numbers(platform)), texts=2)


def _bodies(platform: StewartPlatform) -> list[tuple[Any, ...]]:
    """Name, mass, mass centre and inertia; the parts of legs that are alike once."""
    bodies: list[tuple[Any, ...]] = [
        ("platform", platform.platform_mass, platform.platform_com, platform.platform_inertia)
    ]
    for part in ("lower", "upper"):
        values = [getattr(platform, f"{part}_{field}") for field in ("mass", "com", "inertia")]
        alike = all(len(set(value)) == 1 for value in values)
        for i in range(1 if alike else LEGS):
            name = f"{part} part" if alike else f"{part} part, leg {i + 1}"
            bodies.append((name, *(value[i] for value in values)))
    return bodies


def _numbers(platform: StewartPlatform) -> Iterator[tuple[str, Cell]]:
    base, prismatic, top = platform.friction
    yield "base joints", platform.base_joint
    if platform.stroke is not None:
        yield "stroke [m]", Each(tuple(Span(*ends) for ends in platform.stroke))
    if platform.force_limit is not None:
        yield "force limit [N]", Each(platform.force_limit)
    if platform.cone_angles is not None:
        yield "joint cones, base and platform [rad]", platform.cone_angles
    if platform.leg_radius is not None:
        yield "leg radius [m]", platform.leg_radius
    if any(platform.reflected_mass or ()):
        yield "reflected mass of the drives [kg]", Each(platform.reflected_mass or ())
    yield "friction of base joints [N m s]", base
    yield "friction of legs [N s/m]", prismatic
    yield "friction of platform joints [N m s]", top
