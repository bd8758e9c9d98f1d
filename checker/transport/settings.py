"""How requests travel: limits, proxy and certificates."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """Limits and credentials of the HTTP transport. It follows no redirect: a 3xx is the response."""

    request_timeout_s: float = 10.0
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
