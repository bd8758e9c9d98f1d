"""Sources of descriptions, options for fetching them, and options for reading them."""

import os
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final

from msgspec import Struct, field

from checker.config.files import QueryFile
from checker.config.settings import FetchLimits
from checker.core.errors import LoaderError, LoaderErrorKind
from checker.core.hooks import GLOBAL_HOOKS, HookSource
from checker.core.operation import Operation
from checker.core.redact import Redaction
from checker.core.request import WireRequest
from checker.core.response import Response

_SHOWN_LINES: Final = 10
"""Lines of a response without a document that are shown."""


class FileSource(Struct, frozen=True):
    """A file."""

    path: str | os.PathLike[str]
    encoding: str = "utf-8"

    @property
    def name(self) -> str:
        return os.fspath(self.path)


class UrlSource(Struct, frozen=True):
    """A document behind a URL."""

    url: str
    wait_s: float | None = None
    """The longest time to wait for it."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of `httpx.get`: `headers`, `timeout`, `auth`, `params`, `cookies`. They go to the server of this URL alone."""

    @property
    def name(self) -> str:
        return self.url


class TextSource(Struct, frozen=True):
    """A document in memory."""

    data: bytes
    name: str
    """Stands for it in errors."""


class ValueSource(Struct, frozen=True):
    """A document that is parsed already."""

    value: Mapping[str, Any]
    name: str = "the schema"


class ApplicationSource(Struct, frozen=True):
    """The description that an application in this process serves."""

    path: str
    """Path of the description, as the user gave it."""
    url: str
    """The host that it believes to be."""
    exchange: Callable[[WireRequest], Response]
    """Its answer to a request. Raises `LoaderError` when there is none."""

    @property
    def name(self) -> str:
        return self.path

    def document(self, request: WireRequest, advice: str) -> Response:
        """Its answer with a document. Raises `LoaderError` for any other, with its last lines: of what was raised, they say it."""
        answer = self.exchange(request)
        status = answer.status_code
        if status == HTTPStatus.OK:
            return answer
        reason = f"HTTP {status} {answer.message}".strip()
        side = "server" if status >= 500 else "client"
        why = f" due to {side} error ({reason})" if status >= 400 else f": it answers with {reason}"
        raise LoaderError(
            f"Failed to load {self.path} of the application{why}; {advice}",
            [reason, *answer.text_lossy().splitlines()[-_SHOWN_LINES:]],
            kind=LoaderErrorKind.of_status(status),
        )


DescriptionSource = FileSource | UrlSource | TextSource | ValueSource | ApplicationSource


class FetchOptions(Struct, frozen=True):
    """Options for fetching documents, with their limits."""

    verify: bool | str = True
    """Whether certificates are verified; a text is the path of a CA bundle."""
    proxy: str | None = None
    """URL."""
    limits: FetchLimits = field(default_factory=FetchLimits)
    redaction: Redaction = field(default_factory=Redaction)
    """Masks secrets of URLs in errors."""
    cert: str | None = None
    """File of the client certificate."""
    cert_key: str | None = None
    """File of its key; None: it stands in the same file."""
    version: str | None = None
    """Version of OpenAPI that a description is read as; None: the one that it names."""
    on_other_host: Callable[[str, str], object] = lambda host, why: None
    """Called with the URL of a host that a reference leads to and that is not asked, and with the reason."""


DIRECT: Final = FetchOptions()


AssertsFormats = Callable[[Operation], bool]
AllowsNull = Callable[[Operation], bool]


class SchemaOptions(Struct, frozen=True):
    """Options of users for a description that is open."""

    base_url: str | None = None
    """In place of every server that it names; None leaves them."""
    server_variables: Mapping[str, str] = field(default_factory=dict)
    """Values of variables in the URLs of those servers, in place of their defaults."""
    variables_of: Callable[[Operation], Mapping[str, str]] | None = None
    """Gives the values for one operation; None: they are the same for all."""
    asserts_formats: AssertsFormats = lambda operation: True
    """Whether answers of an operation have to keep the formats of their schemas."""
    allows_null: AllowsNull = lambda operation: True
    """Whether requests of an operation hold null, and NUL, where they may: for kinds in which both are left to users."""
    queries: tuple[QueryFile, ...] = ()
    """Requests that users wrote: for kinds in which a request is a text."""
    hooks: HookSource = field(default_factory=lambda: GLOBAL_HOOKS)
    """Hooks of users that run while it is read."""
