from enum import StrEnum

import pytest
from msgspec import Struct

from checker.corpus.shapes import flat, shape_of


class Colour(StrEnum):
    RED = "red"


class Leaf(Struct, frozen=True):
    colour: Colour


class Branch(Struct, frozen=True):
    name: str | None
    leaf: Leaf
    leaves: tuple[Leaf, ...] = ()
    pairs: tuple[tuple[int, str], ...] = ()
    pair: tuple[int, str] = (0, "")


class Vague(Struct, frozen=True):
    leaf: Leaf | None


class Mixed(Struct, frozen=True):
    pair: tuple[int, Leaf]


RED = Leaf(Colour.RED)
BRANCH = Branch("a", RED, (RED, RED), ((1, "b"),), (2, "c"))


def test_values_inside_are_fields_as_well() -> None:
    expected = ["a", (Colour.RED,), [(Colour.RED,), (Colour.RED,)], ((1, "b"),), (2, "c")]
    assert expected == shape_of(Branch).flat(BRANCH)


def test_fields_stand_for_a_value() -> None:
    given = ("a", ("red",), (RED, ("red",)), ((1, "b"),), (2, "c"))
    expected = ["a", ("red",), [("red",), ("red",)], ((1, "b"),), (2, "c")]
    assert expected == shape_of(Branch).flat(given)
    assert shape_of(Leaf).flat(("red",)) == ("red",)


def test_lists_of_fields_are_built_into_values() -> None:
    built = shape_of(Branch).build(["a", ["red"], [["red"], ["red"]], [[1, "b"]], [2, "c"]])
    assert repr(BRANCH) == repr(built)


def test_last_fields_that_are_missing_have_their_defaults() -> None:
    assert Branch(None, RED) == shape_of(Branch).build([None, ["red"]])


def test_values_are_found_by_looking_too() -> None:
    assert flat(((RED, 1), RED, "a")) == (((Colour.RED,), 1), (Colour.RED,), "a")


@pytest.mark.parametrize("cls", [Vague, Mixed])
def test_annotations_that_leave_a_doubt_have_no_shape(cls: type) -> None:
    with pytest.raises(TypeError, match="no shape"):
        shape_of(cls)
