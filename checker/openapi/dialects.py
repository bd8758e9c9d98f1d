"""What differs between the versions of OpenAPI, as tables."""

import re
from collections.abc import Mapping
from typing import Any, Final

from checker.core.errors import LoaderError
from checker.core.schema import Dialect
from checker.validation.vocabularies import dialect_of

METHODS: Final[Mapping[Dialect, frozenset[str]]] = {
    Dialect.OPENAPI20: frozenset({"get", "put", "post", "delete", "options", "head", "patch"}),
    Dialect.OPENAPI30: frozenset(
        {"get", "put", "post", "delete", "options", "head", "patch", "trace"}
    ),
    Dialect.OPENAPI31: frozenset(
        {"get", "put", "post", "delete", "options", "head", "patch", "trace"}
    ),
}
"""Keys of a path item that are operations."""

COLLECTION_FORMATS: Final[Mapping[str, tuple[str, bool]]] = {
    "csv": ("form", False),
    "ssv": ("spaceDelimited", False),
    "tsv": ("tabDelimited", False),
    "pipes": ("pipeDelimited", False),
    "multi": ("form", True),
}
"""`collectionFormat` of Swagger 2.0 in a query or a form -> (style, explode). In a path or a header every one but these reads as `simple`."""

DEFAULT_STYLES: Final[Mapping[str, str]] = {
    "path": "simple",
    "header": "simple",
    "query": "form",
    "cookie": "form",
}

_DIALECTS: Final[Mapping[str, Dialect]] = {
    "2.0": Dialect.OPENAPI20,
    "3.0": Dialect.OPENAPI30,
    "3.1": Dialect.OPENAPI31,
    # Nothing that 3.2 adds is read yet; the rest of it is 3.1.
    "3.2": Dialect.OPENAPI31,
}
_VERSION = re.compile(r"\s*(\d+\.\d+)")


def version_of(root: Mapping[str, Any]) -> tuple[str, Dialect]:
    """Version as the document spells it, and its dialect. Raises `LoaderError`."""
    for key in ("swagger", "openapi"):
        declared = root.get(key)
        if isinstance(declared, str | int | float) and not isinstance(declared, bool):
            return _read(str(declared))
    raise LoaderError(
        "Unable to determine the Open API version as it's not specified in the document."
    )


def schema_dialect_of(root: Mapping[str, Any], dialect: Dialect) -> Dialect:
    """Dialect of the schemas of a document: `jsonSchemaDialect` (OpenAPI 3.1, 4.8.1) if it names one that is known."""
    said = root.get("jsonSchemaDialect")
    if dialect is not Dialect.OPENAPI31 or not isinstance(said, str):
        return dialect
    found = dialect_of(said.removesuffix("#"), lambda uri: None)
    # What OpenAPI adds to the draft of 2020 takes nothing away from it.
    return dialect if found in (None, Dialect.DRAFT2020) else found


def _read(version: str) -> tuple[str, Dialect]:
    match = _VERSION.match(version if "." in version else f"{version}.0")
    dialect = _DIALECTS.get(match[1]) if match else None
    if dialect is None:
        raise LoaderError(
            f"The provided schema uses Open API {version}, which is currently not supported.",
            ["Supported versions: 2.0, 3.0, 3.1, 3.2"],
        )
    return version, dialect
