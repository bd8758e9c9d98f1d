"""Servers of a description, and its security schemes and requirements."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from checker.core.request import Location
from checker.core.schema import Dialect, UnresolvableReference, pointer_child
from checker.core.security import SecurityRequirement, SecurityScheme
from checker.openapi.documents.dialects import elements, items_of, members
from checker.openapi.documents.references import OpenApiDocument

_NONE: Final[Mapping[str, str]] = {}
_ROOT: Final = "/"  # The URL if no server is declared (OpenAPI 3, `servers`).
_VARIABLE = re.compile(r"\{([^{}]+)\}")


def absolute_url(
    document: OpenApiDocument, location: str | None, *, servers: object = None, variables: Mapping[str, str] = _NONE
) -> str:
    """Return the declared base URL, resolved against the URL of the document; without one it may stay relative.

    `servers` are those of an operation or path item, if it has its own; `variables` replace declared defaults.
    """
    declared = _declared_url(document, location, servers, variables)
    try:
        return declared if location is None else urljoin(location, declared)
    except ValueError:
        return declared


def variable_values(holders: Iterable[Mapping[str, Any]]) -> dict[str, frozenset[str]]:
    """Return the names of the variables in the server URLs of these parts of a document, with the values that they may have.

    No values mean any value: a server lists none.
    """
    found: dict[str, list[frozenset[str]]] = {}
    for server in (one for holder in holders for one in elements(holder.get("servers")) if isinstance(one, dict)):
        declared = dict(items_of(server.get("variables")))
        for name in _VARIABLE.findall(str(server.get("url", ""))):
            found.setdefault(name, []).append(frozenset(_listed(declared.get(name))))
    return {name: frozenset().union(*lists) if all(lists) else frozenset() for name, lists in found.items()}


def odd_defaults(holder: Mapping[str, Any], at: str, given: Container[str]) -> Iterator[tuple[str, str]]:
    """Yield (place, sentence) for variables of the first server of a part whose default their `enum` does not list.

    Only the first server is used. `given` are the variables whose defaults are not.
    """
    for server in elements(holder.get("servers"))[:1]:
        for name, variable, place in members(server, pointer_child(at, "servers", "0"), "variables"):
            listed = _listed(variable)
            default = str(variable.get("default", "")) if isinstance(variable, dict) else ""
            if listed and "default" in variable and name not in given and default not in listed:
                text = f"the default {default!r} of the server variable `{name}` at {place} is not in its `enum`"
                yield place, f"{text} ({', '.join(map(repr, listed))}); requests go there all the same"


def _listed(variable: object) -> list[str]:
    return list(map(str, elements(variable.get("enum")))) if isinstance(variable, dict) else []


def path_of(url: str) -> str:
    """Return the path of a URL; empty if it cannot be read."""
    try:
        return urlsplit(url).path
    except ValueError:
        return ""


def _declared_url(
    document: OpenApiDocument, location: str | None, servers: object, variables: Mapping[str, str]
) -> str:
    root = document.root
    if document.dialect is Dialect.OPENAPI20:
        base_path = root.get("basePath")
        path = base_path if isinstance(base_path, str) else "/"
        path = path if path.startswith("/") else f"/{path}"
        host = root.get("host")
        if not isinstance(host, str) or not host:
            return path
        schemes = [one for one in elements(root.get("schemes")) if one in ("http", "https")]
        own = urlsplit(location).scheme if location else ""
        scheme = own if own in schemes or (own and not schemes) else (schemes or ["http"])[0]
        return f"{scheme}://{host}{path}"
    for listed in (servers, root.get("servers")):
        first = listed[0] if isinstance(listed, list) and listed else None
        if isinstance(first, dict) and isinstance(first.get("url"), str):
            url = _filled(first["url"], first.get("variables"), variables).strip()
            # An empty reference means the document itself, but frameworks write it for the root of the host.
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
        first = next(iter(elements(variable.get("enum"))), match[0])
        return str(variable.get("default", first))

    return _VARIABLE.sub(value_of, url)


_LOCATIONS: Final = {"query": Location.QUERY, "header": Location.HEADER, "cookie": Location.COOKIE}
_SENT_AS_AUTHORIZATION: Final = frozenset(("http", "oauth2", "openIdConnect"))


def security_of(document: OpenApiDocument, operation: Mapping[str, Any]) -> tuple[SecurityRequirement, ...]:
    """Return the alternatives of an operation, its own or those of the whole document; an empty alternative needs no credentials.

    The tuple is empty if nothing is declared. An undeclared scheme is left out of its requirement.
    """
    declared = operation["security"] if "security" in operation else document.root.get("security")
    if not isinstance(declared, list):
        return ()
    schemes = security_schemes(document)
    return tuple(
        SecurityRequirement(
            tuple(schemes[name] for name in alternative if name in schemes),
            tuple(name for name in alternative if name not in schemes),
            tuple(
                tuple(one for one in elements(scopes) if isinstance(one, str))
                for name, scopes in alternative.items()
                if name in schemes
            ),
        )
        for alternative in declared
        if isinstance(alternative, dict)
    )


def security_schemes(document: OpenApiDocument) -> dict[str, SecurityScheme]:
    """Return the security schemes of the document by name; unreadable ones are left out."""
    found = {name: _scheme(document, name, raw, at) for name, raw, at in declared_schemes(document)}
    return {name: scheme for name, scheme in found.items() if scheme is not None}


def declared_schemes(document: OpenApiDocument) -> Iterator[tuple[str, Any, str]]:
    """Yield (name, security scheme, place)."""
    yield from members(document.root, "#", "securityDefinitions")
    yield from members(document.root, "#", "components", "securitySchemes")


def credential_places(document: OpenApiDocument) -> tuple[str, ...]:
    """Return the places of credentials by the schemes of a document, lower case: `header authorization`, `query appid`."""
    places = set()
    for scheme in security_schemes(document).values():
        if scheme.location is not None:
            places.add(f"{scheme.location} {scheme.parameter.lower()}")
        elif scheme.type in _SENT_AS_AUTHORIZATION:
            places.add(f"{Location.HEADER} authorization")
    return tuple(sorted(places))


def token_paths(document: OpenApiDocument) -> set[str]:
    """Return the paths of the token URLs, without slashes around them; references are not followed."""
    found = set()
    for _, scheme, at in declared_schemes(document):
        # Swagger 2.0 has one flow: the scheme itself.
        for declared in (scheme, *(flow for _, flow, _ in members(scheme, at, "flows"))):
            url = declared.get("tokenUrl") if isinstance(declared, dict) else None
            found |= {path_of(url).strip("/")} if isinstance(url, str) else set()
    return found - {""}


def _scheme(document: OpenApiDocument, name: str, raw: object, at: str) -> SecurityScheme | None:
    try:
        value, at = document.dereferenced(raw, at)
    except UnresolvableReference:
        return None
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(kind, str):
        return None
    if kind == "basic":
        # Swagger 2.0.
        return SecurityScheme(name, "http", at, scheme="basic")
    if kind == "apiKey":
        location = _LOCATIONS.get(str(value.get("in")))
        parameter = value.get("name")
        if location is None or not isinstance(parameter, str):
            return None
        return SecurityScheme(name, kind, at, location=location, parameter=parameter)
    scheme = value.get("scheme")
    return SecurityScheme(
        name,
        kind,
        at,
        scheme=scheme.lower() if isinstance(scheme, str) else "",
        token_urls=tuple(_token_urls(document.root, value)),
    )


_GRANTS: Final = {
    "clientCredentials": "client_credentials",
    "application": "client_credentials",
    "password": "password",
    "authorizationCode": "refresh_token",
    "accessCode": "refresh_token",
}
"""Flow of OpenAPI 3 and of Swagger 2.0 -> grant (RFC 6749) that needs no browser."""


def _token_urls(root: dict[str, Any], scheme: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (grant, URL) of the flows. A URL on a declared server is reduced to its path, because users may test the API on another host."""
    flows = scheme.get("flows")
    if not isinstance(flows, dict):
        # Swagger 2.0 has one flow: the scheme itself.
        flows = {str(scheme.get("flow")): scheme}
    servers = [one.get("url") for one in elements(root.get("servers")) if isinstance(one, dict)]
    hosts = {_host_of(url) for url in servers} | {root.get("host")}
    for name, flow in flows.items():
        url = flow.get("tokenUrl") if isinstance(flow, dict) else None
        if name in _GRANTS and isinstance(url, str) and url:
            yield _GRANTS[name], path_of(url) if _host_of(url) in hosts else url


def _host_of(url: object) -> str | None:
    try:
        return urlsplit(url).netloc or None if isinstance(url, str) else None
    except ValueError:
        return None
