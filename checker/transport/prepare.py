"""From a case to its request: what can be known of an operation is worked out once."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from checker.core.case import NOT_SET, Case
from checker.core.operation import Body, Location, Operation, Parameter, PropertyEncoding
from checker.core.request import Origin, WireRequest
from checker.transport.bodies import Encoder, Encoding, encode, encoder_of, json_bytes
from checker.transport.styles import (
    Pairs,
    cookie_pairs,
    escape,
    header_text,
    path_text,
    query_pairs,
    text_of,
)

CASE_ID_HEADER = "X-Checker-TestCaseId"

_TEMPLATE = re.compile(r"\{([^{}]*)\}")
_Field = tuple[bytes, bytes]
_MANY_LAYOUTS = 256
_DOTS = frozenset((".", ".."))
"""Segments that would vanish."""
_is_unreserved = re.compile(r"[A-Za-z0-9_~.-]+").fullmatch
"""Text that needs no escapes (RFC 3986, 2.3)."""


class RequestMaker:
    """Requests of one run: where they go, and what each of them carries.

    `headers` come from the user: they stand in every request and win over what a case has under the same name.
    """

    def __init__(
        self, origin: Origin, headers: Sequence[tuple[str, str]] = (), *, version: str
    ) -> None:
        self.origin = origin
        given = [(header_bytes(name), header_bytes(value)) for name, value in headers]
        self._user_names = frozenset(name.lower() for name, _ in given)
        own = [(b"Accept", b"*/*"), (b"User-Agent", f"checker/{version}".encode("ascii"))]
        self._own = [field for field in own if field[0].lower() not in self._user_names]
        self._user = given
        self._sends_id = CASE_ID_HEADER.lower().encode("ascii") not in self._user_names
        self._usual = self._own + given
        self._base_path = _base_path(origin)
        self._plans: dict[str, _Plan] = {}

    def make(self, case: Case) -> WireRequest:
        """The request of a case. Raises `ValueError` when its body cannot be written as its media type."""
        plan = self._plans.get(case.operation.label)
        if plan is None or plan.operation is not case.operation:
            plan = self._plan(case.operation)
        body = content_type = None
        if case.body is not NOT_SET:
            body, content_type = plan.body(case)
        if case.headers or case.cookies:
            headers = self._headers(case, plan, content_type)
        else:
            headers = self._usual.copy()
            if self._sends_id:
                headers.append((b"X-Checker-TestCaseId", case.id.encode("utf-8", "surrogatepass")))
            if content_type is not None and b"content-type" not in self._user_names:
                headers.append((b"Content-Type", content_type))
        return WireRequest(plan.method, plan.target(case), headers, body)

    def target(self, case: Case) -> bytes:
        """Base path, path and query as they are sent."""
        return self._plan(case.operation).target(case)

    def formatted_path(self, case: Case) -> str:
        """The template with its variables substituted, without base path and query."""
        return self._plan(case.operation).path(case.path_parameters)

    def _plan(self, operation: Operation) -> "_Plan":
        plan = self._plans.get(operation.label)
        if plan is None or plan.operation is not operation:
            plan = self._plans[operation.label] = _Plan(operation, self._base_path)
        return plan

    def _headers(self, case: Case, plan: "_Plan", content_type: bytes | None) -> list[_Field]:
        """Headers of a case with headers or cookies: the user's win, then the case's, then ours."""
        names = tuple(case.headers)
        layout = plan.layouts.get(names)
        if layout is None:
            layout = plan.remember(names, self._layout(names))
        headers = layout.fixed.copy()
        if layout.sends_id:
            headers.append((b"X-Checker-TestCaseId", case.id.encode("utf-8", "surrogatepass")))
        if content_type is not None and layout.sends_content_type:
            headers.append((b"Content-Type", content_type))
        if case.cookies and layout.sends_cookies:
            headers.append((b"Cookie", plan.cookie(case.cookies)))
        for name, raw in layout.names:
            headers.append((raw, plan.header(name, case.headers[name])))
        return headers

    def _layout(self, names: tuple[str, ...]) -> "_Layout":
        given = [(name, header_bytes(name)) for name in names]
        kept = tuple(pair for pair in given if pair[1].lower() not in self._user_names)
        taken = self._user_names | {raw.lower() for _, raw in given}
        return _Layout(
            [field for field in self._own if field[0].lower() not in taken] + self._user,
            kept,
            sends_id=b"x-checker-testcaseid" not in taken,
            sends_content_type=b"content-type" not in taken,
            sends_cookies=b"cookie" not in taken,
        )


@dataclass(frozen=True, slots=True)
class _Layout:
    """Which headers a case with headers of these names gets, worked out once."""

    fixed: list[_Field]
    names: tuple[tuple[str, bytes], ...]
    """Names of the case's own as it has them, and as they are sent."""
    sends_id: bool
    sends_content_type: bool
    sends_cookies: bool


class _Plan:
    """What is known of an operation before its cases."""

    def __init__(self, operation: Operation, base_path: str) -> None:
        self.operation = operation
        self.method = operation.method
        self._parameters: dict[Location, dict[str, Parameter]] = {place: {} for place in Location}
        for parameter in operation.parameters:
            self._parameters[parameter.location][parameter.name] = parameter
        for parameter in self._parameters[Location.HEADER].copy().values():
            self._parameters[Location.HEADER][parameter.name.lower()] = parameter
        self._base_path = base_path
        pieces = _TEMPLATE.split(operation.path)
        self._first = _literal(pieces[0])
        self._variables = [
            (name, self._path_encoder(name), _literal(after))
            for name, after in zip(pieces[1::2], pieces[2::2], strict=True)
        ]
        self._fixed = (base_path + self._first) if not self._variables else None
        self._prefixes = {
            parameter.name: escape(parameter.name) + "="
            for parameter in self._parameters[Location.QUERY].values()
            if parameter.media_type is None and parameter.style != "deepObject"
        }
        self.layouts: dict[tuple[str, ...], _Layout] = {}
        self._bodies: dict[str | None, tuple[Encoder | None, str, bytes, Encoding]] = {}

    def target(self, case: Case) -> bytes:
        path = self._fixed
        if path is None:
            path = self._base_path + self.path(case.path_parameters)
        if case.query:
            query = self.query(case.query)
            if query:
                # Some templates bring a query of their own: `/call?version=1`.
                path = f"{path}&{query}" if "?" in path else f"{path}?{query}"
        return path.encode("ascii")

    def path(self, values: dict[str, Any]) -> str:
        text = self._first
        for name, encode_value, after in self._variables:
            text += (
                encode_value(values[name]) if name in values else f"%7B{escape(name)}%7D"
            ) + after
        return text

    def _path_encoder(self, name: str) -> Callable[[Any], str]:
        parameter = self._parameters[Location.PATH].get(name)
        style, explode, is_json = "simple", False, False
        if parameter is not None:
            style, explode = parameter.style, parameter.explode
            is_json = parameter.media_type is not None
        is_simple = style == "simple" and not is_json

        def encoded(value: Any) -> str:
            if is_simple:
                if value.__class__ is int:
                    return f"{value}"
                if value.__class__ is str and _is_unreserved(value) and value not in _DOTS:
                    return value
            if is_json:
                return escape(json_bytes(value).decode("utf-8"))
            return path_text(value, style, name, explode=explode)

        return encoded

    def remember(self, names: tuple[str, ...], layout: _Layout) -> _Layout:
        """The layout; which headers are there varies with what is optional, so there are not many."""
        if len(self.layouts) >= _MANY_LAYOUTS:
            self.layouts.clear()
        self.layouts[names] = layout
        return layout

    def query(self, values: dict[str, Any]) -> str:
        found: list[str] = []
        for name, value in values.items():
            prefix = self._prefixes.get(name)
            if prefix is not None:
                kind = value.__class__
                if kind is int:
                    found.append(f"{prefix}{value}")
                    continue
                if kind is str:
                    plain = _is_unreserved(value) is not None
                    if plain or not self._parameters[Location.QUERY][name].allow_reserved:
                        found.append(prefix + (value if plain else escape(value)))
                        continue
            declared = self._parameters[Location.QUERY].get(name)
            found += (f"{key}={text}" for key, text in _pairs(name, value, declared))
        return "&".join(found)

    def header(self, name: str, value: Any) -> bytes:
        if value.__class__ is str:
            return header_bytes(value)
        declared = self._parameters[Location.HEADER]
        parameter = declared.get(name) or declared.get(name.lower())
        if parameter is None:
            return header_bytes(header_text(value, explode=False))
        if parameter.media_type is not None:
            return json_bytes(value)
        return header_bytes(header_text(value, explode=parameter.explode, style=parameter.style))

    def cookie(self, values: dict[str, Any]) -> bytes:
        declared = self._parameters[Location.COOKIE]
        found: list[str] = []
        for name, value in values.items():
            parameter = declared.get(name)
            if parameter is not None and parameter.media_type is not None:
                value = json_bytes(value).decode("utf-8")
            explode = parameter is None or parameter.explode
            found += (f"{key}={text}" for key, text in cookie_pairs(name, value, explode=explode))
        return header_bytes("; ".join(found))

    def body(self, case: Case) -> tuple[bytes, bytes]:
        """Bytes and content type of a body that is set."""
        value = case.body
        known = self._bodies.get(case.media_type)
        if known is None:
            known = self._bodies[case.media_type] = self._known_body(case.media_type)
        encoder, media_type, content_type, encoding = known
        if encoder is not None:
            return encoder(value, encoding), content_type
        if case.multipart_content_types:
            encoding = _typed(encoding, case.multipart_content_types)
        content, named = encode(value, media_type, encoding)
        return content, header_bytes(named)

    def _known_body(self, media_type: str | None) -> tuple[Encoder | None, str, bytes, Encoding]:
        bodies = self.operation.bodies
        declared = next((body for body in bodies if body.media_type == media_type), None)
        if media_type is None:
            declared = bodies[0] if bodies else None
            media_type = _media_type(declared)
        encoding: Encoding = {} if declared is None else declared.encoding
        found = encoder_of(media_type)
        if found is None:
            return None, media_type, b"", encoding
        encoder, sent = found
        return encoder, media_type, header_bytes(sent), encoding


def _typed(encoding: Encoding, content_types: dict[str, str]) -> Encoding:
    """The encoding with the content types that a case gives its parts."""
    usual = PropertyEncoding()
    return dict(encoding) | {
        name: replace(encoding.get(name, usual), content_type=content_type)
        for name, content_type in content_types.items()
    }


def _media_type(body: Body | None) -> str:
    return "application/json" if body is None else body.media_type


def _pairs(name: str, value: Any, parameter: Parameter | None) -> Pairs:
    if parameter is None:
        return query_pairs(name, value)
    if parameter.media_type is not None:
        return [(escape(name), escape(json_bytes(value).decode("utf-8")))]
    return query_pairs(
        name,
        value,
        parameter.style,
        explode=parameter.explode,
        allow_reserved=parameter.allow_reserved,
    )


def header_bytes(value: Any) -> bytes:
    """A header's text as bytes: Latin-1 where that is possible, UTF-8 otherwise."""
    text: str = text_of(value)
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _literal(text: str) -> str:
    """A fixed part of a path: sent as declared, but for what a target cannot hold."""
    return escape(text, "/:@!$&'()*+,;=%?[]|\\^`\"<>")


def _base_path(origin: Origin) -> str:
    return _literal(origin.base_path)
