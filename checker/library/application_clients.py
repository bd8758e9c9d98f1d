"""Clients of `httpx` and `requests` whose requests an application of this process answers, as they understand options of their own."""

import io
from collections.abc import Callable, Mapping
from http.client import HTTPMessage
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import httpx

from checker.core.request import WireRequest
from checker.core.response import FailureKind, NetworkFailure, Outcome, Response

Send = Callable[[WireRequest], Outcome]


def httpx_client(url: str, send: Send) -> httpx.Client:
    """A client that sends what goes to a host (`http://testserver`) by `send`, and all else over the network."""
    return httpx.Client(mounts={url: _Transport(send)})


def requests_session(url: str, send: Send) -> Any:
    """A session that sends what goes to a host by `send`, and all else over the network."""
    session = import_module("requests").Session()
    session.mount(url, _Adapter(send))
    return session


class _Transport(httpx.BaseTransport):
    def __init__(self, send: Send) -> None:
        self._send = send

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        headers = list(request.headers.raw)
        body = request.read() or None
        outcome = self._send(WireRequest(request.method, request.url.raw_path, headers, body))
        if isinstance(outcome, NetworkFailure):
            is_late = outcome.kind is FailureKind.TIMEOUT
            kind = httpx.ReadTimeout if is_late else httpx.ConnectError
            raise kind(outcome.message, request=request)
        return httpx.Response(
            outcome.status_code,
            headers=outcome.raw_headers,
            content=outcome.content,
            request=request,
            extensions={"reason_phrase": outcome.message.encode("latin-1", "replace")},
        )


class _Adapter:
    """The adapter of a session of `requests`."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def send(self, request: Any, **options: Any) -> Any:
        body = request.body.encode() if isinstance(request.body, str) else request.body
        headers = [(_bytes(name), _bytes(value)) for name, value in request.headers.items()]
        target = request.path_url.encode("latin-1")
        outcome = self._send(WireRequest(request.method, target, headers, body))
        if isinstance(outcome, NetworkFailure):
            errors = import_module("requests").exceptions
            is_late = outcome.kind is FailureKind.TIMEOUT
            raise (errors.ReadTimeout if is_late else errors.ConnectionError)(outcome.message)
        return self._answer(request, outcome)

    def _answer(self, request: Any, outcome: Response) -> Any:
        found = import_module("requests").Response()
        found.status_code, found.reason = outcome.status_code, outcome.message
        found.headers.update(_joined(outcome.headers))
        # Objects that authenticate send once more by the connection of the answer.
        found.url, found.request, found.connection = request.url, request, self
        found.encoding = outcome.encoding
        found.raw = _Raw(outcome)
        found._content, found._content_consumed = outcome.readable.content, True
        return found

    def close(self) -> None:
        """Nothing is open."""


class _Raw(io.BytesIO):
    """The body, and the headers where `requests` looks for cookies."""

    def __init__(self, answer: Response) -> None:
        super().__init__(answer.content)
        told = HTTPMessage()
        for name, value in answer.raw_headers:
            told[name] = value
        self._original_response = SimpleNamespace(msg=told)


def _joined(headers: Mapping[str, list[str]]) -> dict[str, str]:
    return {name: ", ".join(values) for name, values in headers.items()}


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("latin-1")
