"""Requests of cases. Everything that depends only on the operation is computed once."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from checker.core.case import NOT_SET, Case
from checker.core.credentials import basic_authorization, put
from checker.core.errors import SerializationError, SerializationNotPossible
from checker.core.operation import Location, Operation, Parameter, PropertyEncoding
from checker.core.registry import SerializationContext, Serializer
from checker.core.request import BaseUrl, WireRequest, header_bytes
from checker.core.schema import Schema
from checker.core.system import kept
from checker.schema.views import type_of
from checker.transport.header_lines import is_one_line, usual_lines
from checker.transport.policies import documents_redirects
from checker.transport.settings import Dispatch
from checker.transport.wire.bodies import (
    HeaderEncoder,
    TextEncoder,
    cookie_encoder,
    encode,
    encoder_of,
    header_encoder,
    path_encoder,
    query_encoder,
    query_prefix,
    reason_not,
)
from checker.transport.wire.multipart import Encoding
from checker.transport.wire.styles import escape, is_unreserved


def _by_user(serializer: Serializer, content_type: bytes, case: Case) -> tuple[bytes | None, bytes | None]:
    """Return the result of a user's serializer. Raises `ValueError` for any error in the serializer."""
    try:
        written = serializer(SerializationContext(case), case.body)
    except Exception as error:
        raise ValueError(f"the serializer raised {type(error).__name__}: {error}") from error
    if written is not None and not isinstance(written, bytes | bytearray):
        raise ValueError(f"the serializer must give bytes or None, got {type(written).__name__}")
    return (None, None) if written is None else (bytes(written), content_type)


def _multipart(media_type: str, encoding: Encoding, schema: Schema | None, case: Case) -> tuple[bytes, bytes]:
    """Return a body with the content types that the case sets for its parts."""
    usual = PropertyEncoding()
    parts = {
        name: replace(encoding.get(name, usual), content_type=content_type)
        for name, content_type in (case.part_types or {}).items()
    }
    content, content_type = encode(case.body, media_type, {**encoding, **parts}, schema)
    return content, header_bytes(content_type)


CASE_ID_HEADER = "X-Checker-TestCaseId"
_CASE_ID = CASE_ID_HEADER.encode("ascii")
_CASE_ID_LINE = _CASE_ID + b": "

_TEMPLATE = re.compile(r"\{([^{}]*)\}")
_Field = tuple[bytes, bytes]
_BodyWriter = Callable[[Case], tuple[bytes | None, bytes | None]]
"""Returns (bytes, content type) of a case's body; (None, None) if a user's serializer omits the body."""
_NOTHING = Dispatch(())  # The settings of requests without settings of their own.
_MANY = 1024  # Names whose encoders are cached. Undeclared names may differ in each case.


class RequestMaker:
    """Makes the requests of one run. All requests carry the configured `headers`, which override headers of the case."""

    def __init__(
        self,
        origin: BaseUrl,
        headers: Sequence[tuple[str, str]] = (),
        *,
        version: str,
        own_servers: bool = False,
        dispatch: Callable[[Operation], Dispatch] | None = None,
    ) -> None:
        """With `own_servers`, an operation that declares another base path on the same host uses that path.

        `dispatch` returns the settings of an operation, which replace `headers`. It is called once per operation.
        """
        self.origin = origin
        self._own_servers = own_servers
        self._version = version
        self._dispatch = dispatch
        self._common = _Usual(origin, headers, version)
        self._usual = {tuple(headers): self._common}
        """Cache by user headers, because most operations have the same ones."""
        self._base_path = _literal(origin.base_path)
        self._plans: dict[int, _Plan] = {}
        """Cache by the `id` of the operation, which each plan keeps alive. A lookup by label is slower."""

    def make(self, case: Case) -> WireRequest:
        """Return the request of a case. Raises `SerializationError` if its body cannot be written as its media type."""
        plan = self._plans.get(id(case.operation)) or self._plan(case.operation)
        body = content_type = None
        if case.body is not NOT_SET:
            try:
                body, content_type = plan.body(case)
            except ValueError as error:
                is_known = reason_not(case.media_type or "", type_of(case.body)) is None
                kind = SerializationError if is_known else SerializationNotPossible
                raise kind(f"{case.media_type}: {error}") from error
        names = tuple(case.headers)
        layout = plan.layouts.get(names) or self._layout(plan, names)
        headers, identity = layout.fixed.copy(), case.id.encode("utf-8", "surrogatepass")
        request = WireRequest(case.other_method or plan.method, plan.target(case), headers, body)
        if plan.via is not None:
            request.via = plan.via
        if layout.sends_id:
            headers.append((_CASE_ID, identity))
        if content_type is not None and layout.sends_content_type:
            headers.append((b"Content-Type", content_type))
        if case.cookies:
            if layout.sends_cookies:
                headers.append((b"Cookie", plan.cookie(case.cookies)))
        elif layout.lines is not None and identity.isalnum() and (content_type is None or is_one_line(content_type)):
            lines = request.lines = layout.lines.copy()
            lines.append(_CASE_ID_LINE + identity)
            if content_type is not None:
                lines.append(b"Content-Type: " + content_type)
        for name, raw, encode_value in layout.names:
            headers.append((raw, encode_value(case.headers[name])))
        request.is_kept, request.origin = plan.documents_redirects, self.origin
        if plan.credentials and (given := plan.credentials.get(case.alternative)) is not None:
            put(request, given)
        return request

    def target(self, case: Case) -> bytes:
        return self._plan(case.operation).target(case)

    def formatted_path(self, case: Case) -> str:
        """Return the path with its variables substituted, without base path and query."""
        return self._plan(case.operation).path(case.path_parameters)

    def _plan(self, operation: Operation) -> "_Plan":
        plan = self._plans.get(id(operation))
        if plan is None:
            declared = operation.declared_base_url if self._own_servers else None
            base_path = self._base_path
            with suppress(ValueError):
                own = None if declared is None else BaseUrl.from_url(declared)
                if own is not None and own.url == self.origin.url:
                    base_path = _literal(own.base_path)
            usual, asked = self._common, _NOTHING
            if self._dispatch is not None:
                asked = self._dispatch(operation)
                known = self._usual.get(asked.headers)
                if known is None:
                    known = self._usual[asked.headers] = _Usual(self.origin, asked.headers, self._version)
                usual = known
            plan = self._plans[id(operation)] = _Plan(operation, base_path, usual, asked)
        return plan

    def base_path_of(self, operation: Operation) -> str:
        return self._plan(operation).base_path

    def _layout(self, plan: "_Plan", names: tuple[str, ...]) -> "_Layout":
        """Return the headers of cases with headers of these names. User headers override headers of the case, and these override the defaults."""
        given, usual = [(name, header_bytes(name)) for name in names], plan.usual
        taken = usual.user_names | {raw.lower() for _, raw in given}
        fixed = [field for field in usual.own if field[0].lower() not in taken] + usual.user
        sends_id, sends_content_type = _CASE_ID.lower() not in taken, b"content-type" not in taken
        layout = _Layout(
            fixed,
            tuple((name, raw, plan.header(name)) for name, raw in given if raw.lower() not in usual.user_names),
            usual_lines(fixed) if sends_id and sends_content_type and not names else None,
            sends_id=sends_id,
            sends_content_type=sends_content_type,
            sends_cookies=b"cookie" not in taken,
        )
        return kept(plan.layouts, names, layout, _MANY)


def plain_maker() -> RequestMaker:
    """Return a maker of requests for printing only, without a base path and user headers."""
    return RequestMaker(BaseUrl.from_url("http://localhost"), (), version="")


class _Usual:
    """The headers that do not depend on the case: the user's, and the defaults."""

    def __init__(self, origin: BaseUrl, headers: Sequence[tuple[str, str]], version: str) -> None:
        self.user = [(header_bytes(name), header_bytes(value)) for name, value in headers]
        self.user_names = frozenset(name.lower() for name, _ in self.user)
        own = [(b"Accept", b"*/*"), (b"User-Agent", f"checker/{version}".encode("ascii"))]
        if origin.userinfo:
            user, _, password = origin.userinfo.partition(":")
            own.append((b"Authorization", basic_authorization(user, password).encode()))
        self.own = own


class _Layout(Struct, frozen=True):
    """The headers of cases with headers of these names, computed once."""

    fixed: list[_Field]
    names: tuple[tuple[str, bytes, HeaderEncoder], ...]  # (name in the case, name on the wire, encoder of its value).
    lines: list[bytes] | None  # Header lines of a case without headers; None if they have to be made for each request.
    sends_id: bool
    sends_content_type: bool
    sends_cookies: bool


class _Plan:
    """The facts about an operation that all its cases share."""

    def __init__(self, operation: Operation, base: str, usual: _Usual, asked: Dispatch) -> None:
        self.operation, self.usual = operation, usual
        self.via = asked.http
        self.documents_redirects = partial(documents_redirects, operation)
        self.credentials = asked.credentials
        self.method = operation.method
        self._parameters = {
            (parameter.location, parameter.location.key(parameter.name)): parameter
            for parameter in operation.parameters
        }
        self.base_path = base
        pieces = _TEMPLATE.split(operation.path_behind(base))
        self._first = _literal(pieces[0])
        self._variables = [
            (name, path_encoder(name, self._declared(Location.PATH, name)), _literal(after))
            for name, after in zip(pieces[1::2], pieces[2::2], strict=True)
        ]
        self._fixed = None if self._variables else base + self._first
        self._queries: dict[str, tuple[str | None, TextEncoder]] = {}
        self._cookies: dict[str, TextEncoder] = {}
        self.layouts: dict[tuple[str, ...], _Layout] = {}
        self._bodies: dict[str | None, _BodyWriter] = {}

    def target(self, case: Case) -> bytes:
        path = self._fixed
        if path is None:
            path = self.base_path + self.path(case.path_parameters)
        if case.query:
            query = self.query(case.query)
            if query:
                # Some templates contain a query: `/call?version=1`.
                path = f"{path}&{query}" if "?" in path else f"{path}?{query}"
        return path.encode("ascii")

    def path(self, values: dict[str, Any]) -> str:
        text = self._first
        for name, encode_value, after in self._variables:
            text += (encode_value(values[name]) if name in values else f"%7B{escape(name)}%7D") + after
        return text

    def query(self, values: dict[str, Any]) -> str:
        encoders = self._queries
        found: list[str] = []
        for name, value in values.items():
            known = encoders.get(name)
            if known is None:
                declared = self._declared(Location.QUERY, name)
                known = kept(encoders, name, (query_prefix(name, declared), query_encoder(name, declared)), _MANY)
            prefix, encode_value = known
            if prefix is not None:
                kind = value.__class__
                if kind is int:
                    found.append(f"{prefix}{value}")
                    continue
                if kind is str and is_unreserved(value):
                    found.append(prefix + value)
                    continue
            text = encode_value(value)
            if text:
                found.append(text)
        return "&".join(found)

    def header(self, name: str) -> HeaderEncoder:
        return header_encoder(self._declared(Location.HEADER, name))

    def cookie(self, values: dict[str, Any]) -> bytes:
        encoders = self._cookies
        found: list[str] = []
        for name, value in values.items():
            encode = encoders.get(name)
            if encode is None:
                made = cookie_encoder(name, self._declared(Location.COOKIE, name))
                encode = kept(encoders, name, made, _MANY)
            found.append(encode(value))
        return header_bytes("; ".join(filter(None, found)))

    def _declared(self, location: Location, name: str) -> Parameter | None:
        return self._parameters.get((location, location.key(name)))

    def body(self, case: Case) -> tuple[bytes | None, bytes | None]:
        """Return bytes and content type of a body; neither if a user's serializer omits the body."""
        write = self._bodies.get(case.media_type)
        if write is None:
            write = self._bodies[case.media_type] = self._body_writer(case.media_type)
        return write(case)

    def _body_writer(self, media_type: str | None) -> _BodyWriter:
        bodies = self.operation.bodies
        declared = next((body for body in bodies if body.media_type == media_type), None)
        if media_type is None:
            declared = bodies[0] if bodies else None
            media_type = "application/json" if declared is None else declared.media_type
        if declared is not None and declared.serializer is not None:
            return partial(_by_user, declared.serializer, header_bytes(media_type))
        encoding: Encoding = {} if declared is None else declared.encoding
        schema = None if declared is None else declared.schema
        found = encoder_of(media_type, encoding, schema)
        if declared is not None and declared.write is not None:
            found = declared.write, media_type
        if found is None:
            # Multipart: each body has its own `Content-Type`.
            return partial(_multipart, media_type, encoding, schema)
        encoder, content_type = found[0], header_bytes(found[1])
        return lambda case: (encoder(case.body), content_type)


def _literal(text: str) -> str:
    """Return a literal part of a path, unchanged except for characters that a target cannot contain."""
    return escape(text, "/:@!$&'()*+,;=%?[]|\\^`\"<>")
