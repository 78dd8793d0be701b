"""`sweep`: a study of a robot over a grid, into a store that goes on after any interruption."""

from __future__ import annotations

import shlex
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tauforge.cli.inputs import load_robot, pairs, quantity
from tauforge.cli.options import File, Json, Lock, Texts, Tip, complete_robot, names_in, setting, switch
from tauforge.cli.output import bad, note, number, result, table
from tauforge.errors import one_line

if TYPE_CHECKING:
    from distributed import Client

    from tauforge.sweeps.running import Outcome
    from tauforge.sweeps.study import Study


complete_study = names_in("tauforge.sweeps.builtin_studies", "STUDIES")


def sweep(
    study: Annotated[
        str | None,
        typer.Argument(metavar="STUDY", help="What to compute; --list shows all.", autocompletion=complete_study),
    ] = None,
    robot: Annotated[
        str | None,
        typer.Argument(
            metavar="ROBOT",
            help="A robot of the catalogue, or a .toml, .urdf or .xml file.",
            autocompletion=complete_robot,
        ),
    ] = None,
    axis: Annotated[
        Texts,
        setting(
            "AXIS",
            "x=-0.5:0.5:101 (first, last, count), seed=0:1000 (whole numbers below 1000) or mass=0,1,2. "
            "Numbers may carry units, such as 30deg. May be repeated; the last axis varies fastest.",
        ),
    ] = None,
    at: Annotated[
        Texts, setting("NAME=VALUE", "A coordinate that is no axis. Default: where pictures show the robot.")
    ] = None,
    option: Annotated[Texts, setting("NAME=VALUE", "An option of the study. May be repeated.")] = None,
    output: Annotated[File, setting("STORE.zarr", "A new folder, or one to go on with.", "--output", "-o")] = None,
    picture: Annotated[File, setting("FILE", "Also draw a result: .png, .svg or .pdf.")] = None,
    drawn: Annotated[
        str | None, setting("NAME", "What --picture draws. Default: the first result.", "--result")
    ] = None,
    slices: Annotated[
        Texts,
        setting(
            "NAME=VALUE",
            "Where --picture holds an axis, or which actuator it draws. It draws up to three axes.",
            "--slice",
        ),
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads of this process. Default: one a core.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes of this machine, instead of threads.")] = None,
    scheduler: Annotated[
        str | None, setting("ADDRESS", "A Dask cluster that runs, such as tcp://10.0.0.5:8786.")
    ] = None,
    verify: Annotated[
        bool, switch("--verify", "Read what is stored first, and compute again what is damaged.")
    ] = False,
    restart: Annotated[bool, switch("--restart", "Remove the sweep that is there, and begin again.")] = False,
    listed: Annotated[bool, switch("--list", "The studies, and no more.")] = False,
    tip: Tip = None,
    lock: Lock = None,
    as_json: Json = False,
) -> None:
    """A study of a robot over a grid of states, into a Zarr store. The same command goes on after an interruption."""
    from tauforge.sweeps.builtin_studies import STUDIES, ready_study
    from tauforge.sweeps.grid import Axis
    from tauforge.sweeps.running import run

    if listed:
        result(as_json, {"studies": {name: entry.words for name, entry in STUDIES.items()}}, _shown_list)
        return
    if study is None or robot is None or output is None:
        name = next(name for name, x in (("STUDY", study), ("ROBOT", robot), ("--output", output)) if x is None)
        raise bad(name, "it is missing")
    if sum(x is not None for x in (threads, workers, scheduler)) > 1:
        raise bad("--threads, --workers, --scheduler", "give one of them")
    mine = load_robot(robot, tip, lock)
    held = {name: quantity("--at", value, "rad", "m") for name, value in pairs("--at", at)}
    asked = ready_study(
        study, mine, [Axis.from_text(text) for text in axis or ()], at=held, options=dict(pairs("--option", option))
    )
    places = _checked_picture(asked, picture, drawn, slices)
    command = shlex.join(["tauforge", *sys.argv[1:]])
    try:
        with _client(workers, scheduler) as client:
            how: dict[str, Any] = {"client": client, "threads": threads, "restart": restart, "verify": verify}
            done = run(asked, output, progress=True, command=command, **how)
    except KeyboardInterrupt:
        note(f"the finished blocks are in {one_line(str(output))}; the same command goes on from there")
        raise
    if picture is not None:
        from tauforge.charts.with_matplotlib import save_figure
        from tauforge.sweeps.picture import plot

        save_figure(plot(output, drawn or asked.results[0].name, at=places), picture)
    result(as_json, done._asdict(), lambda: _shown(study, done, picture))


def _client(workers: int | None, scheduler: str | None) -> AbstractContextManager[Client | None]:
    from tauforge.sweeps.cluster import connected, local_workers

    if workers is not None:
        return local_workers(workers)
    return nullcontext() if scheduler is None else connected(scheduler)


def _checked_picture(asked: Study, picture: Path | None, drawn: str | None, slices: list[str] | None) -> dict[str, Any]:
    """Values of the axes that the picture holds, in SI units; errors come before the sweep starts."""
    from tauforge.charts.with_matplotlib import check_ending
    from tauforge.units import in_si

    if picture is None:
        if option := "--result" if drawn else "--slice" if slices else None:
            raise bad(option, "it needs a file: give --picture FILE")
        return {}
    check_ending(picture)
    if not picture.absolute().parent.is_dir():
        raise bad("--picture", f"the folder of {one_line(str(picture))} does not exist")
    names = [x.name for x in asked.results]
    if drawn is not None and drawn not in names:
        raise bad("--result", f"{asked.name} has no result {drawn!r}; the results are {', '.join(names)}")
    one = asked.results[names.index(drawn) if drawn else 0]
    dimensions = {axis.name: len(axis) for axis in asked.axes} | dict(one.core)
    places: dict[str, Any] = {}
    for name, text in pairs("--slice", slices):
        if name not in dimensions:
            raise bad("--slice", f"{one.name} has no dimension {name!r}; they are {', '.join(dimensions)}")
        number_and_unit = in_si(text)
        places[name] = text.strip() if number_and_unit is None else number_and_unit[0]
    return places


def _shown_list() -> Any:
    from tauforge.sweeps.builtin_studies import STUDIES

    yield table("", ("study", "gives", "axes"), [(name, x.words, x.axes) for name, x in STUDIES.items()], texts=3)
    for name, entry in STUDIES.items():
        if entry.options:
            yield table(f"Options of {name}", ("option", "meaning"), list(entry.options.items()), texts=2)


def _shown(study: str, done: Outcome, picture: Path | None) -> Any:
    there = done.blocks - done.computed
    kept = f", {there} of {done.blocks} blocks were there" if there else ""
    damaged = f", {done.damaged} damaged blocks computed again" if done.damaged else ""
    rate = f", {number(done.rate, 3)} points/s" if done.computed else ""
    yield f"{study}: {done.points:,} points in {number(done.seconds, 3)} s{rate}{kept}{damaged}"
    yield f"The results are in {done.store}"
    if picture is not None:
        yield f"The picture is in {one_line(str(picture))}"
