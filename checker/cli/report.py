"""`checker report`."""

import os
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import click

from checker.cli.command import Command
from checker.cli.main import Root
from checker.cli.options import formats_named
from checker.cli.program import CANNOT
from checker.config.config import Config
from checker.config.resolve import Invocation, run_settings
from checker.config.settings import RunSettings
from checker.core.errors import UsageError
from checker.core.reports import ReportFormat
from checker.corpus.fold import RunView
from checker.corpus.layout import RunLayout
from checker.corpus.reader import Journals
from checker.corpus.runs import LastRun, last_run
from checker.reporting.console import Console
from checker.reporting.context import ReportContext
from checker.reporting.report import ENDLESS, Report
from checker.reporting.summaries import write_summary
from checker.reporting.views import report_of
from checker.reporting.whole import check_writable
from checker.reporting.writing import FollowedRun, Over, follow

_CORPORA = Path(".checker")


@click.command(cls=Command)
@click.argument("run", metavar="RUN|FOLDER", required=False)
@click.option("--format", "formats", multiple=True, metavar="FORMATS", help="Reports to write.")
@click.option("--report-dir", metavar="FOLDER", help="Folder of the reports.")
@click.option("-o", "--output", metavar="PATH", help="Place of the report, if it is one.")
@click.option("--no-color", is_flag=True, help="No colours.")
@click.pass_context
def report(
    ctx: click.Context,
    run: str | None,
    formats: tuple[str, ...],
    report_dir: str | None,
    output: str | None,
    no_color: bool,
) -> None:
    """Make reports of the last run in a corpus: RUN is its name below .checker, FOLDER its place.

    Without --format the report of the console is printed. What is masked is as the configuration of today says.
    """
    root = ctx.find_object(Root) or Root()
    rows = formats_named(formats)
    if output is not None and len(rows) != 1:
        raise UsageError("--output is the place of one report: give one --format")
    config = Config.from_path(root.config_file) if root.config_file else Config.discover()
    if no_color or root.no_color:
        config.update(color=False)
    found = _Found.of(_folder(run), config)
    folder = report_dir or str(config.reports.directory)
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    targets = [(row, output or os.path.join(folder, row.file_name(stamp))) for row in rows]
    if not targets:
        found.show()
        return
    for row, path in targets:
        check_writable(Path(path), is_folder=row.is_folder)
    problems = found.write(targets)
    for row, path in targets:
        if path not in problems:
            click.echo(f"{row.title}: {path}")
    for problem in problems.values():
        click.echo(f"Error: {problem}", err=True)
    if problems:
        ctx.exit(CANNOT)


@dataclass(frozen=True)
class _Found:
    """The last run of a corpus, as its journals tell it."""

    settings: RunSettings
    run: LastRun
    view: RunView
    elapsed_s: float

    @classmethod
    def of(cls, folder: Path, config: Config) -> "_Found":
        """Read it. Raises `UsageError` when there is none."""
        layout = RunLayout(folder)
        run = last_run(layout)
        if run is None:
            raise UsageError(f"{folder} holds no run; give the folder of one, or its name")
        settings = run_settings(config, Invocation(run.started.location, run.started.kind))
        settings = replace(
            settings,
            corpus_dir=str(folder),
            seed=run.started.seed,
            workers=run.started.workers,
            command=run.started.command,
        )
        view = RunView()
        with closing(Journals(layout, above=run.first - 1)) as journals:
            for incarnation, record in journals.read_new():
                view.absorb(incarnation, record)
            for note in journals.notes():
                view.absorb(0, note)
        if view.opened is not None:
            settings = settings.for_project(view.opened.title)
        return cls(settings, run, view, _last_written(layout) - run.started.at)

    @property
    def outcome(self) -> str:
        """As in `RunFinished`; `killed` for a run that has no end."""
        return ENDLESS if self.view.finished is None else self.view.finished.outcome

    @property
    def report(self) -> Report:
        """What it came to."""
        return report_of(self.view, self.settings, self.outcome, max(0.0, self.elapsed_s))

    def show(self) -> None:
        """Print it as the console would have."""
        console = Console(self.settings)
        console.title()
        console.header_of(self.view)
        console.finish(self.report)

    def write(self, targets: list[tuple[ReportFormat, str]]) -> dict[str, str]:
        """Path -> why there is no report."""
        context = ReportContext.of(self.settings, self.run.started, self.view.opened)
        problems = {}
        for row, path in targets:
            if not row.streams:
                problem = write_summary(row, Path(path), self.report, context)
                if problem:
                    problems[path] = problem
        streaming = [(row.name, path) for row, path in targets if row.streams]
        return problems | self._follow(streaming) if streaming else problems

    def _follow(self, targets: list[tuple[str, str]]) -> dict[str, str]:
        opened = self.view.opened
        if opened is None:
            return {path: f"{path}: nothing was sent in this run" for _, path in targets}
        about = FollowedRun(self.run.first, self.run.started, opened)
        written = follow(self.settings, about, targets, Over())
        if written.count < self.view.requests:
            click.echo(
                f"Note: {written.count:,} of {self.view.requests:,} requests were kept; "
                "to have all of them, ask for the report when the run begins.",
                err=True,
            )
        return {
            path: f"{path}: the report cannot be written: {why}" for path, why in written.problems
        }


def _folder(name: str | None) -> Path:
    """The corpus that is meant. Raises `UsageError`."""
    wanted = _CORPORA if name is None else Path(name)
    for folder in (wanted, _CORPORA / wanted):
        if (folder / "journals").is_dir():
            return folder
    inside = sorted(one.parent for one in wanted.glob("*/journals")) if wanted.is_dir() else []
    if len(inside) == 1:
        return inside[0]
    if inside:
        names = ", ".join(one.name for one in inside)
        raise UsageError(f"{wanted} holds several corpora; name one of {names}")
    raise UsageError(f"{wanted} holds no run; give the folder of one, or its name below {_CORPORA}")


def _last_written(layout: RunLayout) -> float:
    """When somebody last wrote to a journal, in seconds since the epoch."""
    return max((path.stat().st_mtime for _, path in layout.journal_paths()), default=0.0)
