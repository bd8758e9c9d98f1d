"""Guessed values, found without the generator: what a schema admits although no value was made, or only few."""

from collections.abc import Iterator
from typing import Any, Final

from tests.measuring.oracles import Oracles

_GUESSES: Final[tuple[Any, ...]] = (
    None, True, False, *range(-3, 13), 100, 1000, 2**31, 0.5, 1.5, -2.5, 1e10, "", "a", "b", "foo", "bar", "x1", "ab", "abc",
    "0", "12", "hello world", "A" * 40, "2020-01-01", "2020-01-01T00:00:00Z", "a@b.cd", "http://a.b/c", [], [1], ["a"],
    [1, 2], ["a", "b"], [1, 2, 3], [1, "a", True], [{}], [[]], [None], [0] * 20, {}, {"a": 1}, {"a": "b"}, {"foo": 1},
    {"foo": "bar"}, {"foo": 1, "bar": 2}, {"bar": "x"}, {"x": {}}, {"name": "n"}, {"id": 1}, {"a": 1, "b": 2, "c": 3},
)  # fmt: skip


def guesses() -> tuple[Any, ...]:
    """Values of all kinds."""
    return _GUESSES


def admitted(oracles: Oracles, raw: object) -> Iterator[Any]:
    """Guesses that both oracles call valid, those included that the schema itself names."""
    for value in (*_GUESSES, *_named(raw)):
        if oracles.verdicts(value) == (True, True):
            yield value


def _named(raw: object) -> Iterator[Any]:
    """Examples, defaults and listed values of the schema."""
    if not isinstance(raw, dict):
        return
    for name in ("example", "default", "const"):
        if name in raw:
            yield raw[name]
    for name in ("examples", "enum"):
        if isinstance(raw.get(name), list):
            yield from raw[name]
