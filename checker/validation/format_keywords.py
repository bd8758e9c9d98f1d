"""Formats in keywords: the engine has those in every draft, and needs no call into Python for them."""

from collections.abc import Mapping
from typing import Any, Final

from checker.validation.formats import ASSERTED_FORMATS, FORMAT_PATTERNS, INTEGER_RANGES

# What Python calls white space; `\s` of ECMA-262 is another set.
_SPACE = r"[\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
_DIGIT64 = rf"(?:[A-Za-z0-9+/_-]{_SPACE}*)"
_NUMBER = r"[0-9]+(?:[.,][0-9]+)?"
_DAYS = "".join(f"(?:{_NUMBER}{unit})?" for unit in "YMWD")
_CLOCK = "".join(f"(?:{_NUMBER}{unit})?" for unit in "HMS")

FORMATS_IN_KEYWORDS: Final[Mapping[str, dict[str, Any]]] = {
    **{
        name: {"pattern": f"^(?:{pattern})$"}
        for name, pattern in FORMAT_PATTERNS.items()
        if name in ASSERTED_FORMATS
    },
    "byte": {
        "pattern": rf"^{_SPACE}*(?:{_DIGIT64}{{4}})*(?:{_DIGIT64}{{2,3}})?(?:={_SPACE}*){{0,2}}$"
    },
    # A unit at the end says that `P` and `T` are not empty. With look-ahead the engine gives up on long texts.
    "duration": {
        "pattern": rf"^[+-]?P{_DAYS}(?:T{_CLOCK})?$",
        "allOf": [{"pattern": "[DHMSWY]$"}],
    },
    **{
        name: {"minimum": lowest, "maximum": highest}
        for name, (lowest, highest) in INTEGER_RANGES.items()
    },
}
"""Format -> keywords that mean the same, of every type of value."""
