"""A baseline on the day after: of twelve known defects one is fixed, one is flaky, one has expired, and one is new.

    python -m benchmarks.baseline_days [FIRST-LAST [WORKERS]]

Required: for every seed and number of workers JSON, JUnit and SARIF tell exactly the new and the expired one as failures, the
fixed one as gone, and the exit code is 1; with a baseline that holds those two as well it is 0.
"""

import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

SEEDS: Final = "1-10"
WORKERS: Final = 4
_COUNT: Final = 13
FIXED, EXPIRED, FLAKY, NEW = "GET /things0", "GET /things1", "GET /things2", "GET /things12"
_DOCUMENT: Final[dict[str, Any]] = {
    "openapi": "3.0.3",
    "info": {"title": "Days", "version": "1"},
    "paths": {
        f"/things{number}": {
            "get": {
                "parameters": [{"name": "limit", "in": "query", "schema": {"type": "integer"}}],
                "responses": {"200": {"description": "ok"}, "500": {"description": "no"}},
            }
        }
        for number in range(_COUNT)
    },
}
_KNOWN: Final = {f"GET /things{number}" for number in range(_COUNT)} - {FIXED, EXPIRED, FLAKY, NEW}


def main() -> int:
    """Print what was told otherwise; exit code 1 when something was."""
    first, _, last = (sys.argv[1] if sys.argv[1:] else SEEDS).partition("-")
    seeds = range(int(first), int(last or first) + 1)
    workers = int(sys.argv[2]) if sys.argv[2:] else WORKERS
    wrong = 0
    for seed in seeds:
        for crew in range(1, workers + 1):
            with tempfile.TemporaryDirectory() as folder:
                problems = list(_two_days(Command(Path(folder).resolve()), seed, crew))
            wrong += bool(problems)
            told = "; ".join(problems) or "as it should be"
            print(f"seed {seed:>2}, {crew} workers: {told}", flush=True)
    runs = len(seeds) * workers
    print(f"{runs - wrong} of {runs} as they should be")
    return int(wrong > 0)


def _two_days(command: Command, seed: int, workers: int) -> Iterable[str]:
    """What is not as it should be."""
    baseline = command.directory / "known.toml"
    options = ("-n", "20", "--continue-on-failure", "--baseline", str(baseline))
    with serving(_answering(_first_day()), _DOCUMENT) as app:
        ran = command.run(app.document_url, *options, seed=1, workers=1)
    if ran.code:
        yield f"day one ended with {ran.code}"
    text = baseline.read_text()
    at = text.index(f'operation = "{EXPIRED}"')
    # A key of the same table: it begins before the next header.
    baseline.write_text(f"{text[:at]}expires = 2020-01-01\n{text[at:]}")
    with serving(_answering(_second_day()), _DOCUMENT) as app:
        reports = ("--report", "json,junit,sarif", "--report-dir", "out")
        ran = command.run(app.document_url, *options, *reports, seed=seed, workers=workers)
        if ran.code != 1:
            yield f"day two ended with {ran.code}"
        yield from _told(command.directory / "out")
        again = command.run(app.document_url, *options, "--baseline-update", seed=seed, workers=workers)
    # What is expired stays so, whatever is written down.
    if again.code != 1:
        yield f"with an update it ended with {again.code}"


def _told(folder: Path) -> Iterable[str]:
    found = {path.name.partition("-")[0]: path.read_text() for path in folder.iterdir()}
    verdict = json.loads(found["json"])
    standing: dict[str, set[str]] = {}
    for one in verdict["failures"]:
        standing.setdefault(one["standing"], set()).add(one["operation"])
    gone = {one["operation"] for one in verdict["baseline"]["gone"]} - {FLAKY}
    if (standing.get("new"), standing.get("expired"), gone) != ({NEW}, {EXPIRED}, {FIXED}):
        yield f"JSON: {standing}, gone {gone}"
    if standing.get("known", set()) - {FLAKY} != _KNOWN:
        yield f"JSON: known are {sorted(standing.get('known', set()))}"
    failed = {
        case.get("name")
        for case in ElementTree.fromstring(found["junit"]).iter("testcase")
        if case.find("failure") is not None
    }
    if failed != {NEW, EXPIRED}:
        yield f"JUnit: {failed}"
    states: dict[str, set[str]] = {}
    for result in json.loads(found["sarif"])["runs"][0]["results"]:
        name = result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"]
        if "suppressions" not in result and name != FLAKY:
            states.setdefault(result["baselineState"], set()).add(name)
    if states != {"new": {NEW}, "unchanged": {EXPIRED}, "absent": {FIXED}}:
        yield f"SARIF: {states}"


def _first_day() -> Callable[[int], bool]:
    return lambda number: f"GET /things{number}" != NEW


def _second_day() -> Callable[[int], bool]:
    turns = 0

    def fails(number: int) -> bool:
        nonlocal turns
        label = f"GET /things{number}"
        if label == FLAKY:
            turns += 1
            return turns % 2 == 0
        return label != FIXED

    return fails


def _answering(fails: Callable[[int], bool]) -> Callable[[Request], Reply]:
    def answer(request: Request) -> Reply:
        number = re.match(rb"/things(\d+)", request.target)
        is_wrong = number is not None and fails(int(number[1]))
        return json_reply({"error": "no"}, 500) if is_wrong else json_reply({})

    return answer


if __name__ == "__main__":
    sys.exit(main())
