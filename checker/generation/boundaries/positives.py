"""Valid values at the edges of a schema: the usual value first, then values with one change."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain, count, islice
from typing import Any, Final

from msgspec import Struct, field

from checker.core.case import NamedFile
from checker.core.errors import BudgetSpent, InfiniteRecursiveReference, Unsatisfiable
from checker.core.operation import Location
from checker.core.resource_names import marks_among
from checker.core.schema import pointer_child
from checker.generation.boundaries.scalars import FILE_NAME, any_texts, format_texts, numbers_of, signs_text
from checker.generation.boundaries.values import Boundary, Scenario, deep, distinct, many_items, with_fractions
from checker.generation.drawing.compiling import Compiler
from checker.generation.drawing.files import files_of
from checker.generation.drawing.formats import FORMATS
from checker.generation.drawing.objects import wants_extra
from checker.generation.drawing.places import TextPlace, item_of, location_of
from checker.generation.drawing.texts import file_of
from checker.generation.normalization import forms
from checker.generation.normalization.discrimination import ways_of
from checker.generation.normalization.forms import Canonical, Conjunction, Facet, FacetKey, key_of, pointer_of
from checker.generation.normalization.reading import authors_values, meant_types
from checker.generation.regex_writing import names_like
from checker.generation.regexes import UnsupportedPattern
from checker.generation.sources import alphabets
from checker.generation.sources.context import NO_VALUE, Rejected
from checker.generation.sources.replay import SimplestSource

_VISITS: Final = 3
"""Number of places at which all values of one schema are listed; at further places it has its usual value, except for top
properties. Without this limit, an address schema in ten places would fill the list.
"""
_NODES: Final = 2_000  # Parts of a usual value. Beyond them only required parts are added.
_AGAIN: Final = 2  # How often a recursive schema is entered before the recursion ends.
_DEEPEST: Final = 24
_RANKS: Final = 16
_MOST_NODES: Final = 500_000  # Nodes of a value. Properties that fan out over levels of shared schemas have far more.
_MOST: Final = 1_000  # Items of an array. Longer arrays are not listed.
_VARIED: Final = 20_000
"""Items of all arrays in which one item is varied: comparing 5,002 values of an array of 5,000 items took minutes."""
_ANY: Final = "*"
_FILLER: Final = "0"
_NAMES: Final = TextPlace("any-name", alphabets.VISIBLE)
ADDITIONAL: Final = "x-checker-additional"
_ORDER: Final = (
    forms.STRING, forms.INTEGER, forms.NUMBER, forms.BOOLEAN, forms.OBJECT, forms.ARRAY, forms.NULL,
)  # fmt: skip
_WORDS: Final = {
    Scenario.STRING: "Valid string",
    Scenario.SHORTEST: "Minimum length string",
    Scenario.LONGEST: "Maximum length string",
    Scenario.NEAR_LENGTH: "Near-boundary length string",
    Scenario.ARRAY: "Valid array",
    Scenario.NEAR_ITEMS: "Near-boundary items array",
    Scenario.MOST_ITEMS: "Maximum items array",
}
_ITEM_WORDS: Final = {Scenario.ENUM: "Array with an enum item: "}
Path = tuple[str, ...]
Key = tuple[frozenset[FacetKey], TextPlace]


class Edges(Struct):
    """The walk through the schemas of one value."""

    compiler: Compiler
    is_cut: bool = False  # Whether some part was left out because of its size.
    is_lean: bool = False  # Whether optional parts are left out from now on.
    is_full: bool = False
    """Whether usual objects have all declared properties. Otherwise they have the required properties, and optional ones only
    if the description gives a value: servers refuse many invented values, and every case contains the usual value.
    """
    completes: bool = False
    """Whether an object without required properties gets all of its properties, because the description does not tell which ones may be missing."""
    _nodes: int = _NODES
    _visits: dict[Key, int] = field(default_factory=dict)
    _seen: set[tuple[Path, Key]] = field(default_factory=set)
    _usual: dict[Key, Any] = field(default_factory=dict)
    _whole: dict[tuple[bool, bool, Key], tuple[Conjunction, Any]] = field(default_factory=dict)
    """(`is_full`, `completes`, schema) at the root of a value -> conjunction and usual value. Walks with the same compiler share this cache."""
    _open: dict[Key, int] = field(default_factory=dict)
    _cuts: int = 0
    _given: dict[Key, bool] = field(default_factory=dict)
    _full: "Edges | None" = None

    def values(self, conjunction: Conjunction, place: TextPlace, path: Path = ()) -> Iterator[Boundary]:
        """Return values of a conjunction, unverified and with repetitions. Raises `Unsatisfiable`."""
        conjunction = self.compiler.targets(conjunction)
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
        """Return the first valid value, made once. Raises `Unsatisfiable`."""
        conjunction = self.compiler.targets(conjunction)
        key = (key_of(conjunction), place)
        root = self.is_full, self.completes, key
        if self._open and key in self._usual:
            return self._usual[key]
        whole = None if self._open else self._whole.get(root)
        # Facets that are derived for different demands have the same key.
        if whole is not None and whole[0] == conjunction:
            return whole[1]
        self._nodes -= 1
        depth = self._open.get(key, 0)
        if depth >= 2 * _AGAIN:
            raise InfiniteRecursiveReference(pointer_of(conjunction))
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
            # A value that was cut short depends on its depth, so it is not kept.
            self._usual[key] = value
        if not self._open:
            self._whole[root] = conjunction, value
        return value

    def full(self, conjunction: Conjunction, place: TextPlace) -> Any:
        """Return the usual value with all optional properties, or without them if no such value is found. Raises `Unsatisfiable`."""
        if not self.is_full:
            self._full = self._full or Edges(self.compiler, is_full=True, _whole=self._whole)
            with suppress(Unsatisfiable, BudgetSpent, Rejected):
                return self._full.usual(conjunction, place)
        return self.usual(conjunction, place)

    def is_given(self, conjunction: Conjunction, place: TextPlace) -> bool:
        """Whether the usual value comes from the description: an example, a default, or a member of an `enum`. Raises `Unsatisfiable`.

        For an object, each required property and at least one property must have such a value. An array must have items.
        """
        conjunction = self.compiler.targets(conjunction)
        key = (key_of(conjunction), place)
        if key not in self._given:
            # A schema that contains itself gives no value through itself. This entry ends the recursion.
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
            canonical, targets = self.compiler.canonical, self.compiler.targets
            values = (one for one in self.alternatives(form) if canonical(targets(one)).types != {forms.NULL})
            return any(self.is_given(one, place) for one in islice(values, 1))
        if types == {forms.OBJECT}:
            given = {name for name, one in form.objects.properties.items() if self.is_given(one, inner)}
            needed = form.objects.required or (form.objects.properties if self.completes else ())
            return bool(given) and given.issuperset(needed)
        has_items = types == {forms.ARRAY} and form.arrays.count.low > 0
        return has_items and self.is_given(form.arrays.items, inner)

    def drawn(
        self, conjunction: Conjunction, place: TextPlace, accepts: Callable[[Any], bool] = lambda value: True
    ) -> Any:
        """Return the simplest accepted value of the draw program. Raises `Unsatisfiable`."""
        draw = self.compiler.compile(conjunction, place)
        context = self.compiler.context
        with context.aside():
            # The simplest value may break constraints that draws ignore, such as `not`. Each rank starts one step larger.
            for rank in range(_RANKS):
                context.begin(None)
                try:
                    value = draw(SimplestSource(rank))
                except Rejected:
                    continue
                if accepts(value):
                    return value
        raise Unsatisfiable(pointer_of(conjunction), "no value was found that is valid")

    def narrowed(self, conjunction: Conjunction, place: TextPlace, tag: str, raw: dict[str, Any]) -> Any:
        """Return the simplest value that satisfies `raw` as well. Equal tags of a conjunction must mean the same."""
        at = pointer_child(pointer_of(conjunction), "boundary")
        made = Facet(raw, at, is_made=True, tag=tag)
        return self.drawn((*conjunction, made), place)

    def _first(self, conjunction: Conjunction, place: TextPlace) -> Any:
        form = self.compiler.canonical(conjunction)
        if form.impossible is not None:
            raise Unsatisfiable(form.impossible.pointer, form.impossible.text)
        # A value composed of valid parts may be invalid as a whole.
        is_checked = (
            form.needs_check
            or form.opaque
            or form.branches
            or form.enum is not None
            or form.objects.names
            or form.objects.count.low
            or form.objects.count.high is not None
            or form.excluded.values
            or form.excluded.steps
        )
        is_valid = self.compiler.validator(conjunction) if is_checked else lambda value: True
        for boundary in self._usual_ones(form, conjunction, place):
            if is_valid(boundary.value) and place.carries(boundary.value):
                return boundary.value
        return self.drawn(conjunction, place, is_valid)

    def _usual_ones(self, form: Canonical, conjunction: Conjunction, place: TextPlace) -> Iterator[Boundary]:
        """Yield candidates for the usual value; no part of them is varied."""
        yield from self._said(form, conjunction, place)
        node = _Node(self, form, conjunction, place)
        if form.enum is not None:
            yield from self._listed(form, place)
        elif form.branches:
            for branch in self.alternatives(form):
                with suppress(Unsatisfiable, BudgetSpent):
                    yield node.boundary(self.usual(branch, place))
        else:
            for kind in self._kinds(form, place):
                if kind == forms.OBJECT:
                    yield node.boundary(_usual_object(node))
                elif kind == forms.ARRAY:
                    yield node.boundary(_usual_array(node))
                else:
                    yield from _of_kind(kind, node)

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
        node, kinds = _Node(self, form, conjunction, place, path), self._kinds(form, place)
        is_any = bool(path) and len(kinds) > 1 and form.types == frozenset(forms.TYPES)
        for kind in kinds:
            # If any value is valid, two values of each type are enough.
            yield from islice(safely(_of_kind(kind, node)), 2 if is_any else None)
        if is_any:
            yield from deep(place, node.pointer)

    def _said(self, form: Canonical, conjunction: Conjunction, place: TextPlace) -> Iterator[Boundary]:
        """Yield valid examples and defaults, then values from prose and from other places of the description."""
        if not (form.examples or form.told):
            return
        is_valid = self.compiler.validator(conjunction)
        for facet in form.facets:
            for pointer, value, is_default in authors_values(facet):
                if place.carries(value) and is_valid(value):
                    scenario = Scenario.DEFAULT if is_default else Scenario.EXAMPLE
                    text = "Default value" if is_default else "Example value"
                    yield Boundary(value, text, scenario, pointer)
        for value in form.told if not form.examples and form.enum is None else ():
            if place.carries(value) and is_valid(value):
                scenario = Scenario.STRING if isinstance(value, str) else Scenario.NUMBER
                yield Boundary(value, "Value from the prose of the description", scenario, form.pointer)

    def _listed(self, form: Canonical, place: TextPlace) -> Iterator[Boundary]:
        is_const = form.enum_pointer.endswith("/const")
        scenario, text = (Scenario.CONST, "Const value") if is_const else (Scenario.ENUM, "Enum value")
        for value in form.enum or ():
            if place.carries_listed(value) or place.is_body:
                yield Boundary(value, text, scenario, form.enum_pointer, "const" if is_const else "enum")

    def alternatives(self, form: Canonical) -> Iterator[Conjunction]:
        """Yield each branch of the first alternatives, together with all other constraints."""
        return ways_of(self.compiler.canon, form, form.branches[0])

    def _kinds(self, form: Canonical, place: TextPlace) -> list[str]:
        """Return the types of which values are listed, the most important first."""
        types = set(form.types)
        if forms.NUMBER in types:
            # The numbers to show include integers.
            types.discard(forms.INTEGER)
        # Such a place writes null as an empty text or as `null`.
        if not place.allows_null and len(types) > 1:
            types.discard(forms.NULL)
        if form.types == frozenset(forms.TYPES):
            meant = meant_types(form)
            if meant:
                return meant
            if not place.is_body:
                # Without a type, no reader can tell whether a text is a list or an object.
                types -= {forms.ARRAY, forms.OBJECT}
        return [kind for kind in _ORDER if kind in types]


class _Node(Struct, frozen=True):
    """A schema that the walk has reached, and the place of its values in the request."""

    edges: Edges
    form: Canonical
    conjunction: Conjunction
    place: TextPlace
    path: Path = ()

    @property
    def pointer(self) -> str:
        """Pointer to the `type` keyword, or to the schema if it has no `type`."""
        return self.form.type_pointer or self.form.pointer

    @property
    def inner(self) -> TextPlace:
        """Place of the parts inside values of this schema."""
        return item_of(self.place)

    def boundary(
        self, value: Any, text: str = "", scenario: Scenario = Scenario.OBJECT, pointer: str = "", keyword: str = ""
    ) -> Boundary:
        return Boundary(value, text, scenario, pointer or self.pointer, keyword or None)

    def narrowed(self, tag: str, raw: dict[str, Any]) -> Any:
        """Return the simplest value that satisfies `raw` as well. Equal tags must mean the same."""
        return self.edges.narrowed(self.conjunction, self.place, tag, raw)

    def inside(self, child: Conjunction, token: str, put: Callable[[Any], Any], text: str = "") -> Iterator[Boundary]:
        """Yield the values of a part, each inside a value of this schema."""
        with suppress(*NO_VALUE):
            for found in self.edges.values(child, self.inner, (*self.path, token)):
                yield found.inside(put, text or _ITEM_WORDS.get(found.scenario, "Array with valid item: "))


def _of_kind(kind: str, node: _Node) -> Iterator[Boundary]:
    """Yield the values of one type; the first one is the usual value. Raises `Unsatisfiable`."""
    match kind:
        case forms.NULL:
            yield node.boundary(None, "Null value", Scenario.NULL)
        case forms.BOOLEAN:
            for value in (True, False):
                yield node.boundary(value, "Valid boolean value", Scenario.BOOLEAN)
        case forms.INTEGER | forms.NUMBER:
            yield from numbers_of(node.form)
        case forms.STRING:
            yield from _texts(node)
        case forms.ARRAY:
            yield from _arrays(node)
        case _:
            yield from _objects(node)


def _texts(node: _Node) -> Iterator[Boundary]:
    """Yield strings of each relevant length, then unusual strings."""
    form, strings, lengths, place = node.form, node.form.strings, node.form.strings.lengths, node.place
    is_formatted = any(name in FORMATS or name in node.edges.compiler.formats for name in form.formats)
    is_said = is_formatted or strings.content is not None
    if (is_said or strings.patterns) and not lengths.low and lengths.high is None:
        # The simplest text, preferably not empty.
        try:
            value = node.narrowed("text", {"type": "string", "minLength": 1})
        except NO_VALUE:
            value = node.narrowed("empty text", {"type": "string"})
        yield _text(node, value, Scenario.STRING)
        yield from _named_file(node, value)
        for text in format_texts(form):
            yield _text(node, text, Scenario.STRING)
        if not strings.patterns:
            return
    value = None
    for size, scenario, pointer, keyword in _sizes(node):
        value = _of_size(node, size)
        if value is not None:
            yield _text(node, value, scenario, pointer, keyword)
    yield from _named_file(node, value)
    if place.carries_empty and not lengths.low:
        yield node.boundary("", "Empty string", Scenario.STRING)
    # In a path, an unusual text names a resource that does not exist: the 404 shows nothing.
    is_free = not (is_said or strings.patterns or form.formats)
    if is_free and location_of(place) is not Location.PATH:
        for text, description in any_texts(form):
            if not place.alphabet.permits(text):
                continue
            yield node.boundary(text, description, Scenario.STRING)
        signs = signs_text(form)
        if signs:
            yield node.boundary(signs, "String of signs", Scenario.SIGNS)


def _named_file(node: _Node, value: Any) -> Iterator[Boundary]:
    """Yield files of the types that the bytes may have, and one with an unusual name."""
    if isinstance(value, bytes):
        lengths = node.form.strings.lengths
        for content in files_of(*file_of(node.form, node.place)):
            if lengths.low <= len(content) and (lengths.high is None or len(content) <= lengths.high):
                yield node.boundary(content, "Valid file", Scenario.STRING)
        yield node.boundary(NamedFile(value, FILE_NAME), "File with an odd name", Scenario.SIGNS)


def _text(node: _Node, value: Any, scenario: Scenario, pointer: str = "", keyword: str = "") -> Boundary:
    if isinstance(value, bytes):
        return node.boundary(value, "Valid binary content", Scenario.BINARY, pointer, keyword)
    return node.boundary(value, _WORDS[scenario], scenario, pointer, keyword)


def _sizes(node: _Node) -> Iterator[tuple[int, Scenario, str, str]]:
    """Yield (length, scenario, pointer, keyword). Pointer and keyword are empty if no keyword sets the length."""
    lengths = node.form.strings.lengths
    low, high = max(lengths.low, node.place.min_text), lengths.high
    if lengths.low:
        yield low, Scenario.SHORTEST, lengths.low_pointer, "minLength"
        yield low + 1, Scenario.NEAR_LENGTH, lengths.low_pointer, "minLength"
    else:
        # Many servers refuse an empty text that the description permits, and every other case contains the usual value.
        yield max(low, 1), Scenario.STRING, "", ""
    if high is not None:
        yield high, Scenario.LONGEST, lengths.high_pointer, "maxLength"
        yield high - 1, Scenario.NEAR_LENGTH, lengths.high_pointer, "maxLength"
        yield high - 2, Scenario.STRING, "", ""
    for size in range(low, low + 3):
        yield size, Scenario.STRING, "", ""


def _of_size(node: _Node, size: int) -> str | bytes | None:
    form, strings, place = node.form, node.form.strings, node.place
    low, high = max(strings.lengths.low, place.min_text), strings.lengths.high
    if size < low or (high is not None and size > high) or size > node.edges.compiler.max_text:
        return None
    is_plain = not (strings.patterns or form.formats or strings.content or form.excluded.patterns)
    # Only the length matters here, so no program is compiled.
    if is_plain and place.alphabet.permits(_FILLER):
        return _FILLER * size
    with suppress(*NO_VALUE):
        value: str | bytes = node.narrowed(f"text {size}", {"type": "string", "minLength": size, "maxLength": size})
        return value
    return None


def _usual_array(node: _Node) -> Any:
    """Return the array of the smallest size. Raises `Unsatisfiable`."""
    arrays = node.form.arrays
    # An empty array is the smallest, and servers cannot refuse any of its items.
    if not (arrays.count.low or arrays.contained or node.place.min_items or node.form.needs_check):
        return []
    return node.narrowed("array", {"type": "array"})


def _arrays(node: _Node) -> Iterator[Boundary]:
    """Yield the usual array, arrays of other sizes, arrays with other items."""
    edges, arrays, sizes = node.edges, node.form.arrays, node.form.arrays.count
    template = edges.usual(node.conjunction, node.place)
    if not isinstance(template, list):
        template = _usual_array(node)
    yield node.boundary(template, _WORDS[Scenario.ARRAY], Scenario.ARRAY)
    size_now = len(template)
    wanted = [(size_now + 1, Scenario.NEAR_ITEMS if size_now else Scenario.ARRAY, sizes.low_pointer, "minItems")]
    if sizes.high is not None:
        wanted.append((sizes.high, Scenario.MOST_ITEMS, sizes.high_pointer, "maxItems"))
        wanted.append((sizes.high - 1, Scenario.NEAR_ITEMS, sizes.high_pointer, "maxItems"))
        wanted.append((sizes.high - 2, Scenario.ARRAY, "", ""))
    wanted.append((size_now + 2, Scenario.ARRAY, "", ""))
    for size, scenario, pointer, keyword in wanted:
        if size > _MOST:
            edges.is_cut = True
        elif size > size_now and (sizes.high is None or size <= sizes.high):
            with suppress(*NO_VALUE):
                value = node.narrowed(f"array {size}", {"type": "array", "minItems": size, "maxItems": size})
                yield node.boundary(value, _WORDS[scenario], scenario, pointer, keyword)
    yield from _with_items(node, template)
    # Only if an item may be repeated without limit: the array repeats one item.
    if sizes.high is None and arrays.items and not (arrays.unique or arrays.prefix or arrays.contained):
        with suppress(*NO_VALUE):
            yield from many_items(edges.usual(arrays.items, node.inner), node.place, node.pointer)


def _with_items(node: _Node, template: list[Any]) -> Iterator[Boundary]:
    """Yield the usual array with each value of each item."""
    arrays = node.form.arrays
    children = [(index, index, str(index), one) for index, one in enumerate(arrays.prefix)]
    if not arrays.is_closed and (arrays.items or not arrays.prefix):
        first = max(len(arrays.prefix), len(arrays.contained))
        children.append((first, len(arrays.prefix), _ANY, arrays.items))
    most = max(1, _VARIED // max(1, len(template)))
    for first, declared, token, conjunction in children:
        before = template[:first]
        try:
            before += [node.edges.usual(arrays.prefix[at], node.inner) for at in range(len(before), declared)]
        except NO_VALUE:
            return
        put = partial(_between, before, template[len(before) + 1 :])
        for number, found in enumerate(node.inside(conjunction, token, put)):
            if number == most:
                node.edges.is_cut = True
                break
            yield found


def _between(before: list[Any], after: list[Any], value: Any) -> list[Any]:
    return [*before, value, *after]


def _usual_object(node: _Node) -> Any:
    """Return the object with the required properties and the wanted optional ones. Raises `Unsatisfiable`."""
    objects, high = node.form.objects, node.form.objects.count.high
    low = max(objects.count.low, node.place.min_items)
    # Optional properties beyond `maxProperties` go first, because the required ones must stay.
    value = _declared(node, low)
    for name in [name for name in value if name not in objects.required]:
        if high is None or len(value) <= high:
            break
        del value[name]
    if len(value) >= low:
        return value
    if objects.names or objects.closed_at is not None or low > _MOST:
        return node.narrowed("object", {"type": "object"})
    # Random drawing caps the number of properties, so the additional ones are enumerated here.
    names = (name for name in _additional_names() if name not in value)
    for name in list(islice(names, low - len(value))):
        value[name] = node.edges.usual(objects.of_name(name), node.inner)
    return value


def _declared(node: _Node, low: int) -> dict[str, Any]:
    """Return the declared properties of the usual object. More optional properties are added until the object has `low` properties."""
    edges, objects = node.edges, node.form.objects
    value: dict[str, Any] = {}
    waiting: dict[str, Conjunction] = {}
    has_all = edges.is_full or (edges.completes and not objects.required)
    # Only servers can make cursors and other page tokens.
    marks = marks_among(objects.properties)
    for name, child in objects.properties.items():
        try:
            is_open = not edges.is_lean and name not in marks
            if name in objects.required or (is_open and (has_all or edges.is_given(child, node.inner))):
                value[name] = edges.usual(child, node.inner)
            elif not edges.is_lean:
                waiting[name] = child
        except NO_VALUE:
            if name in objects.required:
                raise
    for name in objects.required:
        if name not in value:
            value[name] = edges.usual(objects.additional, node.inner)
    for name, child in waiting.items():
        if len(value) >= low:
            break
        with suppress(*NO_VALUE):
            value[name] = edges.usual(child, node.inner)
    return value


def _objects(node: _Node) -> Iterator[Boundary]:
    """Yield the usual object, then objects with one difference."""
    edges, objects = node.edges, node.form.objects
    template = edges.usual(node.conjunction, node.place)
    if not isinstance(template, dict):
        template = _usual_object(node)
    yield node.boundary(template, "Valid object", Scenario.OBJECT)
    # A list may end at its first failure, and servers refuse optional properties more often. Required ones come first.
    yield from _with_each(node, template, is_required=True)
    full = template if edges.is_lean else edges.full(node.conjunction, node.place)
    yield from _other_sets(node, template, full if isinstance(full, dict) else template)
    yield from _with_each(node, template, is_required=False)
    is_open = objects.closed_at is None and wants_extra(node.form, edges.compiler)
    if is_open and (objects.declares_additional or not objects.properties):
        name = _extra_name(node, template)
        put = partial(_with, template, name)
        yield from node.inside(objects.of_name(name), _ANY, put, "Object with additional property: ")
    for pattern, facet in objects.pattern_properties:
        try:
            name = names_like(pattern)(SimplestSource())
        except UnsupportedPattern:
            continue
        if name not in objects.properties and name not in objects.hidden:
            text = f"Object with pattern key '{name}' ('{pattern}') value: "
            yield from node.inside((facet,), name, partial(_with, template, name), text)


def _with_each(node: _Node, template: dict[str, Any], *, is_required: bool) -> Iterator[Boundary]:
    """Yield the usual object with each value of each required or optional property."""
    objects = node.form.objects
    for name, child in objects.properties.items():
        # An example need not have all declared properties.
        if (name in objects.required) is is_required and (name in template or not node.edges.is_lean):
            yield from node.inside(child, name, partial(_with, template, name), f"Object with valid '{name}' value: ")


def _other_sets(node: _Node, template: dict[str, Any], full: dict[str, Any]) -> Iterator[Boundary]:
    """Yield objects with other sets of the optional properties."""
    needed = node.form.objects.required
    optional = [name for name in full if name not in needed]
    required = {name: value for name, value in template.items() if name in needed}
    if not optional:
        return
    if len(optional) > 1 or required:
        for name in optional:
            text = f"Object with all required properties and '{name}'"
            yield node.boundary(_with(required, name, full[name]), text, Scenario.SOME_OPTIONAL)
    for size in range(2, len(optional)):
        value = required | {name: full[name] for name in optional[:size]}
        yield node.boundary(value, f"Object with required and {size} optional properties", Scenario.SOME_OPTIONAL)
    yield node.boundary(full, "Object with all properties", Scenario.SOME_OPTIONAL)
    text = "Object with only required properties"
    yield node.boundary(required, text, Scenario.ONLY_REQUIRED, keyword="required")


def _extra_name(node: _Node, template: dict[str, Any]) -> str:
    """Return the name of an undeclared property, valid under `propertyNames` if possible."""
    names = node.form.objects.names
    usual = next(name for name in _additional_names() if name not in template)
    if not names or node.edges.compiler.validator(names)(usual):
        return usual
    with suppress(*NO_VALUE):
        name: str = node.edges.narrowed(names, _NAMES, "name", {"type": "string", "minLength": 1})
        return name
    return usual


def _additional_names() -> Iterator[str]:
    yield ADDITIONAL
    for number in count(1):
        yield f"{ADDITIONAL}{number}"


def _with(value: dict[str, Any], name: str, item: Any) -> dict[str, Any]:
    return {**value, name: item}


def positives(edges: Edges, conjunction: Conjunction, place: TextPlace) -> Iterator[Boundary]:
    """Yield valid values, each once, the usual one first. Raises `Unsatisfiable` if there is none, `BudgetSpent` if it is too large."""
    is_valid = edges.compiler.validator(conjunction)
    usual = _usual_of(edges, conjunction, place)
    shown: set[Any] = set()
    found = edges.values(conjunction, place)
    first: list[Boundary] = []
    # The walk lists the usual value with its description, usually among the first values.
    for boundary in found:
        first.append(boundary)
        if distinct(boundary.value) == distinct(usual) or len(first) >= _RANKS:
            break
    named = next((b for b in first if distinct(b.value) == distinct(usual)), None)
    at = pointer_of(conjunction)
    if named is None:
        named = Boundary(usual, "Valid value", Scenario.DEFAULT_CASE, at, None, True)
    odd = with_fractions(edges.full(conjunction, place), place, at)
    for boundary in chain((named,), first, safely(found), odd):
        key = distinct(boundary.value)
        # The usual value may need escapes: if a pattern allows no other text, it was drawn with them.
        is_carried = boundary is named or place.carries(boundary.value)
        # Only the draw program can judge bytes, because JSON has none.
        if key not in shown and is_carried and (has_bytes(boundary.value) or is_valid(boundary.value)):
            shown.add(key)
            yield boundary


def first_positive(edges: Edges, conjunction: Conjunction, place: TextPlace) -> Any:
    """Return the first of the valid values, without a walk through the others if the usual value is valid. Raises as `positives`."""
    usual = _usual_of(edges, conjunction, place)
    if has_bytes(usual) or edges.compiler.validator(conjunction)(usual):
        return usual
    for boundary in positives(edges, conjunction, place):
        return boundary.value
    raise Unsatisfiable(pointer_of(conjunction), "no value was found that is valid")


def _usual_of(edges: Edges, conjunction: Conjunction, place: TextPlace) -> Any:
    usual = edges.usual(conjunction, place)
    if _size(usual, {}) > _MOST_NODES:
        raise BudgetSpent(pointer_of(conjunction))
    return usual


def _size(value: Any, known: dict[int, int]) -> int:
    """Return the number of nodes of a value in its written form. A shared part is counted once and added at each of its places."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in known:
        parts = value.values() if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_size(part, known) for part in parts)
    return known[id(value)]


def safely(found: Iterator[Boundary]) -> Iterator[Boundary]:
    """Yield the boundaries that come before an error, and drop the error."""
    try:
        yield from found
    except (Unsatisfiable, BudgetSpent, Rejected):
        return


def has_bytes(value: Any) -> bool:
    """Whether some part of a value is bytes, which JSON does not have."""
    if isinstance(value, dict):
        return any(map(has_bytes, value.values()))
    if isinstance(value, list):
        return any(map(has_bytes, value))
    return isinstance(value, bytes)
