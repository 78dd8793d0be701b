"""The texts of the files: header, source and the file for CMake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tauforge.kernels.c99.dialect import PREFIX, dialect, preamble, root_macro
from tauforge.kernels.c99.function import CFunction, block
from tauforge.kernels.c_source.numbers import CNumbers
from tauforge.kernels.c_source.statements import functions as elementary_functions
from tauforge.kernels.elementary_functions import largest_angle

FLAGS = "-std=c99 -O2 -Wall -Wextra -Wconversion -Wdouble-promotion -pedantic"


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
        f"Build: gcc {FLAGS} -c {prefix}.c",
        f"Test:  gcc {FLAGS} {prefix}.c {prefix}_test.c -lm -o {prefix}_test && ./{prefix}_test",
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
    elementary = elementary_functions(called, dialect(prefix), bits, PREFIX)
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
