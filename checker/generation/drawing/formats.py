"""Strings of the formats of JSON Schema and OpenAPI. Each format is a function of a source."""

import base64
from collections.abc import Callable, Mapping
from datetime import date
from functools import lru_cache
from ipaddress import IPv6Address
from typing import Final

from msgspec import Struct

from checker.generation.regexes import UNBOUNDED
from checker.generation.sources import alphabets
from checker.generation.sources.basic import constant, either, finished, integers, joined, listed, one_of, texts
from checker.generation.sources.choices import DAYS, EPOCH, Source

TextDraw = Callable[[Source], str]

_FIRST = EPOCH.toordinal()
_TWO = tuple(f"{number:02d}" for number in range(60))  # Formatting a number takes longer than looking it up.
_VARIANT = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}
_OFFSETS = ("Z", "Z", "Z", "+00:00", "+14:00", "-12:00", "+05:30", ".123Z", ".999999Z")
_SCHEMES = ("https://", "http://", "ftp://")
_TOP_DOMAINS = ("com", "org", "net", "io", "de", "museum")
HOST = alphabets.Alphabet(((0x30, 0x39), (0x61, 0x7A)))  # Characters of a label of a host name.
PATH = alphabets.Alphabet(((0x2D, 0x2E), (0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A), (0x7E, 0x7E)))
"""Unreserved characters of a URI."""
INTERNATIONAL = alphabets.Alphabet(((0x61, 0x7A), (0xE0, 0xF6), (0xF8, 0xFF), (0x430, 0x44F), (0x4E00, 0x4E3F)))
"""Letters of international names."""
_TOKEN = alphabets.Alphabet(((0x2D, 0x2D), (0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)))
_DIGITS = alphabets.Alphabet(((0x30, 0x39),))
_ESCAPED = str.maketrans({"~": "~0", "/": "~1"})
_PATTERNS = ("[a-z]+", "^\\d{2,4}$", "(a|b)*", "x?y", "^[^@]+@[^@]+$", "\\w+\\s\\w+", ".{3}", "\\.")
_EXPRESSIONS = ("", "/{id}", "/{?page,size}", "{/path*}", "{#fragment}", "/{+name:3}")


# Most dates are near the first one. With this cache they take an eighth of the time.
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


def _two_digits(low: int, high: int) -> "TextFormat":
    return TextFormat(finished(integers(low, high), "{:02d}".format), 2, 2)


def _numeric_offset(source: Source) -> str:
    minutes = source.integer(-12 * 60, 14 * 60)
    sign, minutes = ("-", -minutes) if minutes < 0 else ("+", minutes)
    return f"{sign}{minutes // 60:02d}:{minutes % 60:02d}"


def _uuid(content: bytes) -> str:
    digits = content.hex()
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{_VARIANT[digits[16]]}{digits[17:20]}-{digits[20:]}"


_NONE, _DOT, _AT, _SLASH = map(constant, ("", ".", "@", "/"))
_LABEL = texts(HOST, 1, 20)
_HOSTNAME = joined(_LABEL, _DOT, listed(_TOP_DOMAINS), either(0.2, joined(_LABEL, _DOT), _NONE), places=(3, 0, 1, 2))
_IDN_HOSTNAME = joined(texts(INTERNATIONAL, 1, 12), _DOT, _HOSTNAME)
_EMAIL = joined(_LABEL, either(0.15, joined(listed("+."), texts(HOST, 1, 10)), _NONE), _AT, _HOSTNAME)
_IDN_EMAIL = either(0.5, _EMAIL, joined(texts(INTERNATIONAL, 1, 12), _AT, _IDN_HOSTNAME))


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


class TextFormat(Struct, frozen=True):
    """A format of strings."""

    draw: TextDraw
    low: int = 0
    high: int = UNBOUNDED  # Lengths that its strings can have.
    is_certain: bool = False
    """True if drawn strings need no validation. It would take as long as drawing."""
    is_international: bool = False  # True when drawn strings have characters beyond ASCII.
    of_size: "SizedDraw | None" = None
    """Draws strings of a length that random draws do not find. The strings may be invalid if the format has no string of that length."""


SizedDraw = Callable[[Source, int], str]


def _host(source: Source, size: int) -> str:
    # A label has at most 63 characters (RFC 1035, 2.3.4), and at least one.
    drawn = enumerate(source.string(HOST, size, size))
    text = "".join(["." if at % 64 == 63 else one for at, one in drawn])
    return f"{text[:-2]}.0" if text.endswith(".") else text


def _mailbox(source: Source, size: int) -> str:
    # At most 64 characters stand before the @ (RFC 5321, 4.5.3.1.1).
    local = min(64, max(1, size - 5))
    return f"{source.string(HOST, local, local)}@{_host(source, size - local - 4)}.io"


def _filled(before: str, after: str = "", filling: alphabets.Alphabet = HOST) -> SizedDraw:
    def draw(source: Source, size: int) -> str:
        count = max(0, size - len(before) - len(after))
        return before + source.string(filling, count, count) + after

    return draw


def _base64(source: Source, size: int) -> str:
    # Whole groups only: many decoders refuse other lengths, because padding is missing.
    count = size - size % 4
    return source.string(HOST, count, count)


_LONGEST_NAME: Final = 253
_LONGEST_MAILBOX: Final = 254
"""Characters of a mailbox that mail servers have to accept (RFC 5321, 4.5.3.1.3, without the angle brackets)."""
FORMATS: Final[Mapping[str, TextFormat]] = {
    **dict.fromkeys(("date", "full-date"), TextFormat(DATE, 10, 10, is_certain=True)),
    **dict.fromkeys(
        ("time", "full-time"), TextFormat(_TIME, 9, is_certain=True, of_size=_filled("00:00:00.", "Z", _DIGITS))
    ),
    "partial-time": TextFormat(_PARTIAL_TIME, 8, of_size=_filled("00:00:00.", "", _DIGITS)),
    "date-time": TextFormat(_DATE_TIME, 20, is_certain=True, of_size=_filled("2000-01-01T00:00:00.", "Z", _DIGITS)),
    "date-fullyear": TextFormat(finished(integers(0, 9999), "{:04d}".format), 4, 4),
    "date-month": _two_digits(1, 12),
    "date-mday": _two_digits(1, 31),
    "time-hour": _two_digits(0, 23),
    "time-minute": _two_digits(0, 59),
    "time-second": _two_digits(0, 59),
    "time-secfrac": TextFormat(finished(integers(0, 999_999), ".{}".format), 2),
    "time-numoffset": TextFormat(_numeric_offset, 6, 6),
    "time-offset": TextFormat(either(0.5, constant("Z"), _numeric_offset), 1, 6),
    "duration": TextFormat(_duration, 3, of_size=_filled("P", "D", _DIGITS)),
    "uuid": TextFormat(lambda source: _uuid(source.binary(16, 16)), 36, 36, is_certain=True),
    "email": TextFormat(_EMAIL, 3, _LONGEST_MAILBOX, is_certain=True, of_size=_mailbox),
    "idn-email": TextFormat(_IDN_EMAIL, 3, _LONGEST_MAILBOX, is_international=True, of_size=_mailbox),
    "hostname": TextFormat(_HOSTNAME, 1, _LONGEST_NAME, is_certain=True, of_size=_host),
    "idn-hostname": TextFormat(_IDN_HOSTNAME, 1, _LONGEST_NAME, is_international=True, of_size=_host),
    "ipv4": TextFormat(
        finished(integers(0, 0xFFFFFFFF), lambda one: f"{one >> 24}.{one >> 16 & 255}.{one >> 8 & 255}.{one & 255}"),
        7,
        15,
        is_certain=True,
    ),
    "ipv6": TextFormat(
        finished(integers(0, (1 << 128) - 1), lambda number: str(IPv6Address(number))), 2, 45, is_certain=True
    ),
    **dict.fromkeys(("uri", "url"), TextFormat(_URI, 2, is_certain=True, of_size=_filled("ftp://a/"))),
    "iri": TextFormat(_IRI, 2, is_international=True, of_size=_filled("ftp://a/")),
    "uri-reference": TextFormat(_URI_REFERENCE, of_size=_filled("/")),
    "iri-reference": TextFormat(_IRI_REFERENCE, is_international=True, of_size=_filled("/")),
    "uri-template": TextFormat(_URI_TEMPLATE, of_size=_filled("ftp://a/")),
    "byte": TextFormat(lambda source: base64.b64encode(source.binary(0, 48)).decode("ascii"), of_size=_base64),
    "json-pointer": TextFormat(_json_pointer, of_size=_filled("/")),
    "relative-json-pointer": TextFormat(_relative_json_pointer, 1, of_size=_filled("0/")),
    "regex": TextFormat(_regex, of_size=_filled("")),
    "color": TextFormat(joined(constant("#"), texts(alphabets.HEX, 6, 6)), 3),
    "_header_name": TextFormat(texts(_TOKEN, 1, 24), 1),
    "_header_value": TextFormat(texts(alphabets.VISIBLE, 0, 40)),
    "_basic_auth": TextFormat(_basic_auth, 8),
    "_bearer_auth": TextFormat(joined(constant("Bearer "), texts(PATH, 1, 40)), 8),
}
"""Format -> how its strings are drawn. The predicates are in `checker.validation.formats`."""
