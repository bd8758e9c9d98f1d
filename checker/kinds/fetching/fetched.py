"""Input and result of a fetch: the server, the document, and advice for a document that does not come."""

import ssl
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from checker.core.errors import LoaderError
from checker.core.redact import Redaction
from checker.core.request import BaseUrl, canonical_url
from checker.kinds.sources import FetchOptions


class Reaching(Struct, frozen=True):
    """Settings for reaching servers."""

    own: BaseUrl | None
    """The server that the user named; None: every server is a stranger."""
    options: Mapping[str, Any]
    """Options of `httpx.get`, for that server alone."""
    way: FetchOptions
    verify: bool | ssl.SSLContext


class Fetched(Struct, frozen=True):
    """A document as it came, without its codings."""

    content: bytes
    content_type: str | None
    location: str
    """Its URL after redirects, without secrets."""


def origin_of(url: str) -> BaseUrl:
    """Origin of an http(s) URL. Raises `LoaderError`."""
    try:
        return BaseUrl.from_url(url)
    except ValueError as error:
        raise LoaderError(f"{Redaction().url(url)} is not a URL: {error}; correct it") from error


def canonical(url: str) -> str:
    """A URL as it is worked with inside. Raises `LoaderError` for the address of no socket."""
    try:
        return canonical_url(url)
    except ValueError as error:
        raise LoaderError(str(error)) from error


class FetchAdvice(Struct, frozen=True):
    """Advice for each reason why a document does not come."""

    silent: str
    unreachable: str
    refused: str
    missing: str
    unverified: str
    broken: str


class NotReady(LoaderError):
    """The API may be starting yet: worth another try."""


BESIDE: Final = "make it reachable from here, or refer to a copy beside the description"
_CORRECT: Final = "correct the reference, or refer to a copy beside the description"
API: Final = FetchAdvice(
    silent="check that the API is up or give a longer time-out",
    unreachable="check that the API is running there",
    refused="check the URL and its credentials",
    missing="check the URL: many APIs serve their description at /openapi.json, /v3/api-docs or /swagger.json",
    unverified="give its CA bundle or switch verification off",
    broken="check that it serves the document",
)
NEIGHBOUR: Final = FetchAdvice(
    silent=BESIDE,
    unreachable=BESIDE,
    refused=_CORRECT,
    missing=_CORRECT,
    unverified="give its CA bundle, or refer to a copy beside the description",
    broken=_CORRECT,
)
