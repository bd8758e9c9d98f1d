"""Objects: the properties that a form requires and allows, and how many."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from checker.core.errors import BudgetSpent, Unsatisfiable
from checker.core.resource_names import marks_among
from checker.generation.drawing.nodes import IsValid, Nodes, Variety, different, refuse, validator_of
from checker.generation.drawing.places import TextPlace, item_of
from checker.generation.drawing.words import TOPICAL, topical
from checker.generation.normalization import forms
from checker.generation.normalization.canonical import Canon
from checker.generation.normalization.discrimination import inherited_tags
from checker.generation.normalization.forms import Canonical, Conjunction, Facet, FacetKey, key_of
from checker.generation.regex_writing import LONGEST_NAME, names_like
from checker.generation.regexes import UnsupportedPattern, matcher
from checker.generation.sources import alphabets
from checker.generation.sources.basic import either, listed, texts
from checker.generation.sources.choices import RandomSource, Source, SourceSpent
from checker.generation.sources.context import ELEMENT, OPTIONAL, Draw, DrawContext, Rejected

IsName = Callable[[str], bool]
SELDOM: Final = 0.1  # Share of requests with an optional part that most servers refuse, or respond to with nothing.
_NAME_PLACE: Final = TextPlace("name", alphabets.NAME, min_text=1)
_ANY_NAME_PLACE: Final = TextPlace("any-name", alphabets.VISIBLE)
_TRIED_NAMES: Final = 6
_NAME_ATTEMPTS: Final = 12
_RELATED: Final = 0.06  # Share of objects in which values depend on each other.
_COMPOSING: Final = frozenset(("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if"))
_SCALARS: Final = frozenset({forms.STRING, forms.INTEGER, forms.NUMBER, forms.NULL})
_SMALL: Final = 3
_UNBOUNDED: Final = 40  # Properties beyond the minimum when there is no maximum.
_TEXT: Final = Facet({"type": "string"}, "#/name", is_made=True)
_MANY_NAMES, _SOME_NAMES = 0.8, 0.45
# Objects with one optional text were empty every other time: nine distinct values among twenty.
_FULL: Final = 0.6  # Share of objects with all declared properties, if most draws are equal.
_FREE, _OPEN, _RARE, _NEVER = 0.55, 0.3, 0.1, 0.01
"""Probability of one more property: in maps, with name patterns, beside declared properties, only to reach the minimum."""


class Property(Struct, frozen=True):
    """A declared property, or a parameter."""

    name: str
    draw: Draw
    share: float  # Share of objects that have the property; 1 for a required property.
    accepts: IsValid | None = None  # Whether a free string or number may have a value; None if no other value is tried.


class _Named(Struct, frozen=True):
    name: Draw
    draw: Draw
    is_name: IsName  # Whether such a property may have a name.


class _ObjectPlan(Struct, frozen=True):
    pointer: str
    properties: tuple[Property, ...]
    low: int
    high: int | None
    additional: tuple[_Named, ...]
    more: float  # Probability of one more additional property.
    path: DrawContext | None = None
    """The context with the path of the drawn property; None if no draw reads the path."""


def compile_properties(nodes: Nodes, form: Canonical, place: TextPlace) -> Draw:
    """Draws objects of a form. Raises `Unsatisfiable`."""
    objects, sizes = form.objects, form.objects.count
    refuse(sizes.conflict())
    inner = item_of(place)
    additional = _additional(nodes, form, inner)
    properties = _properties(nodes, form, inner)
    needed = sum(item.share == 1 for item in properties)
    if sizes.high is not None and needed > sizes.high:
        raise Unsatisfiable(sizes.high_pointer, f"maxProperties {sizes.high} and {needed} required properties")
    low = max(sizes.low, place.min_items)
    if low > nodes.max_text // 4:
        raise Unsatisfiable(sizes.low_pointer, f"minProperties {low} exceeds what can be sent")
    if not additional and low > len(properties):
        text = f"{low} properties are needed and {len(properties)} possible"
        raise Unsatisfiable(sizes.low_pointer or form.pointer, text)
    if nodes.is_minimal and low <= len(properties):
        additional = ()
    variety = nodes.variety_of(form)
    if variety is not Variety.USUAL:
        more = _SOME_NAMES if objects.properties and variety is not Variety.MOST else _MANY_NAMES
    elif nodes.is_minimal:
        more = _NEVER
    elif not objects.properties:
        more = _FREE
    else:
        more = _OPEN if objects.pattern_properties else _RARE
    path = nodes.context if nodes.reuses and place.is_body else None
    plan = _ObjectPlan(form.pointer, tuple(properties), low, sizes.high, additional, more, path)
    draw = related(_compile_object(plan, nodes.context), properties, nodes.context)
    fits = sizes.high is None or len(properties) <= sizes.high
    if variety is not Variety.MOST or needed == len(properties) or not fits:
        return draw
    # If optional properties are left out at random, most objects with few properties are equal.
    full = tuple(item if item.share <= SELDOM else replace(item, share=1.0) for item in properties)
    return either(_FULL, _compile_object(replace(plan, properties=full), nodes.context), draw)


def wants_extra(form: Canonical, nodes: Nodes) -> bool:
    """Whether an object gets undeclared properties; False if the user forbids them and none is required."""
    if nodes.allows_extra or form.objects.count.low > len(form.objects.properties):
        return True
    return any(isinstance(facet.raw, dict) and facet.raw for facet in form.objects.additional)


def small_object(item: Draw, low: int) -> Draw:
    """Draws objects of `low` to three properties, for schemas without constraints on them."""
    named = _Named(texts(alphabets.NAME, 1, LONGEST_NAME), item, lambda name: True)
    return _compile_object(_ObjectPlan("#", (), low, _SMALL, (named,), _FREE), DrawContext())


def _compile_object(plan: _ObjectPlan, context: DrawContext) -> Draw:
    """Draws the required properties, some of the optional ones, and some additional ones."""
    properties = plan.properties
    required = sum(item.share == 1 for item in properties)
    room = len(properties) if plan.high is None else plan.high - required
    # `maxProperties` limits only the optional properties: the required ones fit.
    core = members(properties, plan.pointer, room, context=plan.path)
    low, additional = plan.low, plan.additional
    if not additional and low <= required:
        return core
    most = low + _UNBOUNDED if plan.high is None else plan.high

    def draw(source: Source) -> dict[str, Any]:
        value: dict[str, Any] = core(source)
        if additional or len(value) < low:
            for item in properties:
                if len(value) < low and item.name not in value:
                    context.path.append(_token(item.name))
                    value[item.name] = item.draw(source)
                    context.path.pop()
            if additional:
                # The choices of an unusable name stay in the record, so that a replay makes the same choices.
                kinds = plan.additional
                has_spans = source.__class__ is not RandomSource
                misses = 0
                while len(value) < most and misses <= _NAME_ATTEMPTS:
                    if has_spans:
                        source.start_span(ELEMENT)
                    if len(value) < plan.low:
                        source.forced(True)
                    elif not source.boolean(plan.more):
                        if has_spans:
                            source.stop_span()
                        break
                    kind = kinds[source.choice(len(kinds)) if len(kinds) > 1 else 0]
                    name = kind.name(source)
                    context.path.append(name)
                    item = kind.draw(source)
                    context.path.pop()
                    if name in value or not kind.is_name(name):
                        misses += 1
                    else:
                        value[name] = item
                        misses = 0
                    if has_spans:
                        source.stop_span()
            if len(value) < low:
                raise Rejected(plan.pointer)
        return value

    return draw


def members(
    properties: Sequence[Property],
    pointer: str,
    room: int,
    *,
    drops_null: bool = False,
    context: DrawContext | None = None,
) -> Draw:
    """Draws objects with required properties and at most `room` optional ones.

    With `drops_null`, an optional member that is null is left out, because a null in a query is sent as text, which may
    be invalid. The path of `context` contains each member while it is drawn.
    """
    steps = [(item.name, item.draw, item.share, _token(item.name)) for item in properties]

    def draw(source: Source) -> dict[str, Any]:
        value: dict[str, Any] = {}
        left = room
        # The spans of a random source are never used.
        has_spans = source.__class__ is not RandomSource
        path = None if context is None else context.path
        try:
            for name, make, share, token in steps:
                is_optional = share != 1
                if is_optional:
                    if left <= 0 or not source.boolean(share):
                        continue
                    left -= 1
                    if has_spans:
                        source.start_span(OPTIONAL)
                # A function around each draw would cost one more call per property.
                if path is not None:
                    path.append(token)
                item = make(source)
                if path is not None:
                    path.pop()
                if item is not None or not (is_optional and drops_null):
                    value[name] = item
                if is_optional and has_spans:
                    source.stop_span()
        except SourceSpent as spent:
            spent.at(pointer)
            raise
        return value

    return draw


def related(draw: Draw, properties: Sequence[Property], context: DrawContext) -> Draw:
    """Draws objects. In some of them strings or numbers are equal, ordered, or contained in each other."""
    accepts = {item.name: item.accepts for item in properties if item.accepts is not None}
    if len(accepts) < 2:
        return draw

    def drawn(source: Source) -> dict[str, Any]:
        value: dict[str, Any] = draw(source)
        if not source.boolean(_RELATED):
            return value
        first, way = source.choice(len(value) or 1), source.choice(3)
        base: Any = next(islice(value.values(), first, None), None)
        # Values of earlier responses and of dictionaries stay as they are.
        if type(base) not in (str, int, float) or context.bindings:
            return value
        made: dict[str, Any] = {}
        for name, other in value.items():
            if type(other) is type(base) and other != base and name in accepts:
                is_text = isinstance(base, str)
                found = (base, base + (other if is_text else 1), base[::-1] if is_text else base - 1)[way]
                # A validator is compiled at its first call.
                with suppress(Unsatisfiable, BudgetSpent):
                    made |= {name: found} if accepts[name](found) else {}
        return {**value, **made}

    return drawn


def is_free(form: Canonical) -> bool:
    """Whether a form admits only strings or only numbers, without `enum` or a format."""
    is_listed_or_named = form.enum is not None or bool(form.formats) or form.strings.content is not None
    return form.types <= _SCALARS and not is_listed_or_named


def _properties(nodes: Nodes, form: Canonical, inner: TextPlace) -> list[Property]:
    objects = form.objects
    found: list[Property] = []
    is_name = nodes.validator(objects.names)
    tags = inherited_tags(nodes.canon, form)
    marks = marks_among(objects.properties)
    # Objects with very many optional properties have about a dozen of them, but at least a third.
    optional = sum(name not in objects.required for name in objects.properties)
    usual = 0.5 if optional <= 24 else max(0.3, 12 / optional)
    for name, conjunction in objects.properties.items():
        is_required = name in objects.required
        if nodes.is_minimal and not is_required and objects.count.low == 0:
            continue
        try:
            if not is_name(name):
                raise Unsatisfiable(objects.names[0].pointer, f"{name!r} is not allowed as a name")
            draw = nodes.compile(conjunction, inner)
        except Unsatisfiable:
            if is_required:
                raise
            continue
        # Reading nested alternatives would cost budget that the values need, and only scalars are wanted here.
        is_plain = all(not isinstance(one.raw, dict) or _COMPOSING.isdisjoint(one.raw) for one in conjunction)
        words = topical(name, nodes.canonical(conjunction)) if inner.is_body and is_plain else ()
        words = tuple(word for word in words if inner.carries(word) and nodes.validator(conjunction)(word))
        if words and not nodes.is_minimal:
            draw = either(TOPICAL, listed(words), draw)
        # A property's own schema has precedence over the values that discriminators give it.
        admitted = list(filter(nodes.validator(conjunction), tags[name])) if name in tags else []
        if admitted:
            draw = listed(admitted)
        has_others = is_plain and not (admitted or nodes.is_minimal) and is_free(nodes.canonical(conjunction))
        accepts = partial(is_accepted, nodes.canon, conjunction, inner) if has_others else None
        share = 1.0 if is_required else SELDOM if name in marks else usual
        found.append(Property(name, draw, share, accepts))
    for name, pointer in objects.required.items():
        if name in objects.properties:
            continue
        if objects.closed_at is not None:
            raise Unsatisfiable(pointer, f"{name!r} is required, but additionalProperties forbids it")
        if not is_name(name):
            raise Unsatisfiable(pointer, f"{name!r} is required, but propertyNames forbids it")
        found.append(Property(name, nodes.compile(objects.additional, inner), 1.0))
    return found


def is_accepted(canon: Canon, conjunction: Conjunction, place: TextPlace, value: Any) -> bool:
    """Whether a conjunction admits a value and its place carries it."""
    # A predicate for each property of a large description would cost memory, and few are called. The compiler is not
    # kept: it keeps this function, and programs in reference cycles would have to wait for the garbage collector.
    return place.carries(value) and validator_of(canon, conjunction, is_strict=False)(value)


def _token(name: str) -> str:
    """Return a name as a part of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def _additional(nodes: Nodes, form: Canonical, inner: TextPlace) -> tuple[_Named, ...]:
    """Return the draws of undeclared properties: of any name, and of each name pattern."""
    objects = form.objects
    if nodes.is_minimal and objects.count.low == 0:
        return ()
    declared = objects.properties.keys() | objects.hidden
    is_valid = nodes.validator(objects.names)
    found: list[_Named] = []
    patterns = dict.fromkeys(pattern for pattern, _ in objects.pattern_properties)
    # Whether objects may have properties that are neither declared nor matched by a pattern.
    is_open = objects.closed_at is None and (
        nodes.variety_of(form) is not Variety.USUAL
        or objects.declares_additional
        or objects.count.low > 0
        or not (objects.properties or form.branches)
    )
    if is_open and wants_extra(form, nodes):
        matches = [matcher(pattern) for pattern in patterns]
        names = _names(nodes, form)

        def is_other(name: str) -> bool:
            return name not in declared and is_valid(name) and not any(matched(name) for matched in matches)

        if names is not None:
            with suppress(Unsatisfiable):
                found.append(_Named(names, nodes.compile(objects.additional, inner), is_other))
    for pattern in patterns:
        characters = alphabets.VISIBLE.intervals
        if not inner.is_body:
            # Names are sent like values, so the characters that separate values are excluded.
            characters = alphabets.common(characters, inner.alphabet.intervals)
        try:
            names = names_like(pattern, characters)
        except UnsupportedPattern:
            # The pattern has no text that can be written. The properties of such a pattern are left out and reported.
            form.opaque[form.pointer] = "patternProperties"
            continue
        for conjunction, is_name in _overlaps(form, names, is_valid):
            with suppress(Unsatisfiable):
                found.append(_Named(names, nodes.compile(conjunction, inner), is_name))
    return tuple(found)


def _overlaps(form: Canonical, names: Draw, is_valid: IsName) -> list[tuple[Conjunction, IsName]]:
    """Return the schemas of further patterns that match the same names, judged by a few drawn names."""
    declared = form.objects.properties.keys() | form.objects.hidden
    found: dict[frozenset[FacetKey], Conjunction] = {}
    for seed in range(_TRIED_NAMES):
        name = names(RandomSource(seed))
        if name not in declared and is_valid(name):
            conjunction = form.objects.of_name(name)
            found.setdefault(key_of(conjunction), conjunction)

    def has_key(key: frozenset[FacetKey]) -> IsName:
        return lambda name: name not in declared and is_valid(name) and key_of(form.objects.of_name(name)) == key

    return [(conjunction, has_key(key)) for key, conjunction in found.items()]


def _names(nodes: Nodes, form: Canonical) -> Draw | None:
    """Draws names that `propertyNames` admits; None if no name is found."""
    if not form.objects.names:
        return texts(alphabets.NAME, 1, LONGEST_NAME)
    for place in (_NAME_PLACE, _ANY_NAME_PLACE):
        with suppress(Unsatisfiable):
            draw = nodes.compile((*form.objects.names, _TEXT), place)
            if different(draw, nodes.context, 1):
                return draw
    return None
