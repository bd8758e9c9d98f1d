"""The values that were seen at one field of one resource, newest last, and how they fared."""

from dataclasses import dataclass, field
from itertools import islice

from checker.core.operation import Label
from checker.corpus.matching import Resource, noun_of

Scalar = str | int | float | bool
SCALARS = (str, int, float, bool)
RING_VALUES = 64
LONGEST_TEXT = 200
_MISSES = 3


@dataclass(slots=True)
class Seen:
    """One value and where it was seen last."""

    value: Scalar
    producer: Label
    pointer: str
    misses: int = 0
    """How often it was consumed without success since it was seen."""


@dataclass(slots=True)
class Ring:
    """At most 64 distinct values of one key."""

    resource: Resource
    name: str
    """Normalised field name."""
    kind: type[Scalar]
    seen: int = 0
    """How often any value was seen here."""
    echoed: int = 0
    """How often the value was one that the request had sent: not made by the server."""
    values: dict[Scalar, Seen] = field(default_factory=dict)
    noun: str = ""
    """What the things of the resource are called."""

    def __post_init__(self) -> None:
        self.noun = noun_of(self.resource)

    def add(self, value: Scalar, producer: Label, pointer: str) -> bool:
        """Take a value in as the newest; whether it is new."""
        self.seen += 1
        known = self.values.pop(value, None)
        if known is not None:
            known.producer, known.pointer, known.misses = producer, pointer, 0
            self.values[value] = known
            return False
        self.values[value] = Seen(value, producer, pointer)
        if len(self.values) > RING_VALUES:
            del self.values[next(iter(self.values))]
        return True

    def newest(self, depth: int) -> Seen:
        """The value that was seen last, or `depth` values before it."""
        return next(islice(reversed(self.values.values()), depth, None))

    def missed(self, value: Scalar) -> None:
        """A consumer was told that there is no such thing: after three times it is forgotten."""
        known = self.values.get(value)
        if known is not None:
            known.misses += 1
            if known.misses >= _MISSES:
                del self.values[value]

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
            text = f"{self.newest(0).value}"
            if not text or len(text) > 64 or any(sign in text for sign in " /\n"):
                score *= 0.15
        return score
