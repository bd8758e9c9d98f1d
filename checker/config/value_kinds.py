"""Kinds of values of the configuration, and the value of `warnings`. Each reports a wrong value in one sentence."""

import codecs
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date, time
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from checker.config.user_code import load_plugins
from checker.core.errors import ConfigError, UnreadableFile, did_you_mean
from checker.core.redact import Redaction
from checker.core.request import BaseUrl, canonical_url
from checker.core.scalars import is_number
from checker.core.schema import WarningKind
from checker.core.shards import MOST_SHARDS, Shard
from checker.core.system import read_local
from checker.core.warning_table import WARNINGS

TYPE_ERROR = "Type error"
INVALID_VALUE = "Invalid value"


class Problem(Struct, frozen=True):
    """One problem of a configuration."""

    heading: str  # `Type error`, `Invalid value`, `Unknown properties`.
    text: str
    hint: str = ""  # A line of its own after the bullets: `Valid values are: ...`.
    error: type[ConfigError] = ConfigError  # The exception if there is no other problem.


class ValueKind(Protocol):
    """A set of values."""

    @property
    def noun(self) -> str:
        """Return the noun for messages: `an integer`."""
        ...

    def problem(self, value: object, place: str) -> Problem | None:
        """Return what is wrong with a value at `place`; None if nothing is."""
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


# More digits are a mistake, and Python refuses to read 4,301 of them.
_SIZE: Final = re.compile(r"([0-9]{1,15})(?:([KMGT])I?)?B?", re.IGNORECASE)


class Bytes(Struct, frozen=True):
    """A number of bytes, at least 1: a whole number, or a string whose suffix is a power of 1024."""

    noun: str = "a number of bytes"

    def problem(self, value: object, place: str) -> Problem | None:
        if isinstance(value, bool) or not isinstance(value, int | str):
            return wrong_type(self, value, place)
        if isinstance(value, str) and not _SIZE.fullmatch(value):
            return invalid(f"{place} -> Must be a number of bytes such as 1073741824, 512M or 2GiB, but got {value!r}")
        return Integer(minimum=1).problem(bytes_in(value), place)


def bytes_in(value: int | str) -> int:
    """Return the number of bytes of a value of the kind `Bytes`: `2G`, `2Gi` and `2GiB` are 2 * 1024**3."""
    if isinstance(value, int):
        return value
    found = _SIZE.fullmatch(value)
    if found is None:
        raise ValueError(f"not a number of bytes: {value!r}")
    return int(found[1]) << (10 * " KMGT".index((found[2] or " ").upper()))


class Number(Struct, frozen=True):
    """A finite number with a lower and an upper bound, each inclusive or exclusive."""

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
    """Return None: no further rule."""
    return None


class Text(Struct, frozen=True):
    """Any string that satisfies a rule; without NUL, unless it is a list of characters."""

    rule: Callable[[str], str | None] = anything
    """Returns what is wrong with a text: a sentence that starts with `Must`."""
    noun: str = "a string"
    error: type[ConfigError] = ConfigError  # The exception for a text that breaks the rule.
    allows_nul: bool = False

    def problem(self, value: object, place: str) -> Problem | None:
        if not isinstance(value, str):
            return wrong_type(self, value, place)
        if "\0" in value and not self.allows_nul:
            return invalid(f"{place} -> Must not contain NUL characters")
        broken = self.rule(value)
        return replace(invalid(f"{place} -> {broken}"), error=self.error) if broken else None


class Secret(Struct, frozen=True):
    """Any string that can be sent. Error messages never contain the value."""

    rule: Callable[[object], str | None]  # Returns what is wrong with a value: a sentence that starts with `must`.
    noun: str = "a string"

    def problem(self, value: object, place: str) -> Problem | None:
        broken = self.rule(value)
        return invalid(f"{place} -> {broken[:1].upper()}{broken[1:]}") if broken else None


class Choice(Struct, frozen=True):
    """One of several words."""

    values: tuple[str, ...]
    noun: str = "a string"

    def problem(self, value: object, place: str) -> Problem | None:
        if not isinstance(value, str):
            return wrong_type(self, value, place)
        if value in self.values:
            return None
        listed = ", ".join(map(repr, self.values))
        return Problem(
            INVALID_VALUE, f"{place} -> {value!r}{did_you_mean(value, self.values)}", f"Valid values are: {listed}"
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
    """A table of names and values that satisfy a rule together."""

    rule: Callable[[str, object], str | None] = lambda name, value: None
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


class Either(Struct, frozen=True):
    """A value of one of several kinds."""

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
                pairs = zip(self.kinds, problems, strict=True)
                others = [kind.noun for kind, one in pairs if one and one.heading == TYPE_ERROR]
                return replace(found, hint=" or ".join((found.hint, *others)) if found.hint else "")
        return wrong_type(self, value, place)


def wrong_type(kind: ValueKind, value: object, place: str) -> Problem:
    """Return a problem such as `'seed' -> Must be an integer, but got string: '1'`.

    Values in place of tables are not shown, because tables hold credentials.
    """
    written = str(value) if isinstance(value, date | time) else repr(value)
    shown = "" if isinstance(kind, MapOf) else f": {Redaction().url(written)}"
    return Problem(TYPE_ERROR, f"{place} -> Must be {kind.noun}, but got {type_name(value)}{shown}")


def invalid(text: str) -> Problem:
    """Return a problem for a value that has the right type but is not allowed."""
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
    """Return the name of a value's type in TOML."""
    for python_type, name in _TYPE_NAMES:
        if isinstance(value, python_type):
            return name
    return type(value).__name__


def did_you_mean_or_all(name: str, known: Collection[str]) -> str:
    """Return `. Did you mean 'seed'?`, or `; there are: 'a', 'b'`."""
    return did_you_mean(name, known) or f"; there are: {', '.join(map(repr, known)) or 'none'}"


_MOST_CERTIFICATES: Final = 16 << 20  # Largest bundle in bytes. The bundle of a browser has a quarter of a MiB.
_HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+\Z")


def written_as(pattern: str, wanted: str) -> Callable[[str], str | None]:
    """Return the rule that a pattern matches the whole text. `wanted` names such texts in its message."""
    whole = re.compile(pattern)
    return lambda text: None if whole.fullmatch(text) else f"Must be {wanted}, but got {text!r}"


attribute = written_as(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*", "'module:attribute'")
user_name = written_as(r"[^:]+", "a user name without a colon")  # RFC 7617, 2.
status_pattern = written_as("[1-5][0-9xX]{2}", "a status from 100 to 599 or a pattern like '2XX' or '20X'")
rate_limit = written_as(
    r"auto|[1-9][0-9]{0,8}/[smhd]",
    "a number of requests per time like '10/s', '100/m', '1000/h' or '5000/d', or 'auto'",
)
cluster = written_as(r"auto|local|ray://[^/\s]+:\d+", "'ray://HOST:PORT', 'auto' or 'local'")
file_mode = written_as("0?[0-7]{3}", "three octal digits like '640'")


def base_url(text: str) -> str | None:
    """Return why a value is neither an absolute http(s) URL nor the address of a unix socket: `unix:/run/app.sock`; None if it is."""
    try:
        origin = BaseUrl.from_url(text)
    except ValueError as error:
        if text.startswith("unix:"):
            return str(error)
        shown = Redaction().url(text)
        return f"Must be an absolute http(s) URL like 'http://127.0.0.1:8080', but got {shown!r}"
    return None if origin.port else f"Must have a port above 0, but got {Redaction().url(text)!r}"


def http_url(text: str) -> str | None:
    """Return why a value is not an absolute http(s) URL of a host; None if it is."""
    if text.startswith("unix:"):
        return f"Must be an absolute http(s) URL like 'http://127.0.0.1:8080', but got {text!r}"
    return base_url(text)


def certificates(text: str) -> str | None:
    """Return why a value is not a file or folder of certificate authorities; None if it is."""
    if not os.path.exists(text):
        return f"Must be an existing file or folder, but got {text!r}"
    try:
        require_certificates(text)
    except UnreadableFile as error:
        return f"Must be a file or folder of certificates: {error}"
    return None


def certificate(text: str) -> str | None:
    """Return why a text is not the path of a client certificate or its key; None if it is. The content of the file is not shown."""
    if os.path.isdir(text) or not os.path.exists(text):
        return f"Must be an existing file, but got {text!r}"
    try:
        read_local(text, "a certificate or a key", most_bytes=_MOST_CERTIFICATES)
    except UnreadableFile as error:
        return f"Must be a file in PEM form: {error}"
    return None


def require_certificates(path: str) -> None:
    """Raise `UnreadableFile` for anything but a folder or a readable regular file."""
    if not os.path.isdir(path):
        read_local(path, "a CA bundle", most_bytes=_MOST_CERTIFICATES)


def codec(text: str) -> str | None:
    """Return why a value is not a text codec that Python knows; None if it is."""
    try:
        found = codecs.lookup(text)
    except (LookupError, ValueError):
        return f"Must be a known codec, but got {text!r}"
    is_text = getattr(found, "_is_text_encoding", True)
    return None if is_text else f"Must be a text codec, but got {text!r}"


def header(name: str, value: object) -> str | None:
    """Return why a value is not a header that HTTP/1.1 can carry (RFC 9110, 5.5); None if it is."""
    if not name:
        return "Header name must not be empty"
    if not _HEADER_NAME.match(name):
        return f"Invalid header name: {name!r}"
    if not isinstance(value, str):
        return f"Header {name!r} must be a string, but got {type_name(value)}"
    try:
        value.encode("latin-1")
    except UnicodeEncodeError:
        return f"Header {name!r} must hold Latin-1 characters only"
    if value != value.strip(" \t") or any(char in value for char in "\r\n\0"):
        return f"Header {name!r} must not start or end with a space, or hold CR, LF or NUL"
    return None


def text_value(name: str, value: object) -> str | None:
    """Return why a value is not an entry of a table of texts; None if it is."""
    return None if isinstance(value, str) else f"{name!r} must be a string, but got {type_name(value)}"


def unexpected_method(text: str) -> str | None:
    """Return why a value is not a method of HTTP (RFC 9110, 5.6.2) that may be tried where it is not declared; None if it is."""
    if not _HEADER_NAME.match(text):
        return f"Must be an HTTP method, but got {text!r}"
    if text.upper() in ("HEAD", "CONNECT"):
        return f"{text!r} cannot be tried: its response does not show whether it is allowed"
    return None


def shard(text: str) -> str | None:
    """Return why a value is not a shard such as `3/8`; None if it is."""
    if Shard.of(text) is not None:
        return None
    return f"Must be the number of a shard and of all shards like '3/8', 1/1 to {MOST_SHARDS}/{MOST_SHARDS}, but got {text!r}"


def retries(name: str, value: object) -> str | None:
    """Return why a value is not an entry of `request-retries` as a table; None if it is."""
    if name != "max-attempts":
        return f"has no {name!r}; the only key is 'max-attempts'"
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        return f"'max-attempts' must be an integer of at least 0, but got {value!r}"
    return None


def retries_of(value: int | Mapping[str, int]) -> int:
    """Return the number of retries of either form of `request-retries`."""
    return value if isinstance(value, int) else value.get("max-attempts", 0)


def site(text: str) -> str | None:
    """Return the reason why a value is not an origin (only scheme, host and port of a URL); None if it is."""
    problem = base_url(text)
    if problem:
        return problem.replace("base URL", "origin")
    parts = urlsplit(canonical_url(text))
    if parts.path.strip("/") or parts.query or parts.fragment:
        shown = Redaction().url(text)
        return f"Must be scheme, host and port alone, like 'http://127.0.0.1:8080', but got {shown!r}; `base-url` takes a path, too"
    return None


_KEYS: Final = ("enabled", "display", "fail-on", "low_valid_rate")
_HEALTH: Final = {"filter_too_much": WarningKind.LEFT_OUT.value, "too_slow": "killed"}
"""Health check of a property-testing library -> the equivalent warning of checker.

Other health checks, about the size of data, have no equivalent, because sizes are limited while data are drawn.
"""
_NEVER_FAILING: Final = frozenset(("timeout_units",))  # Kinds about the command line, which never make a run fail.
LOW_VALID_RATE: Final = 0.2  # `low_valid_rate` warns if a smaller share of valid requests is accepted.


class WarningSettings(Struct, frozen=True):
    """The warnings that are shown, and those that make a run fail."""

    display: tuple[str, ...] | None = None  # Kinds that are shown; None: the usual ones.
    fail_on: tuple[str, ...] | None = ()  # Kinds that make a run fail; None: all that are shown.
    low_valid_rate: float = LOW_VALID_RATE  # Threshold of the warning `low_valid_rate`.
    silenced: tuple[str, ...] = ()  # Kinds that are never shown and never make a run fail (`suppress-health-check`).

    def shows(self, kind: str) -> bool:
        if kind in self.silenced:
            return False
        return WARNINGS[kind].is_usual if self.display is None else kind in self.display

    def fails_on(self, kind: str) -> bool:
        is_named = self.shows(kind) if self.fail_on is None else kind in self.fail_on
        return is_named and kind not in (*_NEVER_FAILING, *self.silenced)

    @classmethod
    def of(cls, value: Any) -> "WarningSettings":
        """Return the settings for a checked value of the key."""
        if isinstance(value, Mapping):
            asked = value.get("fail-on", False)
            fail_on = None if asked is True else () if asked is False else tuple(asked)
            display = _display(value.get("display", True)) if value.get("enabled", True) else ()
            rate = value.get("low_valid_rate", {}).get("threshold", LOW_VALID_RATE)
            return cls(display, fail_on, rate)
        return cls(_display(value))


def silenced_by(health_checks: Iterable[str]) -> tuple[str, ...]:
    """Return the warnings that correspond to these health checks."""
    asked = set(health_checks)
    every = "all" in asked
    return tuple(kind for name, kind in _HEALTH.items() if every or name in asked)


def _display(value: Any) -> tuple[str, ...] | None:
    if value is True:
        return None
    return () if value is False else tuple(value)


def warning_name(name: str) -> str | None:
    """Return what is wrong with the name of a warning; None if nothing is."""
    if name not in WARNINGS:
        load_plugins()
    if name in WARNINGS:
        return None
    return f"Must be the name of a warning, but got {name!r}{did_you_mean_or_all(name, list(WARNINGS))}"


def warning_key(name: str, value: object) -> str | None:
    """Return what is wrong with a key of the table `warnings`; None if nothing is."""
    if name not in _KEYS:
        return f"Must have no keys but {', '.join(map(repr, _KEYS))}, but got {name!r}"
    if name == "low_valid_rate":
        rate = value.get("threshold") if isinstance(value, Mapping) and len(value) == 1 else None
        if is_number(rate) and 0 <= rate <= 1:
            return None
        return f"'low_valid_rate' must be a table with a 'threshold' from 0 to 1, but got {value!r}"
    if name == "enabled" and not isinstance(value, bool):
        return f"{name!r} must be a boolean, but got {value!r}"
    if isinstance(value, bool):
        return None
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        return f"{name!r} must be a boolean or an array of names, but got {value!r}"
    return next((broken for one in value if (broken := warning_name(one))), None)
