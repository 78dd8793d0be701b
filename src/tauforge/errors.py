"""The error tree: every error the package raises on purpose is a `TauforgeError`.

What an error knows is in its attributes, and `__str__` makes the message from them. A program that wants other words,
such as the row of a file instead of that of an array, reads the attributes and never searches in the message.

Messages quote names and texts of model files, which anyone may have written. They end on terminals, so errors and
warnings escape what could command one.
"""

from __future__ import annotations

import copy
import copyreg
import math
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, SupportsIndex

# control characters but tabs and line ends; marks that turn the direction of writing; line separators; half surrogates
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
Row = int | tuple[int, ...] | None  # of a batch with one dimension, with several, without any
RowIndex = SupportsIndex | Iterable[SupportsIndex] | None  # as NumPy has it: (), (k,) or (j, k)


def printable(text: str) -> str:
    r"""The text with every character that could command a terminal, or reorder a line, written as \x1b or \u202e."""
    return UNSAFE.sub(lambda found: ascii(found[0])[1:-1], text)


def one_line(text: str) -> str:
    """The printable text with its tabs and line breaks escaped too, so that a name cannot fake a line of output."""
    return printable(text).replace("\t", r"\t").replace("\n", r"\n")


class Reported(Exception):
    """The common base of errors and warnings: attributes, which the two roots document, and a message made of them."""

    def __init__(self, reason: str = "", *, row: RowIndex = None, remedy: str | None = None) -> None:
        self.reason, self.row, self.remedy = printable(reason), _row(row), None if remedy is None else printable(remedy)
        self.row_name: str | None = None
        super().__init__(str(self))

    @property
    def statement(self) -> str:
        """The message without the remedy."""
        return self.reason + self._in_row()

    def __str__(self) -> str:
        return printable(self.statement if self.remedy is None else f"{self.statement}. {self.remedy}")

    def _in_row(self) -> str:
        return "" if self.row is None else f" in {self._row_words()}"

    def _row_words(self) -> str:
        if self.row_name is not None:
            return self.row_name
        return f"row {', '.join(map(str, self.row))}" if isinstance(self.row, tuple) else f"row {self.row}"


def _row(index: RowIndex) -> Row:
    if index is None:
        return None
    if not isinstance(index, Iterable):
        return index.__index__()
    indices = tuple(k.__index__() for k in index)
    return indices if len(indices) > 1 else (indices[0] if indices else None)


class TauforgeError(Reported):
    """Root of all errors raised by tauforge.

    reason:   what is wrong, without where and without the remedy
    row:      where in the batch: an index; a tuple of them in a batch of several dimensions; None for a single state
    remedy:   what to do about it, or None
    row_name: how the message names the row; None for its index. Set it where the rows come from a file.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors come back from other processes: the message and what it carries, whatever made them."""
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


class ModelError(TauforgeError, ValueError):
    """A robot description, a file or an argument that cannot be accepted.

    problem: what is wrong; the same as `reason`
    file:    the file, or None
    line:    the line of a text file, the first is 1; or None
    field:   the key, argument or column at fault, or None
    key:     the key that is unknown in the table `field`, as the file has it; None for other faults
    row:     the row of a CSV file, the header is 1; of an array argument the index in the batch; or None
    """

    _row_of_batch = False

    def __init__(
        self,
        problem: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        field: str | None = None,
        key: str | None = None,
        row: int | None = None,
        remedy: str | None = None,
    ) -> None:
        self.file, self.line, self.field, self.key = file, line, None if field is None else printable(field), key
        super().__init__(problem, row=row, remedy=remedy)

    @property
    def problem(self) -> str:
        return self.reason

    @property
    def statement(self) -> str:
        file = self.file if self.file is None or self.line is None else f"{self.file}:{self.line}"
        place = self.field
        if self.row is not None and self._row_of_batch:
            place = self._row_words() if self.field is None else f"{self.field}, {self._row_words()}"
        elif self.row is not None:
            place = self._row_words() if self.field is None else f"{self._row_words()}, column {self.field}"
        return ": ".join(str(part) for part in (file, place, self.reason) if part is not None)

    def in_batch(self, row: RowIndex) -> Self:
        """The same error with the index of the row in the batch, for checks that see one row at a time."""
        return self._with(row=_row(row), _row_of_batch=True)

    def located(self, file: str | Path) -> Self:
        """The same error with the file it came from, for readers that find faults after parsing."""
        return self if self.file is not None else self._with(file=file)

    def _with(self, **attributes: object) -> Self:
        found = copy.copy(self)
        found.__dict__.update(attributes)
        found.args = (str(found),)
        return found


@contextmanager
def in_file(file: str | Path) -> Iterator[None]:
    """A ModelError of the block comes with the file, unless it names one."""
    try:
        yield
    except ModelError as error:
        raise error.located(file) from None


class UnsupportedFeatureError(ModelError):
    """A feature of a model file, or of a formulation, that tauforge refuses by name. Attributes as of ModelError."""


class ShapeError(TauforgeError, ValueError):
    """An array whose shape or contents do not fit.

    name:     the argument
    expected: what would fit
    got:      what came instead
    hint:     what to do about it, or None; the same as `remedy`
    """

    def __init__(self, name: str, *, expected: str, got: str, hint: str | None = None, row: RowIndex = None) -> None:
        self.name, self.expected, self.got = name, expected, got
        super().__init__(f"expected {expected}, got {got}", row=row, remedy=hint)

    @property
    def hint(self) -> str | None:
        return self.remedy

    @property
    def statement(self) -> str:
        return f"{self.name}: {self.reason}{self._in_row()}"


class SettingError(TauforgeError, ValueError):
    """An environment variable with a value that tauforge does not accept.

    name:     the variable
    expected: the values it may have
    got:      the value it has
    """

    def __init__(self, name: str, *, expected: str, got: str) -> None:
        self.name, self.expected, self.got = name, expected, got
        super().__init__(f"expected {expected}", remedy="Change the environment variable, or unset it")

    @property
    def statement(self) -> str:
        return f"{self.name}={self.got!r}: {self.reason}"


class SingularityError(TauforgeError, ArithmeticError):
    """A pose at which the mechanism has no unique answer.

    pose:             the pose or the joint coordinates
    condition_number: of the matrix that has no inverse there; NaN where there is no answer for another reason, such as
                      loops that are open
    """

    def __init__(
        self, reason: str, *, pose: object, condition_number: float, row: RowIndex = None, remedy: str | None = None
    ) -> None:
        self.pose, self.condition_number = pose, condition_number
        super().__init__(reason, row=row, remedy=remedy)

    @property
    def statement(self) -> str:
        if math.isnan(self.condition_number):
            return self.reason + self._in_row()
        row = "" if self.row is None else f"{self._row_words()}, "
        return f"{self.reason} ({row}condition number {self.condition_number:.3g} at {self.pose})"


class ConvergenceError(TauforgeError, ArithmeticError):
    """An iteration that did not reach its tolerance.

    residual:   how far off the last iterate is, in the units of the equation; NaN where there is none
    iterations: how many were made
    """

    def __init__(
        self, reason: str, *, residual: float, iterations: int, row: RowIndex = None, remedy: str | None = None
    ) -> None:
        self.residual, self.iterations = residual, iterations
        super().__init__(reason, row=row, remedy=remedy)

    @property
    def statement(self) -> str:
        residual = "" if math.isnan(self.residual) else f"residual {self.residual:.3g}"
        iterations = f"after {self.iterations} iterations" if self.iterations or residual else ""
        reached = " ".join(filter(None, (residual, iterations)))
        return self.reason + self._in_row() + (f" ({reached})" if reached else "")


class SweepError(TauforgeError, RuntimeError):
    """A sweep that could not go on; the blocks that were finished are kept, and the same sweep continues from them.

    store: the path of the store
    """

    def __init__(self, reason: str, *, store: str | Path, remedy: str | None = None) -> None:
        self.store = store
        super().__init__(reason, remedy=remedy)

    @property
    def statement(self) -> str:
        return f"{self.store}: {self.reason}"


class DivergenceError(TauforgeError, ArithmeticError):
    """A simulation that cannot go on, because the motion ran away or a law or an integrator failed.

    time:      s, of the last state
    position:  of the last state
    velocity:  of the last state
    recording: the rows up to there
    """

    def __init__(
        self,
        reason: str,
        *,
        time: float,
        position: object,
        velocity: object,
        recording: object,
        remedy: str | None = None,
    ) -> None:
        self.time, self.position, self.velocity, self.recording = time, position, velocity, recording
        super().__init__(reason, remedy=remedy)

    @property
    def statement(self) -> str:
        return f"{self.reason} after t = {self.time:.6g} s, at {self.position}; `recording` holds the rows up to there"


class TauforgeWarning(Reported, UserWarning):
    """Root of the warnings about robots and motions.

    reason:   what to beware of, without where and without the remedy
    row:      where in the batch, as of TauforgeError
    remedy:   what to do about it, or None
    row_name: how the message names the row; None for its index
    """


class EnergyDriftWarning(TauforgeWarning):
    """A motion without friction and forces whose energy drifts: the step is too long."""


class RoundedMotionWarning(TauforgeWarning):
    """Samples with too few digits or too much noise for accelerations derived from them; numbers are still given."""


class StiffFrictionWarning(TauforgeWarning):
    """Smoothed Coulomb friction that is too stiff for the integrator's step: a joint at rest moves by itself."""


class UnstableLoopWarning(TauforgeWarning):
    """A control loop whose gains are too large for its control period: errors grow from period to period."""


class SingularityWarning(TauforgeWarning):
    """A motion that comes near a singularity; the numbers are still given."""


class UnphysicalInertiaWarning(TauforgeWarning):
    """A body whose inertia no real body can have; the numbers are still used as given."""
