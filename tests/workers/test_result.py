"""Why a case may not be the smallest one."""

import pytest

from checker.workers.recording.investigation_budget import spent_after


@pytest.mark.parametrize(
    ("requests", "text"),
    [(20, "after 20 requests"), (0, "before it began (`generation.shrink-share` of the requests was spent)")],
)
def test_a_share_that_was_spent_before_is_told_as_such(requests: int, text: str) -> None:
    assert spent_after(requests) == text
