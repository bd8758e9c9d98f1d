"""Text that any format can hold: what servers and descriptions say may be anything."""

import re

_SURROGATES = re.compile("[\ud800-\udfff]")
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def unicode_text(text: str) -> str:
    """Text without lone surrogates, which no encoding holds: U+FFFD stands for each."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def xml_text(text: str) -> str:
    r"""Text of the characters that XML 1.0 allows (2.2); others are written as `\x1b`."""
    return _NOT_XML.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
