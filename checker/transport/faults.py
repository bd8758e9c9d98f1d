"""What libcurl's error codes mean for an API: a kind and one sentence, without times or ports of our own."""

from functools import lru_cache

import pycurl

from checker.core.response import FailureKind
from checker.transport.settings import HttpSettings

WEIRD_REPLY = 8
"""CURLE_WEIRD_SERVER_REPLY, which pycurl does not name."""
_TOO_LARGE = 100
"""CURLE_TOO_LARGE, likewise: the headers are longer than libcurl takes."""

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
    _TOO_LARGE: FailureKind.TOO_LARGE,
}


def fault(code: int, text: str, settings: HttpSettings) -> tuple[FailureKind, str]:
    """Kind and sentence for libcurl's error `code` and its own `text`."""
    kind = _KINDS.get(code, FailureKind.OTHER)
    if code == pycurl.E_RECV_ERROR and "chunk" in text.lower():
        # The same code as for a reset connection.
        kind = FailureKind.MALFORMED
    match kind:
        case FailureKind.TIMEOUT:
            return kind, f"no complete response within {settings.request_timeout_s:g} s"
        case FailureKind.DROPPED if code == pycurl.E_PARTIAL_FILE:
            return kind, "the connection was closed in the middle of the response"
        case FailureKind.DROPPED:
            return kind, "the connection was closed without a complete response"
        case _:
            return kind, text or kind.value


@lru_cache(maxsize=256)
def status_of(line: bytes) -> tuple[str, int, str]:
    """Version, status and reason phrase of a status line that libcurl accepted."""
    parts = line.decode("latin-1").strip().split(" ", 2)
    version = parts[0].partition("/")[2]
    status = parts[1] if len(parts) > 1 else ""
    return version, int(status) if status.isdigit() else 0, parts[2] if len(parts) > 2 else ""
