"""String formats of the demo's document, each a predicate."""

import binascii
import re
from collections.abc import Callable

_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIME = re.compile(
    r"([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\.[0-9]+)?([zZ]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
)
_UUID = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_EMAIL = re.compile(rf"{_ATOM}(\.{_ATOM})*@{_LABEL}(\.{_LABEL})*")
_PART = r"([A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"
_HOST = r"(\[[0-9A-Fa-f:.]+\]|([A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)"
_USER = r"([A-Za-z0-9._~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})*@"
# RFC 3986, appendix A, with the host as an address in brackets taken on trust.
_URI = re.compile(
    rf"[A-Za-z][A-Za-z0-9+.-]*:(//({_USER})?{_HOST}(:[0-9]*)?(/{_PART}*)*|/?({_PART}+(/{_PART}*)*)?)"
    rf"(\?({_PART}|[/?])*)?(#({_PART}|[/?])*)?"
)
_OCTET = r"(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = re.compile(rf"{_OCTET}(\.{_OCTET}){{3}}")
_HEXTET = re.compile(r"[0-9A-Fa-f]{1,4}")
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def is_date(text: str) -> bool:
    """RFC 3339 full-date of a day that exists."""
    match = _DATE.fullmatch(text)
    if match is None:
        return False
    year, month, day = int(match[1]), int(match[2]), int(match[3])
    if not year or not 1 <= month <= 12:
        return False
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    last = 29 if month == 2 and is_leap else _DAYS[month - 1]
    return 1 <= day <= last


def is_date_time(text: str) -> bool:
    """RFC 3339 date-time; a second 60 is allowed."""
    return is_date(text[:10]) and text[10:11] in ("T", "t") and bool(_TIME.fullmatch(text[11:]))


def is_email(text: str) -> bool:
    """An address whose local part is a dot-atom (RFC 5321, 4.1.2)."""
    local, _, domain = text.rpartition("@")
    return len(local) <= 64 and len(domain) <= 253 and _EMAIL.fullmatch(text) is not None


def is_uri(text: str) -> bool:
    """An absolute URI (RFC 3986)."""
    return _URI.fullmatch(text) is not None


def is_ipv6(text: str) -> bool:
    """RFC 4291, 2.2: eight groups, `::` once, an IPv4 address at the end allowed."""
    head, double, tail = text.partition("::")
    if "::" in tail or (double and tail.startswith(":")):
        return False
    groups = (head.split(":") if head else []) + (tail.split(":") if tail else [])
    width = len(groups)
    ends_in_groups = bool(tail) or not double
    if groups and ends_in_groups and _IPV4.fullmatch(groups[-1]):
        groups.pop()
        width += 1
    if not all(map(_HEXTET.fullmatch, groups)):
        return False
    return width <= 7 if double else width == 8


def is_base64(text: str) -> bool:
    """Base64 with padding (RFC 4648, 4)."""
    try:
        # Strict mode alone takes surplus padding bits for granted; the length is our own check.
        binascii.a2b_base64(text.encode("ascii"), strict_mode=True)
    except ValueError:
        return False
    return len(text) % 4 == 0


def _matches(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.fullmatch(text) is not None


FORMATS: dict[str, Callable[[str], bool]] = {
    "date": is_date,
    "date-time": is_date_time,
    "uuid": _matches(_UUID),
    "email": is_email,
    "uri": is_uri,
    "ipv4": _matches(_IPV4),
    "ipv6": is_ipv6,
    "byte": is_base64,
}
"""Formats of strings by name; `binary` says nothing about a value."""

INTEGER_BOUNDS: dict[str, tuple[int, int]] = {
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
}
"""Smallest and largest value of the integer formats."""
