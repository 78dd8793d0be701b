"""All that Pedrammehr, Mahboubkhah & Khani 2012 assert, and what they say of their data."""

from __future__ import annotations

from tauforge_papers.pedrammehr2012 import accuracy_claims, dynamics_claims, kinematics_claims
from tauforge_papers.pedrammehr2012.measured import DISTANCE, DURATION, SPEED, Measured
from tauforge_papers.report.study import Claim
from tauforge_papers.rules import not_judged, true_or_mended
from tauforge_papers.wording import less_or_more

PRINTED_SECONDS = 1.58

PATH_1 = true_or_mended(
    "It holds if the distance is no more than the largest velocity times the duration; with a correction if the "
    "velocity that covers the distance in that time is the printed one, once it is rounded to the printed digits.",
    holds=lambda distance, speed, duration: distance <= speed * duration,
    corrected=lambda distance, speed, duration: round(distance / duration, 2) == speed,
)
SAME = not_judged(
    "The machine that read our texts may have lost a sign in one of them. The paper names the other robot as the same."
)
FAST_ENOUGH = not_judged(
    "A computer of today makes this trivial, and the paper gives neither its number of states nor a time to keep."
)


def claims(m: Measured) -> tuple[Claim, ...]:
    return (
        *kinematics_claims.claims(m),
        *dynamics_claims.claims(m),
        *accuracy_claims.claims(m),
        *_data(m),
    )


def _data(m: Measured) -> tuple[Claim, ...]:
    states = sum(len(m.paths[name].t) for name in ("1", "2", "3"))
    before, after = m.other_robot
    return (
        Claim(
            name="path-1",
            where="sec. 9, appendix 2, path 1",
            claim="Path 1 leads 0.5 m along x in 6 s with a velocity of at most 0.08 m/s",
            printed="0.5 m, 6 s, 0.08 m/s",
            measured=f"0.5 m at 0.08 m/s take {DISTANCE / SPEED:.2f} s",
            reason=f"The three numbers contradict each other. In {DURATION:.0f} s the platform comes to x = "
            f"{m.paths['1'].states.position[-1, 0]:.2f} m instead of 0.60 m; the whole distance needs "
            f"{DISTANCE / DURATION:.4f} m/s, which rounds to the printed velocity. Figs 5 and 6 are drawn for both.",
            rule=PATH_1,
            evidence={"distance": DISTANCE, "speed": SPEED, "duration": DURATION},
        ),
        Claim(
            name="same-manipulator",
            where="sec. 9, appendix 2",
            claim="The test manipulator has the same geometric and inertial properties as that of Dasgupta 1998",
            printed="L_uo = (-0.6, -0.08, -0.08) m",
            measured=f"exact forces differ by up to {before:.1f} N on path 2, by {after:.1f} N with the sign changed",
            reason="The third component of L_uo is -0.08 m here and +0.08 m there; which of the two is a slip is "
            "not known. All numbers of this study are for "
            "-0.08 m unless they say otherwise. The axes of the universal joints are not listed and are taken from "
            "there.",
            rule=SAME,
        ),
        Claim(
            name="time",
            where="abstract, sec. 9",
            claim="The improved model takes 1.58 s for the paths on a Core 2 Duo and is suitable for online use",
            printed=f"{PRINTED_SECONDS} s",
            measured=f"{less_or_more(m.seconds, PRINTED_SECONDS, 's')} for {states} states",
            reason="Vector form of the paper, compiled, one processor, all states of the three paths.",
            rule=FAST_ENOUGH,
            timed=f"{m.seconds:.4f} s",
        ),
    )
