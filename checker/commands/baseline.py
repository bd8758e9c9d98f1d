"""`checker baseline add`, `list` and `diff`."""

from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

import click
from msgspec.structs import replace

from checker.commands.command import Command, CommandGroup, echo_line
from checker.commands.runs_on_disk import PastRun, chosen_findings, folder_of
from checker.commands.values import configured
from checker.config.config import Config
from checker.config.files import read_baseline
from checker.core.errors import UsageError
from checker.core.known import Baseline, KnownFailure
from checker.corpus.known import KnownFailures, KnownStatus, cause_entry_for, entry_for, failure_id
from checker.reporting.baselines import entry_name, known_name

DEFAULT_FILE = "checker-baseline.toml"
_FILE = click.option(
    "--file", "-f", metavar="FILE", help=f"The baseline; default: the configured one, else {DEFAULT_FILE}."
)
_RUN = click.option("--run", metavar="RUN|FOLDER", help="Corpus whose last run is used.")


@click.group(cls=CommandGroup)
def baseline() -> None:
    """Keep the file of known failures, which fail no run until they expire."""


@baseline.command(cls=Command)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--reason", default="", help="Why the failure is accepted.")
@click.option("--owner", default="", help="Person or team in charge of the failure.")
@click.option("--ticket", default="", help="Ticket about the failure.")
@click.option("--expires", default="", metavar="DAY", help="Last day on which the entry counts, such as 2026-12-31.")
@click.option("--cause", is_flag=True, help="Accept the same cause at every operation.")
@_FILE
@_RUN
@click.pass_context
def add(
    ctx: click.Context,
    ids: tuple[str, ...],
    reason: str,
    owner: str,
    ticket: str,
    expires: str,
    cause: bool,
    file: str | None,
    run: str | None,
) -> None:
    """Add failures of the last run: IDs as reports show them (the first characters are enough), or `all`."""
    config = configured(ctx)
    path = _path(config, file)
    if not expires:
        day = ""
    else:
        try:
            day = datetime.fromisoformat(expires).date().isoformat()
        except ValueError:
            raise UsageError(f"--expires: must be a day like 2026-12-31, but got {expires!r}") from None
    today = _today()
    findings = list(PastRun.of(folder_of(run), config).view.findings.values())
    entries = list(read_baseline(path)) if path.exists() else []
    for finding in chosen_findings(ids, findings):
        made = cause_entry_for(finding, today) if cause else entry_for(finding, today)
        made = replace(made, reason=reason, owner=owner, ticket=ticket, expires=day)
        if any(_is_same(one, made) for one in entries):
            entries = [_renewed(one, made) if _is_same(one, made) else one for one in entries]
        else:
            entries.append(made)
        echo_line(f"{path}: {entry_name(made)}")
    try:
        import_module("checker.reporting.baselines").write_baseline(path, entries)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from error


@baseline.command("list", cls=Command)
@_FILE
@click.pass_context
def list_entries(ctx: click.Context, file: str | None) -> None:
    """Print the known failures and when they expire."""
    today = _today()
    for entry in read_baseline(_path(configured(ctx), file)):
        state = "expired" if entry.is_expired(today) else "known"
        until = f" until {entry.expires}" if entry.expires else ""
        details = ", ".join(part for part in (entry.reason, entry.owner, entry.ticket) if part)
        echo_line(f"{state}{until}  {entry_name(entry)}{f'  {details}' if details else ''}")


@baseline.command(cls=Command)
@click.argument("run", metavar="[RUN|FOLDER]", required=False)
@_FILE
@click.pass_context
def diff(ctx: click.Context, run: str | None, file: str | None) -> None:
    """Print the new, known, expired and gone failures of the last run; exit code 1 if any is new or expired."""
    config = configured(ctx)
    path = _path(config, file)
    past = PastRun.of(folder_of(run), config)
    known = KnownFailures(Baseline(str(path), _today(), read_baseline(path)))
    settings = past.settings.with_changes(verdict={"baseline": known.baseline})
    report = replace(past, settings=settings).report
    lines = [(known.standing(one), known_name(one.label, one.title, failure_id(one))) for one in report.findings]
    for standing in KnownStatus:
        for line in sorted(name for state, name in lines if state is standing):
            echo_line(f"{standing:<8} {line}")
    for word, entries in (("gone", report.compared.gone), ("unseen", report.compared.unobserved)):
        for entry in entries:
            echo_line(f"{word:<8} {entry_name(entry)}")
    ctx.exit(1 if report.failing else 0)


def _is_same(one: KnownFailure, other: KnownFailure) -> bool:
    if one.fingerprint or other.fingerprint:
        return one.fingerprint == other.fingerprint
    return (one.operation, one.check, one.rule, one.text) == (other.operation, other.check, other.rule, other.text)


def _renewed(entry: KnownFailure, made: KnownFailure) -> KnownFailure:
    """Return an entry with the given fields changed; the other fields stay."""
    names = ("reason", "owner", "ticket", "expires", "last_seen")
    return replace(entry, **{name: value for name in names if (value := getattr(made, name))})


def _path(config: Config, file: str | None) -> Path:
    return Path(file or config.baseline or DEFAULT_FILE)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
