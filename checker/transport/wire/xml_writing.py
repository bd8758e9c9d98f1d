"""Values as XML, named and nested as the XML Object of OpenAPI says. `checker.transport.wire.xml_reading` is the way back."""

import re
from collections.abc import Callable
from typing import Any

from checker.core.schema import Schema
from checker.transport.wire.outline import Outline, outline_of
from checker.transport.wire.styles import text_of
from checker.transport.wire.xml_names import ROOT, XmlName, escaped_name, xml_name

_HEAD = b'<?xml version="1.0" encoding="UTF-8"?>\n'
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"}
_TEXT = re.compile("[&<>\r]")
_ATTRIBUTE_ESCAPES = {**_ESCAPES, '"': "&quot;", "\n": "&#10;", "\t": "&#9;"}
_ATTRIBUTE = re.compile('[&<>\r"\n\t]')


def xml_encoder(schema: Schema | None) -> Callable[[Any], bytes]:
    """Writes bodies of a schema. Raises `ValueError` for what XML cannot say: control characters, lone surrogates."""
    outline = None if schema is None else outline_of(schema)
    how = XmlName() if outline is None else xml_name(outline)
    name = how.name or how.reference or ROOT

    def encoded(value: Any) -> bytes:
        if isinstance(value, bytes):
            return value
        try:
            return _HEAD + "".join(_element(name, value, how, outline)).encode("utf-8")
        except RecursionError:
            raise ValueError("XML that is nested this deeply cannot be written") from None

    return encoded


def _element(name: str, value: Any, how: XmlName, outline: Outline | None) -> list[str]:
    """One element, start to end."""
    tag = _tag(name, how)
    # Two attributes of one prefix bring their namespace twice, which XML refuses.
    marks = dict.fromkeys([_namespace(how)])
    if isinstance(value, dict):
        attributes, inner = _properties(value, outline)
        marks |= attributes
    elif isinstance(value, list):
        inner = _items(name, value, how, outline)
    else:
        inner = [_escaped(text_of(value), _TEXT, _ESCAPES)]
    return ["<", tag, *marks, ">", *inner, f"</{tag}>"]


def _properties(
    value: dict[str, Any], outline: Outline | None
) -> tuple[dict[str, None], list[str]]:
    """Attributes and child elements of an object."""
    attributes: dict[str, None] = {}
    inner: list[str] = []
    for key, item in value.items():
        below = None if outline is None else outline.property(key)
        how = XmlName() if below is None else xml_name(below)
        name = how.name or str(key)
        if how.text is not None and not isinstance(item, list | dict):
            inner.append(_inner_text(text_of(item), how))
        elif how.is_attribute:
            text = _escaped(text_of(item), _ATTRIBUTE, _ATTRIBUTE_ESCAPES)
            attributes |= dict.fromkeys((_namespace(how), f' {_tag(name, how)}="{text}"'))
        elif isinstance(item, list) and not how.is_wrapped:
            # Without a wrapper the array has no element: only the name of its items counts.
            inner += _items(str(key), item, XmlName(), below)
        else:
            inner += _element(name, item, how, below)
    return attributes, inner


def _inner_text(text: str, how: XmlName) -> str:
    escaped = _escaped(text, _TEXT, _ESCAPES)
    if how.text == "text":
        return escaped
    # A section cannot hold its own end.
    return f"<![CDATA[{text.replace(']]>', ']]]]><![CDATA[>')}]]>"


def _items(name: str, value: list[Any], how: XmlName, outline: Outline | None) -> list[str]:
    """Elements of an array; items without a name of their own have that of the array."""
    found: list[str] = []
    for index, item in enumerate(value):
        below = None if outline is None else outline.item(index)
        inner = XmlName() if below is None else xml_name(below)
        if inner.name is None:
            inner = XmlName(how.name, inner.prefix, inner.namespace)
        found += _element(inner.name or name, item, inner, below)
    return found


def _tag(name: str, how: XmlName) -> str:
    written = escaped_name(name)
    return written if how.prefix is None else f"{escaped_name(how.prefix)}:{written}"


def _namespace(how: XmlName) -> str:
    if how.namespace is None:
        # A prefix needs a namespace; without one of its own it names itself.
        prefix = None if how.prefix is None else escaped_name(how.prefix)
        return "" if prefix is None else f' xmlns:{prefix}="{prefix}"'
    mark = "" if how.prefix is None else f":{escaped_name(how.prefix)}"
    return f' xmlns{mark}="{_escaped(how.namespace, _ATTRIBUTE, _ATTRIBUTE_ESCAPES)}"'


def _escaped(text: str, pattern: re.Pattern[str], escapes: dict[str, str]) -> str:
    bad = _FORBIDDEN.search(text)
    if bad is not None:
        raise ValueError(f"XML cannot say it: {bad[0]!r} is no character of XML 1.0")
    return pattern.sub(lambda found: escapes[found[0]], text)
