"""Which dialect a `$schema` means, and which keywords a metaschema of one's own leaves out."""

from collections.abc import Callable
from typing import Final

from checker.core.schema import Dialect

Find = Callable[[str], object | None]
"""Document of a URI, if anybody has it."""

_DIALECTS: Final = {
    "json-schema.org/draft-04/schema": Dialect.DRAFT4,
    "json-schema.org/draft-06/schema": Dialect.DRAFT6,
    "json-schema.org/draft-07/schema": Dialect.DRAFT7,
    "json-schema.org/draft/2019-09/schema": Dialect.DRAFT2019,
    "json-schema.org/draft/2020-12/schema": Dialect.DRAFT2020,
}
_OPENAPI: Final = "spec.openapis.org/oas/3."
"""How the dialects of OpenAPI 3.1 and later begin: they end in a date since 3.2."""
_KEYWORDS: Final[dict[str, frozenset[str]]] = {
    "validation": frozenset(
        (
            "type",
            "enum",
            "const",
            "multipleOf",
            "maximum",
            "exclusiveMaximum",
            "minimum",
            "exclusiveMinimum",
            "maxLength",
            "minLength",
            "pattern",
            "maxItems",
            "minItems",
            "uniqueItems",
            "maxContains",
            "minContains",
            "maxProperties",
            "minProperties",
            "required",
            "dependentRequired",
        )
    ),
    "unevaluated": frozenset(("unevaluatedItems", "unevaluatedProperties")),
}
"""Vocabulary -> its keywords; the others cannot be left out with any sense."""


def standard_dialect(metaschema: str) -> Dialect | None:
    """Dialect of a standard metaschema, whichever of `http` and `https` it is written with."""
    name = metaschema.removesuffix("#").partition("://")[2]
    return Dialect.OPENAPI31 if name.startswith(_OPENAPI) else _DIALECTS.get(name)


def dialect_of(metaschema: str, find: Find) -> Dialect | None:
    """Dialect that a `$schema` means: that of its own metaschema when it is not a standard one."""
    seen = set()
    while (found := standard_dialect(metaschema)) is None and metaschema not in seen:
        seen.add(metaschema)
        raw = find(metaschema)
        above = raw.get("$schema") if isinstance(raw, dict) else None
        if not isinstance(above, str):
            return None
        metaschema = above.removesuffix("#")
    return found


def muted_by(metaschema: str, find: Find) -> frozenset[str]:
    """Keywords that say nothing, because the metaschema does not list their vocabulary."""
    if standard_dialect(metaschema) is not None:
        return frozenset()
    raw = find(metaschema)
    listed = raw.get("$vocabulary") if isinstance(raw, dict) else None
    if not isinstance(listed, dict):
        return frozenset()
    names = {str(uri).rpartition("/")[2] for uri in listed}
    muted = [words for name, words in _KEYWORDS.items() if name not in names]
    # Before 2020-12 what is unevaluated belongs to the applicators.
    if any("2019-09" in str(uri) for uri in listed):
        muted = [words for words in muted if "unevaluatedItems" not in words]
    return frozenset().union(*muted)
