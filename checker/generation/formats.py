"""Strings of the formats that JSON Schema and OpenAPI name, each a function of a source."""

import base64
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from ipaddress import IPv6Address

from checker.generation import alphabets
from checker.generation.plans import DAYS, EPOCH
from checker.generation.sources import Source

TextDraw = Callable[[Source], str]

_OFFSETS = ("Z", "Z", "Z", "+00:00", "+14:00", "-12:00", "+05:30", ".123Z", ".999999Z")
_SCHEMES = ("https://", "http://", "ftp://")
_TOP_DOMAINS = ("com", "org", "net", "io", "de", "museum")
_HOST = alphabets.Alphabet(((0x30, 0x39), (0x61, 0x7A)))
_PATH = alphabets.Alphabet(
    ((0x2D, 0x2E), (0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A), (0x7E, 0x7E))
)
_ESCAPED = str.maketrans({"~": "~0", "/": "~1"})


def _date(source: Source) -> str:
    return (EPOCH + timedelta(source.integer(*DAYS))).isoformat()


def _clock(source: Source) -> str:
    seconds = source.integer(0, 86_399)
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def _time(source: Source) -> str:
    return _clock(source) + _OFFSETS[source.choice(len(_OFFSETS))]


def _date_time(source: Source) -> str:
    return f"{_date(source)}T{_time(source)}"


def _uuid(source: Source) -> str:
    digits = source.binary(16, 16).hex()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def _label(source: Source) -> str:
    return source.string(_HOST, 1, 20)


def _hostname(source: Source) -> str:
    name = f"{_label(source)}.{_TOP_DOMAINS[source.choice(len(_TOP_DOMAINS))]}"
    return f"{_label(source)}.{name}" if source.boolean(0.2) else name


def _email(source: Source) -> str:
    local = source.string(_HOST, 1, 20)
    if source.boolean(0.15):
        local += "+."[source.choice(2)] + source.string(_HOST, 1, 10)
    return f"{local}@{_hostname(source)}"


def _ipv4(source: Source) -> str:
    number = source.integer(0, 0xFFFFFFFF)
    return f"{number >> 24}.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def _ipv6(source: Source) -> str:
    return str(IPv6Address(source.integer(0, (1 << 128) - 1)))


def _tail(source: Source) -> str:
    path = "".join(f"/{source.string(_PATH, 0, 12)}" for _ in range(source.choice(3)))
    if source.boolean(0.2):
        path += f"?{source.string(alphabets.LETTERS, 1, 8)}={source.string(_PATH, 0, 8)}"
    return path


def _uri(source: Source) -> str:
    return _SCHEMES[source.choice(len(_SCHEMES))] + _hostname(source) + _tail(source)


def _uri_reference(source: Source) -> str:
    return _uri(source) if source.boolean(0.5) else f"/{source.string(_PATH, 1, 12)}{_tail(source)}"


def _byte(source: Source) -> str:
    return base64.b64encode(source.binary(0, 48)).decode("ascii")


def _duration(source: Source) -> str:
    amount, unit = source.integer(0, 1000), source.choice(5)
    return (f"P{amount}D", f"PT{amount}H", f"PT{amount}M", f"PT{amount}S", f"P{amount}W")[unit]


def _json_pointer(source: Source) -> str:
    count = source.choice(4)
    parts = (source.string(alphabets.VISIBLE, 0, 8).translate(_ESCAPED) for _ in range(count))
    return "".join(f"/{part}" for part in parts)


def _relative_json_pointer(source: Source) -> str:
    return f"{source.integer(0, 20)}{_json_pointer(source)}"


def _regex(source: Source) -> str:
    return ("", "^", "^$", "$")[source.choice(4)] + source.string(alphabets.NAME, 0, 12)


def _color(source: Source) -> str:
    return "#" + source.string(alphabets.HEX, 6, 6)


FORMATS: dict[str, TextDraw] = {
    "date": _date,
    "full-date": _date,
    "time": _time,
    "full-time": _time,
    "date-time": _date_time,
    "duration": _duration,
    "uuid": _uuid,
    "email": _email,
    "idn-email": _email,
    "hostname": _hostname,
    "idn-hostname": _hostname,
    "ipv4": _ipv4,
    "ipv6": _ipv6,
    "uri": _uri,
    "url": _uri,
    "iri": _uri,
    "uri-reference": _uri_reference,
    "iri-reference": _uri_reference,
    "uri-template": _uri,
    "byte": _byte,
    "json-pointer": _json_pointer,
    "relative-json-pointer": _relative_json_pointer,
    "regex": _regex,
    "color": _color,
}
"""Format -> strings of it."""

LENGTHS: dict[str, tuple[int, int]] = {
    "date": (10, 10),
    "full-date": (10, 10),
    "uuid": (36, 36),
    "ipv4": (7, 15),
    "ipv6": (2, 45),
    "date-time": (20, 40),
}
"""Format -> lengths that its strings can have."""


@cache
def sized_format(name: str, low: int, high: int | None) -> TextDraw | None:
    """Strings of a format that can be made to measure; None for the others."""
    if high is not None and high < low:
        return None
    if name == "byte":
        least, most = -(-low // 4) * 3, 48 if high is None else high // 4 * 3
        if least > most and high is not None:
            return None
        most = max(least, most)
        return lambda source: base64.b64encode(source.binary(max(0, least - 2), most)).decode()
    suffix = {"email": "@a.io", "idn-email": "@a.io", "hostname": ".io"}.get(name)
    prefix = {
        "uri": "http://a.io/",
        "url": "http://a.io/",
        "iri": "http://a.io/",
        "uri-reference": "/",
    }.get(name)
    fixed = suffix or prefix
    if fixed is None:
        return None
    least = max(1, low - len(fixed))
    most = least + 40 if high is None else high - len(fixed)
    if most < least:
        return None
    most = min(most, 60) if suffix else most
    if suffix:
        return lambda source: source.string(_HOST, min(least, most), most) + suffix
    return lambda source: fixed + source.string(_PATH, least, most)
