"""`sizing`: what a motion asks of a hexapod's actuators and joints."""

from __future__ import annotations

from typing import Annotated, Any

from tauforge.cli.inputs import kind_of, load_robot, parse_wrench, read_motion, robot_carrying, rows_of
from tauforge.cli.options import Json, Motion, PayloadOption, Platform, Smooth, Wrench, switch
from tauforge.cli.output import Failed, bad, number, result, seconds, table
from tauforge.errors import one_line

LEG_FUNCTIONS = ("leg_motion", "joint_reactions", "force_matrix")
DEMANDS = (
    *("peak_force", "rms_force", "peak_speed", "peak_power", "mean_power"),
    *("shortest", "longest", "stroke_used", "reactions", "margins"),
)
WELL_CONDITIONED = 1e3  # condition number above which forces are near running away


def sizing(
    platform: Platform,
    motion: Motion,
    payload: PayloadOption = None,
    wrench: Wrench = None,
    smooth: Smooth = None,
    check: Annotated[
        bool, switch("--check", "Exit code 1 where a limit is broken or a singular pose is crossed.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Peak and RMS forces, speeds, powers, strokes and joint loads of a platform over a motion, and margins."""
    from tauforge.analysis.stewart_sizing import size_actuators
    from tauforge.evaluation.functions import has

    mine = load_robot(platform)
    if not has(mine, *LEG_FUNCTIONS):
        raise bad("ROBOT", f"sizing needs a robot with legs; {mine.name} is {kind_of(mine)}")
    mine = robot_carrying(mine, payload)
    moves = read_motion(motion, mine, smooth)
    with rows_of(motion, moves.rows, moves.times):
        found = size_actuators(mine, moves.times, *moves.samples, external_wrench=parse_wrench(wrench))

    def shown() -> Any:
        span = f"{len(moves.times)} states in {seconds(moves.duration)} s"
        yield f"{one_line(mine.name)}: {span}\n"
        yield _legs_table(found)
        yield _power_table(found)
        rows = []
        for name, peak in found.reactions.items():
            value, leg, time = peak.worst
            unit = "N m" if name.endswith("moment") else "N"
            rows.append((name, f"{number(value)} {unit}", leg, seconds(time)))
        yield table("Loads on the joints of a leg, at worst", ("", "peak", "leg", "at [s]"), rows)
        yield from _verdict(found)

    data = {
        "platform": mine.name,
        "states": len(moves.times),
        "duration": moves.duration,
        "units": {"force": "N", "moment": "N m", "speed": "m/s", "power": "W", "length": "m", "time": "s"},
        "derived": moves.derived,
        **{name: getattr(found, name) for name in DEMANDS},
        "condition_number": {"value": found.condition[0], "time": found.condition[1]},
        "crosses_singularity": found.crosses_singularity,
        "within_limits": found.within_limits,
    }
    result(as_json, data, shown)
    if check and not found.within_limits:
        raise Failed


def _legs_table(found: Any) -> Any:
    header = ("leg", "peak [N]", "at [s]", "RMS [N]", "shortest [m]", "longest [m]", "stroke [m]")
    peak, columns = found.peak_force, (found.rms_force, found.shortest, found.longest, found.stroke_used)
    rows = [(_marked(i, peak), *_at(i, peak), *map(number, x)) for i, x in enumerate(zip(*columns, strict=True))]
    return table("Forces (+ extends the leg) and strokes", header, rows)


def _power_table(found: Any) -> Any:
    header = ("leg", "peak speed [m/s]", "at [s]", "peak power [W]", "at [s]", "mean power [W]")
    speed, power = found.peak_speed, found.peak_power
    rows = [(_marked(i, power), *_at(i, speed), *_at(i, power), number(x)) for i, x in enumerate(found.mean_power)]
    return table("Speeds and powers (- brakes)", header, rows)


def _at(i: int, peak: Any) -> tuple[str, str]:
    return number(peak.value[i]), seconds(peak.time[i])


def _marked(i: int, peak: Any) -> str:
    return f"{i + 1} *" if i + 1 == peak.leg and peak.value[i] else f"{i + 1}"


def _verdict(found: Any) -> Any:
    rows = []
    for margin in found.margins:
        leg = "" if margin.leg is None else margin.leg
        state = "holds" if margin.value >= 0 else "BROKEN"
        rows.append((margin.limit, state, f"{number(margin.value)} {margin.unit}", leg, seconds(margin.time)))
    if rows:
        yield table("Limits, where the margin is smallest", ("limit", "", "margin", "leg", "at [s]"), rows, texts=2)
    else:
        yield "The platform has no limits to compare with."
    value, time = found.condition
    nearness = "far from singular" if value < WELL_CONDITIONED else "near a singular pose: forces run away"
    if found.crosses_singularity:
        nearness = "a singular pose is crossed: the legs lose the platform"
    yield f"Condition number of the force matrix: at most {number(value)}, at {seconds(time)} s: {nearness}."
    yield "* the leg with the largest of all, the first of equal ones"
