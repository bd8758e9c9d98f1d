"""What a value of the configuration may be, and the sentence that says what is wrong with it."""

from collections.abc import Callable, Collection, Mapping
from datetime import date, time
from difflib import get_close_matches
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from checker.core.errors import ConfigError
from checker.core.redact import Redaction

TYPE_ERROR = "Type error"
INVALID_VALUE = "Invalid value"


class Problem(Struct, frozen=True):
    """One thing that is wrong."""

    heading: str
    """`Type error`, `Invalid value`, `Unknown properties`."""
    text: str
    hint: str = ""
    """A line of its own after the bullets: `Valid values are: ...`."""
    error: type[ConfigError] = ConfigError
    """What is raised where it is all that is wrong."""


class ValueKind(Protocol):
    """A set of values."""

    @property
    def noun(self) -> str:
        """What it must be: `an integer`."""
        ...

    def problem(self, value: object, place: str) -> Problem | None:
        """What is wrong with a value that stands at `place`."""
        ...


class Boolean(Struct, frozen=True):
    """True or false."""

    noun: str = "a boolean"

    def problem(self, value: object, place: str) -> Problem | None:
        return None if isinstance(value, bool) else wrong_type(self, value, place)


class Integer(Struct, frozen=True):
    """A whole number within bounds, both inclusive."""

    minimum: int | None = None
    maximum: int | None = None
    noun: str = "an integer"

    def problem(self, value: object, place: str) -> Problem | None:
        if not isinstance(value, int) or isinstance(value, bool):
            return wrong_type(self, value, place)
        if self.minimum is not None and value < self.minimum:
            return invalid(f"{place} -> Must be at least {self.minimum}, but got {value}")
        if self.maximum is not None and value > self.maximum:
            return invalid(f"{place} -> Must be at most {self.maximum}, but got {value}")
        return None


class Number(Struct, frozen=True):
    """A finite number, above a bound or from a bound on, up to another or below it."""

    above: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    below: float | None = None
    noun: str = "a number"

    def problem(self, value: object, place: str) -> Problem | None:
        if not isinstance(value, int | float) or isinstance(value, bool):
            return wrong_type(self, value, place)
        if value in (float("inf"), float("-inf")) or value != value:
            return invalid(f"{place} -> Must be a finite number, but got {value}")
        if self.above is not None and value <= self.above:
            return invalid(f"{place} -> Must be greater than {self.above:g}, but got {value}")
        if self.minimum is not None and value < self.minimum:
            return invalid(f"{place} -> Must be at least {self.minimum:g}, but got {value}")
        if self.maximum is not None and value > self.maximum:
            return invalid(f"{place} -> Must be at most {self.maximum:g}, but got {value:g}")
        if self.below is not None and value >= self.below:
            return invalid(f"{place} -> Must be less than {self.below:g}, but got {value}")
        return None


def anything(_: str) -> str | None:
    """No further rule."""
    return None


class Text(Struct, frozen=True):
    """Any string that keeps a rule; without NUL, unless it is a list of characters."""

    rule: Callable[[str], str | None] = anything
    """What is wrong with a text: a sentence that starts with `Must`."""
    noun: str = "a string"
    error: type[ConfigError] = ConfigError
    """What a text that breaks the rule raises."""
    allows_nul: bool = False

    def problem(self, value: object, place: str) -> Problem | None:
        if not isinstance(value, str):
            return wrong_type(self, value, place)
        if "\0" in value and not self.allows_nul:
            return invalid(f"{place} -> Must not contain NUL characters")
        broken = self.rule(value)
        return replace(invalid(f"{place} -> {broken}"), error=self.error) if broken else None


class Secret(Struct, frozen=True):
    """Any string that can be sent. No message shows it."""

    rule: Callable[[object], str | None]
    """What is wrong with a value: a sentence that starts with `must`."""
    noun: str = "a string"

    def problem(self, value: object, place: str) -> Problem | None:
        broken = self.rule(value)
        return invalid(f"{place} -> {broken[:1].upper()}{broken[1:]}") if broken else None


class Choice(Struct, frozen=True):
    """One of some words."""

    values: tuple[str, ...]
    noun: str = "a string"

    def problem(self, value: object, place: str) -> Problem | None:
        if not isinstance(value, str):
            return wrong_type(self, value, place)
        if value in self.values:
            return None
        listed = ", ".join(map(repr, self.values))
        return Problem(
            INVALID_VALUE,
            f"{place} -> {value!r}{did_you_mean(value, self.values)}",
            f"Valid values are: {listed}",
        )


class ListOf(Struct, frozen=True):
    """Different values of one kind."""

    item: ValueKind
    noun: str = "an array"

    def problem(self, value: object, place: str) -> Problem | None:
        if not isinstance(value, list | tuple):
            return wrong_type(self, value, place)
        for index, item in enumerate(value):
            found = self.item.problem(item, f"Item #{index} in the {place} array")
            if found:
                return found
            if item in value[:index]:
                return invalid(f"{place} -> {item!r} is given more than once")
        return None


class MapOf(Struct, frozen=True):
    """A table whose names and values keep a rule together."""

    rule: Callable[[str, object], str | None]
    noun: str = "a table"

    def problem(self, value: object, place: str) -> Problem | None:
        if not isinstance(value, Mapping):
            return wrong_type(self, value, place)
        for name, item in value.items():
            is_text = isinstance(name, str)
            broken = self.rule(name, item) if is_text else f"Must have texts as names, got {name!r}"
            if broken:
                return invalid(f"{place} -> {broken}")
        return None


class Table(Struct, frozen=True):
    """A table that is looked at later."""

    noun: str = "a table"

    def problem(self, value: object, place: str) -> Problem | None:
        return None if isinstance(value, Mapping) else wrong_type(self, value, place)


class Either(Struct, frozen=True):
    """A value of the first kind whose type it has."""

    kinds: tuple[ValueKind, ...]

    @property
    def noun(self) -> str:
        return " or ".join(kind.noun for kind in self.kinds)

    def problem(self, value: object, place: str) -> Problem | None:
        problems = [kind.problem(value, place) for kind in self.kinds]
        if None in problems:
            return None
        for found in problems:
            if found and found.heading != TYPE_ERROR:
                return replace(found, hint=self._widened(found.hint, problems))
        return wrong_type(self, value, place)

    def _widened(self, hint: str, problems: list[Problem | None]) -> str:
        """The words that are valid, and what else is."""
        pairs = zip(self.kinds, problems, strict=True)
        others = [kind.noun for kind, one in pairs if one and one.heading == TYPE_ERROR]
        return " or ".join((hint, *others)) if hint else ""


def wrong_type(kind: ValueKind, value: object, place: str) -> Problem:
    """`'seed' -> Must be an integer, but got string: '1'`. What stands for a table is not shown: tables hold credentials."""
    written = str(value) if isinstance(value, date | time) else repr(value)
    shown = "" if isinstance(kind, MapOf | Table) else f": {Redaction().url(written)}"
    return Problem(TYPE_ERROR, f"{place} -> Must be {kind.noun}, but got {type_name(value)}{shown}")


def invalid(text: str) -> Problem:
    """A value of the right type that means nothing."""
    return Problem(INVALID_VALUE, text)


_TYPE_NAMES = (
    (bool, "boolean"),
    (str, "string"),
    (int, "integer"),
    (float, "float"),
    (list | tuple, "array"),
    (Mapping, "table"),
    (type(None), "null"),
)


def type_name(value: object) -> str:
    """Name of a value's type, as TOML calls it."""
    for python_type, name in _TYPE_NAMES:
        if isinstance(value, python_type):
            return name
    return type(value).__name__


def did_you_mean_or_all(name: str, known: Collection[str]) -> str:
    """`. Did you mean 'seed'?`, or `; there are: 'a', 'b'`."""
    return did_you_mean(name, known) or f"; there are: {', '.join(map(repr, known)) or 'none'}"


def did_you_mean(name: str, known: Any) -> str:
    """`. Did you mean 'seed'?`, or nothing."""
    near = get_close_matches(name, list(known), n=1)
    return f". Did you mean {near[0]!r}?" if near else ""
