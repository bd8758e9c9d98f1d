"""Security requirements of an operation, each scheme looked up."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from checker.core.locations import Location
from checker.core.schema import UnresolvableReference
from checker.core.security import SecurityRequirement, SecurityScheme
from checker.openapi.documents.references import OpenApiDocument
from checker.validation.pointers import pointer_child

_LOCATIONS: Final = {
    "query": Location.QUERY,
    "header": Location.HEADER,
    "cookie": Location.COOKIE,
}
_SENT_AS_AUTHORIZATION: Final = frozenset(("http", "oauth2", "openIdConnect"))
_SWAGGER = "#/securityDefinitions"
_OPENAPI = "#/components/securitySchemes"


def security_of(
    document: OpenApiDocument, operation: Mapping[str, Any]
) -> tuple[SecurityRequirement, ...]:
    """Alternatives of an operation, its own or those of the whole document; an empty one means that none is needed.

    Nothing at all is said by an empty tuple. A scheme that nobody declares is left out of its requirement.
    """
    declared = operation["security"] if "security" in operation else document.root.get("security")
    if not isinstance(declared, list):
        return ()
    schemes = security_schemes(document)
    return tuple(
        SecurityRequirement(
            tuple(schemes[name] for name in alternative if name in schemes),
            tuple(name for name in alternative if name not in schemes),
        )
        for alternative in declared
        if isinstance(alternative, dict)
    )


def security_schemes(document: OpenApiDocument) -> dict[str, SecurityScheme]:
    """Schemes of the document by name; those that cannot be read are left out."""
    components = document.root.get("components")
    found = {}
    for owner, key, at in (
        (document.root, "securityDefinitions", _SWAGGER),
        (components, "securitySchemes", _OPENAPI),
    ):
        declared = owner.get(key) if isinstance(owner, dict) else None
        for name, raw in declared.items() if isinstance(declared, dict) else ():
            scheme = _scheme(document, name, raw, pointer_child(at, name))
            if scheme is not None:
                found[name] = scheme
    return found


def credential_places(document: OpenApiDocument) -> tuple[str, ...]:
    """Where the schemes of a document put credentials, lower case: `header authorization`, `query appid`."""
    places = set()
    for scheme in security_schemes(document).values():
        if scheme.location is not None:
            places.add(f"{scheme.location} {scheme.parameter.lower()}")
        elif scheme.type in _SENT_AS_AUTHORIZATION:
            places.add(f"{Location.HEADER} authorization")
    return tuple(sorted(places))


def token_paths(document: OpenApiDocument) -> set[str]:
    """Paths of the URLs that tokens are to be had from, without slashes around them; references are not followed."""
    root = document.root
    components = root.get("components")
    named = components.get("securitySchemes") if isinstance(components, dict) else None
    found = set()
    for schemes in (named, root.get("securityDefinitions")):
        for scheme in schemes.values() if isinstance(schemes, dict) else ():
            flows = scheme.get("flows") if isinstance(scheme, dict) else None
            # Swagger 2.0 has one flow, and it is the scheme itself.
            declared = [scheme, *(flows.values() if isinstance(flows, dict) else ())]
            urls = [one.get("tokenUrl") for one in declared if isinstance(one, dict)]
            found |= {_path_of(url) for url in urls if isinstance(url, str)}
    return found - {""}


def _path_of(url: str) -> str:
    try:
        return urlsplit(url).path.strip("/")
    except ValueError:
        return ""


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
        token_path=_password_path(value),
    )


def _password_path(scheme: dict[str, Any]) -> str:
    """Where a user and a password get a token; empty when nothing is said of it."""
    flows = scheme.get("flows")
    # Swagger 2.0 has one flow, and it is the scheme itself.
    flow = flows.get("password") if isinstance(flows, dict) else scheme
    is_swagger = not isinstance(flows, dict)
    if not isinstance(flow, dict) or (is_swagger and scheme.get("flow") != "password"):
        return ""
    url = flow.get("tokenUrl")
    path = _path_of(url) if isinstance(url, str) else ""
    return f"/{path}" if path else ""
