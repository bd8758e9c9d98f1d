"""Which dialect a `$schema` means, and which keywords a metaschema of one's own leaves out."""

from collections.abc import Callable
from typing import Final

from checker.core.schema import Dialect

Find = Callable[[str], object | None]
"""Document of a URI, if anybody has it."""

_DIALECTS: Final = {
    "http://json-schema.org/draft-04/schema": Dialect.DRAFT4,
    "http://json-schema.org/draft-06/schema": Dialect.DRAFT6,
    "http://json-schema.org/draft-07/schema": Dialect.DRAFT7,
    "https://json-schema.org/draft/2019-09/schema": Dialect.DRAFT2019,
    "https://json-schema.org/draft/2020-12/schema": Dialect.DRAFT2020,
    "https://spec.openapis.org/oas/3.1/dialect/base": Dialect.OPENAPI31,
}
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


def dialect_of(metaschema: str, find: Find) -> Dialect | None:
    """Dialect that a `$schema` means: that of its own metaschema when it is not a standard one."""
    seen = set()
    while metaschema not in _DIALECTS and metaschema not in seen:
        seen.add(metaschema)
        raw = find(metaschema)
        above = raw.get("$schema") if isinstance(raw, dict) else None
        if not isinstance(above, str):
            return None
        metaschema = above.removesuffix("#")
    return _DIALECTS.get(metaschema)


def muted_by(metaschema: str, find: Find) -> frozenset[str]:
    """Keywords that say nothing, because the metaschema does not list their vocabulary."""
    if metaschema in _DIALECTS:
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
