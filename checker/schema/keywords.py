"""The keywords of each dialect, the shape of a well-formed value of each, and the places of schemas inside a schema."""

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from enum import Enum
from functools import lru_cache
from math import isfinite
from typing import Any, Final

from msgspec import Struct

from checker.core.schema import Dialect
from checker.schema.views import type_of


class KeywordShape(Enum):
    """The kind of value under a keyword."""

    PLAIN = "a value"
    SCHEMA = "one schema"
    LIST = "schemas in order"
    SCHEMA_OR_LIST = "one schema, or schemas in order"
    MAP = "schemas by name"
    MAP_OR_NAMES = "schemas or lists of names, by name"


class Keyword(Struct, frozen=True):
    """One keyword of a dialect."""

    shape: KeywordShape
    is_well_formed: Callable[[Any], bool]
    """Whether a value is well-formed. A malformed keyword is ignored: such documents exist, and the rest of the schema still applies."""


TYPES: Final = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
"""Names that `type` may have."""


def keywords_of(dialect: Dialect) -> Mapping[str, Keyword]:
    """Return the keywords of a dialect that constrain values; references are not among them."""
    return _TABLES[dialect]


def understood(raw: Mapping[str, Any], table: Mapping[str, Keyword]) -> dict[str, Any]:
    """Return the keywords of a schema that are in `table` and constrain values."""
    found = {name: value for name, value in raw.items() if name in table and table[name].is_well_formed(value)}
    if has_foreign_type(found):
        del found["type"]
    return found


def has_foreign_type(raw: Mapping[str, Any]) -> bool:
    """Whether no value of an `enum` of scalars has the `type` beside it, such as 1 and 2 beside `string`. The type is then ignored."""
    declared: Any = raw.get("type")
    values = raw.get("enum")
    if not isinstance(values, list) or not values or not _is_type(declared):
        return False
    if any(one is None or isinstance(one, list | dict) for one in values):
        return False
    kinds = {declared} if isinstance(declared, str) else set(declared)
    return all(kinds.isdisjoint(type_of(value)) for value in values)


def applicators_of(dialect: Dialect) -> frozenset[str]:
    """Return the keywords of a dialect that hold schemas."""
    return frozenset(name for name, keyword in keywords_of(dialect).items() if keyword.shape is not KeywordShape.PLAIN)


def subschemas(
    raw: object, dialect: Dialect, *, kept: Mapping[str, Keyword] | None = None
) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield the schemas directly inside a schema, with the tokens of their place; `kept` are further keywords to look into."""
    if not isinstance(raw, dict):
        return
    table = keywords_of(dialect) if kept is None else {**keywords_of(dialect), **kept}
    for name, value in raw.items():
        keyword = table.get(name)
        if keyword is None or keyword.shape is KeywordShape.PLAIN or not keyword.is_well_formed(value):
            continue
        if isinstance(value, list):
            for index, item in enumerate(value):
                yield (name, str(index)), item
        elif keyword.shape in (KeywordShape.MAP, KeywordShape.MAP_OR_NAMES):
            for key, item in value.items():
                if not isinstance(item, list):
                    yield (name, key), item
        else:
            yield (name,), value


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        # Some parsers read 1e400 as infinity.
        return isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _is_type(value: Any) -> bool:
    names = [value] if isinstance(value, str) else value
    is_list = isinstance(names, list) and bool(names)
    return is_list and all(isinstance(name, str) and name in TYPES for name in names)


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_schema(value: Any) -> bool:
    return isinstance(value, dict | bool)


def _is_reference(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("$ref"), str)


def _is_map(value: Any) -> bool:
    return isinstance(value, dict)


_COUNT = Keyword(
    KeywordShape.PLAIN,
    lambda value: _is_number(value) and value >= 0 and (isinstance(value, int) or value.is_integer()),
)
_NUMBER = Keyword(KeywordShape.PLAIN, _is_number)
_BOUND = Keyword(KeywordShape.PLAIN, lambda value: isinstance(value, bool) or _is_number(value))
_TEXT = Keyword(KeywordShape.PLAIN, lambda value: isinstance(value, str))
_SCHEMA = Keyword(KeywordShape.SCHEMA, _is_schema)
_SCHEMAS = Keyword(KeywordShape.LIST, lambda value: isinstance(value, list) and bool(value))
_MAP = Keyword(KeywordShape.MAP, _is_map)

_COMMON: Final[dict[str, Keyword]] = {
    "type": Keyword(KeywordShape.PLAIN, _is_type),
    "enum": Keyword(KeywordShape.PLAIN, lambda value: isinstance(value, list)),
    "format": _TEXT,
    "pattern": _TEXT,
    "minLength": _COUNT,
    "maxLength": _COUNT,
    "minimum": _NUMBER,
    "maximum": _NUMBER,
    "exclusiveMinimum": _BOUND,
    "exclusiveMaximum": _BOUND,
    "multipleOf": Keyword(KeywordShape.PLAIN, lambda value: _is_number(value) and value > 0),
    "minItems": _COUNT,
    "maxItems": _COUNT,
    "uniqueItems": Keyword(KeywordShape.PLAIN, lambda value: isinstance(value, bool)),
    "minProperties": _COUNT,
    "maxProperties": _COUNT,
    "required": Keyword(KeywordShape.PLAIN, _is_names),
    "properties": _MAP,
    "patternProperties": _MAP,
    "additionalProperties": _SCHEMA,
    "allOf": _SCHEMAS,
    "anyOf": _SCHEMAS,
    "oneOf": _SCHEMAS,
    "not": _SCHEMA,
    "dependencies": Keyword(KeywordShape.MAP_OR_NAMES, _is_map),
}
_OLD: Final[Mapping[str, Keyword]] = _COMMON | {
    "items": Keyword(KeywordShape.SCHEMA_OR_LIST, lambda value: _is_schema(value) or isinstance(value, list)),
    "additionalItems": _SCHEMA,
}
_NEW: Final[Mapping[str, Keyword]] = _COMMON | {
    "const": Keyword(KeywordShape.PLAIN, lambda value: True),
    "items": _SCHEMA,
    "prefixItems": _SCHEMAS,
    "contains": _SCHEMA,
    "minContains": _COUNT,
    "maxContains": _COUNT,
    "propertyNames": _SCHEMA,
    "if": _SCHEMA,
    "then": _SCHEMA,
    "else": _SCHEMA,
    "dependentRequired": Keyword(
        KeywordShape.PLAIN, lambda value: isinstance(value, dict) and all(map(_is_names, value.values()))
    ),
    "dependentSchemas": _MAP,
    "unevaluatedItems": _SCHEMA,
    "unevaluatedProperties": _SCHEMA,
}
_DRAFT6: Final = {
    **_OLD,
    **{name: _NEW[name] for name in ("const", "contains", "propertyNames")},
    "contentEncoding": _TEXT,
    "contentMediaType": _TEXT,
}
_DRAFT7: Final = {**_DRAFT6, **{name: _NEW[name] for name in ("if", "then", "else")}}
_DRAFT2019: Final = {
    **{name: keyword for name, keyword in _NEW.items() if name != "prefixItems"},
    **{name: _OLD[name] for name in ("items", "additionalItems")},
}
_ENUM: Final = {
    "enum": Keyword(KeywordShape.PLAIN, lambda value: isinstance(value, list) and not any(map(_is_reference, value)))
}
"""Keywords of lists of values. JSON Schema reads a reference in such a list as a value, but authors of API descriptions mean its target."""
_TABLES: Final[Mapping[Dialect, Mapping[str, Keyword]]] = {
    Dialect.DRAFT4: _OLD,
    Dialect.DRAFT6: _DRAFT6,
    Dialect.DRAFT7: _DRAFT7,
    Dialect.DRAFT2019: _DRAFT2019,
    Dialect.DRAFT2020: _NEW,
    Dialect.OPENAPI20: {**_OLD, **_ENUM},
    Dialect.OPENAPI30: {**_OLD, **_ENUM},
    Dialect.OPENAPI31: {**_NEW, **_ENUM},
}
_UNKNOWN_TO: Final[Mapping[Dialect, frozenset[str]]] = {
    Dialect.OPENAPI20: frozenset((*_NEW.keys() - _OLD.keys(), "nullable")),
    Dialect.OPENAPI30: frozenset(_NEW.keys() - _OLD.keys()),
    Dialect.OPENAPI31: frozenset((*_OLD.keys() - _NEW.keys(), "nullable")),
}
"""Keywords of other versions of OpenAPI, which constrain nothing in this one."""
_SPELLING: Final = 0.85  # Similarity of an unknown keyword and a known one: `minLenght`, `requires`, `maxlength`.
_EXTENSIONS: Final = frozenset(("types",))
"""Names that authors use for annotations of their own, although a keyword is similar."""


def misunderstood(raw: Mapping[str, Any], dialect: Dialect) -> Iterator[tuple[str, str]]:
    """Yield (keyword, reason) of each keyword of a schema that constrains nothing although its author wanted it to.

    The reason is empty if the value of the keyword is malformed.
    """
    table, unknown = keywords_of(dialect), _UNKNOWN_TO.get(dialect, frozenset())
    for name, value in raw.items():
        keyword = table.get(name)
        if keyword is not None:
            if not keyword.is_well_formed(value):
                if (dialect, name, value) != (Dialect.OPENAPI20, "type", "file"):
                    yield name, ""
            elif keyword.shape in (KeywordShape.MAP, KeywordShape.MAP_OR_NAMES) and _is_reference(value):
                yield name, "it cannot be a reference"
        elif name in unknown:
            yield name, f"it is no keyword of {_VERSIONS[dialect]}"
        elif unknown and name not in _EXTENSIONS and not name.startswith("x-"):
            near = _near(name, dialect)
            if near and table[near].is_well_formed(value):
                yield name, f"it is no keyword; did you mean `{near}`?"
    if has_foreign_type(raw):
        yield "type", "no value of the `enum` has it"


_VERSIONS: Final = {
    Dialect.OPENAPI20: "Swagger 2.0", Dialect.OPENAPI30: "OpenAPI 3.0", Dialect.OPENAPI31: "OpenAPI 3.1 and later"
}  # fmt: skip


@lru_cache(maxsize=1024)
def _near(name: str, dialect: Dialect) -> str:
    return next(iter(get_close_matches(name, keywords_of(dialect), n=1, cutoff=_SPELLING)), "")


DEFINITIONS: Final[Mapping[str, Keyword]] = {"definitions": _MAP, "$defs": _MAP}
"""Keywords that hold schemas for references and constrain nothing."""


_DIALECTS: Final = {
    "json-schema.org/draft-04/schema": Dialect.DRAFT4,
    "json-schema.org/draft-06/schema": Dialect.DRAFT6,
    "json-schema.org/draft-07/schema": Dialect.DRAFT7,
    "json-schema.org/draft/2019-09/schema": Dialect.DRAFT2019,
    "json-schema.org/draft/2020-12/schema": Dialect.DRAFT2020,
}
_OPENAPI: Final = "spec.openapis.org/oas/3."
"""Beginning of the dialects of OpenAPI 3.1 and later; since 3.2 they end in a date."""


def standard_dialect(metaschema: str) -> Dialect | None:
    """Return the dialect of a standard metaschema, written with `http` or `https`."""
    name = metaschema.removesuffix("#").partition("://")[2]
    return Dialect.OPENAPI31 if name.startswith(_OPENAPI) else _DIALECTS.get(name)
