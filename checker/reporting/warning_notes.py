"""Which warnings a run is told, and which of them make it fail."""

from collections.abc import Iterable, Iterator
from importlib import import_module
from operator import attrgetter
from typing import Any

from msgspec import Struct, json
from msgspec.structs import replace

from checker.config.settings import RunSettings
from checker.config.user_code import load_plugins
from checker.config.warnings import WarningSettings
from checker.core.warning_table import WarningRow, is_warning, warning_rows
from checker.corpus.fold import RunView
from checker.corpus.records import OWN_WARNINGS, Note
from checker.reporting.triggers import WarningFacts
from checker.reporting.wall import walled

_BROKEN = "broken_warning"
_MISSING_AUTH = "missing_auth"


class RunNotes(Struct, frozen=True):
    """Notes of a run, warnings among them."""

    notes: tuple[Note, ...]
    """Of the warnings only those that are to be shown."""
    failing: tuple[str, ...]
    """Kinds of warnings that occurred and make the run fail."""


def told_of(view: RunView, settings: RunSettings) -> RunNotes:
    """Notes of the records, and the warnings that the end of a run triggers."""
    trouble = walled(_load_plugins, _plugins_are_broken)
    common = settings.verdict.warnings
    own = {
        note.label: replace(json.decode(note.text, type=WarningSettings), silenced=common.silenced)
        for note in view.notes.get(OWN_WARNINGS, {}).values()
    }
    facts = WarningFacts(view, settings, own)
    known = [
        note
        for kind, of_kind in view.notes.items()
        for note in of_kind.values()
        if kind != OWN_WARNINGS
    ]
    known += trouble
    told = [note for row in warning_rows() for note in _triggered(row, facts)]
    notes = (*known, *told)
    warnings = [(note, own.get(note.label, common)) for note in notes if is_warning(note.kind)]
    hidden = {note for note, wanted in warnings if not wanted.shows(note.kind)}
    failing = dict.fromkeys(note.kind for note, wanted in warnings if wanted.fails_on(note.kind))
    return RunNotes(tuple(note for note in notes if note not in hidden), tuple(failing))


def _load_plugins() -> list[Note]:
    # At the end of a run nothing may be lost for a package that nobody asked for by name.
    load_plugins()
    return []


def _plugins_are_broken(why: str) -> list[Note]:
    return [Note(_BROKEN, "", "", f"warnings of plug-ins are not told: {why}")]


def _triggered(row: WarningRow, facts: WarningFacts) -> list[Note]:
    if row.trigger is None:
        return []

    def ask() -> list[Note]:
        return list(_trigger_of(row)(facts))

    def excuse(why: str) -> list[Note]:
        return [Note(_BROKEN, "", "", f"the warning {row.name} cannot be worked out: {why}")]

    return walled(ask, excuse)


def _trigger_of(row: WarningRow) -> Any:
    if not isinstance(row.trigger, str):
        return row.trigger
    module, _, attribute = row.trigger.partition(":")
    return attrgetter(attribute)(import_module(module))


Places = list[tuple[tuple[str, str], set[str]]]
"""((pointer, sentence), labels of the operations that it costs something), most operations first."""


class WarningGroup(Struct, frozen=True):
    """All warnings of one kind."""

    kind: str
    title: str
    advice: str
    places: Places

    @property
    def size(self) -> int:
        """How many there are: operations, unless they are places in the description."""
        labels = set().union(*(labels for _, labels in self.places))
        if self.kind == _MISSING_AUTH:
            # Its pointers are statuses.
            return len(labels)
        if any(pointer for (pointer, _), _ in self.places):
            return len(self.places)
        return max(len(self.places), len(labels))


def is_tip(note: Note) -> bool:
    """Whether it says what to do about warnings of its kind, and is none itself."""
    return note.kind == _MISSING_AUTH and not note.label


def warning_groups(notes: Iterable[Note]) -> Iterator[WarningGroup]:
    """Warnings by kind, in the order of their table."""
    by_kind: dict[str, dict[tuple[str, str], set[str]]] = {}
    tips: dict[str, str] = {}
    for note in notes:
        if is_tip(note):
            tips[note.kind] = f" Or {note.text}"
            continue
        labels = by_kind.setdefault(note.kind, {})
        labels.setdefault((note.pointer, note.text), set()).add(note.label)
    for row in warning_rows():
        found = by_kind.get(row.name)
        if found:
            places = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
            advice = row.advice + tips.get(row.name, "")
            yield WarningGroup(str(row.name), row.title, advice, places)
