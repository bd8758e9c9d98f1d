"""Proof that a part of a request is invalid as sent: no reading of its text is a value that the schema admits.

The proof is cautious: a value that some server could read as valid is not proved wrong, and only proved values are sent as
invalid.
"""

import math
from collections.abc import Iterator
from itertools import product
from typing import Any, Final

from msgspec import Struct

from checker.core.media_types import is_form, is_json, is_xml, is_yaml, parse
from checker.core.operation import Body, Location, Parameter, PropertyEncoding
from checker.core.scalars import Unreadable, scalars_of
from checker.generation.drawing.nodes import IsValid
from checker.generation.normalization import forms
from checker.schema.views import Outline, outline_of
from checker.transport.wire import ambiguity
from checker.transport.wire.bodies import is_unstructured
from checker.transport.wire.decoding import Decoding, decode_parameter, shares
from checker.transport.wire.styles import (
    HEADER_DELIMITERS,
    Pairs,
    cookie_pairs,
    escape,
    header_text,
    joined_inside,
    path_text,
    query_pairs,
    text_of,
)
from checker.transport.wire.xml import xml_encoder, xml_readings

_READINGS: Final = 64
_FORMS: Final = ("multipart/form-data", "multipart/*")  # Kinds of multipart whose parts have names.
_USUAL: Final = PropertyEncoding()


def parameter_proof(parameter: Parameter, outline: Outline, is_valid: IsValid) -> IsValid:
    """Return a predicate for values of a parameter: no reading of their text is valid."""
    if parameter.media_type is not None:
        # Readers of other media types are unknown, and a verdict needs a proof.
        if not is_json(parameter.media_type):
            return lambda value: False
        return lambda value: not is_valid(value)
    whole = _StyledProof(parameter, outline, is_valid)
    if outline.types & {forms.ARRAY, forms.OBJECT}:
        return whole
    location = parameter.location
    # Many servers treat an empty value as absent.
    may_be_empty = parameter.required and not parameter.allow_empty and location in (Location.QUERY, Location.COOKIE)
    is_trimmed = location is Location.HEADER

    def plain(value: Any) -> bool:
        text = text_of(value)
        if (text == "" and not may_be_empty) or (is_trimmed and text != text.strip()):
            return False
        try:
            return not any(map(is_valid, scalars_of(text)))
        except ValueError:
            return False

    return lambda value: whole(value) if isinstance(value, list | dict) else plain(value)


class _StyledProof(Struct, frozen=True):
    """The proof for arrays and objects in a parameter: their text is decoded by the parameter's style."""

    parameter: Parameter
    outline: Outline
    is_valid: IsValid

    def __call__(self, value: Any) -> bool:
        try:
            parts = self._encoded(value)
            # Servers may read an empty value as absent, as an empty text, or as a list of one empty text.
            if parts == [(escape(self.parameter.name), "")]:
                return False
            # A parameter that may count as absent cannot be proved wrong.
            decoded: Decoding = None
            if isinstance(parts, str):
                decoded = decode_parameter(self.parameter, parts, self.outline) if parts else None
            elif parts:
                # Servers may ignore a pair that no parameter declares.
                (share,), _ = shares([(self.parameter, self.outline)], parts)
                if share.own or self.parameter.required:
                    decoded = decode_parameter(self.parameter, share.own, self.outline, share.rest)
        except ValueError:
            return False
        return isinstance(decoded, list) and not any(self.is_valid(reading.value) for reading in decoded)

    def _encoded(self, value: Any) -> str | Pairs:
        parameter = self.parameter
        name, style, explode = parameter.name, parameter.style, parameter.explode
        value = joined_inside(value, parameter.inner)
        match parameter.location:
            case Location.PATH:
                return path_text(value, style, name, explode=explode)
            case Location.HEADER:
                return header_text(value, explode=explode, style=style)
            case Location.QUERY:
                return query_pairs(name, value, style, explode=explode)
            case _:
                return cookie_pairs(name, value, explode=explode)


def body_proof(body: Body, is_valid: IsValid) -> IsValid | None:
    """Return a predicate for values that are invalid as the body that is sent; None if no body can be proved invalid."""
    media_type = body.media_type
    if body.write is not None:
        # Only the kind of description knows how such a body is read.
        return body.is_wrong
    if is_json(media_type) or is_yaml(media_type) or media_type in ("*/*", "application/*"):
        return lambda value: not is_valid(value)
    parsed = parse(media_type)
    if is_form(media_type) or (parsed is not None and parsed.essence in _FORMS):
        return _FieldsProof(is_form(media_type), body, is_valid)
    if is_xml(media_type):
        return _xml_proof(body, is_valid)
    if is_unstructured(media_type):
        outline = outline_of(body.schema)
        return None if outline.types & {forms.ARRAY, forms.OBJECT} else _plain_proof(is_valid)
    return None


def _plain_proof(is_valid: IsValid) -> IsValid:
    """Return the proof for bodies that are text, or octets of undeclared type and encoding."""

    def is_wrong(value: Any) -> bool:
        # Many servers treat an empty body as absent.
        if not value or not isinstance(value, str | bytes):
            return False
        # Servers decode a body without a charset as UTF-8 or as Latin-1, the default of older HTTP (RFC 2616, 3.7.1).
        content = value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")
        texts = {content.decode("latin-1"), content.decode("utf-8", "replace")}
        try:
            return not any(is_valid(reading) for text in texts for reading in scalars_of(text))
        except Unreadable:
            return False

    return is_wrong


def _xml_proof(body: Body, is_valid: IsValid) -> IsValid:
    """Return the proof for XML: the whole document is decoded by its schema."""
    encode, outline = xml_encoder(body.schema), outline_of(body.schema)

    def is_wrong(value: Any) -> bool:
        try:
            found = xml_readings(encode(value), outline)
        except ValueError:
            return False
        is_clear = not any(one.doubt == ambiguity.MANY for one in found)
        return is_clear and not is_valid(value) and not any(is_valid(one.value) for one in found)

    return is_wrong


class _FieldsProof(Struct, frozen=True):
    """The proof for forms: each property is decoded from its text, and other parts are taken as they are."""

    is_urlencoded: bool
    body: Body
    is_valid: IsValid

    def __call__(self, value: Any) -> bool:
        if not isinstance(value, dict):
            return False
        try:
            # Servers may read a property without text as absent, and an empty text as either.
            sent = {name: item for name, item in value.items() if item not in ([], {}, [""], "", None)}
            kept = {name: item for name, item in value.items() if item not in ([], {})}
            wholes = [sent] if sent == kept else [sent, kept]
            if any(map(self.is_valid, wholes)):
                return False
            return not any(
                self.is_valid(whole | {name: reading})
                for name, item in value.items()
                for reading in self._readings(name, item)
                for whole in wholes
            )
        except ValueError:
            return False

    def _readings(self, name: str, value: Any) -> Iterator[Any]:
        how = self.body.encoding.get(name, _USUAL)
        if how.content_type is not None and is_json(how.content_type):
            yield value
            if not self.is_urlencoded:
                # Each item is its own part, and one part may be a list of one item.
                yield [value]
                if isinstance(value, list):
                    yield from (value[0], value[-1]) if value else ()
        elif how.content_type is not None and is_xml(how.content_type) and not self.is_urlencoded:
            yield from self._of_xml(name, value)
        elif isinstance(value, bytes):
            if self.is_urlencoded:
                raise Unreadable("no standard defines how forms encode bytes")
            # A server may not expect a file here, and read its bytes as text.
            for text in (value.decode("latin-1"), value.decode("utf-8", "replace")):
                yield from (text, [text])
        elif isinstance(value, dict):
            if self.is_urlencoded and value:
                raise Unreadable("names of an object are names of the form")
            # An object in a part without a content type is sent as its text, and one part may be a list of one item.
            yield from (text_of(value), [value])
        elif isinstance(value, list):
            yield from _of_list(value, how)
        else:
            text = text_of(value)
            for reading in scalars_of(text):
                yield reading
                yield [reading]
            if text == "":
                yield []

    def _of_xml(self, name: str, value: Any) -> Iterator[Any]:
        if isinstance(value, list | bytes):
            raise Unreadable("no standard defines how a part writes lists as XML")
        outline = outline_of(self.body.schema).property(name)
        for one in xml_readings(xml_encoder(outline.schema())(value), outline):
            if one.doubt == ambiguity.MANY:
                raise Unreadable(name)
            yield one.value
            yield [one.value]


def _of_list(value: list[Any], how: PropertyEncoding) -> Iterator[Any]:
    """Yield the readings of a list. Some servers read a single item as itself. Of several items, some servers take the first or the last."""
    if any(isinstance(item, dict | list) for item in value):
        raise Unreadable("no standard defines how nested lists are written")
    texts = [text_of(item) for item in value]
    ways = [list(scalars_of(text)) for text in texts]
    # The readings of items multiply: seven texts that may each be a text or a number have 128 readings.
    if math.prod(map(len, ways)) > _READINGS:
        raise Unreadable("too many readings")
    yield from map(list, product(*ways))
    for text in {texts[0], texts[-1]} if texts else ():
        yield from scalars_of(text)
    if texts == [""]:
        yield []
    if not how.explode:
        yield from scalars_of(HEADER_DELIMITERS.get(how.style, ",").join(texts))
