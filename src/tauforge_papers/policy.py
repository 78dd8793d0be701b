"""One policy for each kind of case that several papers have. The page of rules shows all of them."""

from __future__ import annotations

SAME_ORDER = 10**0.5  # half a decade

POLICIES = {
    "of the order of": f"A number is of the order of another if neither is more than {SAME_ORDER:.2f} times the "
    "other. A power of ten is then the nearest one.",
    "slips that may be errors of reading": "A machine read our texts of the papers. It may have lost or changed a "
    "dot, a bar, a sign, a letter, a digit or a row of a table. Where such a slip contradicts another place of the "
    "same paper, it is not judged, and what it costs is shown. An index that differs by one, a missing factor and a "
    "wrong order of operations are judged.",
    "frames": "An equation in which rotations turn its vectors is one between components, each vector in the frame "
    "that the paper gives it. A vector in another frame is a slip, even if the equation without rotations is right.",
    "inputs that are not printed": "A number or a curve is not judged if the paper does not print what it follows "
    "from: a duration, a profile, inertias, a program, a law. Our own numbers stand beside it.",
    "numbers that are not reproduced": "A printed number holds if ours is the same in its printed digits.",
    "plans and difficulties": "What a paper announces for the future, and what it finds difficult, is not judged.",
    "outcomes that are fixed": "A claim is not judged if its own arithmetic leaves no other outcome. Every other rule "
    "can give each of its outcomes: by another robot, another path, another count or a wrong term.",
    "errors of vectors": "The error of a vector is the norm of the difference, over the largest norm along the path.",
    "two models": "Claims about leg forces are judged by the paper's own model, its misprints mended. A second column "
    "has the numbers and the verdict of the exact model.",
}


def of_the_order(value: float, other: float, factor: float = SAME_ORDER) -> bool:
    return other / factor <= value <= other * factor
