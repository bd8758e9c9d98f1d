"""How validators of `jsonschema` go from one schema to the next: by our rules, whatever a schema says of its dialect."""

from collections.abc import Callable
from typing import Any, Final

from jsonschema import ValidationError, validators
from referencing.exceptions import Unresolvable

from checker.validation.registries import id_of

_IDS: Final = frozenset({"$id", "id"})
_MOST_KEPT: Final = 512
"""Places of a schema of which a referee keeps how they are read."""
ClassFor = Callable[[object, Any], Any]
"""The class for a schema, from that of the schema around it; None instead of that when a reference led there."""


def kept_rules(descend: Any, standard: Any) -> Any:
    """Rules for a schema that names the dialect which is read already: those in use, where the library would go back to its own."""

    def kept(validator: Any, instance: Any, schema: Any, **steps: Any) -> Any:
        if isinstance(schema, dict) and "$schema" in schema:
            found: Any = validators.validator_for(schema, default=standard)
            if found is standard:
                schema = {name: value for name, value in schema.items() if name != "$schema"}
        return descend(validator, instance, schema, **steps)

    return kept


def evolving(class_for: ClassFor) -> Any:
    """The validator of another schema. The library would read `$schema` itself, and know nothing of descriptions.

    It is made once for each place: to make one takes as long as to judge a value by it.
    """
    made: dict[tuple[int, int, type], Any] = {}

    def evolve(validator: Any, *, schema: Any = None, _resolver: Any = None) -> Any:
        schema = validator.schema if schema is None else schema
        resolver = validator._resolver if _resolver is None else _resolver
        # A validator holds both, so no others can have these identities while it is kept.
        key = (id(schema), id(resolver), type(validator))
        found = made.get(key)
        if found is None:
            if len(made) >= _MOST_KEPT:
                made.clear()
            found = made[key] = class_for(schema, type(validator))(
                schema,
                registry=validator._registry,
                _resolver=resolver,
                format_checker=validator.format_checker,
            )
        return found

    return evolve


def remembering(refer: Any) -> Any:
    """The way along a reference, which is looked up once for each place that it is met at."""
    known: dict[tuple[int, str], tuple[Any, Any]] = {}

    def remembered(validator: Any, ref: str, instance: Any) -> Any:
        resolver = validator._resolver
        found = known.get((id(resolver), ref))
        if found is None:
            try:
                resolved = resolver.lookup(ref)
            except Unresolvable:
                return refer(validator, ref, instance)
            if len(known) >= _MOST_KEPT:
                known.clear()
            found = known[id(resolver), ref] = (resolver, resolved)
        return validator.descend(instance, found[1].contents, resolver=found[1].resolver)

    return remembered


def tolerant_descent(descend: Any, class_for: ClassFor) -> Any:
    """The way into a schema: by the rules of its own dialect, and none for what is no schema."""

    def tolerant(validator: Any, instance: Any, schema: Any, **steps: Any) -> Any:
        # What is no schema constrains nothing.
        if not isinstance(schema, dict | bool):
            return iter(())
        own = type(validator)
        found = class_for(schema, None if steps.get("resolver") is not None else own)
        if found is not own:
            known = {"registry": validator._registry, "_resolver": validator._resolver}
            return found(validator.schema, **known).descend(instance, schema, **steps)
        if isinstance(schema, dict) and "$id" in schema and id_of(schema) is None:
            schema = {name: value for name, value in schema.items() if name != "$id"}
        if steps.get("resolver") is None and isinstance(schema, dict) and _IDS.isdisjoint(schema):
            # References are read as around it: the library would make a resource of it to find that out.
            steps["resolver"] = validator._resolver
        if schema is False:
            return iter((_nothing_allowed(instance, steps),))
        return descend(validator, instance, schema, **steps)

    return tolerant


def _nothing_allowed(instance: Any, steps: dict[str, Any]) -> ValidationError:
    # The library leaves the last step out of both paths of this error.
    path, schema_path = steps.get("path"), steps.get("schema_path")
    return ValidationError(
        "nothing is allowed here",
        validator=None,  # type: ignore[arg-type]
        validator_value=None,
        instance=instance,
        schema=False,
        path=() if path is None else (path,),
        schema_path=() if schema_path is None else (schema_path,),
    )
