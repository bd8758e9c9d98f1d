"""A check made with public names alone: what was created and deleted in a sequence cannot be deleted again."""

import checker
from checker import Case, Response
from checker.errors import Failure


class DeletedTwice(Failure):
    """The second DELETE of a resource went through."""

    title = "Deleted twice"


def was_created_before(ctx, case):
    """Whether an earlier step of the sequence answered with what is deleted now."""
    wanted = set(map(str, case.path_parameters.values()))
    for earlier in ctx.sequence:
        answer = earlier.outcome
        if not isinstance(answer, Response) or answer.status_code != 201:
            continue
        if wanted & set(map(str, answer.json().values())):
            return True
    return False


@checker.check(statuses=["2XX"])
def gone_is_gone(ctx, response, case):
    """Send a DELETE that worked once more."""
    if case.method != "DELETE" or not was_created_before(ctx, case):
        return
    assert isinstance(case, Case)
    again = yield case
    if isinstance(again, Response) and again.status_code < 300:
        raise DeletedTwice(f"Expected: 404\nReceived: {again.status_code}", unique_key="deleted")
