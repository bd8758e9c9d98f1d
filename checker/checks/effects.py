"""Checks that a request's values are treated as data, and not evaluated, opened, fetched, or written into headers or statements (OWASP A03)."""

import re
import socket
from contextlib import suppress
from copy import copy
from dataclasses import replace
from typing import Final
from urllib.parse import unquote_to_bytes

from msgspec import Struct

from checker.checks.context import PASSED, CheckContext, Found
from checker.checks.disclosure import has_database_error
from checker.checks.resources import is_one_of, line_of, number_of, request_of_check
from checker.core.case import Case
from checker.core.failures import Failure, Severity
from checker.core.operation import Operation
from checker.core.request import LOOPBACK, Location, WireRequest, host_of
from checker.core.resource_names import words
from checker.core.response import Response
from checker.core.send import Exchanging

_ONE_OF: Final = 64  # One in this many valid requests is sent with other texts at one place.
_PASSWD: Final = "../../../../../../../../etc/passwd"
_HEADER: Final = b"x-of-a-value"
_URLS: Final = frozenset(("url", "uri", "link", "callback", "webhook", "endpoint", "feed", "href"))
"""Words in the names of values that a server may fetch."""
_PORTS: Final = range(20_000, 32_000)
"""Ports to listen on, below those that systems assign to clients. The case determines the port, so that the same seed sends the same requests."""
_TRIES: Final = 4  # Ports that are tried for a case, because another run may use the first one.


class Injection(Failure, code="ST405", title="Value has an effect", severity=Severity.CRITICAL):
    """The server treated a value of a request as code."""


class _Place(Struct, frozen=True):
    """A place in a request that contains a text."""

    part: str  # `query` or `body`.
    name: str
    value: str


def takes_texts(operation: Operation) -> bool:
    """Whether an operation takes values in its query or its body."""
    takes_queries = any(one.location is Location.QUERY for one in operation.parameters)
    return bool(operation.bodies or takes_queries) and not operation.has_status_in_body


def is_chosen(case: Case, response: Response) -> bool:
    """Whether the check sends requests for an interaction, or judges the response to its own request."""
    sent = response.request
    return sent is not None and (sent.is_of_check or sent.is_for("injection") or is_one_of(case, _ONE_OF))


def injection(context: CheckContext) -> Exchanging[Found]:
    """Fail if a text that replaces a value of a valid request has an effect which proves that the server did not treat it as data.

    The effects: a product of two numbers in template syntax is calculated; a path leads to `/etc/passwd`; a line break
    starts a header; a quote causes a database error that the original value does not cause; an address on loopback is
    fetched, if the target is on loopback too.
    """
    case, sent = context.case, context.response.request
    if sent is None or context.tools is None:
        return True
    if sent.is_of_check:
        return _effect(sent, context.response) or PASSED
    body = case.body if isinstance(case.body, dict) else {}
    places = [
        _Place(part, name, value)
        for part, values in (("query", case.query), ("body", body))
        for name, value in values.items()
        if isinstance(value, str)
    ]
    number = number_of(case)
    if not places:
        return True
    place = places[number // _ONE_OF % len(places)]
    product = f"{100 + number % 899}*{7_919 + number % 1_009}"
    texts = [f"{{{{{product}}}}}${{{product}}}\r\n{_HEADER.decode()}: 1", _PASSWD]
    if not has_database_error(context.response):
        texts.append(f"{place.value[:20]}'")
    found: Failure | None = None
    for text in texts:
        request = _with(context, place, text)
        answer = yield request
        found = _effect(request, answer) if isinstance(answer, Response) else None
        if found is not None:
            found.request = request
            break
    if found is None and not _URLS.isdisjoint(words(place.name)):
        found = yield from _fetched(context, place)
    if case.operation.method in ("PUT", "PATCH"):
        # Later steps are judged by the update of the sequence, so it is sent again.
        yield request_of_check(context, case)
    return found or PASSED


def _with(context: CheckContext, place: _Place, text: str) -> WireRequest:
    asked = copy(context.case)
    if place.part == "query":
        asked.query = asked.query | {place.name: text}
    else:
        asked.body = asked.body | {place.name: text}
    # An injected header is in the response with the redirect's `Location`.
    return replace(request_of_check(context, asked), is_kept=lambda: True)


def _effect(request: WireRequest, answer: Response) -> Failure | None:
    """Return the failure that the response to a text of this check shows."""
    sent, received = unquote_to_bytes(request.target) + (request.body or b""), answer.content
    product = re.search(rb"\{\{(\d+)\*(\d+)\}\}", sent)
    if product is not None:
        result = str(int(product[1]) * int(product[2])).encode()
        if result in received and result not in sent:
            return _failure("Template is evaluated", request, f"{product[0].decode()} is shown as {result.decode()}")
    if _PASSWD.encode() in sent and re.search(rb"root:[^:\n]*:0:0:", received):
        return _failure("Path leads out of the folder", request, "The response shows the file /etc/passwd")
    if _HEADER in sent and _HEADER.decode() in answer.headers:
        return _failure("Value begins a header", request, f"The response has the header {_HEADER.decode()}")
    if b"'" in sent and has_database_error(answer):
        return _failure("Quote ends a text of a statement", request, "The response shows an error of the database")
    return None


def _failure(title: str, request: WireRequest, message: str) -> Failure:
    return Injection(f"{line_of(request)}\n{message}", title=title, unique_key=title)


def _fetched(context: CheckContext, place: _Place) -> Exchanging[Failure | None]:
    """Return the failure if the server fetches an address on which only this check listens."""
    sent = context.response.request
    if sent is None or sent.origin is None or host_of(sent.origin.host) != LOOPBACK:
        return None
    server = _listener(context.case)
    if server is None:
        return None
    with server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        request = _with(context, place, url)
        # A server that fetches before it responds has connected by now. Waiting for others would block all lanes.
        server.setblocking(False)
        answer = yield request
        if not isinstance(answer, Response) or answer.status_code >= 400:
            return None
        try:
            server.accept()[0].close()
        except OSError:
            # No connection arrived.
            return None
    return _failure(
        "Any address is fetched", request, f"`{place.name}`: {url}\nThe server connected to it, where this run listened"
    ).showing_with(context.exchanges[-1:])


def _listener(case: Case) -> socket.socket | None:
    """Return a socket that listens on the first free port of a case; None if other processes use all of them."""
    first = number_of(case) % (len(_PORTS) - _TRIES)
    for port in _PORTS[first : first + _TRIES]:
        with suppress(OSError):
            return socket.create_server(("127.0.0.1", port))
    return None
