"""The verdicts of Pedrammehr's study, and numbers that would give every other verdict of its rules."""

from __future__ import annotations

VERDICTS = {
    "lengths": "holds",
    "not-full-rank": "holds",
    "spin": "holds",
    "acceleration-by-components": "holds",
    "spin-rate": "does not hold",
    "consistent-pods": "holds",
    "other-pods": "mixed",
    "perpendicular-pods": "does not hold",
    "no-spin-no-difference": "holds",
    "low-precision": "not judged",
    "vector-equations": "holds",
    "all-effects": "holds with a correction",
    "parallel-axes": "does not hold",
    "previous-models": "mixed",
    "completely-different": "not judged",
    "moment-along-c": "holds",
    "no-moment-along-the-pod": "does not hold",
    "closed-form": "does not hold",
    "complexity": "not judged",
    "accuracy-path-2": "holds",
    "accuracy-path-3": "mixed",
    "similar-trends": "holds",
    "significant-differences": "mixed",
    "significantly-improved": "mixed",
    "path-1": "holds with a correction",
    "same-manipulator": "not judged",
    "time": "not judged",
    "marks-of-accelerations": "not judged",
    "index-of-the-spin": "not judged",
    "lost-vector-c": "not judged",
    "tensor-in-q": "not judged",
    "centripetal-term": "not judged",
    "rate-in-s": "not judged",
    "dots-of-the-platform": "not judged",
}

RIGHT, WRONG = {"errors": [0.0]}, {"errors": [1.0]}
SMALL, LARGE = [0.0] * 3, [1e9] * 3
OTHERS = {
    "lengths": {"does not hold": WRONG},
    "not-full-rank": {"does not hold": {"least": 0.1}},
    "spin": {"does not hold": WRONG},
    "acceleration-by-components": {"does not hold": WRONG},
    "spin-rate": {"holds": RIGHT},
    "consistent-pods": {
        "mixed": {"accelerations": [0.2]},
        "does not hold": {"velocities": [0.2] * 3, "accelerations": [0.2]},
    },
    "other-pods": {
        "holds": {"velocities": [0.2] * 3, "accelerations": [0.2] * 5},
        "does not hold": {"velocities": [0.01] * 3, "accelerations": [0.01] * 5},
    },
    "perpendicular-pods": {
        "mixed": {"accelerations": [0.01]},
        "holds": {"velocities": [0.01] * 3, "accelerations": [0.01]},
    },
    "no-spin-no-difference": {"does not hold": {"differences": [1e-3]}},
    "vector-equations": {"does not hold": WRONG},
    "all-effects": {"holds": {"published": [0.0]}, "does not hold": {"under_load": 1e-9}},
    "parallel-axes": {"holds": RIGHT},
    "previous-models": {
        "holds": {"parallel_axes": 0.0},
        "does not hold": {"spin": 0.0, "moment": 0.0},
    },
    "moment-along-c": {"does not hold": {"about_axes": 0.1}},
    "no-moment-along-the-pod": {"holds": {"largest": [0.0]}},
    "closed-form": {"holds": {"apart": 0.0}, "holds with a correction": {"with_one_term": [1.0, 0.0]}},
    "accuracy-path-2": {"mixed": {"previous": [1e9, 0.0, 0.0]}, "does not hold": {"previous": SMALL}},
    "accuracy-path-3": {"holds": {"previous": LARGE}, "does not hold": {"previous": SMALL}},
    "similar-trends": {
        "mixed": {"correlations": [0.999, 0.5]},
        "does not hold": {"correlations": [0.5, 0.5], "amplitudes": [0.0, 0.0]},
    },
    "significant-differences": {
        "holds": {"errors": [0.0, 0.0]},
        "does not hold": {"shares": [0.0, 0.0], "errors": [1e9, 1e9]},
    },
    "significantly-improved": {
        "holds": {"largest": [0.1, 0.7], "rms": [0.1, 0.7]},
        "does not hold": {"rms": [0.9, 0.9]},
    },
    "path-1": {"holds": {"distance": 0.4}, "does not hold": {"distance": 0.8}},
}
