"""Runs a command and notes the most memory that it took, in MiB: `python -m tests.hostile.measured FILE COMMAND ...`.

A process counts what its parent held when it was forked as its own, so that the parent has to be a small one.
"""

import resource
import subprocess
import sys
from pathlib import Path


def main(noted: str, *command: str) -> int:
    """Exit code of the command."""
    code = subprocess.run(command, check=False).returncode
    peak_kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    Path(noted).write_text(str(peak_kib // 1024))
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
