"""The values that were seen at one field of one resource, newest last, and how they fared."""

from itertools import islice

from msgspec import Struct, field

from checker.core.operation import Label
from checker.core.resource_names import Resource, noun_of

Scalar = str | int | float | bool
SCALARS = (str, int, float, bool)
RING_VALUES = 64
LONGEST_TEXT = 200
_MISSES = 3


Origin = tuple[Label, str]
"""The producer, and the pointer in its answer. One tuple is shared by all values that were seen there."""


class ValueHistory(Struct):
    """At most 64 distinct values of one key."""

    resource: Resource
    name: str
    """Normalised field name."""
    kind: type[Scalar]
    seen: int = 0
    """How often any value was seen here."""
    echoed: int = 0
    """How often the value was one that the request had sent: not made by the server."""
    values: dict[Scalar, Origin] = field(default_factory=dict)
    """Where each was seen last, the newest at the end."""
    misses: dict[Scalar, int] = field(default_factory=dict)
    """How often a value was consumed without success since it was seen."""
    noun: str = ""
    """What the things of the resource are called."""

    def __post_init__(self) -> None:
        self.noun = noun_of(self.resource)

    def add(self, value: Scalar, origin: Origin) -> bool:
        """Take a value in as the newest; whether it is new."""
        self.seen += 1
        values = self.values
        is_new = values.pop(value, None) is None
        values[value] = origin
        if self.misses:
            self.misses.pop(value, None)
        if is_new and len(values) > RING_VALUES:
            self.remove(next(iter(values)))
        return is_new

    def remove(self, value: Scalar) -> None:
        """Forget a value that is known."""
        del self.values[value]
        self.misses.pop(value, None)

    def newest(self, depth: int) -> tuple[Scalar, Origin]:
        """The value that was seen last, or `depth` values before it. There must be that many."""
        return next(islice(reversed(self.values.items()), depth, None))

    def missed(self, value: Scalar) -> None:
        """A consumer was told that there is no such thing: after three times it is forgotten."""
        if value in self.values:
            misses = self.misses[value] = self.misses.get(value, 0) + 1
            if misses >= _MISSES:
                self.remove(value)

    def looks_like_identifier(self) -> float:
        """From what its values look like: 1 for short texts or integers that the server makes, down to 0.02."""
        if self.kind is bool or self.kind is float:
            return 0.02
        if self.seen >= 4 and len(self.values) == 1:
            return 0.1
        score = 1.0
        if self.echoed * 2 > self.seen:
            score *= 0.3
        if self.kind is str and self.values:
            text = f"{self.newest(0)[0]}"
            if not text or len(text) > 64 or any(sign in text for sign in " /\n"):
                score *= 0.15
        return score
