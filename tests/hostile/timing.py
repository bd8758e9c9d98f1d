"""Answers that do not come, or come too slowly, or end by force."""

from tests.hostile.behaviours import DROPPED, FINE, TIMED_OUT, Behaviour, dripping, head, reset, silent

_PROMISED = head(b"Content-Type: application/json", b"Content-Length: 9000")

SLOW = (
    Behaviour("silent", silent(), (TIMED_OUT,)),
    Behaviour("silent-after-head", silent(_PROMISED), (TIMED_OUT,)),
    Behaviour("silent-in-status-line", silent(b"HTTP/1.1 2"), (TIMED_OUT,)),
    Behaviour("dripping-status-line", dripping(b"HTTP/1.1 200 ", b"O"), (TIMED_OUT,)),
    Behaviour("dripping-headers", dripping(b"HTTP/1.1 200 OK\r\n", b"X-A: 1\r\n"), (TIMED_OUT,)),
    Behaviour("dripping-body", dripping(_PROMISED, b" "), (TIMED_OUT,)),
    Behaviour("dripping-chunks", dripping(head(b"Transfer-Encoding: chunked"), b"1\r\na\r\n"), (TIMED_OUT,)),
    Behaviour("dripping-continues", dripping(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), (TIMED_OUT,)),
)
RESETS = (
    Behaviour("reset-at-once", reset(), (DROPPED,)),
    Behaviour("reset-in-head", reset(b"HTTP/1.1 200 OK\r\nX-A"), (DROPPED,)),
    Behaviour("reset-in-body", reset(_PROMISED + FINE), (DROPPED,)),
)
