"""One way to register, and to be told that it cannot be done."""

import pytest

from checker.core.errors import IncorrectUsage
from checker.core.registry import LOWER_CASE, Registry


def test_what_is_registered_stands_in_order_and_comes_back() -> None:
    colours = Registry("colour", [("red", 1)])
    assert colours.add("blue", 2) == 2
    assert list(colours.items()) == [("red", 1), ("blue", 2)]
    assert colours.add("red", 1) == 1, "a module that is loaded twice registers twice"


def test_a_name_that_is_taken_is_refused_and_changes_nothing() -> None:
    colours = Registry("colour", [("red", 1)], built_in={"white": 0})
    for name in ("red", "white"):
        with pytest.raises(IncorrectUsage) as caught:
            colours.add(name, 3)
        assert str(caught.value) == f"colour '{name}' is already registered; choose another name"
    assert colours == {"red": 1}


def test_where_one_replaces_another_the_last_one_counts() -> None:
    colours = Registry("colour", [("red", 1)], replaces=True)
    colours.add("red", 2)
    assert colours == {"red": 2}


@pytest.mark.parametrize("name", ["", "two words", "Übermut", "red\n", 5, None])
def test_what_is_no_name_is_refused_with_the_rule(name: object) -> None:
    colours = Registry[int]("colour", names=LOWER_CASE)
    with pytest.raises(IncorrectUsage) as caught:
        colours.add(name, 1)
    told = f"the name of a colour must be one word in lower case, got {name!r}"
    assert str(caught.value) == told
    assert not colours
