"""Text that any format can hold: what servers and descriptions say may be anything."""

import re

from checker.core.terminal import without_ci_commands

_SURROGATES = re.compile("[\ud800-\udfff]")
_PLANES = "".join(
    f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 17)
)
_NOT_PLAIN = re.compile(
    f"[^\t\n\r -~\xa0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd\U00010000-\U0010ffff]|[\u2028\u2029{_PLANES}]"
)


def unicode_text(text: str) -> str:
    """Text without lone surrogates, which no encoding holds: U+FFFD stands for each."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def xml_text(text: str) -> str:
    r"""Text of the characters that XML 1.0 and HTML allow and do not discourage (XML, 2.2); others are written as `\x1b`.

    Commands of CI systems are broken: reports are printed into logs, and tools that read them print their texts.
    """
    return without_ci_commands(_NOT_PLAIN.sub(_escaped, text))


def _escaped(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{{{code:x}}}"
