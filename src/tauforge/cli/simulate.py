"""`simulate`: a robot under control, step by step."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tauforge.cli.inputs import load_robot, quantities, quantity, read_motion, robot_carrying, warn_of_forces
from tauforge.cli.options import File, Json, Lock, PayloadOption, Robot, Smooth, Tip, names_in, setting, switch
from tauforge.cli.output import STDOUT, bad, check_output, note, records, result, seconds, table, working, write_output
from tauforge.errors import UnsupportedFeatureError, one_line
from tauforge.units import number

if TYPE_CHECKING:
    from tauforge.cli.output import Records
    from tauforge.robots.robot import Robot as AnyRobot
    from tauforge.simulation.recording import Recording

CONTROLLERS = ("computed-torque", "pd", "gravity-pd", "none")
METHODS = ("rk4", "dormand-prince", "symplectic")
MOVES = {"joint-move": "joint coordinates", "pose-move": "poses"}
COULOMB_SPEED = 0.01  # rad/s or m/s, over which Coulomb friction is smoothed if the robot does not say
EVENTS_SHOWN = 10


complete_controller, complete_method = names_in(__name__, "CONTROLLERS"), names_in(__name__, "METHODS")


def simulate(
    robot: Robot,
    motion: Annotated[
        str,
        setting(
            "FILE.csv | joint-move:FROM:TO:SECONDS[:PROFILE]",
            "What to follow: a file, or a move such as joint-move:0,0:90deg,-0.5:2 of an arm's joints, "
            "pose-move:... of a platform. It starts there.",
        ),
    ],
    controller: Annotated[
        str, typer.Option(help=" | ".join(CONTROLLERS), autocompletion=complete_controller)
    ] = "computed-torque",
    kp: Annotated[str | None, setting("GAIN[,...]", "One for all or one each; computed torque: 100 1/s^2.")] = None,
    kv: Annotated[str | None, setting("GAIN[,...]", "One for all or one each; computed torque: 20 1/s.")] = None,
    duration: Annotated[float | None, setting("SECONDS", "Default the motion's; up to a whole period.")] = None,
    step: Annotated[float, setting("SECONDS", "Between two rows.")] = 1e-3,
    control_period: Annotated[
        float | None, setting("SECONDS", "The controller is asked that often; default at every instant.")
    ] = None,
    method: Annotated[str, typer.Option(help=" | ".join(METHODS), autocompletion=complete_method)] = "rk4",
    payload: PayloadOption = None,
    smooth: Smooth = None,
    coulomb_speed: Annotated[
        float | None, setting("SPEED", "rad/s over which Coulomb friction is smoothed; default 0.01.")
    ] = None,
    force_limits: Annotated[bool, switch("--force-limits", "Actuators give no more than they can.")] = False,
    plot: Annotated[
        File, setting("FILE.png", "Position, error and force, a panel for each unit; .svg, .pdf too.")
    ] = None,
    animation: Annotated[File, setting("FILE.html", "The robot as it moves, with its forces; .gif, .mp4 too.")] = None,
    output: Annotated[
        str | None,
        setting("FILE", "The run: .csv, which other commands read, or .npz; - for stdout.", "--output", "-o"),
    ] = None,
    tip: Tip = None,
    lock: Lock = None,
    as_json: Json = False,
) -> None:
    """A robot that follows a motion under control, and how well it does. The controller knows nothing of a payload."""
    from tauforge.charts.with_matplotlib import save_figure
    from tauforge.pictures.animation import SUFFIXES, animate, checked_suffix
    from tauforge.simulation.simulate import simulate as run

    inputs = [robot, motion]
    check_output(output, inputs, (".csv", ".npz"), as_json)
    check_output(None if plot is None else str(plot), inputs, (".png", ".svg", ".pdf"), option="--plot")
    check_output(None if animation is None else str(animation), inputs, SUFFIXES, option="--animation")
    if animation is not None:
        checked_suffix(animation)
    mine = _smoothed(load_robot(robot, tip, lock), coulomb_speed)
    for option, name, known in (("--controller", controller, CONTROLLERS), ("--method", method, METHODS)):
        if name not in known:
            raise bad(option, f"expected one of {', '.join(known)}, got {name!r}")
    if force_limits and not any(math.isfinite(actuator.max_force) for actuator in mine.actuators):
        raise bad("--force-limits", f"{mine.name} has no force limits; its file can give them")
    law = _law(controller, mine, kp, kv)
    wanted = _motion(motion, mine, smooth)
    with working(f"simulating {mine.name}"):
        recording = run(
            mine,
            law,
            wanted,
            duration=duration,
            step=step,
            method=method,
            control_period=control_period,
            plant=robot_carrying(mine, payload),
            force_limits="robot" if force_limits else None,
        )
    if plot is not None:
        save_figure(recording.plot(), plot)
    if animation is not None:
        with working("drawing the animation"):
            animate(mine, recording, animation)
    if output == STDOUT:
        write_output(output, recording.write_csv)
        return
    if output is not None:
        recording.save(output)
    errors, forces = peak_records(recording)
    warn_of_forces(mine, [entry["peak_force"] for entry in forces])

    def shown() -> Any:
        length = f"{seconds(recording.time[-1])} s in steps of {seconds(step)} s"
        if law is None:
            yield ends(f"{recording.robot} without control: {length}", recording)
        else:
            yield from tables(f"{recording.robot} under {controller}: {length}", errors, forces)
        for event in recording.events[:EVENTS_SHOWN]:
            yield one_line(f"at {seconds(event.time)} s: {event.what}: {event.which}{event.repeats}")
        if len(recording.events) > EVENTS_SHOWN:
            yield f"and {len(recording.events) - EVENTS_SHOWN} more events"
        yield from (f"written to {file}" for file in (output, plot, animation) if file is not None)

    data = {"robot": recording.robot, "controller": controller, "method": method, "step": step}
    data |= {"duration": recording.time[-1], **summary(errors, forces), "events": recording.events}
    result(as_json, {**data, "output": output, "plot": plot, "animation": animation}, shown)


def _smoothed(robot: AnyRobot, speed: float | None) -> AnyRobot:
    from tauforge.robots.capabilities import Dissipation

    friction = robot.dissipation or Dissipation(robot)
    if speed is not None:
        try:
            return friction.smoothed(speed)
        except UnsupportedFeatureError as error:
            raise bad("--coulomb-speed", error.reason) from None
    if not friction.jumps:
        return robot
    note(f"Coulomb friction is smoothed over {COULOMB_SPEED} rad/s; --coulomb-speed sets another")
    return friction.smoothed(COULOMB_SPEED)


def _law(name: str, robot: Any, kp: str | None, kv: str | None) -> Any:
    from tauforge import control

    gains: dict[str, Any] = {}
    for option, text in (("kp", kp), ("kv", kv)):
        if text is not None:
            values = [quantity(f"--{option}", part) for part in text.split(",")]
            gains[option] = values[0] if len(values) == 1 else values
    if name == "none":
        if gains:
            raise bad(f"--{next(iter(gains))}", "--controller none takes no gains")
        return None
    if name == "computed-torque":
        return control.ComputedTorque(robot, **gains)
    if missing := [f"--{option}" for option in ("kp", "kv") if option not in gains]:
        units = "N m/rad and N m s/rad, N/m and N s/m for what slides"
        raise bad(missing[0], f"{name} needs this gain, and no default suits all robots; give --kp and --kv in {units}")
    return (control.PD if name == "pd" else control.GravityPD)(robot, **gains)


def _motion(text: str, robot: AnyRobot, smooth: float | None) -> Any:
    import numpy as np

    from tauforge.motion import JointMove, PoseMotion

    kind, colon, rest = text.partition(":")
    if not colon or kind not in MOVES:
        if Path(text).suffix.lower() != ".csv":
            raise bad("--motion", f"expected a .csv file, joint-move:... or pose-move:..., got {text!r}")
        return read_motion(Path(text), robot, smooth)
    if smooth is not None:
        raise bad("--smooth", f"only files are smoothed; a {kind} is smooth already")
    own = "pose-move" if robot.positions.pose else "joint-move"
    if kind != own:
        raise bad("--motion", f"{kind} gives {MOVES[kind]}; {robot.name} needs {own}")
    parts = rest.split(":")
    if len(parts) not in (3, 4):
        raise bad("--motion", f"expected {kind}:FROM:TO:SECONDS[:PROFILE], got {text!r}")
    kinds = [coordinate.unit for coordinate in robot.coordinates]
    start, end = (np.array(quantities("--motion", part, kinds)) for part in parts[:2])
    turns = np.round((start + robot.positions.error(end, start) - end) / (2 * np.pi))
    end = end + 2 * np.pi * turns  # the short way round
    move = JointMove(start, end, quantity("--motion", parts[2], "s"), *parts[3:])
    return PoseMotion(move) if robot.positions.pose else move


def ends(title: str, recording: Recording) -> Any:
    columns = zip(recording.names, recording.units, recording.position[0], recording.position[-1], strict=True)
    rows = [(name, unit, number(first), number(last)) for name, unit, first, last in columns]
    return table(title, ("", "unit", "at the start", "at the end"), rows, texts=2)


def tables(title: str, of_coordinates: Records, of_actuators: Records) -> Iterator[Any]:
    """Errors beside forces where every coordinate has its own actuator, else one after the other."""
    errors, forces = [], []
    for r in of_coordinates:
        largest, final = (f"{number(r[key])} {r['unit']}" for key in ("largest_error", "final_error"))
        errors.append((r["name"], largest, seconds(r["time_of_largest_error"]), final))
    for r in of_actuators:
        peak = f"{number(r['peak_force'])} {r['force_unit']}"
        forces.append((r["actuator"], peak, seconds(r["time_of_peak_force"])))
    of_errors, of_forces = ("", "largest error", "at [s]", "error at the end"), ("", "peak force", "at [s]")
    if [row[0] for row in errors] == [row[0] for row in forces]:
        rows = [(*error, *force[1:]) for error, force in zip(errors, forces, strict=True)]
        yield table(title, (*of_errors, *of_forces[1:]), rows)
    else:
        yield table(title, of_errors, errors)
        yield table("", of_forces, forces)


def summary(errors: Records, forces: Records) -> dict[str, Records]:
    """Forces beside the errors if there are as many actuators as coordinates, else under a name of their own."""
    if len(errors) == len(forces):
        return {"coordinates": [error | force for error, force in zip(errors, forces, strict=True)]}
    return {"coordinates": errors, "actuators": forces}


def peak_records(run: Recording) -> tuple[Records, Records]:
    """Errors of all coordinates, and forces of all actuators."""
    import numpy as np

    from tauforge.analysis.stewart_sizing import peak_of

    worst, peak = peak_of(run.time, run.error), peak_of(run.time, run.force)
    errors = records(
        name=run.coordinate_names,
        unit=run.coordinate_units,
        largest_error=worst.value,
        time_of_largest_error=worst.time,
        rms_error=[np.sqrt((column**2).mean()) for column in run.error.T],
        final_error=run.error[-1],
        final_position=run.position[-1, run.places],
    )
    forces = records(
        actuator=run.force_names, force_unit=run.force_units, peak_force=peak.value, time_of_peak_force=peak.time
    )
    return errors, forces
