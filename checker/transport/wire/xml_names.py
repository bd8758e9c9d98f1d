"""The XML Object of OpenAPI (2.0 to 3.2): which element or attribute a value is, found beside its schema."""

import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from msgspec import Struct

from checker.transport.wire.outline import Outline

ROOT: Final = "data"
"""Of a schema that has neither a name nor a reference."""
_START = r"A-Z_a-z\xc0-\xd6\xd8-\xf6\xf8-\u0131\u03b1-\u03c9\u0410-\u044f\u3041-\u3094\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3"
"""Of names without colons that the fourth edition of XML 1.0 admits as well as the fifth: many parsers know no more."""
_EMPTY: Final = "_x_"
"""The name of nothing, which XML does not admit."""
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4,8})_")


class XmlName(Struct, frozen=True):
    """The XML names of the values of a schema."""

    name: str | None = None
    """None: the name of the property counts."""
    prefix: str | None = None
    namespace: str | None = None
    is_attribute: bool = False
    is_wrapped: bool = False
    text: str | None = None
    """`text` or `cdata` for what is the text of the element around it (`nodeType` of OpenAPI 3.2)."""
    reference: str | None = None
    """Last token of the reference to the schema: names the root."""


_PLAIN = XmlName()


def xml_name(outline: Outline) -> XmlName:
    """Return the XML name that the `xml` objects of a schema give together, the nearest first; alternatives count if there is no other."""
    facets = outline.facets()
    objects = [_object(facet.raw) for facet in facets]
    if not any(objects):
        objects += [_object(facet.raw) for one in outline.alternatives() for facet in one.facets()]
    reference = next((facet.reference for facet in facets if facet.reference), None)
    merged: dict[str, Any] = {}
    for found in objects:
        merged = found | merged
    if not merged and reference is None:
        return _PLAIN
    node = merged.get("nodeType")
    return XmlName(
        _text(merged.get("name")),
        _text(merged.get("prefix")),
        _text(merged.get("namespace")),
        merged.get("attribute") is True or node == "attribute",
        # An array is wrapped by an element of its own.
        merged.get("wrapped") is True or node == "element",
        node if node in ("text", "cdata") else None,
        None if reference is None else reference.rpartition("/")[2].rpartition("#")[2] or None,
    )


def escaped_name(name: str) -> str:
    """A name that XML admits: other characters are written as `_x0020_` (ISO 9075-14, 9.1)."""
    if name in ("", _EMPTY):
        return "_x005F_x_" if name else _EMPTY
    is_start, is_part = _of_names()
    if is_start(name) and all(map(is_part, name)) and not _ESCAPED.search(name):
        return name
    safe = _ESCAPED.sub(lambda found: f"_x005F_{found[0][1:]}", name)
    return "".join(
        one if (is_part(one) if index else is_start(one)) else f"_x{ord(one):04X}_"
        for index, one in enumerate(safe)
    )


@cache
def _of_names() -> tuple[Callable[[str], object], Callable[[str], object]]:
    """Whether a text starts with what a name starts with, and with what one has further on. Hardly any run needs them."""
    return re.compile(rf"[{_START}]").match, re.compile(rf"[{_START}0-9.-]").match


def unescaped_name(name: str) -> str:
    """The way back of `escaped_name`."""
    if name == _EMPTY:
        return ""
    return _ESCAPED.sub(_character, name)


def _character(found: re.Match[str]) -> str:
    code = int(found[1], 16)
    return chr(code) if code < 0x110000 else found[0]


def _object(raw: object) -> dict[str, Any]:
    found = raw.get("xml") if isinstance(raw, dict) else None
    return found if isinstance(found, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
