"""Validation of a description against the official JSON Schema of its version, for `documents.validate`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any, Final

import jsonschema_rs
import orjson
from jsonschema import Draft4Validator, Draft202012Validator
from jsonschema.exceptions import ValidationError
from referencing import Registry, Resource

from checker.core.errors import LoaderError, LoaderErrorKind
from checker.core.graphs import grouped
from checker.core.schema import Dialect, pointer_child
from checker.openapi.documents.dialects import version_of

_MOST_SHOWN: Final = 20
_LONGEST: Final = 200  # Longest problem in characters. Messages repeat the value, which may be a whole path item.
_BASE: Final = "https://spec.openapis.org/oas/base"
_JSON_SCHEMA: Final = "https://json-schema.org/draft/2020-12/schema"
_VERSIONS: Final = ("openapi", "swagger")
_WHOLE: Final = ("info", "externalDocs")  # Objects of a description that are validated as a whole.
_FRAME: Final[dict[str, Any]] = {"info": {"title": "", "version": ""}, "paths": {}}
"""Together with the version, this is the smallest valid description."""


def require_conformance(root: Mapping[str, Any]) -> None:
    """Raise `LoaderError` with the problems of a document that its official schema rejects."""
    _, edition = version_of(root)
    version = edition.name.split()[1]
    schema = _official(version)
    is_first_draft = edition.dialect in (Dialect.OPENAPI20, Dialect.OPENAPI30)
    # The fast validator decides, but its errors do not name the nearest alternative. The other validator names it, but
    # takes 20 CPU-seconds for a megabyte, so it gets only the invalid parts.
    fast = _fast(version)
    if fast.is_valid(root):
        return
    frame = {key: root[key] for key in _VERSIONS if key in root} | _FRAME
    wrong = _without_valid(root, lambda part: fast.is_valid(frame | part))
    registry: Registry[Any] = Registry().with_resource(str(schema.get("$id", "")), Resource.from_contents(schema))
    validator: Any = (
        Draft4Validator(schema, registry=registry)
        if is_first_draft
        else Draft202012Validator(_with_schemas(schema), registry=registry)
    )
    problems = (found for error in validator.iter_errors(wrong) for found in _problems(error))
    lines = [
        f"{pointer_child('#', *map(str, at))}: {text if len(text) <= _LONGEST else f'{text[:_LONGEST]}...'}"
        for at, text in islice(problems, _MOST_SHOWN + 1)
    ]
    if len(lines) > _MOST_SHOWN:
        lines[_MOST_SHOWN:] = ["... and more"]
    raise LoaderError(
        f"The description is not valid {edition.name}: its official schema rejects it.",
        lines,
        kind=LoaderErrorKind.OPEN_API_INVALID_SCHEMA,
    )


def _without_valid(root: Mapping[str, Any], is_valid: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Return a description without those named parts (paths, schemas, ...) that are valid when they are validated on their own."""
    kept: dict[str, Any] = {}
    for section, parts in root.items():
        if section == "components" and isinstance(parts, Mapping):
            kept[section] = _without_valid(parts, lambda part: is_valid({"components": part}))
        elif isinstance(parts, Mapping) and section not in _WHOLE:
            kept[section] = {name: part for name, part in parts.items() if not is_valid({section: {name: part}})}
        else:
            kept[section] = parts
    return kept


def _problems(error: ValidationError) -> Iterator[tuple[Sequence[str | int], str]]:
    """Yield (path, message) for each error in the alternative of `oneOf` or `anyOf` that the author probably meant.

    An object without `$ref` is not meant as a reference. If several other alternatives are left, the deepest error is
    used. If these alternatives allow different words at the place of the error, the message names all words.
    """
    branches = grouped((one.relative_schema_path[0], one) for one in error.context or ())
    meant = [one for one in branches.values() if not any("'$ref'" in each.message for each in one)]
    if len(meant) == 1:
        for one in meant[0]:
            yield from _problems(one)
        return
    leaves = [leaf for one in meant for each in one for leaf in _leaves(each)] or list(_leaves(error))
    deepest = max(leaves, key=lambda one: len(one.absolute_path))
    same = [one for one in leaves if one.validator == "enum" and one.absolute_path == deepest.absolute_path]
    lists: list[Any] = [one.validator_value for one in same]
    words = dict.fromkeys(word for listed in lists for word in listed)
    is_word = len(same) > 1
    yield deepest.absolute_path, f"{same[0].instance!r} is not one of {list(words)}" if is_word else deepest.message


def _leaves(error: ValidationError) -> Iterator[ValidationError]:
    if not error.context:
        yield error
    for one in error.context or ():
        yield from _leaves(one)


def _official(version: str) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(files(__package__).joinpath(f"official/{version}.json").read_bytes())
    return found


def _with_schemas(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the official schema, extended so that Schema Objects are validated as JSON Schema.

    From version 3.1 on, the official schema leaves them open.
    """
    schemas = {"$dynamicAnchor": "meta", "$ref": _JSON_SCHEMA}
    return {"$schema": _JSON_SCHEMA, "$id": _BASE, "$ref": schema["$id"], "$defs": {"schema": schemas}}


@cache
def _fast(version: str) -> jsonschema_rs.Validator:
    schema = _official(version)
    if "$defs" not in schema:
        return jsonschema_rs.Draft4Validator(schema)
    registry = jsonschema_rs.Registry([(schema["$id"], schema)])
    return jsonschema_rs.Draft202012Validator(_with_schemas(schema), registry=registry)
