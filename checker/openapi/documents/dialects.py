"""Differences between the versions of OpenAPI, as tables, and readers of loosely typed fields."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from checker.core.errors import LoaderError, LoaderErrorKind
from checker.core.scalars import boolean_of
from checker.core.schema import Dialect, pointer_child
from checker.schema.keywords import standard_dialect

_FIRST: Final = frozenset({"get", "put", "post", "delete", "options", "head", "patch"})


class Edition(Struct, frozen=True):
    """One version of OpenAPI."""

    dialect: Dialect
    name: str  # `OpenAPI 3.1`.
    methods: frozenset[str]  # Keys of a path item that are operations.
    has_other_methods: bool = False
    """Whether `additionalOperations` holds operations of any method (OpenAPI 3.2, 4.9.1)."""


COLLECTION_FORMATS: Final[Mapping[str, tuple[str, bool]]] = {
    "csv": ("form", False),
    "ssv": ("spaceDelimited", False),
    "tsv": ("tabDelimited", False),
    "pipes": ("pipeDelimited", False),
    "multi": ("form", True),
}
"""`collectionFormat` of Swagger 2.0 in a query or a form -> (style, explode). In a path or a header, `csv` and `multi` mean `simple`."""

DEFAULT_STYLES: Final[Mapping[str, str]] = {"path": "simple", "header": "simple", "query": "form", "cookie": "form"}

_EDITIONS: Final[Mapping[str, Edition]] = {
    "2.0": Edition(Dialect.OPENAPI20, "Swagger 2.0", _FIRST),
    "3.0": Edition(Dialect.OPENAPI30, "OpenAPI 3.0", _FIRST | {"trace"}),
    "3.1": Edition(Dialect.OPENAPI31, "OpenAPI 3.1", _FIRST | {"trace"}),
    "3.2": Edition(Dialect.OPENAPI31, "OpenAPI 3.2", _FIRST | {"trace", "query"}, has_other_methods=True),
}
METHODS: Final = frozenset({"trace", "query", "connect"}) | _FIRST
"""Lower-case keys of a path item that mean an operation in any version."""
_VERSION = re.compile(r"\s*(\d+\.\d+)")


def version_of(root: Mapping[str, Any]) -> tuple[str, Edition]:
    """Return the version as the document spells it, and its edition. Raises `LoaderError`."""
    for key in ("swagger", "openapi"):
        declared = root.get(key)
        if isinstance(declared, str | int | float) and not isinstance(declared, bool):
            version = str(declared)
            match = _VERSION.match(version if "." in version else f"{version}.0")
            edition = _EDITIONS.get(match[1]) if match else None
            if edition is None:
                raise LoaderError(
                    f"The provided schema uses Open API {version}, which is currently not supported.",
                    ["Supported versions: 2.0, 3.0, 3.1, 3.2"],
                    kind=LoaderErrorKind.OPEN_API_UNSUPPORTED_VERSION,
                )
            return version, edition
    raise LoaderError(
        "Unable to determine the Open API version as it's not specified in the document.",
        kind=LoaderErrorKind.OPEN_API_UNSPECIFIED_VERSION,
    )


def read_as(root: Mapping[str, Any], version: str) -> dict[str, Any]:
    """Return the document with another version of OpenAPI: `2.0`, `3.0`, ..."""
    rest = {key: value for key, value in root.items() if key not in ("swagger", "openapi")}
    return {"swagger" if version == "2.0" else "openapi": version, **rest}


def schema_dialect_of(root: Mapping[str, Any], dialect: Dialect) -> Dialect:
    """Return the dialect of the schemas of a document: its `jsonSchemaDialect` (OpenAPI 3.1, 4.8.1) if that is known."""
    said = root.get("jsonSchemaDialect")
    if dialect is not Dialect.OPENAPI31 or not isinstance(said, str):
        return dialect
    found = standard_dialect(said)
    # The dialect of OpenAPI is a superset of draft 2020-12.
    return dialect if found in (None, Dialect.DRAFT2020) else found


def flag(raw: Mapping[str, Any], name: str) -> bool | None:
    """Return the value of a boolean field; None where it is missing or has no known meaning.

    Hand-written documents have booleans of YAML 1.1, such as `yes`, which is a text in YAML 1.2.
    """
    value = raw.get(name)
    if isinstance(value, bool):
        return value
    return boolean_of(value) if isinstance(value, str) else None


def items_of(value: object) -> Iterable[tuple[str, Any]]:
    """Return the pairs of an object; none for a value of another type."""
    return value.items() if isinstance(value, dict) else ()


def elements(value: object) -> list[Any]:
    """Return a list itself; an empty one for a value of another type."""
    return value if isinstance(value, list) else []


def members(owner: object, at: str, *keys: str) -> Iterator[tuple[str, Any, str]]:
    """Yield (name, value, place) of the object below `keys` of an object at `at`; nothing where there is none."""
    for key in keys:
        owner = owner.get(key) if isinstance(owner, dict) else None
    if isinstance(owner, dict):
        place = pointer_child(at, *keys)
        for name, value in owner.items():
            yield name, value, pointer_child(place, name)


def kind_of(value: object) -> str:
    """Return the type of a value in words: `a list`."""
    names = {dict: "an object", list: "a list", str: "text", bool: "a boolean", type(None): "nothing"}
    return names.get(type(value), "a number")
