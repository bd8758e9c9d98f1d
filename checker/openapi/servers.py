"""Where the document says that its API lives."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from checker.core.schema import Dialect
from checker.openapi.documents.references import OpenApiDocument

_NONE: Final[Mapping[str, str]] = {}
_ROOT: Final = "/"
"""What counts where no server is declared (OpenAPI 3, `servers`)."""
_VARIABLE = re.compile(r"\{([^{}]+)\}")


def absolute_url(
    document: OpenApiDocument,
    location: str | None,
    *,
    servers: object = None,
    variables: Mapping[str, str] = _NONE,
) -> str:
    """Base URL as declared, resolved against the URL that the document came from; without one it may stay relative.

    `servers` are those of an operation or path item, if it has its own; `variables` replace declared defaults.
    """
    declared = _declared_url(document, location, servers, variables)
    try:
        return declared if location is None else urljoin(location, declared)
    except ValueError:
        return declared


def variable_names(holders: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """Names of the variables in the URLs of the servers of these parts of a document."""
    listed = (holder.get("servers") for holder in holders)
    servers = [one for some in listed if isinstance(some, list) for one in some]
    urls = (str(one.get("url", "")) for one in servers if isinstance(one, dict))
    return frozenset(name for url in urls for name in _VARIABLE.findall(url))


def path_of(url: str) -> str:
    """Path of a URL, empty when it cannot be read."""
    try:
        return urlsplit(url).path
    except ValueError:
        return ""


def _declared_url(
    document: OpenApiDocument, location: str | None, servers: object, variables: Mapping[str, str]
) -> str:
    root = document.root
    if document.dialect is Dialect.OPENAPI20:
        return _swagger_url(root, location)
    for listed in (servers, root.get("servers")):
        first = listed[0] if isinstance(listed, list) and listed else None
        if isinstance(first, dict) and isinstance(first.get("url"), str):
            url = _filled(first["url"], first.get("variables"), variables).strip()
            # Nothing but the document itself is at an empty reference: frameworks write it for the root of the host.
            return url or _ROOT
    return _ROOT


def _filled(url: str, declared: object, given: Mapping[str, str]) -> str:
    def value_of(match: re.Match[str]) -> str:
        name = match[1]
        variable = declared.get(name) if isinstance(declared, dict) else None
        if name in given:
            return given[name]
        if not isinstance(variable, dict):
            return match[0]
        allowed = variable.get("enum")
        first = allowed[0] if isinstance(allowed, list) and allowed else match[0]
        return str(variable.get("default", first))

    return _VARIABLE.sub(value_of, url)


def _swagger_url(root: dict[str, Any], location: str | None) -> str:
    base_path = root.get("basePath")
    path = base_path if isinstance(base_path, str) else "/"
    path = path if path.startswith("/") else f"/{path}"
    host = root.get("host")
    if not isinstance(host, str) or not host:
        return path
    declared = root.get("schemes")
    schemes = [
        scheme
        for scheme in (declared if isinstance(declared, list) else ())
        if scheme in ("http", "https")
    ]
    own = urlsplit(location).scheme if location else ""
    scheme = own if own in schemes or (own and not schemes) else (schemes or ["http"])[0]
    return f"{scheme}://{host}{path}"
