"""Names of marks that only servers make, and of sizes of pages."""

import pytest

from checker.core.resource_names import is_count, marks_among


@pytest.mark.parametrize(
    ("names", "marks"),
    [
        (("first", "after", "last", "before"), {"after", "before"}),
        (("first", "before"), set()),
        (("after", "before"), set()),
        (("cursor", "limit"), {"cursor"}),
        (("pageToken", "name"), {"pageToken"}),
        (("_token", "_limit", "_sort"), {"_token"}),
        (("token", "name"), set()),
        ((), set()),
    ],
)
def test_marks_stand_beside_what_says_how_many_come(names: tuple[str, ...], marks: set[str]) -> None:
    assert marks_among(names) == marks


def test_names_of_sizes_of_pages() -> None:
    assert [one for one in ("first", "pageSize", "per_page", "age", "firstName") if is_count(one)] == [
        "first",
        "pageSize",
        "per_page",
    ]
