"""Where documents are fetched from, and what a fetch brings."""

import ssl
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from checker.core.errors import LoaderError
from checker.core.redact import Redaction
from checker.core.request import BaseUrl, canonical_url
from checker.kinds.sources import FetchOptions


class Reaching(Struct, frozen=True):
    """How servers are reached."""

    own: BaseUrl | None
    """The server that the user named; None: whoever is asked is a stranger."""
    options: Mapping[str, Any]
    """Those of `httpx.get`, for that server alone."""
    way: FetchOptions
    verify: bool | ssl.SSLContext


class Fetched(Struct, frozen=True):
    """A document as it came, without its codings."""

    content: bytes
    content_type: str | None
    location: str
    """Where it was in the end, without what is secret in that URL."""


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
