"""Inputs and limits for reading descriptions: bytes, seconds, documents and nesting.

The limits on bytes and seconds apply to each document and to all documents together.
"""

import os
import re
import ssl
import time
from collections.abc import Callable, Mapping
from math import inf
from typing import Any, Final

import yaml
from msgspec import Struct

from checker.config.settings import FetchLimits
from checker.core.errors import LoaderError, LoaderErrorKind, UnreadableFile
from checker.core.redact import Redaction
from checker.core.request import BaseUrl, canonical_url
from checker.core.system import Clock, pieces_of, shown_size
from checker.kinds.sources import FetchOptions

_FILES: Final = 10  # Local files that count as one document from the network. A public description has 2,907 files.


class AllowanceSpent(LoaderError):
    """All documents of a description together exceed the limits. No single reference is at fault."""


class Allowance(Struct):
    """The limits for one description and every document that it refers to."""

    limits: FetchLimits
    clock: Clock = time.monotonic
    _begun: int = 0  # Documents in units of files: a document from the network counts as many.
    _size: int = 0
    _spent_s: float = 0.0

    def document(self, name: str, *, is_file: bool = False) -> "Portion":
        """Return the limits for one more document. Raises `AllowanceSpent`."""
        limits = self.limits
        if self._begun > limits.max_count * _FILES:
            raise AllowanceSpent(
                f"the description leads to more than {limits.max_count} other documents, one of them {name}; "
                f"refer to fewer, or raise {_option('max-count')}; ten local files count as one document"
            )
        self._begun += 1 if is_file else _FILES
        self._require_time(name)
        return Portion(name, self)

    def left_s(self) -> float:
        """Return the seconds left for all further documents."""
        return self.limits.max_total_time_s - self._spent_s

    def run_left_s(self) -> float:
        """Return the seconds until the end of the run."""
        until = self.limits.until
        return inf if until is None else until - self.clock()

    def pay(self, seconds: float, name: str) -> None:
        """Count the time of a document. Raises `AllowanceSpent`."""
        self._spent_s += seconds
        self._require_time(name)

    def grow(self, size: int, name: str) -> None:
        """Count bytes. Raises `AllowanceSpent`."""
        self._size += size
        most = self.limits.max_total_size
        if self._size > most:
            raise AllowanceSpent(
                f"the description and the documents that it leads to hold more than {shown_size(most)}, {name} "
                f"included; refer to less, or raise {_option('max-total-size')}"
            )

    def _require_time(self, name: str) -> None:
        if self.run_left_s() <= 0:
            raise AllowanceSpent(_after_the_run(name))
        most = self.limits.max_total_time_s
        if self._spent_s >= most:
            raise AllowanceSpent(
                f"the description and the documents that it leads to took more than {most:g} s to read; "
                f"refer to copies of them, or raise {_option('max-total-time')}"
            )


class Portion:
    """The limits for one document."""

    def __init__(self, name: str, allowance: Allowance) -> None:
        self.name = name
        self._allowance = allowance
        self._began_at = allowance.clock()
        self._taken = bytearray()

    @property
    def limits(self) -> FetchLimits:
        return self._allowance.limits

    def left_s(self) -> float:
        """Return the seconds left for the whole document."""
        limits, spent_s, run_s = self.limits, self._spent_s(), self._allowance.run_left_s()
        return min(limits.timeout_s - spent_s, self._allowance.left_s() - spent_s, run_s)

    def take(self, piece: bytes) -> None:
        """Keep the next received bytes. Raises `LoaderError` if they are too many or too late."""
        self._taken += piece
        if len(self._taken) > self.limits.max_size:
            raise self.too_large()
        if self.left_s() <= 0:
            raise self.too_late()

    def taken(self) -> bytes:
        """Return the bytes received so far."""
        return bytes(self._taken)

    def close(self, content: bytes) -> bytes:
        """Return the whole document. Raises `AllowanceSpent` if all documents together exceed a limit."""
        self._allowance.grow(len(content), self.name)
        self._allowance.pay(self._spent_s(), self.name)
        return content

    def fail(self) -> None:
        """Count the time of a document that could not be read. Raises `AllowanceSpent`."""
        self._allowance.pay(self._spent_s(), self.name)

    def _spent_s(self) -> float:
        return self._allowance.clock() - self._began_at

    def too_large(self) -> LoaderError:
        """Return the error for a document that is too large."""
        return LoaderError(
            f"{self.name} holds more than {shown_size(self.limits.max_size)}; give a smaller document, or raise "
            f"{_option('max-size')}"
        )

    def too_late(self) -> LoaderError:
        """Return the error for a document that takes too long."""
        # Timers may fire slightly early, so the error names the limit that comes first.
        if self._allowance.run_left_s() <= self.limits.timeout_s - self._spent_s():
            return LoaderError(_after_the_run(self.name), kind=LoaderErrorKind.NETWORK_OTHER)
        return LoaderError(
            f"{self.name} was not complete within {self.limits.timeout_s:g} s; make it come faster, or raise "
            f"{_option('timeout')}",
            kind=LoaderErrorKind.NETWORK_OTHER,
        )

    def too_far(self, target: str) -> LoaderError:
        """Return the error for too many redirects."""
        most = self.limits.max_redirects
        times = "once" if most == 0 else f"more than {most} times"
        return LoaderError(
            f"{self.name} redirects {times}, at last to {target}; give the URL where it ends, or raise "
            f"{_option('max-redirects')}",
            kind=LoaderErrorKind.NETWORK_OTHER,
        )


def _after_the_run(name: str) -> str:
    # Applies to local files as well, because earlier work may have used up the time.
    return f"{name} was not loaded completely within the time limit of the run; raise `--max-time`"


def _option(key: str) -> str:
    return f"`{key}` in [documents] of checker.toml"


def read_file(path: str | os.PathLike[str], allowance: Allowance, what: str = "an OpenAPI document") -> bytes:
    """Return the content of a file. Raises `LoaderError`."""
    portion = allowance.document(os.fspath(path), is_file=True)
    try:
        for piece in pieces_of(path, what):
            portion.take(piece)
    except UnreadableFile as error:
        raise LoaderError(str(error)) from error
    return portion.close(portion.taken())


_DEEPEST: Final = 200
_LIMIT_OF_PARSER: Final = "nesting depth"  # Words in the parser's error about its own limit.
# Deep block nesting needs deep indentation, or many markers on one line.
_MAYBE_DEEP: Final = re.compile(r"^ {200}|(?:[-?:] +){100}", re.MULTILINE)


def refuse_depth(text: str) -> None:
    """Raise `yaml.YAMLError` for nesting that would crash the composer, which is recursive C code."""
    if text.count("[") + text.count("{") <= _DEEPEST and not _MAYBE_DEEP.search(text):
        return
    try:
        depth = 0
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > _DEEPEST:
                    raise _too_deep(event.start_mark)
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
    except yaml.scanner.ScannerError as error:
        # Newer parsers look ahead and have a limit of their own.
        if _LIMIT_OF_PARSER not in str(error.problem):
            raise
        raise _too_deep(error.problem_mark) from None


def _too_deep(mark: Any) -> yaml.YAMLError:
    return yaml.constructor.ConstructorError(None, None, "it is nested too deeply", mark)


class Reaching(Struct, frozen=True):
    """Settings for reaching servers."""

    own: BaseUrl | None  # The server that the user named; None if there is none.
    options: Mapping[str, Any]  # Options of `httpx.get`, for that server alone.
    way: FetchOptions
    verify: Callable[[], ssl.SSLContext]
    """Return the TLS context of all requests with TLS. It is made on first use, because making it takes longer than most requests."""


class Fetched(Struct, frozen=True):
    """A document without its content codings."""

    content: bytes
    content_type: str | None
    location: str  # The URL of the document after redirects, without secrets.


def origin_of(url: str) -> BaseUrl:
    """Return the origin of an http(s) URL. Raises `LoaderError`."""
    try:
        return BaseUrl.from_url(url)
    except ValueError as error:
        raise LoaderError(f"{Redaction().url(url)} is not a URL: {error}; correct it") from error


def canonical(url: str) -> str:
    """Return the canonical form of a URL. Raises `LoaderError` for an address without a socket."""
    try:
        return canonical_url(url)
    except ValueError as error:
        raise LoaderError(str(error)) from error


class FetchAdvice(Struct, frozen=True):
    """Advice for each reason why a document cannot be fetched."""

    silent: str
    unreachable: str
    refused: str
    missing: str
    unverified: str
    broken: str


class NotReady(LoaderError):
    """The API may still be starting: another try may succeed."""


BESIDE: Final = "make it reachable from here, or refer to a copy beside the description"
_CORRECT: Final = "correct the reference, or refer to a copy beside the description"
API: Final = FetchAdvice(
    silent="check that the API is up or give a longer time-out",
    unreachable="check that the API is running there",
    refused="check the URL and its credentials",
    missing="check the URL: many APIs serve their description at /openapi.json, /v3/api-docs or /swagger.json",
    unverified="give the file of its authority with `--tls-verify FILE` (`tls-verify`), or accept any with `--tls-verify false`",
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
