"""The places of an operation with enumerations, and the members that a case contains."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from msgspec import Struct, field

from checker.core.case import NOT_SET, Case
from checker.core.constraints import ITEMS, values_at
from checker.core.media_types import best_of, media_type_of
from checker.core.meta import CaseMetadata, GenerationMode
from checker.core.operation import Label, Location, Operation
from checker.corpus.records import EDGE, MEDIA_TYPE, MEMBER, VALID
from checker.schema.views import Outline, outline_of

_DEEPEST: Final = 4  # Deepest nesting of properties and items that is searched.
_MOST_SCHEMAS: Final = 1000  # Schemas of one operation that are searched. Recursive schemas would have no end.
_MOST_PLACES: Final = 100  # Most places of an operation.
_MOST_MEMBERS: Final = 100
"""Most members of an enumeration that are tracked. Larger enumerations, such as all currency codes, are not tracked."""
_MOST_ITEMS: Final = 10  # Items of an array in a body that are inspected.
_SCALARS: Final = (str, int, float, bool, type(None))


class Enumeration(Struct, frozen=True, dict=True):
    """The enumeration of one place."""

    location: Location
    path: tuple[str, ...]
    """Name of the parameter (empty for a body), then names of properties; `ITEMS` stands for the items of an array."""
    members: Mapping[object, str]  # Key of a value -> its JSON.

    @cached_property
    def place(self) -> str:
        """`query status`, `body pet.kinds[]`."""
        names = ("[]" if name == ITEMS else name for name in self.path)
        return f"{self.location} {'.'.join(names)}".replace(".[]", "[]").rstrip()


def enumerations_of(operation: Operation) -> tuple[Enumeration, ...]:
    """Return the enumerations of the parameters and bodies of an operation, outermost first."""
    found: dict[tuple[Location, tuple[str, ...]], dict[object, str]] = {}
    level: list[tuple[Location, tuple[str, ...], Outline]] = [
        (one.location, (one.name,), outline_of(one.schema)) for one in operation.parameters
    ]
    level += [(Location.BODY, (), outline_of(body.schema)) for body in operation.bodies]
    left = _MOST_SCHEMAS
    for _ in range(_DEEPEST):
        below: list[tuple[Location, tuple[str, ...], Outline]] = []
        for location, path, outline in level[:left]:
            for part in outline.parts():
                listed = part.raw.get("enum") if isinstance(part.raw, dict) else None
                if isinstance(listed, list) and 0 < len(listed) <= _MOST_MEMBERS:
                    members = {_key(value): json.dumps(value) for value in listed if isinstance(value, _SCALARS)}
                    found.setdefault((location, path), {}).update(members)
            inner = ((name, outline.property(name)) for name in outline.names)
            below += [(location, (*path, name), one) for name, one in inner if one.first("readOnly") is not True]
            if outline.first("items") is not None:
                below.append((location, (*path, ITEMS), outline.item(0)))
        left -= len(level)
        level = below if left > 0 else []
    kept = list(found.items())[:_MOST_PLACES]
    return tuple(Enumeration(location, path, members) for (location, path), members in kept)


def _key(value: object) -> object:
    """Return a key that is equal for equal JSON values: `true` is no number."""
    return value if isinstance(value, str) else (isinstance(value, bool), value)


_BODY: Final = "body"
_UNREAD: Final = "?"  # Used in place of a response's `Content-Type` if nothing was compiled for that type.
# A module-level name is ten times faster than a member of an enumeration.
_NEGATIVE: Final = GenerationMode.NEGATIVE


def tried_by(meta: CaseMetadata) -> Iterator[tuple[str, str]]:
    """Yield (place, keyword that is broken there or `EDGE`). The place is `query limit`, or `query` if the name is unknown.

    Yields nothing for a valid case that tests no particular place.
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


Showing = tuple[Label, str, str]  # (label, place, what): one thing that a case can cover.


class Showings(Struct):
    """The parts of the description that cases of one operation can cover. The set is computed once, because every request needs it."""

    parts: tuple[
        tuple[str, dict[str, Showing]], ...
    ]  # Attribute of a case, with the things that each parameter there shows.
    listed: tuple[tuple[str, tuple[str, ...], Mapping[object, int]], ...]
    """(attribute of a case, path inside it, key of a value -> index in `members`)."""
    members: tuple[Showing, ...]
    """The coverage of enumeration members, by index. Hashing an index takes a fraction of the time of hashing a text."""
    body: Showing

    @classmethod
    def of(cls, operation: Operation) -> "Showings":
        label, named = operation.label, dict[str, dict[str, Showing]]()
        for one in operation.parameters:
            shown = label, _place(str(one.location), one.name), VALID
            named.setdefault(one.location.container, {})[one.name] = shown
        numbers: dict[Showing, int] = {}
        listed = []
        for place in enumerations_of(operation):
            members = {
                key: numbers.setdefault((label, place.place, MEMBER + text), len(numbers))
                for key, text in place.members.items()
            }
            listed.append((place.location.container, place.path, members))
        return cls(tuple(named.items()), tuple(listed), tuple(numbers), (label, _BODY, VALID))

    def kind_of(self, case: Case) -> "_Kind":
        """Return a key for the coverage of a valid case: names of its parameters, its enumeration members, the media type of its body, its edges."""
        names = tuple([tuple(getattr(case, container)) for container, _ in self.parts])
        members = [
            found
            for container, path, shown in self.listed
            for value in values_at(getattr(case, container), path, _MOST_ITEMS)
            if isinstance(value, _SCALARS) and (found := shown.get(_key(value))) is not None
        ]
        meta = case.meta
        edges = tuple(tried_by(meta)) if meta is not None and meta.phase.data else ()
        return names, tuple(members), None if case.body is NOT_SET else case.media_type or "", edges

    def sent_by(self, kind: "_Kind") -> list[Showing]:
        """Return everything that valid cases of a kind cover, except the edges that they test."""
        names, members, media_type, edges = kind
        found = [
            named[name] for (_, named), sent in zip(self.parts, names, strict=True) for name in sent if name in named
        ]
        if media_type is not None:
            found.append(self.body)
        places = {place for place, _ in edges}
        found = [shown for shown in found if shown[1] not in places]
        if media_type:
            found.append((self.body[0], _BODY, MEDIA_TYPE + media_type))
        return found + [self.members[number] for number in dict.fromkeys(members)]


_Kind = tuple[tuple[tuple[str, ...], ...], tuple[int, ...], str | None, tuple[tuple[str, str], ...]]
"""(parameter names by container, indices of members, media type of the body or None, edges) of a valid case."""


class _Alike(Struct):
    """Cases of one kind with one response."""

    shown: Sequence[Showing]
    count: int = 1


class Shown(Struct):
    """The parts of the description that cases of one task cover, counted until they are recorded. Invalid cases only cover responses.

    Cases that cover the same and get the same response are counted as one kind, because most cases belong to a few
    kinds, and each covers a dozen parts.
    """

    _cases: dict[tuple[Label, int, str | None, _Kind | None], _Alike] = field(default_factory=dict)
    """(label, status, `Content-Type`, kind of a valid case) -> cases."""
    _seen: set[tuple[int, Showing]] = field(default_factory=set)  # (class of the status, what was shown).

    def note(self, case: Case, showings: Showings, status: int, content_type: str | None) -> Sequence[Showing]:
        """Count a case; `status` is 0 without a response. Return what no earlier case with such a response covered."""
        meta = case.meta
        is_wrong = meta is not None and meta.mode is _NEGATIVE
        key = showings.body[0], status, content_type, None if is_wrong else showings.kind_of(case)
        alike = self._cases.get(key)
        if alike is not None:
            alike.count += 1
            return ()
        shown = [] if key[3] is None else showings.sent_by(key[3])
        received = media_type_of(content_type or "")
        if status and received is not None:
            plan = case.operation.contract.plan(status, _UNREAD)
            types = {name: name for name in plan.documented_media_types}
            documented = best_of(types, received)
            if documented is not None and plan.matched_response is not None:
                shown.append((case.operation.label, _answer(plan.matched_response), MEDIA_TYPE + documented))
        self._cases[key] = _Alike(shown)
        firsts = [one for one in shown if (status // 100, one) not in self._seen]
        self._seen.update((status // 100, one) for one in firsts)
        return firsts

    def counts(self) -> Iterator[tuple[str, str, str, int, int]]:
        """Yield (label, place, what, class of the status, cases), each once."""
        found: dict[tuple[int, Showing], int] = {}
        for (_, status, *_), alike in self._cases.items():
            for shown in alike.shown:
                place = status // 100, shown
                found[place] = found.get(place, 0) + alike.count
        for (status_class, shown), count in found.items():
            yield *shown, status_class, count

    def clear(self) -> None:
        self._cases.clear()
        self._seen.clear()


def documented_types(operation: Operation) -> Iterator[tuple[str, str]]:
    """Yield (`body` or `answer 200`, media type as spelled) for everything that an operation documents."""
    yield from ((_BODY, body.media_type) for body in operation.bodies)
    contract = operation.contract
    for status in contract.plan(405, _UNREAD).documented_statuses:
        # `200`, `4XX` and `default` are looked up by an example of a status that they cover.
        digits = status.strip().upper().replace("X", "9")
        plan = contract.plan(
            int(digits) if digits.isascii() and digits.isdigit() and len(digits) == 3 else 999, _UNREAD
        )
        if plan.matched_response == status:
            yield from ((_answer(status), name) for name in plan.documented_media_types)


def _answer(status: str) -> str:
    """Return the name of a documented response as a place: `answer 200`."""
    return f"answer {status}"


def _place(location: str, name: str) -> str:
    return location if location == _BODY or not name else f"{location} {name}"
