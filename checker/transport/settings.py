"""Settings of HTTP requests: limits, proxy and certificates."""

from collections.abc import Mapping
from math import inf
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from checker.config.operation_settings import OperationSettings
from checker.config.table import default_of
from checker.core.credentials import Credentials
from checker.core.request import WireRequest

Headers = tuple[tuple[str, str], ...]
"""(name, value) of what users give for every request."""


class HttpSettings(Struct, frozen=True):
    """Limits, credentials and policies of the HTTP transport."""

    request_timeout_s: float = default_of((), "request-timeout")
    """For the whole transfer: a server that drips bytes cannot outlive it."""
    connect_timeout_s: float = 5.0
    max_response_bytes: int = 1 << 20
    """A longer body is cut here and its response says so; the rest is never read."""
    stream_time_s: float = 2.0
    """How long an event stream is listened to: it need not ever end."""
    proxy: str | None = None
    verify: bool | str = True
    """False accepts any certificate; a string is a file or folder of authorities."""
    cert: str | None = None
    """File with the client certificate."""
    cert_key: str | None = None
    max_stream_events: int = default_of((), "max-stream-events")
    """Events of a stream after which it is not listened to any more."""
    max_redirects: int = default_of((), "max-redirects")
    """Followed on the same site; the answer after that many is the response."""
    retries: int = 0
    """Retries of a request without a response."""
    rate: str | None = None
    """Requests per time, as `50/s`; `auto`: as the target asks."""

    @property
    def connection(self) -> tuple[str | None, bool | str, str | None, str | None]:
        """Return the settings that decide whether a connection can be made."""
        return self.proxy, self.verify, self.cert, self.cert_key

    @classmethod
    def of(cls, settings: OperationSettings) -> "HttpSettings":
        """Return the HTTP settings of an operation."""
        return cls(
            request_timeout_s=settings.request_timeout_s,
            proxy=settings.proxy,
            verify=settings.tls_verify,
            cert=settings.request_cert,
            cert_key=settings.request_cert_key,
            max_stream_events=settings.max_stream_events,
            max_redirects=settings.max_redirects,
            retries=settings.request_retries,
            rate=settings.rate_limit,
        )


class HttpChanges(Struct, frozen=True):
    """Changes that a user's hook makes to the HTTP settings of one request."""

    usual: HttpSettings | None = None
    """Those of its operation; None: as all requests travel that say nothing else."""
    timeout_s: float | None = None
    """Shorter than that of the settings: the supervisor knows only that of the settings."""
    verify: bool | str | None = None
    follows_redirects: bool | None = None

    @property
    def options(self) -> dict[str, Any]:
        """Return the changes under the names of clients."""
        found = {
            "timeout": self.timeout_s,
            "verify": self.verify,
            "follow_redirects": self.follows_redirects,
        }
        return {name: value for name, value in found.items() if value is not None}

    def over(self, usual: HttpSettings) -> HttpSettings:
        """The settings of the request, where those of its lane are the usual ones."""
        known = self.usual or usual
        return replace(
            known,
            request_timeout_s=min(self.timeout_s or inf, known.request_timeout_s),
            verify=known.verify if self.verify is None else self.verify,
            max_redirects=_redirects(known.max_redirects, self.follows_redirects),
        )


def _redirects(usual: int, follows: bool | None) -> int:
    """Return the number of redirects to follow for the choice of a caller; None: as usual."""
    if follows is None or follows == (usual > 0):
        return usual
    return default_of((), "max-redirects") if follows else 0


def travelling(request: WireRequest, usual: HttpSettings) -> HttpSettings:
    """Return the settings of a request on a lane that has these settings."""
    via = request.via
    if isinstance(via, HttpChanges):
        return via.over(usual)
    return via if isinstance(via, HttpSettings) else usual


class Dispatch(Struct, frozen=True):
    """The settings of an operation for one request: credentials, headers, HTTP."""

    headers: Headers
    http: HttpSettings | None = None
    """None: as all requests do that say nothing else."""
    credentials: Mapping[int | None, Credentials] = field(default_factory=dict)
    """For its security schemes, in place of what a case has under the same names: by the alternative that the case meets
    (`Case.alternative`). Headers that all cases carry stand among the others."""
