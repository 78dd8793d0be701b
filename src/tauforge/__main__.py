"""The command `tauforge`, or `python -m tauforge`."""

import sys

from tauforge.cli import interrupts


def main() -> None:
    interrupts.install()  # before what takes long to import
    try:
        from tauforge.cli.app import app

        app(prog_name="tauforge")
    except KeyboardInterrupt:  # before the command began, or after it ended
        code = interrupts.end()
        from tauforge.cli.shell import tell_interrupted

        tell_interrupted()
        sys.exit(code)
    finally:
        interrupts.end()


if __name__ == "__main__":
    main()
