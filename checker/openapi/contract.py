"""The contract of an operation's responses: a table from (status, `Content-Type`) to a plan, filled on demand."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from msgspec import Struct

from checker.core.contract import (
    BodyOpinions,
    BodyValidator,
    HeaderOpinions,
    MediaTypeVerdict,
    ResponsePlan,
    SchemaViolation,
    UndecodableBody,
)
from checker.core.media_types import MediaType, media_type_of
from checker.core.operation import Location, Parameter
from checker.core.registry import DESERIALIZERS, BuiltIn, DeserializationContext, Deserializer
from checker.core.response import Response
from checker.core.schema import Dialect, Schema, UnresolvableReference, pointer_child
from checker.core.system import kept
from checker.openapi.bodies import is_swagger, media_types
from checker.openapi.documents.dialects import flag, members
from checker.openapi.documents.references import OpenApiDocument
from checker.openapi.parameters import Declared, MalformedOperation, newer_parameter, swagger_parameter
from checker.openapi.response_bodies import JsonBody, Promise, TwoOpinions, body_validator
from checker.schema.views import outline_of
from checker.transport.wire.ambiguity import LOOSE
from checker.transport.wire.decoding import decode_header
from checker.validation.compiled import UnusableSchema

_OTHERS: Final = frozenset({"content-type", "accept", "authorization"})
"""Headers that OpenAPI 3 declares elsewhere; their header objects are ignored."""
_DIGITS: Final = 19
LONGEST: Final = 8192
"""Longest fields of one name that are read, in characters. Each item of a list is read in several ways, which takes time."""


class Unvalidated(Struct, frozen=True):
    """A declared part of responses that cannot be judged."""

    pointer: str
    reason: str
    is_unread: bool = False  # Whether the declaration is correct, but checker cannot read such values.


class HeaderRule:
    """The rule of one declared header.

    Fields of one name are one list, joined by commas (RFC 9110, 5.3). A schema of arrays reads exactly this list. For
    other schemas, a recipient may take the first value, the last or all of them. So each value has to fit, unless the joined values fit. Sending such a header twice is no failure by itself: schemas cannot forbid it.
    """

    def __init__(self, parameter: Parameter, opinions: TwoOpinions | None) -> None:
        """Without `opinions` the value is not judged."""
        self.name = parameter.name
        self.required = parameter.required
        self.opinions = opinions
        self._parameter = parameter
        self._outline = outline_of(parameter.schema)
        is_plain = parameter.media_type is None
        self._has_text = is_plain and "string" in self._outline.types
        self._has_integers = is_plain and "integer" in self._outline.types
        self._is_list = (
            is_plain
            and parameter.style == "simple"
            and self._outline.types == {"array"}
            # The one header that is repeated and cannot be joined: its dates contain commas.
            and self.name.lower() != "set-cookie"
        )

    def fits(self, fields: list[str]) -> bool:
        """Whether one reading is valid. Text and integers are tried first, because most headers have one of these types."""
        opinions, text = self.opinions, fields[0]
        if opinions is None:
            return True
        if is_long(fields):
            return False
        if len(fields) == 1:
            if self._has_text and opinions.is_valid(text):
                return True
            is_short = self._has_integers and len(text) < _DIGITS
            if is_short and text.isdecimal() and text.isascii() and opinions.is_valid(int(text)):
                return True
        return any(all(map(opinions.any_valid, way)) for way in self._ways(fields))

    def said(self, fields: list[str]) -> BodyOpinions:
        """Return the opinions of both validators."""
        if self.opinions is None:
            return BodyOpinions()
        found = []
        for way in self._ways(fields):
            # In one reading, all texts have to fit: the first violation counts, then the first doubt, then any opinion.
            opinions = list(map(self.opinions.on, way))
            doubted = next((one for one in opinions if one.disagreement is not None), opinions[0])
            found.append(next((one for one in opinions if one.violations), doubted))
        # One way in which all values fit is enough. If there is no such way, one doubt is enough to report no failure.
        return next(
            (one for one in found if not one.violations and one.disagreement is None),
            next((one for one in found if one.disagreement is not None), found[0]),
        )

    def _ways(self, fields: list[str]) -> list[list[list[Any]]]:
        """Return the ways to read the fields, most likely first: texts, each with its possible values."""
        if self._is_list:
            # Empty elements of a list are ignored (RFC 9110, 5.6.1).
            fields = list(filter(None, fields)) or [""]
        joined = [self._values(", ".join(fields))]
        if len(fields) == 1 or self._is_list:
            return [joined]
        return [[self._values(text) for text in dict.fromkeys(fields)], joined]

    def _values(self, text: str) -> list[Any]:
        decoded = decode_header(self._parameter, text, self._outline)
        found: list[Any] = []
        if isinstance(decoded, list):
            # A reading that only generous readers accept as a number or a boolean does not satisfy the schema.
            found = [reading.value for reading in decoded if reading.doubt != LOOSE]
        # Text that cannot be decoded as its media type is judged as text.
        return found or [text]


class HeaderContract:
    """Implements `checker.core.contract.HeaderValidator`."""

    def __init__(self, rules: list[HeaderRule]) -> None:
        self._rules = tuple((rule.name.lower(), rule) for rule in rules)

    def is_valid(self, headers: Mapping[str, list[str]]) -> bool:
        """Whether required headers are present, and present headers fit."""
        for name, rule in self._rules:
            fields = headers.get(name)
            if not fields:
                if rule.required:
                    return False
            elif not rule.fits(fields):
                return False
        return True

    def opinions(self, headers: Mapping[str, list[str]]) -> HeaderOpinions:
        """Return the opinions of both validators."""
        missing = [r.name for name, r in self._rules if r.required and not headers.get(name)]
        violations: list[tuple[str, SchemaViolation]] = []
        disagreements, unread = [], []
        for name, rule in self._rules:
            fields = headers.get(name)
            if not fields:
                continue
            if rule.opinions is not None and is_long(fields):
                unread.append(rule.name)
                continue
            said = rule.said(fields)
            violations += [(rule.name, violation) for violation in said.violations]
            if said.disagreement is not None:
                disagreements.append(f"the header {rule.name}: {said.disagreement}")
        return HeaderOpinions(tuple(missing), tuple(violations), tuple(disagreements), tuple(unread))


def is_long(fields: list[str]) -> bool:
    """Whether the fields of one name are too long to be read."""
    return len(fields[0]) > LONGEST if len(fields) == 1 else sum(map(len, fields)) > LONGEST


def header_contract(
    document: OpenApiDocument, response: Mapping[str, Any], at: str, *, validate_formats: bool
) -> tuple[HeaderContract | None, list[Unvalidated]]:
    """Return the contract of a response object's headers, and the headers that cannot be judged."""
    rules: list[HeaderRule] = []
    faults: list[Unvalidated] = []
    for name, raw, place in members(response, at, "headers"):
        if name.lower() in _OTHERS and document.dialect is not Dialect.OPENAPI20:
            continue
        try:
            value, place = document.dereferenced(raw, place)
            if isinstance(value, dict):
                if is_swagger(document):
                    header = Declared(value, place, name, "header")
                    parameter = swagger_parameter(document, header, Location.HEADER, required=False)
                else:
                    # Headers have no other style (OpenAPI 3.1, 4.8.21).
                    header = Declared(value | {"style": "simple"}, place, name, "header")
                    required = bool(flag(value, "required"))
                    parameter = newer_parameter(document, header, Location.HEADER, required=required)
                place = parameter.schema.pointer
                is_open = parameter.schema.raw in ({}, True)
                opinions = None if is_open else TwoOpinions(parameter.schema, validate_formats=validate_formats)
                rules.append(HeaderRule(parameter, opinions))
        except (MalformedOperation, UnresolvableReference, UnusableSchema) as error:
            faults.append(Unvalidated(place, str(error)))
    # Optional headers without a schema are skipped, because judging them would cost time and prove nothing.
    telling = [rule for rule in rules if rule.required or rule.opinions is not None]
    return (HeaderContract(telling) if telling else None), faults


class DeserialisedBody(Struct):
    """Reads the body with a user's function, and judges the result."""

    _deserializer: Deserializer
    _opinions: TwoOpinions
    _media_type: str
    _operation: Any

    def is_fine(self, response: Response) -> bool:
        """Return False: the function needs the status and the body together."""
        return False

    def complaint(self, response: Response) -> None:
        """Return None: errors are recognised by the status."""

    def opinions(self, response: Response, case: Any = None) -> BodyOpinions:
        """Return the opinions of both validators on the function's result; an exception is reported as an undecodable body."""
        known = case if case is not None and case.id else None
        try:
            value = self._deserializer(DeserializationContext(self._operation, known), response)
        except Exception as error:  # noqa: BLE001 - user code may raise anything
            told = f"the deserializer raised {type(error).__name__}: {error}"
            return BodyOpinions(undecodable=UndecodableBody(self._media_type, told))
        return self._opinions.on([value])


_BodyJudge = BodyValidator | DeserialisedBody
_PLANS = 1024
_JSON = MediaType("application", "json")


class _Content(Struct, frozen=True):
    pointer: str
    spelling: str
    media_type: MediaType
    promise: Promise


class _Response(Struct, frozen=True):
    contents: tuple[_Content, ...] = ()  # Malformed media types are left out.
    spellings: tuple[str, ...] = ()  # All media types as they are written, including malformed ones.
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
        """The operation, for deserializers of users."""
        self._document = document
        self._is_head = method.upper() == "HEAD"
        self._responses: dict[str, tuple[object, str]] = {
            status: (value, at)
            for status, value, at in members(operation, pointer, "responses")
            if not status.lower().startswith("x-")
        }
        self._produces = media_types(document, operation, "produces") if is_swagger(document) else []
        self._validate_formats = validate_formats
        self._response_of = cache(self._response)
        self._plans: dict[tuple[int, str | None], ResponsePlan] = {}

    def plan(self, status: int, content_type: str | None) -> ResponsePlan:
        """Return the plan for a response; `content_type` is the raw header value, None if absent."""
        key = (status, content_type)
        # A server may invent a header value for each response, so the number of kept plans is limited.
        known = self._plans.get(key)
        if known is not None:
            return known
        documented = tuple(self._responses)
        # OpenAPI 3.0.3, Responses Object: an explicit status comes before a range, a range before `default`.
        by_name = {name.strip().lower(): name for name in documented}
        matched = next(
            (by_name[name] for name in (str(status), f"{status // 100}xx", "default") if name in by_name), None
        )
        response = _NOTHING if matched is None else self._response_of(matched)
        # RFC 9110, 6.4.1: these responses have no content, whatever their headers say; 205 must not have any (15.3.6).
        has_body = not (self._is_head or status < 200 or status in (204, 205, 304))
        verdict: MediaTypeVerdict = MediaTypeVerdict.DOCUMENTED
        body: _BodyJudge | None = None
        if has_body and matched is not None and response.contents:
            if content_type is None or not content_type.strip():
                if any(content.spelling != "*/*" for content in response.contents):
                    # Without a `Content-Type` a client may guess (RFC 9110, 8.3): JSON, if JSON is declared.
                    verdict, body = MediaTypeVerdict.MISSING, self._body(response.contents, _JSON)
            elif (received := media_type_of(content_type)) is None:
                verdict = MediaTypeVerdict.MALFORMED
            elif not any(content.media_type.names(received) for content in response.contents):
                verdict = MediaTypeVerdict.UNDOCUMENTED
            else:
                body = self._body(response.contents, received)
        return kept(
            self._plans,
            key,
            ResponsePlan(
                # Without any documented response nothing is promised.
                status_documented=matched is not None or not documented,
                documented_statuses=documented,
                media_type=verdict,
                documented_media_types=response.spellings,
                body=None if isinstance(body, DeserialisedBody) else body,
                answers=body if isinstance(body, DeserialisedBody) else None,
                matched_response=matched,
                headers=response.headers,
                schema=body.schema if isinstance(body, JsonBody) else None,
            ),
            _PLANS,
        )

    def declared(self) -> Iterator[tuple[str, Any]]:
        """Return the response objects by status as it is spelled; lost ones are left out."""
        for status, place in self._responses.items():
            try:
                yield status, self._document.dereferenced(*place)[0]
            except UnresolvableReference:
                # A warning reports this fault of the description.
                continue

    def unvalidated(self) -> Iterator[Unvalidated]:
        """Yield the declared parts of responses that cannot be judged. Compiles all of their schemas."""
        for matched in self._responses:
            response = self._response_of(matched)
            yield from response.faults
            # A response to a range of media types is most likely JSON.
            found = [
                self._validator(one, one.media_type if one.media_type.precision == 2 else _JSON)
                for one in response.contents
            ]
            faults = [one for one in found if isinstance(one, Unvalidated)]
            # One of several media types is enough to judge by.
            is_judged = any(one is not None and one not in faults for one in found)
            yield from (one for one in faults if not (one.is_unread and is_judged))

    def _response(self, matched: str) -> _Response:
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

    def _body(self, contents: tuple[_Content, ...], received: MediaType) -> _BodyJudge | None:
        """Return the judge of the most specific documented type; None if several types match equally and differ in parameters."""
        fitting = [content for content in contents if content.media_type.names(received)]
        # OpenAPI 3.0.3, Response Object: of several keys that match, only the most specific one applies (`text/plain`
        # overrides `text/*`).
        finest = max((content.media_type.precision for content in fitting), default=0)
        best = [content for content in fitting if content.media_type == received] or [
            content for content in fitting if content.media_type.precision == finest
        ]
        found = self._validator(best[0], received) if len(best) == 1 else None
        return None if isinstance(found, Unvalidated) else found

    def _validator(self, content: _Content, received: MediaType) -> _BodyJudge | Unvalidated | None:
        """Return the judge of bodies of a media type; None without a promise."""
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
        return Unvalidated(content.pointer, found, is_unread=True) if isinstance(found, str) else found
