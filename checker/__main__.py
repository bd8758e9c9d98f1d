"""The console script. Tiny: worker processes import it again."""

import sys
import time
from importlib import import_module


def main() -> None:
    """Run the command line and end the process with its exit code."""
    # What the interpreter needed until now is of the run's time, too: its wall time is not known everywhere.
    began_at = time.monotonic() - time.process_time()
    sys.exit(import_module("checker.cli.program").run_program(began_at))


if __name__ == "__main__":
    main()
