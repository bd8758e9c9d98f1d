"""Programs of many operations: those that were used last are kept, what gave way is compiled again and draws the same."""

import gc
from pathlib import Path
from typing import Any

import pytest

from checker.config.settings import RunSettings
from checker.core.meta import PhaseInfo
from checker.core.operation import Label
from checker.generation.program import OperationProgram
from checker.phases.case_factory import BUDGET_BYTES, LEAST, CaseFactory, DescriptionReader, Key, ProgramCache
from checker.supervisor.fuzz_plan import LARGEST
from tests.apps.large_bodies import large_document
from tests.asking import saying
from tests.workers.harness import ANSWERS, DOCUMENT, THING, workplace

COUNT = 40
FUZZING = PhaseInfo("fuzzing")
BOTH = saying(generation={"mode": "all"})


def document() -> dict[str, Any]:
    body = {"content": {"application/json": {"schema": THING}}}
    operation = {"requestBody": body, "responses": ANSWERS}
    return DOCUMENT | {"paths": {f"/things{n}": {"post": operation} for n in range(COUNT)}}


LABELS = [Label(f"POST /things{n}") for n in range(COUNT)]


class CountingCache(ProgramCache):
    """Counts what is compiled."""

    compilations: int = 0

    def keep(self, key: Key, program: OperationProgram) -> bool:
        self.compilations += 1
        return super().keep(key, program)


class Compiled(DescriptionReader):
    def __init__(self) -> None:
        self.programs: list[OperationProgram] = []

    def compiled(self, program: OperationProgram) -> None:
        self.programs.append(program)


def with_cache(factory: CaseFactory, budget_bytes: int = BUDGET_BYTES) -> CountingCache:
    cache = CountingCache(budget_bytes)
    factory._programs = cache
    return cache


def drawn(factory: CaseFactory, label: Label, seed: int) -> Any:
    case = factory.make(label, seed, 0, FUZZING).case
    return case.query, case.headers, case.body, case.media_type


@pytest.mark.thorough
def test_what_gave_way_draws_what_it_drew_before(tmp_path: Path) -> None:
    with workplace(tmp_path, document=document(), operations=BOTH) as place:
        cache = with_cache(place.factory)
        expected = [[drawn(place.factory, label, seed) for seed in range(9)] for label in LABELS]
        assert cache.compilations == len(cache) == COUNT
    with workplace(tmp_path, document=document(), operations=BOTH) as place:
        cache = with_cache(place.factory, 1)
        place.factory.reader = told = Compiled()
        # Round by round: each operation is asked for when it has given way.
        rounds = [[drawn(place.factory, label, seed) for label in LABELS] for seed in range(9)]
        assert [list(row) for row in zip(*rounds, strict=True)] == expected
        assert cache.compilations == 9 * COUNT
        assert len(cache) == LEAST
        # What is said of a description is said once.
        assert len(told.programs) == COUNT


def test_the_program_that_was_used_longest_ago_gives_way(tmp_path: Path) -> None:
    with workplace(tmp_path, document=document()) as place:
        cache = with_cache(place.factory, 1)
        first = place.factory.program(LABELS[0], "fuzzing")
        for label in LABELS[1:]:
            place.factory.program(label, "fuzzing")
            assert place.factory.program(LABELS[0], "fuzzing") is first
        assert cache.compilations == COUNT
        for label in LABELS[1 - LEAST :]:
            place.factory.program(label, "fuzzing")
        assert cache.compilations == COUNT


def test_programs_that_grow_while_they_are_used_are_counted_as_they_are(tmp_path: Path) -> None:
    with workplace(tmp_path, document=document(), operations=BOTH) as place:
        cache = with_cache(place.factory)
        programs = [place.factory.program(label, "fuzzing") for label in LABELS]
        cache.budget_bytes = sum(one.size_bytes for one in programs)
        assert (cache.held_bytes, len(cache)) == (cache.budget_bytes, COUNT)
        for label in LABELS:
            for seed in range(9):
                drawn(place.factory, label, seed)
            place.factory.program(label, "fuzzing")
            assert cache.held_bytes <= cache.budget_bytes
        assert LEAST <= len(cache) < COUNT


@pytest.mark.thorough
def test_operations_with_large_bodies_are_compiled_once_however_they_take_turns(tmp_path: Path) -> None:
    # 60 of them take more than 20 MiB.
    large = large_document(30, fields=80)
    with workplace(tmp_path, document=large, operations=BOTH) as place:
        cache = with_cache(place.factory)
        cards = place.opened.operations
        labels = [Label(card.label) for card in cards if card.method in ("POST", "PUT")]
        for seed in range(3):
            for label in labels:
                drawn(place.factory, label, seed)
        assert cache.compilations == len(labels) == 60
        assert cache.held_bytes > 20 << 20


def test_a_cluster_of_operations_fits_however_large_its_programs_are(tmp_path: Path) -> None:
    with workplace(tmp_path, document=document(), operations=BOTH) as place:
        cache = with_cache(place.factory, 1)
        for seed in range(9):
            for label in LABELS[:LARGEST]:
                drawn(place.factory, label, seed)
        assert cache.compilations == LARGEST


def test_a_worker_has_room_for_its_programs_and_as_much_for_all_else_before_it_is_replaced() -> None:
    growth_bytes = RunSettings("x", "run", 1).processes.memory_growth_mib << 20
    assert growth_bytes > BUDGET_BYTES
    assert growth_bytes - BUDGET_BYTES >= 48 << 20


def test_what_gave_way_is_gone_without_a_collection(tmp_path: Path) -> None:
    with workplace(tmp_path, document=document(), operations=BOTH) as place:
        cache = with_cache(place.factory)
        for label in LABELS[:9]:
            for seed in range(9):
                drawn(place.factory, label, seed)
        gc.collect()
        gc.disable()
        try:
            for label in LABELS[9:]:
                for seed in range(9):
                    drawn(place.factory, label, seed)
            cache._kept.clear()
            # Circles of a few objects in each program kept all of it.
            assert gc.collect() < len(LABELS[9:])
        finally:
            gc.enable()
