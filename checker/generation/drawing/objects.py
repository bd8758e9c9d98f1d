"""Objects: which properties a canonical form asks for, each compiled."""

from collections.abc import Callable, Set
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from checker.core.errors import Unsatisfiable
from checker.core.resource_names import marks_among
from checker.generation.drawing.containers import Named, ObjectPlan, Property, compile_object
from checker.generation.drawing.nodes import Nodes, Variety, different
from checker.generation.drawing.places import TextPlace, item_of
from checker.generation.normalization.discrimination import inherited_tags
from checker.generation.normalization.forms import Canonical, Conjunction, Facet, FacetKey, key_of
from checker.generation.patterns.regexes import UnsupportedPattern, matcher
from checker.generation.patterns.writing import writer
from checker.generation.presence import SELDOM_SHARE
from checker.generation.sources import alphabets
from checker.generation.sources.basic import either, listed, texts
from checker.generation.sources.choices import RandomSource, Source
from checker.generation.sources.context import Draw

_NAME_PLACE = TextPlace("name", alphabets.NAME, min_text=1)
_ANY_NAME_PLACE = TextPlace("any-name", alphabets.VISIBLE)
_LONGEST_NAME = 24
_TRIED_NAMES = 6
_TEXT = Facet({"type": "string"}, "#/name", is_made=True)
_MANY_NAMES, _SOME_NAMES = 0.8, 0.45
_FULL = 0.6
"""Share of objects with all that is declared, where objects are too much alike."""
_FREE, _OPEN, _RARE, _NEVER = 0.55, 0.3, 0.1, 0.01
"""Probability of one more property: of maps, with patterns, beside declared ones, only to fill up."""


IsName = Callable[[str], bool]


def compile_properties(nodes: Nodes, form: Canonical, place: TextPlace) -> Draw:
    """Draws objects of a form. Raises `Unsatisfiable`."""
    sizes = form.objects.count
    conflict = sizes.conflict()
    if conflict is not None:
        raise Unsatisfiable(*conflict)
    inner = item_of(place)
    additional = _additional(nodes, form, inner)
    properties = _properties(nodes, form, inner)
    needed = sum(item.required for item in properties)
    if sizes.high is not None and needed > sizes.high:
        raise Unsatisfiable(sizes.high_pointer, f"maxProperties {sizes.high} and {needed} required properties")
    low = max(sizes.low, place.min_items)
    if low > nodes.max_text // 4:
        raise Unsatisfiable(sizes.low_pointer, f"minProperties {low} is more than can be sent")
    if not additional and low > len(properties):
        raise Unsatisfiable(
            sizes.low_pointer or form.pointer, f"{low} properties are needed and {len(properties)} possible"
        )
    if nodes.is_minimal and low <= len(properties):
        additional = ()
    more = _NEVER if nodes.is_minimal else _share(form)
    variety = nodes.variety_of(form)
    if variety is not Variety.USUAL:
        is_named = form.objects.properties and variety is not Variety.MOST
        more = _SOME_NAMES if is_named else _MANY_NAMES
    plan = ObjectPlan(form.pointer, tuple(properties), low, sizes.high, additional, more)
    draw = compile_object(plan, nodes.context)
    fits = sizes.high is None or len(properties) <= sizes.high
    if variety is not Variety.MOST or needed == len(properties) or not fits:
        return draw
    full = tuple(item if item.likely < 1 else replace(item, required=True) for item in properties)
    return either(_FULL, compile_object(replace(plan, properties=full), nodes.context), draw)


def wants_extra(form: Canonical, nodes: Nodes) -> bool:
    """Whether an object gets undeclared properties: not if there may be none and none is needed."""
    if nodes.allows_extra or form.objects.count.low > len(form.objects.properties):
        return True
    return any(isinstance(facet.raw, dict) and facet.raw for facet in form.objects.additional)


def _share(form: Canonical) -> float:
    if not form.objects.properties:
        return _FREE
    return _OPEN if form.objects.pattern_properties else _RARE


def _properties(nodes: Nodes, form: Canonical, inner: TextPlace) -> list[Property]:
    found: list[Property] = []
    is_name = nodes.validator(form.objects.names)
    tags = inherited_tags(nodes.canon, form)
    marks = marks_among(form.objects.properties)
    for name, conjunction in form.objects.properties.items():
        is_required = name in form.objects.required
        if nodes.is_minimal and not is_required and form.objects.count.low == 0:
            continue
        try:
            if not is_name(name):
                raise Unsatisfiable(form.objects.names[0].pointer, f"{name!r} may not be a name")
            draw = nodes.compile(conjunction, inner)
            draw = _tagged(nodes, conjunction, tags.get(name, ()), draw)
        except Unsatisfiable:
            if is_required:
                raise
            continue
        likely = SELDOM_SHARE if name in marks else 1
        found.append(Property(name, _at(nodes, name, draw, inner), is_required, likely))
    for name, pointer in form.objects.required.items():
        if name in form.objects.properties:
            continue
        if form.objects.closed_at is not None:
            raise Unsatisfiable(pointer, f"{name!r} is required, but additionalProperties forbids it")
        if not is_name(name):
            raise Unsatisfiable(pointer, f"{name!r} is required, but propertyNames forbids it")
        draw = nodes.compile(form.objects.additional, inner)
        found.append(Property(name, _at(nodes, name, draw, inner), True))
    return found


def _tagged(nodes: Nodes, conjunction: Conjunction, tags: tuple[str, ...], draw: Draw) -> Draw:
    """Return the discriminator values of a property; its own schema wins."""
    admitted = list(filter(nodes.validator(conjunction), tags)) if tags else ()
    return listed(admitted) if admitted else draw


def _additional(nodes: Nodes, form: Canonical, inner: TextPlace) -> tuple[Named, ...]:
    """Return the draw of undeclared properties; nothing when nothing else is drawn."""
    if nodes.is_minimal and form.objects.count.low == 0:
        return ()
    declared = form.objects.properties.keys() | form.objects.hidden
    is_valid = nodes.validator(form.objects.names)
    found: list[Named] = []
    patterns = dict.fromkeys(pattern for pattern, _ in form.objects.pattern_properties)
    if _is_open(form, nodes.variety_of(form)) and wants_extra(form, nodes):
        is_other = _is_other(declared, [matcher(pattern) for pattern in patterns])
        if form.objects.names:
            is_other = _both(is_other, is_valid)
        _append(found, nodes, (form.objects.additional, inner), _names(nodes, form), is_other)
    for pattern in patterns:
        names = _names_like(pattern, inner)
        if names is None:
            form.opaque[form.pointer] = "patternProperties"
            continue
        for conjunction, is_named in _overlaps(form, names, is_valid):
            _append(found, nodes, (conjunction, inner), names, is_named)
    return tuple(found)


def _is_other(declared: Set[str], matches: list[IsName]) -> IsName:
    """Whether a name is undeclared and matches no pattern."""
    if not matches:
        return lambda name: name not in declared
    return lambda name: name not in declared and not any(matched(name) for matched in matches)


def _both(first: IsName, second: IsName) -> IsName:
    return lambda name: first(name) and second(name)


def _overlaps(
    form: Canonical, names: Draw, is_valid: Callable[[str], bool]
) -> list[tuple[Conjunction, Callable[[str], bool]]]:
    """Return the schemas that hold for names that match a pattern: a few names are tried, since they may match others."""
    declared = form.objects.properties.keys() | form.objects.hidden
    found: dict[frozenset[FacetKey], Conjunction] = {}
    for seed in range(_TRIED_NAMES):
        name = names(RandomSource(seed))
        if name not in declared and is_valid(name):
            conjunction = form.objects.of_name(name)
            found.setdefault(key_of(conjunction), conjunction)

    def named(key: frozenset[FacetKey]) -> Callable[[str], bool]:
        return lambda name: name not in declared and is_valid(name) and key_of(form.objects.of_name(name)) == key

    return [(conjunction, named(key)) for key, conjunction in found.items()]


def _is_open(form: Canonical, variety: Variety) -> bool:
    """True when a property that is neither declared nor named by a pattern makes sense."""
    if form.objects.closed_at is not None:
        return False
    if variety is not Variety.USUAL:
        return True
    if form.objects.declares_additional or form.objects.count.low > 0:
        return True
    return not form.objects.properties and not form.branches


def _append(
    found: list[Named],
    nodes: Nodes,
    child: tuple[Conjunction, TextPlace],
    names: Draw | None,
    is_name: Callable[[str], bool],
) -> None:
    if names is None:
        return
    try:
        found.append(Named(names, nodes.compile(*child), is_name))
    except Unsatisfiable:
        return


def _names(nodes: Nodes, form: Canonical) -> Draw | None:
    if not form.objects.names:
        return texts(alphabets.NAME, 1, _LONGEST_NAME)
    for place in (_NAME_PLACE, _ANY_NAME_PLACE):
        with suppress(Unsatisfiable):
            draw = nodes.compile((*form.objects.names, _TEXT), place)
            if different(draw, nodes.context):
                return draw
    return None


def _names_like(pattern: str, inner: TextPlace) -> Draw | None:
    characters = alphabets.VISIBLE.intervals
    if not inner.is_body:
        # Names travel like values: not with what separates them.
        characters = alphabets.common(characters, inner.alphabet.intervals)
    try:
        written = writer(pattern, characters)
    except UnsupportedPattern:
        return None
    most = max(written.low, _LONGEST_NAME)
    return lambda source: written.write(source, 0, most)


def _at(nodes: Nodes, name: str, draw: Draw, place: TextPlace) -> Draw:
    """`draw`, while the path of the context says which property is drawn."""
    if not nodes.reuses or not place.is_body:
        return draw
    token = name.replace("~", "~0").replace("/", "~1")
    context = nodes.context

    def drawn(source: Source) -> Any:
        context.path.append(token)
        value = draw(source)
        context.path.pop()
        return value

    return drawn
