"""Values as XML and back, named and nested as the XML Object of OpenAPI says (2.0 to 3.2).

Reading is safe: no document type, no entities, limited depth.
"""

import re
from collections.abc import Callable
from itertools import chain
from typing import Any, Final
from xml.parsers import expat

from msgspec import Struct, field

from checker.core.graphs import grouped
from checker.core.schema import Schema
from checker.core.system import later_pattern
from checker.schema.views import Outline, outline_of
from checker.transport.wire.ambiguity import MANY
from checker.transport.wire.readings import Reading, arrays, doubted, objects, of_text
from checker.transport.wire.styles import text_of

ROOT: Final = "data"  # Root element of a schema without a name and a reference.
_START = r"A-Z_a-z\xc0-\xd6\xd8-\xf6\xf8-\u0131\u03b1-\u03c9\u0410-\u044f\u3041-\u3094\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3"
"""Start characters of names, without colons, that both the fourth and the fifth edition of XML 1.0 allow. Many parsers know only the fourth."""
_NAME_START = later_pattern(rf"[{_START}]")
_NAME_PART = later_pattern(rf"[{_START}0-9.-]")
_EMPTY: Final = "_x_"  # Stands for the empty name, which XML does not have.
_ESCAPED = later_pattern(r"_x([0-9A-Fa-f]{4,8})_")


class XmlName(Struct, frozen=True):
    """The XML names of the values of a schema."""

    name: str | None = None  # None: the name of the property is used.
    prefix: str | None = None
    namespace: str | None = None
    is_attribute: bool = False
    is_wrapped: bool = False
    text: str | None = None
    """`text` or `cdata` for a property that becomes text of the surrounding element (`nodeType` of OpenAPI 3.2)."""
    reference: str | None = None  # Last token of the schema's reference, which is the name of the root.


_PLAIN = XmlName()


def xml_name(outline: Outline | None) -> XmlName:
    """Return the merged XML name of a schema's `xml` objects, nearest first. Alternatives count only if no other schema has one."""
    if outline is None:
        return _PLAIN
    facets = outline.facets()
    objects = [_object(facet.raw) for facet in facets]
    if not any(objects):
        objects += [_object(facet.raw) for one in chain(*outline.alternatives()) for facet in one.facets()]
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
        # A wrapped array has its own element.
        merged.get("wrapped") is True or node == "element",
        node if node in ("text", "cdata") else None,
        None if reference is None else reference.rpartition("/")[2].rpartition("#")[2] or None,
    )


def escaped_name(name: str) -> str:
    """Return a valid XML name: other characters are escaped as `_x0020_` (ISO 9075-14, 9.1)."""
    if name in ("", _EMPTY):
        return "_x005F_x_" if name else _EMPTY
    is_start, is_part = _NAME_START.match, _NAME_PART.match
    if is_start(name) and all(map(is_part, name)) and not _ESCAPED.search(name):
        return name
    safe = _ESCAPED.sub(lambda found: f"_x005F_{found[0][1:]}", name)
    return "".join(
        one if (is_part(one) if index else is_start(one)) else f"_x{ord(one):04X}_" for index, one in enumerate(safe)
    )


def unescaped_name(name: str) -> str:
    """Return the name that `escaped_name` escaped."""
    return "" if name == _EMPTY else _ESCAPED.sub(_character, name)


def _character(found: re.Match[str]) -> str:
    code = int(found[1], 16)
    return chr(code) if code < 0x110000 else found[0]


def _object(raw: object) -> dict[str, Any]:
    found = raw.get("xml") if isinstance(raw, dict) else None
    return found if isinstance(found, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


DEEPEST: Final = 100  # Nesting of elements.
MANY_NODES: Final = (
    10_000  # Number of elements and attributes. All readings of one of them take a tenth of a millisecond.
)
EMPTY: Final = "an element without text has an empty text, or none"
_SPACE = "\x1f"  # Separates a namespace from a name; not a character of XML.
_NIL = f"http://www.w3.org/2001/XMLSchema-instance{_SPACE}nil"


class UnreadXml(ValueError):
    """XML that may be valid but exceeds a limit."""


class Element(Struct):
    """An element, names without prefix."""

    name: str
    attributes: dict[str, str]
    children: list["Element"] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    is_nil: bool = False

    @property
    def text(self) -> str:
        return "".join(self.texts)


def xml_readings(content: bytes, outline: Outline, *, most_nodes: int | None = None) -> list[Reading]:
    """Return the values of a document. Raises `ValueError` if it is not well-formed, `UnreadXml` above a limit."""
    return _readings(parse_xml(content, most_nodes), outline)


def parse_xml(content: bytes, most_nodes: int | None = None) -> Element:
    """Return the root element. Raises `ValueError`, and its subclass `UnreadXml`."""
    root = Element("", {})
    open_elements = [root]
    nodes = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal nodes
        # Checked during parsing, because a document of a few kilobytes may be nested deeper than Python's stack.
        if len(open_elements) > DEEPEST:
            raise UnreadXml("the XML is nested too deeply")
        nodes += 1 + len(attributes)
        if most_nodes is not None and nodes > most_nodes:
            raise UnreadXml(f"the XML has more than {most_nodes} elements and attributes")
        is_nil = attributes.pop(_NIL, "") in ("true", "1")
        named = {_local(key): value for key, value in attributes.items()}
        element = Element(_local(name), named, is_nil=is_nil)
        open_elements[-1].children.append(element)
        open_elements.append(element)

    def end(name: str) -> None:
        open_elements.pop()

    parser = expat.ParserCreate(namespace_separator=_SPACE)
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = lambda text: open_elements[-1].texts.append(text)
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise ValueError(f"the XML is not well-formed: {error}") from None
    except LookupError:
        raise ValueError("the XML declares an unknown encoding") from None
    return root.children[0]


def _refuse_doctype(*_: object) -> None:
    # Entities can expand and read files, and no API needs them.
    raise UnreadXml("the XML has a document type, which is not read")


def _local(name: str) -> str:
    return unescaped_name(name.rpartition(_SPACE)[2])


def _readings(element: Element, outline: Outline) -> list[Reading]:
    """Return the values of one element, most likely first."""
    types = outline.types
    if element.is_nil:
        return [Reading(None)]
    found: list[Reading] = []
    is_bare = not element.children and not element.attributes
    inner = [one for one in sorted(outline.names) if xml_name(outline.property(one)).text] if "object" in types else []
    # An empty element may be an empty object, an empty list or an empty text. Text is preferred if the schema allows it.
    if inner or ("object" in types and not (is_bare and (element.text.strip() or "string" in types))):
        members = _properties(element, outline)
        if not inner:
            found += objects(members)
        else:
            # Text that is not blank belongs to one of the properties. With two of them, the boundary between their
            # texts is unknown.
            without = [] if element.text.strip() else objects(members)
            doubt = MANY if len(inner) > 1 else EMPTY if without else ""
            members[inner[0]] = of_text(element.text, outline.property(inner[0]).types)
            found += doubted(without, EMPTY) + doubted(objects(members), doubt)
    if "array" in types and not element.attributes and not (is_bare and "string" in types):
        found += arrays(_each(element.children, outline))
    if is_bare and (types - {"array", "object"} or not found):
        found += of_text(element.text, types - {"array", "object"})
    return found or objects(_properties(element, outline))


def _each(elements: list[Element], outline: Outline) -> list[list[Reading]]:
    return [_readings(one, outline.item(index)) for index, one in enumerate(elements)]


def _properties(element: Element, outline: Outline) -> dict[str, list[Reading]]:
    """Return the readings of each property. Declared ones are found by their XML names, others by the names in the element."""
    found: dict[str, list[Reading]] = {}
    attributes = dict(element.attributes)
    children = grouped((child.name, child) for child in element.children)
    for name in sorted(outline.names):
        below = outline.property(name)
        how = xml_name(below)
        if how.text is not None:
            continue
        if how.is_attribute:
            text = attributes.pop(how.name or name, None)
            if text is not None:
                found[name] = of_text(text, below.types)
            continue
        mine = None
        if "array" in below.types and not how.is_wrapped:
            # Unwrapped items have their own name.
            mine = children.pop(xml_name(below.item(0)).name or name, None)
        mine = mine or children.pop(how.name or name, [])
        if mine:
            found[name] = _property(mine, how, below)
    for name, elements in children.items():
        found[name] = _property(elements, XmlName(), outline.property(name))
    for name, text in attributes.items():
        found.setdefault(name, of_text(text, outline.property(name).types))
    return found


def _property(elements: list[Element], how: XmlName, outline: Outline) -> list[Reading]:
    types = outline.types
    found: list[Reading] = []
    if "array" in types and how.is_wrapped and len(elements) == 1:
        found += arrays(_each(elements[0].children, outline))
    elif ("array" in types or len(elements) > 1) and not (len(elements) == 1 and types & {"string", "object"}):
        found += arrays(_each(elements, outline))
    if len(elements) == 1 and types != {"array"}:
        found += _readings(elements[0], outline)
    return found


_HEAD = b'<?xml version="1.0" encoding="UTF-8"?>\n'
_FORBIDDEN = later_pattern("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
_ATTRIBUTE_ESCAPES = _ESCAPES | str.maketrans({'"': "&quot;", "\n": "&#10;", "\t": "&#9;"})
_BOUND: Final = frozenset(("xml",))  # Prefixes that are predefined (Namespaces in XML 1.0, 3).


def xml_encoder(schema: Schema | None) -> Callable[[Any], bytes]:
    """Return an encoder for bodies of a schema.

    The encoder raises `ValueError` for values that XML cannot express: control characters, lone surrogates, a prefix without
    a namespace.
    """
    outline = None if schema is None else outline_of(schema)
    how = xml_name(outline)
    name = how.name or how.reference or ROOT

    def encoded(value: Any) -> bytes:
        if isinstance(value, bytes):
            return value
        try:
            return _HEAD + "".join(_element(name, value, how, outline, _BOUND)).encode("utf-8")
        except RecursionError:
            raise ValueError("XML that is nested this deeply cannot be written") from None

    return encoded


def _element(name: str, value: Any, how: XmlName, outline: Outline | None, bound: frozenset[str]) -> list[str]:
    attributes: list[tuple[str, Any, XmlName]] = []
    others: list[tuple[str, Any, XmlName, Outline | None]] = []
    if isinstance(value, dict):
        for key, item in value.items():
            below = None if outline is None else outline.property(key)
            its = xml_name(below)
            if its.is_attribute and not _is_text(item, its):
                attributes.append((str(key), item, its))
            else:
                others.append((str(key), item, its, below))
    named = [how, *(its for *_, its in attributes)]
    declared = [one.prefix for one in named if one.prefix and one.namespace is not None]
    bound = bound.union(declared) if declared else bound
    tag = _tag(name, how, bound)
    # Two attributes with the same prefix would declare its namespace twice, which XML forbids.
    marks = dict.fromkeys(map(_namespace, named))
    for key, item, its in attributes:
        marks[f' {_tag(its.name or key, its, bound)}="{_escaped(text_of(item), _ATTRIBUTE_ESCAPES)}"'] = None
    if isinstance(value, dict):
        inner = [text for one in others for text in _member(*one, bound)]
    elif isinstance(value, list):
        inner = _items(name, value, how, outline, bound)
    else:
        inner = [_escaped(text_of(value), _ESCAPES)]
    return ["<", tag, *marks, ">", *inner, f"</{tag}>"]


def _is_text(value: Any, how: XmlName) -> bool:
    return how.text is not None and not isinstance(value, list | dict)


def _member(key: str, value: Any, how: XmlName, outline: Outline | None, bound: frozenset[str]) -> list[str]:
    """Return the text of a property that is no attribute."""
    if _is_text(value, how):
        text = text_of(value)
        escaped = _escaped(text, _ESCAPES)
        # A CDATA section cannot contain its own end.
        return [escaped if how.text == "text" else f"<![CDATA[{text.replace(']]>', ']]]]><![CDATA[>')}]]>"]
    if isinstance(value, list) and not how.is_wrapped:
        # An unwrapped array has no element, so only the name of its items is used.
        return _items(key, value, XmlName(), outline, bound)
    return _element(how.name or key, value, how, outline, bound)


def _items(name: str, value: list[Any], how: XmlName, outline: Outline | None, bound: frozenset[str]) -> list[str]:
    """Return the elements of an array. Items without a name of their own have the name of the array."""
    found: list[str] = []
    for index, item in enumerate(value):
        below = None if outline is None else outline.item(index)
        inner = xml_name(below)
        if inner.name is None:
            inner = XmlName(how.name, inner.prefix, inner.namespace)
        found += _element(inner.name or name, item, inner, below, bound)
    return found


def _tag(name: str, how: XmlName, bound: frozenset[str]) -> str:
    written = escaped_name(name)
    if how.prefix is None:
        return written
    if how.prefix not in bound:
        raise ValueError(
            f"the prefix {how.prefix!r} of {name!r} has no namespace; give one as `xml.namespace`, there or further out"
        )
    return f"{escaped_name(how.prefix)}:{written}"


def _namespace(how: XmlName) -> str:
    if how.namespace is None:
        return ""
    mark = "" if how.prefix is None else f":{escaped_name(how.prefix)}"
    return f' xmlns{mark}="{_escaped(how.namespace, _ATTRIBUTE_ESCAPES)}"'


def _escaped(text: str, escapes: dict[int, str]) -> str:
    bad = _FORBIDDEN.search(text)
    if bad is not None:
        raise ValueError(f"it cannot be written as XML: {bad[0]!r} is no character of XML 1.0")
    return text.translate(escapes)
