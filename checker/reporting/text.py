"""Text that any format can contain, whatever servers and descriptions send: Unicode, XML, JSON, shortened lists."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import orjson

from checker.core.system import later_pattern
from checker.core.terminal import with_escaped_hashes, without_ci_commands

_SURROGATES = later_pattern("[\ud800-\udfff]")
_PLANES = "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 17))
_NOT_PLAIN = later_pattern(
    f"[^\t\n\r -~\xa0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd\U00010000-\U0010ffff]|[\u2028\u2029{_PLANES}]"
)


def unicode_text(text: str) -> str:
    """Return text in which U+FFFD replaces lone surrogates, which no encoding can express."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def xml_text(text: str) -> str:
    r"""Return text of the characters that XML 1.0 and HTML allow and do not discourage (XML, 2.2).

    Other characters are written as `\x1b`. Commands of CI systems are disabled, because reports are printed into logs, and tools that read reports print their
    texts.
    """
    return without_ci_commands(
        _NOT_PLAIN.sub(
            lambda found: f"\\x{ord(found[0]):02x}" if found[0] < "\u0100" else f"\\u{{{ord(found[0]):x}}}", text
        )
    )


_LINE_ENDS = re.compile("[\x85\u2028\u2029]")  # Some readers treat these as line ends, but JSON does not escape them.


def json_text(value: Any, *, indent: bool = False) -> str:
    """Return a value as JSON (RFC 8259) that every reader accepts: lone surrogates become U+FFFD, NaN and infinities null.

    No line is a command of a CI system, whatever the value contains, because it may be printed into a log.
    """
    options = orjson.OPT_INDENT_2 if indent else 0
    try:
        text = orjson.dumps(value, option=options).decode()
    except TypeError:
        # Rare: the value contains text that UTF-8 cannot express, or an integer of more than 64 bits.
        text = orjson.dumps(_plain(value), option=options).decode()
    # `#` and these line ends occur only in strings.
    if not text.isascii():
        text = _LINE_ENDS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return with_escaped_hashes(text, r"\u0023")


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return unicode_text(value)
    if isinstance(value, Mapping):
        return {unicode_text(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return float(value) if abs(value) < 1e300 else str(value)
    return value


Shown = TypeVar("Shown")


def walled(show: Callable[[], Shown], excuse: Callable[[str], Shown]) -> Shown:
    """Return the result of `show`. If that raises an exception, return the result of `excuse` for the exception."""
    try:
        return show()
    except Exception as error:  # noqa: BLE001 - the rest of the report must still be printed
        return excuse(f"{type(error).__name__}: {error}")


MOST_PLACES = 20  # Places of a cause, or of an error, that are listed.


def cut_list(lines: Sequence[str], most: int, indent: str = "", advice: str = "") -> Iterator[str]:
    """Yield the first `most` lines, and a line `- and N more` if there are others."""
    yield from lines[:most]
    if (left := len(lines) - most) > 0:
        yield f"{indent}- and {left} more{advice}"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: `1 error`, `2 errors`."""
    return f"{count} {noun}" if count == 1 else f"{count:,} {noun}s"
