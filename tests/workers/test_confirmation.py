"""What the target says of a thing that is gone confirms that it is shown, and never that it is missing."""

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from checker.checks.judge import UNJUDGED
from checker.core.response import Response
from checker.phases.attempt import Verdict
from checker.phases.making import GeneratedCase
from checker.workers.failures.confirmation import Confirmation
from checker.workers.recording.unconfirmed import JudgedCase


def shot(method: str, status: int) -> JudgedCase:
    operation = SimpleNamespace(resource_method=method, resource_status=None)
    made = cast("GeneratedCase", SimpleNamespace(case=SimpleNamespace(operation=operation)))
    return JudgedCase(made, Verdict(made.case, None, Response(status, [], b""), UNJUDGED))


@pytest.mark.parametrize(("last", "is_confirmed"), [(200, True), (404, False)])
def test_what_another_worker_may_have_removed_stays_away_and_confirms_nothing(
    last: int, is_confirmed: bool
) -> None:
    """A sequence removes one thing; the thing that it asks for last is answered alike each time."""

    def again(made: GeneratedCase, earlier: Iterable[JudgedCase]) -> JudgedCase:
        is_removal = made.case.operation.resource_method == "DELETE"
        return shot("DELETE", 404) if is_removal else shot("GET", last)

    nobody = cast("Any", None)
    confirmation = Confirmation(nobody, again, lambda found: found.status == last, names=nobody)
    chain = (shot("DELETE", 204), shot("POST", 201), shot("GET", last))
    assert confirmation.stays_after_removal(chain) is is_confirmed
