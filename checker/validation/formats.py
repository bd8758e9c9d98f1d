"""Formats that both validators assert. The formats are lenient if RFCs and common practice differ. Unknown names assert nothing."""

import re
import warnings
from calendar import isleap
from collections.abc import Callable, Mapping
from functools import cache
from ipaddress import AddressValueError, IPv6Address
from typing import Final

from checker.core.system import later_pattern

_PERCENT = "%[0-9A-Fa-f]{2}"
_PLAIN = "A-Za-z0-9._~!$&'()*+,;=\\-"
_ABOVE_ASCII = "\xa0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef\U00010000-\U0001fffd\U00020000-\U0002fffd\U00030000-\U000efffd"
_FURTHER: Final = "/?"
# RFC 3986 has no brackets in a query, but `a[]=1` is common.
_BRACKETS: Final = "\\[\\]"


def is_uri(value: str) -> bool:
    """Whether a text is an RFC 3986 `URI`, with a scheme."""
    return _fits("", value, has_scheme=True)


def is_iri(value: str) -> bool:
    """Whether a text is an RFC 3987 `IRI`, with a scheme."""
    return _fits(_ABOVE_ASCII, value, has_scheme=True)


def is_uri_reference(value: str) -> bool:
    """Whether a text is an RFC 3986 `URI-reference`, with or without a scheme."""
    return is_uri(value) or _fits("", value, has_scheme=False)


def is_iri_reference(value: str) -> bool:
    """RFC 3987 `IRI-reference`."""
    return is_iri(value) or _fits(_ABOVE_ASCII, value, has_scheme=False)


@cache
def _grammar(above: str, *, has_scheme: bool) -> re.Pattern[str]:
    """Return the pattern of a whole text. The group `literal` is a host in brackets.

    Compiled on first use, because these four would take longer than everything else at the start of a worker.
    """
    char = f"(?:[{_PLAIN}:@{above}]|{_PERCENT})"
    first = char if has_scheme else f"(?:[{_PLAIN}@{above}]|{_PERCENT})"
    name = f"(?:[{_PLAIN}{above}]|{_PERCENT})*"
    host = f"(?:(?:[{_PLAIN}:{above}]|{_PERCENT})*@)?(?:\\[(?P<literal>[^\\]]*)\\]|{name})(?::[0-9]*)?"
    path = f"(?://{host}(?:/{char}*)*|/(?:{char}+(?:/{char}*)*)?|{first}+(?:/{char}*)*|)"
    tail = f"(?:[{_PLAIN}:@{_FURTHER}{_BRACKETS}{above}]|{_PERCENT})*"
    scheme = "[A-Za-z][A-Za-z0-9+.-]*:" if has_scheme else ""
    return re.compile(f"{scheme}{path}(?:\\?{tail})?(?:#{tail})?")


def _fits(above: str, value: str, *, has_scheme: bool) -> bool:
    match = _grammar(above, has_scheme=has_scheme).fullmatch(value)
    host = None if match is None else match["literal"]
    return match is not None and (host is None or _FUTURE.fullmatch(host) is not None or is_ipv6(host))


_FUTURE: Final = later_pattern(f"[vV][0-9A-Fa-f]+\\.[{_PLAIN}:]+")


Predicate = Callable[[str], bool]


def is_of_format(name: object, value: object) -> bool:
    """Whether `value` has the format `name`; True if the format is unknown or does not apply to the type."""
    if not isinstance(name, str):
        return True
    if isinstance(value, str):
        predicate = ASSERTED_FORMATS.get(name)
        return predicate is None or predicate(value)
    bounds = INTEGER_RANGES.get(name)
    if bounds is None or isinstance(value, bool) or not isinstance(value, int | float):
        return True
    return bounds[0] <= value <= bounds[1]


def _matches(pattern: str) -> Predicate:
    compiled = later_pattern(pattern)
    return lambda value: compiled.fullmatch(value) is not None


_DATE = later_pattern(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_MONTH_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def is_date(value: str) -> bool:
    """Whether a text is an RFC 3339 `full-date` that exists in the calendar."""
    match = _DATE.fullmatch(value)
    if match is None:
        return False
    year, month, day = int(match[1]), int(match[2]), int(match[3])
    if not 1 <= month <= 12 or not 1 <= day <= _MONTH_DAYS[month - 1]:
        return False
    return (month, day) != (2, 29) or isleap(year)


_HOUR, _SIXTY = "(?:[01][0-9]|2[0-3])", "[0-5][0-9]"
_OFFSET = rf"[+-]{_HOUR}:{_SIXTY}"
_ZONE = rf"(?:[Zz]|{_OFFSET})"
_CLOCK = rf"{_HOUR}:{_SIXTY}:(?:{_SIXTY}|60)(?:\.[0-9]+)?"
# RFC 3339 `full-time`, leap seconds included.
_FULL_TIME = later_pattern(rf"{_CLOCK}{_ZONE}")
# Its offset may be missing, because many libraries omit it.
_is_time = _matches(rf"{_CLOCK}{_ZONE}?")


def is_date_time(value: str) -> bool:
    """Whether a text is an RFC 3339 `date-time`. Lower-case `t` and `z`, a space for `T` and leap seconds pass; a missing offset does not."""
    is_split = len(value) >= 20 and value[10] in "Tt "
    return is_split and _FULL_TIME.fullmatch(value, 11) is not None and is_date(value[:10])


_NUMBER = r"[0-9]+(?:[.,][0-9]+)?"
# ISO 8601, with designators.
_is_duration = _matches(
    rf"[+-]?P(?!$)(?:{_NUMBER}Y)?(?:{_NUMBER}M)?(?:{_NUMBER}W)?(?:{_NUMBER}D)?"
    rf"(?:T(?=[0-9])(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}S)?)?"
)


_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_HOSTNAME = later_pattern(rf"{_LABEL}(?:\.{_LABEL})*\.?")


def is_hostname(value: str) -> bool:
    """Whether a text is an RFC 1123 host name. Underscores and a trailing dot pass, as in DNS."""
    return len(value) <= 254 and _HOSTNAME.fullmatch(value) is not None


def is_ipv6(value: str) -> bool:
    """RFC 4291 address, without a zone."""
    try:
        IPv6Address(value)
    except AddressValueError:
        return False
    return value.isascii() and "%" not in value


_IDN_LABEL = later_pattern(r"(?!-)[^\x00-,/:-@\[-`{-\xa0\u3002\uff0e\uff61.]{1,63}(?<!-)")
_DOTS = later_pattern("[.\u3002\uff0e\uff61]")


def is_idn_hostname(value: str) -> bool:
    """Dotted labels of letters, digits and hyphens of any script (RFC 5890, without its tables)."""
    return all(map(_IDN_LABEL.fullmatch, _DOTS.split(value))) and len(value) <= 254


_BASE64 = re.compile(r"[A-Za-z0-9+/_-]*={0,2}")


def is_byte(value: str) -> bool:
    """Base64 of either alphabet (RFC 4648), with or without padding and line breaks."""
    compact = "".join(value.split())
    return _BASE64.fullmatch(compact) is not None and len(compact.rstrip("=")) % 4 != 1


_ECMA_ONLY = later_pattern(r"\(\?<[A-Za-z_$]|\\[pPukc]|\[\^?\]")


# Escapes of letters that have no meaning in ECMA-262.
_NO_ESCAPE = later_pattern(r"(?<!\\)(?:\\\\)*\\[aeghijlmoqyzACEFGHIJKLMNOQRTUVXYZ]")


def is_regex(value: str) -> bool:
    """Whether a text is a regular expression. Constructs that only ECMA-262 has are not tested."""
    if _NO_ESCAPE.search(value):
        return False
    if _ECMA_ONLY.search(value):
        return True
    try:
        # Python warns about classes that a later version may read differently.
        with warnings.catch_warnings(action="ignore", category=FutureWarning):
            re.compile(value.replace("[[", "[\\["))
    except (re.error, OverflowError, RecursionError):
        return False
    return True


# Only sending mail to an address proves that it works. This rejects addresses that can never work, such as a domain
# with an empty label.
_is_email = _matches(r"(?:\"[^\"]*\"|[^@ \t\r\n\f\v]+)@[^@\s.]+(?:\.[^@\s.]+)*")
_NAME = f"(?:[A-Za-z0-9_]|{_PERCENT})+(?:\\.(?:[A-Za-z0-9_]|{_PERCENT})+)*"
_VARIABLE = f"{_NAME}(?::[1-9][0-9]{{0,3}}|\\*)?"
# RFC 6570: literals and expressions in braces.
_is_uri_template = _matches(
    f"(?:[^\\x00-\\x20\"'<>\\\\^`{{|}}%]|{_PERCENT}|\\{{[+#./;?&=,!@|]?{_VARIABLE}(?:,{_VARIABLE})*\\}})*"
)

FORMAT_PATTERNS: Final[Mapping[str, str]] = {
    "partial-time": _CLOCK,
    "date-fullyear": "[0-9]{4}",
    "date-month": "0[1-9]|1[0-2]",
    "date-mday": "0[1-9]|[12][0-9]|3[01]",
    "time-hour": _HOUR,
    "time-minute": _SIXTY,
    "time-second": rf"{_SIXTY}|60",
    "time-secfrac": r"\.[0-9]+",
    "time-numoffset": _OFFSET,
    "time-offset": _ZONE,
    "color": r"#[0-9A-Fa-f]{3,8}|[A-Za-z]+|[a-z]{3,5}\([^()]*\)",
    "_header_name": r"[!#$%&'*+.^_`|~0-9A-Za-z-]+",
    "_header_value": r"(?:[!-~](?:[ -~\t]*[!-~])?)?",
    "_basic_auth": r"Basic [A-Za-z0-9+/]+={0,2}",
    "_bearer_auth": r"Bearer [A-Za-z0-9._~+/-]+=*",
    "uuid": r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}",
}
"""Format -> regular expression for the whole text, in the syntax that Python and ECMA-262 share."""

STRING_FORMATS: Final[Mapping[str, Predicate]] = {
    **{name: _matches(pattern) for name, pattern in FORMAT_PATTERNS.items()},
    "date": is_date,
    "full-date": is_date,
    "full-time": _matches(rf"{_CLOCK}{_ZONE}"),
    "time": _is_time,
    "date-time": is_date_time,
    "duration": _is_duration,
    "email": _is_email,
    "idn-email": _is_email,
    "uri": is_uri,
    "iri": is_iri,
    "url": is_iri,
    "uri-reference": is_uri_reference,
    "iri-reference": is_iri_reference,
    "uri-template": _is_uri_template,
    "hostname": is_hostname,
    "idn-hostname": is_idn_hostname,
    "ipv4": _matches(rf"{_OCTET}(?:\.{_OCTET}){{3}}"),
    "ipv6": is_ipv6,
    "byte": is_byte,
    "regex": is_regex,
    "json-pointer": _matches(r"(?:/(?:[^~/]|~[01])*)*"),
    "relative-json-pointer": _matches(r"(?:0|[1-9][0-9]*)(?:[+-][1-9][0-9]*)?(?:#|(?:/(?:[^~/]|~[01])*)*)"),
}
"""Format -> predicate for strings, for all formats that are generated."""

_UNREGISTERED: Final = FORMAT_PATTERNS.keys() - {"uuid"} | {"url", "full-date", "full-time"}
ASSERTED_FORMATS: Final[Mapping[str, Predicate]] = {
    name: predicate for name, predicate in STRING_FORMATS.items() if name not in _UNREGISTERED
}
"""Format -> predicate, for formats that a draft of JSON Schema or the OpenAPI registry defines.

Other names are ambiguous: some authors use `url` for a path. `binary`, `password` and all other names assert nothing.
"""

INTEGER_RANGES: Final[Mapping[str, tuple[int, int]]] = {
    **{f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)},
}
"""Format -> (smallest, largest) integer. `float` and `double` describe storage and no range of numbers."""
