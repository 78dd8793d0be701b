"""Functions without meaning, for the tests of what is done to any graph."""

from __future__ import annotations


def random_function(rng, inputs, operations, outputs):
    """Sums and products of values from near and far, results among them early and late."""
    picks = [(rng.integers(2), rng.integers(1 << 30), rng.integers(1 << 30)) for _ in range(operations)]
    places = rng.integers(inputs, inputs + operations, outputs)

    def f(x):
        values = list(x)
        for kind, a, b in picks:
            near = values[-1 - a % min(len(values), 8)]
            far = values[b % len(values)]
            values.append((near + far) * 0.5 if kind else near * far * 0.7)
        return [values[k] for k in places]

    return f
