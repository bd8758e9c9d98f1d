"""Documents brought from where they are: files and URLs, each failure as one sentence."""

import os
import re
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urljoin, urlsplit

import httpx

from checker.core.errors import LoaderError
from checker.openapi.documents.neighbours import Read
from checker.openapi.documents.parsing import parse

_USER_AGENT = "checker"
_RETRY_S = 0.25
_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class _Advice:
    """What to do about a document that does not come."""

    silent: str
    unreachable: str
    refused: str
    unverified: str
    broken: str


_API: Final = _Advice(
    silent="check that the API is up or give a longer time-out",
    unreachable="check that the API is running there",
    refused="check the URL and its credentials",
    unverified="give its CA bundle or switch verification off",
    broken="check that it serves the document",
)
_BESIDE: Final = "make it reachable from here, or refer to a copy beside the description"
_NEIGHBOUR: Final = _Advice(
    silent=_BESIDE,
    unreachable=_BESIDE,
    refused="correct the reference, or refer to a copy beside the description",
    unverified="give its CA bundle, or refer to a copy beside the description",
    broken="correct the reference, or refer to a copy beside the description",
)


@dataclass(frozen=True, slots=True)
class Way:
    """How the network is reached."""

    verify: bool | str = True
    """Whether certificates are verified; a text is the path of a CA bundle."""
    proxy: str | None = None
    """URL."""


DIRECT: Final = Way()


def read_file(path: str | os.PathLike[str], what: str = "an OpenAPI document") -> bytes:
    """Content of a file. Raises `LoaderError`."""
    name = os.fspath(path)
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise LoaderError(f"{name} does not exist; give the path of {what}") from None
    except IsADirectoryError:
        raise LoaderError(f"{name} is a directory; give the path of {what} in it") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise LoaderError(f"{name} cannot be read: {reason}; make it readable") from error
    except ValueError as error:
        raise LoaderError(f"{name!r} is no path: {error}; give the path of {what}") from error


class Web:
    """Documents behind URLs; a host that does not answer is asked once."""

    def __init__(self, options: Mapping[str, Any], way: Way = DIRECT) -> None:
        """Options go to `httpx.get`. Raises `LoaderError` for unusable certificates."""
        verify = way.verify
        self._verify = _certificates(verify) if isinstance(verify, str) else verify
        self._proxy = way.proxy
        self._options = dict(options)
        self._silent: dict[str, LoaderError] = {}

    def get(self, url: str, *, wait_s: float | None = None) -> httpx.Response:
        """Answer to a request with all options, waited for if it is not ready. Raises `LoaderError`."""
        if not re.match("https?://[^/]", url):
            raise LoaderError(
                f"{url} is not an http(s) URL; give one like http://127.0.0.1:8080/openapi.json"
            )
        options = self._asked(is_own=True)
        return _waited(lambda: _fetched(url, options, _API), wait_s)

    def document(self, url: str, *, is_own: bool) -> object:
        """Parsed document of a URL; only the API's own host is shown the credentials. Raises `LoaderError`."""
        host = urlsplit(url).netloc
        if host in self._silent:
            raise LoaderError(
                f"{url} is not asked for: {host} did not answer before; {_BESIDE}",
                self._silent[host].extras,
            )
        try:
            response = _fetched(url, self._asked(is_own=is_own), _NEIGHBOUR)
        except _NotReady as error:
            self._silent[host] = error
            raise
        return parse(response.content, name=url, content_type=response.headers.get("content-type"))

    def _asked(self, *, is_own: bool) -> dict[str, Any]:
        """Options of one request."""
        if isinstance(self._verify, bool):
            # Made once, and only if there is anything to fetch: it takes longer than most requests.
            self._verify = httpx.create_ssl_context(verify=self._verify)
        asked: dict[str, Any] = {
            "timeout": _TIMEOUT_S,
            "follow_redirects": True,
            "verify": self._verify,
            "proxy": self._proxy,
        }
        if "timeout" in self._options:
            asked["timeout"] = self._options["timeout"]
        headers = {"User-Agent": _USER_AGENT}
        if not is_own:
            return asked | {"headers": headers}
        given = dict(self._options.get("headers") or {})
        return asked | self._options | {"headers": headers | given}


def beside_file(path: str | os.PathLike[str], way: Way = DIRECT) -> Read:
    """Reader of the neighbours of a file: other files, and URLs. Raises `LoaderError` for unusable certificates."""
    folder = Path(path).parent
    web = Web({}, way)

    def read(name: str) -> object:
        parts = urlsplit(name)
        if parts.scheme in ("http", "https"):
            return web.document(name, is_own=False)
        if parts.scheme not in ("", "file"):
            raise LoaderError(f"{name} cannot be read; use a file or an http(s) URL")
        beside = folder / unquote(parts.path)
        return parse(read_file(beside, "the file that the reference means"), name=str(beside))

    return read


def beside_url(url: str, web: Web) -> Read:
    """Reader of the neighbours of a URL: never a file of this machine."""
    own = urlsplit(url)

    def read(name: str) -> object:
        address = urljoin(url, name)
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https"):
            raise LoaderError(f"{address} cannot be read from {url}; use an http(s) URL")
        is_own = (parts.scheme, parts.netloc) == (own.scheme, own.netloc)
        return web.document(address, is_own=is_own)

    return read


def beside_nothing(what: str, way: Way = DIRECT) -> Read:
    """Reader for a document that nobody knows the place of: absolute URLs only."""
    web = Web({}, way)

    def read(name: str) -> object:
        if urlsplit(name).scheme in ("http", "https"):
            return web.document(name, is_own=False)
        raise LoaderError(
            f"{name} cannot be found, because {what} came without a location; load it from its file or URL"
        )

    return read


def _certificates(path: str) -> ssl.SSLContext:
    """Authorities of a bundle, or of a folder of them."""
    try:
        if os.path.isdir(path):
            return ssl.create_default_context(capath=path)
        return ssl.create_default_context(cafile=path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise LoaderError(
            f"the certificates in {path} cannot be used: {reason}; give a CA bundle in PEM form"
        ) from error


class _NotReady(LoaderError):
    """The API may be starting yet: worth another try."""


def _waited(fetch: Callable[[], httpx.Response], wait_for_schema: float | None) -> httpx.Response:
    deadline = time.monotonic() + (wait_for_schema or 0.0)
    while True:
        try:
            return fetch()
        except _NotReady:
            if time.monotonic() + _RETRY_S > deadline:
                raise
            time.sleep(_RETRY_S)


def _fetched(url: str, options: dict[str, Any], advice: _Advice) -> httpx.Response:
    asked = f"{url} through the proxy" if options.get("proxy") else url
    try:
        response = httpx.get(url, **options)
    except (httpx.ConnectError, httpx.TimeoutException) as error:
        raise _NotReady(_network_sentence(asked, error, advice), [str(error)]) from error
    except httpx.HTTPError as error:
        raise LoaderError(_network_sentence(asked, error, advice), [str(error)]) from error
    except (httpx.InvalidURL, UnicodeError) as error:
        raise LoaderError(f"{url} is not a URL: {error}; correct it") from error
    if response.status_code >= 400:
        side = "server" if response.status_code >= 500 else "client"
        reason = f"{response.status_code} {response.reason_phrase}".strip()
        kind = _NotReady if response.status_code == 503 else LoaderError
        raise kind(
            f"Failed to load {url} due to {side} error (HTTP {reason}); {advice.refused}",
            [f"HTTP {reason}", *response.text[:500].splitlines()[:10]],
        )
    return response


def _network_sentence(asked: str, error: httpx.HTTPError, advice: _Advice) -> str:
    text = str(error)
    if isinstance(error, httpx.TimeoutException):
        return f"{asked} did not answer in time; {advice.silent}"
    if "CERTIFICATE" in text.upper():
        return f"{asked} has a certificate that cannot be verified; {advice.unverified}"
    if isinstance(error, httpx.ConnectError):
        return f"{asked} {_connect_fault(text)}; {advice.unreachable}"
    return f"{asked} cannot be loaded: {text or type(error).__name__}; {advice.broken}"


def _connect_fault(text: str) -> str:
    if "refused" in text.lower():
        return "refused the connection"
    reason = text.rpartition("] ")[2]
    return f"cannot be connected to ({reason})" if reason else "cannot be connected to"
