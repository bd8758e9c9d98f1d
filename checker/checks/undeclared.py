"""Properties of a body that its schema neither declares nor forbids: many services refuse them, and few say so."""

from collections.abc import Mapping
from copy import copy

from checker.core.case import Case
from checker.core.schema import Schema, UnresolvableReference

_NAMED = 3
_MOST_NODES = 200
_BRANCHES = ("allOf", "anyOf", "oneOf")


def declared_body_alone(case: Case) -> tuple[Case, str] | None:
    """The case without such properties at the top of its body, and the first three names; None when it has none."""
    body = case.body
    schema = next(
        (one.schema for one in case.operation.bodies if one.media_type == case.media_type), None
    )
    if not isinstance(body, dict) or schema is None:
        return None
    declared = _declared(schema)
    extra = [] if declared is None else [name for name in body if name not in declared]
    if not extra:
        return None
    kept = copy(case)
    kept.body = {name: value for name, value in body.items() if name not in extra}
    return kept, ", ".join(f"`{name}`" for name in extra[:_NAMED])


def _declared(schema: Schema) -> set[str] | None:
    """Names of properties that a schema, or what it refers to, declares; None where it describes all others, too."""
    found: set[str] = set()
    pending: list[tuple[object, str]] = [(schema.raw, schema.pointer)]
    for _ in range(_MOST_NODES):
        if not pending:
            return found
        raw, pointer = pending.pop()
        if not isinstance(raw, Mapping):
            continue
        if "patternProperties" in raw or isinstance(raw.get("additionalProperties"), Mapping):
            return None
        reference = raw.get("$ref")
        if isinstance(reference, str):
            try:
                pending.append(schema.document.resolve(reference, at=pointer))
            except UnresolvableReference:
                return None
        properties = raw.get("properties")
        found.update(properties if isinstance(properties, Mapping) else ())
        for name in _BRANCHES:
            branches = raw.get(name)
            if isinstance(branches, list):
                pending += [(one, f"{pointer}/{name}/{at}") for at, one in enumerate(branches)]
    return None
