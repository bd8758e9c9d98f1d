"""One document over HTTP: its redirects, its time limit, and the error if it cannot be fetched."""

import _thread
import re
import socket
import ssl
import threading
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from types import TracebackType
from typing import Any, Final, Self

from checker.core.errors import ForeignDescription, LoaderError, LoaderErrorKind
from checker.core.request import BaseUrl, without_userinfo
from checker.core.response import Undecoded, codings_of, decoded, readable
from checker.kinds.fetching import FetchAdvice, Fetched, NotReady, Portion, Reaching, origin_of
from checker.kinds.http_client import httpx
from checker.transport.settings import bypasses_proxy


class ConnectionTimer:
    """A context manager that closes the connections of one request at its time limit.

    Pass `trace` as the httpx extension of that name. Its thread is started without `threading`: if a thread cannot start for lack of memory, `Thread.start` waits forever.
    """

    def __init__(self, seconds: float) -> None:
        self.is_over = False
        """Whether the time is over: data received since then is incomplete."""
        self._seconds = max(0.0, seconds)
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()
        """Guards the sockets: the thread must not shut down a descriptor that was closed and may now belong to another file."""
        self._running = threading.Lock()
        """Held until the request is done."""

    def __enter__(self) -> Self:
        self._running.acquire()
        _thread.start_new_thread(self._wait, ())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running.release()
        with self._lock:
            for opened in self._sockets:
                opened.close()
            self._sockets.clear()

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Register a connection as soon as it exists, before TLS or anything else can stall."""
        if event.endswith("connect_tcp.complete"):
            # A duplicate, because the TLS layer takes over the connection's own descriptor and may close it at any time.
            self._sockets.append(info["return_value"].get_extra_info("socket").dup())
            if self.is_over:
                self._end()

    def _wait(self) -> None:
        if not self._running.acquire(timeout=self._seconds):
            self.is_over = True
            self._end()

    def _end(self) -> None:
        with self._lock:
            for opened in self._sockets:
                with suppress(OSError):
                    opened.shutdown(socket.SHUT_RDWR)


_USER_AGENT: Final = "checker"
_TIMEOUT_S: Final = 10.0  # Time-out of a connection, and of silence from a server that the user has not named.
_ERROR_BYTES: Final = 4096  # Bytes of an error response that are shown.
_REDIRECTS: Final = frozenset((301, 302, 303, 307, 308))


class RedirectChain:
    """The redirects of one document."""

    def __init__(self, reaching: Reaching, portion: Portion, advice: FetchAdvice, question: bytes | None) -> None:
        """`question` is JSON to post; without one the document is requested by GET."""
        self._question = question
        self._reaching = reaching
        self._portion = portion
        self._advice = advice
        self._asked: BaseUrl | None = None
        """The last server that was contacted."""
        self._cookies: dict[tuple[str, str, int], Any] = {}
        """Keyed by site: the cookies of one server are not sent to another."""
        if reaching.own is not None:
            self._cookies[reaching.own.site] = reaching.options.get("cookies")
        self._params = reaching.options.get("params")

    def visit(self, url: str) -> Fetched | str:
        """Return the document, or the target of a redirect as it is written."""
        portion, shown = self._portion, self._reaching.way.redaction.url(url)
        asked = f"{shown} through the proxy" if self._reaching.way.proxy else shown
        is_begun = False
        with ConnectionTimer(portion.left_s()) as watch:
            try:
                with self._client(url) as client:
                    response = self._send(client, url, watch)
                    is_begun = True
                    try:
                        found = self._read(response, shown)
                    finally:
                        response.close()
                        # Cookies that a server sets are for its own further requests.
                        self._cookies[origin_of(url).site] = client.cookies
            except httpx.HTTPError as error:
                if watch.is_over or portion.left_s() <= 0:
                    late = portion.too_late()
                    raise (late if is_begun else NotReady.of(late)) from error
                raise _network_error(asked, error, self._advice) from error
            except (httpx.InvalidURL, ValueError, TypeError) as error:
                raise LoaderError(
                    f"{shown} cannot be requested: {error}; correct the URL, or the headers that are sent with it"
                ) from error
            if watch.is_over and isinstance(found, Fetched):
                # A response without a length ends without an error when the timer closes it.
                raise portion.too_late()
        return found

    def _read(self, response: httpx.Response, shown: str) -> Fetched | str:
        fields = response.headers.multi_items()
        target = response.headers.get("location")
        if response.status_code in _REDIRECTS and target is not None:
            return str(target)
        if response.status_code >= 400:
            side = "server" if response.status_code >= 500 else "client"
            reason = f"{response.status_code} {response.reason_phrase}".strip()
            kind: type[LoaderError] = NotReady if response.status_code == 503 else LoaderError
            if side == "client" or response.status_code == HTTPStatus.NOT_IMPLEMENTED:
                # A request of another kind may succeed, because 501 concerns only the method (RFC 9110, 15.6.2).
                kind = ForeignDescription
            what = self._advice.missing if response.status_code == HTTPStatus.NOT_FOUND else self._advice.refused
            raise kind(
                f"Failed to load {shown} due to {side} error (HTTP {reason}); {what}",
                [f"HTTP {reason}", *_beginning(response)],
                kind=LoaderErrorKind.of_status(response.status_code),
            )
        portion = self._portion
        for piece in response.iter_raw():
            portion.take(piece)
        content = portion.taken()
        plain = decoded(content, codings_of(fields), is_cut=False, most=portion.limits.max_size)
        if isinstance(plain, Undecoded):
            raise LoaderError(f"{shown} cannot be decoded: {plain.message}; {self._advice.broken}")
        if plain.is_cut:
            raise portion.too_large()
        if self._asked is None or not self._asked.socket:
            place = str(response.url)
        else:
            place = self._asked.url + response.url.raw_path.decode("ascii")
        return Fetched(
            portion.close(plain.content),
            response.headers.get("content-type"),
            self._reaching.way.redaction.url(without_userinfo(place)),
        )

    def _client(self, url: str) -> httpx.Client:
        # Large descriptions may be built on request, so they may arrive in time even after a long silence.
        usual = httpx.Timeout(_TIMEOUT_S, read=None) if self._own_of(url) else _TIMEOUT_S
        timeout = httpx.Timeout(self._reaching.options.get("timeout", usual))
        left_s = max(self._portion.left_s(), 0.001)
        limits = {
            # One second longer than the timer, which ends the request in time and with a better error.
            name: left_s + 1 if seconds is None else min(seconds, left_s)
            for name, seconds in timeout.as_dict().items()
        }
        socket = origin_of(url).socket
        # The rules of httpx for `NO_PROXY` do not support ranges.
        is_direct = not self._reaching.way.proxy and bypasses_proxy(origin_of(url))
        connecting: dict[str, Any] = (
            {"transport": httpx.HTTPTransport(uds=socket)}
            if socket
            else {
                "verify": self._reaching.verify() if url[:6].lower() == "https:" else _NO_AUTHORITIES,
                "proxy": self._reaching.way.proxy,
            }
        )
        return httpx.Client(
            **connecting,
            mounts=dict.fromkeys(("all://", "http://", "https://")) if is_direct else None,
            timeout=httpx.Timeout(**limits),
            trust_env=self._reaching.options.get("trust_env", True),
            cookies=self._cookies.get(origin_of(url).site),
        )

    def _send(self, client: httpx.Client, url: str, watch: ConnectionTimer) -> httpx.Response:
        """Return a response whose body is not read yet. Options of the user go only to the server that the user named."""
        self._asked = origin = origin_of(url)
        own = self._own_of(url)
        headers = {"User-Agent": _USER_AGENT, "Accept-Encoding": "gzip, deflate"}
        if self._question is not None:
            headers |= {"Content-Type": "application/json", "Accept": "application/json"}
        userinfo, auth, params = origin.userinfo, None, None
        if own is not None:
            headers |= dict(self._reaching.options.get("headers") or {})
            auth, params = self._reaching.options.get("auth"), self._params
            userinfo = userinfo or own.userinfo
        if auth is None and userinfo and "authorization" not in map(str.lower, headers):
            user, _, password = userinfo.partition(":")
            auth = (user, password)
        # After a redirect, the target of the server contains the whole query.
        self._params = None
        request = client.build_request(
            "GET" if self._question is None else "POST",
            without_userinfo(url).replace(origin.url, origin.plain.url, 1),
            params=params,
            content=self._question,
            headers=[(_octets(name), _octets(value)) for name, value in headers.items()],
            extensions={"trace": watch.trace},
        )
        return client.send(request, auth=auth, stream=True, follow_redirects=False)

    def _own_of(self, url: str) -> BaseUrl | None:
        """Return the server that the user named if a URL is on this server."""
        own = self._reaching.own
        return own if own is not None and own.site == origin_of(url).site else None


_NO_AUTHORITIES: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""The TLS context of requests without TLS: it trusts no server. Reading the usual authorities takes longer than most imports."""


def context_of(verify: bool) -> ssl.SSLContext:
    """Return a TLS context that verifies hosts by the usual authorities, or not at all."""
    return httpx.create_ssl_context(verify=verify)


def with_certificate(verify: bool | ssl.SSLContext, cert: str, key: str | None) -> ssl.SSLContext:
    """Return a TLS context with a client certificate. Raises `LoaderError`."""
    context = httpx.create_ssl_context(verify=verify)
    try:
        # Without an explicit password, OpenSSL would prompt on the terminal for the password of the key.
        context.load_cert_chain(cert, key, password="")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise LoaderError(
            f"the client certificate in {cert} cannot be used: {reason}; give it, and its key without a password, in PEM form",
            kind=LoaderErrorKind.INVALID_CERTIFICATE,
        ) from error
    return context


def _octets(value: str | bytes) -> bytes:
    """Return a header name or value as it is sent (RFC 9110, 5.5)."""
    return value.encode("latin-1") if isinstance(value, str) else value


def _beginning(response: httpx.Response) -> list[str]:
    """Return the first lines of an error response, as far as they arrive."""
    found = bytearray()
    try:
        for piece in response.iter_raw():
            found += piece[:_ERROR_BYTES]
            if len(found) >= _ERROR_BYTES:
                break
    except httpx.HTTPError:
        # The status explains the error; the rest of the body is not needed.
        return []
    fields = response.headers.multi_items()
    text = readable(bytes(found), codings_of(fields), is_cut=True).content.decode("utf-8", "replace")
    return text[:500].splitlines()[:10]


def _network_error(asked: str, error: httpx.HTTPError, advice: FetchAdvice) -> LoaderError:
    """Return the error for a network failure; `NotReady` if another try may help."""
    kind = NotReady if isinstance(error, httpx.ConnectError | httpx.TimeoutException) else LoaderError
    if not isinstance(error, httpx.ConnectError):
        error_kind = LoaderErrorKind.NETWORK_OTHER
    else:
        is_about_tls = re.search("SSL|CERTIFICATE", str(error).upper())
        error_kind = LoaderErrorKind.CONNECTION_SSL if is_about_tls else LoaderErrorKind.CONNECTION_OTHER
    text = str(error)
    if isinstance(error, httpx.TimeoutException):
        sentence = f"{asked} did not answer in time; {advice.silent}"
    elif "certificate required" in text.lower():
        sentence = f"{asked} asks for a client certificate; give it with `--request-cert` (`request-cert`)"
    elif "wrong version number" in text.lower():
        sentence = f"{asked} answers without TLS; write `http://` in its address"
    elif "CERTIFICATE" in text.upper():
        sentence = f"{asked} has a certificate that cannot be verified; {advice.unverified}"
    elif isinstance(error, httpx.ConnectError):
        reason = text.rpartition("] ")[2]
        fault = f"cannot be connected to ({reason})" if reason else "cannot be connected to"
        fault = "refused the connection" if "refused" in text.lower() else fault
        sentence = f"{asked} {fault}; {advice.unreachable}"
    else:
        sentence = f"{asked} cannot be loaded: {text or type(error).__name__}; {advice.broken}"
    return kind(sentence, [str(error)], kind=error_kind)
