"""Streams of events, judged event by event (OpenAPI 3.2, `itemSchema`), with the JSON texts in their properties (4.14.4)."""

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from checker.core.contract import BodyOpinions, SchemaViolation, UndecodableBody
from checker.core.media_types import MediaType
from checker.core.schema import UnresolvableReference, tokens_of
from checker.openapi.answers.texts import BeyondLimits, TwoOpinions, json_of_text
from checker.openapi.documents.dialects import members
from checker.schema.pointers import pointer_child
from checker.schema.views import Outline, outline_of
from checker.validation.compiled import UnusableSchema

_DEEPEST: Final = 4
"""Levels of alternatives in alternatives of an event."""
_Group = list[tuple[TwoOpinions, "Payloads"]]
"""Alternatives, each with the schema that decides whether an event is one of them."""


class Payloads(Struct):
    """JSON texts in the properties of an event, as its schemas declare them."""

    own: list[tuple[str, TwoOpinions, tuple[str, ...]]] = field(default_factory=list)
    """(property, schema of its text, path of that schema from the schema of the event, or from the root of the document)."""
    choices: list[_Group] = field(default_factory=list)

    def opinions(self, event: dict[str, Any]) -> Iterator[BodyOpinions]:
        """Yield the opinions of both validators on the texts of an event that is valid itself."""
        for name, payload, way in self.own:
            if isinstance(event.get(name), str):
                yield _of_text(payload, name, event[name], way)
        for branches in self.choices:
            admitting = [inner for branch, inner in branches if branch.is_valid(event)]
            yield from _nearest([list(inner.opinions(event)) for inner in admitting])


def payloads_of(outline: Outline, event: str, depth: int = _DEEPEST) -> Payloads:
    """Return the payloads that schemas declare for events, whose schema is at `event`; schemas that cannot be read declare none."""
    found = Payloads()
    for facet in outline.facets():
        for name, inner, at in members(facet.raw, facet.pointer, "properties"):
            if isinstance(inner, dict) and _is_json_text(inner):
                # An error of the schema is reported where the schema of the event is compiled.
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


def _nearest(groups: list[list[BodyOpinions]]) -> list[BodyOpinions]:
    """Return the opinions of the alternative nearest to an event: one without violations, else the first."""
    return next((one for one in groups if not any(each.violations for each in one)), (groups or [[]])[0])


def _of_text(payload: TwoOpinions, name: str, text: str, way: tuple[str, ...]) -> BodyOpinions:
    try:
        values = [json_of_text(text)]
    except BeyondLimits as error:
        return BodyOpinions(unread=str(error))
    except ValueError:
        # Text that is not JSON breaks the schema as a string, unless the schema allows strings.
        values = [text]
    opinions = payload.on(values)
    moved = tuple(
        replace(one, instance_path=(name, *one.instance_path), schema_path=(*way, *one.schema_path), is_payload=True)
        for one in opinions.violations
    )
    return BodyOpinions(moved, None, opinions.disagreement)


def _is_json_text(raw: dict[str, Any]) -> bool:
    media_type = raw.get("contentMediaType")
    return (
        isinstance(media_type, str)
        and media_type.partition(";")[0].strip().lower().endswith("json")
        and isinstance(raw.get("contentSchema"), dict | bool)
    )


_SAMPLE = 100
"""Events of a stream that are judged."""
_LINES: Final = re.compile(r"\r\n|\n|\r")
_LINE_TYPES = frozenset({"jsonl", "x-ndjson", "ndjson", "x-jsonlines", "jsonlines", "x-jsonl"})

Events = Callable[[bytes], Iterator[Any]]
"""Values of the whole events in the beginning of a stream. Raises `ValueError` at one that cannot be read."""


def events_of(received: MediaType) -> Events | None:
    """Return the function that cuts streams of a media type into events; None for other media types."""
    if received.essence == "text/event-stream":
        return _server_sent
    if received.subtype in _LINE_TYPES or received.subtype.endswith("+jsonl"):
        # Blank lines mean nothing.
        return lambda content: _texts(content.decode("utf-8-sig", "replace").split("\n"))
    if received.subtype == "json-seq" or received.subtype.endswith("+json-seq"):
        return _json_sequence
    return None


class StreamBody:
    """Judge of streams: implements `checker.core.contract.BodyValidator`."""

    reads_prefix = True
    refuses_compressed = False

    def __init__(self, events: Events, whole: TwoOpinions | None, item: TwoOpinions | None, media_type: str) -> None:
        self._events = events
        self._whole = whole
        self._item = item
        self._media_type = media_type
        self._payloads = Payloads() if item is None else payloads_of(outline_of(item.schema), item.schema.pointer)

    def is_valid(self, content: bytes) -> bool:
        """True when every event of the sample fits."""
        opinions = self.opinions(content)
        return opinions == BodyOpinions()

    def opinions(self, content: bytes) -> BodyOpinions:
        """Return the opinions of both validators, each schema path once, at the first event that breaks it."""
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
        """Descriptions older than `itemSchema` mean many things: all of it, a list, or each event."""
        text = content.decode("utf-8", "replace")
        if not events or whole.any_valid([events, text]):
            return BodyOpinions()
        for number, event in enumerate(events):
            said = whole.on(_meanings(event))
            if said.disagreement is not None or said.violations:
                numbered = tuple(replace(one, event=number + 1) for one in said.violations)
                return BodyOpinions(numbered, None, said.disagreement)
        return BodyOpinions()


def _meanings(event: Any) -> list[Any]:
    found = [event]
    if isinstance(event, dict) and isinstance(event.get("data"), str):
        with contextlib.suppress(ValueError):
            found.insert(0, json_of_text(event["data"]))
        found.append(event["data"])
    return found


def _server_sent(content: bytes) -> Iterator[Any]:
    """Events of `text/event-stream` (HTML Living Standard, 9.2.6), at most a hundred; one without a blank line is not over."""
    fields: dict[str, Any] = {}
    data: list[str] = []
    count = 0
    lines = _LINES.split(content.decode("utf-8", "replace").removeprefix("\ufeff"))
    # What follows the last line end may go on.
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
    """Values of a JSON text sequence (RFC 7464): each after a record separator."""
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
                # It may go on.
                return
            raise
        yield value
        count += 1
        if count == _SAMPLE:
            return
