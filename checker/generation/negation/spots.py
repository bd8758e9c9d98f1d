"""Where a keyword stands, what else holds there, and one way to break it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from checker.core.errors import Unsatisfiable
from checker.generation.compiling import Compiler
from checker.generation.forms import Canonical, Conjunction, Facet
from checker.generation.places import Place
from checker.generation.turn import Draw
from checker.validation.pointers import pointer_child

_FOLLOWED = frozenset({"$ref", "allOf"})


@dataclass(frozen=True, slots=True)
class Way:
    """One way to break one keyword of one place."""

    pointer: str
    """Of the keyword, or of the member of it that is broken."""
    keyword: str
    was: object
    """What the schema says there."""
    compile: Callable[[], Draw]
    """Draws values that break it and satisfy everything else. Raises `Unsatisfiable`."""


@dataclass(frozen=True, slots=True)
class Spot:
    """One facet of a canonical form."""

    compiler: Compiler
    form: Canonical
    facet: Facet
    said: Mapping[str, Any]
    """Keywords of the facet."""
    place: Place

    def pointer(self, *tokens: str) -> str:
        """Pointer of something in the facet."""
        return pointer_child(self.facet.pointer, *tokens)

    def rest(self, *keywords: str) -> Conjunction:
        """All that holds but these keywords of the facet."""
        return self._without(keywords, lambda facet: facet is self.facet)

    def rest_of_all(self, *keywords: str) -> Conjunction:
        """All that holds but these keywords, whoever says them."""
        return self._without(keywords, lambda facet: True)

    def _without(self, keywords: tuple[str, ...], is_meant: Callable[[Facet], bool]) -> Conjunction:
        left_out = frozenset(keywords)
        return tuple(
            replace(
                facet,
                without=facet.without | _FOLLOWED | (left_out if is_meant(facet) else frozenset()),
            )
            for facet in self.form.facets
        )

    def made(self, name: str, raw: Mapping[str, Any]) -> Facet:
        """A schema that is not in the document. Equal names in one spot have to mean the same."""
        return Facet(dict(raw), self.pointer("not", name), is_made=True)

    def draw(self, conjunction: Conjunction) -> Draw:
        """Positive draws. Raises `Unsatisfiable`."""
        return self.compiler.compile(conjunction, self.place)

    def replaced(self, keywords: tuple[str, ...], name: str, raw: Mapping[str, Any]) -> Draw:
        """Draws of what satisfies `raw` instead of some keywords. Raises `Unsatisfiable`.

        When somebody else says the same, all of them are broken together: there is no other way.
        """
        instead = self.made(name, raw)
        try:
            return self.draw((*self.rest(*keywords), instead))
        except Unsatisfiable:
            if not any(
                name in facet.raw
                for facet in self.form.facets
                if facet is not self.facet and isinstance(facet.raw, dict)
                for name in keywords
            ):
                raise
            return self.draw((*self.rest_of_all(*keywords), instead))


Breaker = Callable[[Spot, Any], Iterator[Way]]
"""Ways to break a keyword with some value."""


def mixed(*makes: Callable[[], Draw]) -> Draw:
    """Draws of those that are possible, the first one as often as all the others. Raises `Unsatisfiable`."""
    draws: list[Draw] = []
    reason: Unsatisfiable | None = None
    for make in makes:
        try:
            draws.append(make())
        except Unsatisfiable as error:
            reason = reason or error
    if not draws:
        raise reason or Unsatisfiable("#", "there is no way")
    if len(draws) == 1:
        return draws[0]
    weighted = [*draws[1:], *[draws[0]] * (len(draws) - 1)]
    weighted.reverse()
    count = len(weighted)
    return lambda source: weighted[source.choice(count)](source)
