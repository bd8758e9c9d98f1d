"""`kill -9` of supervisors after so many requests, and what `checker report` makes of what they leave."""

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from click.testing import CliRunner

from checker.cli import checker as command_line
from checker.core.reports import REPORT_FORMATS
from checker.corpus.records import Finding, Investigation
from tests.apps.serving import App
from tests.chaos import evidence
from tests.chaos.killing import orphans
from tests.e2e.runner import Command
from tests.reporting.formats import READERS
from tests.waiting import wait_until

_NAMES, _NAMES_OF_INVESTIGATION = Finding.__struct_fields__, Investigation.__struct_fields__
_TOLD = re.compile(r"\d+:\d\d  ([A-Z]+ \S+): (.+?)(?: \(.*\))?$")
"""A line in which `fuzz` tells of a finding while it goes on."""
_FORMATS = tuple(row.name for row in REPORT_FORMATS.values() if row.writer is not None)


@dataclass(frozen=True)
class Killed:
    """What a kill left, and what became of it in the reports."""

    after: int
    """Requests that had come."""
    on_record: frozenset[str]
    """Fingerprints in the journals that are to be told."""
    missing: frozenset[str]
    """Those of them that JSON does not tell."""
    unsaid: frozenset[tuple[str, str]]
    """(operation, title) that the console told before the kill, and JSON does not."""
    told: int
    """Findings in JSON."""
    kept: int
    """Requests in the HAR file."""
    absent: tuple[str, ...]
    """Formats that there is no readable report of."""


def killed_after(command: Command, app: App, points: Sequence[int], reports: Path) -> Iterator[Killed]:
    """One run that goes on after each kill; it is killed when the target has had so many requests since it went on."""
    options = ("--continue-on-failure", "--seed", "1", "--workers", "2", "--report", "har")
    for number, point in enumerate(points):
        before = len(app.seen)
        with command.started("fuzz", app.document_url, *options) as process:
            wait_until(partial(_is_time, process, app, before + point))
            assert process.poll() is None, process.communicate()
            process.kill()
            said, _ = process.communicate()
        assert orphans(command.directory) == []
        yield _read(command.directory, reports / str(number), point, said)


def _is_time(process: "subprocess.Popen[str]", app: App, requests: int) -> bool:
    return process.poll() is not None or len(app.seen) >= requests


def _read(directory: Path, folder: Path, point: int, said: str) -> Killed:
    (corpus,) = directory.glob(".checker/*/journals")
    on_record = frozenset(to_be_told(corpus.parent))
    ran = CliRunner().invoke(
        command_line, ["report", str(corpus.parent), "--format", ",".join(_FORMATS), "--report-dir", str(folder)]
    )
    assert ran.exit_code == 0, ran.output
    written = {path.name.partition("-")[0]: path for path in folder.iterdir()}
    absent, found = [], {}
    for name in _FORMATS:
        try:
            found[name] = READERS[name](_files(written[name]))
        except Exception as error:  # noqa: BLE001 - whatever is wrong with a report is what is asked
            absent.append(f"{name}: {type(error).__name__}: {error}"[:200])
    verdict = found.get("json", {"failures": []})
    names = {one["fingerprint"] for one in verdict["failures"]}
    titles = {(one["operation"], one["title"]) for one in verdict["failures"]}
    return Killed(
        after=point,
        on_record=on_record,
        missing=on_record - names,
        unsaid=frozenset(_said(said)) - titles,
        told=len(names),
        kept=len(found.get("har", ())),
        absent=tuple(absent),
    )


def to_be_told(corpus: Path) -> Iterator[str]:
    """Fingerprints whose last version is neither withdrawn nor another sight of one."""
    last = {}
    for one in evidence.records(corpus, evidence.FINDING):
        known = dict(zip(_NAMES, one, strict=False))
        last[known["fingerprint"]] = known
    for name, known in last.items():
        investigation = dict(zip(_NAMES_OF_INVESTIGATION, known["investigation"], strict=False))
        if not investigation["withdrawn"] and not known["same_as"]:
            yield name


def _said(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        if found := _TOLD.search(line):
            yield found.group(1), found.group(2)


def _files(path: Path) -> dict[str, bytes]:
    if path.is_dir():
        return {one.name: one.read_bytes() for one in path.iterdir()}
    return {"": path.read_bytes()}
