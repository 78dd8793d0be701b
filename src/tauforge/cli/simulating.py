"""`simulate`: a robot under control, step by step."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tauforge.cli.arguments import (
    Json,
    Lock,
    PayloadOption,
    Robot,
    Smooth,
    Tip,
    bad,
    load_robot,
    parse_payload,
    quantities,
    quantity,
    robot_carrying,
)
from tauforge.cli.csv_files import STDOUT, check_output, read_motion, write_output
from tauforge.cli.limits import warn_of_forces
from tauforge.cli.output import note, result, seconds, working
from tauforge.cli.simulation_tables import ends, error_rows, force_rows, summary, tables
from tauforge.errors import UnsupportedFeatureError
from tauforge.terminal import one_line

if TYPE_CHECKING:
    from tauforge.robots.robot import Robot as AnyRobot
    from tauforge.simulation.recording import Recording

CONTROLLERS = ("computed-torque", "pd", "gravity-pd", "none")
METHODS = ("rk4", "dormand-prince", "symplectic")
MOVES = {"joint-move": "joint coordinates", "pose-move": "poses"}
COULOMB_SPEED = 0.01  # rad/s or m/s, over which Coulomb friction is smoothed if the robot does not say
EVENTS_SHOWN = 10


def complete_controller(incomplete: str) -> list[str]:
    return [name for name in CONTROLLERS if name.startswith(incomplete)]


def complete_method(incomplete: str) -> list[str]:
    return [name for name in METHODS if name.startswith(incomplete)]


def simulate(
    robot: Robot,
    motion: Annotated[
        str,
        typer.Option(
            metavar="FILE.csv | joint-move:FROM:TO:SECONDS[:PROFILE]",
            help="What to follow: a file, or a move such as joint-move:0,0:90deg,-0.5:2 of an arm's joints, "
            "pose-move:... of a platform. It starts there.",
        ),
    ],
    controller: Annotated[
        str, typer.Option(help=" | ".join(CONTROLLERS), autocompletion=complete_controller)
    ] = "computed-torque",
    kp: Annotated[
        str | None, typer.Option(metavar="GAIN[,...]", help="One for all or one each; computed torque: 100 1/s^2.")
    ] = None,
    kv: Annotated[
        str | None, typer.Option(metavar="GAIN[,...]", help="One for all or one each; computed torque: 20 1/s.")
    ] = None,
    duration: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Default the motion's; up to a whole period.")
    ] = None,
    step: Annotated[float, typer.Option(metavar="SECONDS", help="Between two rows.")] = 1e-3,
    control_period: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="The controller is asked that often; default at every instant."),
    ] = None,
    method: Annotated[str, typer.Option(help=" | ".join(METHODS), autocompletion=complete_method)] = "rk4",
    payload: PayloadOption = None,
    smooth: Smooth = None,
    coulomb_speed: Annotated[
        float | None,
        typer.Option(metavar="SPEED", help="rad/s over which Coulomb friction is smoothed; default 0.01."),
    ] = None,
    force_limits: Annotated[bool, typer.Option("--force-limits", help="Actuators give no more than they can.")] = False,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE.png", help="Position, error and force, a panel for each unit; .svg, .pdf too."),
    ] = None,
    animation: Annotated[
        Path | None,
        typer.Option(
            "--animation", metavar="FILE.html", help="The robot as it moves, with its forces; .gif, .mp4 too."
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The run: .csv, which other commands read, or .npz; - for stdout."
        ),
    ] = None,
    tip: Tip = None,
    lock: Lock = None,
    as_json: Json = False,
) -> None:
    """A robot that follows a motion under control, and how well it does. The controller knows nothing of a payload."""
    from tauforge.pictures.animation import SUFFIXES, animate, checked_suffix
    from tauforge.simulation.simulate import simulate as run

    inputs = [robot, motion]
    check_output(output, inputs, (".csv", ".npz"), as_json)
    check_output(None if plot is None else str(plot), inputs, (".png", ".svg", ".pdf"), option="--plot")
    check_output(None if animation is None else str(animation), inputs, SUFFIXES, option="--animation")
    if animation is not None:
        checked_suffix(animation)
    mine = _smoothed(load_robot(robot, tip, lock), coulomb_speed)
    if controller not in CONTROLLERS:
        raise bad("--controller", f"expected one of {', '.join(CONTROLLERS)}, got {controller!r}")
    if method not in METHODS:
        raise bad("--method", f"expected one of {', '.join(METHODS)}, got {method!r}")
    limits = _own_limits(mine) if force_limits else None
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
            plant=robot_carrying(mine, parse_payload(payload)),
            force_limits=limits,
        )
    if plot is not None:
        _draw(recording, plot)
    if animation is not None:
        with working("drawing the animation"):
            animate(mine, recording, animation)
    if output == STDOUT:
        write_output(output, recording.write_csv)
        return
    if output is not None:
        recording.save(output)
    errors, forces = error_rows(recording), force_rows(recording)
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


def _own_limits(robot: AnyRobot) -> str:
    """What the library calls the robot's own limits; bad use where it has none."""
    if not any(math.isfinite(actuator.max_force) for actuator in robot.actuators):
        raise bad("--force-limits", f"{robot.name} has no force limits; its file can give them")
    return "robot"


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
    missing = [f"--{option}" for option in ("kp", "kv") if option not in gains]
    if missing:
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


def _draw(recording: Recording, path: Path) -> None:
    from tauforge.files import written_whole

    figure = recording.plot()
    with written_whole(path) as file:
        figure.savefig(file, format=path.suffix[1:].lower(), dpi=150)


COMMANDS = (("simulate", simulate),)
