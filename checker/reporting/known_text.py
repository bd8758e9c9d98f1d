"""What is told of known failures, in lines."""

from collections.abc import Iterator
from typing import Any, Final

from msgspec.structs import asdict

from checker.core.known import (
    Baseline,
    Compared,
    KnownFailure,
    KnownFailures,
    KnownStatus,
    failure_id,
)
from checker.corpus.records import Finding
from checker.reporting.report import Report
from checker.reporting.shown import standing_text
from checker.reporting.text import unicode_text

NEW_FILE: Final = (
    "{source} is not there: this run makes it, and no failure of today fails. "
    "If it should be there, the path is wrong, or nobody committed it."
)
"""What is said of a baseline that is made by a run: in a job it mostly was meant to be there."""


def baseline_size(baseline: Baseline) -> str:
    """`known.toml (12 entries)`, `known.toml (new file)`."""
    count = len(baseline.entries)
    entries = "1 entry" if count == 1 else f"{count:,} entries"
    return f"{unicode_text(baseline.source)} ({'new file' if baseline.is_new else entries})"


def known_findings(report: Report) -> list[Finding]:
    """Those that fail no run, by operation."""
    passing = (one for one in report.findings if not report.compared.fails(one.fingerprint))
    return sorted(passing, key=lambda one: (one.label, one.title, one.fingerprint))


def known_lines(report: Report) -> Iterator[str]:
    """A line for each of `known_findings`: `  - GET /rooms: Server error [v1-...]` and what is known of it."""
    known = KnownFailures(report.compared.baseline)
    for finding in known_findings(report):
        about = standing_text(known.standing(finding), known.entry_of(finding))
        yield f"  - {known_name(finding.label, finding.title, failure_id(finding))} {about}"


def baseline_lines(report: Report) -> Iterator[str]:
    """`Baseline:` of the summary: how many are new, known, gone; names of what somebody has to look at."""
    compared = report.compared
    baseline = compared.baseline
    if not baseline:
        return
    yield f"{'Compared with' if baseline.is_run else 'Baseline'}: {unicode_text(baseline.source)}"
    counts = ((str(one).capitalize(), compared.count(one)) for one in KnownStatus)
    for name, count in counts:
        if count:
            yield f"  {name}: {count}"
            yield from _failing(report, name.lower())
    yield from _listed("Gone", "fixed, or rare", compared.gone)
    yield from _listed("Not looked for", "their operations were not tested", compared.unobserved)
    yield ""


def _failing(report: Report, standing: str) -> Iterator[str]:
    """Names of those that fail the run, for `checker baseline add`."""
    for finding in report.failing:
        if report.compared.states[finding.fingerprint] == standing:
            yield f"    - {known_name(finding.label, finding.title, failure_id(finding))}"


def _listed(name: str, why: str, entries: tuple[KnownFailure, ...]) -> Iterator[str]:
    if entries:
        yield f"  {name}: {len(entries)} ({why})"
        yield from (f"    - {entry_name(entry)}" for entry in entries)


def entry_name(entry: KnownFailure) -> str:
    """`GET /rooms: Server error [v1-...]`."""
    return known_name(entry.place, entry.title or entry.check, entry.name)


def known_name(operation: str, title: str, name: str) -> str:
    """What a known failure is called in a line."""
    return unicode_text(f"{operation}: {title} [{name}]")


def baseline_values(compared: Compared) -> dict[str, Any] | None:
    """What the failures were held against; null when nothing was asked for."""
    if not compared.baseline:
        return None
    return {
        "source": unicode_text(compared.baseline.source),
        **{str(one): compared.count(one) for one in KnownStatus},
        "gone": [entry_values(entry) for entry in compared.gone],
        "unobserved": [entry_values(entry) for entry in compared.unobserved],
    }


def entry_values(entry: KnownFailure) -> dict[str, str]:
    """What an entry says, as plain values."""
    return {name: unicode_text(value) for name, value in asdict(entry).items() if value}
