"""Valid values at the edges of a schema: the most usual one first, then one change at a time."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain, count, islice
from typing import Any, Final

from msgspec import Struct, field

from checker.core.errors import BudgetSpent, InfiniteRecursiveReference, Unsatisfiable
from checker.core.resource_names import marks_among
from checker.core.schema import UnresolvableReference
from checker.generation.boundaries.scalars import numbers_of, texts_of
from checker.generation.boundaries.values import Boundary, Scenario, Walk, deep, distinct, many_items, with_fractions
from checker.generation.drawing.compiling import Compiler
from checker.generation.drawing.objects import wants_extra
from checker.generation.drawing.places import TextPlace, item_of
from checker.generation.normalization import forms
from checker.generation.normalization.discrimination import discriminated
from checker.generation.normalization.forms import Branches, Canonical, Conjunction, Facet, FacetKey, key_of
from checker.generation.normalization.reading import authors_values, meant_types
from checker.generation.patterns.regexes import UnsupportedPattern
from checker.generation.patterns.writing import writer
from checker.generation.sources import alphabets
from checker.generation.sources.context import Rejected
from checker.generation.sources.replay import SimplestSource
from checker.schema.pointers import pointer_child

_MOST: Final = 1_000
"""Items of an array; a longer one is not shown."""
_VARIED: Final = 20_000
"""Items of all arrays in which one item is varied: 5,002 members in an array of 5,000 items took minutes to compare."""
_ANY: Final = "*"
_WORDS: Final = {
    Scenario.ARRAY: "Valid array",
    Scenario.NEAR_ITEMS: "Near-boundary items array",
    Scenario.MOST_ITEMS: "Maximum items array",
}
_REASONS = (Unsatisfiable, BudgetSpent, Rejected)


def usual_array(walk: Walk, form: Canonical, conjunction: Conjunction, place: TextPlace) -> Any:
    """The array of the smallest size. Raises `Unsatisfiable`."""
    if not (form.arrays.count.low or form.arrays.contained or place.min_items or form.needs_check):
        return []
    return walk.narrowed(conjunction, place, "array", {"type": "array"})


def arrays_of(
    walk: Walk, form: Canonical, conjunction: Conjunction, place: TextPlace, path: tuple[str, ...]
) -> Iterator[Boundary]:
    """The usual array, arrays of other sizes, arrays with other items. Raises `Unsatisfiable`."""
    template = walk.usual(conjunction, place)
    if not isinstance(template, list):
        template = usual_array(walk, form, conjunction, place)
    at, sizes = form.type_pointer or form.pointer, form.arrays.count
    yield Boundary(template, _WORDS[Scenario.ARRAY], Scenario.ARRAY, at, None, True)
    count = len(template)
    low_at, high_at = sizes.low_pointer or at, sizes.high_pointer
    wanted = [(count + 1, Scenario.NEAR_ITEMS if count else Scenario.ARRAY, low_at, "minItems")]
    if sizes.high is not None:
        wanted.append((sizes.high, Scenario.MOST_ITEMS, high_at, "maxItems"))
        wanted.append((sizes.high - 1, Scenario.NEAR_ITEMS, high_at, "maxItems"))
        wanted.append((sizes.high - 2, Scenario.ARRAY, at, ""))
    wanted.append((count + 2, Scenario.ARRAY, at, ""))
    for size, scenario, pointer, keyword in wanted:
        if size > _MOST:
            walk.is_cut = True
        elif size > count and (sizes.high is None or size <= sizes.high):
            sized = {"type": "array", "minItems": size, "maxItems": size}
            try:
                value = walk.narrowed(conjunction, place, f"array {size}", sized)
            except _REASONS:
                continue
            yield Boundary(value, _WORDS[scenario], scenario, pointer, keyword or None, True)
    yield from _with_items(walk, form, template, place, path)
    if (
        sizes.high is None
        and form.arrays.items
        and not (form.arrays.unique or form.arrays.prefix or form.arrays.contained)
    ):
        with suppress(*_REASONS):
            yield from many_items(walk.usual(form.arrays.items, item_of(place)), place, at)


def _with_items(
    walk: Walk, form: Canonical, template: list[Any], place: TextPlace, path: tuple[str, ...]
) -> Iterator[Boundary]:
    """Each value of each item, in place of one that is there."""
    inner = item_of(place)
    count = len(form.arrays.prefix)
    for index, conjunction in enumerate(form.arrays.prefix):
        before = template[:index]
        try:
            before += [walk.usual(form.arrays.prefix[i], inner) for i in range(len(before), index)]
        except _REASONS:
            break
        yield from _at(walk, (conjunction, inner), (*path, str(index)), before, template)
    if not form.arrays.is_closed and (form.arrays.items or not form.arrays.prefix):
        first = max(count, len(form.arrays.contained))
        before = template[:first]
        try:
            before += [walk.usual(form.arrays.prefix[i], inner) for i in range(len(before), count)]
        except _REASONS:
            return
        yield from _at(walk, (form.arrays.items, inner), (*path, _ANY), before, template)


def _at(
    walk: Walk, child: tuple[Conjunction, TextPlace], path: tuple[str, ...], before: list[Any], template: list[Any]
) -> Iterator[Boundary]:
    after = template[len(before) + 1 :]

    def put(value: Any) -> list[Any]:
        return [*before, value, *after]

    most = max(1, _VARIED // max(1, len(template)))
    try:
        for number, found in enumerate(walk.values(*child, path)):
            if number == most:
                walk.is_cut = True
                break
            if found.scenario is Scenario.ENUM:
                text = "Array with an enum item: "
            else:
                text = "Array with valid item: "
            yield found.inside(put, text)
    except _REASONS:
        return


ADDITIONAL: Final = "x-checker-additional"
_LONGEST_NAME: Final = 24
_NAMES: Final = TextPlace("any-name", alphabets.VISIBLE)
"""Properties that are listed one by one."""


def usual_object(walk: Walk, form: Canonical, conjunction: Conjunction, place: TextPlace) -> Any:
    """Return the object with the required properties and the wanted optional ones. Raises `Unsatisfiable`."""
    inner = item_of(place)
    sizes = form.objects.count
    value = _declared(walk, form, inner, max(sizes.low, place.min_items))
    for name in [name for name in value if name not in form.objects.required]:
        if sizes.high is None or len(value) <= sizes.high:
            break
        del value[name]
    low = max(sizes.low, place.min_items)
    if len(value) >= low:
        return value
    if form.objects.names or form.objects.closed_at is not None or low > _MOST:
        # What chance draws has a limit; these are listed without asking.
        found: dict[str, Any] = walk.narrowed(conjunction, place, "object", {"type": "object"})
        return found
    names = (name for name in _additional_names() if name not in value)
    for name in list(islice(names, low - len(value))):
        value[name] = walk.usual(form.objects.of_name(name), inner)
    return value


def _declared(walk: Walk, form: Canonical, inner: TextPlace, low: int) -> dict[str, Any]:
    """Return the declared properties of the usual object: more optional ones than usual where it needs `low` properties."""
    value: dict[str, Any] = {}
    waiting: dict[str, Conjunction] = {}
    for name, child in form.objects.properties.items():
        try:
            if name in form.objects.required or _is_usual(walk, form, name, inner):
                value[name] = walk.usual(child, inner)
            elif not walk.is_lean:
                waiting[name] = child
        except _REASONS:
            if name in form.objects.required:
                raise
    for name in form.objects.required:
        if name not in value:
            value[name] = walk.usual(form.objects.additional, inner)
    for name, child in waiting.items():
        if len(value) >= low:
            break
        with suppress(*_REASONS):
            value[name] = walk.usual(child, inner)
    return value


def _is_usual(walk: Walk, form: Canonical, name: str, inner: TextPlace) -> bool:
    """Whether the usual object has an optional property. Servers alone make marks of pages."""
    if walk.is_lean or name in marks_among(form.objects.properties):
        return False
    has_all = walk.is_full or (walk.completes and not form.objects.required)
    return has_all or walk.is_given(form.objects.properties[name], inner)


def objects_of(
    walk: Walk, form: Canonical, conjunction: Conjunction, place: TextPlace, path: tuple[str, ...]
) -> Iterator[Boundary]:
    """The usual object and what differs from it in one respect. Raises `Unsatisfiable`."""
    template = walk.usual(conjunction, place)
    if not isinstance(template, dict):
        template = usual_object(walk, form, conjunction, place)
    at, inner = form.type_pointer or form.pointer, item_of(place)
    yield Boundary(template, "Valid object", Scenario.OBJECT, at, None, True)
    required = {name: one for name, one in form.objects.properties.items() if name in form.objects.required}
    rest = {name: one for name, one in form.objects.properties.items() if name not in required}
    # A list may end at its first failure, and optional properties are refused more often.
    yield from _with_each(walk, required, template, inner, path)
    full = template if walk.is_lean else walk.full(conjunction, place)
    yield from _other_sets(form, template, full if isinstance(full, dict) else template, at)
    yield from _with_each(walk, rest, template, inner, path)
    yield from _more(walk, form, template, inner, path)


def _with_each(
    walk: Walk, properties: dict[str, Conjunction], template: dict[str, Any], inner: TextPlace, path: tuple[str, ...]
) -> Iterator[Boundary]:
    """Yield the usual object with each value of each of the properties."""
    for name, child in properties.items():
        # An example need not have all that is declared.
        if name in template or not walk.is_lean:
            text = f"Object with valid '{name}' value: "
            put = partial(_with, template, name)
            yield from _inside(walk, (child, inner), (*path, name), put, text)


def _other_sets(form: Canonical, template: dict[str, Any], full: dict[str, Any], at: str) -> Iterator[Boundary]:
    """Yield objects with other sets of the optional properties."""
    optional = [name for name in full if name not in form.objects.required]
    required = {name: value for name, value in template.items() if name in form.objects.required}
    if not optional:
        return
    if len(optional) > 1 or required:
        for name in optional:
            text = f"Object with all required properties and '{name}'"
            value = _with(required, name, full[name])
            yield Boundary(value, text, Scenario.SOME_OPTIONAL, at, None, True)
    for size in range(2, len(optional)):
        value = required | {name: full[name] for name in optional[:size]}
        text = f"Object with required and {size} optional properties"
        yield Boundary(value, text, Scenario.SOME_OPTIONAL, at, None, True)
    text = "Object with all properties"
    yield Boundary(full, text, Scenario.SOME_OPTIONAL, at, None, True)
    text = "Object with only required properties"
    yield Boundary(required, text, Scenario.ONLY_REQUIRED, at, "required", True)


def _more(
    walk: Walk, form: Canonical, template: dict[str, Any], inner: TextPlace, path: tuple[str, ...]
) -> Iterator[Boundary]:
    """With one property that is not declared."""
    is_open = form.objects.closed_at is None and wants_extra(form, walk.compiler)
    if is_open and (form.objects.declares_additional or not form.objects.properties):
        text = "Object with additional property: "
        name = _extra_name(walk, form, template)
        put = partial(_with, template, name)
        yield from _inside(walk, (form.objects.of_name(name), inner), (*path, _ANY), put, text)
    for pattern, facet in form.objects.pattern_properties:
        try:
            written = writer(pattern, alphabets.VISIBLE.intervals)
        except UnsupportedPattern:
            continue
        name = written.write(SimplestSource(), 0, max(written.low, _LONGEST_NAME))
        if name not in form.objects.properties and name not in form.objects.hidden:
            text = f"Object with pattern key '{name}' ('{pattern}') value: "
            put = partial(_with, template, name)
            yield from _inside(walk, ((facet,), inner), (*path, name), put, text)


def _extra_name(walk: Walk, form: Canonical, template: dict[str, Any]) -> str:
    """The name of a property that is not declared, as `propertyNames` has it where that is said."""
    usual = next(name for name in _additional_names() if name not in template)
    if not form.objects.names or walk.compiler.validator(form.objects.names)(usual):
        return usual
    try:
        wanted = {"type": "string", "minLength": 1}
        name: str = walk.narrowed(form.objects.names, _NAMES, "name", wanted)
    except _REASONS:
        return usual
    return name


def _additional_names() -> Iterator[str]:
    yield ADDITIONAL
    for number in count(1):
        yield f"{ADDITIONAL}{number}"


def _inside(
    walk: Walk, child: tuple[Conjunction, TextPlace], path: tuple[str, ...], put: Any, text: str
) -> Iterator[Boundary]:
    try:
        for found in walk.values(*child, path):
            yield found.inside(put, text)
    except _REASONS:
        return


def _with(value: dict[str, Any], name: str, item: Any) -> dict[str, Any]:
    return {**value, name: item}


_VISITS: Final = 3
"""Places of a value where all values of the same schema are shown; elsewhere, but for the top properties, it has its
usual one."""
_NODES: Final = 2_000
"""Parts of usual values; beyond them only what is required is there."""
_AGAIN: Final = 2
"""Times that a schema is found inside itself before the recursion ends."""
_DEEPEST: Final = 24
_RANKS: Final = 16
Path = tuple[str, ...]
Key = tuple[frozenset[FacetKey], TextPlace]


class Edges(Struct):
    """Walks through the schemas of one value."""

    compiler: Compiler
    is_cut: bool = False
    """True when some part was not shown in full, for its size."""
    is_lean: bool = False
    """True where nothing optional is put in any more."""
    is_full: bool = False
    """True where usual objects have all declared properties. Otherwise they have the required ones, and of the optional ones
    those with a value of the description: servers refuse many invented ones, and every case stands around the usual value."""
    completes: bool = False
    """True where an object that requires nothing has all of its properties: the description says nothing of what may be missing."""
    _nodes: int = _NODES
    _visits: dict[Key, int] = field(default_factory=dict)
    _seen: set[tuple[Path, Key]] = field(default_factory=set)
    _usual: dict[Key, Any] = field(default_factory=dict)
    _whole: dict[Key, Any] = field(default_factory=dict)
    """Usual values of those that stand in nothing else."""
    _open: dict[Key, int] = field(default_factory=dict)
    _cuts: int = 0
    _given: dict[Key, bool] = field(default_factory=dict)
    _full: "Edges | None" = None

    def values(self, conjunction: Conjunction, place: TextPlace, path: Path = ()) -> Iterator[Boundary]:
        """Values of a conjunction, not verified, equal ones among them. Raises `Unsatisfiable`."""
        conjunction = self.targets(conjunction)
        key = (key_of(conjunction), place)
        if (path, key) in self._seen:
            return iter(())
        self._seen.add((path, key))
        visits = self._visits[key] = self._visits.get(key, 0) + 1
        if visits > _VISITS and len(path) > 1:
            self.is_cut = True
            return iter(())
        return self._of_form(self.compiler.canonical(conjunction), conjunction, place, path)

    def usual(self, conjunction: Conjunction, place: TextPlace) -> Any:
        """The first valid value, made once. Raises `Unsatisfiable`."""
        conjunction = self.targets(conjunction)
        key = (key_of(conjunction), place)
        known = self._usual if self._open else self._whole
        if key in known:
            return known[key]
        self._nodes -= 1
        depth = self._open.get(key, 0)
        if depth >= 2 * _AGAIN:
            raise InfiniteRecursiveReference(form_pointer(conjunction))
        was_lean, cuts = self.is_lean, self._cuts
        if depth >= _AGAIN or self._nodes < 0 or len(self._open) >= _DEEPEST:
            self.is_lean = self.is_cut = True
            self._cuts += 1
        self._open[key] = depth + 1
        try:
            value = self._first(conjunction, place)
        finally:
            self.is_lean = was_lean
            self._open[key] = depth
            if not depth:
                del self._open[key]
        if self._cuts == cuts and not was_lean:
            # What was cut short depends on where it stands.
            self._usual[key] = value
        if not self._open:
            self._whole[key] = value
        return value

    def full(self, conjunction: Conjunction, place: TextPlace) -> Any:
        """Return the usual value with all optional properties; without them if such a value is not found. Raises `Unsatisfiable`."""
        if not self.is_full:
            self._full = self._full or Edges(self.compiler, is_full=True)
            with suppress(Unsatisfiable, BudgetSpent, Rejected):
                return self._full.usual(conjunction, place)
        return self.usual(conjunction, place)

    def is_given(self, conjunction: Conjunction, place: TextPlace) -> bool:
        """Whether the description itself gives the usual value: an example, a default, or one of a closed set. Raises `Unsatisfiable`.

        An object needs a given value for each required property and for one at least; an array needs items.
        """
        conjunction = self.targets(conjunction)
        key = (key_of(conjunction), place)
        if key not in self._given:
            # A schema that contains itself gives no value through itself.
            self._given[key] = False
            form = self.compiler.canonical(conjunction)
            self._given[key] = self._gives(form, conjunction, place)
        return self._given[key]

    def _gives(self, form: Canonical, conjunction: Conjunction, place: TextPlace) -> bool:
        types = form.types - {forms.NULL}
        if form.impossible is not None:
            return False
        if form.enum is not None or types <= {forms.BOOLEAN} or any(self._said(form, conjunction, place)):
            return True
        inner = item_of(place)
        if form.branches:
            branches = self.alternatives(form)
            values = (one for one in branches if not self._is_null(one))
            return any(self.is_given(one, place) for one in islice(values, 1))
        if types == {forms.OBJECT}:
            given = {name for name, one in form.objects.properties.items() if self.is_given(one, inner)}
            needed = form.objects.required or (form.objects.properties if self.completes else ())
            return bool(given) and given.issuperset(needed)
        has_items = types == {forms.ARRAY} and form.arrays.count.low > 0
        return has_items and self.is_given(form.arrays.items, inner)

    def _is_null(self, conjunction: Conjunction) -> bool:
        return self.compiler.canonical(self.targets(conjunction)).types == {forms.NULL}

    def targets(self, conjunction: Conjunction) -> Conjunction:
        """The conjunction with references followed. Raises `Unsatisfiable`."""
        try:
            return tuple(map(self.compiler.canon.target, conjunction))
        except UnresolvableReference as error:
            raise Unsatisfiable(form_pointer(conjunction), str(error)) from error

    def drawn(
        self, conjunction: Conjunction, place: TextPlace, accepts: Callable[[Any], bool] = lambda value: True
    ) -> Any:
        """The simplest value that the draw program gives. Raises `Unsatisfiable`."""
        draw = self.compiler.compile(conjunction, place)
        context = self.compiler.context
        with context.aside():
            for rank in range(_RANKS):
                context.begin(None)
                try:
                    value = draw(SimplestSource(rank))
                except Rejected:
                    continue
                if accepts(value):
                    return value
        raise Unsatisfiable(form_pointer(conjunction), "no value was found that is valid")

    def narrowed(self, conjunction: Conjunction, place: TextPlace, tag: str, raw: dict[str, Any]) -> Any:
        """The simplest value that satisfies `raw` as well. Equal tags of a conjunction have to mean the same."""
        at = pointer_child(form_pointer(conjunction), "boundary")
        made = Facet(raw, at, is_made=True, tag=tag)
        return self.drawn((*conjunction, made), place)

    def _first(self, conjunction: Conjunction, place: TextPlace) -> Any:
        form = self.compiler.canonical(conjunction)
        is_valid = self.compiler.validator(conjunction) if _is_checked(form) else _anything
        for boundary in self._usual_ones(form, conjunction, place):
            if is_valid(boundary.value) and place.carries(boundary.value):
                return boundary.value
        return self.drawn(conjunction, place, is_valid)

    def _usual_ones(self, form: Canonical, conjunction: Conjunction, place: TextPlace) -> Iterator[Boundary]:
        """Candidates for the usual value; nothing below is varied."""
        yield from self._said(form, conjunction, place)
        if form.enum is not None:
            yield from self._listed(form, place)
        elif form.branches:
            for branch in self.alternatives(form):
                try:
                    value = self.usual(branch, place)
                except (Unsatisfiable, BudgetSpent):
                    continue
                yield Boundary(value, "", Scenario.OBJECT, form.pointer, None, True)
        else:
            for kind in self._kinds(form, place):
                usual = {forms.OBJECT: usual_object, forms.ARRAY: usual_array}.get(kind)
                if usual is not None:
                    value = usual(self, form, conjunction, place)
                    yield Boundary(value, "", Scenario.OBJECT, form.pointer, None, True)
                else:
                    yield from self._of_kind(kind, form, conjunction, place, ())

    def _of_form(self, form: Canonical, conjunction: Conjunction, place: TextPlace, path: Path) -> Iterator[Boundary]:
        if form.impossible is not None:
            raise Unsatisfiable(form.impossible.pointer, form.impossible.text)
        yield from self._said(form, conjunction, place)
        if form.enum is not None:
            yield from self._listed(form, place)
            return
        if form.branches:
            for branch in self.alternatives(form):
                yield from safely(self.values(branch, place, path))
            return
        kinds = self._kinds(form, place)
        if path and len(kinds) > 1 and form.types == frozenset(forms.TYPES):
            # Anything goes: the usual one of each type and another one are enough.
            for kind in kinds:
                found = self._of_kind(kind, form, conjunction, place, path)
                yield from islice(safely(found), 2)
            yield from deep(place, form.type_pointer or form.pointer)
            return
        for kind in kinds:
            yield from safely(self._of_kind(kind, form, conjunction, place, path))

    def _of_kind(
        self, kind: str, form: Canonical, conjunction: Conjunction, place: TextPlace, path: Path
    ) -> Iterator[Boundary]:
        at = form.type_pointer or form.pointer
        match kind:
            case forms.NULL:
                yield Boundary(None, "Null value", Scenario.NULL, at, None, True)
            case forms.BOOLEAN:
                for value in (True, False):
                    yield Boundary(value, "Valid boolean value", Scenario.BOOLEAN, at, None, True)
            case forms.INTEGER | forms.NUMBER:
                yield from numbers_of(form)
            case forms.STRING:
                yield from texts_of(self, form, conjunction, place)
            case forms.ARRAY:
                yield from arrays_of(self, form, conjunction, place, path)
            case _:
                yield from objects_of(self, form, conjunction, place, path)

    def _said(self, form: Canonical, conjunction: Conjunction, place: TextPlace) -> Iterator[Boundary]:
        """Examples and defaults that are valid."""
        if not form.examples:
            return
        is_valid = self.compiler.validator(conjunction)
        for facet in form.facets:
            for pointer, value, is_default in authors_values(facet):
                if place.carries(value) and is_valid(value):
                    scenario = Scenario.DEFAULT if is_default else Scenario.EXAMPLE
                    text = "Default value" if is_default else "Example value"
                    yield Boundary(value, text, scenario, pointer, None, True)

    def _listed(self, form: Canonical, place: TextPlace) -> Iterator[Boundary]:
        at = form.enum_pointer
        is_const = at.endswith("/const")
        scenario, text = (Scenario.CONST, "Const value") if is_const else (Scenario.ENUM, "Enum value")
        for value in form.enum or ():
            if place.carries_listed(value) or place.is_body:
                yield Boundary(value, text, scenario, at, "const" if is_const else "enum", True)

    def alternatives(self, form: Canonical) -> Iterator[Conjunction]:
        """Each branch of the first alternatives with all the rest."""
        branches: Branches = form.branches[0]
        base = form.base(branches.owner, branches.keyword)
        pinned = discriminated(self.compiler.canon, branches)
        for index, alternative in enumerate(branches.alternatives):
            yield (*base, *alternative, *(pinned[index] if pinned else ()))

    def _kinds(self, form: Canonical, place: TextPlace) -> list[str]:
        """Types worth showing, those first that most is said of."""
        types = set(form.types)
        if forms.NUMBER in types:
            types.discard(forms.INTEGER)
        if not place.allows_null and len(types) > 1:
            types.discard(forms.NULL)
        if form.types == frozenset(forms.TYPES):
            meant = meant_types(form)
            if meant:
                return meant
            if not place.is_body:
                # Nobody could say whether a text without a type is a list or an object.
                types -= {forms.ARRAY, forms.OBJECT}
        return [kind for kind in _ORDER if kind in types]


_ORDER: Final = (
    forms.STRING, forms.INTEGER, forms.NUMBER, forms.BOOLEAN, forms.OBJECT, forms.ARRAY, forms.NULL,
)  # fmt: skip


def positives(edges: Edges, conjunction: Conjunction, place: TextPlace) -> Iterator[Boundary]:
    """Valid values, each once, the usual one first. Raises `Unsatisfiable` when there is none."""
    is_valid = _of_json(edges.compiler.validator(conjunction))
    usual = edges.usual(conjunction, place)
    shown: set[Any] = set()
    found = edges.values(conjunction, place)
    first: list[Boundary] = []
    # Its description stands where it is listed; what comes before is not lost.
    for boundary in found:
        first.append(boundary)
        if distinct(boundary.value) == distinct(usual) or len(first) >= _RANKS:
            break
    named = next((b for b in first if distinct(b.value) == distinct(usual)), None)
    at = form_pointer(conjunction)
    if named is None:
        named = Boundary(usual, "Valid value", Scenario.DEFAULT_CASE, at, None, True)
    odd = with_fractions(edges.full(conjunction, place), place, at)
    for boundary in chain((named,), first, safely(found), odd):
        key = distinct(boundary.value)
        # The usual value may be carried escaped: where a pattern allows no other, it was drawn so.
        is_carried = boundary is named or place.carries(boundary.value)
        if key not in shown and is_carried and is_valid(boundary.value):
            shown.add(key)
            yield boundary


def form_pointer(conjunction: Conjunction) -> str:
    """Return the JSON pointer of a conjunction."""
    return conjunction[0].pointer if conjunction else "#"


def safely(found: Iterator[Boundary]) -> Iterator[Boundary]:
    """Yield the boundaries that come before an error, and drop the error."""
    try:
        yield from found
    except (Unsatisfiable, BudgetSpent, Rejected):
        return


def _of_json(is_valid: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return a test of values that may hold bytes: only the draw program can judge bytes."""
    return lambda value: has_bytes(value) or is_valid(value)


def has_bytes(value: Any) -> bool:
    """True when some part is no JSON."""
    if isinstance(value, dict):
        return any(map(has_bytes, value.values()))
    if isinstance(value, list):
        return any(map(has_bytes, value))
    return isinstance(value, bytes)


def _is_checked(form: Canonical) -> bool:
    """True when a value that is put together may be wrong as a whole."""
    excluded = form.excluded
    return bool(
        form.needs_check
        or form.opaque
        or form.branches
        or form.enum is not None
        or form.objects.names
        or form.objects.count.low
        or form.objects.count.high is not None
        or excluded.values
        or excluded.steps
    )


def _anything(value: Any) -> bool:
    return True
