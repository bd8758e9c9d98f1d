"""Bodies of responses, judged by media type: JSON, YAML, XML, text and streams of events."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import orjson
from msgspec import Struct

from checker.core.contract import BodyOpinions, BodyValidator, UndecodableBody
from checker.core.media_types import MediaType, is_json, is_xml, is_yaml
from checker.core.schema import Schema
from checker.openapi.answers.streams import StreamBody, events_of
from checker.openapi.answers.texts import BeyondLimits, TwoOpinions, json_of_text, yaml_readings
from checker.schema.views import Outline, outline_of
from checker.transport.wire.ambiguity import MANY
from checker.transport.wire.readings import readings
from checker.transport.wire.xml import MANY_NODES, UnreadXml, xml_readings

_UTF8 = frozenset({None, "utf-8", "utf8", "us-ascii", "ascii"})
_SHORT: Final = 1024
"""Bytes of a body that is worth remembering."""
_MOST_KNOWN: Final = 32
"""Bodies that are remembered for each operation, status and media type."""
_TRIALS: Final = 256
"""After so many bodies in a row that were not remembered, the memory is off: bodies with an id or a time never come again."""
_NEVER_TEXT: Final = frozenset({"csv", "event-stream"})


class Promise(Struct, frozen=True):
    """The schemas of a media type object of a response."""

    schema: Schema | None
    item_schema: Schema | None = None
    """The schema of each event of a stream (OpenAPI 3.2)."""


def body_validator(promise: Promise, received: MediaType, *, validate_formats: bool) -> BodyValidator | str | None:
    """Judge of bodies; a sentence when something is promised that cannot be judged; None when nothing is promised.

    Raises `UnresolvableReference` and `UnusableSchema`.
    """
    reader = events_of(received)
    if reader is not None and (promise.item_schema or promise.schema):
        whole, item = (
            None if schema is None else TwoOpinions(schema, validate_formats=validate_formats)
            for schema in (promise.schema, promise.item_schema)
        )
        return StreamBody(reader, whole, item, received.essence)
    schema = promise.schema
    if schema is None or _is_file(schema.raw):
        return None
    opinions = TwoOpinions(schema, validate_formats=validate_formats)
    if is_json(received.essence):
        return JsonBody(opinions, received.essence, received.charset)
    if is_yaml(received.essence):
        return ReadBody(opinions, received.essence, lambda content: yaml_readings(decoded_text(content, None)))
    if is_xml(received.essence):
        outline = outline_of(schema)
        return ReadBody(opinions, received.essence, partial(_xml_values, outline))
    return _text_validator(opinions, received)


class _Unjudged(Exception):
    """There are more readings than those tried, so the body cannot be called wrong."""


def _xml_values(outline: Outline, content: bytes) -> list[Any]:
    try:
        found = xml_readings(content, outline, most_nodes=MANY_NODES)
    except UnreadXml as error:
        raise BeyondLimits(f"is not read: {error}") from None
    values = [reading.value for reading in found]
    if "string" in outline.types:
        # Text in XML may be what stands in the root, or all of it.
        values.append(decoded_text(content, None))
    if any(reading.doubt == MANY for reading in found):
        raise _Unjudged
    return values


def _text_validator(opinions: TwoOpinions, received: MediaType) -> BodyValidator | str | None:
    schema = opinions.schema
    outline = outline_of(schema)
    types = outline.types
    is_structured = bool(types) and types <= {"array", "object", "null"}
    if received.type != "text" or received.subtype in _NEVER_TEXT:
        return f"the media type {received.essence} is not read" if is_structured else None
    if is_structured:
        return f"the media type {received.essence} does not say how arrays and objects are written"

    def values(content: bytes) -> list[Any]:
        text = decoded_text(content, received.charset)
        # A line that ends is still the value.
        texts = dict.fromkeys((text, text.strip()))
        return [one.value for each in texts for one in readings(each, outline)]

    return ReadBody(opinions, received.essence, values)


class ReadBody:
    """Judge of bodies that can be read in several ways: one that fits is enough."""

    __slots__ = ("_media_type", "_opinions", "_values")
    reads_prefix = False
    refuses_compressed = False

    def __init__(self, opinions: TwoOpinions, media_type: str, values: Callable[[bytes], list[Any]]) -> None:
        """`values` raises `ValueError` for a body that is not of its media type."""
        self._opinions = opinions
        self._media_type = media_type
        self._values = values

    def is_valid(self, content: bytes) -> bool:
        """True when the body can be read as something that fits the schema."""
        try:
            return self._opinions.any_valid(self._values(content))
        except _Unjudged:
            return True
        except ValueError:
            return False

    def opinions(self, content: bytes) -> BodyOpinions:
        """Return the opinions of both validators."""
        try:
            values = self._values(content)
        except _Unjudged:
            return BodyOpinions()
        except BeyondLimits as error:
            return BodyOpinions(unread=str(error))
        except ValueError as error:
            return BodyOpinions(undecodable=UndecodableBody(self._media_type, str(error)))
        return self._opinions.on(values)


class JsonBody(ReadBody):
    """Judge of JSON."""

    __slots__ = ("_is_valid", "_known", "_trials")
    refuses_compressed = True

    def __init__(self, opinions: TwoOpinions, media_type: str, charset: str | None) -> None:
        charset = None if charset in _UTF8 else charset
        super().__init__(opinions, media_type, lambda content: [json_value(content, charset)])
        self._is_valid = opinions.is_valid
        self._known: set[bytes] = set()
        """The first short bodies that fit: refusals and the like are the same bytes again and again."""
        self._trials = _TRIALS

    def is_valid(self, content: bytes) -> bool:
        """True when the body is JSON and fits the schema."""
        is_short = self._trials > 0 and len(content) <= _SHORT
        if is_short:
            if content in self._known:
                self._trials = _TRIALS
                return True
            self._trials -= 1
        try:
            value = orjson.loads(content)
        except orjson.JSONDecodeError:
            # Lone surrogates, a byte order mark, UTF-16: JSON all the same.
            return super().is_valid(content)
        is_valid = self._is_valid(value)
        if is_valid and is_short and len(self._known) < _MOST_KNOWN:
            self._known.add(content)
        return is_valid


def json_value(content: bytes, charset: str | None) -> Any:
    """Value of a JSON body. Raises `ValueError`, and `BeyondLimits` of its kind."""
    # Where the header lies or names nothing, JSON tells its encoding itself.
    detected = json.detect_encoding(content)
    try:
        text = content.decode(charset or detected)
    except (LookupError, ValueError):
        text = content.decode(detected)
    return json_of_text(text, strict=True)


def decoded_text(content: bytes, charset: str | None) -> str:
    """Text of a body; Latin-1, which HTTP once assumed, where it is not what it claims to be."""
    for name in (charset or "utf-8-sig", "utf-8-sig"):
        try:
            return content.decode(name)
        except (LookupError, ValueError):
            continue
    return content.decode("latin-1")


def _is_file(raw: object) -> bool:
    """True for a download that is declared under a JSON media type all the same."""
    return isinstance(raw, dict) and (
        raw.get("type") == "file" or (raw.get("type") == "string" and raw.get("format") == "binary")
    )
