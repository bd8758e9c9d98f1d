"""Every place that reads a response from outside keeps to limits of bytes and time, and shows no control character.

The long table of descriptions stands in `test_fetching.py`.
"""

import tracemalloc
import zlib
from collections.abc import Callable

import pytest

from checker.config.operation_settings import HttpSettings
from checker.config.settings import FetchLimits, UploadSettings
from checker.core.errors import CredentialError, LoaderError
from checker.core.request import BaseUrl, WireRequest
from checker.core.response import NetworkFailure
from checker.core.send import send_alone
from checker.core.terminal import printable
from checker.kinds.sources import FetchOptions
from checker.kinds.web import Web
from checker.reporting.formats.archive import upload
from checker.transport.factories import NETWORK
from checker.workers.authentication.logins import accepted, extracted, login_request
from checker.workers.starting.calling import sender
from tests.hostile.servers import Behaviour, dripping, endless, page, serving

_HEAD = b"HTTP/1.1 500 Failed\r\nContent-Type: text/plain\r\n"
_LIMIT_S = 0.4
_MOST_BYTES = 16 << 20
_MOST_SHOWN = 2000


def _bomb() -> bytes:
    """Return a deflate stream of about 1 MB that stands for 1 GiB."""
    block = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = block.compress(bytes(1 << 20)) + block.flush(zlib.Z_FULL_FLUSH)
    return piece * 1024 + b"\x03\x00"


BEHAVIOURS: dict[str, Behaviour] = {
    "bomb": page(_bomb(), "Content-Encoding: deflate", status="500 Failed"),
    "trickle": dripping(_HEAD + b"Content-Length: 99999\r\n\r\n", b"x"),
    "trickle of headers": dripping(_HEAD, b"A: b\r\n"),
    "escape": page(b"\x1b[31mred\r\n::error::x\x07\x9b2J" * 99, status="500 F\x1b[2Jailed"),
    "size": endless(_HEAD + b"\r\n", b"x" * 65536),
}


def _fetch(url: str) -> str:
    limits = FetchLimits(max_size=100_000, timeout_s=_LIMIT_S)
    with pytest.raises(LoaderError) as raised:
        Web({}, FetchOptions(limits=limits)).get(url)
    return "\n".join([raised.value.message, *raised.value.extras])


def _refer(url: str) -> str:
    limits = FetchLimits(max_size=100_000, timeout_s=_LIMIT_S)
    with pytest.raises(LoaderError) as raised:
        Web({}, FetchOptions(limits=limits)).document(url)
    return "\n".join([raised.value.message, *raised.value.extras])


def _log_in(url: str) -> str:
    send = sender(NETWORK, BaseUrl.from_url(url), HttpSettings(timeout_s=_LIMIT_S))
    with pytest.raises(CredentialError) as raised:
        extracted(accepted(send(login_request("POST", "", "", "")), "POST /login"), "body", "/t")
    return str(raised.value)


def _probe(url: str) -> str:
    lanes = NETWORK(BaseUrl.from_url(url), HttpSettings(timeout_s=_LIMIT_S), 1)
    outcome = send_alone(lanes, WireRequest("GET", b"/x", []))
    lanes.close()
    if isinstance(outcome, NetworkFailure):
        return outcome.message
    assert len(outcome.readable.content) <= 1 << 20
    return outcome.readable.content[:200].decode("utf-8", "replace")


def _upload(url: str) -> str:
    return upload(b"archive", UploadSettings(url), _LIMIT_S)


READERS = {"description": _fetch, "reference": _refer, "login": _log_in, "test response": _probe, "upload": _upload}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_a_reader_has_an_end(reader: str, behaviour: str) -> None:
    with serving({"/": BEHAVIOURS[behaviour]}) as url:
        tracemalloc.start()
        try:
            said = READERS[reader](f"{url}/x")
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert said
    assert len(said) < _MOST_SHOWN
    assert peak < _MOST_BYTES
    # The rest is cleaned by the console.
    if reader == "upload":
        assert printable(said) == said
        assert "\n" not in said


def test_an_upload_ends_when_it_is_given_up() -> None:
    asked: list[int] = []

    def given_up() -> bool:
        asked.append(1)
        return len(asked) > 1

    with serving({"/": BEHAVIOURS["trickle"]}) as url:
        said = upload(b"", UploadSettings(f"{url}/x"), 500, given_up)
    assert said.endswith(": interrupted")
    assert len(asked) == 2


def test_a_secret_of_a_receiver_is_masked_before_it_is_cut() -> None:
    hide: Callable[[str], str] = lambda text: text.replace("canary-secret", "[Filtered]")  # noqa: E731
    body = b"x" * 195 + b"canary-secret"
    with serving({"/": page(body, status="500 Failed")}) as url:
        said = upload(b"", UploadSettings(f"{url}/x"), 60, hide=hide)
    assert "canary" not in said
