"""The texts of the files: header, source, self-test and the file for CMake."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tauforge.kernels.arithmetic import largest_angle
from tauforge.kernels.c99.body import dialect, preamble, root_macro
from tauforge.kernels.c99.function import CFunction, block
from tauforge.kernels.c_common import CNumbers, elementary_functions, literal, number_type

COMPILER_FLAGS = "-std=c99 -O2 -Wall -Wextra -Wconversion -Wdouble-promotion -pedantic"


def mark(prefix: str) -> str:
    """In the first line of every file: others are not replaced."""
    return f"Written by tauforge export-c as {prefix}."


def header(
    prefix: str, about: Sequence[str], functions: Sequence[CFunction], notes: Mapping[str, Sequence[str]]
) -> str:
    """about: paragraphs on the robot; notes: further paragraphs for functions, by name."""
    bits = functions[0].bits
    upper, angle = prefix.upper(), largest_angle(CNumbers(dialect(prefix), bits))
    rules = (
        "Arrays are those of one state; matrices are written row by row. Arguments and results must not overlap.",
        "A function reads its arguments and writes its results and nothing else: it allocates nothing, has no state and"
        " may be called from several threads and from interrupts. It has no loops and no branches.",
        "An argument that is infinite or NaN makes every result NaN. So does a result that overflows.",
        f"Sines and cosines are our own and accurate to 2.5 units in the last place up to angles of {angle:g} rad;"
        " beyond, they are NaN.",
        f"Only a square root may come from libm. With -ffreestanding it is our own; define {root_macro(prefix)}(x) to"
        " use another, such as an instruction of the processor.",
        "Stack bounds hold with any flags, for compilers that heed __attribute__((noinline)); libm's frames are apart.",
        "Do not compile with -ffast-math: it removes the checks for NaN.",
        f"Build: gcc {COMPILER_FLAGS} -c {prefix}.c",
        f"Test:  gcc {COMPILER_FLAGS} {prefix}.c {prefix}_test.c -lm -o {prefix}_test && ./{prefix}_test",
        "CMake: add_subdirectory(this directory), target_link_libraries(mine PRIVATE " + prefix + ").",
        f"Rust: bindgen {prefix}.h. C++: include this header as it is.",
    )
    declared = "\n".join(f"{f.comment(notes.get(f.name, ()))}{f.signature};\n" for f in functions)
    return f"""/* {mark(prefix)} Do not edit. */
{block(*about, *rules)}
#ifndef {upper}_H
#define {upper}_H

#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L && !defined(_MSC_VER)
#define {upper}_RESTRICT restrict
#else
#define {upper}_RESTRICT
#endif

#ifdef __cplusplus
extern "C" {{
#endif

{declared}
#ifdef __cplusplus
}}
#endif

#endif
"""


def source(prefix: str, functions: Sequence[CFunction]) -> str:
    bits = functions[0].bits
    called = set().union(*(f.body.called for f in functions))
    elementary = elementary_functions(called, dialect(prefix), bits)
    text = "\n".join((*([elementary] if elementary else []), *(f.definition for f in functions)))
    return f"""/* {mark(prefix)} Do not edit. The header says what the functions do. */
#include "{prefix}.h"

#include <stdint.h>

#ifdef __FAST_MATH__
#error "compile without -ffast-math: it removes the checks for NaN"
#endif

#ifdef __GNUC__
#define TF_APART __attribute__((noinline))
#else
#define TF_APART
#endif

{preamble(prefix, bits, text)}{text}"""


def cmake(prefix: str) -> str:
    return f"""# {mark(prefix)} Do not edit.
cmake_minimum_required(VERSION 3.13)
project({prefix} C)

add_library({prefix} STATIC {prefix}.c {prefix}.h)
target_include_directories({prefix} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
set_target_properties({prefix} PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
find_library({prefix.upper()}_LIBM m)
if({prefix.upper()}_LIBM)
  target_link_libraries({prefix} PUBLIC ${{{prefix.upper()}_LIBM}})
endif()

enable_testing()
add_executable({prefix}_test {prefix}_test.c)
set_target_properties({prefix}_test PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
target_link_libraries({prefix}_test PRIVATE {prefix})
add_test(NAME {prefix} COMMAND {prefix}_test)
"""


Rows = Sequence[Sequence[float]]


class TestVectors(NamedTuple):
    """For each argument and each result the numbers of every state, and for each result the error that is allowed."""

    arguments: Sequence[Rows]
    results: Sequence[Rows]
    allowed: Sequence[float]


def self_test(prefix: str, tests: Iterable[tuple[CFunction, TestVectors]]) -> str:
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


def _one(function: CFunction, vectors: TestVectors) -> str:
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
