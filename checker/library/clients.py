"""HTTP clients that send the requests of cases: clients of users (`session=`), and clients that options such as `auth` require.

The headers, cookies and parameters that a client adds replace drawn values of the same name (`for_client`). Only
cookies of a case replace cookies of the client. Responses of an application in this process reach a client by
`httpx_client` and `requests_session`.
"""

import inspect
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from copy import copy
from dataclasses import replace
from http.client import HTTPMessage
from importlib import import_module
from types import SimpleNamespace
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from msgspec import Struct

from checker.core.case import Case
from checker.core.errors import IncorrectUsage
from checker.core.redact import Redaction
from checker.core.request import BaseUrl, Location, WireRequest
from checker.core.response import FailureKind, NetworkFailure, Outcome, Response, is_usual, request_of
from checker.core.send import Send
from checker.kinds.http_client import httpx
from checker.library.options import CallOptions
from checker.transport.applications import Application

_COOKIE: Final = b"Cookie"


def with_kept_cookies(request: WireRequest, kept: str | None) -> WireRequest:
    """Return a request whose `Cookie` has its own values, and those that a client keeps under other names.

    Clients do not change an existing header. Without this function a logged-in client would be anonymous at every operation
    that has a cookie parameter.
    """
    own = (request.header(_COOKIE) or b"").decode("latin-1")
    if not own or not kept:
        return request
    taken = {_name(pair) for pair in own.split(";")}
    more = [pair.strip() for pair in kept.split(";") if _name(pair) not in taken]
    value = "; ".join([own, *more]).encode("latin-1", "replace")
    headers = [(name, value if name.lower() == _COOKIE.lower() else text) for name, text in request.headers]
    return replace(request, headers=headers)


def names_in(kept: str | None) -> frozenset[str]:
    """Return the names of the cookies of a header."""
    return frozenset(_name(pair) for pair in (kept or "").split(";")) - {""}


def _name(pair: str) -> str:
    return pair.partition("=")[0].strip()


def of_httpx(session: Any, url: str) -> str | None:
    """Return the cookies that a client of `httpx` sends to a URL."""
    found: str | None = session.build_request("GET", url).headers.get("cookie")
    return found


def of_requests(session: Any, url: str) -> str:
    """Return the cookies that a session of `requests` sends to a URL."""
    requests = import_module("requests")
    kept = requests.cookies.get_cookie_header(session.cookies, requests.Request("GET", url))
    return "; ".join(one for one in (session.headers.get("Cookie"), kept) if one)


def of_django(session: Any) -> str:
    """Return the cookies that Django's test client sends to every URL."""
    return "; ".join(f"{one.key}={one.coded_value}" for one in session.cookies.values())


def kept_by_werkzeug(session: Any, request: WireRequest, host: str) -> Any:
    """Put the cookies of a request into a test client of werkzeug, which replaces the header by its own cookies."""
    own = (request.header(_COOKIE) or b"").decode("latin-1")
    try:
        session.get_cookie("")
    except TypeError:
        # The client was created without cookies (`use_cookies=False`) and keeps the header.
        return nullcontext()
    return _lent(session, own, host)


@contextmanager
def _lent(session: Any, own: str, host: str) -> Iterator[None]:
    parse = import_module("werkzeug.http").parse_cookie
    before = []
    for name, value in parse(own).items(multi=True):
        earlier = session.get_cookie(name, host)
        session.set_cookie(name, value, domain=host)
        before.append((name, session.get_cookie(name, host), earlier))
    try:
        yield
    finally:
        for name, lent, earlier in before:
            # A cookie that the response has set stays.
            if session.get_cookie(name, host) is lent:
                if earlier is None:
                    session.delete_cookie(name, domain=host)
                else:
                    session.set_cookie(
                        name,
                        earlier.decoded_value,
                        domain=earlier.domain,
                        origin_only=earlier.origin_only,
                        path=earlier.path,
                        expires=earlier.expires,
                        max_age=earlier.max_age,
                        secure=earlier.secure,
                        httponly=earlier.http_only,
                        samesite=earlier.same_site,
                    )


_REDACTION: Final = Redaction()  # Recognises names of credentials, such as `sessionid` and `X-Api-Key`.
_DEFAULTS: Final = {"accept": "*/*", "connection": "keep-alive"}
"""Headers that `requests` and `httpx` add to every request, beside those of `core/foreign.py`."""


class ClientValues(Struct, frozen=True):
    """Names of the values that a client adds, header names in lower case."""

    headers: frozenset[str] = frozenset()
    cookies: frozenset[str] = frozenset()
    query: frozenset[str] = frozenset()
    authenticates: bool = False
    """Whether the client authenticates by an `auth` object, a client certificate or a forced login of a test client."""

    @property
    def has_credentials(self) -> bool:
        """Whether the client has credentials that can be seen from outside."""
        names = (*self.headers, *self.cookies, *self.query)
        return self.authenticates or any(map(_REDACTION.is_sensitive, names))


def values_of(session: Any, url: str) -> ClientValues:
    """Return the values that a client adds to a request to a URL; none for an unknown kind of client."""
    return next((read(session, url) for name, (read, _) in _CLIENTS.items() if is_of(session, name)), ClientValues())


def for_client(case: Case, options: CallOptions, url: str) -> Case:
    """Return the case without drawn values that would replace those of the client that sends it.

    Drawn credentials are removed as well if the client has others: a server may read only the first that it finds.
    Values that the caller wrote into the case or the call are kept. A handmade case is not changed.
    """
    if options.session is None or case.drawn is None:
        return case
    own = values_of(options.session, url)
    schemes = (scheme for need in case.operation.security for scheme in need.schemes)
    places = {(place, name.lower()) for place, name in (one.place for one in schemes) if own.has_credentials}
    path, headers, cookies, query, body = case.drawn
    changed = copy(case)
    left = []
    for place, drawn, of_client, said in (
        (Location.HEADER, headers, own.headers, ()),
        (Location.COOKIE, cookies, own.cookies, options.cookies),
        (Location.QUERY, query, own.query, options.params),
    ):
        kept = copy(getattr(case, place.container))
        gone = {
            name
            for name, value in drawn.items()
            if name not in said
            and kept.get(name) == value
            and (place.key(name) in of_client or (place, name.lower()) in places)
        }
        for name in gone:
            del kept[name]
        setattr(changed, place.container, kept)
        left.append({name: value for name, value in drawn.items() if name not in gone})
    changed.drawn = (path, left[0], left[1], left[2], body)
    return changed


def is_of(value: object, package: str) -> bool:
    """Whether a class of a value, or one that it inherits from, belongs to a package."""
    return any(one.__module__.partition(".")[0] == package for one in type(value).__mro__)


def _own(headers: Iterable[tuple[str, Any]]) -> frozenset[str]:
    """Return the names of headers that a user set on a client, except those about the body, which belong to the request."""
    found = ((name.lower(), str(value)) for name, value in headers)
    return frozenset(
        name
        for name, value in found
        if not name.startswith("content-") and _DEFAULTS.get(name) != value and not is_usual(name, value)
    )


def _of_requests(session: Any, url: str) -> ClientValues:
    params = import_module("requests").utils.to_key_val_list(session.params or {})
    return ClientValues(
        _own(session.headers.items()),
        names_in(of_requests(session, url)),
        frozenset(str(name) for name, _ in params),
        session.auth is not None or session.cert is not None,
    )


def _of_httpx(session: Any, url: str) -> ClientValues:
    return ClientValues(
        _own(session.headers.items()),
        names_in(of_httpx(session, url)),
        frozenset(session.params.keys()),
        session.auth is not None,
    )


def _of_werkzeug(session: Any, url: str) -> ClientValues:
    environment = getattr(session, "environ_base", None) or {}
    cookies = getattr(session, "_cookies", None) or {}
    return ClientValues(_own(_in_environment(environment)), frozenset(one.key for one in cookies.values()))


def _of_django(session: Any, url: str) -> ClientValues:
    # `_credentials` and `_force_*` exist in the client of Django REST framework.
    given = {**session.defaults, **getattr(session, "_credentials", {})}
    forced = (getattr(session.handler, f"_force_{name}", None) for name in ("user", "token"))
    return ClientValues(
        _own(_in_environment(given)),
        frozenset(session.cookies.keys()),
        authenticates=any(one is not None for one in forced),
    )


def _in_environment(environment: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """Yield the headers in an environment of WSGI (PEP 3333): `HTTP_X_KEY`."""
    return (
        (name.removeprefix("HTTP_").replace("_", "-"), value)
        for name, value in environment.items()
        if name.startswith("HTTP_")
    )


_OF_CLIENTS: Final = ("cert", "proxies", "allow_redirects", "follow_redirects", "auth", "stream")
"""Options of calls that only clients implement."""


def sending_for(
    transport: Mapping[str, Any], origin: BaseUrl, send: Send, application: Application | None
) -> Send | None:
    """Return a function that sends with options that checker's transport does not support; None without such options.

    It creates a client for each request. If an application of this process is the host of `origin`, the client sends to it by
    `send`.
    """
    if not any(name in transport for name in _OF_CLIENTS):
        return None
    of_requests = is_of(transport.get("auth"), "requests")
    is_here = application is not None and application.origin.url == origin.url
    options = {name: transport[name] for name in ("verify", "cert") if name in transport}
    proxies = transport.get("proxies") or {}

    def client() -> Any:
        if is_here:
            return (requests_session if of_requests else httpx_client)(origin.url, send)
        if of_requests:
            return import_module("requests").Session()
        mounts = {f"{scheme}://": httpx.HTTPTransport(proxy=url) for scheme, url in proxies.items()}
        return httpx.Client(**options, mounts=mounts or None)

    def sent(request: WireRequest) -> Outcome:
        with client() as own:
            return send_by(own, request, origin, transport)

    return sent


def home_of(session: Any) -> BaseUrl | None:
    """Return the base URL of a client; None if it has none."""
    own = str(getattr(session, "base_url", ""))
    if own.startswith(("http://", "https://")):
        return BaseUrl.from_url(own)
    hosts = {"werkzeug": "http://localhost", "django": "http://testserver"}
    found = next((url for package, url in hosts.items() if is_of(session, package)), None)
    return None if found is None else BaseUrl.from_url(found)


def send_by(session: Any, request: WireRequest, base_url: BaseUrl, transport: Mapping[str, Any]) -> Outcome:
    """Return the response of a client. Errors of the client pass through. Raises `IncorrectUsage` for an unknown kind of client and for asynchronous ones."""
    for package, (_, sender) in _CLIENTS.items():
        if is_of(session, package):
            own = values_of(session, request.url_at(base_url.plain))
            request = replace(request, client_has_credentials=own.has_credentials)
            answer = sender(session, request, base_url.plain, transport)
            if inspect.iscoroutine(answer):
                answer.close()
                raise IncorrectUsage(
                    f"`session` is asynchronous, got {session!r:.80}, and calls await nothing: send "
                    "`case.as_transport_kwargs()` by it and judge the response by `case.validate_response`, or give "
                    "another client"
                )
            response = Response.from_any(answer)
            response.request = _as_sent(request, answer)
            response.verify = transport.get("verify", True) is not False
            return response
    raise IncorrectUsage(
        f"`session` must be a client of httpx, requests, werkzeug, Starlette or Django, got {session!r:.80}"
    )


def _as_sent(request: WireRequest, answer: Any) -> WireRequest:
    """Return the request with the credentials, cookies and parameters that the client added."""
    wanted = request.method, unquote_to_bytes(request.path)
    for one in reversed([*(getattr(answer, "history", None) or ()), answer]):
        sent = request_of(one)
        if sent is not None and (sent.method, unquote_to_bytes(sent.path)) == wanted:
            is_same = unquote_to_bytes(sent.target) == unquote_to_bytes(request.target)
            target = request.target if is_same else sent.target
            values = {name.lower(): value for name, value in sent.headers}
            times = Counter(name.lower() for name, _ in request.headers)
            kept = [
                (name, values.get(name.lower(), value) if times[name.lower()] == 1 else value)
                for name, value in request.headers
            ]
            return replace(
                request,
                target=target,
                headers=kept + [(name.title(), value) for name, value in sent.headers if name.lower() not in times],
            )
    return request


def _texts(request: WireRequest) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers]


def _joined(request: WireRequest) -> dict[str, str]:
    """Return headers for clients with one value for each name: several are joined (RFC 9110, 5.3)."""
    found: dict[str, str] = {}
    for name, value in _texts(request):
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def _by_httpx(session: Any, request: WireRequest, base_url: BaseUrl, transport: Mapping[str, Any]) -> Any:
    url = request.url_at(base_url)
    request = with_kept_cookies(request, of_httpx(session, url))
    options = {name: transport[name] for name in ("auth", "timeout") if name in transport}
    follows = transport.get("follow_redirects", transport.get("allow_redirects"))
    if follows is not None:
        options["follow_redirects"] = follows
    return session.request(request.method, url, headers=list(request.headers), content=request.body, **options)


def _by_requests(session: Any, request: WireRequest, base_url: BaseUrl, transport: Mapping[str, Any]) -> Any:
    url, options = request.url_at(base_url), dict(transport)
    request = with_kept_cookies(request, of_requests(session, url))
    if "follow_redirects" in options:
        options["allow_redirects"] = options.pop("follow_redirects")
    return session.request(request.method, url, headers=_joined(request), data=request.body, **options)


def _by_werkzeug(session: Any, request: WireRequest, base_url: BaseUrl, transport: Mapping[str, Any]) -> Any:
    with kept_by_werkzeug(session, request, base_url.host):
        return session.open(
            request.url_at(base_url).removeprefix(base_url.url),
            base_url=base_url.url,
            method=request.method,
            headers=_texts(request),
            data=request.body,
        )


def _by_django(session: Any, request: WireRequest, base_url: BaseUrl, transport: Mapping[str, Any]) -> Any:
    headers = _joined(with_kept_cookies(request, of_django(session)))
    media_type = next((headers.pop(name) for name in list(headers) if name.lower() == "content-type"), "")
    path, _, query = request.url_at(base_url).removeprefix(base_url.url).partition("?")
    return session.generic(
        request.method, path, data=request.body or b"", content_type=media_type, headers=headers, QUERY_STRING=query
    )


_Reader = Callable[[Any, str], ClientValues]
_Sender = Callable[[Any, WireRequest, BaseUrl, Mapping[str, Any]], Any]
_CLIENTS: Final[Mapping[str, tuple[_Reader, _Sender]]] = {
    "httpx": (_of_httpx, _by_httpx),
    "httpx2": (_of_httpx, _by_httpx),
    "requests": (_of_requests, _by_requests),
    "werkzeug": (_of_werkzeug, _by_werkzeug),
    "django": (_of_django, _by_django),
}
"""Package of the class of a client -> its reader and sender. The test client of Starlette is one of httpx, that of Flask one of werkzeug."""


def httpx_client(url: str, send: Send) -> httpx.Client:
    """Return a client that sends requests to a host (`http://testserver`) by `send`, and others over the network."""
    return httpx.Client(mounts={url: _Transport(send)})


def requests_session(url: str, send: Send) -> Any:
    """Return a session that sends requests to a host by `send`, and others over the network."""
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
        found = import_module("requests").Response()
        found.status_code, found.reason = outcome.status_code, outcome.message
        found.headers.update({name: ", ".join(values) for name, values in outcome.headers.items()})
        # `HTTPDigestAuth` sends the second request by the connection of the first response.
        found.url, found.request, found.connection = request.url, request, self
        found.encoding = outcome.encoding
        found.raw = _Raw(outcome)
        found._content, found._content_consumed = outcome.readable.content, True
        return found

    def close(self) -> None:
        """Do nothing: there are no connections."""


class _Raw(io.BytesIO):
    """The body, and the headers where `requests` looks for cookies."""

    def __init__(self, answer: Response) -> None:
        super().__init__(answer.content)
        told = HTTPMessage()
        for name, value in answer.raw_headers:
            told[name] = value
        self._original_response = SimpleNamespace(msg=told)


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("latin-1")
