"""Strings of formats made to measure, and the lengths that a format has at all."""

import base64
from collections.abc import Callable
from functools import cache

from checker.generation.drawing.formats import CLOCK, DATE, HOST, INTERNATIONAL, PATH, TextDraw
from checker.generation.patterns.regexes import UNBOUNDED
from checker.generation.sources import alphabets
from checker.generation.sources.choices import Source

_LABEL = 63
_LOCAL = 64
_NAME = 253
_ADDRESS = 254
"""Characters of a mailbox that a mail server has to take (RFC 5321, 4.5.3.1.3, without the angle brackets)."""
_TOP_DOMAINS = ("de", "io")
_ROOM = 40
"""Characters beyond the minimum when there is no maximum."""

LENGTHS: dict[str, tuple[int, int]] = {
    "date": (10, 10),
    "full-date": (10, 10),
    "partial-time": (8, UNBOUNDED),
    "time": (8, UNBOUNDED),
    "full-time": (9, UNBOUNDED),
    "date-time": (20, UNBOUNDED),
    "date-fullyear": (4, 4),
    **dict.fromkeys(("date-month", "date-mday", "time-hour", "time-minute", "time-second"), (2, 2)),
    "time-secfrac": (2, UNBOUNDED),
    "time-numoffset": (6, 6),
    "time-offset": (1, 6),
    "duration": (3, UNBOUNDED),
    "uuid": (36, 36),
    "email": (3, _LOCAL + 1 + _NAME),
    "idn-email": (3, _LOCAL + 1 + _NAME),
    "hostname": (1, _NAME),
    "idn-hostname": (1, _NAME),
    "ipv4": (7, 15),
    "ipv6": (2, 45),
    "uri": (2, UNBOUNDED),
    "url": (2, UNBOUNDED),
    "iri": (2, UNBOUNDED),
    "relative-json-pointer": (1, UNBOUNDED),
    "color": (3, UNBOUNDED),
    "_header_name": (1, UNBOUNDED),
    "_basic_auth": (8, UNBOUNDED),
    "_bearer_auth": (8, UNBOUNDED),
}
"""Format -> lengths that its strings can have."""

Sized = Callable[[Source, int], str]
"""A string of exactly that length."""


@cache
def sized_format(name: str, low: int, high: int | None) -> TextDraw | None:
    """Strings of a format within a length; None for formats that are not made to measure."""
    make = _SIZED.get(name)
    if make is None:
        return None
    sized, least, most = make
    step = 4 if name == "byte" else 1
    low = -(-max(low, least) // step) * step
    high = min(most, low + _ROOM if high is None else high) // step * step
    if high < low:
        return None
    if low == high:
        return lambda source: sized(source, low)
    return lambda source: sized(source, source.integer(low // step, high // step) * step)


def _exactly(source: Source, alphabet: alphabets.Alphabet, size: int) -> str:
    return source.string(alphabet, size, size)


def _host(source: Source, size: int) -> str:
    """Labels of at most 63 characters each."""
    if size <= _LABEL:
        return _exactly(source, HOST, size)
    # A single character left over cannot be a dot at the end.
    label = _LABEL if size - _LABEL != 1 else _LABEL - 1
    return f"{_exactly(source, HOST, label)}.{_host(source, size - label - 1)}"


def _domain(source: Source, size: int) -> str:
    """A host below a top-level domain, where there is room: many readers want a dot behind the @, and letters behind that."""
    if size < len("a.de"):
        return _host(source, size)
    top = _TOP_DOMAINS[source.choice(len(_TOP_DOMAINS))]
    return f"{_host(source, size - len(top) - 1)}.{top}"


def _email(source: Source, size: int) -> str:
    local = min(_LOCAL, max(1, size - 5))
    return f"{_exactly(source, HOST, local)}@{_domain(source, size - local - 1)}"


def _idn_host(source: Source, size: int) -> str:
    if size > 12:
        return f"{_exactly(source, INTERNATIONAL, 6)}.{_host(source, size - 7)}"
    return _exactly(source, INTERNATIONAL, size)


def _idn_email(source: Source, size: int) -> str:
    local = min(10, max(1, size - 5))
    return f"{_exactly(source, INTERNATIONAL, local)}@{_domain(source, size - local - 1)}"


def _uri(source: Source, size: int) -> str:
    """From `a:` over `http://a` to `https://host.io/path`."""
    for start in ("https://a.io/", "http://a/", "ftp:/", "a:"):
        if size >= len(start):
            return start + _exactly(source, PATH, size - len(start))
    raise AssertionError("shorter than every URI")


def _reference(source: Source, size: int) -> str:
    return f"/{_exactly(source, PATH, size - 1)}" if size else ""


def _fraction(source: Source, size: int) -> str:
    """A fraction of a second with its dot, and `Z`."""
    return "Z" if size < 3 else f".{_digits(source, size - 2)}Z"


def _digits(source: Source, size: int) -> str:
    shown = min(size, 9)
    return f"{source.integer(0, 10**shown - 1):0{shown}d}".ljust(size, "0")


def _time(source: Source, size: int) -> str:
    clock = CLOCK(source)
    return f"{clock}-00:00" if size == 14 else f"{clock}{_fraction(source, size - 8)}"


def _date_time(source: Source, size: int) -> str:
    return f"{DATE(source)}T{_time(source, size - 11)}"


def _byte(source: Source, size: int) -> str:
    return base64.b64encode(source.binary(size // 4 * 3, size // 4 * 3)).decode("ascii")


def _pointer(source: Source, size: int) -> str:
    return f"/{_exactly(source, alphabets.NAME, size - 1)}" if size else ""


def _relative_pointer(source: Source, size: int) -> str:
    return f"{source.integer(0, 9)}{_pointer(source, size - 1)}"


def _ipv4(source: Source, size: int) -> str:
    """Four numbers that have `size - 3` digits together."""
    digits = [(size - 3 + part) // 4 for part in range(4)]
    lows = {1: 0, 2: 10, 3: 100}
    return ".".join(str(source.integer(lows[n], min(10**n - 1, 255))) for n in digits)


def _duration(source: Source, size: int) -> str:
    return f"P{_digits(source, size - 2)}D"


_SIZED: dict[str, tuple[Sized, int, int]] = {
    "date-time": (_date_time, 20, UNBOUNDED),
    "time": (_time, 9, UNBOUNDED),
    "full-time": (_time, 9, UNBOUNDED),
    "duration": (_duration, 3, 20),
    "email": (_email, 3, _ADDRESS),
    "idn-email": (_idn_email, 3, 200),
    "hostname": (_host, 1, _NAME),
    "idn-hostname": (_idn_host, 1, 200),
    "ipv4": (_ipv4, 7, 15),
    "uri": (_uri, 2, UNBOUNDED),
    "url": (_uri, 2, UNBOUNDED),
    "iri": (_uri, 2, UNBOUNDED),
    "uri-template": (_uri, 2, UNBOUNDED),
    "uri-reference": (_reference, 0, UNBOUNDED),
    "iri-reference": (_reference, 0, UNBOUNDED),
    "byte": (_byte, 0, UNBOUNDED),
    "json-pointer": (_pointer, 0, UNBOUNDED),
    "relative-json-pointer": (_relative_pointer, 1, UNBOUNDED),
    "regex": (lambda source, size: _exactly(source, alphabets.NAME, size), 0, UNBOUNDED),
}
"""Format -> how a string of a length is made, the shortest and the longest."""
