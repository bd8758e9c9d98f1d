"""Requests of cases sent by clients of users: sessions of `httpx` and `requests`, test clients of frameworks."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any, Final, NamedTuple
from urllib.parse import unquote_to_bytes

from checker.core.errors import IncorrectUsage
from checker.core.foreign import request_of
from checker.core.request import BaseUrl, Field, WireRequest
from checker.core.response import Outcome, Response
from checker.library import session_cookies
from checker.library.client_values import is_of, values_of
from checker.transport.applications import Application

Sender = Callable[[WireRequest, BaseUrl, Mapping[str, Any]], Any]
_OF_CLIENTS: Final = ("cert", "proxies", "allow_redirects", "follow_redirects", "auth", "stream")
"""Options of calls that only a client understands."""


def session_for(
    transport: Mapping[str, Any],
    origin: BaseUrl,
    send: Callable[[WireRequest], Outcome],
    application: Application | None,
) -> "OwnClient | None":
    """The client that takes options which our own transport has no words for; None where there are none.

    Where an application of this process is the host of `origin`, the client asks it by `send`.
    """
    if not any(name in transport for name in _OF_CLIENTS):
        return None
    return OwnClient(lambda: _made(transport, origin, send, application))


class OwnClient(NamedTuple):
    """A client that no user made: it is there for one request."""

    make: Callable[[], Any]


def _made(
    transport: Mapping[str, Any],
    origin: BaseUrl,
    send: Callable[[WireRequest], Outcome],
    application: Application | None,
) -> Any:
    is_here = application is not None and application.origin.url == origin.url
    of_requests = is_of(transport.get("auth"), "requests")
    # Most calls go over our own transport, and the clients take long to import.
    if is_here:
        clients = import_module("checker.library.application_clients")
        make = clients.requests_session if of_requests else clients.httpx_client
        return make(origin.url, send)
    if of_requests:
        return import_module("requests").Session()
    options = {name: transport[name] for name in ("verify", "cert") if name in transport}
    httpx = import_module("httpx")
    proxies = transport.get("proxies") or {}
    mounts = {f"{scheme}://": httpx.HTTPTransport(proxy=url) for scheme, url in proxies.items()}
    return httpx.Client(**options, mounts=mounts or None)


def home_of(session: Any) -> BaseUrl | None:
    """Return the base URL of a client; None if it has none."""
    own = str(getattr(session, "base_url", ""))
    if own.startswith(("http://", "https://")):
        return BaseUrl.from_url(own)
    hosts = {"werkzeug": "http://localhost", "django": "http://testserver"}
    found = next((url for package, url in hosts.items() if is_of(session, package)), None)
    return None if found is None else BaseUrl.from_url(found)


def send_by(session: Any, request: WireRequest, base_url: BaseUrl, transport: Mapping[str, Any]) -> Outcome:
    """The response of a client. What the client raises passes through; `IncorrectUsage` for what is no client."""
    if isinstance(session, OwnClient):
        with session.make() as own:
            return send_by(own, request, base_url, transport)
    for package, sender in _SENDERS.items():
        if is_of(session, package):
            own = values_of(session, request.url_at(base_url.plain))
            request = replace(request, client_has_credentials=own.has_credentials)
            answer = sender(session)(request, base_url.plain, transport)
            response = Response.from_any(answer)
            response.request = _as_sent(request, answer)
            response.verify = transport.get("verify", True) is not False
            return response
    raise IncorrectUsage(
        f"`session` must be a client of httpx, requests, werkzeug, Starlette or Django, got {session!r:.80}"
    )


def _as_sent(request: WireRequest, answer: Any) -> WireRequest:
    """The request with what the client has put into it: credentials, cookies, parameters of the session."""
    wanted = request.method, unquote_to_bytes(request.path)
    for one in reversed([*(getattr(answer, "history", None) or ()), answer]):
        sent = request_of(one)
        if sent is not None and (sent.method, unquote_to_bytes(sent.path)) == wanted:
            is_same = unquote_to_bytes(sent.target) == unquote_to_bytes(request.target)
            target = request.target if is_same else sent.target
            return replace(request, target=target, headers=_merged(request.headers, sent.headers))
    return request


def _merged(own: list[Field], sent: list[Field]) -> list[Field]:
    """Headers under the names that they had, with the values that were sent, and those that were added after them."""
    values = {name.lower(): value for name, value in sent}
    times = Counter(name.lower() for name, _ in own)
    kept = [(name, values.get(name.lower(), value) if times[name.lower()] == 1 else value) for name, value in own]
    return kept + [(name.title(), value) for name, value in sent if name.lower() not in times]


def _texts(request: WireRequest) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers]


def _joined(request: WireRequest) -> dict[str, str]:
    """Headers of clients that know one value of a name (RFC 9110, 5.3)."""
    found: dict[str, str] = {}
    for name, value in _texts(request):
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def _by_httpx(session: Any) -> Sender:
    def send(request: WireRequest, base_url: BaseUrl, transport: Mapping[str, Any]) -> Any:
        url = request.url_at(base_url)
        request = session_cookies.joined(request, session_cookies.of_httpx(session, url))
        options = {name: transport[name] for name in ("auth", "timeout") if name in transport}
        follows = transport.get("follow_redirects", transport.get("allow_redirects"))
        if follows is not None:
            options["follow_redirects"] = follows
        return session.request(
            request.method,
            url,
            headers=[(name.encode("latin-1"), value.encode("latin-1")) for name, value in _texts(request)],
            content=request.body,
            **options,
        )

    return send


def _by_requests(session: Any) -> Sender:
    def send(request: WireRequest, base_url: BaseUrl, transport: Mapping[str, Any]) -> Any:
        url, options = request.url_at(base_url), dict(transport)
        request = session_cookies.joined(request, session_cookies.of_requests(session, url))
        if "follow_redirects" in options:
            options["allow_redirects"] = options.pop("follow_redirects")
        return session.request(request.method, url, headers=_joined(request), data=request.body, **options)

    return send


def _by_werkzeug(session: Any) -> Sender:
    def send(request: WireRequest, base_url: BaseUrl, transport: Mapping[str, Any]) -> Any:
        with session_cookies.kept_by_werkzeug(session, request, base_url.host):
            return session.open(
                request.url_at(base_url).removeprefix(base_url.url),
                base_url=base_url.url,
                method=request.method,
                headers=_texts(request),
                data=request.body,
            )

    return send


def _by_django(session: Any) -> Sender:
    def send(request: WireRequest, base_url: BaseUrl, transport: Mapping[str, Any]) -> Any:
        headers = _joined(session_cookies.joined(request, session_cookies.of_django(session)))
        media_type = next((headers.pop(name) for name in list(headers) if name.lower() == "content-type"), "")
        path, _, query = request.url_at(base_url).removeprefix(base_url.url).partition("?")
        return session.generic(
            request.method, path, data=request.body or b"", content_type=media_type, headers=headers, QUERY_STRING=query
        )

    return send


_SENDERS: Final[Mapping[str, Callable[[Any], Sender]]] = {
    "httpx": _by_httpx,
    "httpx2": _by_httpx,
    "requests": _by_requests,
    "werkzeug": _by_werkzeug,
    "django": _by_django,
}
"""Package of the client's class -> what sends by it. Starlette's test client is one of httpx, Flask's one of werkzeug."""
