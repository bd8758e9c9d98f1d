"""The rules of the second opinion: each keyword of each dialect, read from the raw document.

`jsonschema` evaluates them. A rule here replaces a rule of the library that differs from ECMA-262 or OpenAPI, is wrong
for floats, or takes quadratic time for a large value.
"""

import base64
import json
import operator
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final, Protocol, runtime_checkable
from urllib.parse import urlsplit

import referencing.jsonschema
from jsonschema import (
    Draft4Validator,
    Draft6Validator,
    Draft7Validator,
    Draft201909Validator,
    Draft202012Validator,
    ValidationError,
    validators,
)
from jsonschema_specifications import REGISTRY
from referencing import Anchor, Registry, Resource, Specification
from referencing.exceptions import Unresolvable

from checker.core.schema import Dialect, Direction, Schema
from checker.core.system import kept
from checker.schema.discriminators import Discriminator, discriminator_of
from checker.schema.keywords import has_foreign_type, keywords_of, misunderstood, standard_dialect
from checker.schema.scopes import HAS_SIBLINGS
from checker.validation.compiled import is_enforceable
from checker.validation.ecma import ecma_pattern
from checker.validation.formats import is_of_format

_Unasserted: Any = validators.create(meta_schema={}, validators={}, type_checker=Draft6Validator.TYPE_CHECKER)
"""A validator by which only the schema `false` fails."""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _multiple_of(validator: Any, step: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not _is_number(instance):
        return
    try:
        # Computed from the written digits: 19.99 is a multiple of 0.01 although the floats are not.
        remainder = Decimal(repr(instance) if isinstance(instance, float) else instance) % Decimal(
            repr(step) if isinstance(step, float) else step
        )
    except InvalidOperation:
        # The number has more digits than decimals can have: integers are exact, other values are undecided.
        if not isinstance(instance, int) or not isinstance(step, int):
            return
        remainder = Decimal(1 if instance % step else 0)
    if remainder:
        yield ValidationError(f"{instance} is not a multiple of {step}")


def _pattern(validator: Any, pattern: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str):
        compiled = ecma_pattern(pattern)
        if compiled is not None and not compiled.finds(instance):
            yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, schemas: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    for pattern, inner in schemas.items():
        compiled = ecma_pattern(pattern)
        if compiled is None or not isinstance(inner, dict | bool):
            continue
        for name, value in instance.items():
            if len(name) <= compiled.longest and compiled.finds(name):
                yield from validator.descend(value, inner, path=name, schema_path=pattern)


def _unique_items(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """`uniqueItems`, in linear time, because a server may send any number of items."""
    if wanted is True and isinstance(instance, list):
        seen: set[Hashable] = set()
        for item in instance:
            key = _key(item)
            if key in seen:
                yield ValidationError("there are equal items")
                return
            seen.add(key)


def _key(value: Any) -> Hashable:
    """Return keys that are equal for equal values only: 1 and 1.0 are equal, 1 and true are not."""
    if isinstance(value, list):
        return ("array", tuple(map(_key, value)))
    if isinstance(value, dict):
        return ("object", frozenset((name, _key(item)) for name, item in value.items()))
    return (isinstance(value, bool), value)


def _additional_properties(validator: Any, additional: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """`additionalProperties`. An unreadable pattern may match any name."""
    if not isinstance(instance, dict) or additional is True:
        return
    declared = schema.get("properties")
    patterns = schema.get("patternProperties")
    compiled = [ecma_pattern(p) for p in patterns] if isinstance(patterns, dict) else []
    for name, value in instance.items():
        if isinstance(declared, dict) and name in declared:
            continue
        # An unreadable pattern may match any name.
        if any(pattern is None or pattern.finds(name) for pattern in compiled):
            continue
        if additional is False:
            yield ValidationError(f'"{name}" is not a declared property')
        else:
            yield from validator.descend(value, additional, path=name)


def _unevaluated_items(validator: Any, inner: Any, instance: Any, schema: Any) -> list[ValidationError]:
    rule = Draft201909Validator.VALIDATORS["unevaluatedItems"]
    try:
        return list(rule(validator, inner, instance, schema) or ())
    except TypeError:
        # The library fails on `items: true`, which allows all items.
        return []


def _unevaluated(keyword: str, rule: "_Check") -> "_Check":
    """Return the rule of `unevaluatedProperties` or `unevaluatedItems`, without errors that follow from other errors.

    A schema that fails evaluates nothing: with one wrong property, all properties of its `allOf` would be unexpected. If the
    value has other errors, only what no schema around it declares is one more.
    """

    def check(validator: Any, inner: Any, instance: Any, schema: Any) -> Iterable[ValidationError]:
        errors = list(rule(validator, inner, instance, schema) or ())
        if not errors or inner is not False:
            return errors
        others = {name: value for name, value in schema.items() if name != keyword}
        if validator.evolve(schema=others).is_valid(instance):
            return errors
        return rule(_Unasserted(schema, _resolver=validator._resolver), inner, instance, schema) or ()

    return check


def _content(validator: Any, said: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """`contentEncoding` and `contentMediaType`, for base64 and JSON."""
    if not isinstance(instance, str):
        return
    try:
        content: str | bytes = instance
        if schema.get("contentEncoding") == "base64":
            content = base64.b64decode(instance, validate=True)
        # Other encodings and media types are not judged, because the draft leaves them open.
        if said == "application/json":
            json.loads(content)
    except ValueError:
        yield ValidationError(f"{instance!r} does not contain {said}")


def _format(validator: Any, name: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not is_of_format(name, instance):
        yield ValidationError(f"{instance!r} is not a {name!r}")


def _bound(is_beyond: Callable[[Any, Any], bool], words: str, flag: str = "") -> "_Check":
    """Return the rule of a numeric bound. In draft 4, a `flag` beside the bound makes it exclusive."""

    def check(validator: Any, bound: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if not (_is_number(bound) and _is_number(instance)):
            return
        if is_beyond(instance, bound) or (schema.get(flag) is True and instance == bound):
            yield ValidationError(f"{instance} is {words} {bound}")

    return check


_NOWHERE = "http://document.invalid/root"
_SPECIFICATIONS: Final[dict[Dialect, Specification[Any]]] = {
    Dialect.DRAFT4: referencing.jsonschema.DRAFT4,
    Dialect.DRAFT6: referencing.jsonschema.DRAFT6,
    Dialect.DRAFT7: referencing.jsonschema.DRAFT7,
    Dialect.DRAFT2019: referencing.jsonschema.DRAFT201909,
    Dialect.DRAFT2020: referencing.jsonschema.DRAFT202012,
}
_NEWEST_SPECIFICATION = referencing.jsonschema.DRAFT202012


@runtime_checkable
class Linked(Protocol):
    """A document with references to other documents."""

    @property
    def has_names(self) -> bool:
        """Whether `$id` and `$anchor` count in this document and a schema has one."""
        ...

    def uri_of(self, place: str) -> str:
        """Return the absolute URI that references at a place are resolved against."""
        ...

    def contents_of(self, uri: str) -> object | None:
        """Return the document of a URI; None if there is none."""
        ...


def is_own_root(schema: Schema) -> bool:
    """Whether a schema is a whole document in a dialect whose `$id`s `referencing` reads itself."""
    return schema.dialect in _SPECIFICATIONS and schema.pointer == "#"


def registry_of(schema: Schema) -> tuple[Any, str, str]:
    """Return (registry for references of the schema, their base URI, URI of the document)."""
    document = schema.document
    linked = document if isinstance(document, Linked) else None
    base = _NOWHERE if linked is None else linked.uri_of(schema.pointer) or _NOWHERE
    # Before OpenAPI 3.1 a document is opaque: names in it do not belong to JSON Schema.
    usual = _DESCRIPTION if linked is not None and linked.has_names else Specification.OPAQUE
    specification = _SPECIFICATIONS.get(schema.dialect, usual)

    def retrieve(uri: str) -> Any:
        contents = None if linked is None else linked.contents_of(uri)
        if contents is None:
            return REGISTRY[uri]
        if specification is Specification.OPAQUE:
            return specification.create_resource(contents)
        return Resource.from_contents(contents, default_specification=specification)

    # The registry converts a `LookupError` into its own error.
    registry: Any = Registry
    home = _NOWHERE if linked is None else linked.uri_of("#") or _NOWHERE
    root = specification.create_resource(document.root)
    return registry(retrieve=retrieve).with_resource(home, root), base, home


def spoken_in(schema: Schema) -> Mapping[int, Dialect] | None:
    """Return the dialects that `$schema` declares in an OpenAPI description of version 3.1 or later, by the identity of the objects inside.

    None if `$schema` has no meaning; empty for a JSON Schema that is a whole document, whose dialect is read on the way.
    """
    document, root = schema.document, schema.document.root
    is_old = schema.dialect in (Dialect.OPENAPI20, Dialect.OPENAPI30)
    if is_own_root(schema):
        return {}
    if is_old or not isinstance(root, dict) or "openapi" not in root:
        return None
    if isinstance(document, Linked) and document.uri_of(schema.pointer) and not document.has_names:
        return {}
    # The key is the identity, because the validator sees the object without its place. The document keeps the objects alive.
    found: Mapping[int, Dialect] | None = document.facts.get(spoken_in)
    if found is None:
        found = document.facts[spoken_in] = dict(_spoken(root))
    return found


def _spoken(root: object) -> Iterator[tuple[int, Dialect]]:
    todo: list[tuple[object, Dialect | None]] = [(root, None)]
    while todo:
        value, dialect = todo.pop()
        if isinstance(value, dict):
            said = value.get("$schema")
            dialect = (standard_dialect(said) if isinstance(said, str) else None) or dialect
            if dialect is not None:
                yield id(value), dialect
        inside = value.values() if isinstance(value, dict) else value
        if isinstance(inside, Iterable):
            todo += [(item, dialect) for item in inside if isinstance(item, dict | list)]


def id_of(contents: Any) -> str | None:
    """Return the URI in a schema's `$id`; None if there is no valid one."""
    name = contents.get("$id") if isinstance(contents, dict) else None
    try:
        urlsplit(name if isinstance(name, str) else "")
    except ValueError:
        return None
    return name if isinstance(name, str) and not name.startswith("#") else None


_anchor: Any = Anchor


def _anchors_in(specification: Any, contents: Any) -> Iterable[Any]:
    if not isinstance(contents, dict):
        return
    # The library fails on names that are no texts.
    names = ("$anchor", "$dynamicAnchor")
    sound = {key: value for key, value in contents.items() if key not in names or isinstance(value, str)}
    yield from _NEWEST_SPECIFICATION.anchors_in(sound)
    name = contents.get("$id")
    if isinstance(name, str) and name.startswith("#") and len(name) > 1:
        yield _anchor(name=name[1:], resource=_DESCRIPTION.create_resource(contents))


_described: Any = Specification
_DESCRIPTION: Final[Specification[Any]] = _described(
    name="API description",
    id_of=id_of,
    subresources_of=lambda contents: (
        value
        for value in (contents.values() if isinstance(contents, dict) else contents)
        if isinstance(value, dict | list)
    ),
    maybe_in_subresource=lambda segments, resolver, subresource: resolver.in_subresource(subresource),
    anchors_in=_anchors_in,
)
"""The specification of a description for `referencing`: every object may be a schema."""


_IDS: Final = frozenset({"$id", "id"})
_MOST_KEPT: Final = 512  # Places of a schema whose validators are cached.
ClassFor = Callable[[object, Any], Any]
"""Returns the class for a schema, given the class of the surrounding schema, or None if a reference led to it."""


def _evolving(class_for: ClassFor) -> Any:
    """Return the method that creates the validator of another schema. The library itself would read `$schema`, which it cannot do for descriptions.

    Each place gets one validator, because creating one takes as long as judging a value.
    """
    made: dict[tuple[int, int, type], Any] = {}

    def evolve(validator: Any, *, schema: Any = None, _resolver: Any = None) -> Any:
        schema = validator.schema if schema is None else schema
        resolver = validator._resolver if _resolver is None else _resolver
        # A validator refers to both objects, so their identities are unique while it is cached.
        key = (id(schema), id(resolver), type(validator))
        found = made.get(key)
        if found is None:
            found = class_for(schema, type(validator))(
                schema, registry=validator._registry, _resolver=resolver, format_checker=validator.format_checker
            )
            kept(made, key, found, _MOST_KEPT)
        return found

    return evolve


def _looked_up(resolver: Any, reference: str, home: str) -> Any:
    """Return the target of a reference. If a pointer has no target below a `$id`, it is looked up in the document `home`. Raises `Unresolvable`."""
    try:
        return resolver.lookup(reference)
    except Unresolvable:
        if not home or not reference.startswith("#/"):
            raise
        return resolver._registry.resolver(home).lookup(reference)


def _remembering(refer: Any, reading: "SchemaReading") -> Any:
    """Return the method that follows a reference, with a cache of lookups."""
    # The resolver is stored with its result, so that no other resolver can get its identity.
    known: dict[tuple[int, str], tuple[Any, Any]] = {}

    def remembered(validator: Any, ref: str, instance: Any) -> Any:
        resolver = validator._resolver
        found = known.get((id(resolver), ref))
        if found is None:
            try:
                resolved = _looked_up(resolver, ref, reading.home)
            except Unresolvable:
                return refer(validator, ref, instance)
            found = kept(known, (id(resolver), ref), (resolver, resolved), _MOST_KEPT)
        return validator.descend(instance, found[1].contents, resolver=found[1].resolver)

    return remembered


def _listed() -> "_Check":
    """Return the rule of `enum`. The keys of its members are cached: comparing 5,000 items with each of 5,002 members takes 3 s."""
    known: dict[int, tuple[list[Any], frozenset[Hashable]]] = {}

    def enum(validator: Any, members: list[Any], instance: Any, schema: Any) -> Iterator[ValidationError]:
        # The list is stored, so that no other list can get its identity.
        found = known.get(id(members))
        if found is None:
            found = kept(known, id(members), (members, frozenset(map(_key, members))), _MOST_KEPT)
        if _key(instance) not in found[1]:
            yield ValidationError(f"{instance!r} is not one of {members!r}")

    return enum


def _tolerant_descent(descend: Any, class_for: ClassFor, doubts: dict[str, None]) -> Any:
    """Return the method that enters a schema. It selects the rules of the schema's dialect, and ignores values that are no schema.

    A reference that leads nowhere leaves only the value undecided that its schema is about. `doubts` receives the reason.
    """

    def tolerant(validator: Any, instance: Any, schema: Any, **steps: Any) -> Any:
        # A value that is no schema constrains nothing.
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
            # Without an id, references resolve as in the surrounding schema. The library would create a resource for that.
            steps["resolver"] = validator._resolver
        if schema is False:
            # The library omits the last step from both paths of this error.
            path, schema_path = steps.get("path"), steps.get("schema_path")
            error = ValidationError(
                "nothing is allowed here",
                validator=None,  # type: ignore[arg-type]
                validator_value=None,
                instance=instance,
                schema=False,
                path=() if path is None else (path,),
                schema_path=() if schema_path is None else (schema_path,),
            )
            return iter((error,))
        found = descend(validator, instance, schema, **steps)
        return found if steps.get("path") is None else until_lost(found)

    def until_lost(errors: Any) -> Iterator[ValidationError]:
        try:
            yield from errors
        except Unresolvable:
            doubts["a reference of its schema leads nowhere"] = None

    return tolerant


Errors = Iterable[ValidationError]
_Check = Callable[[Any, Any, Any, Any], Errors | None]

_STANDARD: Final[Mapping[Dialect, Any]] = {
    Dialect.DRAFT4: Draft4Validator,
    Dialect.DRAFT6: Draft6Validator,
    Dialect.DRAFT7: Draft7Validator,
    Dialect.DRAFT2019: Draft201909Validator,
    Dialect.DRAFT2020: Draft202012Validator,
    Dialect.OPENAPI20: Draft4Validator,
    Dialect.OPENAPI30: Draft4Validator,
    Dialect.OPENAPI31: Draft202012Validator,
}
_MOST_NAMES = 10  # Alternatives of a discriminator that a message lists.
_META: Final = {dialect: cls.META_SCHEMA.get("$id", cls.META_SCHEMA.get("id")) for dialect, cls in _STANDARD.items()}
_DYNAMIC: Final[Mapping[Dialect, frozenset[str]]] = {
    Dialect.DRAFT2019: frozenset({"$recursiveRef"}),
    Dialect.DRAFT2020: frozenset({"$dynamicRef"}),
    Dialect.OPENAPI31: frozenset({"$dynamicRef"}),
}
_NONE: Final[frozenset[str]] = frozenset()
_NULLABLE: Final = {Dialect.OPENAPI20: "x-nullable", Dialect.OPENAPI30: "nullable"}
_WITH_CONTENT: Final = (Dialect.DRAFT6, Dialect.DRAFT7)  # Dialects that assert the content of texts.
_COMPATIBLE: Final = (Dialect.DRAFT2019, Dialect.DRAFT2020, Dialect.OPENAPI31)
"""Dialects without `dependencies` whose readers may still support it."""
_MAPS = frozenset({"properties", "patternProperties", "dependentSchemas", "dependencies"})
_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_MOST_READ: Final = 4096  # Schemas whose keywords are cached.
_DOUBTS: Final = "doubts"  # The name under which doubts about a schema are stored, like a keyword.
_ABOUT: Final[Mapping[str, tuple[type, ...]]] = {
    "nullable": (type(None),),
    **dict.fromkeys(("pattern", "minLength", "maxLength", "format"), (str,)),
    **dict.fromkeys(
        ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), (int, float, Decimal)
    ),
    **dict.fromkeys(("items", "minItems", "maxItems", "uniqueItems", "prefixItems", "contains"), (list,)),
    **dict.fromkeys((*_MAPS, "required", "minProperties", "maxProperties", "propertyNames"), (dict,)),
    **dict.fromkeys(("additionalProperties", "unevaluatedProperties", "dependentRequired"), (dict,)),
}
"""The types of values that a keyword constrains; keywords that are not listed constrain any value."""
_UNREAD = frozenset({"$dynamicRef", "$recursiveRef", "format", "pattern"})
_REFERENCES: Final = frozenset({"$ref", "$dynamicRef"})


class SchemaReading:
    """Rules for one dialect and direction. An instance has state about the current value, so each referee has its own."""

    def __init__(
        self,
        dialect: Dialect,
        direction: Direction,
        *,
        validate_formats: bool,
        spoken: Mapping[int, Dialect] | None = None,
    ) -> None:
        """`spoken` are the dialects that schemas of a description declare; None if they cannot declare any."""
        self._dialect = dialect
        self._direction = direction
        self._validates_formats = validate_formats
        self._spoken = spoken
        self._usual = dialect
        """Dialect of schemas that declare none."""
        self._classes: dict[Dialect, Any] = {}
        self._is_response = direction is Direction.RESPONSE
        self._flag = "writeOnly" if self._is_response else "readOnly"
        own = _NULLABLE.get(dialect)
        # `nullable` has no meaning outside OpenAPI 3.0, but a request that relies on it is not judged as invalid.
        self._nullables = {*((own,) if own else ()), *(("nullable",) if direction is Direction.REQUEST else ())}
        self._has_siblings = dialect in HAS_SIBLINGS
        self._hidden: dict[int, frozenset[str]] = {}
        self._discriminators: dict[int, Discriminator | None] = {}
        self._read: dict[int, tuple[dict[str, Any], Iterable[tuple[str, Any]]]] = {}
        """Keywords to apply, by the identity of their schema. The entry keeps the schema alive."""
        self.hidden: dict[int, frozenset[str]] = {}
        """Properties that this direction does not have, by the identity of the object that may contain them."""
        self.held: set[str] = set()
        """Names of read-only properties in a request, which a server may refuse or ignore."""
        self.doubts: dict[str, None] = {}
        """The reason why the last value, a request without errors, may be invalid."""
        self.home = ""
        """URI of the description, for pointers without a target below a `$id`; empty for documents without names."""
        self._exact: dict[str, _Check] = {
            "multipleOf": _multiple_of,
            "pattern": _pattern,
            "patternProperties": _pattern_properties,
            "additionalProperties": _additional_properties,
            "uniqueItems": _unique_items,
            "enum": _listed(),
        }
        if validate_formats:
            self._exact["format"] = _format
        if dialect in _WITH_CONTENT:
            self._exact |= {"contentEncoding": _content, "contentMediaType": _content}
        if dialect is Dialect.DRAFT2019:
            self._exact["unevaluatedItems"] = _unevaluated_items
        if dialect in _COMPATIBLE:
            self._exact["dependencies"] = Draft7Validator.VALIDATORS["dependencies"]

    def class_for(self, schema: object, current: Any = None) -> Any:
        """Return the `jsonschema` class with these rules, or with those of the dialect that a schema declares.

        `current` reads the surrounding schema; None for a root and for the target of a reference.
        """
        spoken = self._spoken
        if spoken is None or not isinstance(schema, dict):
            return current or self._class_of(self._dialect)
        said = schema.get("$schema")
        dialect = standard_dialect(said) if isinstance(said, str) else None
        if dialect is None and current is not None:
            return current
        return self._class_of(dialect or spoken.get(id(schema), self._usual))

    def _class_of(self, dialect: Dialect) -> Any:
        found = self._classes.get(dialect)
        if found is None:
            if dialect is self._dialect:
                reading = self
            else:
                formats, spoken = self._validates_formats, self._spoken
                other = SchemaReading(dialect, self._direction, validate_formats=formats, spoken=spoken)
                other._usual = self._usual
                other._classes, other._hidden, other.hidden = self._classes, self._hidden, self.hidden
                other.held, other.home, other.doubts = self.held, self.home, self.doubts
                reading = other
            found = self._classes[dialect] = reading._made()
        return found

    def _made(self) -> Any:
        basis = _STANDARD[self._dialect]
        checks: dict[str, _Check] = dict(basis.VALIDATORS) | self._exact
        checks |= {
            "minimum": _bound(operator.lt, "less than the minimum of", "exclusiveMinimum"),
            "maximum": _bound(operator.gt, "greater than the maximum of", "exclusiveMaximum"),
            "exclusiveMinimum": _bound(operator.le, "not greater than"),
            "exclusiveMaximum": _bound(operator.ge, "not less than"),
            "properties": self._properties,
            "required": self._required,
            "oneOf": self._alternatives("oneOf", basis),
            "anyOf": self._alternatives("anyOf", basis),
        }
        # The library's formats and patterns are different. A dynamic reference has no meaning in the other dialects.
        for name in _UNREAD - _DYNAMIC.get(self._dialect, _NONE) - self._exact.keys():
            checks.pop(name, None)
        checks |= {
            name: _unevaluated(name, checks[name])
            for name in ("unevaluatedProperties", "unevaluatedItems")
            if name in checks
        }
        has_names = self._spoken is not None
        guarded = {name: self._guarded(check) for name, check in checks.items()}
        create: Any = validators.create
        cls = create(
            meta_schema={"$id": _META[self._dialect]} if has_names else {},
            validators=guarded | {_DOUBTS: self._note_doubts},
            # 1.0 is an integer from draft 6 on. Older drafts are read in the same way, because the other opinion reads
            # them as draft 7, and the two must not differ by this.
            type_checker=Draft6Validator.TYPE_CHECKER,
            id_of=id_of if has_names else lambda schema: None,
            applicable_validators=self._applicable,
        )
        cls.descend = _tolerant_descent(cls.descend, self.class_for, self.doubts)
        cls.evolve = _evolving(self.class_for)
        cls._validate_reference = _remembering(cls._validate_reference, self)
        return cls

    def _applicable(self, schema: Any) -> Iterable[tuple[str, Any]]:
        if not isinstance(schema, dict):
            return ()
        # This runs for each value, and filtering the keywords takes longer than applying them.
        known = self._read.get(id(schema))
        if known is None:
            known = kept(self._read, id(schema), (schema, self._keywords(schema)), _MOST_READ)
        return known[1]

    def _keywords(self, schema: dict[str, Any]) -> Iterable[tuple[str, Any]]:
        # Drafts before 2019-09 ignore all keywords beside `$ref`.
        if isinstance(schema.get("$ref"), str) and not self._has_siblings:
            return (("$ref", schema["$ref"]),)
        found = [
            (name, _sound(value) if name in _LISTS else value)
            for name, value in schema.items()
            if self._is_read(name, value) and not (name == "type" and has_foreign_type(schema))
        ]
        doubts = () if self._is_response else tuple(self._doubts_about(schema))
        return [*found, (_DOUBTS, doubts)] if doubts else found

    def _doubts_about(self, schema: dict[str, Any]) -> Iterator[tuple[str, str, int]]:
        """Yield the keywords that make a fitting value doubtful, each with the reason and the longest text without doubt."""
        for name, _ in misunderstood(schema, self._dialect):
            # A boolean `required` (draft 3) is about the object around the value.
            if name != "required" or not isinstance(schema["required"], bool):
                yield name, f"its `{name}` is not understood", -1
        patterns, pattern = schema.get("patternProperties"), schema.get("pattern")
        names = patterns if isinstance(patterns, dict) else ()
        for keyword, one in (("pattern", pattern), *(("patternProperties", name) for name in names)):
            if isinstance(one, str) and not is_enforceable(one):
                # The compiled validator ignores this pattern, and the second opinion does not search texts beyond a
                # certain length.
                longest = -1 if (own := ecma_pattern(one)) is None else own.longest
                yield keyword, "its regular expression is not understood", longest

    def _note_doubts(
        self, validator: Any, doubts: Iterable[tuple[str, str, int]], instance: Any, schema: Any
    ) -> Errors:
        # A doubt about `pattern` does not concern a number.
        kind = type(instance)
        length = len(instance) if kind is str else max(map(len, instance), default=0) if kind is dict else 0
        about = (reason for name, reason, longest in doubts if length > longest and kind in _ABOUT.get(name, (kind,)))
        self.doubts.update(dict.fromkeys(about))
        return ()

    def _is_read(self, name: str, value: Any) -> bool:
        keyword = keywords_of(self._dialect).get(name)
        if keyword is not None:
            return keyword.is_well_formed(value)
        return name not in _REFERENCES or isinstance(value, str)

    def _guarded(self, check: _Check) -> _Check:
        def guarded(validator: Any, value: Any, instance: Any, schema: Any) -> Errors:
            if instance is None and any(schema.get(name) is True for name in self._nullables):
                return ()
            hidden = self._hidden_in(validator._resolver, schema, ()) if isinstance(instance, dict) else _NONE
            if not hidden:
                return check(validator, value, instance, schema) or ()
            # Valid only while this schema applies, because another branch may treat the same value differently.
            key = id(instance)
            above = self.hidden.get(key, frozenset())
            self.hidden[key] = above | hidden
            try:
                return list(check(validator, value, instance, schema) or ())
            finally:
                self.hidden[key] = above

        return guarded

    def _hidden_in(self, resolver: Any, schema: Any, above: tuple[int, ...]) -> frozenset[str]:
        # `above` are the schemas on the way, because an `allOf` may contain itself. Only complete results are cached.
        key = id(schema)
        known = self._hidden.get(key)
        if known is not None:
            return known
        if isinstance(schema.get("$ref"), str) and not self._has_siblings:
            return frozenset()
        found: set[str] = set()
        properties = schema.get("properties")
        for name, value in properties.items() if isinstance(properties, dict) else ():
            if not isinstance(value, dict):
                is_flagged = False
            elif value.get(self._flag) is True:
                is_flagged = True
            else:
                is_flagged = self._is_target_flagged(resolver, value)
            if is_flagged:
                found.add(name)
        parts = schema.get("allOf")
        for part in parts if isinstance(parts, list) and key not in above else ():
            whole, around = self._followed(resolver, part)
            if isinstance(whole, dict):
                found |= self._hidden_in(around, whole, (*above, key))
        if not above:
            self._hidden[key] = frozenset(found)
        return frozenset(found)

    def _is_target_flagged(self, resolver: Any, schema: Any) -> bool:
        try:
            target, _ = self._followed(resolver, schema)
        except Unresolvable:
            return False
        return isinstance(target, dict) and target.get(self._flag) is True

    def _followed(self, resolver: Any, schema: Any) -> tuple[Any, Any]:
        """Return the schema behind references, and the resolver for references in it."""
        for _ in range(100):
            if not isinstance(schema, dict) or not isinstance(schema.get("$ref"), str):
                break
            resolved = _looked_up(resolver, schema["$ref"], self.home)
            schema, resolver = resolved.contents, resolved.resolver
        return schema, resolver

    def _properties(self, validator: Any, properties: Any, instance: Any, schema: Any) -> Errors:
        if not isinstance(instance, dict):
            return
        hidden = self.hidden.get(id(instance), frozenset())
        for name, inner in properties.items():
            if name not in instance:
                # A boolean `required` (draft 3) may mean this property, so its absence is not judged.
                if isinstance(inner, dict) and inner.get("required") is True:
                    self.doubts[f"`required` of its property `{name}` is not understood"] = None
                continue
            if not isinstance(inner, dict | bool):
                self.doubts[f"the schema of its property `{name}` is not understood"] = None
                continue
            if name not in hidden:
                yield from validator.descend(instance[name], inner, path=name, schema_path=name)
            elif self._is_response:
                yield ValidationError(
                    f'"{name}" is for writing only and must not be in a response',
                    validator=self._flag,
                    validator_value=True,
                    instance=instance[name],
                    schema=inner,
                    path=[name],
                    schema_path=[name, self._flag],
                )
            else:
                self.held.add(name)

    def _alternatives(self, keyword: str, basis: Any) -> _Check:
        usual, any_of = basis.VALIDATORS[keyword], basis.VALIDATORS["anyOf"]

        def check(validator: Any, branches: Any, instance: Any, schema: Any) -> Errors:
            if not isinstance(schema.get("discriminator"), dict):
                found: Errors = usual(validator, branches, instance, schema) or ()
                return found
            key = id(schema)
            if key not in self._discriminators:
                self._discriminators[key] = discriminator_of(schema, validator._resolver, self._target)
            discriminator = self._discriminators[key]
            tag = None if discriminator is None else discriminator.tag_of(instance)
            if discriminator is None or tag is None or discriminator.keyword != keyword:
                # With a discriminator, `oneOf` counts as `anyOf`: a value names its branch and may fit others as well.
                rule = any_of if discriminator is None or discriminator.keyword == keyword else usual
                return rule(validator, branches, instance, schema) or ()
            return _chosen(validator, branches, instance, (discriminator, tag))

        return check

    def _target(self, reference: str, resolver: Any) -> tuple[Any, Any] | None:
        try:
            resolved = _looked_up(resolver, reference, self.home)
        except Unresolvable:
            return None
        return resolved.contents, resolved.resolver

    def _required(self, validator: Any, required: Any, instance: Any, schema: Any) -> Errors:
        if not isinstance(instance, dict):
            return
        hidden = self.hidden.get(id(instance), frozenset())
        for name in required:
            if name not in instance and name not in hidden:
                yield ValidationError(f'"{name}" is a required property')


def _sound(branches: list[Any]) -> list[Any]:
    # A branch that is no schema constrains nothing. It is replaced and not omitted, so that indices in paths stay the same.
    return [branch if isinstance(branch, dict | bool) else True for branch in branches]


def _chosen(validator: Any, branches: Any, instance: Any, choice: tuple[Discriminator, str]) -> Errors:
    discriminator, tag = choice
    named = [index for index, names in enumerate(discriminator.names) if names and tag in names]
    open_to_all = [index for index, names in enumerate(discriminator.names) if names is None]
    first: list[ValidationError] | None = None
    # Branches without a name admit any value that fits them, so the named branches are tried first, but not alone.
    for index in (*named, *open_to_all):
        errors = list(validator.descend(instance, branches[index], schema_path=index))
        if not errors:
            return []
        first = errors if first is None else first
    if named and first:
        return first
    known = list(dict.fromkeys(name for one in discriminator.alternatives for name in one.told))
    listed = ", ".join([*map(repr, known[:_MOST_NAMES]), *(["..."] * (len(known) > _MOST_NAMES))])
    return [
        ValidationError(
            f"`{discriminator.property_name}` is {tag!r}, which names none of the alternatives: {listed}",
            validator="discriminator",
            validator_value=discriminator.property_name,
            instance=instance,
            schema_path=["discriminator"],
        )
    ]
