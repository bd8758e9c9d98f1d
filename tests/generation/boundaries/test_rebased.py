"""The parts of a boundary value that it does not test come from another base."""

from typing import Any

import pytest

from checker.generation.boundaries.usual import rebased

USUAL = {"name": "", "note": "x", "home": {"zip": "", "tags": ["a", "b"]}}
BASE = {"name": "long", "code": 1, "home": {"zip": "12345", "tags": ["a", "c"]}}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (USUAL, BASE),
        ({**USUAL, "name": "other"}, {**BASE, "name": "other"}),
        ({**USUAL, "note": "y"}, {**BASE, "note": "y"}),
        ({"note": "x", "home": USUAL["home"]}, {"code": 1, "home": BASE["home"]}),
        ({**USUAL, "home": {"zip": "9", "tags": ["a", "b"]}}, {**BASE, "home": {"zip": "9", "tags": ["a", "c"]}}),
        ({**USUAL, "home": {"zip": "", "tags": ["d", "b"]}}, {**BASE, "home": {"zip": "12345", "tags": ["d", "c"]}}),
        ({**USUAL, "home": {"zip": "", "tags": []}}, {**BASE, "home": {"zip": "12345", "tags": []}}),
        ({**USUAL, "code": 2}, {**BASE, "code": 2}),
        ({**USUAL, "name": None}, {**BASE, "name": None}),
        ([], []),
        ("text", "text"),
    ],
)
def test_untested_parts_come_from_the_base(value: Any, expected: Any) -> None:
    assert rebased(value, USUAL, BASE) == expected


def test_objects_may_keep_their_names() -> None:
    expected = {"name": "long", "note": "x", "home": BASE["home"]}
    assert rebased(USUAL, USUAL, BASE, keeps_names=True) == expected


def test_true_is_not_the_usual_one() -> None:
    assert rebased({"flag": True}, {"flag": 1}, {"flag": 5}) == {"flag": True}
