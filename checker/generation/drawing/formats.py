"""Strings of the formats that JSON Schema and OpenAPI name, each a function of a source."""

import base64
from collections.abc import Callable
from datetime import date
from functools import cache, lru_cache
from ipaddress import IPv6Address

from checker.generation.patterns.regexes import UNBOUNDED
from checker.generation.sources import alphabets
from checker.generation.sources.basic import (
    binaries,
    constant,
    either,
    finished,
    integers,
    joined,
    listed,
    one_of,
    texts,
)
from checker.generation.sources.chance import DAYS, EPOCH
from checker.generation.sources.choices import Source

TextDraw = Callable[[Source], str]

_FIRST = EPOCH.toordinal()
_TWO = tuple(f"{number:02d}" for number in range(60))
"""Formatting a number takes longer than looking it up."""
_VARIANT = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}
_OFFSETS = ("Z", "Z", "Z", "+00:00", "+14:00", "-12:00", "+05:30", ".123Z", ".999999Z")
_SCHEMES = ("https://", "http://", "ftp://")
_TOP_DOMAINS = ("com", "org", "net", "io", "de", "museum")
HOST = alphabets.Alphabet(((0x30, 0x39), (0x61, 0x7A)))
"""Characters of a label of a host name."""
PATH = alphabets.Alphabet(((0x2D, 0x2E), (0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A), (0x7E, 0x7E)))
"""Unreserved characters of a URI."""
INTERNATIONAL = alphabets.Alphabet(((0x61, 0x7A), (0xE0, 0xF6), (0xF8, 0xFF), (0x430, 0x44F), (0x4E00, 0x4E3F)))
"""Letters that international names are made of."""
_TOKEN = alphabets.Alphabet(((0x2D, 0x2D), (0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)))
_ESCAPED = str.maketrans({"~": "~0", "/": "~1"})
_PATTERNS = ("[a-z]+", "^\\d{2,4}$", "(a|b)*", "x?y", "^[^@]+@[^@]+$", "\\w+\\s\\w+", ".{3}", "\\.")
_EXPRESSIONS = ("", "/{id}", "/{?page,size}", "{/path*}", "{#fragment}", "/{+name:3}")


# Most are near the first one: remembered, they take an eighth of the time.
@lru_cache(maxsize=1024)
def _day(days: int) -> str:
    return date.fromordinal(_FIRST + days).isoformat()


@lru_cache(maxsize=1024)
def _time_of_day(seconds: int) -> str:
    minutes, seconds = divmod(seconds, 60)
    return f"{_TWO[minutes // 60]}:{_TWO[minutes % 60]}:{_TWO[seconds]}"


DATE = finished(integers(*DAYS), _day)
CLOCK = finished(integers(0, 86_399), _time_of_day)
_TIME = joined(CLOCK, listed(_OFFSETS))
_PARTIAL_TIME = joined(CLOCK, listed(("", "", ".5", ".123456")))
_DATE_TIME = joined(DATE, constant("T"), _TIME)


def _two_digits(low: int, high: int) -> TextDraw:
    return finished(integers(low, high), "{:02d}".format)


def _numeric_offset(source: Source) -> str:
    minutes = source.integer(-12 * 60, 14 * 60)
    sign, minutes = ("-", -minutes) if minutes < 0 else ("+", minutes)
    return f"{sign}{minutes // 60:02d}:{minutes % 60:02d}"


def _offset(source: Source) -> str:
    return "Z" if source.boolean() else _numeric_offset(source)


def _uuid(content: bytes) -> str:
    digits = content.hex()
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{_VARIANT[digits[16]]}{digits[17:20]}-{digits[20:]}"


_NONE, _DOT, _AT, _SLASH = map(constant, ("", ".", "@", "/"))
_LABEL = texts(HOST, 1, 20)
_HOSTNAME = joined(_LABEL, _DOT, listed(_TOP_DOMAINS), either(0.2, joined(_LABEL, _DOT), _NONE), places=(3, 0, 1, 2))
_IDN_HOSTNAME = joined(texts(INTERNATIONAL, 1, 12), _DOT, _HOSTNAME)
_EMAIL = joined(_LABEL, either(0.15, joined(listed("+."), texts(HOST, 1, 10)), _NONE), _AT, _HOSTNAME)
_IDN_EMAIL = either(0.5, _EMAIL, joined(texts(INTERNATIONAL, 1, 12), _AT, _IDN_HOSTNAME))


def _ipv4(number: int) -> str:
    return f"{number >> 24}.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def _ipv6(number: int) -> str:
    return str(IPv6Address(number))


_SEGMENT = joined(_SLASH, texts(PATH, 0, 12))
_TAIL = joined(
    one_of((_NONE, _SEGMENT, joined(_SEGMENT, _SEGMENT))),
    either(0.2, joined(constant("?"), texts(alphabets.LETTERS, 1, 8), constant("="), texts(PATH, 0, 8)), _NONE),
)
_URI = joined(listed(_SCHEMES), _HOSTNAME, _TAIL)
_URI_REFERENCE = either(0.5, _URI, joined(_SLASH, texts(PATH, 1, 12), _TAIL))
_IRI = either(0.5, _URI, joined(constant(_SCHEMES[0]), _IDN_HOSTNAME, _SLASH, texts(INTERNATIONAL, 0, 8)))
_IRI_REFERENCE = either(0.5, _IRI, joined(_SLASH, texts(INTERNATIONAL, 1, 12)))
_URI_TEMPLATE = joined(_URI, listed(_EXPRESSIONS))


def _byte(source: Source) -> str:
    return base64.b64encode(source.binary(0, 48)).decode("ascii")


def _duration(source: Source) -> str:
    amount, unit = source.integer(0, 1000), source.choice(7)
    return (
        f"P{amount}D", f"PT{amount}H", f"PT{amount}M", f"PT{amount}S", f"P{amount}W", f"P{amount}Y2M10DT2H30M",
        f"P1DT{amount}M",
    )[unit]  # fmt: skip


def _json_pointer(source: Source) -> str:
    count = source.choice(4)
    parts = (source.string(alphabets.VISIBLE, 0, 8).translate(_ESCAPED) for _ in range(count))
    return "".join(f"/{part}" for part in parts)


def _relative_json_pointer(source: Source) -> str:
    number = source.integer(0, 20)
    return f"{number}#" if source.boolean(0.1) else f"{number}{_json_pointer(source)}"


def _regex(source: Source) -> str:
    if source.boolean(0.3):
        return _PATTERNS[source.choice(len(_PATTERNS))]
    return ("", "^", "^$", "$")[source.choice(4)] + source.string(alphabets.NAME, 0, 12)


def _basic_auth(source: Source) -> str:
    pair = f"{source.string(alphabets.NAME, 1, 16)}:{source.string(alphabets.VISIBLE, 0, 16)}"
    return "Basic " + base64.b64encode(pair.encode()).decode()


FORMATS: dict[str, TextDraw] = {
    "date": DATE,
    "full-date": DATE,
    "time": _TIME,
    "full-time": _TIME,
    "partial-time": _PARTIAL_TIME,
    "date-time": _DATE_TIME,
    "date-fullyear": finished(integers(0, 9999), "{:04d}".format),
    "date-month": _two_digits(1, 12),
    "date-mday": _two_digits(1, 31),
    "time-hour": _two_digits(0, 23),
    "time-minute": _two_digits(0, 59),
    "time-second": _two_digits(0, 59),
    "time-secfrac": finished(integers(0, 999_999), ".{}".format),
    "time-numoffset": _numeric_offset,
    "time-offset": _offset,
    "duration": _duration,
    "uuid": finished(binaries(16), _uuid),
    "email": _EMAIL,
    "idn-email": _IDN_EMAIL,
    "hostname": _HOSTNAME,
    "idn-hostname": _IDN_HOSTNAME,
    "ipv4": finished(integers(0, 0xFFFFFFFF), _ipv4),
    "ipv6": finished(integers(0, (1 << 128) - 1), _ipv6),
    "uri": _URI,
    "url": _URI,
    "iri": _IRI,
    "uri-reference": _URI_REFERENCE,
    "iri-reference": _IRI_REFERENCE,
    "uri-template": _URI_TEMPLATE,
    "byte": _byte,
    "json-pointer": _json_pointer,
    "relative-json-pointer": _relative_json_pointer,
    "regex": _regex,
    "color": joined(constant("#"), texts(alphabets.HEX, 6, 6)),
    "_header_name": texts(_TOKEN, 1, 24),
    "_header_value": texts(alphabets.VISIBLE, 0, 40),
    "_basic_auth": _basic_auth,
    "_bearer_auth": joined(constant("Bearer "), texts(PATH, 1, 40)),
}
"""Format -> strings of it."""


_LONGEST_LABEL = 63
_LOCAL = 64
_NAME = 253
_ADDRESS = 254
"""Characters of a mailbox that a mail server has to take (RFC 5321, 4.5.3.1.3, without the angle brackets)."""
_SIZED_TOP_DOMAINS = ("de", "io")
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
    if size <= _LONGEST_LABEL:
        return _exactly(source, HOST, size)
    # A single character left over cannot be a dot at the end.
    label = _LONGEST_LABEL if size - _LONGEST_LABEL != 1 else _LONGEST_LABEL - 1
    return f"{_exactly(source, HOST, label)}.{_host(source, size - label - 1)}"


def _domain(source: Source, size: int) -> str:
    """A host below a top-level domain, where there is room: many readers want a dot behind the @, and letters behind that."""
    if size < len("a.de"):
        return _host(source, size)
    top = _SIZED_TOP_DOMAINS[source.choice(len(_SIZED_TOP_DOMAINS))]
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


def _sized_byte(source: Source, size: int) -> str:
    return base64.b64encode(source.binary(size // 4 * 3, size // 4 * 3)).decode("ascii")


def _pointer(source: Source, size: int) -> str:
    return f"/{_exactly(source, alphabets.NAME, size - 1)}" if size else ""


def _relative_pointer(source: Source, size: int) -> str:
    return f"{source.integer(0, 9)}{_pointer(source, size - 1)}"


def _sized_ipv4(source: Source, size: int) -> str:
    """Four numbers that have `size - 3` digits together."""
    digits = [(size - 3 + part) // 4 for part in range(4)]
    lows = {1: 0, 2: 10, 3: 100}
    return ".".join(str(source.integer(lows[n], min(10**n - 1, 255))) for n in digits)


def _sized_duration(source: Source, size: int) -> str:
    return f"P{_digits(source, size - 2)}D"


_SIZED: dict[str, tuple[Sized, int, int]] = {
    "date-time": (_date_time, 20, UNBOUNDED),
    "time": (_time, 9, UNBOUNDED),
    "full-time": (_time, 9, UNBOUNDED),
    "duration": (_sized_duration, 3, 20),
    "email": (_email, 3, _ADDRESS),
    "idn-email": (_idn_email, 3, 200),
    "hostname": (_host, 1, _NAME),
    "idn-hostname": (_idn_host, 1, 200),
    "ipv4": (_sized_ipv4, 7, 15),
    "uri": (_uri, 2, UNBOUNDED),
    "url": (_uri, 2, UNBOUNDED),
    "iri": (_uri, 2, UNBOUNDED),
    "uri-template": (_uri, 2, UNBOUNDED),
    "uri-reference": (_reference, 0, UNBOUNDED),
    "iri-reference": (_reference, 0, UNBOUNDED),
    "byte": (_sized_byte, 0, UNBOUNDED),
    "json-pointer": (_pointer, 0, UNBOUNDED),
    "relative-json-pointer": (_relative_pointer, 1, UNBOUNDED),
    "regex": (lambda source, size: _exactly(source, alphabets.NAME, size), 0, UNBOUNDED),
}
"""Format -> how a string of a length is made, the shortest and the longest."""
