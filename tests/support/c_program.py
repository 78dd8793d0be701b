"""A C program that calls one exported function for every state of a file, each argument in an array of its own."""

from __future__ import annotations

import math

import numpy as np

from support.c_compiler import STRICT, run

NUMBERS = {"float64": "double", "float32": "float"}
PROGRAM = """
#include "{prefix}.h"
#include <stdio.h>
int main(void)
{{
    {declared}
    FILE *in = fopen("{name}.in", "rb"), *out = fopen("{name}.out", "wb");
    if (!in || !out) {{
        return 1;
    }}
    for (;;) {{
        {reads}
        {prefix}_{name}({arguments});
        {writes}
    }}
    fclose(in);
    return fclose(out);
}}
"""


class Program:
    """flags: of the compiler; target: the object of the exported source"""

    def __init__(self, made, target, name, arguments, results, dtype="float64", flags=()):
        self._folder, self._name, self._dtype, self._results = made.source.parent, name, dtype, results
        number = NUMBERS[dtype]
        given = [(f"a{k}", math.prod(core)) for k, core in enumerate(arguments)]
        taken = [(f"r{k}", math.prod(core)) for k, core in enumerate(results)]
        text = PROGRAM.format(
            prefix=made.source.stem,
            name=name,
            declared="\n    ".join(f"{number} {key}[{count}];" for key, count in (*given, *taken)),
            reads="\n        ".join(
                f"if (fread({key}, sizeof({number}), {count}, in) != {count}) break;" for key, count in given
            ),
            arguments=", ".join(key for key, _ in (*given, *taken)),
            writes="\n        ".join(f"fwrite({key}, sizeof({number}), {count}, out);" for key, count in taken),
        )
        (self._folder / f"{name}_each.c").write_text(text)
        run("gcc", *STRICT, *flags, f"{name}_each.c", target.name, "-lm", "-o", f"{name}_each", cwd=self._folder)
        self.path = self._folder / f"{name}_each"

    def __call__(self, arguments, *under):
        """(states, numbers) of each result. under: a program and its options that runs this one"""
        rows = np.concatenate([x.reshape(len(x), -1) for x in arguments], axis=1).astype(self._dtype)
        rows.tofile(self._folder / f"{self._name}.in")
        run(*under, self.path, cwd=self._folder)
        sizes = [math.prod(core) for core in self._results]
        found = np.fromfile(self._folder / f"{self._name}.out", self._dtype).reshape(len(rows), sum(sizes))
        return np.split(found.astype(float), np.cumsum(sizes)[:-1], axis=1)
