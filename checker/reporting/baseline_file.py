"""Baselines as files: what a run found out is written into them, and what people wrote there stays as it is."""

import json
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final

import tomlkit
from msgspec.structs import replace
from tomlkit.items import AoT, Table

from checker import __version__
from checker.config.files import FORMAT_VERSION, LIST, is_json, read_baseline
from checker.core.known import Compared, KnownFailure, KnownFailures, KnownStatus, Seen, entry_for
from checker.reporting.text import unicode_text
from checker.reporting.whole import whole_file

_DAYS: Final = ("first_seen", "last_seen", "expires")
_HEAD: Final = (
    "Known failures: they are told, and fail no run until they expire.",
    "`reason`, `owner`, `ticket` and `expires` (a day) are yours to fill in; without an `operation`",
    "an entry stands for its cause at whatever operation.",
)


def updated(compared: Compared, findings: Iterable[Seen]) -> list[KnownFailure]:
    """Entries as they are after a run: new ones written down, those that are gone taken out, as the baseline asks for."""
    baseline = compared.baseline
    known = KnownFailures(baseline)
    found = list(findings)
    entries = list(baseline.entries)
    if baseline.updates:
        hit = {id(entry) for one in found if (entry := known.entry_of(one)) is not None}
        entries = [
            replace(entry, last_seen=baseline.today) if id(entry) in hit else entry
            for entry in entries
        ]
        entries += [
            entry_for(one, baseline.today)
            for one in found
            if compared.states.get(one.fingerprint) is KnownStatus.RECORDED
        ]
    gone = set(compared.gone) if baseline.prunes else ()
    return [entry for entry in entries if entry not in gone]


def write_baseline(path: Path, entries: Iterable[KnownFailure]) -> None:
    """Let a file hold these entries, sorted; comments of a TOML file stay with theirs. `OSError` passes through."""
    found = sorted(entries, key=lambda one: (one.operation, one.check, one.rule or "", one.name))
    text = _json(found) if is_json(path) else _toml(path, found)
    with whole_file(path) as file:
        file.write(text)


def _json(entries: list[KnownFailure]) -> str:
    document = {
        "format_version": FORMAT_VERSION,
        "checker_version": __version__,
        LIST: [_given(entry) for entry in entries],
    }
    return json.dumps(document, indent=2) + "\n"


def _toml(path: Path, entries: list[KnownFailure]) -> str:
    document, tables = _as_it_is(path)
    document["format-version"] = FORMAT_VERSION
    document["checker-version"] = __version__
    written = tomlkit.aot()
    for entry in entries:
        table = tables.get(_identity(entry))
        written.append(_filled(tomlkit.table() if table is None else table, entry))
    document.pop(LIST, None)
    if entries:
        document[LIST] = written
    return tomlkit.dumps(document)


def _as_it_is(path: Path) -> tuple[tomlkit.TOMLDocument, Mapping[tuple[str, ...], Table]]:
    """The document of a file, and its tables by what they mean."""
    if not path.exists():
        document = tomlkit.document()
        for line in _HEAD:
            document.add(tomlkit.comment(line))
        return document, {}
    known = read_baseline(path)
    document = tomlkit.parse(path.read_text(encoding="utf-8"))
    listed = document.get(LIST)
    tables = list(listed.body) if isinstance(listed, AoT) else []
    return document, {_identity(one): table for one, table in zip(known, tables, strict=False)}


def _identity(entry: KnownFailure) -> tuple[str, ...]:
    return entry.fingerprint, entry.operation, entry.check, repr(entry.rule), repr(entry.text)


def _filled(table: Table, entry: KnownFailure) -> Table:
    for name, value in _given(entry).items():
        key = name.replace("_", "-")
        if name in table and key != name:
            key = name
        shown: Any = date.fromisoformat(value) if name in _DAYS else value
        if key not in table or table[key] != shown:
            table[key] = shown
    return table


def _given(entry: KnownFailure) -> dict[str, str]:
    """What an entry says; for people `reason`, `owner` and `ticket` are there to be filled in."""
    found = {}
    for name in entry.__struct_fields__:
        value = getattr(entry, name)
        if value or (value is not None and name in ("rule", "text", "reason", "owner", "ticket")):
            found[name] = unicode_text(value)
    order = ("fingerprint", "title", "operation")
    return {name: found[name] for name in (*order, *found) if name in found}
