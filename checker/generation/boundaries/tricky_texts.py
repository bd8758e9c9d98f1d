"""Valid texts that services stumble over though nothing bounds them: other scripts, great lengths, the ends of formats."""

from collections.abc import Iterator
from typing import Final

from checker.generation.normalization.forms import Canonical

_OTHER_SCRIPTS: Final = "\u00e9e\u0301\u4e2d\u05d0\U0001f600"
"""Latin with an accent in one character and in two, Chinese, Hebrew, and what takes two units of UTF-16."""
_WIDE: Final = "\u4e2d"
"""Three bytes of UTF-8, one character: texts of these are longer in bytes than they may be in characters."""
_LONG: Final = 1_000
"""Characters of a text that nothing limits: more than columns for short texts have."""
_SIGNS: Final = "'\"([{*+?%_\\<&;$"
"""Signs of other languages: quotes and wildcards of SQL and of full text searches, halves of regular expressions, of markup."""
FILE_NAME: Final = "\u00e9\u4e2d 'a\";b"
"""Other scripts, blanks, and what separates in headers: browsers send it so (RFC 7578, 4.2)."""
_FORMATS: Final[dict[str, tuple[str, ...]]] = {
    "date": ("0001-01-01", "9999-12-31", "2024-02-29"),
    "date-time": (
        "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "2024-02-29T23:30:00+14:00", "1969-12-31T00:00:00-12:00",
        "2016-12-31T23:59:60Z", "0001-01-01T00:00:00+14:00",
    ),
    "time": ("23:59:59.999999Z", "00:00:00+14:00"),
    "duration": ("P1Y2M10DT2H30M", "PT0S"),
    "uuid": ("FFFFFFFF-FFFF-4FFF-BFFF-FFFFFFFFFFFF",),
    "email": ("first.last+tag@sub.example.museum",),
    "hostname": (f"{'a' * 63}.example.com",),
    "ipv4": ("255.255.255.255",),
    "ipv6": ("::ffff:192.0.2.1", "FE80::ABCD:1"),
    "uri": ("https://example.com:8443/a%20b/?c=d&e=%C3%A9#f",),
    "url": ("https://example.com:8443/a%20b/?c=d&e=%C3%A9#f",),
    "byte": ("AA==", "+/8=", "AAAA"),
}  # fmt: skip
"""Format -> texts of it that differ in what matters: ends of ranges, capitals, padding, characters that are escaped elsewhere.

Leap seconds and what is before the year 1 in UTC may be refused (`checks/unwritten_rules.py`)."""


def of_formats(form: Canonical) -> Iterator[str]:
    """Texts of the formats of a schema."""
    for name in form.formats:
        yield from _FORMATS.get(name, ())


def of_signs(form: Canonical) -> str:
    """A text that a schema admits, and others read as more than text; empty where there is no room for it."""
    low, high = form.lengths.low, form.lengths.high
    is_fitting = low <= _LONG and (high is None or high >= len(_SIGNS))
    return _SIGNS.ljust(low, "0") if is_fitting else ""


def of_any(form: Canonical) -> Iterator[tuple[str, str]]:
    """(text, description) of what a schema admits that says nothing of characters."""
    low, high = form.lengths.low, form.lengths.high
    if high is None and low <= _LONG:
        yield _OTHER_SCRIPTS.ljust(low, _WIDE), "String of several scripts"
        yield "0" * _LONG, "Long string"
    elif high is not None and high <= _LONG:
        text = (_OTHER_SCRIPTS + _WIDE * high)[:high]
        yield text, "Maximum length string of several scripts"
