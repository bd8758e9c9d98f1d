"""What refusals say is respected by later cases, and dropped again when it was a lie."""

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import httpx
import pytest
from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field

from checker.core.case import Case
from checker.core.constraints import SELDOM, Constraint, read
from checker.core.contract import Outcome
from checker.core.meta import Drawn, GenerationMode, PhaseInfo
from checker.core.operation import BrokenOperation, Label
from checker.core.response import Response
from checker.corpus.records import DemandHeard
from checker.generation.program import GenerationSettings
from checker.kinds.protocol import ApiOperation
from checker.openapi.loaders import from_dict
from checker.phases.case_factory import CaseFactory, GenerationRules
from checker.transport.prepare import plain_maker
from checker.workers.observers.demands import DemandLearner
from tests.refusals.frameworks import DOCUMENT, FRAMEWORKS, Framework

LABEL = Label("POST /members")
COUNT = 60
Refusing = Callable[[Any], tuple[int, bytes]]


@dataclass
class Service:
    """A worker and its target, without the network between them."""

    refusal: Refusing
    document: dict[str, Any] = field(default_factory=lambda: DOCUMENT)
    learner: DemandLearner = field(default_factory=DemandLearner)
    factory: CaseFactory = field(init=False)
    heard: list[DemandHeard] = field(default_factory=list)

    def __post_init__(self) -> None:
        (found,) = from_dict(self.document).get_all_operations()
        assert not isinstance(found, BrokenOperation)
        self.operation: ApiOperation = found
        settings = GenerationSettings()
        self.factory = CaseFactory({LABEL: self.operation}, GenerationRules.alike(settings))
        self.factory.learner = self.learner

    def phase(self, name: str) -> list[tuple[Case, int]]:
        """(case, status) of one phase."""
        self.learner.begin(name)
        return list(self._sent(name))

    def _sent(self, name: str) -> Iterator[tuple[Case, int]]:
        for index in range(COUNT):
            made = self.factory.make(LABEL, 7, index, PhaseInfo(name))
            status, content = self.refusal(made.case.body)
            answer = Response(status, [("Content-Type", "application/json")], content)
            found = self.learner.observe(made, answer, name, index)
            self.heard += [one for one in found if isinstance(one, DemandHeard)]
            yield made.case, status

    @property
    def known(self) -> set[Constraint]:
        refuted = {one.demand for one in self.heard if one.is_refuted}
        return {one.demand for one in self.heard} - refuted


def accepted(sent: list[tuple[Case, int]]) -> int:
    return sum(status < 300 for _, status in sent)


@pytest.mark.thorough_beyond(6)
@pytest.mark.parametrize("framework", FRAMEWORKS, ids=lambda one: one.name)
def test_what_a_framework_refuses_is_learned(framework: Framework) -> None:
    service = Service(framework.refusal)
    before, after = service.phase("coverage"), service.phase("fuzzing")
    found = {(one.path, one.keyword, json.dumps(one.given)) for one in service.known}
    wanted = {((rule.field,), rule.keyword, json.dumps(rule.value)) for rule in framework.rules}
    missed = {one for one in wanted - found if (one[0], one[1]) not in {f[:2] for f in found}}
    assert not missed, found
    assert accepted(after) >= 2 * max(1, accepted(before))
    assert accepted(after) >= 0.9 * COUNT


class Member(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: Annotated[str, Field(min_length=3)]
    age: Annotated[int, Field(ge=18, le=99)] = 20
    mail: Annotated[str, Field(max_length=12)] = ""
    color: Literal["red", "green", "blue"] = "red"


def test_what_fastapi_itself_refuses_is_learned() -> None:
    app = FastAPI()

    @app.post("/members", status_code=201)
    def add(member: Member) -> None:
        """Take it."""

    async def asked(body: Any) -> tuple[int, bytes]:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            answer = await client.post("/members", json=body)
        return answer.status_code, answer.content

    service = Service(lambda body: asyncio.run(asked(body)))
    before, after = service.phase("coverage"), service.phase("fuzzing")
    assert {(one.path[0], one.keyword) for one in service.known} >= {
        ("name", "required"),
        ("name", "minLength"),
        ("age", "minimum"),
        ("age", "maximum"),
        ("color", "enum"),
        ("code", "forbidden"),
    }
    assert accepted(after) >= max(0.9 * COUNT, 2 * accepted(before))


def test_what_is_drawn_then_is_valid_by_the_description_as_well() -> None:
    service = Service(FRAMEWORKS[0].refusal)
    service.phase("coverage")
    service.learner.begin("fuzzing")
    maker = plain_maker()
    for index in range(COUNT):
        made = service.factory.make(LABEL, 3, index, PhaseInfo("fuzzing"))
        assert service.operation.judge_request(maker.make(made.case)).outcome is Outcome.VALID


def test_a_recipe_makes_its_case_again_whatever_was_learned_since() -> None:
    service = Service(FRAMEWORKS[0].refusal)
    phase = PhaseInfo("fuzzing")
    early = service.factory.make(LABEL, 3, 1, phase)
    early_step = early.step
    service.phase("coverage")
    service.learner.begin("fuzzing")
    late = service.factory.make(LABEL, 3, 1, phase)
    assert isinstance(late.step.recipe, Drawn)
    assert late.step.recipe.learned
    assert late.case.body != early.case.body
    for made, step in ((early, early_step), (late, late.step)):
        again = service.factory.remake(step, name="again", phase=phase)
        assert again.case.body == made.case.body
        assert again.step == step
    elsewhere = Service(FRAMEWORKS[0].refusal).factory
    assert elsewhere.remake(late.step, name="again", phase=phase).case.body == late.case.body


LIES: dict[str, Refusing] = {
    "about what was respected": lambda body: (
        400,
        b'{"errors": {"name": ["The name field is required."]}, "message": ""}',
    ),
    "about what is taken elsewhere": lambda body: (
        (201, b"") if "age" not in body else (400, b'{"name": ["Ensure this field has at least 900 characters."]}')
    ),
    "about what nobody can respect": lambda body: (
        400,
        b'{"detail": [{"loc": ["body", "age"], "type": "literal_error", "msg": "", "ctx": {"expected": "\'a\'"}}]}',
    ),
    "about a format": lambda body: (400, b'{"name": ["This field is required.", "Enter a valid email address."]}'),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_demand_that_does_not_help_is_dropped_again(lie: Refusing) -> None:
    service = Service(lie)
    service.phase("coverage")
    service.phase("fuzzing")
    service.learner.begin("stateful")
    made = service.factory.make(LABEL, 3, 1, PhaseInfo("stateful"))
    # A part that is refused whenever it is there is mostly left out all the same. An empty text may be what is missing.
    assert {one.keyword for one in read(made.learned)} <= {SELDOM, "minLength"}
    assert any(one.is_refuted for one in service.heard)


def test_in_fuzz_a_demand_is_respected_at_once() -> None:
    framework = FRAMEWORKS[0]
    service = Service(framework.refusal, learner=DemandLearner(at_once=True))
    sent = service.phase("exploration")
    assert accepted(sent[-30:]) >= 25


def test_wrong_data_is_no_witness() -> None:
    service = Service(FRAMEWORKS[0].refusal)
    made = service.factory.make(LABEL, 3, 1, PhaseInfo("fuzzing"))
    assert made.case.meta is not None
    made.case.meta.mode = GenerationMode.NEGATIVE
    status, content = service.refusal({})
    answer = Response(status, [], content)
    assert not list(service.learner.observe(made, answer, "coverage", 0))


def _with_properties(properties: dict[str, Any]) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(json.dumps(DOCUMENT))
    body = document["paths"]["/members"]["post"]["requestBody"]
    body["content"] = {"application/json": {"schema": {"type": "object", "properties": properties}}}
    return document


@pytest.mark.parametrize("text", ["Provide at least one of data or access", "At least one field must be provided"])
def test_an_update_without_members_is_not_sent_again(text: str) -> None:
    def refusal(body: Any) -> tuple[int, bytes]:
        return (200, b"{}") if body else (400, json.dumps({"message": text}).encode())

    members = {"data": {"type": "integer"}, "access": {"type": "boolean"}}
    service = Service(refusal, _with_properties(members))
    before, after = service.phase("coverage"), service.phase("fuzzing")
    assert accepted(before) < COUNT
    assert accepted(after) == COUNT


def test_a_text_that_counts_as_missing_is_not_empty() -> None:
    def refusal(body: Any) -> tuple[int, bytes]:
        places = [f"names.{number}" for number, name in enumerate(body.get("names", ())) if not name]
        places += [name for name in ("title",) if body.get(name) == ""]
        errors = [{"location": "body", "name": name, "description": "Required"} for name in places]
        return (400, json.dumps({"message": "Invalid", "details": errors}).encode()) if errors else (201, b"{}")

    members = {"names": {"type": "array", "items": {"type": "string"}}, "title": {"type": "string"}}
    service = Service(refusal, _with_properties(members))
    before, after = service.phase("coverage"), service.phase("fuzzing")
    assert accepted(before) < COUNT
    assert accepted(after) == COUNT
    assert {(one.path, one.keyword) for one in service.known} == {
        (("names", "*"), "minLength"),
        (("title",), "minLength"),
    }


def _takes_filters(is_valid: Callable[[Any], bool]) -> tuple[list[int], set[tuple[str, str]]]:
    """Return the accepted cases of both phases of a service with a language for filters, and the demands that it taught."""

    def refusal(body: Any) -> tuple[int, bytes]:
        value = body.get("where")
        return (200, b"{}") if value is None or is_valid(value) else (400, b'{"message": "Invalid where clause"}')

    service = Service(refusal, _with_properties({"where": {}, "limit": {"type": "integer"}}))
    counts = [accepted(service.phase(name)) for name in ("coverage", "fuzzing")]
    return counts, {(one.keyword, one.value) for one in service.known}


def test_a_value_in_an_unknown_language_is_left_out() -> None:
    (before, after), known = _takes_filters(lambda value: False)
    assert before < 0.7 * COUNT
    assert after > 0.85 * COUNT
    assert known == {("seldom", "true")}


def test_a_list_leaves_out_a_value_of_which_another_one_was_accepted() -> None:
    def refusal(body: Any) -> tuple[int, bytes]:
        is_valid = not isinstance(body.get("where"), int | float | str | list)
        return (200, b"{}") if is_valid else (400, b'{"message": "Invalid where clause"}')

    service = Service(refusal, _with_properties({"where": {}, "limit": {"type": "integer"}}))
    service.phase("examples")
    held = {phase: {one.keyword for one in service.learner.wanted(LABEL, phase)} for phase in ("coverage", "fuzzing")}
    assert held == {"coverage": {"seldom"}, "fuzzing": {"type"}}


def test_a_value_without_a_type_has_that_of_an_accepted_one() -> None:
    (before, after), known = _takes_filters(lambda value: isinstance(value, dict))
    assert before < 0.7 * COUNT
    assert after == COUNT
    assert ("type", '["null", "object"]') in known
