"""How many deep defects `fuzz` triggers and reports within a number of requests.

    python -m benchmarks.exploration [--requests N] [--seeds 1 2] [--services shop clinic] [--fixed] [--no-guidance] [--second-night] [--max-time S] [-- ARGUMENTS OF FUZZ]

Four services with planted defects in chains, states, pairs of fields, identifiers, pages, semantics, access, races and injections.
Each service knows which defects were triggered and by which of its requests, so a defect that was reached and not reported differs
from one that was never reached. `--fixed` serves the twins without defects: every finding is false, and the exit code is 1.
`--no-guidance` chooses all operations alike, whatever they have shown. `--second-night` runs a further night with the next seed on a
fresh service, with the corpus of the first and without it, and counts the defects and signals that the first has not reached.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.exploration.engine import COUNTS, Defect, Service
from checker.corpus.layout import RunLayout
from checker.corpus.records import SignalsSeen
from checker.corpus.snapshot import lasting_records
from tests.e2e.runner import PROGRAM, Command

SERVICES = ("clinic", "desk", "drive", "shop")
REQUESTS = 10_000
MAX_TIME_S = 600


@dataclass(frozen=True)
class Night:
    """What one `fuzz` reached and reported of one service."""

    defects: tuple[Defect, ...]
    requests: int
    first: dict[str, int]
    """Defect -> number of the request that triggered it."""
    reported: frozenset[str]
    strange: tuple[tuple[str, str], ...]
    """Findings, as (operation, check), that no defect explains."""
    signals: frozenset[int]
    """Ids of the signals in the corpus after it."""


@contextmanager
def serving(name: str, *, is_fixed: bool) -> Iterator[str]:
    """Serve a service in a process of its own. Gives its URL."""
    arguments = [sys.executable, "-m", "benchmarks.exploration.engine", name, *(["--fixed"] if is_fixed else [])]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.kill()


def counts(url: str) -> dict[str, Any]:
    """Return what the service has counted."""
    with urllib.request.urlopen(url + COUNTS, timeout=60) as response:
        found: dict[str, Any] = json.load(response)
        return found


def night(
    name: str,
    seed: int,
    requests: int,
    arguments: list[str],
    *,
    is_fixed: bool = False,
    is_guided: bool = True,
    folder: str | None = None,
) -> Night:
    """Run `fuzz` until the service has answered `requests` requests. Turns of operations last a share of the time limit.

    `folder`: the working directory, with the corpus of earlier nights; None: a new one.
    """
    if folder is None:
        with tempfile.TemporaryDirectory() as new:
            return night(name, seed, requests, arguments, is_fixed=is_fixed, is_guided=is_guided, folder=new)
    service: Service = import_module(f"benchmarks.exploration.{name}").build(is_fixed=True)
    with serving(name, is_fixed=is_fixed) as url:
        program = PROGRAM if is_guided else (sys.executable, str(Path(__file__).with_name("unguided.py")))
        command = Command(Path(folder), program=program, streams=subprocess.DEVNULL, timeout_s=900)
        configure(service, Path(folder))
        Path(folder, "openapi.json").write_text(json.dumps(service.document))
        ran = command.until(
            lambda: counts(url)["requests"] >= requests,
            # The place of the description names the corpus.
            *("fuzz", "openapi.json", "--url", url, "--seed", str(seed), "--workers", "2"),
            *arguments,
        )
        counted, found = counts(url), set(ran.defects)
    reported, explained = set(), set()
    for defect in service.defects:
        # A defect explains what it may show; it is reported once it was triggered and a check that it names has failed.
        about = {one for one in found if one[0] in (defect.label, *defect.shown_by) and one[1] in defect.checks}
        if defect.id in counted["first"]:
            explained |= about
            if about:
                reported.add(defect.id)
    return Night(
        service.defects,
        counted["requests"],
        counted["first"],
        frozenset(reported),
        tuple(sorted(found - explained)),
        signals_in(Path(folder, ".checker")),
    )


def signals_in(folder: Path) -> frozenset[int]:
    """Return the ids of the signals in the corpora of a folder."""
    records = (record for path in folder.iterdir() for record in lasting_records(RunLayout(path)).records)
    return frozenset(number for record in records if isinstance(record, SignalsSeen) for number, _ in record.ids)


def second_night(name: str, seed: int, requests: int, arguments: list[str]) -> Counter[str]:
    """Return what a second night reaches that the first one has not, with the corpus of the first and without it."""
    with tempfile.TemporaryDirectory() as folder:
        first = night(name, seed, requests, arguments, folder=folder)
        second = night(name, seed + 1, requests, arguments, folder=folder)
    fresh = night(name, seed + 1, requests, arguments)
    found: Counter[str] = Counter()
    for kind, one in (("with", second), ("without", fresh)):
        found[f"defects {kind}"] = len(one.first.keys() - first.first.keys())
        found[f"all defects {kind}"] = len(one.first)
        found[f"signals {kind}"] = len(one.signals - first.signals)
        found[f"requests {kind}"] = one.requests
    print(f"{name} seed {seed}: first {len(first.first)}, further {dict(found)}", flush=True)
    return found


def configure(service: Service, folder: Path) -> None:
    """Write the users of a service as credentials of a run in a folder."""
    if not service.tokens:
        return
    users = [
        {"name": name, "fixedHeaders": [{"name": "Authorization", "value": f"Bearer {token}"}]}
        for token, name in service.tokens.items()
    ]
    Path(folder, "users.json").write_text(json.dumps({"auth": users}))
    peers = json.dumps(list(service.tokens.values()))
    Path(folder, "checker.toml").write_text(f'[auth.wfc]\npath = "users.json"\npeers = {peers}\n')


def show(nights: dict[tuple[str, int], Night]) -> None:
    """Print a line for each service and seed, a table by kind, and the defects that no seed reached or reported."""
    for (name, seed), one in nights.items():
        print(
            f"{name} seed {seed}: {one.requests} requests, {len(one.first)} of {len(one.defects)} reached, "
            f"{len(one.reported)} reported; strange: {list(one.strange)}"
        )
    kinds: dict[str, Counter[str]] = {}
    for one in nights.values():
        for defect in one.defects:
            row = kinds.setdefault(f"{defect.kind}", Counter())
            row["planted"] += 1
            row["reached"] += defect.id in one.first
            row["reported"] += defect.id in one.reported
    print("| kind | planted | reached | reported |\n|---|---|---|---|")
    for kind, row in sorted(kinds.items()):
        print(f"| {kind} | {row['planted']} | {row['reached']} | {row['reported']} |")
    total: Counter[str] = sum(kinds.values(), Counter())
    print(f"| all | {total['planted']} | {total['reached']} | {total['reported']} |")
    for name in dict.fromkeys(name for name, _ in nights):
        mine = [one for (other, _), one in nights.items() if other == name]
        for defect in mine[0].defects:
            firsts = [one.first[defect.id] for one in mine if defect.id in one.first]
            told = sum(defect.id in one.reported for one in mine)
            if told < len(mine):
                reached = f"reached {len(firsts)} of {len(mine)}" + (f" at {median(firsts):.0f}" if firsts else "")
                print(f"{name} {defect.kind} {defect.steps} {defect.id}: {reached}, reported {told}")


def main() -> int:
    """Run the nights that were asked for. Exit code 1: a finding that no defect explains."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=REQUESTS, help="requests for each service")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--services", nargs="+", default=list(SERVICES), choices=SERVICES)
    parser.add_argument("--fixed", action="store_true", help="serve the twins without defects")
    parser.add_argument("--no-guidance", action="store_true", help="choose all operations alike")
    parser.add_argument("--second-night", action="store_true", help="compare a further night with a fresh start")
    parser.add_argument("fuzz", nargs="*", help="arguments of `checker fuzz`, after --")
    parser.add_argument(
        "--max-time", default=MAX_TIME_S, type=int, help="seconds, on which the turns of operations depend"
    )
    asked = parser.parse_args()
    limit = ("--max-time", str(asked.max_time))
    if asked.second_night:
        pairs = (
            second_night(name, seed, asked.requests, [*limit, *asked.fuzz])
            for name in asked.services
            for seed in asked.seeds
        )
        total: Counter[str] = sum(pairs, Counter())
        print(f"with the corpus and without it: {dict(total)}")
        return 0
    nights = {
        (name, seed): night(
            name, seed, asked.requests, [*limit, *asked.fuzz], is_fixed=asked.fixed, is_guided=not asked.no_guidance
        )
        for name in asked.services
        for seed in asked.seeds
    }
    show(nights)
    return 1 if any(one.strange for one in nights.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
