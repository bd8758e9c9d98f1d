"""Bodies of responses, judged by media type: JSON, YAML, XML, text and streams of events."""

import contextlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import orjson
import yaml
from msgspec import Struct, field
from msgspec.structs import replace

from checker.core.contract import BodyOpinions, BodyValidator, SchemaViolation, UndecodableBody
from checker.core.media_types import MediaType, is_json, is_xml, is_yaml, stream_of
from checker.core.schema import Direction, Schema, UnresolvableReference, pointer_child, tokens_of
from checker.core.system import later
from checker.openapi.documents.dialects import members
from checker.openapi.documents.parsing import TooMuch, compose, value_of
from checker.schema.views import Outline, outline_of
from checker.transport.wire.ambiguity import MANY
from checker.transport.wire.readings import NoConstant, readings, refuse_constant
from checker.transport.wire.xml import MANY_NODES, UnreadXml, xml_readings
from checker.validation.compiled import UnusableSchema, compile_schema

if TYPE_CHECKING:
    import checker.validation.referee as opinions
    from checker.validation.referee import Referee
else:
    # Imported when the first value is wrong, because jsonschema takes a sixth of the import time of a worker.
    opinions = later("checker.validation.referee", by_all=False)

DEEPEST: Final = 500
"""Levels of nested arrays and objects. Python's own limit depends on its version and on the depth of the caller."""


class BeyondLimits(ValueError):
    """A text that may be JSON but exceeds a limit; the message says which."""


def json_of_text(text: str, *, strict: bool = False) -> Any:
    """Return the value of a JSON text. Raises `ValueError` for any other, `BeyondLimits` above a limit.

    `strict` refuses `NaN` and the infinities, which are not JSON.
    """
    try:
        value = json.loads(text, parse_constant=refuse_constant if strict else None)
    except (json.JSONDecodeError, NoConstant):
        raise
    except RecursionError:
        raise BeyondLimits(_TOO_DEEP) from None
    except ValueError:
        raise BeyondLimits("has a number of more digits than are read") from None
    if text.count("[") + text.count("{") > DEEPEST and _is_deep(value):
        raise BeyondLimits(_TOO_DEEP)
    return value


_TOO_DEEP = f"is nested more than {DEEPEST} levels deep: no more of it is read"


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        parts = (each.values() if isinstance(each, dict) else each for each in level)
        level = [inner for each in parts for inner in each if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


_MOST_VALUES: Final = 100_000
"""Most values of a YAML body. Aliases count each time, because each of them is validated again."""
_MOST_MARKS: Final = 200_000
"""Most line ends, commas and colons of a YAML body. Each part between them becomes a node, which takes 5 microseconds."""
_MARKS: Final = "\n,:"
_TOO_MUCH: Final = "is YAML with more values than are read"
_TAG: Final = "tag:yaml.org,2002:"


def yaml_readings(text: str) -> list[Any]:
    """Return the value by YAML 1.2, and by 1.1 if that differs. Raises `ValueError`, and its subclass `BeyondLimits`."""
    if sum(map(text.count, _MARKS)) > _MOST_MARKS:
        raise BeyondLimits(_TOO_MUCH)
    try:
        node = compose(text)
        if node is None:
            return [None]
        value = value_of(node, largest=_MOST_VALUES)
        old = value_of(node, plain=_OldScalars("").read, largest=_MOST_VALUES)
    except TooMuch:
        raise BeyondLimits(_TOO_MUCH) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(" ".join(str(error).split())) from None
    # By `repr`, since to Python 1, 1.0 and true are equal.
    is_same = type(value) is type(old) and repr(value) == repr(old)
    return [value] if is_same else [value, old]


class _OldScalars(yaml.SafeLoader):
    """Plain scalars of YAML 1.1, dates left as text."""

    def read(self, text: str) -> Any:
        """Return the value of a text; the text itself if YAML 1.1 gives it an impossible meaning."""
        resolve: Callable[..., str] = self.resolve
        tag = resolve(yaml.ScalarNode, text, (True, False))
        if tag == f"{_TAG}timestamp":
            return text
        try:
            return self.construct_object(yaml.ScalarNode(tag, text))
        except (yaml.YAMLError, ValueError):
            return text


class TwoOpinions:
    """A compiled schema of responses; the second validator is made on demand."""

    def __init__(self, schema: Schema, *, validate_formats: bool) -> None:
        """Raises `UnresolvableReference` and `UnusableSchema`."""
        self.schema = schema
        self._validate_formats = validate_formats
        compiled = compile_schema(schema, Direction.RESPONSE, validate_formats=validate_formats)
        self.is_valid = compiled.is_valid
        self._referee: Referee | None = None

    def any_valid(self, values: Sequence[Any]) -> bool:
        """Whether one of several readings fits."""
        return any(map(self.is_valid, values))

    def on(self, values: Sequence[Any]) -> BodyOpinions:
        """Return the opinions of both validators on a body with these readings, most likely first."""
        if self.any_valid(values):
            return BodyOpinions()
        if self._referee is None:
            self._referee = opinions.referee(self.schema, Direction.RESPONSE, validate_formats=self._validate_formats)
        found = [self._referee.errors(value) for value in values]
        # Both opinions have to reject each reading. A reading that one of them admits may be what a client reads.
        if all(found):
            return BodyOpinions(tuple(found[0]))
        return BodyOpinions(
            disagreement=f"the schema at {self.schema.pointer}: the compiled validator rejects what the second one accepts"
        )


_DEEPEST: Final = 4  # Levels of alternatives in alternatives of an event.
_Group = list[tuple[TwoOpinions, "Payloads"]]
"""Keywords of alternatives. The schema of each alternative decides whether an event belongs to it."""


class Payloads(Struct):
    """JSON texts in the properties of an event, as its schemas declare them."""

    own: list[tuple[str, TwoOpinions, tuple[str, ...]]] = field(default_factory=list)
    """(property, schema of its text, path of that schema), from the event's schema or from the root of the document."""
    choices: list[_Group] = field(default_factory=list)

    def opinions(self, event: dict[str, Any]) -> Iterator[BodyOpinions]:
        """Yield the opinions of both validators on the texts of an event that is valid itself."""
        for name, payload, way in self.own:
            if isinstance(event.get(name), str):
                yield _of_text(payload, name, event[name], way)
        for branches in self.choices:
            admitting = [inner for branch, inner in branches if branch.is_valid(event)]
            groups = [list(inner.opinions(event)) for inner in admitting] or [[]]
            # The best alternative is one without violations, else the first.
            yield from next((one for one in groups if not any(each.violations for each in one)), groups[0])


def payloads_of(outline: Outline, event: str, depth: int = _DEEPEST) -> Payloads:
    """Return the payloads that schemas declare for events, whose schema is at `event`; schemas that cannot be read declare none."""
    found = Payloads()
    for facet in outline.facets():
        for name, inner, at in members(facet.raw, facet.pointer, "properties"):
            if isinstance(inner, dict):
                media_type = inner.get("contentMediaType")
                if (
                    isinstance(media_type, str)
                    and media_type.partition(";")[0].strip().lower().endswith("json")
                    and isinstance(inner.get("contentSchema"), dict | bool)
                ):
                    # Errors of the schema are reported when the schema of the event is compiled.
                    with contextlib.suppress(UnresolvableReference, UnusableSchema):
                        schema = outline.schema_at(inner["contentSchema"], pointer_child(at, "contentSchema"))
                        way = tokens_of(schema.pointer.removeprefix(event))
                        found.own.append((name, TwoOpinions(schema, validate_formats=True), way))
    for group in outline.alternatives() if depth else ():
        payloads = [(one.schema(), payloads_of(one, event, depth - 1)) for one in group]
        if any(inner.own or inner.choices for _, inner in payloads):
            # Unless all alternatives compile, it is unknown which of them an event is.
            with contextlib.suppress(UnresolvableReference, UnusableSchema):
                found.choices.append(
                    [(TwoOpinions(one, validate_formats=True), inner) for one, inner in payloads if one is not None]
                )
    return found


def _of_text(payload: TwoOpinions, name: str, text: str, way: tuple[str, ...]) -> BodyOpinions:
    try:
        values = [json_of_text(text)]
    except BeyondLimits as error:
        return BodyOpinions(unread=str(error))
    except ValueError:
        # Text that is not JSON is validated as a string, so it violates the schema unless the schema allows strings.
        values = [text]
    opinions = payload.on(values)
    moved = tuple(
        replace(one, instance_path=(name, *one.instance_path), schema_path=(*way, *one.schema_path), is_payload=True)
        for one in opinions.violations
    )
    return BodyOpinions(moved, None, opinions.disagreement)


_SAMPLE = 100  # Events of a stream that are judged.
_LINES: Final = re.compile(r"\r\n|\n|\r")
Events = Callable[[bytes], Iterator[Any]]
"""Yields the values of the complete events at the beginning of a stream. Raises `ValueError` at an unreadable event."""


class StreamBody:
    """Judges streams: implements `checker.core.contract.BodyValidator`."""

    reads_prefix = True
    refuses_compressed = False

    def __init__(self, events: Events, whole: TwoOpinions | None, item: TwoOpinions | None, media_type: str) -> None:
        self._events = events
        self._whole = whole
        self._item = item
        self._media_type = media_type
        self._payloads = Payloads() if item is None else payloads_of(outline_of(item.schema), item.schema.pointer)

    def is_valid(self, content: bytes) -> bool:
        """Whether every event of the sample fits."""
        return self.opinions(content) == BodyOpinions()

    def opinions(self, content: bytes) -> BodyOpinions:
        """Return the opinions of both validators: each schema path once, at the first event that violates it."""
        found: dict[tuple[str, ...], SchemaViolation] = {}
        doubt: str | None = None
        read: list[Any] = []
        try:
            for event in self._events(content):
                read.append(event)
                if self._item is None:
                    continue
                for said in self._of_event(event):
                    doubt = doubt or said.disagreement
                    for violation in said.violations:
                        numbered = replace(violation, event=len(read))
                        found.setdefault(violation.schema_path, numbered)
        except BeyondLimits as error:
            return BodyOpinions(tuple(found.values()), unread=str(error))
        except ValueError as error:
            return BodyOpinions(undecodable=UndecodableBody(self._media_type, f"Event #{len(read) + 1}: {error}"))
        if self._item is None and self._whole is not None:
            return self._of_whole(self._whole, content, read)
        return BodyOpinions(tuple(found.values()), None, None if found else doubt)

    def _of_event(self, event: Any) -> Iterator[BodyOpinions]:
        assert self._item is not None
        said = self._item.on([event])
        yield said
        if not said.violations and isinstance(event, dict):
            yield from self._payloads.opinions(event)

    def _of_whole(self, whole: TwoOpinions, content: bytes, events: list[Any]) -> BodyOpinions:
        """Return the opinions on a stream without `itemSchema`: such a schema may mean the whole body, a list, or each event."""
        text = content.decode("utf-8", "replace")
        # One reading that makes the stream valid is enough, because the description does not state which one it means.
        if not events or whole.any_valid([events, text]):
            return BodyOpinions()
        for number, event in enumerate(events):
            found = [event]
            if isinstance(event, dict) and isinstance(event.get("data"), str):
                with contextlib.suppress(ValueError):
                    found.insert(0, json_of_text(event["data"]))
                found.append(event["data"])
            said = whole.on(found)
            if said.disagreement is not None or said.violations:
                numbered = tuple(replace(one, event=number + 1) for one in said.violations)
                return BodyOpinions(numbered, None, said.disagreement)
        return BodyOpinions()


def _server_sent(content: bytes) -> Iterator[Any]:
    """Yield the events of `text/event-stream` (HTML Living Standard, 9.2.6), at most a hundred; an event ends with a blank line."""
    fields: dict[str, Any] = {}
    data: list[str] = []
    count = 0
    lines = _LINES.split(content.decode("utf-8", "replace").removeprefix("\ufeff"))
    # The text after the last line end may be incomplete.
    for line in lines[:-1]:
        if not line:
            if data:
                yield fields | {"data": "\n".join(data)}
                count += 1
            fields, data = {}, []
            if count == _SAMPLE:
                return
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            data.append(value)
        elif name == "event" or (name == "id" and "\0" not in value):
            fields[name] = value
        elif name == "retry" and value.isascii() and value.isdecimal():
            fields["retry"] = int(value[:18])


def _json_sequence(content: bytes) -> Iterator[Any]:
    """Yield the values of a JSON text sequence (RFC 7464): each after a record separator."""
    pieces = content.decode("utf-8", "replace").split("\x1e")
    if pieces[0].strip():
        raise ValueError("it does not start with a record separator")
    yield from _texts(pieces)


def _texts(texts: list[str]) -> Iterator[Any]:
    count = 0
    for index, text in enumerate(texts):
        if not text.strip():
            continue
        try:
            value = json_of_text(text)
        except ValueError:
            if index == len(texts) - 1:
                # The last text may be incomplete.
                return
            raise
        yield value
        count += 1
        if count == _SAMPLE:
            return


# The functions that cut streams into events.
_EVENTS: Final[dict[str, Events]] = {
    "events": _server_sent,
    # Blank lines mean nothing.
    "lines": lambda content: _texts(content.decode("utf-8-sig", "replace").split("\n")),
    "records": _json_sequence,
}
_UTF8 = frozenset({None, "utf-8", "utf8", "us-ascii", "ascii"})
_NEVER_TEXT: Final = frozenset({"csv", "event-stream"})


class Promise(Struct, frozen=True):
    """The schemas of a media type object of a response."""

    schema: Schema | None
    item_schema: Schema | None = None  # The schema of each event of a stream (OpenAPI 3.2).


def body_validator(promise: Promise, received: MediaType, *, validate_formats: bool) -> BodyValidator | str | None:
    """Return the judge of a body; a sentence if a promise cannot be judged; None without a promise.

    Raises `UnresolvableReference` and `UnusableSchema`.
    """
    reader = _EVENTS.get(stream_of(received))
    if reader is not None and (promise.item_schema or promise.schema):
        whole, item = (
            None if schema is None else TwoOpinions(schema, validate_formats=validate_formats)
            for schema in (promise.schema, promise.item_schema)
        )
        return StreamBody(reader, whole, item, received.essence)
    schema = promise.schema
    if schema is None or (
        isinstance(schema.raw, dict)
        and (
            schema.raw.get("type") == "file"
            or (schema.raw.get("type") == "string" and schema.raw.get("format") == "binary")
        )
    ):
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
    """The body has other possible readings, so it is not proved to be wrong."""


def _xml_values(outline: Outline, content: bytes) -> list[Any]:
    try:
        found = xml_readings(content, outline, most_nodes=MANY_NODES)
    except UnreadXml as error:
        raise BeyondLimits(f"is not read: {error}") from None
    values = [reading.value for reading in found]
    if "string" in outline.types:
        # A text body may be the text of the root element, or the whole document.
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
        # A trailing line break does not change the value.
        texts = dict.fromkeys((text, text.strip()))
        return [one.value for each in texts for one in readings(each, outline)]

    return ReadBody(opinions, received.essence, values)


class ReadBody:
    """Judges bodies with several possible readings. One fitting reading is enough."""

    __slots__ = ("_media_type", "_opinions", "_values")
    reads_prefix = False
    refuses_compressed = False

    def __init__(self, opinions: TwoOpinions, media_type: str, values: Callable[[bytes], list[Any]]) -> None:
        """`values` raises `ValueError` for a body that is not of its media type."""
        self._opinions = opinions
        self._media_type = media_type
        self._values = values

    def is_valid(self, content: bytes) -> bool:
        """Whether the body has a reading that fits the schema."""
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
            if not isinstance(error, json.JSONDecodeError) or error.pos < _SHOWN_AT_LEAST:
                excerpt = ""
            else:
                before, after = error.doc[error.pos - _AROUND : error.pos], error.doc[error.pos : error.pos + _AROUND]
                excerpt = f"\nAfter `...{before}` comes `{after}`" if after else f"\nThe body ends after `...{before}`"
            return BodyOpinions(undecodable=UndecodableBody(self._media_type, f"{error}{excerpt}"))
        return self._opinions.on(values)


_SHOWN_AT_LEAST: Final = 400  # Characters at the beginning of a body that every report shows.
_AROUND: Final = 60


class JsonBody(ReadBody):
    """Judge of JSON."""

    __slots__ = ("_is_valid", "schema")
    refuses_compressed = True

    def __init__(self, opinions: TwoOpinions, media_type: str, charset: str | None) -> None:
        charset = None if charset in _UTF8 else charset
        super().__init__(opinions, media_type, lambda content: [json_value(content, charset)])
        self._is_valid = opinions.is_valid
        self.schema = opinions.schema

    def is_valid(self, content: bytes) -> bool:
        """Whether the body is JSON and fits the schema."""
        try:
            return self._is_valid(orjson.loads(content))
        except orjson.JSONDecodeError:
            # Texts with lone surrogates or a byte order mark, or in UTF-16, are JSON as well.
            return super().is_valid(content)


def json_value(content: bytes, charset: str | None) -> Any:
    """Return the value of a JSON body. Raises `ValueError`, and its subclass `BeyondLimits`."""
    # If the header has no charset or a wrong one, JSON reveals its encoding itself.
    detected = json.detect_encoding(content)
    try:
        text = content.decode(charset or detected)
    except (LookupError, ValueError):
        text = content.decode(detected)
    return json_of_text(text, strict=True)


def decoded_text(content: bytes, charset: str | None) -> str:
    """Return the text of a body, read as Latin-1 (the old default of HTTP) if it is invalid in its declared charset."""
    for name in (charset or "utf-8-sig", "utf-8-sig"):
        try:
            return content.decode(name)
        except (LookupError, ValueError):
            continue
    return content.decode("latin-1")
