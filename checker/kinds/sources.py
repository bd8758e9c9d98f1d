"""Sources of descriptions, options for fetching them, and options for reading them."""

import os
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final

from msgspec import Struct, field

from checker.config.files import QueryFile
from checker.config.operation_settings import HttpSettings
from checker.config.settings import FetchLimits
from checker.core.errors import LoaderError, LoaderErrorKind
from checker.core.hooks import GLOBAL_HOOKS, HookSource
from checker.core.operation import Operation
from checker.core.redact import Redaction
from checker.core.request import WireRequest
from checker.core.response import Response

_SHOWN_LINES: Final = 10  # Lines that are shown of a response without a document.


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
    """Maximum seconds to wait for the document."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of `httpx.get`: `headers`, `timeout`, `auth`, `params`, `cookies`. The options are used for the server of this URL alone."""

    @property
    def name(self) -> str:
        return self.url


class TextSource(Struct, frozen=True):
    """A document in memory."""

    data: bytes
    name: str
    """Denotes the document in errors."""


class ValueSource(Struct, frozen=True):
    """A document that is parsed already."""

    value: Mapping[str, Any]
    name: str = "the schema"


class ApplicationSource(Struct, frozen=True):
    """The description that an application in this process serves."""

    path: str  # Path of the description, as the user gave it.
    url: str  # The host under which the application sees itself.
    exchange: Callable[[WireRequest], Response]
    """Returns the response of the application to a request. Raises `LoaderError` if there is none."""

    @property
    def name(self) -> str:
        return self.path

    def document(self, request: WireRequest, advice: str) -> Response:
        """Return the response with the document.

        Raises `LoaderError` for any other response. The error shows the last lines of the body, where frameworks print
        the exception.
        """
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
    """File of the key of the certificate; None if the key is in the same file."""
    on_other_host: Callable[[str, str], object] = lambda host, why: None
    """Called with the URL of a reference whose host is not contacted, and with the reason."""

    @classmethod
    def of(cls, http: HttpSettings, limits: FetchLimits, redaction: Redaction, **more: Any) -> "FetchOptions":
        """Return the options of a configuration: its HTTP settings, limits and sensitive names."""
        return cls(http.verify, http.proxy, limits, redaction, http.cert, http.cert_key, **more)

    @property
    def version(self) -> str | None:
        """Return the version of OpenAPI to read a description as; None for the declared one."""
        return self.limits.version


DIRECT: Final = FetchOptions()


AssertsFormats = Callable[[Operation], bool]
AllowsNull = Callable[[Operation], bool]


class SchemaOptions(Struct, frozen=True):
    """User options for an open description."""

    base_url: str | None = None  # Replaces every declared server; None keeps them.
    server_variables: Mapping[str, str] = field(default_factory=dict)
    """Values of variables in the declared server URLs, in place of their defaults."""
    variables_of: Callable[[Operation], Mapping[str, str]] | None = None
    """Returns the values for one operation; None if they are the same for all."""
    asserts_formats: AssertsFormats = lambda operation: True
    """Whether responses of an operation have to match `format` in their schemas."""
    allows_null: AllowsNull = lambda operation: True
    """Whether requests of an operation may contain null and NUL, for kinds whose users decide about both."""
    queries: tuple[QueryFile, ...] = ()  # Requests that users wrote, for kinds whose requests are texts.
    hooks: HookSource = field(default_factory=lambda: GLOBAL_HOOKS)  # User hooks that run during reading.
