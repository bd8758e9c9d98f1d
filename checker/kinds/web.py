"""Documents behind URLs. Bytes, time and redirects are limited, and credentials are sent only to the server that the user named."""

import os
import re
import ssl
import time
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin, urlsplit

from checker.config.value_kinds import require_certificates
from checker.core.errors import LoaderError, LoaderErrorKind, UnreadableFile
from checker.core.request import BaseUrl
from checker.core.system import later
from checker.kinds.fetching import (
    API,
    BESIDE,
    NEIGHBOUR,
    Allowance,
    FetchAdvice,
    Fetched,
    NotReady,
    Reaching,
    canonical,
    origin_of,
)
from checker.kinds.sources import DIRECT, FetchOptions

if TYPE_CHECKING:
    import checker.kinds.redirect_chain as redirect_chain
else:
    # Most processes fetch nothing, and the HTTP client takes a tenth of a worker's import time; the fork server does
    # not need it.
    redirect_chain = later("checker.kinds.redirect_chain", by_all=False)

_RETRY_S: Final = 0.25
_OPTIONS: Final = frozenset(("headers", "cookies", "auth", "params", "timeout", "trust_env", "follow_redirects"))


class Web:
    """Fetches documents behind URLs; a host that does not respond is tried once."""

    def __init__(self, options: Mapping[str, Any], way: FetchOptions = DIRECT, *, location: str | None = None) -> None:
        """Options are those of `httpx.get`. These options, and credentials in the URL, are used only for the server of `location`.

        Raises `LoaderError` for unusable certificates, `TypeError` for an unknown option.
        """
        for name in options:
            if name not in _OPTIONS:
                raise TypeError(f"from_url() got an unexpected keyword argument {name!r}")
        self.way = way
        self.allowance = Allowance(way.limits)
        given = _certificates(way.verify) if isinstance(way.verify, str) else way.verify
        if way.cert is not None:
            given = redirect_chain.with_certificate(given, way.cert, way.cert_key)

        @cache
        def verify() -> ssl.SSLContext:
            return redirect_chain.context_of(given) if isinstance(given, bool) else given

        own = origin_of(location) if location is not None else None
        self._reaching = Reaching(own, dict(options), way, verify)
        self._silent: dict[str, LoaderError] = {}
        self._home: BaseUrl | None = None
        """The host of the main document."""
        self.declared_api: Callable[[], str | None] = lambda: None
        """Returns the base URL that the main document declares, once it is read."""

    def get(self, url: str, *, wait_s: float | None = None, question: bytes | None = None) -> Fetched:
        """Return the main document, retried until it is ready; `question` is JSON to post for it.

        Raises `LoaderError`; `ForeignDescription` if a server refuses the request.
        """
        url = canonical(url)
        if not re.match("https?://[^/]", url):
            raise LoaderError(
                f"{self.way.redaction.url(url)} is not an http(s) URL; give one like http://127.0.0.1:8080/openapi.json"
            )
        found = _waited(lambda: self._first(url, question), wait_s, self.way.limits.until)
        self._home = origin_of(found.location)
        return found

    def document(self, url: str) -> Fetched:
        """Return the document at a URL that a reference points to. Raises `LoaderError`."""
        self._require_allowed(url)
        shown, host = self.way.redaction.url(url), urlsplit(url).netloc.rpartition("@")[2]
        if host in self._silent:
            raise LoaderError(
                f"{shown} is not requested: {host} did not respond before; {BESIDE}",
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
        # The costs of an earlier try do not count, because it returned nothing.
        self.allowance = Allowance(self.way.limits)
        return self._fetched(url, API, question)

    def _fetched(self, url: str, advice: FetchAdvice, question: bytes | None = None) -> Fetched:
        """Return the document at the end of the redirects."""
        portion = self.allowance.document(self.way.redaction.url(url))
        chain = redirect_chain.RedirectChain(self._reaching, portion, advice, question)
        is_followed = self._reaching.options.get("follow_redirects") is not False
        try:
            for _ in range(1 + is_followed * portion.limits.max_redirects):
                found = chain.visit(url)
                if isinstance(found, Fetched):
                    return found
                try:
                    joined = urljoin(url, found)
                except ValueError:
                    joined = found
                if not re.match("https?://[^/]", joined, re.IGNORECASE):
                    redaction = self.way.redaction
                    raise LoaderError(
                        f"{redaction.url(url)} redirects to {redaction.url(joined)}, which is not an http(s) URL; "
                        "give the URL of the document itself"
                    )
                url = joined
                if advice is NEIGHBOUR:
                    self._require_allowed(url)
            raise portion.too_far(self.way.redaction.url(url))
        except LoaderError as error:
            error.url = error.url or self.way.redaction.url(url)
            portion.fail()
            raise

    def _require_allowed(self, url: str) -> None:
        """Raise `LoaderError` for a reference to another host that the settings do not allow.

        Otherwise a foreign description could choose hosts of the local network for the tool to contact.
        """
        limits, home = self.way.limits, self._home
        given = None if limits.api is None else BaseUrl.from_url(limits.api)
        allowed = {one.service for one in (home, given) if one is not None}
        if origin_of(url).service in allowed:
            return
        if limits.other_hosts is False:
            why = "the configuration says `other-hosts = false`"
        elif limits.other_hosts is None and home is not None and not self._is_of_api(home):
            why = f"the description came from {home.url}, which is not the host of the API"
        else:
            return
        self.way.on_other_host(origin_of(url).url, why)
        raise LoaderError(
            f"{self.way.redaction.url(url)} is on another host, and is not fetched (`other-hosts` in [documents])"
        )

    def _is_of_api(self, home: BaseUrl) -> bool:
        """Whether the description came from the host of the API under test."""
        api = self.way.limits.api or self.declared_api()
        try:
            return api is None or BaseUrl.from_url(api).service == home.service
        except ValueError:
            # A server variable without a value, or no URL at all.
            return False


def _certificates(path: str) -> ssl.SSLContext:
    """Return a TLS context with the authorities of a bundle, or of a folder of them."""
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


def _waited(fetch: Callable[[], Fetched], wait_for_schema: float | None, until: float | None) -> Fetched:
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
