"""Values as XML, named and nested as the XML Object of OpenAPI says. `checker.transport.wire.xml_reading` is the way back."""

import re
from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

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
_BOUND: Final = frozenset(("xml",))
"""Prefixes that every document knows (Namespaces in XML 1.0, 3)."""


def xml_encoder(schema: Schema | None) -> Callable[[Any], bytes]:
    """Writes bodies of a schema.

    Raises `ValueError` for what XML cannot say: control characters, lone surrogates, a prefix without a namespace.
    """
    outline = None if schema is None else outline_of(schema)
    how = XmlName() if outline is None else xml_name(outline)
    name = how.name or how.reference or ROOT

    def encoded(value: Any) -> bytes:
        if isinstance(value, bytes):
            return value
        try:
            return _HEAD + "".join(_element(name, value, how, outline, _BOUND)).encode("utf-8")
        except RecursionError:
            raise ValueError("XML that is nested this deeply cannot be written") from None

    return encoded


def _element(
    name: str, value: Any, how: XmlName, outline: Outline | None, bound: frozenset[str]
) -> list[str]:
    """One element, start to end. `bound` are the prefixes that elements around it declare."""
    attributes: list[_Member] = []
    others: list[_Member] = []
    if isinstance(value, dict):
        for key, item in value.items():
            member = _member(str(key), item, None if outline is None else outline.property(key))
            (attributes if member.is_attribute else others).append(member)
    named = [how, *(one.how for one in attributes)]
    declared = [one.prefix for one in named if one.prefix and one.namespace is not None]
    bound = bound.union(declared) if declared else bound
    tag = _tag(name, how, bound)
    # Two attributes of one prefix bring their namespace twice, which XML refuses.
    marks = dict.fromkeys(map(_namespace, named))
    marks |= dict.fromkeys(one.attribute(bound) for one in attributes)
    if isinstance(value, dict):
        inner = [text for one in others for text in one.content(bound)]
    elif isinstance(value, list):
        inner = _items(name, value, how, outline, bound)
    else:
        inner = [_escaped(text_of(value), _TEXT, _ESCAPES)]
    return ["<", tag, *marks, ">", *inner, f"</{tag}>"]


class _Member(Struct, frozen=True):
    """A property of an object."""

    key: str
    value: Any
    how: XmlName
    outline: Outline | None

    @property
    def is_text(self) -> bool:
        """Whether it is text of the element around it."""
        return self.how.text is not None and not isinstance(self.value, list | dict)

    @property
    def is_attribute(self) -> bool:
        return self.how.is_attribute and not self.is_text

    def attribute(self, bound: frozenset[str]) -> str:
        """With the space before it."""
        text = _escaped(text_of(self.value), _ATTRIBUTE, _ATTRIBUTE_ESCAPES)
        return f' {_tag(self.how.name or self.key, self.how, bound)}="{text}"'

    def content(self, bound: frozenset[str]) -> list[str]:
        """Elements and text."""
        if self.is_text:
            return [_inner_text(text_of(self.value), self.how)]
        if isinstance(self.value, list) and not self.how.is_wrapped:
            # Without a wrapper the array has no element: only the name of its items counts.
            return _items(self.key, self.value, XmlName(), self.outline, bound)
        return _element(self.how.name or self.key, self.value, self.how, self.outline, bound)


def _member(key: str, value: Any, outline: Outline | None) -> _Member:
    return _Member(key, value, XmlName() if outline is None else xml_name(outline), outline)


def _inner_text(text: str, how: XmlName) -> str:
    escaped = _escaped(text, _TEXT, _ESCAPES)
    if how.text == "text":
        return escaped
    # A section cannot hold its own end.
    return f"<![CDATA[{text.replace(']]>', ']]]]><![CDATA[>')}]]>"


def _items(
    name: str, value: list[Any], how: XmlName, outline: Outline | None, bound: frozenset[str]
) -> list[str]:
    """Elements of an array; items without a name of their own have that of the array."""
    found: list[str] = []
    for index, item in enumerate(value):
        below = None if outline is None else outline.item(index)
        inner = XmlName() if below is None else xml_name(below)
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
            f"the prefix {how.prefix!r} of {name!r} has no namespace; "
            "give one as `xml.namespace`, there or further out"
        )
    return f"{escaped_name(how.prefix)}:{written}"


def _namespace(how: XmlName) -> str:
    if how.namespace is None:
        return ""
    mark = "" if how.prefix is None else f":{escaped_name(how.prefix)}"
    return f' xmlns{mark}="{_escaped(how.namespace, _ATTRIBUTE, _ATTRIBUTE_ESCAPES)}"'


def _escaped(text: str, pattern: re.Pattern[str], escapes: dict[str, str]) -> str:
    bad = _FORBIDDEN.search(text)
    if bad is not None:
        raise ValueError(f"XML cannot say it: {bad[0]!r} is no character of XML 1.0")
    return pattern.sub(lambda found: escapes[found[0]], text)
