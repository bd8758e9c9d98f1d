"""Failed checks of one response as the exception that users see."""

from collections.abc import Sequence

from checker.core.blocks import Answer, FailedCase, Truncation, failure_block
from checker.core.case import Case
from checker.core.failures import Failure, FailureGroup
from checker.core.response import Response


def failure_group(
    case: Case,
    response: Response,
    failures: Sequence[Failure],
    command: str,
    truncation: Truncation,
) -> FailureGroup:
    """One exception with a member for each distinct failure; its text is the numbered block of the console."""
    label = case.operation.label
    distinct = list({failure.fingerprint(label): failure for failure in failures}.values())
    body = response.readable
    block = failure_block(
        1,
        FailedCase(
            case_id=case.id,
            failures=tuple((failure.title, failure.message) for failure in distinct),
            answer=Answer(
                status=response.status_code,
                reason=response.message,
                body=body.content,
                is_cut=body.is_cut,
                charset=response.encoding,
            ),
            commands=(command,),
        ),
        truncation,
    )
    return FailureGroup(block, distinct)
