"""Values that the description of a schema gives in prose: `Name of the zone (e.g. "example.com.") MUST have a trailing dot`."""

import re
from collections.abc import Mapping
from typing import Any, Final

_SAYING: Final = frozenset(("enum", "const", "example", "examples", "pattern", "format"))
"""Keywords that say more than prose does."""
_LONGEST: Final = 2_000
_MOST: Final = 8
_OPENING: Final = "[\"'`\u201c\u2018\u201e]"
_QUOTED: Final = (
    rf"{_OPENING}([^\"'`\u201c\u201d\u2018\u2019\u201e\n]{{1,80}})[\"'`\u201d\u2019\u201c]"
)
_LED: Final = re.compile(
    rf"(?:\be\.\s?g\.|\bfor (?:example|instance)|\bexamples?:|\bsuch as|\bone of|\bset to)[,:]?\s+(?:{_QUOTED}(?:,? (?:or|and) |, ?| ?\| ?)?)+",
    re.IGNORECASE,
)
_VALUE: Final = re.compile(_QUOTED)


def told_values(raw: Mapping[str, Any]) -> list[str]:
    """Texts in quotes that a description gives as examples of a text about which its schema says nothing else; each once."""
    text = raw.get("description")
    if raw.get("type") != "string" or not isinstance(text, str) or not _SAYING.isdisjoint(raw):
        return []
    found = (value for led in _LED.finditer(text[:_LONGEST]) for value in _VALUE.findall(led[0]))
    return list(dict.fromkeys(found))[:_MOST]
