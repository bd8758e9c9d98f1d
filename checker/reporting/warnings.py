"""The warnings of a run: functions from its records and settings to notes, one note per place, and their groups."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pkgutil import resolve_name
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct, field, json
from msgspec.structs import replace

from checker.config.settings import RunSettings
from checker.config.user_code import load_plugins
from checker.config.value_kinds import WarningSettings
from checker.core.resource_names import is_login
from checker.core.security import UNAUTHORIZED
from checker.core.warning_table import WARNINGS, WarningRow
from checker.corpus.fold import RunView
from checker.corpus.records import OWN_WARNINGS, Note
from checker.reporting.text import walled

NEARLY_ALL = 0.9
MANY = 0.1
_ENOUGH = 10  # With fewer cases, a share proves nothing.
_LIKE_MILLISECONDS = 100
_MOST_EXAMPLES = 3  # Security schemes whose configuration a warning shows.
_OF_OTHERS = (*UNAUTHORIZED, 404, 405, 409, 429)
"""4xx statuses that say nothing about the schemas: credentials, missing data, methods, conflicts, limits."""


class WarningFacts(Struct, frozen=True):
    """The facts that triggers read."""

    view: RunView
    settings: RunSettings
    own: Mapping[str, WarningSettings] = field(default_factory=dict)
    """Label -> warning settings, for operations with their own settings."""

    def warnings_of(self, label: str) -> WarningSettings:
        return self.own.get(label, self.settings.verdict.warnings)

    def positive(self) -> Iterator[tuple[str, Counter[int]]]:
        """Yield (label, status -> count) of the cases that should be accepted, for operations with such cases."""
        for label in sorted(self.view.statuses):
            counts = self.view.of(label).positive_statuses
            if counts:
                yield label, counts


def unreached(facts: WarningFacts) -> Iterator[Note]:
    """Yield operations that were tested and never had a 2xx response, with their most frequent responses."""
    for label, statuses in facts.positive():
        if not any(status // 100 == 2 for status in statuses):
            most = max(statuses, key=lambda status: (statuses[status], -status))
            text = f"mostly {most}" if most else "mostly no response"
            yield Note("unreached", label, "", text if len(statuses) > 1 else text.removeprefix("mostly "))


def missing_auth(facts: WarningFacts) -> Iterator[Note]:
    """Yield operations whose responses are at least 90 % 401 or 403.

    Without configured credentials, one more note contains lines of `checker.toml` for the declared security schemes.
    """
    found = False
    for label, statuses in facts.positive():
        status = max(sorted(UNAUTHORIZED), key=lambda one: statuses[one])
        refused = statuses[401] + statuses[403]
        if refused >= NEARLY_ALL * statuses.total():
            # A login takes credentials in its body only. It refuses generated ones, whatever credentials the request has.
            described = facts.view.of(label).described
            if not (
                described is not None
                and not described.needs_credentials
                and "body" in described.parameters
                and is_login(label)
            ):
                found = True
                yield Note("missing_auth", label, str(status), f"{status} in {_share(refused, statuses)} of cases")
    opened = facts.view.opened
    examples = opened.auth_examples if opened is not None else ()
    if found and examples:
        more = f" (and {len(examples) - _MOST_EXAMPLES} more)" if len(examples) > _MOST_EXAMPLES else ""
        text = "; ".join(examples[:_MOST_EXAMPLES])
        yield Note("missing_auth", "", "", f"write into checker.toml: {text}{more}")


def rate_limited(facts: WarningFacts) -> Iterator[Note]:
    """Yield operations whose responses are at least 90 % 429."""
    for label, statuses in facts.positive():
        if statuses[429] and statuses[429] >= NEARLY_ALL * statuses.total():
            yield Note("rate_limited", label, "", f"429 in {_share(statuses[429], statuses)} of cases")


def low_valid_rate(facts: WarningFacts) -> Iterator[Note]:
    """Yield operations with at least 10 valid requests, some of which were accepted, but fewer than the configured share."""
    for label, statuses in facts.positive():
        rate = facts.warnings_of(label).low_valid_rate
        served = sum(count for status, count in statuses.items() if 200 <= status < 400)
        if statuses.total() >= _ENOUGH and 0 < served < rate * statuses.total():
            yield Note("low_valid_rate", label, "", f"only {_share(served, statuses)} of valid cases were accepted")


def timeout_units(facts: WarningFacts) -> Iterator[Note]:
    """Yield time settings of 100 seconds and more, which were probably meant in milliseconds."""
    common = facts.settings.common
    given = {
        "request-timeout": common.http.timeout_s,
        "checks.max_response_time": common.check_settings.get("max_response_time", {}).get("max_response_time", 0),
    }
    for name, seconds in given.items():
        if seconds >= _LIKE_MILLISECONDS:
            text = f"{name} is {seconds:g} s; if that was meant in milliseconds, write {seconds / 1000:g}"
            yield Note("timeout_units", "", name, text)


def base_url_mismatch(facts: WarningFacts) -> Iterator[Note]:
    """Yield a note if all valid requests got 404 and the given base URL lacks the path of the description."""
    opened, given = facts.view.opened, facts.settings.target.base_url
    declared = opened.declared_path.rstrip("/") if opened is not None else ""
    if given is None or not declared:
        return
    path = urlsplit(given).path.rstrip("/")
    found = [statuses for _, statuses in facts.positive()]
    if path.endswith(declared) or not found:
        return
    if all(set(statuses) == {404} for statuses in found):
        shown = facts.settings.report.sanitization.redaction.url(given).rstrip("/")
        # The URL may contain the beginning of the declared path: `/api` lacks only `/v1` of `/api/v1`.
        parts = declared.split("/")[1:]
        heads = ("/" + "/".join(parts[:count]) for count in range(len(parts), 0, -1))
        lacking = declared.removeprefix(next((head for head in heads if path.endswith(head)), ""))
        text = f"all responses were 404, and the description has the path {declared}: try `--url {shown}{lacking}`"
        yield Note("base_url_mismatch", "", "", text)


def missing_test_data(facts: WarningFacts) -> Iterator[Note]:
    """Yield operations whose responses are at least 10 % 404, unless a wrong base URL is the cause."""
    if any(base_url_mismatch(facts)):
        return
    for label, statuses in facts.positive():
        if statuses[404] and statuses[404] >= MANY * statuses.total():
            yield Note("missing_test_data", label, "", f"404 in {_share(statuses[404], statuses)} of valid cases")


def validation_mismatch(facts: WarningFacts) -> Iterator[Note]:
    """Yield operations whose responses are at least 10 % refusals of the data."""
    for label, statuses in facts.positive():
        others = {
            status: count for status, count in statuses.items() if status // 100 == 4 and status not in _OF_OTHERS
        }
        count = sum(others.values())
        if count and count >= MANY * statuses.total():
            usual = ", ".join(map(str, sorted(others, key=lambda status: (-others[status], status))))
            yield Note("validation_mismatch", label, "", f"{usual} in {_share(count, statuses)} of valid cases")


def method_not_allowed(facts: WarningFacts) -> Iterator[Note]:
    """Yield operations that answered at least ten cases, always with an undocumented 405."""
    for label, statuses in facts.positive():
        if facts.view.is_never_allowed(label):
            text = f"405 in all {statuses[405]} cases"
            more = "; later phases leave it out" if len(facts.settings.phases) > 1 else ""
            yield Note("method_not_allowed", label, "", text + more)


def _share(count: int, statuses: Counter[int]) -> str:
    return f"{count / statuses.total():.0%}"


_BROKEN = "broken_warning"
_MISSING_AUTH = "missing_auth"


def notes_of(view: RunView, settings: RunSettings) -> tuple[tuple[Note, ...], tuple[str, ...]]:
    """Return the notes of the records, the displayed warnings that the end of a run triggers, and the kinds of warnings that fail the run."""
    trouble: list[Note] = []
    try:
        load_plugins()
    except Exception as error:  # noqa: BLE001 - a broken plug-in loses only its own warnings
        text = f"warnings of plug-ins are missing: {type(error).__name__}: {error}"
        trouble.append(Note(_BROKEN, "", "", text))
    common = settings.verdict.warnings
    own = {
        note.label: replace(json.decode(note.text, type=WarningSettings), silenced=common.silenced)
        for note in view.notes.get(OWN_WARNINGS, {}).values()
    }
    facts = WarningFacts(view, settings, own)
    known = [note for kind, of_kind in view.notes.items() for note in of_kind.values() if kind != OWN_WARNINGS]
    known += trouble
    triggered = [note for row in WARNINGS.values() for note in _triggered(row, facts)]
    notes = (*known, *triggered)
    warnings = [(note, own.get(note.label, common)) for note in notes if note.kind in WARNINGS]
    hidden = {note for note, wanted in warnings if not wanted.shows(note.kind)}
    failing = dict.fromkeys(note.kind for note, wanted in warnings if wanted.fails_on(note.kind))
    return tuple(note for note in notes if note not in hidden), tuple(failing)


def _triggered(row: WarningRow, facts: WarningFacts) -> list[Note]:
    if row.trigger is None:
        return []

    def ask() -> list[Note]:
        trigger: Any = resolve_name(row.trigger) if isinstance(row.trigger, str) else row.trigger
        return list(trigger(facts))

    return walled(ask, lambda why: [Note(_BROKEN, "", "", f"the warning {row.name} cannot be worked out: {why}")])


Places = list[tuple[tuple[str, str], set[str]]]
"""((pointer, sentence), labels of the affected operations); those with the most operations come first."""


class WarningGroup(Struct, frozen=True):
    """All warnings of one kind."""

    kind: str
    title: str
    advice: str
    places: Places

    @property
    def size(self) -> int:
        """Return the number of operations, or of places in the description if the warnings name places."""
        labels = set().union(*(labels for _, labels in self.places))
        if self.kind == _MISSING_AUTH:
            # The pointers of these warnings are statuses.
            return len(labels)
        if any(pointer for (pointer, _), _ in self.places):
            return len(self.places)
        return max(len(self.places), len(labels))


def is_tip(note: Note) -> bool:
    """Whether a note is only advice on the warnings of its kind."""
    return note.kind == _MISSING_AUTH and not note.label


def warning_groups(notes: Iterable[Note]) -> Iterator[WarningGroup]:
    """Yield warnings by kind, in the order of their table."""
    by_kind: dict[str, dict[tuple[str, str], set[str]]] = {}
    tips: dict[str, str] = {}
    for note in notes:
        if is_tip(note):
            tips[note.kind] = f" Or {note.text}"
            continue
        by_kind.setdefault(note.kind, {}).setdefault((note.pointer, note.text), set()).add(note.label)
    for row in WARNINGS.values():
        found = by_kind.get(row.name)
        if found:
            places = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
            advice = row.advice + tips.get(row.name, "")
            yield WarningGroup(str(row.name), row.title, advice, places)
