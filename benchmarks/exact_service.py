"""Real descriptions against a service that does what they say and no more: what is found there is found wrongly.

    python -m benchmarks.exact_service FOLDER OR DOCUMENT ... [--slice K/N] [--operations 20] [-n 5] [--max-time 840] [--fuzz SECONDS]

The first operations of each document, with all phases and both kinds of data, or with `fuzz`. Required: no finding and no
error; operations of which nobody can make a request are listed with the reason, and those with cases that were not tried
before the time was over are counted. Each document has a process of its own
that begins with everything imported. POSIX.
"""

import argparse
import contextlib
import json
import os
import signal
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.apps.document import read
from tests.apps.exact import Exact, first_operations, prepared
from tests.apps.serving import serving
from tests.e2e.runner import Ran

MOST_S = 900
"""Of one document: a run that hangs is a result, too."""
_SLOWEST_S = 120
"""Of one answer: the witness compares a thousand items in pairs."""
TOLD = 160
"""Signs of a message that are shown."""
_SUFFIXES = (".json", ".yaml", ".yml")


def main() -> int:
    """A line for each document, and below it what was found; exit code 1 when anything was."""
    wanted = _arguments()
    number, count = map(int, wanted.slice.split("/"))
    # What all runs need, once.
    import_module("checker.commands.run"), import_module("checker.workers.incarnation")
    is_good = True
    for path in _documents(wanted.places)[number - 1 :: count]:
        began = time.monotonic()
        told = _told(path, wanted)
        is_good &= not told["found"]
        head = f"{told['cases']} cases, {told['sights']}, {time.monotonic() - began:.0f} s"
        head += f", {told['untried']} operations not to their end" if told["untried"] else ""
        print(f"{path.name}: {head}", flush=True)
        for line in told["found"]:
            print(f"    {line}", flush=True)
    return int(not is_good)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("places", nargs="+", type=Path)
    parser.add_argument("--slice", default="1/1")
    parser.add_argument("--operations", type=int, default=20)
    parser.add_argument("-n", dest="examples", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--max-time", type=int, default=MOST_S - 60)
    parser.add_argument("--fuzz", type=int, default=0)
    return parser.parse_args()


def _documents(places: list[Path]) -> list[Path]:
    found = []
    for place in places:
        found += sorted(place.iterdir()) if place.is_dir() else [place]
    return [path for path in found if path.suffix in _SUFFIXES]


def _told(path: Path, wanted: argparse.Namespace) -> dict[str, Any]:
    """What a process of its own tells of one document."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "result.json")
        pid = os.fork()
        if not pid:
            # Never back into the loop of the parent, whatever happens.
            with contextlib.suppress(BaseException):
                signal.alarm(MOST_S)
                result.write_text(json.dumps(_alone(path, Path(folder), wanted)))
            os._exit(0)
        os.waitpid(pid, 0)
        if not result.exists():
            printed = Path(folder, "printed").read_text()[-2000:]
            return {"cases": 0, "sights": {}, "untried": 0, "found": [f"no result: {printed}"]}
        told: dict[str, Any] = json.loads(result.read_text())
        return told


def _alone(path: Path, folder: Path, wanted: argparse.Namespace) -> dict[str, Any]:
    """Serve and test one document in this process."""
    document = first_operations(prepared(read(path)), wanted.operations)
    described = folder / "described.json"
    described.write_text(json.dumps(document))
    os.chdir(folder)
    printed = os.open("printed", os.O_WRONLY | os.O_CREAT)
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    exact = Exact(document)
    with serving(exact, document) as app:
        kind = ["run", "-n", str(wanted.examples), "--max-time", str(wanted.max_time)]
        if wanted.fuzz:
            kind = ["fuzz", "--max-time", str(wanted.fuzz)]
        sys.argv = ["checker", *kind, str(described), "--url", app.url, "--inline"]
        sys.argv += ["--seed", str(wanted.seed), "--continue-on-failure"]
        sys.argv += ["--request-timeout", str(_SLOWEST_S)]
        code = import_module("checker.cli").main(time.monotonic())
    ran = Ran(code, "", "", folder)
    view = ran.view
    found = [
        f"{one.label}: {one.check}: {one.title}: {one.message[:TOLD]!r} ({one.phase}, seen as {one.investigation.stage})"
        for one in ran.findings
    ]
    found += [f"{one.label}: {one.title}: {one.message[:TOLD]!r}" for one in view.errors.values()]
    if code and not found:
        found.append(f"exit code {code}")
    sights = {sight.value: count for sight, count in exact.sights.items()}
    untried = {label for label, *_ in view.notes.get("untried", ())}
    return {"cases": view.counts.cases, "sights": sights, "untried": len(untried), "found": found}


if __name__ == "__main__":
    raise SystemExit(main())
