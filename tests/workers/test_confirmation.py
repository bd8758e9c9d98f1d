"""Failures happen again with the steps that they need, and no others; what is gone confirms that it is shown, and never that it is missing."""

from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from checker.checks.judge import UNJUDGED
from checker.core.case import Case
from checker.core.meta import Binding, Drawn, PhaseInfo, Step
from checker.core.operation import Label
from checker.core.request import Location, WireRequest
from checker.core.response import Response
from checker.core.send import Purpose
from checker.phases.attempt import Verdict
from checker.phases.case_factory import GeneratedCase
from checker.workers.failures.fresh_names import FreshNames
from checker.workers.failures.inquiry import Inquiry
from checker.workers.jobs import Job
from checker.workers.recording.unconfirmed import JudgedCase
from tests.checks.asked import operations_of
from tests.workers.running_jobs import ended


def unasked(request: WireRequest) -> Response:
    raise AssertionError("nothing is sent")


def shot(method: str, status: int) -> JudgedCase:
    operation = SimpleNamespace(resource_method=method, status_of=lambda response: response.status_code)
    made = cast("GeneratedCase", SimpleNamespace(case=SimpleNamespace(operation=operation)))
    return JudgedCase(made, Verdict(made.case, None, Response(status, [], b""), UNJUDGED))


@pytest.mark.parametrize(("last", "is_confirmed"), [(200, True), (404, False)])
def test_what_another_worker_may_have_removed_stays_away_and_confirms_nothing(last: int, is_confirmed: bool) -> None:
    """A sequence removes one thing; the thing that it asks for last is answered alike each time."""

    class Asking(Inquiry):
        def again(self, made: GeneratedCase, earlier: Sequence[JudgedCase] = ()) -> Job[JudgedCase]:
            is_removal = made.case.operation.resource_method == "DELETE"
            yield from ()
            return shot("DELETE", 404) if is_removal else shot("GET", last)

        def fails(self, shot: JudgedCase) -> bool:
            return shot.status == last

    nobody = cast("Any", None)
    chain = (shot("DELETE", 204), shot("POST", 201), shot("GET", last))
    inquiry = Asking(nobody, cast("Any", SimpleNamespace(chain=chain)), nobody, nobody)
    assert ended(inquiry.stays_after_removal(), unasked) is is_confirmed


USERS, USER, ROOMS = Label("POST /users"), Label("GET /users/{id}"), Label("POST /rooms")
TENANT = Binding(
    Location.HEADER, "X-Tenant", ROOMS, "$request.header.X-Tenant", 0, "acme", '"$request.header.X-Tenant"', 0
)  # fmt: skip
NUMBER = Binding(Location.PATH, "id", USERS, "/id", 0, 7, '"$response.body#/id"', 1)
DOCUMENT = operations_of(
    {
        "/users": {"post": {"responses": {}}},
        "/users/{id}": {
            "get": {"parameters": [{"name": "id", "in": "path", "required": True, "schema": {}}], "responses": {}}
        },
        "/rooms": {"post": {"responses": {}}},
    }
)


def step(label: Label, *bindings: Binding) -> JudgedCase:
    case = Case(DOCUMENT[label], "a")
    answer = Response(200, [], b'{"id": 7}')
    made = GeneratedCase(case, label, (), bindings)
    return JudgedCase(made, Verdict(case, None, answer, UNJUDGED))


class Remaking:
    """Stands in place of a factory: every step can be made again."""

    def remake(self, wanted: Step, *, name: str, phase: PhaseInfo) -> GeneratedCase:
        assert isinstance(wanted.recipe, Drawn)
        return step(wanted.label, *wanted.bindings).made


@pytest.mark.parametrize(
    ("chain", "kept"),
    [
        ((step(ROOMS), step(USERS, TENANT)), [USERS]),
        ((step(ROOMS), step(USERS, TENANT), step(USER, TENANT, NUMBER)), [USERS, USER]),
    ],
)
def test_a_step_that_only_said_in_whose_part_the_others_are_is_left_out(
    chain: tuple[JudgedCase, ...], kept: list[Label]
) -> None:
    """What it said is sent without it."""

    def send(made: GeneratedCase, purpose: Purpose, earlier: Iterable[JudgedCase] = ()) -> Job[JudgedCase]:
        yield from ()
        return step(made.label, *made.bindings)

    last = chain[-1].made.label

    class Asking(Inquiry):
        def fails(self, shot: JudgedCase) -> bool:
            return shot.made.label == last

    context = SimpleNamespace(factory=Remaking(), tools=None)
    slot = cast("Any", SimpleNamespace(context=context, shot=send))
    suspicion = cast("Any", SimpleNamespace(phase=PhaseInfo("stateful")))
    found = ended(Asking(slot, suspicion, cast("Any", None), FreshNames(cast("Any", context))).shortest(chain), unasked)
    assert found is not None
    assert [one.made.label for one in found] == kept
    tenants = [one for shot in found for one in shot.made.bindings if one.name == "X-Tenant"]
    assert {(one.literal, one.step) for one in tenants} == {("acme", -1)}
