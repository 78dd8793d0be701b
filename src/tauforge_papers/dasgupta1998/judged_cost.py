"""What the paper says of computation: operations, parallel time, reactions, planning, closed form."""

from __future__ import annotations

from tauforge_papers.dasgupta1998.leg_forces import MODEL
from tauforge_papers.dasgupta1998.measured import Measured
from tauforge_papers.dasgupta1998.operations import LEG, PLATFORM, SOLUTION
from tauforge_papers.report.study import Claim
from tauforge_papers.rules import not_judged, true_in_parts, true_or_not
from tauforge_papers.stewart_tables import DASGUPTA_FLOPS
from tauforge_papers.wording import within

SERIAL_FLOPS = 132 * 6 + 111 * 6 - 4  # Fu, Gonzalez & Lee 1987, as the paper quotes them
RATIO = 3.36  # to a serial arm, as printed
SAME = 1e-9  # of the largest: rounding, times the condition number of H
SMALL = 0.1  # of the inverse dynamics: "a small amount of additional computation"

PARTS = not_judged(
    "The numbers are MATLAB's count of a program that is not printed. Ours of the same equations are others."
)
ONLY = true_or_not(
    f"It holds if the printed parts add up to {DASGUPTA_FLOPS} and the quotient of the printed totals is {RATIO} in "
    "its printed digits.",
    holds=lambda total, serial: total == DASGUPTA_FLOPS and round(total / serial, 2) == RATIO,
)
EVEN_LESS = true_in_parts(
    "In the paper's terms the legs and the platform are computed at the same time, one leg takes longest, and the "
    "final system follows. It holds if that is less than the flops of the serial arm, one after another "
    '("even less than"), both by the printed counts and by ours.',
    parts=lambda printed, ours: [leg + final < arm for leg, final, arm in (printed, ours)],
)
SMALL_AMOUNT = true_or_not(
    f"It holds if all reactions of all joints take less than {100 * SMALL:.0f} % of the flops of the inverse dynamics "
    'in addition ("a small amount").',
    holds=lambda alone, with_it, small: with_it - alone < small * alone,
    small=SMALL,
)
DEARER = not_judged(
    "The same inverse dynamics follow either way and forward kinematics come before them, so that no other outcome is "
    'possible ("computationally more expensive").'
)
FORWARD = true_in_parts(
    "Three parts: six lengths by eq. 2 give the pose; the rates by eq. 5, with that pose, the twist; the "
    f"accelerations by eq. 8, with both, the acceleration. Each holds within {SAME:g} of the largest along path II. "
    'The second and the third are linear in the unknowns ("two linear systems").',
    parts=lambda position, velocity, acceleration, same: [x < same for x in (position, velocity, acceleration)],
    same=SAME,
)


def claims(m: Measured) -> tuple[Claim, ...]:
    return (*_operations(m), *_beyond(m))


def _operations(m: Measured) -> tuple[Claim, ...]:
    ours, exact, serial, frames = (m.operations[name] for name in (MODEL, "exact", "newton-euler", "joint-frames"))
    parts = m.operations_by_part
    total = 6 * LEG + PLATFORM + SOLUTION
    leg, _, final = (part.cost.flops for part in parts)
    depth, serial_depth = (count.critical_path.steps for count in (ours, serial))
    return (
        Claim(
            name="flops-by-part",
            where="sec. 4.5",
            claim="A leg takes 694 floating point operations, the platform 273 and the final system 452, friction left "
            "out",
            printed=f"{LEG}, {PLATFORM}, {SOLUTION} flops",
            measured=", ".join(f"{part.cost.as_written.flops}" for part in parts) + " flops as written",
            reason="We count our code of the same equations, without operations on zeros of the robot. With common "
            "subexpressions computed once the parts take "
            + ", ".join(f"{part.cost.flops}" for part in parts)
            + " flops.",
            rule=PARTS,
        ),
        Claim(
            name="ratio",
            where="sec. 4.5, sec. 6",
            claim=f"The total of {DASGUPTA_FLOPS} flops is only {RATIO} times that of the Newton-Euler formulation for "
            "a serial arm of six joints",
            printed=f"{DASGUPTA_FLOPS} flops, {RATIO} times",
            measured=f"{total} / {SERIAL_FLOPS} = {total / SERIAL_FLOPS:.2f} from the printed counts; {ours.flops} / "
            f"{serial.flops} = {ours.flops / serial.flops:.2f} from ours",
            reason="We count the same two methods, for a general arm, with common subexpressions computed once. The "
            f"cheapest exact method for each kind of robot takes {exact.flops} / {frames.flops} = "
            f"{exact.flops / frames.flops:.2f}.",
            rule=ONLY,
            evidence={"total": float(total), "serial": float(SERIAL_FLOPS)},
        ),
        Claim(
            name="parallel-time",
            where="abstract, sec. 4.5, sec. 6",
            claim="In parallel it takes the same order of time as, or even less than, a serial arm's formulation",
            printed=f"{LEG} + {SOLUTION} = {LEG + SOLUTION} flops against {SERIAL_FLOPS}",
            measured=f"{leg} + {final} = {leg + final} flops against {serial.flops}",
            reason="The six legs and the platform do not depend on one another; the final system follows. The serial "
            "arm is counted on one processor, as in the paper. Where the arm too may use any number of processors, "
            f"the longest chain of dependent multiplications and additions is {depth} for the platform and "
            f"{serial_depth} for the arm: {depth / serial_depth:.1f} times, the same order but not less.",
            rule=EVEN_LESS,
            evidence={
                "printed": [float(LEG), float(SOLUTION), float(SERIAL_FLOPS)],
                "ours": [float(leg), float(final), float(serial.flops)],
            },
        ),
        Claim(
            name="on-line",
            where="abstract",
            claim="The algorithm is remarkably economical and fast, and quite suitable for on-line control",
            printed="suitable",
            measured=f"{ours.flops} flops a time step",
            reason="Any processor of today does so many operations in microseconds.",
            rule=not_judged("Today's hardware makes it trivial."),
        ),
    )


def _beyond(m: Measured) -> tuple[Claim, ...]:
    alone, with_it = m.reactions_extra
    ours = m.operations[MODEL].flops
    space = m.joint_space
    simulation, control = m.closed_form
    return (
        Claim(
            name="reactions-cost",
            where="sec. 1, sec. 3.3, sec. 6",
            claim="The joint reactions can be calculated with a small amount of additional computation",
            printed="a small amount",
            measured=f"{with_it.flops - alone.flops} flops beyond {alone.flops}: "
            f"{100 * (with_it.flops - alone.flops) / alone.flops:.1f} %",
            reason="All forces and moments of the 18 joints, in the exact model's vector equations, with common "
            f"subexpressions computed once; as written {with_it.as_written.flops - alone.as_written.flops} beyond "
            f"{alone.as_written.flops}.",
            rule=SMALL_AMOUNT,
            evidence={"alone": float(alone.flops), "with_it": float(with_it.flops)},
        ),
        Claim(
            name="joint-space",
            where="sec. 4.3",
            claim="Planning in joint space is computationally more expensive, since forward kinematics must be solved "
            "at each time step",
            printed="more expensive",
            measured=f"{space.flops + ours:.0f} flops a time step against {ours}",
            reason=f"Path I in the paper's steps: {space.newton_steps:.1f} Newton steps of {space.newton_step} flops "
            f"from the pose before, then two linear systems ({space.twist} and {space.acceleration} flops).",
            rule=DEARER,
        ),
        Claim(
            name="forward-kinematics",
            where="sec. 4.3",
            claim="Motions planned in joint space need the solution of six non-linear equations (2) for the position "
            "and of two linear systems (5 and 8) for velocity and acceleration",
            printed="eqs 2, 5, 8",
            measured=f"{within(max(m.forward), SAME)} of the largest along path II",
            reason="Newton's method from a pose nearby, then two systems with the transpose of H.",
            rule=FORWARD,
            evidence=dict(zip(("position", "velocity", "acceleration"), m.forward, strict=True)),
        ),
        Claim(
            name="closed-form",
            where="sec. 6",
            claim="Closed-form dynamic equations based on this formulation will be useful for simulation and for the "
            "design of control systems",
            printed="future work",
            measured=f"accelerations {within(simulation)} of those asked for in simulation, {within(control)} in "
            "control",
            reason="H F = M x'' + eta of our exact model, with which the corrected equations agree: forward dynamics "
            "along path II, and computed torque at states 1 cm and 0.02 rad off it.",
            rule=not_judged("The paper announces it and gives no closed form, so that only our own could be tried."),
        ),
    )
