"""What evaluation asks of whatever has a table of functions, such as a robot."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from tauforge.algebra.scalars import Scalar
from tauforge.kernels.specification import Shape

if TYPE_CHECKING:
    from tauforge.evaluation.evaluator import Evaluator
    from tauforge.evaluation.functions import FunctionTable


class Evaluated(Protocol):
    """Something with functions over a model. `robots/robot.py` says what each of these is."""

    @property
    def name(self) -> str: ...

    @property
    def functions(self) -> FunctionTable: ...

    @property
    def model(self) -> Any: ...

    @property
    def varying_fields(self) -> Mapping[str, Shape]: ...

    @property
    def identity(self) -> str | None: ...

    @property
    def _evaluator(self) -> Evaluator: ...

    def varied_model(self, values: Mapping[str, Sequence[Scalar]]) -> Any: ...

    def check_function(self, function: str) -> None: ...

    def _check_loads(self, loads: Collection[str], options: Mapping[str, Any]) -> None: ...

    def _check_options(self, function: str, options: Mapping[str, Any]) -> dict[str, Any]: ...

    def _check_varying(self, fields: tuple[str, ...]) -> None: ...
