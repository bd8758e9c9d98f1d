"""Where the document says that its API lives."""

import re
from typing import Any
from urllib.parse import urljoin, urlsplit

from checker.core.schema import Dialect
from checker.openapi.references import OpenApiDocument

_VARIABLE = re.compile(r"\{([^{}]+)\}")


def absolute_url(document: OpenApiDocument, location: str | None) -> str:
    """Base URL as declared, resolved against the URL that the document came from; without one it may stay relative."""
    declared = _declared_url(document, location)
    try:
        return declared if location is None else urljoin(location, declared)
    except ValueError:
        return declared


def path_of(url: str) -> str:
    """Path of a URL, empty when it cannot be read."""
    try:
        return urlsplit(url).path
    except ValueError:
        return ""


def _declared_url(document: OpenApiDocument, location: str | None) -> str:
    root = document.root
    if document.dialect is Dialect.OPENAPI20:
        return _swagger_url(root, location)
    servers = root.get("servers")
    first = servers[0] if isinstance(servers, list) and servers else None
    if not isinstance(first, dict) or not isinstance(first.get("url"), str):
        return "/"
    return _filled(first["url"], first.get("variables")).strip()


def _filled(url: str, variables: object) -> str:
    def default(match: re.Match[str]) -> str:
        variable = variables.get(match[1]) if isinstance(variables, dict) else None
        value = variable.get("default") if isinstance(variable, dict) else None
        return match[0] if value is None else str(value)

    return _VARIABLE.sub(default, url)


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
