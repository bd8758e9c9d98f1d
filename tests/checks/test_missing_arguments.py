"""The error of a GraphQL field that names one of its arguments is about that argument, not about the resource."""

import json
from typing import Any

import pytest

from checker.checks.judge import Judge
from checker.checks.to_run import selected_checks
from checker.core.case import Case
from checker.core.meta import Binding, CaseMetadata, GenerationMode, PhaseInfo
from checker.core.operation import Label, Location
from checker.core.response import Response
from tests.checks.asked import Sent
from tests.graphql_kind.making import MAKER, opened, operations

CHECK = "ensure_resource_availability"
POLLS = """
type Poll { id: ID!  question: String! }
type Query { poll(id: ID!): Poll }
type Mutation { createPoll(question: String!): Poll  vote(id: ID!, option: String!): Poll }
"""


def sent(label: str, arguments: dict[str, Any], answer: dict[str, Any], *bindings: Binding) -> Sent:
    by_label = {str(one.label): one for one in operations(opened(POLLS))}
    meta = CaseMetadata(GenerationMode.POSITIVE, {}, PhaseInfo("stateful"), bindings)
    case = Case(by_label[label], label, meta=meta, body={"arguments": arguments, "selection": []})
    request = MAKER.make(case)
    content = json.dumps(answer).encode()
    response = Response(200, [("Content-Type", "application/json")], content, request=request)
    return Sent(case, request, response)


@pytest.mark.parametrize(
    ("text", "is_failure"),
    [
        ("No such option", False),
        ("Unknown option: x", False),
        ("No such poll", True),
        ("Not found", True),
        ("There is no poll with the id p1", True),
    ],
)
def test_what_an_error_says_of_an_argument_is_not_said_of_the_resource(text: str, *, is_failure: bool) -> None:
    made = sent("Mutation.createPoll", {"question": "a"}, {"data": {"createPoll": {"id": "p1"}}})
    given = Binding(Location.BODY, "/arguments/id", Label("Mutation.createPoll"), "/id", 0, "p1")
    errors = [{"message": text, "path": ["vote"]}]
    voted = sent("Mutation.vote", {"id": "p1", "option": "x"}, {"errors": errors, "data": {"vote": None}}, given)
    assert isinstance(voted.outcome, Response)
    with pytest.raises(StopIteration) as end:
        next(Judge(selected_checks([CHECK])).judge(voted.case, voted.outcome, [made]))
    assert bool(end.value.value.failures) is is_failure
