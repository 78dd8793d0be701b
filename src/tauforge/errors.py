"""The error tree: every error the package raises on purpose is a `TauforgeError`.

Messages quote names and texts of model files, which anyone may have written. They end on terminals, so errors and
warnings escape what could command one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tauforge.terminal import printable


class TauforgeError(Exception):
    """Root of all errors raised by tauforge."""

    def __init__(self, message: str = "") -> None:
        super().__init__(printable(message))

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors come back from other processes: the message and what it carries, whatever made them."""
        return _remade, (type(self), self.args, self.__dict__)


def _remade(kind: type[TauforgeError], args: tuple[object, ...], carried: dict[str, object]) -> TauforgeError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(carried)
    return error


class ModelError(TauforgeError, ValueError):
    """A robot description that cannot be accepted: names the file, the line or field, and a remedy."""

    def __init__(
        self,
        problem: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        field: str | None = None,
        remedy: str | None = None,
    ) -> None:
        problem = printable(problem)
        field, remedy = (None if text is None else printable(text) for text in (field, remedy))
        self.problem, self.file, self.line, self.field, self.remedy = problem, file, line, field, remedy
        place = [] if file is None else [str(file) if line is None else f"{file}:{line}"]
        place += [] if field is None else [field]
        text = ": ".join([*place, problem])
        super().__init__(text if remedy is None else f"{text}. {remedy}")

    def located(self, file: str | Path) -> ModelError:
        """The same error with the file it came from, for readers that find faults after parsing."""
        if self.file is not None:
            return self
        return type(self)(self.problem, file=file, line=self.line, field=self.field, remedy=self.remedy)


class UnsupportedFeatureError(ModelError):
    """A feature of a model file, or of a formulation, that tauforge refuses by name."""


class ShapeError(TauforgeError, ValueError):
    """An array whose shape or contents do not fit: says what was expected and what came."""

    def __init__(self, name: str, *, expected: str, got: str, hint: str | None = None) -> None:
        self.name, self.expected, self.got, self.hint = name, expected, got, hint
        text = f"{name}: expected {expected}, got {got}"
        super().__init__(text if hint is None else f"{text}. {hint}")


class SettingError(TauforgeError, ValueError):
    """An environment variable with a value that cannot be: names it, what was expected and what came."""

    def __init__(self, name: str, *, expected: str, got: str) -> None:
        self.name, self.expected, self.got = name, expected, got
        super().__init__(f"{name}={got!r}: expected {expected}. Change the environment variable, or unset it")


class SingularityError(TauforgeError, ArithmeticError):
    """A pose at which the mechanism has no unique answer: carries the pose and the condition number."""

    def __init__(
        self, message: str, *, pose: object, condition_number: float, row: tuple[int, ...] | None = None
    ) -> None:
        self.pose, self.condition_number, self.row = pose, condition_number, row
        where = f" in row {', '.join(map(str, row))}" if row else ""
        super().__init__(f"{message}{where} (condition number {condition_number:.3g} at {pose})")


class ConvergenceError(TauforgeError, ArithmeticError):
    """An iteration that did not reach its tolerance: carries the residual and the number of iterations."""

    def __init__(self, message: str, *, residual: float, iterations: int) -> None:
        self.residual, self.iterations = residual, iterations
        super().__init__(f"{message} (residual {residual:.3g} after {iterations} iterations)")


class DivergenceError(TauforgeError, ArithmeticError):
    """A simulation that ran away: carries the time (s), the last state and the recording up to there."""

    def __init__(self, message: str, *, time: float, position: object, velocity: object, recording: object) -> None:
        self.time, self.position, self.velocity, self.recording = time, position, velocity, recording
        super().__init__(f"{message} after t = {time:.6g} s, at {position}; `recording` holds what came before")


class TauforgeWarning(UserWarning):
    """Root of the warnings about robots and motions."""

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))


class EnergyDriftWarning(TauforgeWarning):
    """A motion without friction and forces whose energy drifts: the step is too long."""


class RoundedMotionWarning(TauforgeWarning):
    """Samples with too few digits or too much noise for accelerations derived from them; numbers are still given."""


class StiffFrictionWarning(TauforgeWarning):
    """Smoothed Coulomb friction that is too stiff for the integrator's step: a joint at rest moves by itself."""


class SingularityWarning(TauforgeWarning):
    """A motion that comes near a singularity; the numbers are still given."""


class UnphysicalInertiaWarning(TauforgeWarning):
    """A body whose inertia no real body can have; the numbers are still used as given."""
