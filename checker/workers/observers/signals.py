"""New behaviour of the target: signals, and the cases that showed them, which form the corpus."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from sys import intern
from typing import Any

from msgspec import Struct

from checker.checks.judge import Judgement
from checker.core.case import NOT_SET, Case
from checker.core.digests import digest_int
from checker.core.operation import Label, Location, Operation
from checker.core.response import Response
from checker.core.scalars import is_number
from checker.core.templates import Lexicon, error_template, sent_texts
from checker.corpus.records import CorpusEntry, Record, SignalsSeen
from checker.phases.attempt import Verdict
from checker.schema.views import Outline, outline_of
from checker.values.harvest import ABSENT, json_of
from checker.workers.recording.task_state import InFlight

Cell = Callable[[Any], str]  # Returns the name of a value's cell: a few dozen names per schema at most.

_PROPERTIES = 40
_MEMBERS = 30


class InputCells:
    """The parameters and the top properties of the body of one operation."""

    def __init__(self, operation: Operation) -> None:
        self._parts = [
            (parameter.location.container, parameter.name, _cell_of(outline_of(parameter.schema)))
            for parameter in operation.parameters
        ]
        self._bodies: dict[str, tuple[Cell, tuple[tuple[str, Cell], ...]]] = {}
        for body in operation.bodies:
            outline = outline_of(body.schema)
            names = list(outline.names)[:_PROPERTIES]
            cells = tuple((name, _cell_of(outline.property(name))) for name in names)
            self._bodies[body.media_type] = _cell_of(outline), cells

    def of(self, case: Case) -> list[tuple[str, str, str]]:
        """Return (location, name, cell) of every input that the case sends or omits."""
        found = []
        for container, name, cell in self._parts:
            values = getattr(case, container)
            found.append((container, name, cell(values[name]) if name in values else "absent"))
        body = case.body
        if body is NOT_SET:
            if self._bodies:
                found.append((_BODY, "", "absent"))
            return found
        whole, properties = self._bodies.get(case.media_type or "", (_plain, ()))
        found.append((_BODY, "", whole(body)))
        if isinstance(body, dict):
            for name, cell in properties:
                found.append((_BODY, name, cell(body[name]) if name in body else "absent"))
        return found


_BODY = Location.BODY.container


def _cell_of(outline: Outline) -> Cell:
    members = outline.first("enum")
    if isinstance(members, list):
        named = [repr(member) for member in members[:_MEMBERS]]
        return lambda value: f"member {text}" if (text := repr(value)) in named else _plain(value)
    low, high = _number(outline.first("minimum")), _number(outline.first("maximum"))
    sizes = (_number(outline.first("minLength", "minItems")), _number(outline.first("maxLength", "maxItems")))

    def cell(value: Any) -> str:
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int | float):
            return _place(value, low, high)
        if isinstance(value, str | list | bytes):
            return "size " + _place(len(value), *sizes)
        return _plain(value)

    return cell


def _place(value: float, low: float | None, high: float | None) -> str:
    if low is not None and value <= low:
        return "min" if value == low else "below min"
    if high is not None and value >= high:
        return "max" if value == high else "above max"
    if low is not None and value == low + 1:
        return "min + 1"
    if high is not None and value == high - 1:
        return "max - 1"
    if not value:
        return "0"
    return "negative" if value < 0 else "between"


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return _place(value, None, None)
    if isinstance(value, str | list | dict | bytes):
        return type(value).__name__ if value else f"empty {type(value).__name__}"
    return "null" if value is None else "other"


def _number(value: object) -> float | None:
    return value if is_number(value) else None


CAPS = {
    "status": 40,
    "media_type": 20,
    "header": 60,
    "leaf": 300,
    "error": 60,
    "latency": 12,
    "finding": 200,
    "input": 600,
    "transition": 200,
    "flow": 200,
}
"""Class -> greatest number of ids for each operation. More ids are volatile, for example names or texts that a server invents."""

OUTPUTS = frozenset(("status", "media_type", "header", "leaf", "error", "finding"))
"""Classes that describe the response and not the request."""

_VOLATILE_HEADERS = frozenset(("date", "age", "expires", "etag", "set-cookie"))
# Below this, differences of response times are only noise.
_QUIET_S = 0.016
_DEPTH = 5
_NODES = 200
_NAME = 80  # Characters of a name that are compared.
_ITEMS = 3
# Interactions of one kind that are examined closely: each of the first 4 without new signals, every second of the next
# 4, and so on, down to one in 64. A new signal halves the count instead of resetting it: of 18,000 responses of a small
# API, 15 % are examined closely instead of 28 %, with 2 % fewer signals.
_PATIENCE = 4
_SAMPLE = 64
_KEYS = 20_000


class _Dullness(Struct):
    """Interactions with the same key that showed nothing new."""

    count: int = 0  # Interactions in a row without new signals. A new signal halves the number.
    left: int = 0  # Interactions that are skipped before the next close examination.

    def record(self, new: Sequence[object], *, is_close: bool) -> None:
        """Count one interaction; `new` are its new signals."""
        if new:
            self.count //= 2
            self.left = 0
        elif is_close:
            self.left = min(self.count // _PATIENCE, _SAMPLE - 1)
            self.count += 1 + self.left
        else:
            self.left -= 1


class SignalSet:
    """The signals that one worker has seen. An interaction without new signals takes about 3 us."""

    def __init__(self, known: Iterable[int] = ()) -> None:
        self._ids: set[int] = set(known)
        self._earlier: set[int] = set()
        """Ids from earlier nights, which are on disk."""
        self.has_news = False
        """Whether the last interaction showed a part of a response for the first time in this night."""
        self._seen: set[tuple[Any, ...]] = set()
        self._parts: dict[tuple[str, str, int], set[tuple[str, ...]]] = {}
        """(class, label, outcome) -> parts that were seen. An examination finds dozens of parts, and hardly any is new."""
        self._counts: Counter[tuple[str, str]] = Counter()
        self._cells: dict[Label, InputCells] = {}
        self._lexicon = Lexicon()
        self._dull: dict[tuple[Any, ...], _Dullness] = {}
        """By the observable features of interactions."""

    def observe(
        self, case: Case, response: Response, verdicts: Judgement, previous: Label | None = None
    ) -> tuple[tuple[int, str], ...]:
        """Return (id, class) for everything that this interaction showed first in any night. `previous` is the operation of the step before."""
        new: list[tuple[int, str]] = []
        label, status = case.operation.label, case.operation.status_of(response)
        size = len(response.content).bit_length()
        kind = response.content_type
        key = (label, status, kind, size, response.header_count)
        dull = self._dull.get(key)
        if dull is None:
            dull = _Dullness()
            if len(self._dull) < _KEYS:
                self._dull[key] = dull
        # A close examination takes ten times as long as everything else, and soon it rarely finds anything.
        is_close = not dull.left
        # The response time is not part of the key, because otherwise each octave of a slow or busy target would be
        # examined as closely as the first.
        if response.elapsed >= _QUIET_S:
            self._add(new, "latency", label, int(response.elapsed * 1000).bit_length())
        if is_close:
            self._outputs(new, label, response)
            label = case.operation.label
            cells = self._cells.get(label)
            if cells is None:
                cells = self._cells[label] = InputCells(case.operation)
            self._add_parts(new, "input", label, status // 100, cells.of(case))
        if status >= 500 or (is_close and status >= 400):
            words = self._lexicon.of(case.operation)
            template = error_template(response.readable.content, sent_texts(case), words)
            self._add(new, "error", label, status, template)
        if verdicts.failures:
            for failure in verdicts.failures:
                self._add(new, "finding", label, failure.check, failure.unique_key, failure.text)
        if previous is not None:
            self._add(new, "transition", label, previous, status)
        if case.meta is not None and case.meta.bindings:
            outcome = status // 100
            for taken in case.meta.bindings:
                self._add(new, "flow", label, taken.producer, taken.pointer, taken.name, outcome)
        dull.record(new, is_close=is_close)
        # Nearly all interactions show nothing new, so no generator is created for them.
        self.has_news = bool(new) and any(kind in OUTPUTS for _, kind in new)
        return tuple(one for one in new if one[0] not in self._earlier) if new else ()

    def learn(self, ids: Iterable[int], *, is_earlier: bool = False) -> None:
        """Count these ids as recorded. Ids from an earlier night (`is_earlier`) are still news for the guidance of this one."""
        (self._earlier if is_earlier else self._ids).update(ids)

    def _outputs(self, new: list[tuple[int, str]], label: Label, response: Response) -> None:
        status, kind = response.status_code, response.content_type
        self._add(new, "status", label, status)
        self._add(new, "media_type", label, status, (kind or "").partition(";")[0].strip().lower())
        for name in response.headers:
            if name not in _VOLATILE_HEADERS:
                self._add(new, "header", label, name, status // 100)
        body = json_of(response)
        if body is not ABSENT:
            found: list[tuple[str, str]] = []
            waiting: list[tuple[str, Any, int]] = [("", body, 0)]
            # The server chooses names and their number: one pointer for each of 50,000 names below a name of 400 KB
            # would fill any memory.
            while waiting and len(found) < _NODES:
                pointer, value, depth = waiting.pop()
                below: Iterable[tuple[str, Any]] = ()
                if value.__class__ is dict:
                    found.append((pointer, "object" if value else "empty object"))
                    below = islice(value.items(), _NODES)
                elif value.__class__ is list:
                    found.append((pointer, f"array {min(len(value), 2)}"))
                    below = [("*", item) for item in value[:_ITEMS]]
                else:
                    found.append((pointer, value.__class__.__name__ if value != "" else "empty str"))
                if depth < _DEPTH:
                    for key, item in below:
                        place = f"{pointer}/{key[:_NAME]}"
                        if item.__class__ is dict or item.__class__ is list:
                            waiting.append((place, item, depth + 1))
                        else:
                            found.append((place, item.__class__.__name__ if item != "" else "empty str"))
            self._add_parts(new, "leaf", label, status // 100, found)

    def _add_parts(
        self, new: list[tuple[int, str]], kind: str, label: str, outcome: int, parts: Iterable[tuple[str, ...]]
    ) -> None:
        known = self._parts.setdefault((kind, label, outcome), set())
        for part in parts:
            if part not in known and self._count(new, kind, label, (outcome, *part)):
                # Operations on one resource have equal responses, so interning stores each text once.
                known.add(tuple(map(intern, part)))

    def _add(self, new: list[tuple[int, str]], kind: str, label: str, *parts: str | int) -> None:
        key = (kind, label, *parts)
        if key not in self._seen and self._count(new, kind, label, parts):
            self._seen.add(key)

    def _count(self, new: list[tuple[int, str]], kind: str, label: str, parts: tuple[str | int, ...]) -> bool:
        """Count a new part; return False if its class is full."""
        if self._counts[kind, label] >= CAPS[kind]:
            return False
        self._counts[kind, label] += 1
        number = digest_int("signal", kind, label, *map(str, parts))
        if number not in self._ids:
            self._ids.add(number)
            new.append((number, kind))
        return True


class Signals(Struct):
    """Finds signals that no earlier response showed."""

    known: SignalSet

    def saw(self, flight: InFlight, verdict: Verdict) -> Sequence[Record]:
        """Return the new signals of a response, and the case as an entry of the corpus."""
        outcome = verdict.outcome
        if not isinstance(outcome, Response):
            return ()
        previous = flight.chain[-1].made.label if flight.chain else None
        ids = self.known.observe(flight.made.case, outcome, verdict.judgement, previous)
        label, rounds = flight.made.label, flight.task.rounds
        # Each night has to lead the target to its deep states again. When known behaviour did not count as news on the
        # way, a later night sent 3,419 further steps of sequences, and a fresh start sent 6,800.
        flight.has_news = self.known.has_news
        if rounds is not None and flight.has_news:
            rounds.showed(label)
        if not ids:
            return ()
        flight.is_notable = True
        numbers = tuple(number for number, _ in ids)
        return (SignalsSeen(label, ids), CorpusEntry(label, flight.steps, numbers, outcome.elapsed))
