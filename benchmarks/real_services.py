"""Real services with many findings: how long what people read is, and whether each place is told.

    python -m benchmarks.real_services FOLDER [NAME ...] [--port 19700] [--max-time 40] [-n 15]

`FOLDER/NAME` has `start.sh` and `stop.sh` (port in `PORT`), `sut.json` (`schema`: a URL or `file: NAME`, `base_url`,
`default_port`), and maybe `data/headers`. Required: each failure is a place of exactly one cause, in the JSON report as in the journals.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from checker.core.blocks import DEFAULT_TRUNCATION
from checker.corpus.records import Finding
from checker.reporting.findings import failures_by_cause, failures_by_label
from tests.e2e.runner import Command, Ran

_MOST_S = 90
"""Of starting a service."""


def main() -> int:
    """A line for each service; exit code 1 when one does not start, or a place is lost."""
    wanted = _arguments()
    names = wanted.names or sorted(path.parent.name for path in wanted.folder.glob("*/start.sh"))
    is_well = True
    print(f"{'service':<16}{'failures':>9}{'causes':>8}{'each alone':>12}{'by cause':>10}{'lost':>6}")
    for number, name in enumerate(names):
        port, script = wanted.port + number, wanted.folder / name / "start.sh"
        try:
            _script(script, port)
            counts = _counts(_run(wanted, wanted.folder / name, port))
        finally:
            _script(script.with_name("stop.sh"), port)
        failures, causes, alone, together, lost = counts
        is_well &= not lost
        print(f"{name:<16}{failures:>9}{causes:>8}{alone:>12}{together:>10}{lost:>6}", flush=True)
    return int(not is_well)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--port", type=int, default=19700)
    parser.add_argument("--max-time", type=int, default=40)
    parser.add_argument("-n", dest="examples", type=int, default=15)
    return parser.parse_args()


def _script(script: Path, port: int) -> None:
    environment = os.environ | {"PORT": str(port)}
    with Path(os.devnull).open("r+b") as nothing:
        subprocess.run(
            ["bash", str(script)],
            cwd=script.parent.parent,
            env=environment,
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
            timeout=_MOST_S,
            check=script.name == "start.sh",
        )


def _run(wanted: argparse.Namespace, service: Path, port: int) -> Ran:
    said: dict[str, Any] = json.loads((service / "sut.json").read_text())
    schema, base = (said[key].replace(str(said["default_port"]), str(port)) for key in ("schema", "base_url"))
    if schema.startswith("file: "):
        schema = str(service.resolve() / schema.split()[1])
    headers = service / "data" / "headers"
    given = ("-H", headers.read_text().splitlines()[0]) if headers.is_file() else ()
    place = Path(tempfile.mkdtemp(prefix=f"{service.name}-")).resolve()
    return Command(place)(
        *("run", schema, "--url", base, *given, "--seed", "1", "--workers", "2"),
        *("-n", str(wanted.examples), "--max-time", str(wanted.max_time)),
        *("--report", "json", "--report-json-path", "report.json"),
    )


def _counts(ran: Ran) -> tuple[int, int, int, int, int]:
    """(failures, causes, lines of all failures one by one, lines by cause, failures that are not a place of one cause)."""
    found = ran.findings
    told: dict[str, Any] = json.loads((ran.directory / "report.json").read_text())
    places = [place["fingerprint"] for cause in told["causes"] for place in cause["places"]]
    known = [one.fingerprint for one in found]
    lost = len(set(known) ^ set(places)) + len(places) - len(set(places))
    lost += abs(len(told["failures"]) - len(known))
    alone = sum(_lines(failures_by_label([one], DEFAULT_TRUNCATION)) for one in found)
    return len(found), len(told["causes"]), alone, _by_cause(found), lost


def _by_cause(found: list[Finding]) -> int:
    return _lines(failures_by_cause(found, DEFAULT_TRUNCATION))


def _lines(blocks: Any) -> int:
    return sum(len(text.splitlines()) + 1 for _, text in blocks)


if __name__ == "__main__":
    sys.exit(main())
