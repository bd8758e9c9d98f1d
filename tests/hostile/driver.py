"""Runs command lines one after the other in this process, and says of each how it ended and what memory it took.

One JSON list of arguments a line in; one JSON object a line out.
"""

import json
import sys
from pathlib import Path

from click.testing import CliRunner

from checker.cli.main import checker


def main() -> None:
    """Serve until there is nothing more to read."""
    for line in sys.stdin:
        # Forget the peak until now (proc(5), clear_refs).
        Path("/proc/self/clear_refs").write_text("5")
        result = CliRunner().invoke(checker, json.loads(line), prog_name="checker")
        found = {
            "code": result.exit_code,
            "output": result.output,
            "bug": ""
            if isinstance(result.exception, SystemExit | None)
            else repr(result.exception),
            "peak_mib": _peak_kib() / 1024,
        }
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()


def _peak_kib() -> int:
    status = Path("/proc/self/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1])


if __name__ == "__main__":
    main()
