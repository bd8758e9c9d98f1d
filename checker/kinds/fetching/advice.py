"""Why a document of the network does not come, in one sentence, and what to do about it."""

from typing import Final

from msgspec import Struct

from checker.core.errors import LoaderError


class FetchAdvice(Struct, frozen=True):
    """What to do about a document that does not come."""

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
