"""The contract of an operation's responses: a table from (status, `Content-Type`) to a plan, filled on demand."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from checker.core.contract import BodyOpinions, BodyValidator, MediaTypeVerdict, ResponsePlan, UndecodableBody
from checker.core.media_types import MediaType, media_type_of
from checker.core.registry import DESERIALIZERS, BuiltIn, DeserializationContext, Deserializer
from checker.core.response import Response
from checker.core.schema import Schema, UnresolvableReference
from checker.openapi.answers.bodies import Promise, body_validator
from checker.openapi.answers.headers import HeaderContract, Unvalidated, header_contract
from checker.openapi.answers.texts import TwoOpinions
from checker.openapi.bodies import is_swagger, media_types
from checker.openapi.documents.dialects import members
from checker.openapi.documents.references import OpenApiDocument
from checker.schema.pointers import pointer_child
from checker.validation.compiled import UnusableSchema


class DeserialisedBody:
    """Has a user's function read the body, and judges what it gives."""

    def __init__(self, deserializer: Deserializer, opinions: TwoOpinions, media_type: str, operation: Any) -> None:
        self._deserializer = deserializer
        self._opinions = opinions
        self._media_type = media_type
        self._operation = operation

    def is_fine(self, response: Response) -> bool:
        """Never at a glance: only the status and the body together say so."""
        return False

    def complaint(self, response: Response) -> None:
        """None: the status tells of errors."""

    def opinions(self, response: Response, case: Any = None) -> BodyOpinions:
        """Return the opinions of both validators on the function's result; an exception is reported as an undecodable body."""
        known = case if case is not None and case.id else None
        try:
            value = self._deserializer(DeserializationContext(self._operation, known), response)
        except Exception as error:  # noqa: BLE001 - the wall: code of users
            told = f"the deserializer raised {type(error).__name__}: {error}"
            return BodyOpinions(undecodable=UndecodableBody(self._media_type, told))
        return self._opinions.on([value])


_PLANS = 1024
_JSON = MediaType("application", "json")


class _Content(Struct, frozen=True):
    """One documented media type of a response."""

    pointer: str
    spelling: str
    media_type: MediaType
    promise: Promise


class _Response(Struct, frozen=True):
    """A response object, read."""

    contents: tuple[_Content, ...] = ()
    """Without media types that are spelled wrongly."""
    spellings: tuple[str, ...] = ()
    """All media types as they are spelled, readable or not."""
    headers: HeaderContract | None = None
    faults: tuple[Unvalidated, ...] = ()


_NO_PROMISE = Promise(None)
_NOTHING = _Response()


class OpenApiContract:
    """Implements `checker.core.contract.ResponseContract`."""

    def __init__(
        self,
        document: OpenApiDocument,
        method: str,
        operation: Mapping[str, Any],
        pointer: str,
        *,
        validate_formats: bool = True,
    ) -> None:
        self.owner: object = None
        """The operation, of which deserializers of users are told."""
        self._document = document
        self._is_head = method.upper() == "HEAD"
        self._responses: dict[str, tuple[object, str]] = {
            status: (value, at)
            for status, value, at in members(operation, pointer, "responses")
            if not status.lower().startswith("x-")
        }
        self._produces = media_types(document, operation, "produces") if is_swagger(document) else []
        self._validate_formats = validate_formats
        self._read: dict[str, _Response] = {}
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
        response = _NOTHING if matched is None else self._response(matched)
        has_body = not (self._is_head or status < 200 or status in (204, 205, 304))
        verdict: MediaTypeVerdict = MediaTypeVerdict.DOCUMENTED
        body: BodyValidator | DeserialisedBody | None = None
        if has_body and matched is not None:
            verdict, body = self._judged(response.contents, content_type)
        return ResponsePlan(
            # Without any documented response nothing is promised.
            status_documented=matched is not None or not documented,
            documented_statuses=documented,
            media_type=verdict,
            documented_media_types=response.spellings,
            body=None if isinstance(body, DeserialisedBody) else body,
            answers=body if isinstance(body, DeserialisedBody) else None,
            matched_response=matched,
            headers=response.headers,
        )

    def declared(self) -> Iterator[tuple[str, Any]]:
        """Statuses as they are spelled, each with its response object; without those that lead to nothing."""
        for status, place in self._responses.items():
            try:
                yield status, self._document.dereferenced(*place)[0]
            except UnresolvableReference:
                # Told among the warnings of the description.
                continue

    def unvalidated(self) -> Iterator[Unvalidated]:
        """Yield the parts of responses that are declared and cannot be judged. Compiles all of their schemas."""
        for matched in self._responses:
            response = self._response(matched)
            yield from response.faults
            # Of a range, JSON is what is likely to come.
            found = [
                self._validator(one, one.media_type if one.media_type.precision == 2 else _JSON)
                for one in response.contents
            ]
            faults = [one for one in found if isinstance(one, Unvalidated)]
            # Of several forms one is enough to judge by.
            is_judged = any(one is not None and one not in faults for one in found)
            yield from (one for one in faults if not (one.is_unread and is_judged))

    def _response(self, matched: str) -> "_Response":
        """The response object of a status, read once."""
        found = self._read.get(matched)
        if found is None:
            found = self._read[matched] = self._read_response(matched)
        return found

    def _read_response(self, matched: str) -> "_Response":
        try:
            raw, at = self._document.dereferenced(*self._responses[matched])
        except UnresolvableReference as error:
            return _Response(faults=(Unvalidated(self._responses[matched][1], str(error)),))
        if not isinstance(raw, dict):
            return _NOTHING
        headers, faults = header_contract(self._document, raw, at, validate_formats=self._validate_formats)
        contents, spellings = [], []
        for spelling, promise, place in self._promises(raw, at, faults):
            spellings.append(spelling)
            media_type = media_type_of(spelling)
            if media_type is not None:
                contents.append(_Content(place, spelling, media_type, promise))
        return _Response(tuple(contents), tuple(spellings), headers, tuple(faults))

    def _promises(self, raw: dict[str, Any], at: str, faults: list[Unvalidated]) -> Iterator[tuple[str, Promise, str]]:
        """Yield (media type as it is spelled, promise, place)."""
        if is_swagger(self._document):
            promise = self._promise(raw, at)
            for name in self._produces or ([] if promise == _NO_PROMISE else ["*/*"]):
                yield name, promise, at
            return
        for name, declared, at_content in members(raw, at, "content"):
            promise, place = _NO_PROMISE, at_content
            try:
                value, place = self._document.dereferenced(declared, place)
                if isinstance(value, dict):
                    promise = self._promise(value, place)
            except UnresolvableReference as error:
                faults.append(Unvalidated(place, str(error)))
            yield name, promise, place

    def _promise(self, owner: Mapping[str, Any], at: str) -> Promise:
        found: list[Schema | None] = []
        for key in ("schema", "itemSchema"):
            raw = owner.get(key)
            is_schema = isinstance(raw, dict | bool)
            found.append(self._document.schema(raw, pointer_child(at, key)) if is_schema else None)
        return Promise(*found)

    def _judged(
        self, contents: tuple[_Content, ...], content_type: str | None
    ) -> tuple[MediaTypeVerdict, BodyValidator | DeserialisedBody | None]:
        if not contents:
            return MediaTypeVerdict.DOCUMENTED, None
        if content_type is None or not content_type.strip():
            if all(content.spelling == "*/*" for content in contents):
                return MediaTypeVerdict.DOCUMENTED, None
            return MediaTypeVerdict.MISSING, self._body(contents, _JSON)
        received = media_type_of(content_type)
        if received is None:
            return MediaTypeVerdict.MALFORMED, None
        if not any(content.media_type.names(received) for content in contents):
            return MediaTypeVerdict.UNDOCUMENTED, None
        return MediaTypeVerdict.DOCUMENTED, self._body(contents, received)

    def _body(self, contents: tuple[_Content, ...], received: MediaType) -> BodyValidator | DeserialisedBody | None:
        """Return the judge by the most exact documented type; None when several that differ in parameters fit alike."""
        fitting = [content for content in contents if content.media_type.names(received)]
        finest = max((content.media_type.precision for content in fitting), default=0)
        best = [content for content in fitting if content.media_type == received] or [
            content for content in fitting if content.media_type.precision == finest
        ]
        found = self._validator(best[0], received) if len(best) == 1 else None
        return None if isinstance(found, Unvalidated) else found

    def _validator(
        self, content: _Content, received: MediaType
    ) -> BodyValidator | DeserialisedBody | Unvalidated | None:
        """Judge of bodies of a media type; None when nothing is promised of them."""
        formats, schema = self._validate_formats, content.promise.schema
        own = None if schema is None else DESERIALIZERS.find(received.essence)
        if isinstance(own, BuiltIn):
            received, own = media_type_of(own.media_type) or received, None
        try:
            if own is not None and schema is not None:
                opinions = TwoOpinions(schema, validate_formats=formats)
                return DeserialisedBody(own, opinions, received.essence, self.owner)
            found = body_validator(content.promise, received, validate_formats=formats)
        except (UnresolvableReference, UnusableSchema) as error:
            schema = content.promise.schema or content.promise.item_schema
            return Unvalidated(content.pointer if schema is None else schema.pointer, str(error))
        if isinstance(found, str):
            return Unvalidated(content.pointer, found, is_unread=True)
        return found


def _matched(documented: tuple[str, ...], status: int) -> str | None:
    by_name = {name.strip().lower(): name for name in documented}
    for name in (str(status), f"{status // 100}xx", "default"):
        if name in by_name:
            return by_name[name]
    return None
