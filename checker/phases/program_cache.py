"""Compiled programs within a budget of memory: descriptions may have thousands of operations."""

from collections import OrderedDict
from typing import Final

from msgspec import Struct, field

from checker.core.operation import Label
from checker.kinds.protocol import CaseProgram

BUDGET_BYTES: Final = 64 << 20
"""All or nearly all programs of large descriptions: 24 to 79 MiB in eight of 134 to 1,049 operations, 48 cases each.

The memory by which a worker may grow (`RunSettings.memory_growth_mib`) has room for these and for all other caches. A
worker that grows beyond it is replaced, and its successor compiles everything again.
"""
LEAST: Final = 8
"""Programs that are kept however large they are: so many operations take turns case by case (`supervisor/clusters.py`). If
these did not fit, each case would compile its operation again.
"""
Key = tuple[Label, str, str]
"""Operation, phase where programs differ from phase to phase, and what was learned of the target."""


class ProgramCache(Struct):
    """The programs that were used last. A program that gave way is compiled again when it is asked for."""

    budget_bytes: int = BUDGET_BYTES
    held_bytes: int = 0
    """Of all programs that are kept, as of their last use."""
    _kept: OrderedDict[Key, CaseProgram] = field(default_factory=OrderedDict)
    """The least recently used first."""
    _counted: dict[Key, int] = field(default_factory=dict)
    """Bytes of each program in `held_bytes`."""
    _met: set[Key] = field(default_factory=set)

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Key) -> CaseProgram | None:
        """Return a program that is kept. Asked for each case."""
        program = self._kept.get(key)
        if program is not None:
            self._kept.move_to_end(key)
            # Programs grow while they are used: wrong data are compiled when they are chosen.
            if program.size_bytes != self._counted[key]:
                self._count(key, program)
        return program

    def keep(self, key: Key, program: CaseProgram) -> bool:
        """Keep a program that was compiled, and return whether that was for the first time."""
        self._kept[key] = program
        self._count(key, program)
        is_new = key not in self._met
        self._met.add(key)
        return is_new

    def _count(self, key: Key, program: CaseProgram) -> None:
        """Count the bytes of the program that was used last, and drop others while there are too many."""
        size_bytes = program.size_bytes
        self.held_bytes += size_bytes - self._counted.get(key, 0)
        self._counted[key] = size_bytes
        while self.held_bytes > self.budget_bytes and len(self._kept) > LEAST:
            oldest, _ = self._kept.popitem(last=False)
            self.held_bytes -= self._counted.pop(oldest)
