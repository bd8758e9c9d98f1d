"""The console script. Tiny: worker processes import it again."""

import sys
from importlib import import_module


def main() -> None:
    """Run the command line and end the process with its exit code."""
    sys.exit(import_module("checker.cli.program").run_program())


if __name__ == "__main__":
    main()
