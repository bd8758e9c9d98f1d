"""`checker corpus stats`, `merge`, `minimize` and `export`."""

from collections import Counter
from pathlib import Path
from typing import Any

import click
from msgspec.structs import replace

from checker.commands.command import Command, CommandGroup, echo, echo_line
from checker.commands.runs_on_disk import PastRun, folder_of
from checker.commands.values import configured, formats_named
from checker.config.config import Config
from checker.core.errors import UsageError
from checker.corpus.files import remove_file
from checker.corpus.fold import fold
from checker.corpus.journal import last_run
from checker.corpus.known import KnownFailures
from checker.corpus.layout import RunLayout
from checker.corpus.records import CorpusEntry, Finding, Quarantined, SignalsSeen, ValueSeen
from checker.corpus.snapshot import add_to_snapshot, compact, lasting_records
from checker.reporting.text import counted, json_text
from checker.reporting.writing import write_summaries
from checker.supervisor.lock import Ownership
from checker.workers.observers.saved_examples import SavedExamples

_PARTS = ("journals", "traffic", "documents", "snapshot")  # Files and folders of a corpus whose sizes are shown.


@click.group(cls=CommandGroup)
def corpus() -> None:
    """Look at corpora: the folders below .checker that hold the records of runs."""


@corpus.command(cls=Command)
@click.argument("run", metavar="[RUN|FOLDER]", required=False)
@click.option(
    "--format", "shape", type=click.Choice(("text", "json")), default="text", help="Text, or JSON for programs."
)
@click.pass_context
def stats(ctx: click.Context, run: str | None, shape: str) -> None:
    """Count what all runs of a corpus have found and learned: RUN is its name below .checker, FOLDER its place."""
    folder = folder_of(run)
    found = _statistics(folder, configured(ctx))
    if shape == "json":
        echo(json_text(found, indent=True))
        return
    echo_line(f"{folder}: {found['bytes']['all']:,} bytes")
    last = found["last_run"]
    if last is not None:
        echo_line(f"  Last run: {last['kind']}, seed {last['seed']}, {last['outcome']}, {last['requests']:,} requests")
    for name in ("findings", "quarantined", "sequences", "values"):
        echo_line(f"  {name.capitalize()}: {found[name]:,}")
    kinds = ", ".join(f"{name} {count:,}" for name, count in sorted(found["signals"].items()))
    echo_line(f"  Signals: {kinds or 0}")
    sizes = ", ".join(f"{name} {found['bytes'][name]:,}" for name in _PARTS)
    echo_line(f"  Bytes: {sizes}")


@corpus.command(cls=Command)
@click.argument("into", metavar="INTO")
@click.argument("others", metavar="FROM...", nargs=-1, required=True)
@click.pass_context
def merge(ctx: click.Context, into: str, others: tuple[str, ...]) -> None:
    """Add everything that the runs of the corpora FROM have found and learned to the corpus INTO. The corpora FROM do not change.

    The corpora are of one API, for example of machines that tested it at the same time. INTO is created if there is no such folder.
    The failures also go into the example database of the working directory, so that the next run sends them first.
    The last run of INTO stays the last one, for reports and replay.
    """
    sources = [RunLayout(folder_of(name)) for name in others]
    target = RunLayout(
        folder_of(into)
        if any((folder / "journals").is_dir() for folder in (Path(into), Path(".checker") / into))
        else Path(into)
    )
    titles = {
        title
        for layout in (*sources, target)
        if (title := (PastRun.of(layout.root, configured(ctx)).title if last_run(layout) is not None else ""))
    }
    if len(titles) > 1:
        raise UsageError(f"the corpora are of different APIs: {', '.join(sorted(titles))}")
    if target.root.resolve() in [layout.root.resolve() for layout in sources]:
        raise UsageError(f"{into} cannot be merged into itself")
    read = [lasting_records(layout) for layout in sources]
    records = [record for one in read for record in one.records]
    with Ownership(target):
        damage = add_to_snapshot(target, records)
    # Later runs send the failures again from the example database, which each machine has for itself.
    saved = SavedExamples(configured(ctx).generation.database)
    for record in records:
        if isinstance(record, Finding) and record.investigation.reproduced and record.steps:
            saved.save(record.steps)
    for note in (*damage, *(note for one in read for note in one.notes)):
        echo_line(f"Warning: {note.text}", err=True)
    found = _statistics(target.root, configured(ctx))
    echo_line(
        f"{target.root}: {found['findings']:,} findings, {found['sequences']:,} sequences, {found['values']:,} values"
    )


@corpus.command(cls=Command)
@click.argument("run", metavar="[RUN|FOLDER]", required=False)
def minimize(run: str | None) -> None:
    """Drop the traffic of a corpus, and the records of earlier runs that later records replace."""
    layout = RunLayout(folder_of(run))
    before = _size(layout.root)
    with Ownership(layout):
        last = last_run(layout)
        closed = {number for number, _ in layout.journal_paths() if last is None or number < last.first}
        compact(layout, closed)
        for _, path in layout.traffic_paths():
            remove_file(path)
    echo_line(f"{layout.root}: {before:,} bytes before, {_size(layout.root):,} now")


@corpus.command(cls=Command)
@click.argument("run", metavar="[RUN|FOLDER]", required=False)
@click.option("--format", "shape", metavar="FORMAT", default="http", show_default=True, help="Format of the report.")
@click.option("-o", "--output", metavar="PATH", required=True, help="Path of the report.")
@click.pass_context
def export(ctx: click.Context, run: str | None, shape: str, output: str) -> None:
    """Write the failures of all runs of a corpus that are not fixed, as one report.

    `checker report` has the failures of the last run only. Formats that show every request are not possible.
    """
    rows = formats_named([shape])
    if len(rows) != 1 or rows[0].streams:
        raise UsageError(f"--format {shape}: give one format that shows only failures, such as http, json or pytest")
    past = PastRun.of(folder_of(run), configured(ctx))
    known = lasting_records(RunLayout(Path(past.settings.corpus.folder)))
    every = fold((0, record) for record in known.records if isinstance(record, Finding)).findings.values()
    # Only the records of the last run state the requests that its findings need.
    recent = {(one.fingerprint, one.at): one for one in past.report.findings}
    found = tuple(recent.get((one.fingerprint, one.at), one) for one in every)
    compared = KnownFailures(past.settings.verdict.baseline).compared(found, past.view.statuses, is_whole=False)
    report = replace(past.report, findings=found, compared=compared)
    if problem := write_summaries([(rows[0].name, output)], report, past.context).get(output):
        raise UsageError(problem)
    echo_line(f"{output}: {counted(len(found), 'failure')}")


def _statistics(folder: Path, config: Config) -> dict[str, Any]:
    """Return the findings and discoveries of the runs of a corpus as plain values."""
    layout = RunLayout(folder)
    records = lasting_records(layout).records
    past = PastRun.of(folder, config) if last_run(layout) is not None else None
    signals: Counter[str] = Counter(
        kind for record in records if isinstance(record, SignalsSeen) for _, kind in record.ids
    )
    sizes = {name: _size(folder / name) for name in _PARTS}
    return {
        "last_run": None
        if past is None
        else {
            "kind": past.settings.kind,
            "seed": past.run.started.seed,
            "outcome": past.outcome,
            "requests": past.view.counts.requests,
        },
        "findings": fold((0, record) for record in records if isinstance(record, Finding)).finding_count(),
        "quarantined": sum(isinstance(record, Quarantined) for record in records),
        "sequences": sum(isinstance(record, CorpusEntry) for record in records),
        "values": sum(isinstance(record, ValueSeen) for record in records),
        "signals": dict(signals),
        "bytes": {**sizes, "all": _size(folder)},
    }


def _size(path: Path) -> int:
    if path.is_dir():
        return sum(one.stat().st_size for one in path.rglob("*") if one.is_file())
    return path.stat().st_size if path.exists() else 0
