"""Lines of the Stewart papers put back as printed: what is changed, and what it is compared with."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import tauforge as tf
from support.stewart_witness import newton_euler
from support.tolerances import FORMULATIONS, OUTSIDE, error
from tauforge.formulations.stewart import dasgupta1998, exact, kinematics, pedrammehr2012, pedrammehr2012_closed
from tauforge_papers.misprints import Line, printed_formula
from tauforge_papers.random_platforms import fast_states, random_platform
from tauforge_papers.stewart_misprints import SHARED, error_under_load, forces_of, on_platforms

ALL = {
    dasgupta1998: {"corrections": dasgupta1998.DasguptaCorrections(True, True, True)},
    pedrammehr2012: {"corrections": pedrammehr2012.PedrammehrCorrections(True, True)},
    pedrammehr2012_closed: {
        "corrections": pedrammehr2012.PedrammehrCorrections(True, True),
        "terms": pedrammehr2012_closed.Terms(*[True] * 6),
    },
}


@pytest.mark.parametrize("module", ALL, ids=lambda m: m.__name__.rpartition(".")[2])
def test_nothing_changed_costs_nothing(module):
    trial = on_platforms(module, robot="dasgupta1998", **ALL[module])()
    assert max(trial.printed, trial.mended) < FORMULATIONS
    assert max(trial.newtons) < FORMULATIONS * 2200  # N, the peak of path II


@pytest.mark.parametrize(
    ("module", "line"),
    [
        (dasgupta1998, Line(dasgupta1998, "cross(r_u, a_u) * m_u", "cross(r_u, a_u) * m_d")),
        (dasgupta1998, Line(kinematics, "S = q + X - leg.b", "S = q + X + leg.b")),
        (pedrammehr2012_closed, Line(pedrammehr2012, "m.R @ p.body.com, ", "p.body.com, ")),
        (pedrammehr2012_closed, Line(kinematics, "S_dot = platform.v + ", "S_dot = platform.v - ")),
    ],
)
def test_a_line_counts_in_the_module_and_in_those_it_imports_from(module, line):
    options = ALL[module] if line.module is not pedrammehr2012 else {}  # r of eq. 50 is not used once it is right
    trial = on_platforms(module, line, robot="dasgupta1998", **options)()
    assert trial.printed > 1e-3
    assert len(trial.newtons) == 2


def test_newtons_are_those_of_the_public_method():
    """A switch of the model, written back into its code."""
    line = Line(dasgupta1998, "if not corrections.parallel_axis_once:", "if True:")
    trial = on_platforms(dasgupta1998, line, robot="dasgupta1998", **ALL[dasgupta1998])()
    robot = tf.load("dasgupta1998")
    ends = [0.1, 0, 0.4, 0, 0, -0.2], [0.3, 0, 0.6, 0, 0, 0.2]
    for cost, (duration, speed) in zip(trial.newtons, ((6.0, 0.08), (0.6, 0.8)), strict=True):
        states = tf.motion.StraightLine(*ends, duration, speed, speed, orientation="angles")
        at = states.sample(np.linspace(0, duration, 601))
        wrong = robot.inverse_dynamics(*at, model="dasgupta1998", corrections=("leg_spin", "moment_along_c"))
        assert cost == pytest.approx(np.abs(wrong - robot.inverse_dynamics(*at)).max(), rel=1e-9)


def test_what_it_is_compared_with_is_newton_and_euler_of_13_bodies():
    rng = np.random.default_rng(5)
    platform = random_platform(rng)
    pose, twist, acceleration = fast_states(platform, rng, 3)
    load = 300 * rng.normal(size=(3, 6))  # in the platform's axes
    turned = [np.concatenate([turn(x) @ y[:3], turn(x) @ y[3:]]) for x, y in zip(pose, load, strict=True)]
    states = list(zip(pose, twist, acceleration, strict=True))
    for given, wrenches in ((None, np.zeros((3, 6))), (load, turned)):
        forces = forces_of(exact.inverse_dynamics, platform.parameters, (pose, twist, acceleration), given)
        pairs = zip(states, wrenches, strict=True)
        wanted = [newton_euler(platform, *state, wrench).actuators for state, wrench in pairs]
        assert error(forces, np.array(wanted)) < OUTSIDE


def turn(pose):
    """Rz Ry Rx of a pose, by SciPy."""
    return Rotation.from_euler("xyz", pose[3:]).as_matrix()


@pytest.mark.parametrize("module", ALL, ids=lambda m: m.__name__.rpartition(".")[2])
def test_external_loads(module):
    """The papers as published are wrong under a load as without one; their corrected forms are right."""
    assert error_under_load(module, **ALL[module]) < OUTSIDE
    assert error_under_load(module) > 0.01


def test_lines_that_are_not_there_are_refused():
    with pytest.raises(LookupError, match="expected 'no such line' once, got it 0 times"):
        printed_formula(dasgupta1998, Line(kinematics, "no such line", ""), shared=SHARED)
    with pytest.raises(LookupError, match=r"expected lines of .*kinematics"):
        printed_formula(dasgupta1998, Line(pedrammehr2012_closed, "w = leg_motion(leg, m)", ""), shared=SHARED)
