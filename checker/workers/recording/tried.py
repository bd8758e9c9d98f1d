"""What a case was about, and what else it showed, for the coverage of the description."""

from collections import Counter
from collections.abc import Hashable, Iterator
from typing import Final

from msgspec import Struct, field

from checker.core.case import NOT_SET, Case
from checker.core.media_types import best_of, media_type_of
from checker.core.meta import CaseMetadata, GenerationMode
from checker.core.operation import Label, Location, Operation
from checker.corpus.tried import EDGE, MEDIA_TYPE, VALID
from checker.workers.recording.enumerations import Enumeration

_BODY: Final = "body"
_UNREAD: Final = "?"
"""In place of the `Content-Type` of an answer: nothing is compiled for it."""


def tried_by(meta: CaseMetadata) -> Iterator[tuple[str, str]]:
    """(place, keyword that is broken there or `EDGE`); the place is `query limit`, or `query` where nobody knows the name.

    Nothing for a valid case that is about no place of its own.
    """
    data = meta.phase.data
    location, name = data.get("parameter_location"), data.get("parameter")
    if meta.mode is GenerationMode.POSITIVE:
        if location and name:
            yield _place(location, name), EDGE
        return
    for part, provenance in meta.components.items():
        if provenance.violation is not None:
            named = name if name and location == str(part) else ""
            yield _place(str(part), named or ""), provenance.violation.keyword


Shows = tuple[tuple[str, str], ...]
"""(place, what) of each thing that a case shows."""


class Shown(Struct):
    """What cases of one task show of the description, counted until it is written down; of wrong ones only the answer does.

    Most of them are alike, and then one is looked at: what is counted for each request costs all of them.
    """

    _kinds: dict[Hashable, "_Kind"] = field(default_factory=dict)

    def note(
        self,
        case: Case,
        listed: tuple[Enumeration, ...],
        status: int,
        content_type: str | None,
    ) -> Shows:
        """Count a case; 0 is the status of no answer. Gives what it shows, unless an equal one was counted before."""
        meta, label = case.meta, case.operation.label
        if meta is not None and meta.mode is GenerationMode.NEGATIVE:
            return self._count((label, status, content_type), case, None, status, content_type)
        members = tuple(found for one in listed for found in one.found_in(case)) if listed else ()
        data = meta.phase.data if meta is not None else None
        likeness = (
            label,
            status,
            content_type,
            tuple(case.path_parameters),
            tuple(case.query),
            tuple(case.headers),
            tuple(case.cookies),
            None if case.body is NOT_SET else case.media_type,
            (data.get("parameter_location"), data.get("parameter")) if data else None,
            members,
        )
        return self._count(likeness, case, members, status, content_type)

    def _count(
        self,
        likeness: Hashable,
        case: Case,
        members: Shows | None,
        status: int,
        content_type: str | None,
    ) -> Shows:
        kind = self._kinds.get(likeness)
        if kind is not None:
            kind.count += 1
            return ()
        sent = () if members is None else _sent_by(case, members)
        shown = (*sent, *_received_by(case, status, content_type))
        self._kinds[likeness] = _Kind(case.operation.label, status // 100, shown, count=1)
        return shown

    def counts(self) -> Iterator[tuple[str, str, str, int, int]]:
        """(label, place, what, class of the status, cases), each once."""
        found: Counter[tuple[str, str, str, int]] = Counter()
        for kind in self._kinds.values():
            for place, what in kind.shown:
                found[kind.label, place, what, kind.status_class] += kind.count
        return ((*key, count) for key, count in found.items())

    def clear(self) -> None:
        """Begin new counts."""
        self._kinds.clear()


class _Kind(Struct):
    """Valid cases that show the same."""

    label: Label
    status_class: int
    shown: Shows
    count: int


def _sent_by(case: Case, members: Shows) -> Iterator[tuple[str, str]]:
    """All that a valid case shows, but the edge that it is about."""
    meta, operation = case.meta, case.operation
    edges = set() if meta is None else {place for place, _ in tried_by(meta)}
    sent = {
        Location.PATH: case.path_parameters,
        Location.QUERY: case.query,
        Location.HEADER: case.headers,
        Location.COOKIE: case.cookies,
    }
    for parameter in operation.parameters:
        place = _place(str(parameter.location), parameter.name)
        if parameter.name in sent.get(parameter.location, {}) and place not in edges:
            yield place, VALID
    if case.body is not NOT_SET:
        if _BODY not in edges:
            yield _BODY, VALID
        if case.media_type is not None:
            yield _BODY, MEDIA_TYPE + case.media_type
    yield from dict.fromkeys(members)


def _received_by(case: Case, status: int, content_type: str | None) -> Iterator[tuple[str, str]]:
    """The documented media type of an answer."""
    received = media_type_of(content_type or "")
    if status and received is not None:
        plan = case.operation.contract.plan(status, _UNREAD)
        types = {name: name for name in plan.documented_media_types}
        documented = best_of(types, received)
        if documented is not None and plan.matched_response is not None:
            yield _answer(plan.matched_response), MEDIA_TYPE + documented


def documented_types(operation: Operation) -> Iterator[tuple[str, str]]:
    """(`body` or `answer 200`, media type as spelled) of all that an operation documents."""
    yield from ((_BODY, body.media_type) for body in operation.bodies)
    contract = operation.contract
    for status in contract.plan(405, _UNREAD).documented_statuses:
        plan = contract.plan(_status_of(status), _UNREAD)
        if plan.matched_response == status:
            yield from ((_answer(status), name) for name in plan.documented_media_types)


def _status_of(spelled: str) -> int:
    """A status that `200`, `4XX` or `default` covers, and hardly anything else."""
    digits = spelled.strip().upper().replace("X", "9")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) == 3 else 999


def _answer(status: str) -> str:
    """Place of a documented answer among what was tried: `answer 200`."""
    return f"answer {status}"


def _place(location: str, name: str) -> str:
    return location if location == _BODY or not name else f"{location} {name}"
