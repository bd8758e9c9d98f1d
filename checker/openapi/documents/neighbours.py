"""Documents beside the main one: named relative to it and each read once. Failures are remembered.

A name is the part of a place before its `#`: empty for the main document, `common/errors.yaml` for a file below it, a URL for a
document from elsewhere. Names, not addresses, are written to disk, so that they mean the same on every machine.
"""

import contextlib
import posixpath
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from msgspec import Struct, field

from checker.core.errors import LoaderError
from checker.core.schema import UnresolvableReference
from checker.kinds.fetching import AllowanceSpent, read_file
from checker.kinds.web import Web
from checker.openapi.documents.parsing import parse

Read = Callable[[str], object]  # Returns the parsed document with a name. Raises `LoaderError`.

# URIs cannot climb above the root, so the main document gets a root deep enough for every `../` in a description.
_FOLDER: Final = "/_" * 24
_LOCAL: Final = "file://description"


class Neighbours:
    """The other documents that one description refers to."""

    def __init__(
        self, *, uri: str, read: Read | None, known: Mapping[str, object], lost: Mapping[str, str] | None = None
    ) -> None:
        """`known` has the main document under the empty name. `known` and `lost` may contain the results of an earlier reader."""
        self.uri = uri
        self._read = read
        self.known = dict(known)
        """Documents read so far, by name."""
        main = self.known[""]
        self._main: Mapping[str, object] = main if isinstance(main, dict) else {}
        self.lost = dict(lost or {})
        """Names of unreadable documents -> the reason."""

    def uri_of(self, name: str) -> str:
        return urljoin(self.uri, name) if name else self.uri

    def name_of(self, uri: str) -> str:
        """Return the name of the document of an absolute URI."""
        if uri == self.uri:
            return ""
        there, here = urlsplit(uri), urlsplit(self.uri)
        if there.scheme == "file" and there.netloc and uri[: len(_LOCAL)] != _LOCAL:
            # `//example.com/a.yaml` in a file.
            return f"https:{uri.removeprefix('file:')}"
        if (there.scheme, there.netloc) != (here.scheme, here.netloc):
            return uri
        query = f"?{there.query}" if there.query else ""
        if uri.startswith(_LOCAL) and not there.path.startswith("/_/"):
            return there.path + query
        return posixpath.relpath(there.path or "/", posixpath.dirname(here.path) or "/") + query

    def load(self, name: str, *, of: str = "") -> object:
        """Return the document of a name that the document `of` refers to. Raises `UnresolvableReference` with the reason, and `AllowanceSpent`."""
        if of and _is_of_the_network(self.uri_of(of)) and not _is_of_the_network(self.uri_of(name)):
            raise UnresolvableReference(
                f"{name} is a file of this machine; {of} came from the network and must not refer to it"
            )
        if name not in self.known and name not in self.lost:
            try:
                self.known[name] = self._fetched(name)
            except AllowanceSpent:
                raise
            except LoaderError as error:
                self.lost[name] = error.message
        if name in self.lost:
            raise UnresolvableReference(self.lost[name])
        return self.known[name]

    def contents_of(self, uri: str) -> object | None:
        """Return the document of a URI; None if there is none."""
        try:
            return self.load(self.name_of(uri))
        except UnresolvableReference:
            return None

    def _fetched(self, name: str) -> object:
        if self._read is None:
            raise LoaderError(f"{name} was not read when the description was opened; open it again")
        try:
            return self._read(name)
        except AllowanceSpent:
            raise
        except LoaderError:
            # `$self` states the original place of a document: its neighbours may be there instead of beside the copy.
            if "$self" not in self._main or urlsplit(name).scheme:
                raise
        return self._read(self.uri_of(name))


def _is_of_the_network(uri: str) -> bool:
    return urlsplit(uri).scheme in ("http", "https")


class Provenance(Struct, frozen=True):
    """The origin of a main document."""

    location: str | None = None  # URL of the document.
    own_name: str = ""  # Percent-encoded file name of a document without a URL.
    read: Read | None = None
    known: Mapping[str, object] = field(default_factory=dict)
    lost: Mapping[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # Sentences about repeated keys of this document and its neighbours.


NOWHERE: Final = Provenance()


def neighbours_of(root: Mapping[str, object], origin: Provenance) -> Neighbours:
    """Return the neighbours of a main document.

    The names of neighbours are resolved against `$self` of the main document (OpenAPI 3.2, 4.1.2.2.1), or else against its URL.
    """
    uri = origin.location or f"{_LOCAL}{_FOLDER}/{origin.own_name}"
    said = root.get("$self")
    if isinstance(said, str):
        with contextlib.suppress(ValueError):
            uri = urljoin(uri, said)
    return Neighbours(uri=urldefrag(uri).url, read=origin.read, known={**origin.known, "": root}, lost=origin.lost)


def reader(
    web: Web,
    name: str,
    notes: list[str] | None = None,
    *,
    folder: Path | None = None,
    url: str | None = None,
    reads_files: bool = True,
) -> Read:
    """Return the reader of the neighbours of a document: URLs, and files unless the document came from the network.

    `folder` or `url` is the place of the document. `name` denotes a document without a place: only its absolute
    references can be read. Sentences about repeated keys are added to `notes`.
    """

    def read(reference: str) -> object:
        address = reference if url is None else urljoin(url, reference)
        parts = urlsplit(address)
        if parts.scheme in ("http", "https"):
            found = web.document(address)
            shown = web.way.redaction.url(address)
            return parse(found.content, name=shown, content_type=found.content_type, notes=notes)
        if url is not None:
            raise LoaderError(f"{address} cannot be read from {url}; use an http(s) URL")
        if folder is not None and parts.scheme not in ("", "file"):
            raise LoaderError(f"{reference} cannot be read; use a file or an http(s) URL")
        is_file = reads_files and parts.scheme in ("", "file") and parts.path.startswith("/")
        if folder is None and not is_file:
            raise LoaderError(
                f"{reference} cannot be found, because {name} came without a location; load it from its file or URL"
            )
        path = (folder or Path()) / unquote(parts.path)
        return parse(read_file(path, web.allowance, "the file that the reference means"), name=str(path), notes=notes)

    return read
