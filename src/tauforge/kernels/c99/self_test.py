"""The self-test: reference vectors, and that what is not finite makes every result NaN."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tauforge.kernels.c99.files import mark
from tauforge.kernels.c99.function import CFunction
from tauforge.kernels.c_source.numbers import literal, number_type

Rows = Sequence[Sequence[float]]


class Vectors(NamedTuple):
    """For each argument and each result the numbers of every state, and for each result the error that is allowed."""

    arguments: Sequence[Rows]
    results: Sequence[Rows]
    allowed: Sequence[float]


def self_test(prefix: str, tests: Iterable[tuple[CFunction, Vectors]]) -> str:
    tests = list(tests)
    number = number_type(tests[0][0].bits)
    texts = "\n".join(_one(function, vectors) for function, vectors in tests)
    calls = "\n".join(f"    wrong += test_{function.name}();" for function, _ in tests)
    return f"""/* {mark(prefix)} Do not edit. Exit code 0 if all functions give the numbers that tauforge gives. */
#include "{prefix}.h"

#include <stdio.h>

/* A result that is NaN is wrong. */
static int compare(const char *name, int state, const {number} *got, const {number} *want, int count, double allowed)
{{
    int k;
    for (k = 0; k < count; k++) {{
        const double apart = (double)got[k] - (double)want[k];
        if (!(apart <= allowed && -apart <= allowed)) {{
            printf("%s[%d], state %d: %.17g instead of %.17g\\n", name, k, state, (double)got[k], (double)want[k]);
            return 1;
        }}
    }}
    return 0;
}}

static int all_nan(const char *name, const {number} *got, int count)
{{
    int k;
    for (k = 0; k < count; k++) {{
        if (got[k] == got[k]) {{
            printf("%s: an argument is not finite, and a result is %g\\n", name, (double)got[k]);
            return 0;
        }}
    }}
    return 1;
}}

{texts}
int main(void)
{{
    int wrong = 0;
{calls}
    if (wrong > 0) {{
        printf("{prefix}: %d of the checks failed\\n", wrong);
        return 1;
    }}
    printf("{prefix}: all functions agree with the reference vectors\\n");
    return 0;
}}
"""


def _one(function: CFunction, vectors: Vectors) -> str:
    number, states = function.number, len(vectors.arguments[0])
    tables, copies, compared, nan_checks = [], [], [], []
    given, taken = [], []
    for k, (array, rows) in enumerate(zip(function.arguments, vectors.arguments, strict=True)):
        tables.append(_table(f"given{k}", array.numbers, rows, function))
        given.append(f"given{k}[state]")
        copies.append((f"a{k}", array.numbers))
    for k, (array, rows) in enumerate(zip(function.results, vectors.results, strict=True)):
        tables.append(_table(f"wanted{k}", array.numbers, rows, function))
        taken.append(f"r{k}")
        shown = f'"{function.c_name}, {array.name}"'
        allowed = repr(float(vectors.allowed[k]))
        compared.append(f"wrong += compare({shown}, state, r{k}, wanted{k}[state], {array.numbers}, {allowed});")
        nan_checks.append(f"wrong += !all_nan({shown}, r{k}, {array.numbers});")
    declared = "".join(f"    {number} {name}[{count}];\n" for name, count in copies)
    declared += "".join(f"    {number} r{k}[{a.numbers}];\n" for k, a in enumerate(function.results))
    spoilt = []
    for k, array in enumerate(function.arguments):
        reset = "".join(
            f"        for (j = 0; j < {n}; j++) {{\n            {name}[j] = given{i}[0][j];\n        }}\n"
            for i, (name, n) in enumerate(copies)
        )
        call = f"{function.c_name}({', '.join((*(name for name, _ in copies), *taken))});"
        spoilt.append(
            f"    for (k = 0; k < {array.numbers}; k++) {{\n{reset}"
            f"        a{k}[k] = (k % 2 == 0 ? one : -one) / zero;\n        {call}\n"
            + "".join(f"        {check}\n" for check in nan_checks)
            + "    }\n"
        )
    body = "".join(f"        {line}\n" for line in compared)
    return f"""static int test_{function.name}(void)
{{
{"".join(tables)}    volatile {number} zero = 0, one = 1;
    int wrong = 0, state, j, k;
{declared}    for (state = 0; state < {states}; state++) {{
        {function.c_name}({", ".join((*given, *taken))});
{body}    }}
{"".join(spoilt)}    return wrong;
}}
"""


def _table(name: str, numbers: int, rows: Rows, function: CFunction) -> str:
    lines = ",\n".join("        {" + ", ".join(literal(x, function.bits) for x in row) + "}" for row in rows)
    return f"    static const {function.number} {name}[{len(rows)}][{numbers}] = {{\n{lines}\n    }};\n"
