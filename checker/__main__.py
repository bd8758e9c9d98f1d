"""The console script. Tiny: worker processes import it again."""

import sys
import time
from importlib import import_module

from checker.core.process_age import process_age_s


def main() -> None:
    """Run the command line and end the process with its exit code."""
    # What the interpreter needed until now is of the run's time, too.
    began_at = time.monotonic() - process_age_s()
    sys.exit(import_module("checker.commands.program").run_program(began_at))


if __name__ == "__main__":
    main()
