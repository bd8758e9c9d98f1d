"""Compiled programs, as many as there is room for: descriptions may have thousands of operations."""

from msgspec import Struct, field

from checker.core.operation import Label
from checker.kinds.protocol import CaseProgram

_ROOM = 6_000
"""Steps of compiling in a generation, each of which leaves some 2 KiB: hundreds of usual operations, twenty of the largest."""
Key = tuple[Label, str, str]
"""Operation, phase where programs differ from phase to phase, and what was learned of the target."""


class ProgramCache(Struct):
    """Two generations: what nobody has asked for since the last change of them is compiled again when somebody does."""

    room: int = _ROOM
    current: dict[Label, CaseProgram] = field(default_factory=dict)
    """What cases of an operation are drawn with now, where that is the same in all phases: asked for each case."""
    _young: dict[Key, CaseProgram] = field(default_factory=dict)
    _old: dict[Key, CaseProgram] = field(default_factory=dict)
    _met: set[Key] = field(default_factory=set)

    def get(self, key: Key) -> CaseProgram | None:
        """A program that is kept."""
        found = self._young.get(key)
        if found is None:
            found = self._old.get(key)
            if found is not None:
                self._add(key, found)
        return found

    def keep(self, key: Key, program: CaseProgram) -> bool:
        """Keep one that was compiled; whether that was for the first time."""
        self._add(key, program)
        is_new = key not in self._met
        self._met.add(key)
        return is_new

    def _add(self, key: Key, program: CaseProgram) -> None:
        # Programs grow while they are used: wrong data are compiled when they are chosen.
        if sum(one.size for one in self._young.values()) > self.room:
            self._old, self._young = self._young, {}
            self.current.clear()
        self._young[key] = program
