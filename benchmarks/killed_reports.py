"""`kill -9` of the supervisor of `fuzz` after 1 to 2,000 requests, and every report from what it leaves.

    python -m benchmarks.killed_reports [POINTS]

Required: after each kill every format can be made and read by somebody else's reader, everything that was on record or on the
console is told, and no process is left behind.
"""

import sys
import tempfile
from pathlib import Path

from tests.apps.serving import serving
from tests.chaos import target
from tests.chaos.told import killed_after
from tests.e2e.runner import SLOW_CLOCK, Command

POINTS = 20
_MOST_REQUESTS = 2_000


def main() -> int:
    """Print a line for each kill; exit code 1 when something was lost."""
    count = int(sys.argv[1]) if sys.argv[1:] else POINTS
    points = [round(_MOST_REQUESTS ** (number / max(count - 1, 1))) for number in range(count)]
    is_well = True
    print(f"{'requests':>10}{'on record':>11}{'told':>7}{'kept':>8}  lost")
    with (
        serving(target.defective(pause_s=0.0), target.document(12)) as app,
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as reports,
    ):
        command = Command(Path(folder).resolve(), program=SLOW_CLOCK)
        for one in killed_after(command, app, points, Path(reports)):
            lost = [*one.missing, *map(str, one.unsaid), *one.absent]
            is_well &= not lost
            shown = "; ".join(lost) or "nothing"
            print(f"{one.after:>10,}{len(one.on_record):>11}{one.told:>7}{one.kept:>8,}  {shown}")
    return int(not is_well)


if __name__ == "__main__":
    sys.exit(main())
