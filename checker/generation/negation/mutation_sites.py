"""The site of a keyword: the facet that contains it, and the rest of the conjunction."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from checker.core.errors import Unsatisfiable
from checker.core.schema import pointer_child
from checker.generation.drawing.compiling import Compiler
from checker.generation.drawing.places import TextPlace
from checker.generation.normalization.forms import ARRAY, FOLLOWED, NULL, OBJECT, Canonical, Conjunction, Facet, made
from checker.generation.sources.basic import one_of
from checker.generation.sources.context import Draw, retried

_UNEVALUATED: Final = ("unevaluatedProperties", "unevaluatedItems")


class Mutation(Struct, frozen=True):
    """One way to break one keyword at one place."""

    pointer: str  # Pointer to the keyword, or to its broken member.
    keyword: str
    was: object  # The value of the keyword, or the broken member of it.
    compile_part: Callable[[], Draw]
    """Return draws of values that break the keyword and satisfy all others. Raises `Unsatisfiable`."""
    is_alone: bool = True  # False if breaking the keyword breaks another one, too.


class MutationSite(Struct, frozen=True):
    """One facet of a canonical form."""

    compiler: Compiler
    form: Canonical
    facet: Facet
    said: Mapping[str, Any]  # Keywords of the facet.
    place: TextPlace
    whole: Conjunction  # The conjunction that the form was read from.

    def pointer(self, *tokens: str) -> str:
        """Return the pointer of a part of the facet."""
        return pointer_child(self.facet.pointer, *tokens)

    def rest(self, *keywords: str, everywhere: bool = False) -> Conjunction:
        """Return the conjunction without these keywords of the facet; with `everywhere`, of all facets of the document."""
        # The constraints derived from a `not` are derived again from what remains of it.
        pushed = tuple(f"{pointer_child(key[0], 'not')}/" for key in self.form.pushed)
        given = {facet.key for facet in self.whole}
        return tuple(
            _cut(facet, keywords if facet is self.facet or (everywhere and not facet.is_made) else ())
            for facet in self.form.facets
            if facet.key in given or not (facet.is_made or f"{facet.pointer}/".startswith(pushed))
        )

    def made(self, name: str, raw: Mapping[str, Any]) -> Facet:
        """Return a facet that is not in the document. Within a site, equal names must stand for equal schemas."""
        return made(self.facet, f"{self.facet.tag}~{name}", dict(raw))

    def below(self, value: object, *tokens: str) -> Facet:
        """Return a schema inside the facet."""
        return self.facet.below(value, *tokens)

    def draw(self, conjunction: Conjunction, place: TextPlace | None = None) -> Draw:
        """Return draws of valid values, at the place of the site or at another one. Raises `Unsatisfiable`."""
        # The search for variety takes up to sixty draws. Here, each breach has a different wrong part anyway.
        return self.compiler.compile(conjunction, place or self.place, is_varied=False)

    def valid(self, python: type[dict[str, Any]] | type[list[Any]]) -> Draw:
        """Return draws of valid objects or arrays. Raises `Unsatisfiable`."""
        kind, types = OBJECT if python is dict else ARRAY, self.form.types
        # Draws of a schema without `type` may have any type, whatever its keywords constrain.
        if types - {NULL} != {kind}:
            return self.narrowed(kind, {"type": kind})
        draw = self.draw(self.whole)
        return self.retried(draw, lambda value: isinstance(value, python), "type") if NULL in types else draw

    def narrowed(self, name: str, raw: Mapping[str, Any], without: tuple[str, ...] = ()) -> Draw:
        """Return draws of the rest of the conjunction that also satisfy `raw`. Raises `Unsatisfiable`."""
        return self.draw((*self.rest(*without), self.made(name, raw)))

    def retried(self, draw: Draw, accepts: Callable[[Any], bool], keyword: str) -> Draw:
        """Return draws of accepted values. If none is found, the error points to the keyword."""
        return retried(draw, accepts, self.compiler.context, self.pointer(keyword))

    def mentions_elsewhere(self, keyword: str) -> bool:
        """Whether another facet of the document has this keyword."""
        return any(
            keyword in facet.raw
            for facet in self.form.facets
            if facet is not self.facet and isinstance(facet.raw, dict) and not facet.is_made
        )

    def replaced(self, keywords: tuple[str, ...], name: str, raw: Mapping[str, Any]) -> Draw:
        """Return draws of values that satisfy `raw` in place of some keywords. Raises `Unsatisfiable`.

        If several schemas of the conjunction have a keyword, it can only be broken in all of them together.
        """
        try:
            return self.narrowed(name, raw, keywords)
        except Unsatisfiable:
            if not any(map(self.mentions_elsewhere, keywords)):
                raise
            return self.draw((*self.rest(*keywords, everywhere=True), self.made(name, raw)))


def _cut(facet: Facet, keywords: tuple[str, ...]) -> Facet:
    """Return the facet without some keywords, and without those that refer to other facets."""
    raw, without = facet.raw, facet.without | FOLLOWED | frozenset(keywords)
    if not isinstance(raw, dict) or not any(name in raw and name not in without for name in _UNEVALUATED):
        return replace(facet, without=without)
    # The validator could no longer tell which properties a reference or an alternative evaluates. A derived facet is
    # judged by the walk, which still knows them.
    kept = {name: value for name, value in raw.items() if name not in without}
    kept |= {name: facet.below(kept[name], name) for name in _UNEVALUATED if name in kept}
    tag = f"{facet.tag}~cut {' '.join(sorted(without))}"
    return replace(facet, raw=kept, is_made=True, annotates=True, tag=tag, without=frozenset())


Breaker = Callable[[MutationSite, str, Any], Iterator[Mutation]]
"""Yields the ways to break a keyword with a given value."""


def breaker(
    compile_part: Callable[[MutationSite, str, Any], Draw], when: Callable[[MutationSite, Any], bool] | None = None
) -> Breaker:
    """Return the breaker of a keyword that can be broken in one way, if `when` holds."""

    def mutations(site: MutationSite, keyword: str, value: Any) -> Iterator[Mutation]:
        if when is None or when(site, value):
            yield Mutation(site.pointer(keyword), keyword, value, partial(compile_part, site, keyword, value))

    return mutations


def mixed(*makes: Callable[[], Draw], shares: tuple[int, ...] = ()) -> Draw:
    """Return draws from the possible ones, with equal shares unless `shares` is given. Raises `Unsatisfiable`.

    Shrinking ends with the first possible one.
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
    # A choice between identical draws would only make records longer.
    return draws[0] if all(draw is draws[0] for draw in draws) else one_of(draws)


def first_of(*makes: Callable[[], Draw]) -> Draw:
    """Return the first possible draw. Raises `Unsatisfiable`."""
    for make in makes[:-1]:
        with suppress(Unsatisfiable):
            return make()
    return makes[-1]()
