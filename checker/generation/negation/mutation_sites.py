"""The place of a keyword, the rest of what holds there, and one way to break it."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from checker.core.errors import Unsatisfiable
from checker.generation.drawing.compiling import Compiler
from checker.generation.drawing.places import TextPlace
from checker.generation.normalization.forms import FOLLOWED, Canonical, Conjunction, Facet, FacetKey, made
from checker.generation.sources.context import Draw
from checker.schema.pointers import pointer_child

_UNEVALUATED: Final = ("unevaluatedProperties", "unevaluatedItems")


class Mutation(Struct, frozen=True):
    """One way to break one keyword of one place."""

    pointer: str
    """Of the keyword, or of the member of it that is broken."""
    keyword: str
    was: object
    """What the schema says there."""
    compile: Callable[[], Draw]
    """Draws values that break it and satisfy everything else. Raises `Unsatisfiable`."""
    is_alone: bool = True
    """False when something else cannot but be broken with it."""


class MutationSite(Struct, frozen=True):
    """One facet of a canonical form."""

    compiler: Compiler
    form: Canonical
    facet: Facet
    said: Mapping[str, Any]
    """Keywords of the facet."""
    place: TextPlace
    given: frozenset[FacetKey]
    """Facets of the conjunction that the form was read from."""

    def pointer(self, *tokens: str) -> str:
        """Pointer of something in the facet."""
        return pointer_child(self.facet.pointer, *tokens)

    def rest(self, *keywords: str) -> Conjunction:
        """All that holds but these keywords of the facet."""
        return self._without(keywords, lambda facet: facet is self.facet)

    def rest_of_all(self, *keywords: str) -> Conjunction:
        """Return the conjunction without these keywords, in whichever schema they stand."""
        return self._without(keywords, lambda facet: not facet.is_made)

    def _without(self, keywords: tuple[str, ...], is_meant: Callable[[Facet], bool]) -> Conjunction:
        left_out = frozenset(keywords)
        # What a `not` means is read again from the `not`.
        pushed = tuple(f"{pointer_child(key[0], 'not')}/" for key in self.form.pushed)
        return tuple(
            _cut(facet, left_out if is_meant(facet) else frozenset())
            for facet in self.form.facets
            if facet.key in self.given or not (facet.is_made or f"{facet.pointer}/".startswith(pushed))
        )

    def made(self, name: str, raw: Mapping[str, Any]) -> Facet:
        """A schema that is not in the document. Equal names in one spot have to mean the same."""
        return made(self.facet, f"{self.facet.tag}~{name}", dict(raw))

    def below(self, value: object, *tokens: str) -> Facet:
        """A schema inside the facet."""
        return self.facet.below(value, *tokens)

    def draw(self, conjunction: Conjunction) -> Draw:
        """Positive draws. Raises `Unsatisfiable`."""
        return self.compiler.compile(conjunction, self.place)

    def is_said_elsewhere(self, keyword: str) -> bool:
        """True when another facet speaks of the same."""
        return any(
            keyword in facet.raw
            for facet in self.form.facets
            if facet is not self.facet and isinstance(facet.raw, dict) and not facet.is_made
        )

    def replaced(self, keywords: tuple[str, ...], name: str, raw: Mapping[str, Any]) -> Draw:
        """Draws values that satisfy `raw` instead of some keywords. Raises `Unsatisfiable`.

        When another schema says the same, all of them are broken together: there is no other way.
        """
        instead = self.made(name, raw)
        try:
            return self.draw((*self.rest(*keywords), instead))
        except Unsatisfiable:
            if not any(map(self.is_said_elsewhere, keywords)):
                raise
            return self.draw((*self.rest_of_all(*keywords), instead))


def _cut(facet: Facet, left_out: frozenset[str]) -> Facet:
    """The facet without some keywords, and without what leads to other facets."""
    raw, without = facet.raw, facet.without | FOLLOWED | left_out
    if not isinstance(raw, dict) or not any(name in raw and name not in without for name in _UNEVALUATED):
        return replace(facet, without=without)
    # What a reference or an alternative evaluates is not known to what is left: nobody but us can look at it.
    kept = {name: value for name, value in raw.items() if name not in without}
    kept |= {name: facet.below(kept[name], name) for name in _UNEVALUATED if name in kept}
    tag = f"{facet.tag}~cut {' '.join(sorted(without))}"
    return replace(facet, raw=kept, is_made=True, annotates=True, tag=tag, without=frozenset())


Breaker = Callable[[MutationSite, Any], Iterator[Mutation]]
"""Ways to break a keyword with some value."""


def mixed(*makes: Callable[[], Draw], shares: tuple[int, ...] = ()) -> Draw:
    """Draws of those that are possible, equally often without `shares`. Raises `Unsatisfiable`.

    The first is what shrinking ends with.
    """
    draws: list[Draw] = []
    reason: Unsatisfiable | None = None
    for make, share in zip(makes, shares or [1] * len(makes), strict=True):
        try:
            draws.extend([make()] * share)
        except Unsatisfiable as error:
            reason = reason or error
    if not draws:
        raise reason or Unsatisfiable("#", "there is no way")
    return one_of(draws)


def first_of(*makes: Callable[[], Draw]) -> Draw:
    """The first of them that is possible. Raises `Unsatisfiable`."""
    for make in makes[:-1]:
        try:
            return make()
        except Unsatisfiable:
            continue
    return makes[-1]()


def one_of(draws: list[Draw]) -> Draw:
    """Any of them."""
    count = len(draws)
    if all(draw is draws[0] for draw in draws):
        return draws[0]
    return lambda source: draws[source.choice(count)](source)


_SIZED: Final = {"minLength": "string", "minItems": "array", "minProperties": "object"}


def too_small(spot: MutationSite, value: Any, *, lowest: str, highest: str) -> Iterator[Mutation]:
    """Yield the mutation below a minimum of characters, items or properties: by one, or by any number."""
    if value < 1:
        return
    few, of_kind = int(value) - 1, {"type": _SIZED[lowest]}
    near = of_kind | {lowest: few, highest: few}
    far = of_kind | {lowest: 0, highest: few}
    draw = partial(
        mixed,
        partial(spot.replaced, (lowest,), f"{lowest}-near", near),
        partial(spot.replaced, (lowest,), f"{lowest}-far", far),
    )
    yield Mutation(spot.pointer(lowest), lowest, value, draw)
