"""Coverage of the description: which operations, parameters, keywords and answers a run has met."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

EDGE = "edge"
_OF_OTHER_METHODS = 405
"""What methods are answered that an operation does not have: nobody documents it."""
_ACCEPTED, _REFUSED = (2, 3), (4,)

Tried = Mapping[tuple[str, str, int], int]
"""(place, keyword that was broken there or `edge`, class of the status or 0) -> cases."""


@dataclass(frozen=True, slots=True)
class PlaceCoverage:
    """What was tried at one parameter, or at the body."""

    place: str
    """`query limit`, `body`."""
    is_declared: bool = True
    """Whether it is a parameter or the body; else it is a location, for mistakes of which nobody knows the name."""
    edges: int = 0
    """Valid cases at an edge of it."""
    edges_accepted: int = 0
    keywords: tuple[tuple[str, int, int, int], ...] = ()
    """(keyword that was broken, cases, refused with 4xx, accepted with 2xx or 3xx), sorted."""

    @property
    def is_tried(self) -> bool:
        """Whether any case was about it."""
        return bool(self.edges or self.keywords)


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole."""

    met: int = 0
    total: int = 0

    @property
    def percent(self) -> float:
        """0 to 100; of nothing everything was met."""
        return 100.0 * self.met / self.total if self.total else 100.0

    def __add__(self, other: "Share") -> "Share":
        return Share(self.met + other.met, self.total + other.total)


@dataclass(frozen=True, slots=True)
class OperationCoverage:
    """What of one operation a run has met."""

    label: str
    places: tuple[PlaceCoverage, ...] = ()
    documented: tuple[tuple[str, int], ...] = ()
    """(status as the description spells it, answers that it covers)."""
    undocumented: tuple[int, ...] = ()
    """Statuses that came and that nothing covers."""
    is_reached: bool = False
    """Whether it answered 2xx."""

    @property
    def responses(self) -> Share:
        """Documented answers that came; `default` is one of them."""
        return Share(sum(count > 0 for _, count in self.documented), len(self.documented))

    @property
    def parameters(self) -> Share:
        """Parameters, the body among them, that a case was about."""
        declared = [place for place in self.places if place.is_declared]
        return Share(sum(place.is_tried for place in declared), len(declared))

    @property
    def keywords(self) -> int:
        """Rules of its schemas that were broken on purpose."""
        return sum(len(place.keywords) for place in self.places)


@dataclass(frozen=True, slots=True)
class DescriptionCoverage:
    """What of a description a run has met."""

    operations: tuple[OperationCoverage, ...] = ()
    shares: Mapping[str, Share] = field(default_factory=dict)
    """By name: `operations` that answered 2xx, `responses`, `parameters`."""


def covered(operations: tuple[OperationCoverage, ...]) -> DescriptionCoverage:
    """All operations together."""
    reached = Share(sum(one.is_reached for one in operations), len(operations))
    responses = sum((one.responses for one in operations), Share())
    parameters = sum((one.parameters for one in operations), Share())
    shares = {"operations": reached, "responses": responses, "parameters": parameters}
    return DescriptionCoverage(operations, shares)


def operation_coverage(
    label: str,
    parameters: tuple[str, ...],
    documented: tuple[str, ...],
    statuses: Mapping[int, int],
    tried: Tried,
) -> OperationCoverage:
    """One operation: what the description says of it against what was tried and answered."""
    by_status: Counter[str] = Counter()
    undocumented = []
    for status, count in statuses.items():
        spelled = _documented_as(status, documented)
        if spelled:
            by_status[spelled] += count
        elif status not in (0, _OF_OTHER_METHODS):
            undocumented.append(status)
    # A mistake that nobody knows the name for stands beside the parameters of its location.
    places = dict.fromkeys([*parameters, *sorted({place for place, _, _ in tried})])
    return OperationCoverage(
        label,
        tuple(_place(place, tried, is_declared=place in parameters) for place in places),
        tuple((one, by_status[one]) for one in documented),
        tuple(sorted(undocumented)),
        any(status // 100 == 2 for status in statuses),
    )


def _place(place: str, tried: Tried, *, is_declared: bool) -> PlaceCoverage:
    edges = edges_accepted = 0
    keywords: dict[str, list[int]] = {}
    for (where, what, status), count in tried.items():
        if where != place:
            continue
        if what == EDGE:
            edges += count
            edges_accepted += count if status in _ACCEPTED else 0
            continue
        counts = keywords.setdefault(what, [0, 0, 0])
        counts[0] += count
        counts[1] += count if status in _REFUSED else 0
        counts[2] += count if status in _ACCEPTED else 0
    found = ((name, cases, refused, taken) for name, (cases, refused, taken) in keywords.items())
    return PlaceCoverage(place, is_declared, edges, edges_accepted, tuple(sorted(found)))


def _documented_as(status: int, documented: tuple[str, ...]) -> str:
    """How the description spells a status: exactly, as a class, as `default`; empty when it does not."""
    for spelled in (str(status), f"{status // 100}XX", f"{status // 100}xx", "default"):
        if status and spelled in documented:
            return spelled
    return ""


def shortfalls(coverage: DescriptionCoverage, wanted: Mapping[str, float]) -> Iterator[str]:
    """A sentence for each share that is smaller than it must be, in percent."""
    for name, least in wanted.items():
        share = coverage.shares[name]
        if share.percent < least:
            yield f"{name}: {share.percent:.1f} % of {share.total} are covered, and {least:g} % must be"
