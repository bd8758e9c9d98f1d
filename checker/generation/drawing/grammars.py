"""Formats as patterns: what is usual of each and valid for strict readers, where a text has to satisfy more than its format."""

from collections.abc import Mapping
from typing import Final

_LABEL: Final = "[A-Za-z0-9]+(-[A-Za-z0-9]+)*"
_HOST: Final = rf"{_LABEL}(\.{_LABEL})*"
_NAME: Final = rf"({_LABEL}\.)+[A-Za-z]{{2,}}"
_YEAR: Final = "(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})"
_DAY: Final = (
    "((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)"
)
_DATE: Final = f"{_YEAR}-{_DAY}"
_CLOCK: Final = "([01][0-9]|2[0-3]):[0-5][0-9]"
_PARTIAL_TIME: Final = rf"{_CLOCK}:[0-5][0-9](\.[0-9]+)?"
_OFFSET: Final = f"(Z|[+-]{_CLOCK})"
_TIME: Final = _PARTIAL_TIME + _OFFSET
_BYTE: Final = "([1-9]?[0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])"
_GROUP: Final = "[0-9A-Fa-f]{1,4}"
_IPV6: Final = f"(({_GROUP}:){{7}}{_GROUP}|({_GROUP}:){{1,6}}:{_GROUP}|::({_GROUP}:){{0,5}}{_GROUP}|({_GROUP}:){{1,7}}:|::)"
_CHARACTER: Final = "([A-Za-z0-9._~-]|%[0-9A-F]{2})"
_PATH: Final = f"(/{_CHARACTER}*)*"
_TAIL: Final = rf"(\?({_CHARACTER}|[=&])*)?(#{_CHARACTER}*)?"
_URI: Final = rf"[A-Za-z][A-Za-z0-9+.-]*:(//{_HOST}(:[0-9]{{1,4}})?{_PATH}|{_CHARACTER}({_CHARACTER}|[:/@])*){_TAIL}"
_POINTER: Final = "(/([A-Za-z0-9 ._%-]|~[01])*)*"
_WORD: Final = "[A-Za-z0-9+/]"

_WHOLE: Final = {
    "date": _DATE,
    "full-date": _DATE,
    "time": _TIME,
    "full-time": _TIME,
    "partial-time": _PARTIAL_TIME,
    "date-time": f"{_DATE}T{_TIME}",
    "duration": "P([0-9]+W|[0-9]+[YMD]|[0-9]+Y[0-9]+M([0-9]+D)?|([0-9]+D)?T([0-9]+[HMS]|[0-9]+H[0-9]+M([0-9]+S)?))",
    "uuid": "[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
    "email": rf"[A-Za-z0-9]+([.+_-][A-Za-z0-9]+)*@{_NAME}",
    "hostname": _HOST,
    "ipv4": rf"({_BYTE}\.){{3}}{_BYTE}",
    "ipv6": _IPV6,
    "uri": _URI,
    "url": rf"(https?|ftp)://{_NAME}(:[0-9]{{1,4}})?{_PATH}{_TAIL}",
    "iri": _URI,
    "uri-reference": f"({_URI}|{_PATH}{_TAIL}|{_CHARACTER}+{_PATH}{_TAIL})",
    "json-pointer": _POINTER,
    "relative-json-pointer": f"(0|[1-9][0-9]*)(#|{_POINTER})",
    "byte": f"({_WORD}{{4}})*({_WORD}{{2}}[AEIMQUYcgkosw048]=|{_WORD}[AQgw]==)?",
    "color": "#[0-9A-Fa-f]{6}",
}
GRAMMARS: Final[Mapping[str, str]] = {
    **{name: f"^({text})$" for name, text in _WHOLE.items()},
    "idn-email": f"^({_WHOLE['email']})$",
    "idn-hostname": f"^({_HOST})$",
    "iri-reference": f"^({_WHOLE['uri-reference']})$",
    "uri-template": f"^({_URI})$",
}
"""Format -> a pattern of its texts."""
