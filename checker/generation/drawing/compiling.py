"""The compiler of schemas: from canonical forms to closures that draw values."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from checker.core.errors import BudgetSpent, InfiniteRecursiveReference, Unsatisfiable
from checker.core.request import Location
from checker.core.schema import UnresolvableReference
from checker.generation.drawing import alternatives
from checker.generation.drawing.alternatives import compile_enum, excluding
from checker.generation.drawing.arrays import compile_items
from checker.generation.drawing.nodes import (
    ENOUGH,
    IsValid,
    Variety,
    different,
    is_json,
    may_be_poor,
    refuse,
    validator_of,
)
from checker.generation.drawing.objects import compile_properties
from checker.generation.drawing.places import TextPlace
from checker.generation.drawing.scalars import compile_integer, compile_listed, compile_number
from checker.generation.drawing.texts import compile_string
from checker.generation.drawing.words import Words, pooled
from checker.generation.normalization import discrimination, forms
from checker.generation.normalization.canonical import Canon
from checker.generation.normalization.discrimination import emptiness, is_settled
from checker.generation.normalization.forms import Canonical, Conjunction, FacetKey, key_of, pointer_of
from checker.generation.normalization.reading import meant_types
from checker.generation.sources.basic import BOOLEAN, NULL, Strategy, either, one_of
from checker.generation.sources.choices import Source
from checker.generation.sources.context import DEEPEST, Budget, Draw, DrawContext, Unfinished, retried

_DEEPEST = 90  # Nesting of schemas. Python's stack has room for few more.
_MOST_LEAVES = 48
_SMALL_TYPES = frozenset({forms.BOOLEAN, forms.NULL})
_FREE_TYPES = (Variety.TYPES, Variety.MOST)
_MORE_VARIED = 3
_NULLS = 0.12
_EXAMPLES, _TOLD = 0.06, 0.2
"""Shares of declared examples and of values from prose. No keyword describes such texts, so they are sent more often."""
_WAY = 200  # Steps for one way to satisfy a `not` if there are other ways.
_SCALARS = (forms.STRING, forms.NUMBER, forms.BOOLEAN, forms.NULL)
Key = tuple[frozenset[FacetKey], TextPlace]


class Compiler(Struct):
    """Compiles the schemas of one operation. Each schema is compiled once."""

    canon: Canon
    context: DrawContext
    budget: Budget
    formats: Mapping[str, Strategy]
    max_text: int
    reuses: bool = False
    opaque: dict[str, str] = field(default_factory=dict)
    """Pointer -> keyword of each node whose values are drawn and then filtered, because draws cannot follow the keyword."""
    is_minimal: bool = False  # True for values with required parts only and as little recursion as possible.
    variety: Variety = Variety.USUAL
    is_sampled: bool = True
    allows_extra: bool = True  # True when objects may have undeclared properties.
    words: Mapping[str, Words] = field(default_factory=dict)  # Type -> values of users that may replace generated ones.
    _known: dict[Key, Draw | Unsatisfiable] = field(default_factory=dict)
    _open: dict[Key, list[Draw]] = field(default_factory=dict)
    _minimal: "Compiler | None" = None
    _root: str = ""  # Pointer of the schema that gets more variety.
    _leaves: int | None = None
    """Combinations of alternatives that one value may still try; None outside alternatives."""

    @property
    def size(self) -> int:
        """The number of different nodes that were compiled."""
        return len(self._known)

    def compile(self, conjunction: Conjunction, place: TextPlace, *, is_varied: bool = True) -> Draw:
        """Draws values of a conjunction. Raises `Unsatisfiable` and `BudgetSpent`.

        Draws that would repeat values get more variety, unless `is_varied` is false.
        """
        conjunction = self.targets(conjunction)
        key = (key_of(self.canon.parts(conjunction)), place)
        known = self._known.get(key)
        if isinstance(known, Unsatisfiable):
            raise known.again()
        if known is not None:
            return known
        cell = self._open.get(key)
        if cell is not None:
            # A recursive schema. The cell receives the draw when the schema is compiled.
            return self._recursive(conjunction, place, cell)
        # Python's stack has room for few more levels, and a budget error names the schema.
        if len(self._open) >= _DEEPEST:
            raise BudgetSpent(pointer_of(conjunction))
        self._open[key] = cell = []
        try:
            draw = self._compiled(conjunction, place, is_varied=is_varied)
        except Unsatisfiable as error:
            if not self.is_minimal:
                # A minimal draw may fail only because this schema is still being compiled.
                self._known[key] = error.again()
            raise
        finally:
            del self._open[key]
        cell.append(draw)
        self._known[key] = draw
        return draw

    def variety_of(self, form: Canonical) -> Variety:
        """Return the variety of a form. Only the root gets more than usual."""
        return self.variety if form.pointer == self._root else Variety.USUAL

    def _varied(self, conjunction: Conjunction, place: TextPlace, draw: Draw) -> Draw:
        """Return `draw`, or a draw with more variety if its values would repeat."""
        if self.is_minimal or self.formats or not self.is_sampled:
            return draw
        most, root = different(draw, self.context), pointer_of(conjunction)
        for variety in (Variety.NAMES, Variety.TYPES, Variety.MOST):
            if most >= ENOUGH:
                break
            # Schemas below the root stay compiled.
            known = {key: made for key, made in self._known.items() if all(at != root for at, *_ in key[0])}
            other = replace(self, variety=variety, _known=known, _open={}, _minimal=None, _root=root)
            with suppress(Unsatisfiable, BudgetSpent):
                candidate = other.compile(conjunction, place)
                count = different(candidate, self.context)
                if count > most:
                    draw, most = candidate, count
        return draw

    def targets(self, conjunction: Conjunction) -> Conjunction:
        """Return the facets with bare references resolved. Raises `Unsatisfiable` if a reference has no target."""
        try:
            return tuple(map(self.canon.target, conjunction))
        except UnresolvableReference as error:
            raise Unsatisfiable(pointer_of(conjunction), str(error)) from error

    def canonical(self, conjunction: Conjunction) -> Canonical:
        """Return the canonical form. Raises `Unsatisfiable` if a reference has no target."""
        try:
            return self.canon.canonical(conjunction)
        except UnresolvableReference as error:
            raise Unsatisfiable(pointer_of(conjunction), str(error)) from error

    def validator(self, conjunction: Conjunction, *, is_strict: bool = False) -> Callable[[Any], bool]:
        """Return a predicate that is true for values that all facets admit; with `is_strict`, formats must pass both validators."""
        return validator_of(self.canon, conjunction, is_strict=is_strict)

    def _recursive(self, conjunction: Conjunction, place: TextPlace, cell: list[Draw]) -> Draw:
        pointer = pointer_of(conjunction)
        if self.is_minimal:
            raise InfiniteRecursiveReference(pointer)
        # A second compiler for required parts ends the recursion. A depth limit alone would cut off values that would
        # then be rejected.
        if self._minimal is None:
            self._minimal = Compiler(
                self.canon,
                self.context,
                self.budget,
                self.formats,
                self.max_text,
                opaque=self.opaque,
                is_minimal=True,
                allows_extra=self.allows_extra,
            )
        minimal = self._minimal.compile(conjunction, place)
        context = self.context

        def draw(source: Source) -> Any:
            if not cell:
                # Drawn before its compilation is finished.
                raise Unfinished(pointer)
            if context.depth >= DEEPEST:
                return minimal(source)
            context.depth += 1
            try:
                return cell[0](source)
            finally:
                context.depth -= 1

        return draw

    def _compiled(self, conjunction: Conjunction, place: TextPlace, *, is_varied: bool) -> Draw:
        form = self.canonical(conjunction)
        self.budget.spend_node(form.pointer)
        refuse(form.impossible)
        if form.enum is not None:
            return compile_enum(self.canon, form, conjunction, place)
        is_valid = self.validator(conjunction)
        overlapping = [
            branches
            for branches in form.branches
            if branches.keyword == "oneOf"
            and not discrimination.discriminated(self.canon, branches)
            and not discrimination.are_disjoint(self.canon, branches)
        ]
        if form.branches:
            # Skip combinations of alternatives that a quick check proves impossible. Combinations multiply: without the
            # check, one of 59 large schemas spends its whole budget on impossible ones.
            if len(form.branches) > 1:
                refuse(emptiness(self.canon, form))
            is_alone = is_valid if form.branches[0] in overlapping else None
            draw = self._branched(form, place, is_alone)
        else:
            leaves, self._leaves = self._leaves, None
            try:
                draw = self._typed(form, conjunction, place)
            finally:
                self._leaves = leaves
            if leaves is not None:
                self._leaves = leaves - 1
        if (form.examples or form.told) and not (self.is_minimal or place.is_bytes):
            is_strictly_valid = self.validator(conjunction, is_strict=True)
            for share, values in ((_TOLD, form.told), (_EXAMPLES, form.examples)):
                carried = [one for one in values if is_json(one) and place.carries(one)]
                fitting = [one for one in carried if is_strictly_valid(one)]
                if fitting and not (len(fitting) == 1 and isinstance(fitting[0], bool)):
                    draw = either(share, compile_listed(fitting), draw)
        self.opaque.update(form.opaque)
        if overlapping or form.needs_check or form.opaque:
            draw = retried(draw, is_valid, self.context, form.pointer)
        is_usual = is_varied and len(self._open) == 1 and self.variety is Variety.USUAL
        return self._varied(conjunction, place, draw) if is_usual and may_be_poor(form) else draw

    def _branched(self, form: Canonical, place: TextPlace, is_alone: IsValid | None) -> Draw:
        """Draws one branch of the first alternatives, combined with all other constraints.

        With `is_alone` the alternatives may overlap, and a value has to satisfy exactly one.
        """
        branches = form.branches[0]
        is_outermost = self._leaves is None
        if is_outermost:
            self._leaves = _MOST_LEAVES
        try:
            draws, reason = self._alternatives(form, place, is_alone, is_outermost=is_outermost)
        finally:
            if is_outermost:
                self._leaves = None
        if not draws:
            why = f"no alternative can be chosen: {reason.reason}" if reason else "no alternatives"
            raise Unsatisfiable(branches.pointer, why)
        return one_of(draws)

    def _alternatives(
        self, form: Canonical, place: TextPlace, is_alone: IsValid | None, *, is_outermost: bool
    ) -> tuple[list[Draw], Unsatisfiable | None]:
        """Return the draws of the possible alternatives, and the error of the first impossible one."""
        branches = form.branches[0]
        if branches.keyword == "not":
            base = form.base(branches.owner, branches.keyword)
            if is_settled(self.canon, form, branches):
                return [self.compile(base, place)], None
            found: list[Draw] = []
            for way in branches.alternatives:
                if found and self._leaves is not None and self._leaves <= 0:
                    break
                with suppress(Unsatisfiable, BudgetSpent), self.budget.lent(_WAY):
                    made = self.compile((*base, *way), place)
                    found.extend([made] * self._weight(way))
            if found:
                return found, None
        draws: list[Draw] = []
        reason: Unsatisfiable | None = None
        for index, wanted in enumerate(discrimination.ways_of(self.canon, form, branches)):
            try:
                draw = self.compile(wanted, place)
                if is_alone is not None and index < alternatives.MOST:
                    others = discrimination.others_excluded(branches, index)
                    draw = alternatives.apart(self, draw, (wanted, others, place), is_alone)
                draws.extend([draw] * self._weight(branches.alternatives[index]))
            except Unsatisfiable as error:
                reason = reason or error
            # Several conditions double the combinations each, so only some combinations are compiled.
            is_enough = not is_outermost and self._leaves is not None and self._leaves <= 0
            if draws and (is_enough or self.budget.is_low):
                break
        return draws, reason

    def _weight(self, alternative: Conjunction) -> int:
        """Return the weight of an alternative. If variety is low, alternatives with few values weigh less."""
        if self.variety is Variety.USUAL:
            return 1
        return 1 if self.canonical(alternative).types <= _SMALL_TYPES else _MORE_VARIED

    def _typed(self, form: Canonical, conjunction: Conjunction, place: TextPlace) -> Draw:
        # A schema without `type` means the types that its keywords constrain.
        is_untyped = form.types == frozenset(forms.TYPES) and self.variety_of(form) not in _FREE_TYPES
        kinds = meant_types(form) if is_untyped else []
        if not kinds:
            types = set(form.types)
            if is_untyped and (self.is_minimal or not place.is_body):
                types = set(_SCALARS)
            elif forms.NUMBER in types:
                types.discard(forms.INTEGER)
            if not place.allows_null and len(types) > 1:
                types.discard(forms.NULL)
            kinds = [kind for kind in forms.TYPES if kind in types]
        if None in form.excluded.values:
            kinds = [kind for kind in kinds if kind != forms.NULL]
        draws, reason = self._of_kinds(kinds, form, conjunction, place)
        null = forms.NULL in kinds
        if not draws and not null and form.types == frozenset(forms.TYPES):
            # The keywords of a schema without `type` may exclude every value of their own type. Other types remain valid.
            others = [kind for kind in forms.TYPES if kind not in kinds and kind != forms.NULL]
            draws, _ = self._of_kinds(others, form, conjunction, place)
        if not draws and not null:
            raise reason or Unsatisfiable(form.type_pointer or form.pointer, "no type is left")
        if not draws:
            return NULL
        draw = one_of(draws)
        if null and not (self.is_minimal and form.types == frozenset(forms.TYPES)):
            return either(_NULLS, NULL, draw)
        return draw

    def _of_kinds(
        self, kinds: list[str], form: Canonical, conjunction: Conjunction, place: TextPlace
    ) -> tuple[list[Draw], Unsatisfiable | None]:
        """Return the draws of the possible types, and the error of the first impossible one."""
        draws: list[Draw] = []
        reason: Unsatisfiable | None = None
        # A boolean has only two values, so other types get most of the draws.
        weight = _MORE_VARIED if forms.BOOLEAN in kinds else 1
        for kind in kinds:
            if kind == forms.NULL:
                continue
            try:
                draw = self._of_kind(kind, form, conjunction, place)
                draws.extend([draw] * (1 if kind == forms.BOOLEAN else weight))
            except Unsatisfiable as error:
                reason = reason or error
        return draws, reason

    def _of_kind(self, kind: str, form: Canonical, conjunction: Conjunction, place: TextPlace) -> Draw:
        if kind == forms.OBJECT:
            return excluding(compile_properties(self, form, place), kind, form, self.context)
        if kind == forms.ARRAY:
            return excluding(compile_items(self, form, place), kind, form, self.context)
        if kind == forms.BOOLEAN:
            draw: Draw = BOOLEAN
        elif kind == forms.STRING:
            draw = compile_string(self, form, place)
        elif kind == forms.INTEGER:
            draw = compile_integer(form, self.context)
        else:
            draw = compile_number(form, self.context)
        draw = excluding(draw, kind, form, self.context)
        if kind in self.words:
            words = self.words[kind].at(place, self.validator(conjunction))
            draw = words.sampled(draw, self.context)
        if self.reuses and place.is_body:
            is_valid = self.validator(conjunction)
            accepts: IsValid = lambda value: place.carries(value) and is_valid(value)  # noqa: E731
            return pooled(draw, (Location.BODY, None), (kind,), accepts, self.context)
        return draw
