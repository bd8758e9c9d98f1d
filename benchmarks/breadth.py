"""What a `run` with little time sees of a large description, before it looks closer anywhere.

    python -m benchmarks.breadth DOCUMENT.json [SECONDS] [open]

Required: every operation had cases of every phase that has any for it, the end is within 2 s of the limit, and the
reports are whole. `open`: as by a user whose authentication is off, with a failure of one cause in each operation that
asks for credentials.
"""

import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from subprocess import run
from xml.etree import ElementTree

from benchmarks.described_target import described_target
from checker.core.phases import phase_names
from checker.corpus.fold import RunView, fold
from checker.corpus.journal import JournalReader
from checker.corpus.layout import RunLayout

LIMIT_S = 2.0
SECONDS = 30.0
# The target takes everything, from everybody: what is told of that is the same for all operations, and not what is measured.
EXCLUDED = "negative_data_rejection,use_after_free,ensure_resource_availability"
OF_CREDENTIALS = "ignored_auth"
TRIED = re.compile(r"(\d+) (?:of \d+ )?cases? of the (\w+) phase")
"""What a note of an operation says, once for each phase for which the time did not suffice."""


def main() -> int:
    """Print the table; exit code 1 when something is missing."""
    document = Path(sys.argv[1]).resolve()
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else SECONDS
    excluded = EXCLUDED if "open" in sys.argv[3:] else f"{EXCLUDED},{OF_CREDENTIALS}"
    with described_target(document) as url, tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "checker", "run", str(document), "--url", url]
        command += ["--max-time", str(seconds), "--workers", "2", "--report", "junit,ndjson"]
        command += ["--report-dir", "reports", "--exclude-checks", excluded, "--seed", "1"]
        began = time.monotonic()
        ended = run(command, cwd=scratch, capture_output=True, text=True)
        beyond_s = time.monotonic() - began - seconds
        reports = sorted(Path(scratch, "reports").iterdir())
        for report in reports:
            if report.suffix == ".xml":
                ElementTree.parse(report)
        view = _view(Path(scratch))
    print(f"exit {ended.returncode}, {beyond_s:+.2f} s; reports {[one.suffix for one in reports]}")
    print(ended.stdout[ended.stdout.find("Test cases:") :])
    missing = _missing(view)
    cases = Counter[str]()
    for task in view.tasks.values():
        cases[task.phase] += task.cases
    for phase in phase_names():
        print(f"{phase:9} {cases[phase]:6} cases; operations without one: {len(missing[phase])}")
        for label in missing[phase]:
            print(f"  {label}")
    return int(any(missing.values()) or beyond_s > LIMIT_S or len(reports) != 2)


def _missing(view: RunView) -> dict[str, list[str]]:
    """Phase -> operations of which no case was answered although nobody knows that there is none."""
    found: dict[str, list[str]] = {phase: [] for phase in phase_names()}
    for note in view.notes.get("untried", {}).values():
        told = TRIED.findall(note.text)
        # Words that nobody understands here would count as nothing missing.
        assert told, note.text
        for cases, phase in told:
            if cases == "0":
                found[phase].append(note.label)
    return found


def _view(scratch: Path) -> RunView:
    (journals,) = scratch.glob(".checker/*/journals")
    layout = RunLayout(journals.parent)
    return fold(
        (incarnation, record)
        for incarnation, path in layout.journal_paths()
        for record in JournalReader(path).read_new()
    )


if __name__ == "__main__":
    raise SystemExit(main())
