"""Rings: the values of one field of one collection, newest last, with their contexts and the results of requests with them."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct, field

from checker.core.operation import Label
from checker.core.resource_names import Resource, noun_of
from checker.corpus.records import Above, agree

Scalar = str | int | float | bool
SCALARS = (str, int, float, bool)
CONTEXT_VALUES = 64  # Values of one context that are kept: as many as generation chooses from.
CONTEXTS = 20
RING_VALUES = 500
LONGEST_TEXT = 200
_KEYS = ("id", "uuid", "guid")
"""Fields whose values also name a member in its path. A member may have further identifiers, such as `code`."""
_MISSES = 3
_OF_ATTEMPT = 0.3
_OF_REMOVED = 2  # Weight, in attempts, of a successful removal after which a response still shows the value.


Origin = tuple[Label, str]  # (producer, pointer in its response). All values of a place share one tuple.
Instance = tuple[Scalar, Above]  # A value in its context.


class Taken(Struct, frozen=True):
    """A value that a case takes."""

    value: Scalar
    above: Above  # The objects that contain the value.
    origin: Origin
    own: Above = ()
    """(collection, name) of the resource that the value names, spelled as in contexts; empty if unknown."""


class ValueHistory(Struct):
    """A ring: at most 500 distinct values of one field, at most 64 of one context, in at most 20 contexts."""

    resource: Resource
    name: str  # Normalised field name.
    kind: type[Scalar]
    seen: int = 0  # Number of values that were seen, repetitions included.
    echoed: int = 0  # Number of values that the request itself had sent.
    values: dict[Instance, Taken] = field(default_factory=dict)
    """The values, the newest at the end, each with the place where it was seen last."""
    newest: Sequence[Taken] = ()  # The values, the newest first; empty when they have changed, until `read_newest`.
    named: dict[str, dict[str, int]] = field(default_factory=dict)
    """Collection -> name of a member, from values or contexts -> number of values."""
    has_urls: bool = False  # Whether a value may be a URL, which names members of other collections.
    contexts: dict[Above, int] = field(default_factory=dict)  # Context -> number of its values, the newest at the end.
    misses: dict[Instance, int] = field(default_factory=dict)
    """Value -> number of 404 and 410 responses since a response showed it."""
    made: set[Instance] = field(default_factory=set)  # Values of members that the run created.
    attempts: dict[Instance, int] = field(default_factory=dict)  # Value -> number of attempts to remove it.
    noun: str = ""  # Noun of the members of the resource.
    format: str = ""  # A format that other fields have, too; empty if there is none.
    collection: str = ""  # The collection, as contexts name it, if the values name its members; else empty.

    def __post_init__(self) -> None:
        self.noun = noun_of(self.resource)
        if self.name.removeprefix(self.noun) in _KEYS:
            self.collection = "/".join(self.resource)

    def add(self, value: Instance, origin: Origin) -> bool:
        """Add a value as the newest; return True if it is new."""
        self.seen += 1
        values = self.values
        known = values.pop(value, None)
        is_new = known is None
        if known is None or known.origin != origin:
            known = Taken(*value, origin, ((self.collection, f"{value[0]}"),) if self.collection else ())
        values[value] = known
        self.newest = ()
        if self.misses:
            self.misses.pop(value, None)
        if is_new:
            above, contexts = value[1], self.contexts
            for collection, name in (*above, *known.own):
                counts = self.named.setdefault(collection, {})
                counts[name] = counts.get(name, 0) + 1
            self.has_urls |= self.kind is str and "/" in f"{value[0]}"
            contexts[above] = contexts.pop(above, 0) + 1
            if contexts[above] > CONTEXT_VALUES:
                self.remove(next(one for one in values if one[1] == above))
            elif len(contexts) > CONTEXTS:
                self.forget_context(next(iter(contexts)))
            elif len(values) > RING_VALUES:
                self.remove(next(iter(values)))
        return is_new

    def remove(self, value: Instance) -> None:
        """Forget a value that is known."""
        taken = self.values.pop(value)
        self.newest = ()
        for collection, name in (*taken.above, *taken.own):
            counts = self.named[collection]
            counts[name] -= 1
            if not counts[name]:
                del counts[name]
        self.misses.pop(value, None)
        self.attempts.pop(value, None)
        self.made.discard(value)
        above = value[1]
        if self.contexts[above] == 1:
            del self.contexts[above]
        else:
            self.contexts[above] -= 1

    def forget_context(self, above: Above) -> None:
        for value in [one for one in self.values if one[1] == above]:
            self.remove(value)

    def same(self, value: Scalar, above: Above) -> list[Instance]:
        """Return the known instances that may be the same as a value of a context."""
        if self.collection and f"{value}" not in self.named.get(self.collection, ()):
            return []
        values = self.values
        # Few contexts have the value, and a lookup costs a fraction of comparing contexts.
        return [(value, one) for one in self.contexts if (value, one) in values and agree(one, above)]

    def read_newest(self) -> Sequence[Taken]:
        """Return the values, the one that was seen last first."""
        self.newest = list(reversed(self.values.values()))
        return self.newest

    def missed(self, value: Instance) -> None:
        """Count a request with this value whose response was 404 or 410. The value is dropped after three such results."""
        if value in self.values:
            misses = self.misses[value] = self.misses.get(value, 0) + 1
            if misses >= _MISSES:
                self.remove(value)

    def attempted(self, value: Instance, *, succeeded: bool = False) -> None:
        """Record an attempt to remove a known value; `succeeded`: a response shows the value after a successful removal."""
        count = _OF_REMOVED if succeeded else 1
        self.attempts[value] = self.attempts.get(value, 0) + count

    def weights(self, count: int) -> list[float]:
        """Return relative frequencies of the newest values: 1, or less after attempts to remove the value."""
        newest = self.read_newest()[:count]
        if not self.attempts:
            return [1.0] * len(newest)
        return [_OF_ATTEMPT ** self.attempts.get((one.value, one.above), 0) for one in newest]

    def looks_like_identifier(self) -> float:
        """Return how much the values look like identifiers: 1 for short texts or integers that the server makes, down to 0.02."""
        if self.kind is bool or self.kind is float:
            return 0.02
        first = next(iter(self.values), None)
        if self.seen >= 4 and first is not None and all(value == first[0] for value, _ in self.values):
            return 0.1
        score = 1.0
        if self.echoed * 2 > self.seen:
            score *= 0.3
        if self.kind is str and self.values:
            text = f"{self.read_newest()[0].value}"
            if not text or len(text) > 64 or any(sign in text for sign in " /\n"):
                score *= 0.15
        return score


RingProperty = tuple[str, object]  # A property (`name`, `noun`, `field`, `format`) of rings, and its value.


class Rings:
    """The rings of a pool in the order of their first values.

    A description may have a thousand consumers and two thousand rings: each consumer reads only the rings with one of its
    properties.
    """

    def __init__(self, rings: Iterable[ValueHistory] = ()) -> None:
        self.ordered: list[ValueHistory] = []
        self._numbers: dict[RingProperty, list[int]] = {}
        for ring in rings:
            self.append(ring)

    def append(self, ring: ValueHistory) -> None:
        field_key = (ring.resource, ring.name)
        for key in (("name", ring.name), ("noun", ring.noun), ("field", field_key), ("format", ring.format)):
            self._numbers.setdefault(key, []).append(len(self.ordered))
        self.ordered.append(ring)

    def since(self, first: int, keys: Collection[RingProperty]) -> list[ValueHistory]:
        """Return the rings that have any of these properties, in order, without those before number `first`."""
        groups = [self._numbers.get(key, ()) for key in keys]
        if len(groups) == 1:
            return [self.ordered[number] for number in groups[0][bisect_left(groups[0], first) :]]
        numbers = {number for group in groups for number in group[bisect_left(group, first) :]}
        return [self.ordered[number] for number in sorted(numbers)]
