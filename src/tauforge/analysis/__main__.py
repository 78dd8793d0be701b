"""`python -m tauforge.analysis [ROBOT]`: the comparison and complexity tables of a catalogue arm or a model file."""

from __future__ import annotations

import sys

from tauforge.analysis.report import print_report
from tauforge.errors import TauforgeError
from tauforge.robots.load import load


def main() -> int:
    if len(sys.argv) > 2 or sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__)
        return 0 if len(sys.argv) == 2 else 2
    try:
        robot = load(sys.argv[1] if len(sys.argv) == 2 else "puma560")
    except TauforgeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print_report(robot)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
