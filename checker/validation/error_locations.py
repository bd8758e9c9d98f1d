"""Where a value breaks its schema: the most telling error, and the place of its schema in the document."""

from collections.abc import Sequence

from jsonschema import ValidationError

from checker.core.schema import Document, Schema, UnresolvableReference
from checker.validation.pointers import pointer_child

_KIND = frozenset({"type", "enum", "const"})


def leaf_of(error: ValidationError) -> ValidationError:
    """The error inside the only branch of `anyOf` or `oneOf` that the value can have been meant for, else the error itself."""
    while error.context:
        branches = _branches(error)
        meant = [errors for errors in branches.values() if not any(map(_is_another_kind, errors))]
        if len(meant) != 1:
            return error
        error = max(meant[0], key=lambda inner: len(inner.path))
    return error


def nearest_of(error: ValidationError) -> tuple[int, ValidationError] | None:
    """The branch that a value fails least, by its place, and what is wrong with it there; None when nothing is.

    One that is meant for values of the same kind comes before others, then fewer errors count, then deeper ones.
    """
    ranked = [
        ((any(map(_is_another_kind, errors)), len(errors), -_depth(errors)), place, errors)
        for place, errors in _branches(error).items()
        if isinstance(place, int)
    ]
    if not ranked:
        return None
    _, place, errors = min(ranked, key=lambda branch: branch[:2])
    return place, leaf_of(max(errors, key=lambda inner: len(inner.path)))


def _branches(error: ValidationError) -> dict[object, list[ValidationError]]:
    """Errors by the alternative that they are of."""
    branches: dict[object, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.schema_path[0] if inner.schema_path else None, []).append(inner)
    return branches


def _depth(errors: Sequence[ValidationError]) -> int:
    return max(len(inner.path) for inner in errors)


def _is_another_kind(error: ValidationError) -> bool:
    keyword: object = error.validator
    if keyword in _KIND:
        # A wrong tag one level down says as clearly that another branch was meant.
        return len(error.path) == 0 or (keyword != "type" and len(error.path) == 1)
    return keyword is None and len(error.path) == 0


def pointer_of(schema: Schema, path: Sequence[str | int]) -> str:
    """Place of what `path` leads to from a schema; references on the way are followed."""
    node, pointer = schema.raw, schema.pointer
    for token in path:
        try:
            node, pointer = _at_keyword(schema.document, node, pointer, token)
        except UnresolvableReference:
            return pointer
        node = _child(node, token)
        pointer = pointer_child(pointer, str(token))
    return pointer


def _at_keyword(
    document: Document, node: object, pointer: str, token: str | int
) -> tuple[object, str]:
    hops = 0
    while isinstance(node, dict) and token not in node and isinstance(node.get("$ref"), str):
        node, pointer = document.resolve(node["$ref"], at=pointer)
        hops += 1
        if hops > 100:
            break
    return node, pointer


def _child(node: object, token: str | int) -> object:
    if isinstance(node, dict):
        return node.get(token)
    if isinstance(node, list) and isinstance(token, int) and token < len(node):
        value: object = node[token]
        return value
    return None
