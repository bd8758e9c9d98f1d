"""What libcurl's error codes mean for an API: a kind and one sentence, without times or ports of our own."""

import re
from functools import lru_cache

import pycurl

from checker.core.response import FailureKind
from checker.transport.settings import HttpSettings

WEIRD_REPLY = 8
"""CURLE_WEIRD_SERVER_REPLY, which pycurl does not name."""
_TOO_LARGE = 100
"""CURLE_TOO_LARGE, likewise: the headers are longer than libcurl takes."""
_OVERFLOW = "response headers"
"""What libcurl says when those of several interim answers are too long together, with the code of a reset connection."""

_UNKNOWN_CALLER = "certificate required"
"""Of the alert of that name (RFC 8446, 6.2)."""

_LONGEST_REASON = 256
_STATUS_LINE = re.compile(
    rb"HTTP/([0-9](?:\.[0-9])?)[ \t]+([0-9]{3})(?![^\s])(.{,%d})" % _LONGEST_REASON
)
"""libcurl is more generous: what it takes for a status may have 5,000 digits. Of a reason phrase as much is kept as people read."""

_KINDS = {
    pycurl.E_COULDNT_RESOLVE_PROXY: FailureKind.DNS,
    pycurl.E_COULDNT_RESOLVE_HOST: FailureKind.DNS,
    pycurl.E_COULDNT_CONNECT: FailureKind.REFUSED,
    pycurl.E_OPERATION_TIMEDOUT: FailureKind.TIMEOUT,
    pycurl.E_PARTIAL_FILE: FailureKind.DROPPED,
    pycurl.E_GOT_NOTHING: FailureKind.DROPPED,
    pycurl.E_SEND_ERROR: FailureKind.DROPPED,
    pycurl.E_RECV_ERROR: FailureKind.DROPPED,
    pycurl.E_UNSUPPORTED_PROTOCOL: FailureKind.MALFORMED,
    WEIRD_REPLY: FailureKind.MALFORMED,
    pycurl.E_BAD_CONTENT_ENCODING: FailureKind.MALFORMED,
    # A header line that libcurl cannot file under any name: a trailer that is folded, with nothing above it.
    pycurl.E_BAD_FUNCTION_ARGUMENT: FailureKind.MALFORMED,
    _TOO_LARGE: FailureKind.TOO_LARGE,
}


def fault(code: int, text: str, settings: HttpSettings) -> tuple[FailureKind, str]:
    """Kind and sentence for libcurl's error `code` and its own `text`."""
    if _UNKNOWN_CALLER in text.lower():
        # With TLS 1.3 that comes when the request has been sent, as the answer to it.
        return FailureKind.OTHER, "it asks for a client certificate; give it with `--request-cert`"
    kind = _KINDS.get(code, FailureKind.OTHER)
    if code == pycurl.E_RECV_ERROR and "chunk" in text.lower():
        # The same code as for a reset connection.
        kind = FailureKind.MALFORMED
    elif code == pycurl.E_RECV_ERROR and _OVERFLOW in text:
        kind = FailureKind.TOO_LARGE
    match kind:
        case FailureKind.TOO_LARGE:
            return (
                kind,
                "its header and trailer lines are too long or too many: at most 300 KB and 5000 of them are read",
            )
        case FailureKind.MALFORMED if code == pycurl.E_UNSUPPORTED_PROTOCOL:
            return kind, f"it does not begin with a status line of HTTP/1.1 ({text})"
        case FailureKind.TIMEOUT:
            return kind, f"no complete response within {settings.request_timeout_s:g} s"
        case FailureKind.DROPPED if code == pycurl.E_PARTIAL_FILE:
            return kind, "the connection was closed in the middle of the response"
        case FailureKind.DROPPED:
            return kind, "the connection was closed without a complete response"
        case _:
            return kind, text or kind.value


@lru_cache(maxsize=256)
def status_of(line: bytes) -> tuple[str, int, str] | None:
    """Version, status and reason phrase of a status line; None for a line that is none (RFC 9112, 4)."""
    found = _STATUS_LINE.match(line)
    if found is None:
        return None
    version, status, reason = found.groups()
    return version.decode(), int(status), (reason or b"").decode("latin-1").strip()
