"""The first opinion, for the hot path: schemas compiled by jsonschema-rs, a few microseconds per value.

A schema is translated to a self-contained one (references become `$defs`; `nullable`, `readOnly` and discriminators become
keywords of the draft) and compiled once for each document and direction.
"""

import json
import re
from collections.abc import Callable, Hashable, Mapping
from functools import lru_cache, partial
from hashlib import blake2b
from typing import Any, Final

import jsonschema_rs
import orjson
from msgspec import Struct, field

from checker.core.errors import CheckerError
from checker.core.schema import Dialect, Direction, Document, Schema, UnresolvableReference, pointer_child, target_of
from checker.core.system import kept
from checker.schema.discriminators import KEYWORDS, discriminator_of
from checker.schema.keywords import Keyword, KeywordShape, keywords_of, understood
from checker.schema.scopes import HAS_SIBLINGS, Scope, dialect_at, entered, is_scoped, resolve_dynamic
from checker.validation.ecma import LONGEST_PATTERN, is_foreign
from checker.validation.formats import ASSERTED_FORMATS, FORMAT_PATTERNS, INTEGER_RANGES

# The white space of Python. ECMA-262's `\s` is a different set.
_SPACE = r"[\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
_DIGIT64 = rf"(?:[A-Za-z0-9+/_-]{_SPACE}*)"
_NUMBER = r"[0-9]+(?:[.,][0-9]+)?"
_DAYS = "".join(f"(?:{_NUMBER}{unit})?" for unit in "YMWD")
_CLOCK = "".join(f"(?:{_NUMBER}{unit})?" for unit in "HMS")

FORMATS_IN_KEYWORDS: Final[Mapping[str, dict[str, Any]]] = {
    **{name: {"pattern": f"^(?:{pattern})$"} for name, pattern in FORMAT_PATTERNS.items() if name in ASSERTED_FORMATS},
    "byte": {"pattern": rf"^{_SPACE}*(?:{_DIGIT64}{{4}})*(?:{_DIGIT64}{{2,3}})?(?:={_SPACE}*){{0,2}}$"},
    # The pattern in `allOf` requires a unit at the end, so that `P` and `T` alone do not match. A lookahead would make
    # the engine give up on long texts.
    "duration": {"pattern": rf"^[+-]?P{_DAYS}(?:T{_CLOCK})?$", "allOf": [{"pattern": "[DHMSWY]$"}]},
    **{name: {"minimum": lowest, "maximum": highest} for name, (lowest, highest) in INTEGER_RANGES.items()},
}
"""Format -> equivalent keywords, for values of every type."""


Plain = dict[str, Any] | bool
_Names = frozenset[str]
_NOTHING: _Names = frozenset()
# These keywords contain schemas for the same value: a property that the outer schema hides stays hidden inside them.
_SAME_VALUE = ("allOf", "anyOf", "oneOf", "then", "else")
# Keywords with schemas of values that may be left out.
_OPTIONAL: Final = ("properties", "patternProperties", "additionalProperties")
_FLAGS = {Direction.REQUEST: "readOnly", Direction.RESPONSE: "writeOnly"}


class _Fragment(Struct):
    name: str
    plain: Plain = True
    references: tuple["_Fragment", ...] = ()
    error: str | None = None  # Why it cannot be translated. The fragment is kept, because others refer to it.


class _Way(Struct, frozen=True):
    hidden: _Names  # Properties that this direction does not have, from all schemas for the same value.
    scope: Scope


_MOST_NODES = 20_000
"""Most schemas at one place that are connected without references. The largest documents of the schema store have 3,000 schemas in total."""


class UnusableSchema(CheckerError):
    """A schema that cannot be compiled although its references have targets."""


class OversizedSchema(UnusableSchema):
    """A schema with too many inner schemas to be compiled in reasonable time. Only multiplying YAML aliases create such schemas."""


class Translator:
    """Translates the schemas of one document for one direction. Each target of a reference is translated once."""

    def __init__(
        self,
        document: Document,
        dialect: Dialect,
        direction: Direction,
        *,
        validate_formats: bool = True,
        written_in: Dialect | None = None,
    ) -> None:
        """`written_in` is the dialect of the result, if it differs from `dialect`."""
        self._document = document
        self._dialect = dialect
        self._validates_formats = validate_formats
        self._is_scoped = is_scoped(document)
        self._has_siblings = dialect in HAS_SIBLINGS
        self._has_prefix = (written_in or dialect) in (Dialect.DRAFT2020, Dialect.OPENAPI31)
        self._nullable = {Dialect.OPENAPI20: "x-nullable", Dialect.OPENAPI30: "nullable"}.get(dialect)
        self._flag = _FLAGS[direction]
        self._is_response = direction is Direction.RESPONSE
        # Optional properties that cannot be read are not sent. Of responses they cost the verdict.
        self._is_sound = None if self._is_response else getattr(document, "is_sound", None)
        self._fragments: dict[tuple[str, _Names, Scope], _Fragment] = {}
        self._hidden_by_place: dict[str, _Names] = {}
        self._used: list[_Fragment] = []
        self._nodes = 0
        self._start = ""  # Pointer of the schema that is translated, for errors.
        self._todo: list[tuple[_Fragment, object, str, _Way]] = []

    def bundle(self, schema: Schema, scope: Scope = ()) -> Plain:
        """Return the schema with everything that it refers to under `$defs`. `scope` is the dynamic scope at its place.

        Raises `OversizedSchema` and `UnresolvableReference`. The latter includes a reference that leads back to itself
        without a schema in between.
        """
        self._used, self._nodes, self._start = [], 0, schema.pointer
        plain = self._node(schema.raw, schema.pointer, _Way(_NOTHING, scope))
        used = self._used
        # A loop and no recursion, because in large documents references form chains of hundreds.
        while self._todo:
            pending, target, pointer, way = self._todo.pop()
            self._used, self._nodes, self._start = [], 0, pointer
            try:
                pending.plain = self._node(target, pointer, way)
            except (UnresolvableReference, OversizedSchema) as error:
                pending.error = str(error)
            except RecursionError:
                pending.error = f"the schema at {pointer} is nested too deeply to be read"
            pending.references = tuple(self._used)
        found: dict[str, _Fragment] = {}
        todo = used
        while todo:
            each = todo.pop()
            if each.error is not None:
                raise UnresolvableReference(each.error)
            if each.name not in found:
                found[each.name] = each
                todo.extend(each.references)
        reached = sorted(found.values(), key=lambda fragment: int(each.name))
        if isinstance(plain, bool) or not reached:
            return plain
        return {**plain, "$defs": {fragment.name: fragment.plain for fragment in reached}}

    def _node(self, raw: object, at: str, way: _Way) -> Plain:
        if isinstance(raw, bool):
            return raw
        if not isinstance(raw, dict):
            return True
        self._nodes += 1
        if self._nodes > _MOST_NODES:
            held = f"holds more than {_MOST_NODES:,} schemas"
            raise OversizedSchema(f"the schema at {self._start} {held}; refer to what repeats")
        if self._is_scoped:
            way = _Way(way.hidden, entered(self._document, way.scope, at))
        dialect = dialect_at(self._document, at, self._dialect)
        reference = raw.get("$ref")
        targets: list[dict[str, Any]] = []
        if isinstance(reference, str):
            # JSON Schema ignores the siblings of `$ref` up to draft 7; from 2019-09 on they count (`HAS_SIBLINGS`).
            targets.append(self._fragment(*self._follow(reference, at), way))
            if dialect not in HAS_SIBLINGS or len(raw) == 1:
                # By the standard, siblings of a reference are ignored, but every author who writes `nullable` there means it.
                return self._with_null(raw, targets[0])
        dynamic = resolve_dynamic(self._document, raw, at, way.scope)
        if dynamic is not None:
            targets.append(self._fragment(*dynamic, way))
        plain = self._constraints(raw, at, way, keywords_of(dialect))
        if not targets:
            combined = plain
        elif len(targets) == 1:
            combined = targets[0] | plain
        else:
            combined = {**plain, "allOf": [*plain.get("allOf", ()), *targets]}
        return self._with_null(raw, combined)

    def _constraints(self, raw: dict[str, Any], at: str, way: _Way, table: Mapping[str, Keyword]) -> dict[str, Any]:
        hidden = way.hidden | self._hidden(raw, at, _NOTHING)
        plain: dict[str, Any] = {}
        # Hidden properties stay hidden in schemas for the same value. Schemas of properties and items start with none.
        same, other = _Way(hidden, way.scope), _Way(_NOTHING, way.scope)
        for name, value in understood(raw, table).items():
            keyword = table[name]
            if keyword.shape is KeywordShape.PLAIN:
                plain[name] = value
            else:
                below = same if name in _SAME_VALUE else other
                place = pointer_child(at, name)
                if name in _OPTIONAL and self._is_sound is not None:
                    value = _readable(value, place, self._is_sound, is_map=keyword.shape is KeywordShape.MAP)
                plain[name] = self._below(keyword, value, place, below)
        if not self._validates_formats:
            plain.pop("format", None)
        for rule in _RULES:
            rule(plain)
        if isinstance(raw.get("discriminator"), dict) and not plain.keys().isdisjoint(KEYWORDS):
            discriminator = discriminator_of(raw, at, partial(target_of, self._document))
            if "oneOf" in plain or discriminator is not None:
                if discriminator is None:
                    branches = plain.pop("oneOf")
                else:
                    branches = []
                    for branch, names in zip(plain.pop(discriminator.keyword), discriminator.names, strict=True):
                        if names is not None:
                            # Only texts are names. A branch may accept values of other types.
                            texts = {"anyOf": [{"enum": sorted(names)}, {"not": {"type": "string"}}]}
                            branch = {"allOf": [branch, {"properties": {discriminator.property_name: texts}}]}
                        branches.append(branch)
                plain["allOf"] = [*plain.get("allOf", ()), {"anyOf": branches}]
        _arrays(plain, has_prefix=self._has_prefix)
        # OpenAPI 3.0.3, Schema Object: where a read-only property is in the `required` list, `required` takes effect on
        # the response only; a write-only one, on the request only.
        if hidden and "required" in plain:
            plain["required"] = [name for name in plain["required"] if name not in hidden]
        # A write-only property in a response is a leak. A request with a read-only property is harmless, because
        # servers may ignore it.
        for name in plain.get("properties", {}).keys() & hidden:
            plain["properties"][name] = not self._is_response
        return plain

    def _below(self, keyword: Keyword, value: Any, at: str, way: _Way) -> Any:
        if isinstance(value, list):
            return [self._node(item, pointer_child(at, str(index)), way) for index, item in enumerate(value)]
        if keyword.shape in (KeywordShape.MAP, KeywordShape.MAP_OR_NAMES):
            return {
                name: item
                if isinstance(item, list) and keyword.shape is KeywordShape.MAP_OR_NAMES
                else self._node(item, pointer_child(at, name), way)
                for name, item in value.items()
            }
        return self._node(value, at, way)

    def _fragment(self, target: object, pointer: str, way: _Way) -> dict[str, Any]:
        scope = entered(self._document, way.scope, pointer)
        # The same schema has another meaning if other properties are hidden, or in another dynamic scope.
        key = (pointer, way.hidden, scope)
        fragment = self._fragments.get(key)
        if fragment is None:
            fragment = self._fragments[key] = _Fragment(str(len(self._fragments)))
            self._todo.append((fragment, target, pointer, _Way(way.hidden, scope)))
        self._used.append(fragment)
        return {"$ref": f"#/$defs/{fragment.name}"}

    def _follow(self, reference: str, at: str) -> tuple[object, str]:
        target, pointer = self._document.resolve(reference, at=at)
        seen = {pointer}
        while isinstance(target, dict) and isinstance(target.get("$ref"), str):
            if len(target) > 1 and (self._is_scoped or self._has_siblings):
                break
            target, pointer = self._document.resolve(target["$ref"], at=pointer)
            if pointer in seen:
                raise UnresolvableReference(f"{reference!r} at {at} leads back to itself; point it at a schema")
            seen.add(pointer)
        return target, pointer

    def _with_null(self, raw: dict[str, Any], plain: dict[str, Any]) -> dict[str, Any]:
        # `nullable` applies around all keywords, so that null passes an `enum` that does not list it: OpenAPI 3.0.3
        # forbids this, but many authors mean it.
        if self._nullable is None or raw.get(self._nullable) is not True or not plain:
            return plain
        return {"anyOf": [plain, {"type": "null"}]}

    def _hidden(self, raw: dict[str, Any], at: str, seen: _Names) -> _Names:
        """Return the properties that are not sent in this direction, including those of `allOf`."""
        # `seen` are the places on the way, because an `allOf` may contain itself. Only complete results are cached.
        known = self._hidden_by_place.get(at)
        if known is not None:
            return known
        found = set()
        properties = raw.get("properties")
        if isinstance(properties, dict):
            below = pointer_child(at, "properties")
            found = {
                name
                for name, value in properties.items()
                if isinstance(value, dict) and self._is_flagged(value, pointer_child(below, name))
            }
        parts = raw.get("allOf")
        if isinstance(parts, list) and at not in seen:
            for index, part in enumerate(parts):
                place = pointer_child(at, "allOf", str(index))
                if isinstance(part, dict) and isinstance(part.get("$ref"), str):
                    part, place = self._follow(part["$ref"], place)
                if isinstance(part, dict):
                    found |= self._hidden(part, place, seen | {at})
        if not seen:
            self._hidden_by_place[at] = frozenset(found)
        return frozenset(found)

    def _is_flagged(self, raw: dict[str, Any], at: str) -> bool:
        if raw.get(self._flag) is True:
            return True
        reference = raw.get("$ref")
        if not isinstance(reference, str):
            return False
        if self._is_sound is not None and not self._is_sound(raw, at):
            return False
        target, _ = self._follow(reference, at)
        return isinstance(target, dict) and target.get(self._flag) is True


def _readable(value: Any, at: str, is_sound: Callable[[object, str], bool], *, is_map: bool) -> Any:
    """Return the schema of a keyword, or its schemas by name; `True` in place of those that cannot be read."""
    if not is_map:
        return value if is_sound(value, at) else True
    return {name: item if is_sound(item, pointer_child(at, name)) else True for name, item in value.items()}


@lru_cache(maxsize=2048)
def is_enforceable(pattern: str) -> bool:
    """Whether the compiled validator can match the pattern."""
    if len(pattern) > LONGEST_PATTERN or is_foreign(pattern):
        return False
    try:
        jsonschema_rs.Draft7Validator({"pattern": pattern})
    except ValueError:
        return False
    return True


def _names_once(plain: dict[str, Any]) -> None:
    # The engine rejects a schema with repeated names, although its meaning is clear.
    for name in ("required", "type"):
        if isinstance(plain.get(name), list):
            plain[name] = list(dict.fromkeys(plain[name]))


def _boolean_bounds(plain: dict[str, Any]) -> None:
    # Draft 4 has a flag beside the bound, later drafts have a separate number.
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        value = plain.get(exclusive)
        if isinstance(value, bool):
            del plain[exclusive]
            if value and bound in plain:
                plain[exclusive] = plain.pop(bound)


def _patterns(plain: dict[str, Any]) -> None:
    if "pattern" in plain and not is_enforceable(plain["pattern"]):
        del plain["pattern"]
    by_pattern = plain.get("patternProperties")
    if by_pattern is not None:
        known = {name: value for name, value in by_pattern.items() if is_enforceable(name)}
        if len(known) < len(by_pattern):
            # Without the unenforceable pattern it is unknown which properties are additional.
            plain.pop("additionalProperties", None)
        plain["patternProperties"] = known


def _formats(plain: dict[str, Any]) -> None:
    name = plain.get("format")
    if name is None:
        return
    instead = FORMATS_IN_KEYWORDS.get(name)
    if instead is not None or name not in ASSERTED_FORMATS:
        del plain["format"]
    if instead is not None:
        plain["allOf"] = [*plain.get("allOf", ()), instead]


def _arrays(plain: dict[str, Any], *, has_prefix: bool) -> None:
    """Rewrite the keywords for items in the target dialect."""
    items = plain.get("items")
    # Draft 2020-12 has renamed the list form of `items` to `prefixItems`, and `additionalItems` to `items`.
    if has_prefix and isinstance(items, list):
        del plain["items"]
        if items:
            plain["prefixItems"] = items
        rest = plain.pop("additionalItems", None)
        if rest is not None:
            plain["items"] = rest
    elif not has_prefix and "prefixItems" in plain:
        if items is not None:
            plain["additionalItems"] = items
        plain["items"] = plain.pop("prefixItems")


_RULES: Final = (_names_once, _boolean_bounds, _patterns, _formats)


class Compiled(Struct, frozen=True):
    """A compiled schema."""

    is_valid: Callable[[Any], bool]  # Whether the value is valid. Lone surrogates count as question marks.
    is_strictly_valid: Callable[[Any], bool]
    """Whether the value is valid if formats are read as by the strictest reader."""


def compile_schema(
    schema: Schema, direction: Direction, *, validate_formats: bool = True, scope: Scope = ()
) -> Compiled:
    """Return the validator of values that are sent in one direction. `scope` is the dynamic scope at the schema.

    Equal schemas of a document share a validator. Raises `UnresolvableReference` and `UnusableSchema`.
    """
    document = schema.document
    cache: _DocumentCache | None = document.facts.get(_DocumentCache)
    if cache is None:
        cache = document.facts[_DocumentCache] = _DocumentCache(document)
    return cache.compiled((schema, scope), direction, validate_formats=validate_formats)


class _DocumentCache(Struct):
    document: Document
    translators: dict[tuple[Dialect, Direction, bool], Translator] = field(default_factory=dict)
    by_content: dict[tuple[Dialect, bytes], Compiled] = field(default_factory=dict)
    by_place: dict[Hashable, tuple[object, Compiled]] = field(default_factory=dict)
    """Place of a schema -> (the schema, which keeps its `id` from being reused; its validator)."""

    def compiled(self, place: tuple[Schema, Scope], direction: Direction, *, validate_formats: bool) -> Compiled:
        schema, scope = place
        dialect = _written_in(schema)
        view = (dialect, direction, validate_formats)
        # Operations of one description refer to the same schemas again and again, and translating one takes 0.1 ms and more.
        # A schema is first looked up by its place, which needs no translation, then by its content, because equal
        # schemas occur at several places.
        key = (*view, *_place_of(schema), scope)
        known = self.by_place.get(key)
        if known is None:
            translator = self.translators.get(view)
            if translator is None:
                translator = self.translators[view] = Translator(
                    self.document, schema.dialect, direction, validate_formats=validate_formats, written_in=dialect
                )
            try:
                plain = translator.bundle(schema, scope)
            except RecursionError:
                raise UnusableSchema(
                    f"the schema at {schema.pointer} is nested too deeply to be read; simplify it"
                ) from None
            # The key is the content, because most schemas of a large description are equal to others, and compiling
            # takes longer than a digest.
            try:
                content = orjson.dumps(plain)
            except TypeError:
                content = json.dumps(plain, default=str, separators=(",", ":")).encode()
            digest = (dialect, blake2b(content, digest_size=16).digest())
            found = self.by_content.get(digest)
            if found is None:
                names = {name.decode() for name in _NAMED.findall(content)} & ASSERTED_FORMATS.keys()
                found = _two_steps(plain, dialect, schema.pointer, {name: ASSERTED_FORMATS[name] for name in names})
                kept(self.by_content, digest, found, _COMPILED_PER_DOCUMENT)
            known = schema.raw, found
            kept(self.by_place, key, known, _COMPILED_PER_DOCUMENT)
        return known[1]


def _place_of(schema: Schema) -> tuple[str, str | int]:
    """Return a key that is equal for the same schema of a document. References to one place have the same key."""
    raw, pointer = schema.raw, schema.pointer
    if isinstance(raw, dict) and len(raw) == 1 and not is_scoped(schema.document):
        reference = raw.get("$ref")
        if isinstance(reference, str) and reference.startswith("#"):
            return pointer.partition("#")[0], reference
    return pointer, id(raw)


_Formats = dict[str, Callable[..., bool]]
_IsValid = Callable[[Any], bool]
_COMPILED_PER_DOCUMENT = 4096
_DRAFTS: Final = {
    **dict.fromkeys(Dialect, jsonschema_rs.Draft7Validator),
    Dialect.DRAFT2019: jsonschema_rs.Draft201909Validator,
    Dialect.DRAFT2020: jsonschema_rs.Draft202012Validator,
    Dialect.OPENAPI31: jsonschema_rs.Draft202012Validator,
}
"""Dialects that are translated to draft 7, which has equivalent keywords and accepts 1.0 as an integer."""
_NAMED = re.compile(rb'"format":"([^"]+)"')


def _written_in(schema: Schema) -> Dialect:
    """Return the dialect to translate to: the schema's own, unless a schema inside uses keywords that this dialect lacks."""
    document, own = schema.document, schema.dialect
    if own in HAS_SIBLINGS or not is_scoped(document):
        return own
    # The dialects are known after the first lookup.
    document.resource(schema.pointer)
    # The newest dialect can express everything that older ones can, but not the other way round.
    return Dialect.DRAFT2020 if document.dialects & HAS_SIBLINGS else own


def _two_steps(plain: Plain, dialect: Dialect, pointer: str, formats: _Formats) -> Compiled:
    """Return a two-step validator.

    The formats of jsonschema-rs are fast and strict; only values that they reject are tested again with the checker's
    own formats.
    """

    def build(formats: _Formats) -> _IsValid:
        return _DRAFTS[dialect](plain, formats=formats, validate_formats=True).is_valid

    # One format predicate in Python slows every call by a third, so the first step uses none.
    try:
        strict = build({})
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        reason = str(error).split("\n", 1)[0]
        raise UnusableSchema(f"the schema at {pointer} cannot be compiled: {reason}; correct the schema") from error
    # If the checker has no format of its own here, a second test would repeat the first.
    lenient: _IsValid | None = None if formats else strict

    def is_valid(value: Any) -> bool:
        nonlocal lenient
        try:
            if strict(value):
                return True
            if lenient is strict:
                return False
            if lenient is None:
                lenient = build(formats)
            return lenient(value)
        except ValueError:
            # The engine rejects values that JSON cannot express, such as lone surrogates and bytes.
            return (lenient or strict)(_as_json(value))

    def is_strictly_valid(value: Any) -> bool:
        try:
            return strict(value)
        except ValueError:
            return strict(_as_json(value))

    return Compiled(is_valid, is_strictly_valid)


def _as_json(value: Any) -> Any:
    """Return a value in which everything that JSON text cannot express is replaced."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, bytes | bytearray):
        return value.decode("utf-8", "replace")
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    if isinstance(value, dict):
        return {_as_json(str(key)): _as_json(item) for key, item in value.items()}
    return value
