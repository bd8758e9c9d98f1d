"""Programs of many operations: some are kept, what gave way is compiled again and draws the same."""

import gc
from pathlib import Path
from typing import Any

from checker.core.meta import PhaseInfo
from checker.core.operation import Label
from checker.kinds.protocol import CaseProgram
from checker.phases.making import CaseFactory
from checker.phases.program_cache import ProgramCache
from tests.asking import saying
from tests.workers.harness import ANSWERS, DOCUMENT, THING, workplace

COUNT = 40
FUZZING = PhaseInfo("fuzzing")


def document() -> dict[str, Any]:
    body = {"content": {"application/json": {"schema": THING}}}
    operation = {"requestBody": body, "responses": ANSWERS}
    return DOCUMENT | {"paths": {f"/things{n}": {"post": operation} for n in range(COUNT)}}


LABELS = [Label(f"POST /things{n}") for n in range(COUNT)]


class CompiledPrograms:
    """Counts what a factory compiles."""

    def __init__(self, factory: CaseFactory, room: int) -> None:
        self.programs: list[CaseProgram] = []
        self.cache = ProgramCache(room)
        factory.compiled = self.programs.append
        factory._programs = self.cache

    @property
    def kept(self) -> list[CaseProgram]:
        return [*self.cache._young.values(), *self.cache._old.values()]


def drawn(factory: CaseFactory, label: Label, seed: int) -> Any:
    case = factory.make(label, seed, 0, FUZZING).case
    return case.query, case.headers, case.body, case.media_type


def test_what_gave_way_draws_what_it_drew_before(tmp_path: Path) -> None:
    both = saying(generation={"mode": "all"})
    with workplace(tmp_path, document=document(), operations=both) as place:
        told = CompiledPrograms(place.factory, 1 << 30)
        expected = [[drawn(place.factory, label, seed) for seed in range(9)] for label in LABELS]
        assert len(told.kept) == len(told.programs) == COUNT
    with workplace(tmp_path, document=document(), operations=both) as place:
        told = CompiledPrograms(place.factory, 100)
        # Round by round: each operation is asked for when it has given way.
        rounds = [[drawn(place.factory, label, seed) for label in LABELS] for seed in range(9)]
        assert [list(row) for row in zip(*rounds, strict=True)] == expected
        # Two generations, each with the one that was too many; they grow while they are used.
        assert 2 <= len(told.kept) < COUNT / 2
        assert sum(one.size for one in told.kept) < 2 * (100 + 2 * max(p.size for p in told.kept))
        # What is said of a description is said once.
        assert len(told.programs) == COUNT


def test_what_is_asked_for_again_and_again_stays(tmp_path: Path) -> None:
    with workplace(tmp_path, document=document()) as place:
        CompiledPrograms(place.factory, 100)
        first = place.factory.program(LABELS[0], "fuzzing")
        for label in LABELS[1:]:
            place.factory.program(label, "fuzzing")
            assert place.factory.program(LABELS[0], "fuzzing") is first
        assert place.factory.program(LABELS[1], "fuzzing").size > 0


def test_what_gave_way_is_gone_without_a_collection(tmp_path: Path) -> None:
    both = saying(generation={"mode": "all"})
    with workplace(tmp_path, document=document(), operations=both) as place:
        told = CompiledPrograms(place.factory, 1 << 30)
        for label in LABELS[:9]:
            for seed in range(9):
                drawn(place.factory, label, seed)
        gc.collect()
        gc.disable()
        try:
            for label in LABELS[9:]:
                for seed in range(9):
                    drawn(place.factory, label, seed)
            told.programs.clear()
            told.cache._young.clear()
            told.cache.current.clear()
            # Circles of a few objects in each program kept all of it.
            assert gc.collect() < len(LABELS[9:])
        finally:
            gc.enable()
