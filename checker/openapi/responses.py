"""What an operation promises of its responses: a table from (status, `Content-Type`) to a plan, filled on demand."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from checker.core.contract import BodyValidator, MediaTypeVerdict, ResponsePlan
from checker.core.schema import Schema, UnresolvableReference
from checker.openapi.bodies import is_swagger, media_types
from checker.openapi.json_body import JsonBody
from checker.openapi.media_types import MediaType, media_type_of
from checker.openapi.references import OpenApiDocument
from checker.validation.compiled import UnusableSchema
from checker.validation.pointers import pointer_child

_PLANS = 1024
_JSON = MediaType("application", "json")


@dataclass(frozen=True, slots=True)
class _Content:
    """One documented media type of a response."""

    spelling: str
    media_type: MediaType | None
    """None when the document spells it wrongly."""
    schema: Schema | None


class OpenApiContract:
    """Implements `checker.core.contract.ResponseContract`."""

    __slots__ = ("_document", "_is_head", "_plans", "_produces", "_responses", "_validate_formats")

    def __init__(
        self,
        document: OpenApiDocument,
        method: str,
        operation: Mapping[str, Any],
        pointer: str,
        *,
        validate_formats: bool = True,
    ) -> None:
        responses = operation.get("responses")
        at = pointer_child(pointer, "responses")
        self._document = document
        self._is_head = method.upper() == "HEAD"
        self._responses: dict[str, tuple[object, str]] = {}
        if isinstance(responses, dict):
            self._responses = {
                status: (value, pointer_child(at, status))
                for status, value in responses.items()
                if not status.lower().startswith("x-")
            }
        self._produces = (
            media_types(document, operation, "produces") if is_swagger(document) else []
        )
        self._validate_formats = validate_formats
        self._plans: dict[tuple[int, str | None], ResponsePlan] = {}

    def plan(self, status: int, content_type: str | None) -> ResponsePlan:
        """Plan for a response; `content_type` is the raw header value, None when absent."""
        key = (status, content_type)
        plan = self._plans.get(key)
        if plan is None:
            # A server may invent a header value for each response.
            if len(self._plans) >= _PLANS:
                self._plans.clear()
            plan = self._plans[key] = self._plan(status, content_type)
        return plan

    def _plan(self, status: int, content_type: str | None) -> ResponsePlan:
        documented = tuple(self._responses)
        matched = _matched(documented, status)
        contents = [] if matched is None else self._contents(matched)
        has_body = not (self._is_head or status < 200 or status in (204, 205, 304))
        verdict, body = MediaTypeVerdict.DOCUMENTED, None
        if has_body and matched is not None:
            verdict, body = self._judged(contents, content_type)
        return ResponsePlan(
            # Without any documented response nothing is promised.
            status_documented=matched is not None or not documented,
            documented_statuses=documented,
            media_type=verdict,
            documented_media_types=tuple(content.spelling for content in contents),
            body=body,
            matched_response=matched,
        )

    def _contents(self, matched: str) -> list[_Content]:
        try:
            raw, at = self._document.dereferenced(*self._responses[matched])
        except UnresolvableReference:
            return []
        if not isinstance(raw, dict):
            return []
        if is_swagger(self._document):
            schema = self._schema(raw, at)
            return [_Content(name, media_type_of(name), schema) for name in self._produces] or (
                [] if schema is None else [_Content("*/*", MediaType("*", "*"), schema)]
            )
        content = raw.get("content")
        if not isinstance(content, dict):
            return []
        return [
            self._content(name, value, pointer_child(at, "content", name))
            for name, value in content.items()
        ]

    def _content(self, name: str, value: object, at: str) -> _Content:
        schema = None
        try:
            value, at = self._document.dereferenced(value, at)
        except UnresolvableReference:
            value = None
        if isinstance(value, dict):
            schema = self._schema(value, at)
        return _Content(name, media_type_of(name), schema)

    def _schema(self, owner: Mapping[str, Any], at: str) -> Schema | None:
        raw = owner.get("schema")
        if not isinstance(raw, dict | bool):
            return None
        return self._document.schema(raw, pointer_child(at, "schema"))

    def _judged(
        self, contents: list[_Content], content_type: str | None
    ) -> tuple[MediaTypeVerdict, BodyValidator | None]:
        readable = [content for content in contents if content.media_type is not None]
        if not readable:
            return MediaTypeVerdict.DOCUMENTED, None
        if content_type is None or not content_type.strip():
            is_any = all(content.spelling == "*/*" for content in readable)
            assumed = None if is_any else _best(readable, _JSON)
            verdict = MediaTypeVerdict.DOCUMENTED if is_any else MediaTypeVerdict.MISSING
            return verdict, self._body(assumed, _JSON)
        received = media_type_of(content_type)
        if received is None:
            return MediaTypeVerdict.MALFORMED, None
        if not any(_covers(content, received) for content in readable):
            return MediaTypeVerdict.UNDOCUMENTED, None
        return MediaTypeVerdict.DOCUMENTED, self._body(_best(readable, received), received)

    def _body(self, content: _Content | None, received: MediaType) -> BodyValidator | None:
        if content is None or content.schema is None or not received.is_json:
            return None
        if _is_file(content.schema.raw):
            return None
        try:
            return JsonBody(
                content.schema,
                received.essence,
                received.charset,
                validate_formats=self._validate_formats,
            )
        except (UnresolvableReference, UnusableSchema):
            return None


def _matched(documented: tuple[str, ...], status: int) -> str | None:
    by_name = {name.strip().lower(): name for name in documented}
    for name in (str(status), f"{status // 100}xx", "default"):
        if name in by_name:
            return by_name[name]
    return None


def _covers(content: _Content, received: MediaType) -> bool:
    return content.media_type is not None and content.media_type.covers(received)


def _best(contents: list[_Content], received: MediaType) -> _Content | None:
    """The most exact documented type; None when several that differ in parameters fit alike."""
    fitting = [content for content in contents if _covers(content, received)]
    if len(fitting) > 1:
        same = [
            content
            for content in fitting
            if content.media_type is not None and content.media_type == received
        ]
        finest = max(content.media_type.precision for content in fitting if content.media_type)
        fitting = same or [
            content
            for content in fitting
            if content.media_type and content.media_type.precision == finest
        ]
    return fitting[0] if len(fitting) == 1 else None


def _is_file(raw: object) -> bool:
    """True for a download that is declared under a JSON media type all the same."""
    return isinstance(raw, dict) and (
        raw.get("type") == "file" or (raw.get("type") == "string" and raw.get("format") == "binary")
    )
