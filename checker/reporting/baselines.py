"""Known failures: their lines in reports, and the file that holds them."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import asdict, replace

from checker import __version__
from checker.config.files import DAYS, FORMAT_VERSION, LIST, is_json, read_baseline
from checker.core.known import Baseline, KnownFailure
from checker.core.system import later
from checker.corpus.known import Compared, KnownFailures, KnownStatus, entry_for, failure_id
from checker.corpus.records import Finding
from checker.reporting.findings import marks_of
from checker.reporting.report import Report
from checker.reporting.shown import standing_text
from checker.reporting.text import unicode_text
from checker.reporting.writing import whole_file

if TYPE_CHECKING:
    import tomlkit
    import tomlkit.items as toml_items
else:
    # Most runs write no baseline.
    tomlkit = later("tomlkit", by_all=False)
    toml_items = later("tomlkit.items", by_all=False)

NEW_FILE: Final = (
    "{source} does not exist: this run creates it, and its failures do not fail the run. "
    "If the file should exist, the path is wrong or it was not committed."
)
"""The warning about a new baseline. In CI the file should usually exist already."""


def baseline_size(baseline: Baseline) -> str:
    """Return `known.toml (12 entries)` or `known.toml (new file)`."""
    count = len(baseline.entries)
    entries = "1 entry" if count == 1 else f"{count:,} entries"
    return f"{unicode_text(baseline.source)} ({'new file' if baseline.is_new else entries})"


def known_findings(report: Report) -> list[Finding]:
    """Return the known findings, which do not fail the run, by operation."""
    passing = (one for one in report.findings if not report.compared.fails(one.fingerprint))
    return sorted(passing, key=lambda one: (one.label, one.title, one.fingerprint))


def known_lines(report: Report) -> Iterator[str]:
    """Yield a line for each of `known_findings`: `  - GET /rooms: Server error [v1-...]` and its entry."""
    known = KnownFailures(report.compared.baseline)
    for finding in known_findings(report):
        about = ", ".join([standing_text(known.standing(finding), known.entry_of(finding)), *marks_of(finding)])
        yield f"  - {known_name(finding.label, finding.title, failure_id(finding))} {about}"


def baseline_lines(report: Report) -> Iterator[str]:
    """Yield the lines of `Baseline:` in the summary: counts of new, known and gone failures, and the names of those that need attention."""
    compared = report.compared
    baseline = compared.baseline
    if not baseline:
        return
    yield f"{'Compared with' if baseline.is_run else 'Baseline'}: {unicode_text(baseline.source)}"
    for standing in KnownStatus:
        if count := compared.count(standing):
            yield f"  {str(standing).capitalize()}: {count}"
            for finding in report.failing:
                if compared.states[finding.fingerprint] is standing:
                    yield f"    - {known_name(finding.label, finding.title, failure_id(finding))}"
    for name, why, entries in (
        ("Gone", "fixed, or rare", compared.gone),
        ("Not looked for", "their operations were not tested", compared.unobserved),
    ):
        if entries:
            yield f"  {name}: {len(entries)} ({why})"
            yield from (f"    - {entry_name(entry)}" for entry in entries)
    yield ""


def entry_name(entry: KnownFailure) -> str:
    """Return the name of an entry: `GET /rooms: Server error [v1-...]`."""
    return known_name(entry.place, entry.title or entry.check, entry.name)


def known_name(operation: str, title: str, name: str) -> str:
    """Return the name of a known failure as reports print it."""
    return unicode_text(f"{operation}: {title} [{name}]")


def baseline_values(compared: Compared) -> dict[str, Any] | None:
    """Return the comparison with the baseline as plain values; None without a baseline."""
    if not compared.baseline:
        return None
    return {
        "source": unicode_text(compared.baseline.source),
        **{str(one): compared.count(one) for one in KnownStatus},
        "gone": [entry_values(entry) for entry in compared.gone],
        "unobserved": [entry_values(entry) for entry in compared.unobserved],
    }


def entry_values(entry: KnownFailure) -> dict[str, str]:
    """Return the fields of an entry that are set, as plain values."""
    return {name: unicode_text(value) for name, value in asdict(entry).items() if value}


_HEAD: Final = (
    "Known failures are reported, and do not fail a run until they expire.",
    "Fill in `reason`, `owner`, `ticket` and `expires` (a day). An entry without `operation`",
    "is valid for its cause at all operations.",
)


def updated(compared: Compared, findings: Iterable[Finding]) -> list[KnownFailure]:
    """Return the entries after a run: with new failures, and without gone failures, as far as the settings allow."""
    baseline = compared.baseline
    known = KnownFailures(baseline)
    found = list(findings)
    entries = list(baseline.entries)
    if baseline.updates:
        hit = {id(entry) for one in found if (entry := known.entry_of(one)) is not None}
        entries = [replace(entry, last_seen=baseline.today) if id(entry) in hit else entry for entry in entries]
        entries += [
            entry_for(one, baseline.today)
            for one in found
            if compared.states.get(one.fingerprint) is KnownStatus.RECORDED
        ]
    gone = set(compared.gone) if baseline.prunes else ()
    return [entry for entry in entries if entry not in gone]


def write_baseline(path: Path, entries: Iterable[KnownFailure]) -> None:
    """Write sorted entries to a file. Comments in a TOML file stay with their entries. Raises `OSError`."""
    found = sorted(entries, key=lambda one: (one.operation, one.check, one.rule or "", one.name))
    if is_json(path):
        written = [_given(entry) for entry in found]
        document = {"format_version": FORMAT_VERSION, "checker_version": __version__, LIST: written}
        text = json.dumps(document, indent=2) + "\n"
    else:
        text = _toml(path, found)
    with whole_file(path) as file:
        file.write(text)


def _toml(path: Path, entries: list[KnownFailure]) -> str:
    if not path.exists():
        document = tomlkit.document()
        for line in _HEAD:
            document.add(tomlkit.comment(line))
        tables: Mapping[tuple[str, ...], toml_items.Table] = {}
    else:
        known = read_baseline(path)
        document = tomlkit.parse(path.read_text(encoding="utf-8"))
        listed = document.get(LIST)
        there = list(listed.body) if isinstance(listed, toml_items.AoT) else []
        tables = {_identity(one): table for one, table in zip(known, there, strict=False)}
    document["format-version"] = FORMAT_VERSION
    document["checker-version"] = __version__
    written = tomlkit.aot()
    for entry in entries:
        table = tables.get(_identity(entry))
        table = tomlkit.table() if table is None else table
        for name, value in _given(entry).items():
            dashed = name.replace("_", "-")
            # The file may use the names of the JSON format.
            key = name if name in table else dashed
            shown: Any = date.fromisoformat(value) if name in DAYS else value
            if key not in table or table[key] != shown:
                table[key] = shown
        written.append(table)
    document.pop(LIST, None)
    if entries:
        document[LIST] = written
    return tomlkit.dumps(document)


def _identity(entry: KnownFailure) -> tuple[str, ...]:
    return entry.fingerprint, entry.operation, entry.check, repr(entry.rule), repr(entry.text)


def _given(entry: KnownFailure) -> dict[str, str]:
    """Return the written fields of an entry. Empty fields `reason`, `owner` and `ticket` are included, so that people can fill them in."""
    found = {}
    for name in entry.__struct_fields__:
        value = getattr(entry, name)
        if value or (value is not None and name in ("rule", "text", "reason", "owner", "ticket")):
            found[name] = unicode_text(value)
    order = ("fingerprint", "title", "operation")
    return {name: found[name] for name in (*order, *found) if name in found}
