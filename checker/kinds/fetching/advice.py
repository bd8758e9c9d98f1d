"""Why a document of the network does not come, in one sentence, and what to do about it."""

import re
from typing import Final

import httpx
from msgspec import Struct

from checker.core.errors import LoaderError, LoaderErrorKind


class Advice(Struct, frozen=True):
    """What to do about a document that does not come."""

    silent: str
    unreachable: str
    refused: str
    unverified: str
    broken: str


class NotReady(LoaderError):
    """The API may be starting yet: worth another try."""


BESIDE: Final = "make it reachable from here, or refer to a copy beside the description"
_CORRECT: Final = "correct the reference, or refer to a copy beside the description"
API: Final = Advice(
    silent="check that the API is up or give a longer time-out",
    unreachable="check that the API is running there",
    refused="check the URL and its credentials",
    unverified="give its CA bundle or switch verification off",
    broken="check that it serves the document",
)
NEIGHBOUR: Final = Advice(
    silent=BESIDE,
    unreachable=BESIDE,
    refused=_CORRECT,
    unverified="give its CA bundle, or refer to a copy beside the description",
    broken=_CORRECT,
)


def network_error(asked: str, error: httpx.HTTPError, advice: Advice) -> LoaderError:
    """The error for what the network did; `NotReady` where another try may help."""
    kind = (
        NotReady if isinstance(error, httpx.ConnectError | httpx.TimeoutException) else LoaderError
    )
    return kind(_sentence(asked, error, advice), [str(error)], kind=_loader_error_kind(error))


def _loader_error_kind(error: httpx.HTTPError) -> LoaderErrorKind:
    if not isinstance(error, httpx.ConnectError):
        return LoaderErrorKind.NETWORK_OTHER
    is_about_tls = re.search("SSL|CERTIFICATE", str(error).upper())
    return LoaderErrorKind.CONNECTION_SSL if is_about_tls else LoaderErrorKind.CONNECTION_OTHER


def _sentence(asked: str, error: httpx.HTTPError, advice: Advice) -> str:
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
