"""Documents beside another one, brought from where it is: files and URLs, each failure as one sentence."""

import os
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from checker.core.errors import LoaderError
from checker.kinds.fetching.files import read_file
from checker.kinds.fetching.web import Web
from checker.openapi.documents.neighbours import Read
from checker.openapi.documents.parsing import parse


def beside_file(path: str | os.PathLike[str], web: Web) -> Read:
    """Reader of the neighbours of a file: other files, and URLs."""
    folder = Path(path).parent

    def read(name: str) -> object:
        parts = urlsplit(name)
        if parts.scheme in ("http", "https"):
            return _behind(name, web)
        if parts.scheme not in ("", "file"):
            raise LoaderError(f"{name} cannot be read; use a file or an http(s) URL")
        return _file(folder / unquote(parts.path), web)

    return read


def beside_url(url: str, web: Web) -> Read:
    """Reader of the neighbours of a URL: never a file of this machine."""

    def read(name: str) -> object:
        address = urljoin(url, name)
        if urlsplit(address).scheme not in ("http", "https"):
            raise LoaderError(f"{address} cannot be read from {url}; use an http(s) URL")
        return _behind(address, web)

    return read


def beside_nothing(what: str, web: Web, *, reads_files: bool) -> Read:
    """Reader for a document that nobody knows the place of: absolute ones only, files too where the user wrote it."""

    def read(name: str) -> object:
        parts = urlsplit(name)
        if parts.scheme in ("http", "https"):
            return _behind(name, web)
        if reads_files and parts.scheme in ("", "file") and parts.path.startswith("/"):
            return _file(Path(unquote(parts.path)), web)
        raise LoaderError(
            f"{name} cannot be found, because {what} came without a location; load it from its file or URL"
        )

    return read


def _file(path: Path, web: Web) -> object:
    content = read_file(path, web.allowance, "the file that the reference means")
    return parse(content, name=str(path))


def _behind(url: str, web: Web) -> object:
    found = web.document(url)
    return parse(found.content, name=web.way.redaction.url(url), content_type=found.content_type)
