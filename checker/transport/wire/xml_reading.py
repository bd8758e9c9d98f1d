"""XML to the values that it can stand for, by the XML Object of OpenAPI. Safe: no document type, no entities, no depths."""

from typing import Final
from xml.parsers import expat

from msgspec import Struct, field

from checker.transport.wire.ambiguity import MANY
from checker.transport.wire.outline import Outline
from checker.transport.wire.readings import Reading, arrays, doubted, objects, of_text
from checker.transport.wire.xml_names import XmlName, unescaped_name, xml_name

DEEPEST: Final = 100
"""Elements in elements."""
MANY_NODES: Final = 10_000
"""Elements and attributes: to read each in every way takes a tenth of a millisecond."""
_NIL = "{http://www.w3.org/2001/XMLSchema-instance}nil"
EMPTY: Final = "an element without text has an empty text, or none"
_SPACE = "\x1f"
"""Between a namespace and a name; no character of XML."""


class UnreadXml(ValueError):
    """XML that may be right, but is more than is read."""


class Element(Struct):
    """An element, names without prefix."""

    name: str
    attributes: dict[str, str]
    children: list["Element"] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    is_nil: bool = False

    @property
    def text(self) -> str:
        """Characters that stand in it directly."""
        return "".join(self.texts)


def xml_readings(
    content: bytes, outline: Outline, *, most_nodes: int | None = None
) -> list[Reading]:
    """Values of a document. Raises `ValueError` when it is not well-formed, `UnreadXml` when it is too much."""
    return _readings(parse_xml(content, most_nodes), outline)


def parse_xml(content: bytes, most_nodes: int | None = None) -> Element:
    """The root element. Raises `ValueError`, and `UnreadXml` of its kind."""
    root = Element("", {})
    open_elements = [root]
    nodes = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal nodes
        if len(open_elements) > DEEPEST:
            raise UnreadXml("the XML is nested too deeply")
        nodes += 1 + len(attributes)
        if most_nodes is not None and nodes > most_nodes:
            raise UnreadXml(f"the XML has more than {most_nodes} elements and attributes")
        is_nil = attributes.pop(_NIL.replace("{", "").replace("}", _SPACE), "") in ("true", "1")
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
        raise ValueError("the XML names an encoding that nobody knows") from None
    return root.children[0]


def _refuse_doctype(*_: object) -> None:
    # Entities grow and reach files; no API needs them.
    raise UnreadXml("the XML has a document type, which is not read")


def _local(name: str) -> str:
    return unescaped_name(name.rpartition(_SPACE)[2])


def _readings(element: Element, outline: Outline) -> list[Reading]:
    """Values of one element, most telling first."""
    types = outline.types
    if element.is_nil:
        return [Reading(None)]
    found: list[Reading] = []
    is_bare = not element.children and not element.attributes
    inner = _inner_texts(outline) if "object" in types else []
    if inner or (
        "object" in types and not (is_bare and (element.text.strip() or "string" in types))
    ):
        found += _objects(element, outline, inner)
    if "array" in types and not element.attributes and not (is_bare and "string" in types):
        found += arrays(_each(element.children, outline))
    if is_bare and (types - {"array", "object"} or not found):
        found += of_text(element.text, types - {"array", "object"})
    return found or objects(_properties(element, outline))


def _inner_texts(outline: Outline) -> list[str]:
    """Properties that are the text of the element itself."""
    return [one for one in sorted(outline.names) if xml_name(outline.property(one)).text]


def _objects(element: Element, outline: Outline, inner: list[str]) -> list[Reading]:
    """Return the readings of an element with properties; its text belongs to one of them, unless it is blank."""
    found = _properties(element, outline)
    if not inner:
        return objects(found)
    text = element.text
    without = [] if text.strip() else objects(found)
    doubt = MANY if len(inner) > 1 else EMPTY if without else ""
    # Where there are two of them nobody can say where one ends.
    found[inner[0]] = of_text(text, outline.property(inner[0]).types)
    return doubted(without, EMPTY) + doubted(objects(found), doubt)


def _each(elements: list[Element], outline: Outline) -> list[list[Reading]]:
    return [_readings(one, outline.item(index)) for index, one in enumerate(elements)]


def _properties(element: Element, outline: Outline) -> dict[str, list[Reading]]:
    """Readings of each property: declared ones by their XML names, all others by the names that stand there."""
    found: dict[str, list[Reading]] = {}
    attributes = dict(element.attributes)
    children: dict[str, list[Element]] = {}
    for child in element.children:
        children.setdefault(child.name, []).append(child)
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
        mine = _take(children, name, how, below)
        if mine:
            found[name] = _property(mine, how, below)
    for name, elements in children.items():
        found[name] = _property(elements, XmlName(), outline.property(name))
    for name, text in attributes.items():
        found.setdefault(name, of_text(text, outline.property(name).types))
    return found


def _take(
    children: dict[str, list[Element]], name: str, how: XmlName, outline: Outline
) -> list[Element]:
    """Elements of a property: items by their own name, if nothing wraps them."""
    if "array" in outline.types and not how.is_wrapped:
        items = children.pop(xml_name(outline.item(0)).name or name, None)
        if items:
            return items
    return children.pop(how.name or name, [])


def _property(elements: list[Element], how: XmlName, outline: Outline) -> list[Reading]:
    types = outline.types
    found: list[Reading] = []
    if "array" in types and how.is_wrapped and len(elements) == 1:
        found += arrays(_each(elements[0].children, outline))
    elif ("array" in types or len(elements) > 1) and not (
        len(elements) == 1 and types & {"string", "object"}
    ):
        found += arrays(_each(elements, outline))
    if len(elements) == 1 and types != {"array"}:
        found += _readings(elements[0], outline)
    return found
