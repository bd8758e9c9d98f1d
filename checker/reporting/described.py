"""Coverage of the description: the operations, parameters, keywords and responses that occurred in a run."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter

from msgspec import Struct, field

from checker.corpus.records import EDGE, MEDIA_TYPE, MEMBER, VALID, OperationDescribed

_ACCEPTED, _REFUSED = (2, 3), (4,)

_MOST_MISSING = 5  # Operations that a sentence lists.
Tried = Mapping[tuple[str, str, int], int]
"""(place, purpose of the case, class of the status or 0) -> number of cases.

The purpose is a broken keyword, `EDGE`, `VALID`, a member of an enumeration or a media type.
"""


class OutcomeCounts(Struct, frozen=True):
    """Number of cases by the class of their response."""

    by_class: tuple[tuple[int, int], ...] = ()  # (class of the status or 0 for no response, cases), sorted.

    @property
    def cases(self) -> int:
        return sum(count for _, count in self.by_class)

    @property
    def accepted(self) -> int:
        return sum(count for status, count in self.by_class if status in _ACCEPTED)

    @property
    def refused(self) -> int:
        return sum(count for status, count in self.by_class if status in _REFUSED)


class PlaceCoverage(Struct, frozen=True):
    """The cases about one parameter, or about the body."""

    place: str  # `query limit`, `body`.
    is_declared: bool = True
    """Whether the place is a parameter or the body. Otherwise it is a location, for invalid parts without a parameter name."""
    valid: OutcomeCounts = OutcomeCounts()  # Valid cases with this place that do not test a boundary of it.
    edges: OutcomeCounts = OutcomeCounts()  # Valid cases at a boundary of the place.
    broken: tuple[tuple[str, OutcomeCounts], ...] = ()  # (violated keyword, cases), sorted.

    @property
    def is_tried(self) -> bool:
        return bool(self.edges.cases or self.broken)


class Alternatives(Struct, frozen=True):
    """The alternatives of a place: members of an enumeration, or media types. Each case or response has one."""

    place: str  # `query status`, `body pet.kind`; `body` or `answer 200` for media types.
    listed: tuple[tuple[str, OutcomeCounts], ...]
    """(alternative, its cases). Media types are spelled as in the description, members as JSON."""

    @property
    def is_sent(self) -> bool:
        return not self.place.startswith("answer ")

    @property
    def share(self) -> "Share":
        """Return the share of the alternatives that occurred in an accepted request or in a response."""
        return Share(len(self.listed) - len(self.missing), len(self.listed))

    @property
    def missing(self) -> list[str]:
        """Return the alternatives that did not occur in an accepted request or in a response."""
        return [name for name, came in self.listed if not (came.accepted if self.is_sent else came.cases)]


class Share(Struct, frozen=True):
    """A part of a whole."""

    met: int = 0
    total: int = 0

    @property
    def percent(self) -> float:
        """Return 0 to 100; 100 for an empty whole."""
        return 100.0 * self.met / self.total if self.total else 100.0

    def __add__(self, other: "Share") -> "Share":
        return Share(self.met + other.met, self.total + other.total)


class OperationCoverage(Struct, frozen=True):
    """The coverage of one operation by a run."""

    label: str
    places: tuple[PlaceCoverage, ...] = ()
    documented: tuple[tuple[str, int], ...] = ()  # (status as spelled in the description, number of responses with it).
    undocumented: tuple[int, ...] = ()
    is_reached: bool = False  # Whether it returned 2xx.
    enumerations: tuple[Alternatives, ...] = ()
    media_types: tuple[Alternatives, ...] = ()

    @property
    def responses(self) -> Share:
        """Return the share of documented responses that occurred, including `default`."""
        return Share(sum(count > 0 for _, count in self.documented), len(self.documented))

    @property
    def parameters(self) -> Share:
        """Return the share of parameters, including the body, that some case tests."""
        declared = [place for place in self.places if place.is_declared]
        return Share(sum(place.is_tried for place in declared), len(declared))

    @property
    def keywords(self) -> int:
        """Return the number of keywords of its schemas that invalid cases violated."""
        return sum(len(place.broken) for place in self.places)


class DescriptionCoverage(Struct, frozen=True):
    """The coverage of a description by a run."""

    operations: tuple[OperationCoverage, ...] = ()
    shares: Mapping[str, Share] = field(default_factory=dict)
    """Share by name: `operations` that returned 2xx, `responses`, `parameters`, `enum_values`, `media_types`."""
    shortfalls: tuple[
        str, ...
    ] = ()  # A sentence for each share below its required minimum. Such a sentence makes the run fail.


def covered(operations: tuple[OperationCoverage, ...]) -> DescriptionCoverage:
    """Return the coverage of all operations together."""
    shares = {
        "operations": Share(sum(one.is_reached for one in operations), len(operations)),
        "responses": sum((one.responses for one in operations), Share()),
        "parameters": sum((one.parameters for one in operations), Share()),
        "enum_values": _sum(one.enumerations for one in operations),
        "media_types": _sum(one.media_types for one in operations),
    }
    return DescriptionCoverage(operations, shares)


def _sum(listed: Iterable[tuple[Alternatives, ...]]) -> Share:
    return sum((one.share for alternatives in listed for one in alternatives), Share())


def operation_coverage(
    label: str, described: OperationDescribed | None, statuses: Mapping[int, int], tried: Tried
) -> OperationCoverage:
    """Return the coverage of one operation. `described` is None if the worker did not describe it."""
    described = described or OperationDescribed(label, (), (), (), needs_credentials=False)
    by_status: Counter[str] = Counter()
    undocumented = []
    for status, count in statuses.items():
        # The key of a status in the description: exact, as a class, or `default`.
        keys = (str(status), f"{status // 100}XX", f"{status // 100}xx", "default") if status else ()
        spelled = next((one for one in keys if one in described.statuses), "")
        if spelled:
            by_status[spelled] += count
        elif status:
            undocumented.append(status)
    counts: dict[str, dict[str, Counter[int]]] = {}
    for (place, what, status), count in tried.items():
        counts.setdefault(place, {}).setdefault(what, Counter())[status] += count
    came = {
        place: {what: OutcomeCounts(tuple(sorted(found.items()))) for what, found in whats.items()}
        for place, whats in counts.items()
    }
    return OperationCoverage(
        label,
        tuple(_places(described.parameters, came)),
        tuple((one, by_status[one]) for one in described.statuses),
        tuple(sorted(undocumented)),
        any(status // 100 == 2 for status in statuses),
        tuple(_alternatives(described.members, came, MEMBER)),
        tuple(_alternatives(described.media_types, came, MEDIA_TYPE)),
    )


def _places(parameters: tuple[str, ...], came: Mapping[str, Mapping[str, OutcomeCounts]]) -> Iterator[PlaceCoverage]:
    broken = {
        place: tuple(
            sorted(
                (what, one)
                for what, one in found.items()
                if what not in (EDGE, VALID) and not what.startswith((MEMBER, MEDIA_TYPE))
            )
        )
        for place, found in came.items()
    }
    # Broken parts without a parameter name, such as an unknown parameter, are listed under their location.
    others = (place for place in sorted(broken) if broken[place] or EDGE in came[place])
    for place in dict.fromkeys([*parameters, *others]):
        found = came.get(place, {})
        yield PlaceCoverage(
            place,
            place in parameters,
            found.get(VALID, OutcomeCounts()),
            found.get(EDGE, OutcomeCounts()),
            broken.get(place, ()),
        )


def _alternatives(
    listed: Iterable[tuple[str, str]], came: Mapping[str, Mapping[str, OutcomeCounts]], prefix: str
) -> Iterator[Alternatives]:
    for place, pairs in groupby(listed, key=itemgetter(0)):
        found = came.get(place, {})
        yield Alternatives(place, tuple((one, found.get(prefix + one, OutcomeCounts())) for _, one in pairs))


def shortfalls(coverage: DescriptionCoverage, wanted: Mapping[str, float]) -> Iterator[str]:
    """Yield a sentence for each share below its required percentage, with the missing parts."""
    for name, least in wanted.items():
        share = coverage.shares[name]
        if share.percent < least:
            missing = [text for one in coverage.operations if (text := _missing(one, name))]
            left = len(missing) - _MOST_MISSING
            more = f"; and of {left} more operations" if left > 0 else ""
            yield (
                f"{words(name)}: {share.percent:.1f} % of {share.total} are covered, and {least:g} % must be; "
                f"missing: {'; '.join(missing[:_MOST_MISSING])}{more}"
            )


def _missing(operation: OperationCoverage, name: str) -> str:
    """Return the parts of a share that an operation did not cover: `POST /users (404, 409)`; empty if it covered all."""
    match name:
        case "operations":
            return "" if operation.is_reached else operation.label
        case "responses":
            missing = [status for status, count in operation.documented if not count]
        case "parameters":
            declared = (one for one in operation.places if one.is_declared)
            missing = [one.place for one in declared if not one.is_tried]
        case "enum_values":
            missing = list(_missing_in(operation.enumerations))
        case _:
            missing = list(_missing_in(operation.media_types))
    return f"{operation.label} ({', '.join(missing)})" if missing else ""


def _missing_in(listed: tuple[Alternatives, ...]) -> Iterator[str]:
    for one in listed:
        yield from (f"{one.place} {text}" for text in one.missing)


def words(name: str) -> str:
    """Return the name of a share for display: `enum values`."""
    return name.replace("_", " ")
