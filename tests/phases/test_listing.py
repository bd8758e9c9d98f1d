"""Lists of cases are read as far as somebody asks, and kept as far as there is room."""

from collections.abc import Iterator, Sequence

import pytest
from msgspec import Struct, field

from checker.core.case import Case
from checker.core.errors import Unsatisfiable
from checker.core.operation import Label, Operation
from checker.generation.settings import GenerationSettings
from checker.phases.listing import CaseLists, ListingContext
from tests.generation.making import PlainOperation


class Lists(Struct):
    """Lists of a thousand cases for each operation."""

    begun: list[str] = field(default_factory=list)
    """Operations whose list was begun, and numbers of the cases that were read."""

    def of(self, operation: Operation, context: ListingContext) -> Iterator[Case]:
        """A list."""
        self.begun.append(operation.label)
        for number in range(1_000):
            self.begun.append(str(number))
            yield Case(operation, "x", query={"number": number})

    def lists(self) -> CaseLists:
        """All of them, of a phase `p`."""
        context = ListingContext(GenerationSettings())
        return CaseLists(lambda *_: context, {"p": self.of}.__getitem__)


def test_lists_are_read_as_far_as_somebody_asks() -> None:
    read = Lists()
    lists, operation = read.lists(), PlainOperation()
    assert lists.at("p", operation, 1) is lists.at("p", operation, 1)
    assert read.begun == [operation.label, "0", "1"]
    assert lists.at("p", operation, 1_000) is None


def test_lists_are_kept_for_a_later_phase_as_far_as_there_is_room() -> None:
    read = Lists()
    lists = read.lists()
    many = [PlainOperation(label=Label(f"GET /{number}")) for number in range(20)]

    def begun(which: Sequence[PlainOperation], number: int) -> list[str]:
        """Of which operations a list was begun to read a case of each."""
        read.begun.clear()
        for one in which:
            lists.at("p", one, number)
        return [text for text in read.begun if not text.isdecimal()]

    assert begun(many, 9) == [one.label for one in many]
    assert begun(many[:2], 899) == []
    # There is no room for all of that, and who reads much of a list has mostly read it to its end.
    assert begun(many[2:], 19) == []
    assert begun(many[1:], 19) == []
    assert begun(many[:1], 0) == [many[0].label]


def test_an_error_of_a_list_is_raised_in_each_phase_that_reads_it() -> None:
    def broken(operation: Operation, context: ListingContext) -> Iterator[Case]:
        yield from ()
        raise Unsatisfiable("#", "nothing is valid")

    lists = CaseLists(lambda *_: ListingContext(GenerationSettings()), lambda phase: broken)
    for phase in ("examples/smallest", "coverage", "coverage"):
        with pytest.raises(Unsatisfiable):
            lists.at(phase, PlainOperation(), 0)


def test_of_many_operations_few_lists_are_kept() -> None:
    read = Lists()
    lists = read.lists()
    many = [PlainOperation(label=Label(f"GET /{number}")) for number in range(100)]
    for _ in range(2):
        for one in many:
            lists.at("p", one, 0)
    assert 200 - 40 <= read.begun.count("0") <= 200
