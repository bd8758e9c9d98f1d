"""Shrinks a failing case: fewer and smaller choices, or fewer and smaller parts."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from checker.core.case import NOT_SET, Case
from checker.core.contract import Outcome
from checker.core.errors import CheckerError, HookError
from checker.core.meta import Binding, GenerationMode, Listed, Literal, PhaseInfo, Step
from checker.core.operation import Location
from checker.core.schema import tokens_of
from checker.generation.sources.choices import Source
from checker.generation.sources.context import Rejected
from checker.generation.sources.shrinking import Search, SearchEnded, is_moment, shrink
from checker.phases.bindings import ITEMS, held_by
from checker.phases.case_factory import CaseFactory, GeneratedCase
from checker.phases.case_parts import literal_of, places_of, without
from checker.transport.prepare import RequestMaker, plain_maker

Leaf = tuple[str | int, ...]  # The place of a value without parts: attribute of the case, then names and indices.
_MOST: Final = 200  # Leaves of one case.
_CONTAINERS: Final = (Location.PATH, Location.QUERY, Location.HEADER, Location.COOKIE)
_PLAIN: Final = "0"


def leaves_of(case: Case) -> list[Leaf]:
    """Return the places of all values without parts, those of parameters first."""
    found: list[Leaf] = []
    roots: list[tuple[Leaf, Any]] = [
        ((location.container,), getattr(case, location.container)) for location in _CONTAINERS
    ]
    if case.body is not NOT_SET:
        roots.append((("body",), case.body))
    for root in roots:
        todo = [root]
        while todo and len(found) < _MOST:
            place, value = todo.pop()
            if isinstance(value, dict):
                todo += [((*place, name), value[name]) for name in reversed(value)]
            elif isinstance(value, list):
                todo += [((*place, at), value[at]) for at in reversed(range(len(value)))]
            else:
                found.append(place)
    return found


def value_at(case: Case, leaf: Leaf) -> Any:
    """Return the value at a place."""
    value: Any = case
    for number, token in enumerate(leaf):
        value = value[token] if number else getattr(value, str(token))
    return value


def put(case: Case, leaf: Leaf, value: Any) -> Case:
    """Change the value at one place of a case, in place, and return the case."""
    if len(leaf) == 1:
        setattr(case, str(leaf[0]), value)
    else:
        value_at(case, leaf[:-1])[leaf[-1]] = value
    return case


def smaller(value: Any) -> Iterator[Any]:
    """Yield simpler values to try in place of one, the smallest first. Repeating this with any of them ends."""
    match value:
        case True:
            yield False
        case bool():
            return
        case int() if value:
            sign, size = (1, value) if value > 0 else (-1, -value)
            # The sizes approach the value, so that a limit in between is found in few steps.
            sizes = (0, 1, *(size - (size >> shift) for shift in (1, 2, 3, 5, 8)), size - 1)
            yield from dict.fromkeys(sign * one for one in sizes if one < size and not is_moment(one))
        case float() if value and abs(value) < 1e15:
            yield from dict.fromkeys(one for one in (0.0, float(int(value))) if abs(one) < abs(value))
        case str() if value:
            shorter = ("", value[0], value[: len(value) // 2], value[:-1])
            yield from dict.fromkeys(one for one in shorter if len(one) < len(value))
            plain = _PLAIN * len(value)
            if value != plain:
                yield plain
        case _:
            return


_Judged = tuple[Outcome, frozenset[tuple[str, str, str]]]
_Meant = tuple[frozenset[tuple[Location, str]], _Judged | None]
"""The intended violations of a case, and the verdict on its request: both stay the same in every smaller case."""


def content_of(case: Case) -> str:
    """Return the content of a case with its intended violations. It does not depend on how the case was made."""
    parts = (case.path_parameters, case.query, case.headers, case.cookies, case.body)
    broken = () if case.meta is None else sorted(case.meta.broken)
    return repr((case.other_method, case.alternative, case.media_type, parts, broken))


def shrink_case(
    factory: CaseFactory, made: GeneratedCase, name: str, phase: PhaseInfo, passing: frozenset[str] = frozenset()
) -> Search[GeneratedCase, GeneratedCase]:
    """Yield smaller cases, receive whether each fails in the same way, and return the smallest failing case.

    `made` is taken to fail. All candidates have the id `name`. `passing` are contents of cases (`content_of`) that are known not to
    fail. The valid and invalid parts of a request stay as they are.
    """
    step = made.step
    if made.other is not None:
        return (yield from _Fewer(factory, step, name, phase, known=dict.fromkeys(passing, False)).shrunk())
    redraw = factory.redraw(step, name=name, phase=phase)

    def draw(source: Source) -> GeneratedCase:
        try:
            return redraw(source)
        except HookError as error:
            # A hook that raises for a candidate shows nothing about the failure.
            raise Rejected(str(error)) from error

    broken = _broken(made.case)

    def content(candidate: GeneratedCase) -> str | None:
        # The violation must stay the same, because valid data may fail for another reason.
        return content_of(candidate.case) if _broken(candidate.case) == broken else None

    result = yield from shrink(draw, step.choices, content, passing)
    return factory.remake(result.value.step, name=name, phase=phase)


def _broken(case: Case) -> frozenset[tuple[Location, str]]:
    return frozenset() if case.meta is None else case.meta.broken


class _Fewer(Struct):
    """A search in a case of known parts: parts that the failure does not need are left out."""

    factory: CaseFactory
    best: Step
    name: str
    phase: PhaseInfo
    content: str = ""  # The content of the best case.
    known: dict[str, bool] = field(default_factory=dict)  # Content -> whether it fails.
    maker: RequestMaker = field(default_factory=plain_maker)

    def shrunk(self) -> Search[GeneratedCase, GeneratedCase]:
        # The caller may end the search.
        with suppress(SearchEnded):
            whole = self._made(self.best)
            self._take(whole)
            self.best = replace(self.best, bindings=held_by(whole.case, whole.bindings))
            # Delta debugging: large pieces first, then halves of them, because each candidate is a request. After a
            # piece is dropped the places are read again, since those inside it are gone. The verdict on validity has to
            # stay the same as well, or a valid case could become an invalid one that fails for another reason.
            meant, found = self._meant(whole), places_of(whole.case)
            size = len(found)
            while size:
                number = 0
                while number < len(found):
                    places = found[number : number + size]
                    recipe = self.best.recipe
                    try:
                        if isinstance(recipe, Listed):
                            fewer: Listed | Literal = replace(recipe, without=(*recipe.without, *places))
                        else:
                            fewer = literal_of(without(self._made(self.best).case, places))
                        candidate = self._made(replace(self.best, recipe=fewer))
                    except CheckerError:
                        candidate = None
                    if candidate is not None and (yield from self._is_as_good(candidate, meant)):
                        self._take(candidate)
                        found = places_of(candidate.case)
                    else:
                        number += size
                size //= 2
            made = self._made(self.best)
            # The violation of a negative case is about its values, which therefore stay.
            if made.case.meta is not None and made.case.meta.mode is not GenerationMode.NEGATIVE:
                meant = self._meant(made)
                for leaf in leaves_of(made.case):
                    while (candidate := (yield from self._smaller(leaf, meant))) is not None:
                        self._take(candidate)
        return self._made(self.best)

    def _smaller(self, leaf: Leaf, meant: _Meant) -> Search[GeneratedCase, GeneratedCase | None]:
        """Return the case with the smallest value at a place that still fails; None if there is none.

        A value of an earlier response is only replaced by 0, because hardly any resource has this name. Other small
        numbers name resources of other cases.
        """
        container, *names = leaf
        others: tuple[Binding, ...] = ()
        for one in self.best.bindings:
            tokens = tokens_of(one.name) if one.location is Location.BODY else [one.name]
            is_of_place = container == one.location.container and len(tokens) == len(names)
            if not (is_of_place and all(a in (ITEMS, str(b)) for a, b in zip(tokens, names, strict=True))):
                others += (one,)
        for value in smaller(value_at(self._made(self.best).case, leaf)):
            changed = literal_of(put(self._made(self.best).case, leaf, value))
            bindings = others if f"{value}".strip(_PLAIN) == "" else self.best.bindings
            candidate = self._made(replace(self.best, recipe=changed, bindings=bindings))
            if (yield from self._is_as_good(candidate, meant)):
                return candidate
        return None

    def _take(self, candidate: GeneratedCase) -> None:
        self.best, self.content = candidate.step, content_of(candidate.case)

    def _made(self, step: Step) -> GeneratedCase:
        return self.factory.remake(step, name=self.name, phase=self.phase)

    def _is_as_good(self, candidate: GeneratedCase, meant: _Meant) -> Search[GeneratedCase, bool]:
        """Return whether a candidate means the same and still fails. Raises `SearchEnded`."""
        broken, judged = meant
        if _broken(candidate.case) != broken or self._judged(candidate) != judged:
            return False
        content = content_of(candidate.case)
        if content == self.content:
            # The part still exists: for example, another item of a list took its place.
            return False
        known = self.known.get(content)
        if known is None:
            known = yield candidate
            if known is None:
                raise SearchEnded
            self.known[content] = known
        return known

    def _meant(self, made: GeneratedCase) -> _Meant:
        return _broken(made.case), self._judged(made)

    def _judged(self, made: GeneratedCase) -> _Judged | None:
        """Return the verdict on a request: whether it is valid, and its violations; None if it cannot be written."""
        try:
            verdict = made.case.operation.judge_request(self.maker.make(made.case))
        except (CheckerError, ValueError):
            return None
        wrong = ((str(part.location), part.name, part.keyword) for part in verdict.invalid)
        return verdict.outcome, frozenset(wrong)
