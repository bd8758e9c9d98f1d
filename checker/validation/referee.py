"""The second opinion: jsonschema over the raw document. It is slow and exact, and shares only the formats with `compiled`."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from jsonschema import ValidationError
from referencing.exceptions import Unresolvable

from checker.core.contract import SchemaViolation
from checker.core.graphs import grouped
from checker.core.schema import (
    SHOWN_WIDTH,
    Dialect,
    Direction,
    Schema,
    UnresolvableReference,
    cut,
    pointer_child,
    shown,
)
from checker.validation.reading import SchemaReading, is_own_root, registry_of, spoken_in


def message_of(keyword: str, expected: Any, value: Any, original: str) -> str:
    """Return the sentence for a violation. Keywords without an own wording keep `original`."""
    write = _WORDS.get(keyword)
    if write is None:
        return cut(" ".join(original.split()), 2 * SHOWN_WIDTH)
    return write(shown(value), expected)


def nearest_branch(place: int, branches: Any, path: Iterable[str | int], reason: str) -> str:
    """Return the nearest alternative, by number and name, and why a value does not fit it."""
    branch = branches[place] if isinstance(branches, list) and place < len(branches) else None
    reference = branch.get("$ref") if isinstance(branch, dict) else None
    name = f" ({reference.rpartition('/')[2]})" if isinstance(reference, str) else ""
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return f"nearest is #{place + 1}{name}: {f'{where}: ' if where else ''}{reason}"


def _types(value: str, expected: Any) -> str:
    names = expected if isinstance(expected, list) else [expected]
    return f"{value} is not of type {', '.join(json.dumps(name) for name in names)}"


_Words = Callable[[str, Any], str]
_WORDS: Final[Mapping[str, _Words]] = {
    "type": _types,
    "enum": lambda value, expected: f"{value} is not one of {shown(expected)}",
    "const": lambda value, expected: f"{value} is not {shown(expected)}",
    "format": lambda value, expected: f'{value} is not a "{expected}"',
    "pattern": lambda value, expected: f"{value} does not match {shown(expected)}",
    "minLength": lambda value, expected: f"{value} is shorter than {expected} characters",
    "maxLength": lambda value, expected: f"{value} is longer than {expected} characters",
    "minimum": lambda value, expected: f"{value} is less than the minimum of {expected}",
    "maximum": lambda value, expected: f"{value} is greater than the maximum of {expected}",
    "multipleOf": lambda value, expected: f"{value} is not a multiple of {expected}",
    "minItems": lambda value, expected: f"{value} has less than {expected} items",
    "maxItems": lambda value, expected: f"{value} has more than {expected} items",
    "uniqueItems": lambda value, expected: f"{value} has equal items",
    "minProperties": lambda value, expected: f"{value} has less than {expected} properties",
    "maxProperties": lambda value, expected: f"{value} has more than {expected} properties",
    "anyOf": lambda value, expected: f'{value} fits no schema of "anyOf"',
    "oneOf": lambda value, expected: f'{value} does not fit exactly one schema of "oneOf"',
    "not": lambda value, expected: f'{value} fits the schema of "not"',
    "false": lambda value, expected: f"{value} is not allowed here",
}


_KIND = frozenset({"type", "enum", "const"})


def leaf_of(error: ValidationError) -> ValidationError:
    """Return the error inside the only plausible branch of `anyOf` or `oneOf`; otherwise the error itself."""
    while error.context:
        # Errors of branches for other types only say that another branch was meant.
        branches = _branches(error)
        meant = [errors for errors in branches.values() if not any(map(_is_another_kind, errors))]
        if len(meant) != 1:
            return error
        error = max(meant[0], key=lambda inner: len(inner.path))
    return error


def nearest_of(error: ValidationError) -> tuple[int, ValidationError] | None:
    """Return (index of the branch with the fewest faults, main error there); None if there are no branches.

    Branches for values of the same type come first, then branches with fewer errors, then branches with deeper errors.
    """
    ranked = [
        ((any(map(_is_another_kind, errors)), len(errors), -max(len(inner.path) for inner in errors)), place, errors)
        for place, errors in _branches(error).items()
        if isinstance(place, int)
    ]
    if not ranked:
        return None
    _, place, errors = min(ranked, key=lambda branch: branch[:2])
    return place, leaf_of(max(errors, key=lambda inner: len(inner.path)))


def _branches(error: ValidationError) -> dict[object, list[ValidationError]]:
    return grouped((one.schema_path[0] if one.schema_path else None, one) for one in error.context or ())


def _is_another_kind(error: ValidationError) -> bool:
    keyword: object = error.validator
    if keyword in _KIND:
        # A wrong tag one level down also shows that another branch is meant.
        return len(error.path) == 0 or (keyword != "type" and len(error.path) == 1)
    return keyword is None and len(error.path) == 0


def pointer_of(schema: Schema, path: Sequence[str | int]) -> str:
    """Return the place of a path below a schema, with references followed."""
    node, pointer = schema.raw, schema.pointer
    for token in path:
        try:
            hops = 0
            while isinstance(node, dict) and token not in node and isinstance(node.get("$ref"), str):
                node, pointer = schema.document.resolve(node["$ref"], at=pointer)
                hops += 1
                # References may form a cycle.
                if hops > 100:
                    break
        except UnresolvableReference:
            return pointer
        if isinstance(node, dict):
            node = node.get(token)
        elif isinstance(node, list) and isinstance(token, int) and token < len(node):
            value: object = node[token]
            node = value
        else:
            node = None
        pointer = pointer_child(pointer, str(token))
    return pointer


_RAW_ERRORS = 500


class Referee:
    """A schema for the independent validator."""

    def __init__(self, schema: Schema, reading: SchemaReading) -> None:
        registry, base, home = registry_of(schema)
        if schema.dialect is Dialect.OPENAPI31:
            reading.home = home
        self._schema = schema
        self._reading = reading
        options = {} if is_own_root(schema) else {"_resolver": registry.resolver(base)}
        self._validator = reading.class_for(schema.raw)(schema.raw, registry=registry, **options)

    def errors(self, value: Any) -> list[SchemaViolation]:
        """Return the violations of a value, one for each schema path; empty if it is valid.

        Undecidable values count as valid: a reference without a target, extreme nesting, a schema that contains itself.
        """
        found: dict[tuple[str, ...], SchemaViolation] = {}
        for whole in self.whole_errors(value):
            error = leaf_of(whole)
            path = tuple(one for one in error.absolute_schema_path if isinstance(one, str))
            # Most errors share a path, and describing a large value takes longer than finding its errors.
            if path not in found:
                steps = list(error.absolute_schema_path)
                validator: object = error.validator
                keyword = str(steps[-1]) if steps and validator is not None else "false"
                pointer = pointer_of(self._schema, steps)
                # The failing schema is around the keyword; the schema `false` is at the path itself.
                if keyword != "false" and steps:
                    pointer = pointer.rpartition("/")[0]
                message = message_of(keyword, error.validator_value, error.instance, error.message)
                nearest = nearest_of(error) if keyword in ("anyOf", "oneOf") else None
                if nearest is None:
                    described = message
                else:
                    place, inner = nearest
                    expected: object = inner.validator_value
                    reason = message_of(str(inner.validator or "false"), expected, inner.instance, inner.message)
                    described = f"{message}; {nearest_branch(place, error.validator_value, inner.path, reason)}"
                found[path] = SchemaViolation(
                    schema_path=path,
                    schema_pointer=pointer,
                    instance_path=tuple(error.absolute_path),
                    keyword=keyword,
                    message=described,
                    schema=error.schema,
                    value=error.instance,
                )
        return list(found.values())

    @property
    def read_only(self) -> frozenset[str]:
        """Return the names of read-only properties in the last value, if it was a request."""
        return frozenset(self._reading.held)

    @property
    def doubts(self) -> tuple[str, ...]:
        """Return why the last value may be wrong although it has no errors, if it was a request."""
        return tuple(self._reading.doubts)

    def whole_errors(self, value: Any) -> list[ValidationError]:
        """Return the errors of a value as trees, with the errors of each alternative inside."""
        self._reading.hidden.clear()
        self._reading.held.clear()
        self._reading.doubts.clear()
        try:
            # A large value may have an error for each item, but a verdict needs only one for each schema path.
            return list(islice(self._validator.iter_errors(value), _RAW_ERRORS))
        except (Unresolvable, RecursionError, re.error):
            return []


def referee(schema: Schema, direction: Direction, *, validate_formats: bool = True) -> Referee:
    """Return the second opinion on values that are sent in one direction."""
    spoken = spoken_in(schema)
    return Referee(schema, SchemaReading(schema.dialect, direction, validate_formats=validate_formats, spoken=spoken))
