"""`checker report`."""

import os
from datetime import UTC, datetime
from pathlib import Path

import click
from msgspec.structs import replace

from checker.commands.command import CANNOT, Command, Root, echo_line
from checker.commands.runs_on_disk import MergedRuns, PastRun, compared_with, folder_of, missing_shards
from checker.commands.values import configured, formats_named
from checker.config.config import Config
from checker.core.errors import UsageError
from checker.reporting.console import Console
from checker.reporting.report import INCOMPLETE
from checker.reporting.writing import check_writable, format_named, write_streams, write_summaries


@click.command(cls=Command)
@click.argument("runs", metavar="[RUN|FOLDER]...", nargs=-1)
@click.option("--format", "report", multiple=True, metavar="FORMATS", help="Reports to write.")
@click.option("--report-dir", metavar="FOLDER", help="Folder of the reports.")
@click.option("-o", "--output", metavar="PATH", help="Path of the report; needs a single format.")
@click.option("--baseline", metavar="FILE", help="File of known failures.")
@click.option("--compare", metavar="RUN", help="Run whose failures count as known.")
@click.option("--no-color", is_flag=True, help="No colours.")
@click.pass_context
def report(
    ctx: click.Context,
    runs: tuple[str, ...],
    report: tuple[str, ...],
    report_dir: str | None,
    output: str | None,
    baseline: str | None,
    compare: str | None,
    no_color: bool,
) -> None:
    """Make reports of the last run in a corpus: RUN is its name below .checker, FOLDER its place.

    Several runs, such as shards or services, are combined into one report. A failure found in more than one run is listed once, with the names of the runs.
    The exit code for the shards of a run is that of the run as a whole; 2 if a shard is missing.

    Without --format, the console report is printed. Values are masked according to the current configuration.
    """
    root = ctx.find_object(Root) or Root()
    rows = formats_named(report)
    if output is not None and len(rows) != 1:
        raise UsageError("--output is the path of one report: give one --format")
    config = configured(ctx)
    if no_color or root.no_color:
        config.update(color=False)
    found, absent = _found(runs, config, baseline, compare)
    named = found.runs if isinstance(found, MergedRuns) else dict.fromkeys(runs or ("",), found)
    missing = missing_shards(named)
    folder = report_dir or str(config.reports.directory)
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    targets = [(row, output or os.path.join(folder, row.file_name(stamp))) for row in rows]
    if not targets:
        console = Console(found.settings)
        console.title()
        console.header_of(found.view)
        console.finish(found.report)
    for row, path in targets:
        check_writable(Path(path), is_folder=row.is_folder)
    problems = _write(found, [(row.name, path) for row, path in targets]) if targets else {}
    for row, path in targets:
        if path not in problems:
            echo_line(f"{row.title}: {path}")
    if missing and not runs:
        # Without arguments the last run is reported, complete or not.
        echo_line(f"Note: {missing}", err=True)
        missing = ""
    for problem in (*problems.values(), *absent, *([missing] if missing else [])):
        echo_line(f"Error: {problem}", err=True)
    if problems or absent or missing:
        ctx.exit(CANNOT)
    if runs and any(run.view.opened is not None and run.view.opened.shard for run in named.values()):
        ctx.exit(found.report.exit_code)


ShownRun = PastRun | MergedRuns


def _found(
    runs: tuple[str, ...], config: Config, baseline: str | None, compare: str | None
) -> tuple[ShownRun, list[str]]:
    """Return the named run, or all named runs combined, with the reasons why some of several cannot be read."""
    if len(runs) < 2:
        return _held_against(runs[0] if runs else None, config, baseline, compare), []
    found: dict[Path, tuple[str, PastRun]] = {}
    absent: list[str] = []
    for name in runs:
        try:
            found[folder_of(name).resolve()] = name, _held_against(name, config, baseline, compare)
        except UsageError as error:
            absent.append(str(error))
    if not found:
        raise UsageError(absent[0])
    return MergedRuns.of(dict(found.values())), absent


def _held_against(run: str | None, config: Config, baseline: str | None, compare: str | None) -> PastRun:
    """Return the named run with the baseline that its failures are compared with."""
    if baseline is not None:
        config.update(baseline=baseline)
    found = PastRun.of(folder_of(run), config)
    if compare is None:
        # Only runs and `checker baseline` write baselines.
        kept = replace(found.settings.verdict.baseline, updates=False, prunes=False)
        return replace(found, settings=found.settings.with_changes(verdict={"baseline": kept}))
    against = compared_with(compare, found.settings.verdict.baseline.today)
    return replace(found, settings=found.settings.with_changes(verdict={"baseline": against}))


def _write(past: ShownRun, targets: list[tuple[str, str]]) -> dict[str, str]:
    """Return path -> the reason why there is no report."""
    problems = write_summaries(targets, past.report, past.context)
    targets = [(name, path) for name, path in targets if format_named(name).streams]
    if not targets:
        return problems
    runs = [one.on_disk for one in past.parts if one.view.opened is not None]
    if not runs:
        return problems | {path: f"{path}: nothing was sent in this run" for _, path in targets}
    written = write_streams(runs, targets)
    if written.count < past.view.counts.requests:
        echo_line(
            f"Note: {written.count:,} of {past.view.counts.requests:,} requests were kept; "
            "to have all of them, ask for the report when the run begins.",
            err=True,
        )
    for note in written.notes:
        if note.kind == INCOMPLETE:
            echo_line(f"Note: {note.text}", err=True)
    return problems | written.problems
