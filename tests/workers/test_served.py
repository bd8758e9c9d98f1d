"""Which requests tell later whether a target still serves."""

from typing import Any, cast

import pytest

from checker.core.operation import Label
from checker.core.request import WireRequest
from checker.phases.making import GeneratedCase
from checker.workers.served import ServedRequests


class Made:
    """A case, as far as it is asked for its operation."""

    def __init__(self, label: str) -> None:
        self.label = Label(label)
        self.case = self
        self.operation: Any = self


def note(served: ServedRequests, method: str, path: bytes, status: int = 200) -> None:
    made = cast("GeneratedCase", Made(f"{method} {path.decode()}"))
    served.note(made, WireRequest(method, path, [], None), status)


@pytest.mark.parametrize(
    ("removed", "left"),
    [
        (b"/buckets", {"GET /bucketsful", "GET /me"}),
        (b"/buckets/a?force=1", {"GET /buckets", "GET /bucketsful", "GET /me"}),
        (b"/session", {"GET /buckets", "GET /buckets/a", "GET /buckets/a/groups", "GET /bucketsful", "GET /me"}),
    ],
)  # fmt: skip
def test_what_a_deletion_takes_away_is_no_witness(removed: bytes, left: set[str]) -> None:
    served = ServedRequests()
    for path in (b"/buckets", b"/buckets/a", b"/buckets/a/groups", b"/bucketsful", b"/me"):
        note(served, "GET", path)
    note(served, "DELETE", removed)
    assert {label for label in served.served if label.startswith("GET")} == left


def test_a_deletion_that_was_refused_takes_nothing_away() -> None:
    served = ServedRequests()
    note(served, "GET", b"/buckets")
    note(served, "DELETE", b"/buckets", 403)
    assert set(served.served) == {"GET /buckets"}
