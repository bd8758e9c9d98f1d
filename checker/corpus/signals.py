"""Signals: what an interaction showed, as 64-bit ids that are the same on every machine and for years."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from checker.core.case import Case
from checker.core.digests import digest_int
from checker.core.failures import Failure
from checker.core.operation import Label
from checker.core.response import Response
from checker.core.templates import error_template
from checker.corpus.answers import ABSENT, json_of
from checker.corpus.cells import InputCells
from checker.corpus.rings import SCALARS

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
"""Class -> ids for each operation. What exceeds it is volatile: names or texts that a server makes up."""

_VOLATILE_HEADERS = frozenset(("date", "age", "expires", "etag", "set-cookie"))
# Shorter answers differ by noise alone.
_QUIET_MS = 16
_DEPTH = 5
_NODES = 200
_ITEMS = 3
_SAMPLE = 16
_TEMPLATES = 32

Feature = tuple[str, ...]


class Verdicts(Protocol):
    """What the checks said of an interaction."""

    @property
    def failures(self) -> Sequence[Failure]: ...


class SignalSet:
    """What one worker has seen. About 5 us for an interaction that shows nothing new."""

    def __init__(self, known: Iterable[int] = ()) -> None:
        self._ids: set[int] = set(known)
        self._seen: set[tuple[Any, ...]] = set()
        self._counts: Counter[tuple[str, str]] = Counter()
        self._cells: dict[Label, InputCells] = {}
        self._shapes: dict[tuple[Any, ...], int] = {}
        self._errors: dict[tuple[str, int], int] = {}

    def observe(
        self, case: Case, response: Response, verdicts: Verdicts, previous: Label | None = None
    ) -> tuple[tuple[int, str], ...]:
        """(id, class) of what this interaction showed first. `previous` is the operation of the step before."""
        new: list[tuple[int, str]] = []
        label, status = case.operation.label, response.status_code
        self._outputs(new, label, response)
        self._inputs(new, case, status)
        if status >= 400:
            self._error(new, label, response, case)
        for failure in verdicts.failures:
            self._add(new, "finding", label, failure.check, failure.unique_key)
        if previous is not None:
            self._add(new, "transition", label, previous, status)
        if case.meta is not None:
            for binding in case.meta.bindings:
                self._add(
                    new,
                    "flow",
                    label,
                    binding.producer,
                    binding.pointer,
                    binding.name,
                    status // 100,
                )
        return tuple(new)

    def learn(self, ids: Iterable[int]) -> None:
        """Take these ids for seen: of an earlier night, or of peers."""
        self._ids.update(ids)

    def __len__(self) -> int:
        return len(self._ids)

    def _outputs(self, new: list[tuple[int, str]], label: Label, response: Response) -> None:
        status, kind = response.status_code, response.content_type
        milliseconds = int(response.elapsed * 1000)
        octave = milliseconds.bit_length() if milliseconds >= _QUIET_MS else 0
        body = json_of(response)
        names = tuple([name for name, _ in response.raw_headers])
        key = (label, status, kind, octave, names, _outline(body))
        times = self._shapes.get(key, 0)
        if times or len(self._shapes) < 20_000:
            self._shapes[key] = times + 1
        if times % _SAMPLE:
            # Seen before; its depth is looked at now and then only.
            return
        self._add(new, "status", label, status)
        self._add(new, "media_type", label, status, (kind or "").partition(";")[0].strip().lower())
        self._add(new, "latency", label, octave)
        for name in names:
            if name.lower() not in _VOLATILE_HEADERS:
                self._add(new, "header", label, name.lower(), status // 100)
        if body is not ABSENT:
            for pointer, leaf in _leaf_kinds(body):
                self._add(new, "leaf", label, status // 100, pointer, leaf)

    def _inputs(self, new: list[tuple[int, str]], case: Case, status: int) -> None:
        label = case.operation.label
        cells = self._cells.get(label)
        if cells is None:
            cells = self._cells[label] = InputCells(case.operation)
        outcome = status // 100
        for location, name, cell in cells.of(case):
            key = ("input", label, location, name, cell, outcome)
            if key not in self._seen:
                self._add(new, *key)

    def _error(
        self, new: list[tuple[int, str]], label: Label, response: Response, case: Case
    ) -> None:
        status = response.status_code
        times = self._errors.get((label, status), 0)
        self._errors[label, status] = times + 1
        if times > _TEMPLATES and times % _SAMPLE and status < 500:
            # Templates cost more than all other signals together, and soon there is no new one.
            return
        template = error_template(response.content, _sent_texts(case))
        if self._add(new, "error", label, status, template):
            self._errors[label, status] = 0

    def _add(self, new: list[tuple[int, str]], kind: str, label: str, *parts: str | int) -> bool:
        key = (kind, label, *parts)
        if key in self._seen:
            return False
        if self._counts[kind, label] >= CAPS[kind]:
            return False
        self._seen.add(key)
        self._counts[kind, label] += 1
        number = digest_int("signal", kind, label, *map(str, parts))
        if number in self._ids:
            return False
        self._ids.add(number)
        new.append((number, kind))
        return True


def _outline(body: Any) -> tuple[Any, ...] | str:
    """What is cheap to see of a body: names at the top, and the kinds that stand there."""
    if isinstance(body, dict):
        return (*body, *map(type, body.values()))
    if isinstance(body, list):
        return (len(body).bit_length(), *(_outline(item) for item in body[:1]))
    return type(body).__name__


def _leaf_kinds(body: Any) -> list[tuple[str, str]]:
    """(pointer, type and cardinality) of the parts of a body, array indices as `*`."""
    found: list[tuple[str, str]] = []
    waiting: list[tuple[str, Any, int]] = [("", body, 0)]
    while waiting and len(found) < _NODES:
        pointer, value, depth = waiting.pop()
        if isinstance(value, dict):
            found.append((pointer, "object" if value else "empty object"))
            if depth < _DEPTH:
                waiting += [(f"{pointer}/{key}", item, depth + 1) for key, item in value.items()]
        elif isinstance(value, list):
            found.append((pointer, f"array {min(len(value), 2)}"))
            if depth < _DEPTH:
                waiting += [(f"{pointer}/*", item, depth + 1) for item in value[:_ITEMS]]
        else:
            found.append((pointer, type(value).__name__ if value != "" else "empty str"))
    return found


def _sent_texts(case: Case) -> list[str]:
    """Texts of the request that an error may quote."""
    found = []
    body = case.body if isinstance(case.body, dict) else {}
    for container in (case.path_parameters, case.query, body):
        for value in container.values():
            if isinstance(value, SCALARS):
                found.append(str(value))
    return found
