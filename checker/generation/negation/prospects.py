"""Things that are made when they are first chosen, since many never are."""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from checker.generation.sources.choices import Source

Thing = TypeVar("Thing")


class Prospects(Generic[Thing]):
    """Some of them may come to nothing: these give way to the next, so the same choices always mean the same."""

    __slots__ = ("_makes", "_ready")

    def __init__(self, makes: Iterable[Callable[[], Thing | None]]) -> None:
        self._makes: list[Callable[[], Thing | None] | None] = list(makes)
        self._ready: dict[int, Thing | None] = {}
        """Index -> the first from there on that is something; None when nothing is."""

    def __len__(self) -> int:
        return len(self._makes)

    def at(self, index: int) -> Thing | None:
        """The one at an index, or the next that is something."""
        if index in self._ready:
            return self._ready[index]
        found: Thing | None = None
        count = len(self._makes)
        passed: list[int] = []
        for step in range(count):
            at = (index + step) % count
            passed.append(at)
            if at in self._ready:
                found = self._ready[at]
            else:
                make, self._makes[at] = self._makes[at], None
                found = None if make is None else make()
            if found is not None:
                break
        self._ready.update(dict.fromkeys(passed, found))
        return found

    def drawn(self, source: Source) -> Thing:
        """Any of them. There has to be one."""
        count = len(self._makes)
        found = self.at(source.choice(count) if count > 1 else 0)
        assert found is not None
        return found
