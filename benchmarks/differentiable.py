"""What the arrays of JAX and torch cost: the first `jit` in a fresh process, calls, gradients and a rollout.

`python differentiable.py` writes results/differentiable/DATE.json; `make docs` makes the table of docs/differentiable
from it. Every step is measured in processes of its own with an empty kernel cache, after a check that the result equals
NumPy's; the fastest counts. A library that is not installed is left out.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from tauforge.kernels.cpu.engine import host

HERE = Path(__file__).parent
PROCESSES = 3  # of each step

COMMON = """
import json, time
import numpy as np
import tauforge as tf
arm = tf.load("puma560")
state = np.random.default_rng(0).normal(size=(3, 6))
expected = arm.kernel("inverse_dynamics")(*state) if WARM else None
def best(f, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter(); f(); times.append(time.perf_counter() - start)
    return min(times)
"""
JAX = """
import jax
jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp
arrays = [jnp.asarray(x) for x in state]
jnp.sin(arrays[0]).block_until_ready()  # XLA itself has started
"""
FIRST_JIT = """
start = time.perf_counter()
got = jax.jit(arm.inverse_dynamics)(*arrays).block_until_ready()
taken = time.perf_counter() - start
assert np.allclose(got, arm.inverse_dynamics(*state), rtol=1e-12)
print(json.dumps({"first call of inverse dynamics, under `jit` for JAX": taken}))
"""
FIRST_JACOBIAN = """
start = time.perf_counter()
got = jax.block_until_ready(jax.jit(jax.jacrev(arm.inverse_dynamics, argnums=(0, 1, 2)))(*arrays))
taken = time.perf_counter() - start
for a, b in zip(got, arm.inverse_dynamics_derivatives(*state)):
    assert np.abs(a - b).max() < 1e-10 * np.abs(b).max()
print(json.dumps({"first Jacobians under `jit`": taken}))
"""
CALLS = """
f = jax.jit(arm.inverse_dynamics)
g = jax.jit(jax.grad(lambda q, qd, qdd: arm.inverse_dynamics(q, qd, qdd).sum(), argnums=(0, 1, 2)))
many = [jnp.tile(x, (100_000, 1)) for x in arrays]
assert np.allclose(f(*many)[0], arm.inverse_dynamics(*state), rtol=1e-12)
g(*arrays); g(*many)
print(json.dumps({
    "inverse dynamics of one state": best(lambda: f(*arrays).block_until_ready(), 300),
    "gradient of one state": best(lambda: jax.block_until_ready(g(*arrays)), 300),
    "inverse dynamics of 100,000 states": best(lambda: f(*many).block_until_ready(), 10),
    "gradient of 100,000 states": best(lambda: jax.block_until_ready(g(*many)), 5),
}))
"""
ROLLOUT = """
def last(q):
    def step(s, _):
        q, qd = s
        qd = qd + 1e-3 * arm.forward_dynamics(q, qd, -10.0 * q - 2.0 * qd)
        return (q + 1e-3 * qd, qd), None
    return (jax.lax.scan(step, (q, jnp.zeros(6)), None, length=1000)[0][0] ** 2).sum()
f, g = jax.jit(last), jax.jit(jax.grad(last))
start = time.perf_counter(); g(arrays[0]).block_until_ready(); first = time.perf_counter() - start
f(arrays[0])
print(json.dumps({
    "first gradient of 1000 steps": first,
    "1000 steps of forward dynamics by `lax.scan`": best(lambda: f(arrays[0]).block_until_ready(), 5),
    "gradient of 1000 steps": best(lambda: g(arrays[0]).block_until_ready(), 5),
}))
"""
TORCH = """
import torch
tensors = [torch.tensor(x, requires_grad=True) for x in state]
start = time.perf_counter(); got = arm.inverse_dynamics(*tensors); first = time.perf_counter() - start
assert np.allclose(got.detach(), arm.inverse_dynamics(*state), rtol=1e-12)
def gradient(given):
    return torch.autograd.grad(arm.inverse_dynamics(*given).sum(), given)
gradient(tensors)
many = [torch.tensor(np.tile(x, (100_000, 1)), requires_grad=True) for x in state]
gradient(many)
print(json.dumps({
    "first call of inverse dynamics, under `jit` for JAX": first,
    "inverse dynamics of one state": best(lambda: arm.inverse_dynamics(*tensors), 300),
    "gradient of one state": best(lambda: gradient(tensors), 300),
    "inverse dynamics of 100,000 states": best(lambda: arm.inverse_dynamics(*many), 10),
    "gradient of 100,000 states": best(lambda: gradient(many), 5),
}))
"""
STEPS = (  # the library, what is run, and whether the kernel was made before
    ("jax", JAX + FIRST_JIT, False),
    ("jax", JAX + FIRST_JACOBIAN, False),
    ("jax", JAX + CALLS, True),
    ("jax", JAX + ROLLOUT, True),
    ("torch", TORCH, False),
)


def measured(code: str, warm: bool) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-c", f"WARM = {warm}\n{COMMON}{code}"],
            env={**os.environ, "TAUFORGE_CACHE": cache},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    seconds: dict[str, dict[str, float]] = {}
    for library, code, warm in STEPS:
        if importlib.util.find_spec(library) is None:
            print(f"{library} is not installed")
            continue
        runs = [measured(code, warm) for _ in range(PROCESSES)]
        found = {what: min(run[what] for run in runs) for what in runs[0]}
        seconds.setdefault(library, {}).update(found)
        for what, taken in found.items():
            print(f"{library:6} {what:52} {taken * 1e3:10.3f} ms", flush=True)
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True, check=False
    )
    today = datetime.date.today().isoformat()
    result = {
        "what": "the PUMA 560 with arrays of JAX and torch, seconds",
        "date": today,
        "commit": commit.stdout.strip(),
        "cpu": host().cpu,
        "processes": PROCESSES,
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "versions": {library: version(library) for library in seconds},
        "seconds": seconds,
    }
    target = HERE / "results" / "differentiable"
    target.mkdir(parents=True, exist_ok=True)
    (target / f"{today}.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
