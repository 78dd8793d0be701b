"""`python -m tauforge`: the command line."""

from tauforge.cli.app import app

if __name__ == "__main__":
    app(prog_name="tauforge")
