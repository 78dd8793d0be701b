"""The command `tauforge`, or `python -m tauforge`."""

import sys

from tauforge.cli import interrupts


def main() -> None:
    try:
        try:
            interrupts.install()  # before what takes long to import
            from tauforge.cli.app import app

            app(prog_name="tauforge")
        finally:
            interrupts.end()
    except KeyboardInterrupt:  # before the command began, or when it had ended
        code = interrupts.end()
        from tauforge.cli.app import tell_interrupted

        tell_interrupted()
        sys.exit(code)


if __name__ == "__main__":
    main()
