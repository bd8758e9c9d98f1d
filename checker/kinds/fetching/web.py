"""Documents behind URLs. Bytes, time and redirects are bounded, and credentials go to the one server that the user named."""

import os
import re
import ssl
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

import httpx
from msgspec import Struct

from checker.config.rules import require_certificates
from checker.core.codings import Undecoded, codings_of, decoded, readable
from checker.core.errors import ForeignDescription, LoaderError, LoaderErrorKind, UnreadableFile
from checker.core.redact import Redaction
from checker.core.request import BaseUrl, canonical_url, without_userinfo
from checker.kinds.fetching.advice import (
    API,
    BESIDE,
    NEIGHBOUR,
    Advice,
    NotReady,
    network_error,
)
from checker.kinds.fetching.allowance import Allowance, Portion
from checker.kinds.fetching.connections import Watch
from checker.kinds.sources import DIRECT, FetchOptions

_USER_AGENT: Final = "checker"
_RETRY_S: Final = 0.25
_TIMEOUT_S: Final = 10.0
_ERROR_BYTES: Final = 4096
"""Of an answer that is no document, for people."""
_OPTIONS: Final = frozenset(
    ("headers", "cookies", "auth", "params", "timeout", "trust_env", "follow_redirects")
)
_REDIRECTS: Final = frozenset((301, 302, 303, 307, 308))


class Fetched(Struct, frozen=True):
    """A document as it came, without its codings."""

    content: bytes
    content_type: str | None
    location: str
    """Where it was in the end, without what is secret in that URL."""


class Web:
    """Documents behind URLs; a host that does not answer is asked once."""

    def __init__(
        self, options: Mapping[str, Any], way: FetchOptions = DIRECT, *, location: str | None = None
    ) -> None:
        """Options are those of `httpx.get`, for the server of `location` alone; so is user info in that URL.

        Raises `LoaderError` for unusable certificates, `TypeError` for an option that there is not.
        """
        for name in options:
            if name not in _OPTIONS:
                raise TypeError(f"from_url() got an unexpected keyword argument {name!r}")
        self.way = way
        self.allowance = Allowance(way.limits)
        self._verify: bool | ssl.SSLContext = (
            _certificates(way.verify) if isinstance(way.verify, str) else way.verify
        )
        if way.cert is not None:
            self._verify = _with_certificate(self._verify, way.cert, way.cert_key)
        self._options = dict(options)
        self._own = _origin(location) if location is not None else None
        self._silent: dict[str, LoaderError] = {}

    def get(
        self, url: str, *, wait_s: float | None = None, question: bytes | None = None
    ) -> Fetched:
        """The main document, waited for if it is not ready; `question` is JSON that is posted for it.

        Raises `LoaderError`; `ForeignDescription` where a server answers, and refuses.
        """
        url = _canonical(url)
        if not re.match("https?://[^/]", url):
            raise LoaderError(
                f"{self.way.redaction.url(url)} is not an http(s) URL; "
                "give one like http://127.0.0.1:8080/openapi.json"
            )
        return _waited(lambda: self._first(url, question), wait_s, self.way.limits.until)

    def document(self, url: str) -> Fetched:
        """The document of a URL that a reference leads to. Raises `LoaderError`."""
        shown, host = self.way.redaction.url(url), urlsplit(url).netloc.rpartition("@")[2]
        if host in self._silent:
            raise LoaderError(
                f"{shown} is not asked for: {host} did not answer before; {BESIDE}",
                self._silent[host].extras,
                kind=self._silent[host].kind,
                url=shown,
            )
        try:
            return self._fetched(url, NEIGHBOUR)
        except NotReady as error:
            self._silent[host] = error
            raise

    def _first(self, url: str, question: bytes | None) -> Fetched:
        # What an earlier try cost is forgotten: it brought nothing.
        self.allowance = Allowance(self.way.limits)
        return self._fetched(url, API, question)

    def _fetched(self, url: str, advice: Advice, question: bytes | None = None) -> Fetched:
        """The document where the redirects end."""
        portion = self.allowance.document(self.way.redaction.url(url))
        journey = _Journey(self._own, self._options, portion, advice)
        journey.question = question
        if self._options.get("follow_redirects") is False:
            journey.most_redirects = 0
        try:
            for _ in range(journey.most_redirects + 1):
                found = self._visited(url, journey)
                if isinstance(found, Fetched):
                    return found
                url = self._next(url, found)
            raise portion.too_far(self.way.redaction.url(url))
        except LoaderError as error:
            error.url = error.url or self.way.redaction.url(url)
            portion.fail()
            raise

    def _next(self, url: str, target: str) -> str:
        """Absolute URL of a redirect."""
        try:
            found = urljoin(url, target)
        except ValueError:
            found = target
        if not re.match("https?://[^/]", found, re.IGNORECASE):
            redaction = self.way.redaction
            raise LoaderError(
                f"{redaction.url(url)} redirects to {redaction.url(found)}, which is not an http(s) URL; "
                "give the URL of the document itself"
            )
        return found

    def _visited(self, url: str, journey: "_Journey") -> "Fetched | str":
        """The document, or the target of a redirect as it is written."""
        portion, shown = journey.portion, self.way.redaction.url(url)
        asked = f"{shown} through the proxy" if self.way.proxy else shown
        is_begun = False
        with Watch(portion.left_s()) as watch:
            try:
                with journey.client(url, self._connecting()) as client:
                    response = journey.send(client, url, watch)
                    is_begun = True
                    try:
                        found = self._read(response, shown, journey)
                    finally:
                        response.close()
                        journey.remember(url, client)
            except httpx.HTTPError as error:
                if watch.is_over or portion.left_s() <= 0:
                    late = portion.too_late()
                    raise (late if is_begun else NotReady.of(late)) from error
                raise network_error(asked, error, journey.advice) from error
            except (httpx.InvalidURL, ValueError) as error:
                raise LoaderError(
                    f"{shown} cannot be asked for: {error}; correct the URL, or what is sent with it"
                ) from error
            if watch.is_over and isinstance(found, Fetched):
                # An answer without a length just ends where we ended it.
                raise portion.too_late()
        return found

    def _read(self, response: httpx.Response, shown: str, journey: "_Journey") -> "Fetched | str":
        fields = response.headers.multi_items()
        target = response.headers.get("location")
        if response.status_code in _REDIRECTS and target is not None:
            return str(target)
        if response.status_code >= 400:
            raise _refusal(response, shown, journey.advice)
        portion = journey.portion
        for piece in response.iter_raw():
            portion.take(piece)
        content = portion.taken()
        plain = decoded(content, codings_of(fields), is_cut=False, most=portion.limits.max_size)
        if isinstance(plain, Undecoded):
            raise LoaderError(
                f"{shown} cannot be decoded: {plain.message}; {journey.advice.broken}"
            )
        if plain.is_cut:
            raise portion.too_large()
        return Fetched(
            portion.close(plain.content),
            response.headers.get("content-type"),
            self.way.redaction.url(without_userinfo(journey.place_of(response))),
        )

    def _connecting(self) -> dict[str, Any]:
        """Options of every client."""
        if isinstance(self._verify, bool):
            # Made once, and only if there is anything to fetch: it takes longer than most requests.
            self._verify = httpx.create_ssl_context(verify=self._verify)
        return {"verify": self._verify, "proxy": self.way.proxy}


class _Journey:
    """One document's way through redirects."""

    def __init__(
        self, own: BaseUrl | None, options: Mapping[str, Any], portion: Portion, advice: Advice
    ) -> None:
        self.portion = portion
        self.advice = advice
        self.most_redirects = portion.limits.max_redirects
        self.question: bytes | None = None
        """JSON that is posted; None: what is there is asked for."""
        self._own = own
        self._asked: BaseUrl | None = None
        """Who was asked last."""
        self._options = options
        self._cookies: dict[tuple[str, str, int], Any] = {}
        """By site: what one server sets is not told to another one."""
        if own is not None:
            self._cookies[own.site] = options.get("cookies")
        self._params = options.get("params")

    def client(self, url: str, connecting: Mapping[str, Any]) -> httpx.Client:
        """A client for one request."""
        timeout = httpx.Timeout(self._options.get("timeout", _TIMEOUT_S))
        left_s = max(self.portion.left_s(), 0.001)
        limits = {
            name: left_s if seconds is None else min(seconds, left_s)
            for name, seconds in timeout.as_dict().items()
        }
        socket = _origin(url).socket
        if socket:
            connecting = {"transport": httpx.HTTPTransport(uds=socket)}
        return httpx.Client(
            **connecting,
            timeout=httpx.Timeout(**limits),
            trust_env=self._options.get("trust_env", True),
            cookies=self._cookies.get(_origin(url).site),
        )

    def send(self, client: httpx.Client, url: str, watch: Watch) -> httpx.Response:
        """Response whose body is not read yet. Only the server that the user named is shown what the user gave."""
        self._asked = origin = _origin(url)
        is_own = self._own is not None and origin.site == self._own.site
        headers = {"User-Agent": _USER_AGENT, "Accept-Encoding": "gzip, deflate"}
        if self.question is not None:
            headers |= {"Content-Type": "application/json", "Accept": "application/json"}
        userinfo, auth, params = origin.userinfo, None, None
        if is_own:
            assert self._own is not None
            headers |= dict(self._options.get("headers") or {})
            auth, params = self._options.get("auth"), self._params
            userinfo = userinfo or self._own.userinfo
        if auth is None and userinfo and "authorization" not in map(str.lower, headers):
            user, _, password = userinfo.partition(":")
            auth = (user, password)
        # Of a redirect, the server has written the whole query.
        self._params = None
        request = client.build_request(
            "GET" if self.question is None else "POST",
            without_userinfo(url).replace(origin.url, origin.plain.url, 1),
            params=params,
            content=self.question,
            headers=[(_octets(name), _octets(value)) for name, value in headers.items()],
            extensions={"trace": watch.trace},
        )
        return client.send(request, auth=auth, stream=True, follow_redirects=False)

    def place_of(self, response: httpx.Response) -> str:
        """URL that an answer came from: of a socket, clients know the path below it alone."""
        if self._asked is None or not self._asked.socket:
            return str(response.url)
        return self._asked.url + response.url.raw_path.decode("ascii")

    def remember(self, url: str, client: httpx.Client) -> None:
        """Keep the cookies that a server has set, for its own further requests."""
        self._cookies[_origin(url).site] = client.cookies


def _octets(value: str | bytes) -> bytes:
    """A name or a value of a header as it is sent (RFC 9110, 5.5)."""
    return value.encode("latin-1") if isinstance(value, str) else value


def _origin(url: str) -> BaseUrl:
    """Origin of an http(s) URL. Raises `LoaderError`."""
    try:
        return BaseUrl.from_url(url)
    except ValueError as error:
        raise LoaderError(f"{Redaction().url(url)} is not a URL: {error}; correct it") from error


def _canonical(url: str) -> str:
    """Raises `LoaderError` for the address of no socket."""
    try:
        return canonical_url(url)
    except ValueError as error:
        raise LoaderError(str(error)) from error


def _refusal(response: httpx.Response, shown: str, advice: Advice) -> LoaderError:
    side = "server" if response.status_code >= 500 else "client"
    reason = f"{response.status_code} {response.reason_phrase}".strip()
    kind: type[LoaderError] = NotReady if response.status_code == 503 else LoaderError
    if side == "client" or response.status_code == HTTPStatus.NOT_IMPLEMENTED:
        # Whoever asks in the way of another kind may be answered: 501 is of the method (RFC 9110, 15.6.2).
        kind = ForeignDescription
    return kind(
        f"Failed to load {shown} due to {side} error (HTTP {reason}); {advice.refused}",
        [f"HTTP {reason}", *_beginning(response)],
        kind=LoaderErrorKind.of_status(response.status_code),
    )


def _beginning(response: httpx.Response) -> list[str]:
    """First lines of an answer that is no document, as far as they come."""
    found = bytearray()
    try:
        for piece in response.iter_raw():
            found += piece[:_ERROR_BYTES]
            if len(found) >= _ERROR_BYTES:
                break
    except httpx.HTTPError:
        # The status says what is wrong: whatever came of the body has to do.
        return []
    fields = response.headers.multi_items()
    text = readable(bytes(found), codings_of(fields), is_cut=True).content.decode(
        "utf-8", "replace"
    )
    return text[:500].splitlines()[:10]


def _certificates(path: str) -> ssl.SSLContext:
    """Authorities of a bundle, or of a folder of them."""
    try:
        require_certificates(path)
        if os.path.isdir(path):
            return ssl.create_default_context(capath=path)
        return ssl.create_default_context(cafile=path)
    except UnreadableFile as error:
        raise LoaderError(
            f"the certificates cannot be used: {error}", kind=LoaderErrorKind.INVALID_CERTIFICATE
        ) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise LoaderError(
            f"the certificates in {path} cannot be used: {reason}; give a CA bundle in PEM form",
            kind=LoaderErrorKind.INVALID_CERTIFICATE,
        ) from error


def _with_certificate(verify: bool | ssl.SSLContext, cert: str, key: str | None) -> ssl.SSLContext:
    """How hosts are verified, with what says who is asking. Raises `LoaderError`."""
    context = httpx.create_ssl_context(verify=verify)
    try:
        # Without a password for it a key that has one would be asked for on the terminal.
        context.load_cert_chain(cert, key, password="")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise LoaderError(
            f"the client certificate in {cert} cannot be used: {reason}; give it, and its key without a password, in PEM form",
            kind=LoaderErrorKind.INVALID_CERTIFICATE,
        ) from error
    return context


def _waited(
    fetch: Callable[[], Fetched], wait_for_schema: float | None, until: float | None
) -> Fetched:
    deadline = time.monotonic() + (wait_for_schema or 0.0)
    if until is not None:
        deadline = min(deadline, until)
    while True:
        try:
            return fetch()
        except NotReady:
            if time.monotonic() + _RETRY_S > deadline:
                raise
            time.sleep(_RETRY_S)
