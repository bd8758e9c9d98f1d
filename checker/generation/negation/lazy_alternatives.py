"""Things that are made when they are first chosen, since many never are."""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from checker.generation.sources.choices import Source

Thing = TypeVar("Thing")


class LazyAlternatives(Generic[Thing]):
    """Some of them may come to nothing: these give way to one of the next, so the same choices always mean the same.

    A search ends after so many of them, `reach`. Then `last` and the `far` ones after it are tried.
    """

    __slots__ = ("_far", "_last", "_made", "_makes", "_reach", "_ready")

    def __init__(
        self,
        makes: Iterable[Callable[[], Thing | None]],
        *,
        reach: int = 1_000,
        last: int = 0,
        far: int = 1_000,
    ) -> None:
        self._makes = list(makes)
        self._reach = reach
        self._last = last
        self._far = far
        self._made: dict[int, Thing | None] = {}
        self._ready: dict[int, Thing | None] = {}
        """Index -> what stands for it; None when nothing is to be had."""

    def __len__(self) -> int:
        return len(self._makes)

    def at(self, index: int) -> Thing | None:
        """The one at an index, or what stands for it."""
        if index in self._ready:
            return self._ready[index]
        is_last = index == self._last
        found = self._first(index, self._far if is_last else self._reach)
        if found is None and not is_last:
            found = self.at(self._last)
        self._ready[index] = found
        return found

    def _first(self, index: int, reach: int) -> Thing | None:
        count = len(self._makes)
        for step in range(min(reach, count)):
            at = (index + step) % count
            if at not in self._made:
                self._made[at] = self._makes[at]()
            found = self._made[at]
            if found is not None:
                return found
        return None

    def drawn(self, source: Source) -> Thing:
        """Any of them. There has to be one."""
        count = len(self._makes)
        found = self.at(source.choice(count) if count > 1 else 0)
        assert found is not None
        return found
