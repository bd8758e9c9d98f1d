"""A demand on a part that several operations have is respected by all of them, from the next layer on."""

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from checker.core.case import Case
from checker.core.constraints import Constraint
from checker.core.meta import CaseMetadata, GenerationMode, Literal, PhaseInfo
from checker.core.operation import BrokenOperation, Label, Operation
from checker.core.phases import phase_number
from checker.core.response import Response
from checker.corpus.records import DemandHeard
from checker.phases.case_factory import GeneratedCase
from checker.workers.observers.demands import DemandLearner, Layers, common_parts
from tests.openapi.documents import opened

TEXT = {"type": "string"}
ADDRESS = {"type": "object", "properties": {"zip": TEXT}}
PERSON = {"type": "object", "properties": {"name": TEXT, "home": {"$ref": "#/components/schemas/Address"}}}
SHOP = {"type": "object", "properties": {"at": {"type": "array", "items": {"$ref": "#/components/schemas/Address"}}}}
SCHEMAS = {"Address": ADDRESS, "Person": PERSON}


def _body(schema: Any) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


def _parameter(name: str, location: str, schema: Any = TEXT) -> dict[str, Any]:
    return {"name": name, "in": location, "required": location == "path", "schema": schema}


def _described() -> Mapping[Label, Operation]:
    person = _body({"$ref": "#/components/schemas/Person"})
    paths: dict[str, dict[str, Any]] = {
        "/a": {"get": {"parameters": [_parameter("X-Version", "header"), _parameter("sort", "query")]}},
        "/b": {"get": {"parameters": [_parameter("x-version", "header"), _parameter("sort", "header")]}},
        "/c": {"get": {"parameters": [_parameter("X-Version", "header", {**TEXT, "maxLength": 3})]}},
        "/users/{id}": {"get": {"parameters": [_parameter("id", "path")]}},
        "/users/{id}/mail": {"get": {"parameters": [_parameter("id", "path")]}},
        "/users/{id}/notes": {"get": {"parameters": [_parameter("id", "path")]}},
        "/pets/{id}": {"get": {"parameters": [_parameter("id", "path")]}},
        "/people": {"post": {"requestBody": person}},
        "/staff": {"post": {"requestBody": person}},
        "/shops": {"post": {"requestBody": _body(SHOP)}},
    }
    for item in paths.values():
        for one in item.values():
            one["responses"] = {"default": {"description": ""}}
    schema = opened("3.0.3", paths, components={"schemas": SCHEMAS})
    return {one.label: one for one in schema.get_all_operations() if not isinstance(one, BrokenOperation)}


OPERATIONS = _described()
LAYERS = {"GET /b": 1, "POST /staff": 1, "POST /shops": 1, "GET /users/{id}/mail": 1, "GET /pets/{id}": 1}


class InLayers(Layers):
    def __init__(self, unawaited: str = "") -> None:
        self.unawaited = unawaited

    def place_of(self, phase: str, label: Label) -> tuple[int, int]:
        return phase_number(phase), LAYERS.get(label, 0)

    def is_awaited(self, label: Label) -> bool:
        return label != self.unawaited


def _learner(*, at_once: bool = False) -> DemandLearner:
    return DemandLearner(at_once=at_once, operations=OPERATIONS, layers=InLayers())


def _hear(learner: DemandLearner, label: str, parts: dict[str, Any], content: bytes) -> list[DemandHeard]:
    """Let the learner read a refusal of a valid case in the coverage phase."""
    meta = CaseMetadata(GenerationMode.POSITIVE, {}, PhaseInfo("coverage"))
    case = Case(OPERATIONS[Label(label)], "c", meta=meta, **parts)
    made = GeneratedCase(case, Label(label), (), (), Literal({}, {}, {}, {}, (), None, "positive"))
    return _observed(learner, made, Response(422, [("Content-Type", "application/json")], content))


def _observed(learner: DemandLearner, made: GeneratedCase, response: Response, index: int = 0) -> list[DemandHeard]:
    """Return the demands in a response, without the count of its case."""
    return [one for one in learner.observe(made, response, "coverage", index) if isinstance(one, DemandHeard)]


def _complaint(*place: str) -> bytes:
    loc = ", ".join(f'"{name}"' for name in place)
    return f'{{"detail": [{{"loc": [{loc}], "type": "string_too_short", "ctx": {{"min_length": 5}}}}]}}'.encode()


def _places(learner: DemandLearner, label: str, phase: str) -> set[tuple[str, ...]]:
    wanted = learner.wanted(Label(label), phase)
    assert {one.keyword for one in wanted} <= {"minLength"}
    return {one.path for one in wanted}


HEADER = ("GET /a", {"headers": {"X-Version": "1"}}, ("header", "X-Version"))
ID = ("GET /users/{id}", {"path_parameters": {"id": "1"}}, ("path", "id"))
NAME = ("POST /people", {"body": {"name": "a"}, "media_type": "application/json"}, ("body", "name"))
ZIP = ("POST /people", {"body": {"home": {"zip": "1"}}, "media_type": "application/json"}, ("body", "home", "zip"))


@pytest.mark.parametrize(
    ("heard", "other", "path"),
    [
        (HEADER, "GET /b", ("x-version",)),
        (ID, "GET /users/{id}/mail", ("id",)),
        (NAME, "POST /staff", ("name",)),
        (ZIP, "POST /staff", ("home", "zip")),
        (ZIP, "POST /shops", ("at", "*", "zip")),
    ],
)
def test_a_demand_on_a_common_part_holds_from_the_next_layer_on(
    heard: tuple[str, dict[str, Any], tuple[str, ...]], other: str, path: tuple[str, ...]
) -> None:
    label, parts, place = heard
    learner = _learner()
    assert _hear(learner, label, parts, _complaint(*place))
    assert _places(learner, other, "coverage") == {path}
    assert _places(learner, label, "coverage") == set()
    assert _places(learner, label, "fuzzing") == {place[1:]}


@pytest.mark.parametrize(
    ("heard", "other"), [(HEADER, "GET /c"), (ID, "GET /pets/{id}"), (NAME, "POST /shops"), (HEADER, "GET /pets/{id}")]
)
def test_a_demand_on_another_part_does_not_hold(heard: tuple[str, dict[str, Any], tuple[str, ...]], other: str) -> None:
    label, parts, place = heard
    learner = _learner()
    assert _hear(learner, label, parts, _complaint(*place))
    assert _places(learner, other, "fuzzing") == set()


@pytest.mark.parametrize(
    ("label", "others"), [("GET /users/{id}", set()), ("GET /users/{id}/mail", {"GET /users/{id}/notes"})]
)
def test_a_form_of_names_in_paths_holds_for_what_is_below_them(label: str, others: set[str]) -> None:
    # At the end of one path, some operations take ids and others names.
    learner = _learner()
    assert _hear(learner, label, ID[1], b'{"detail": [{"loc": ["path", "id"], "type": "uuid_parsing", "msg": "x"}]}')
    assert [one.keyword for one in learner.wanted(Label(label), "fuzzing")] == ["format"]
    assert {one for one in OPERATIONS if learner.wanted(one, "fuzzing")} == {label, *others}


def test_a_journal_of_another_worker_teaches_the_same() -> None:
    one, other = _learner(), _learner()
    for record in _hear(one, *HEADER[:2], _complaint(*HEADER[2])):
        other.absorb(record)
    assert other.wanted(Label("GET /b"), "coverage") == one.wanted(Label("GET /b"), "coverage") != ()


def test_cases_that_another_worker_had_accepted_in_an_earlier_phase_decide_nothing() -> None:
    meta = CaseMetadata(GenerationMode.POSITIVE, {}, PhaseInfo("examples"))
    label = Label(HEADER[0])
    case = Case(OPERATIONS[label], "c", headers={"X-Version": "1"}, meta=meta)
    made = GeneratedCase(case, label, (), (), Literal({}, {}, {}, {}, (), None, "positive"))
    alone, other = _learner(), _learner()
    for record in list(alone.observe(made, Response(200, [], b""), "examples", 0)):
        other.absorb(record)
    for learner in (alone, other):
        _hear(learner, *HEADER[:2], _complaint(*HEADER[2]))
    assert alone.wanted(label, "fuzzing") == other.wanted(label, "fuzzing") != ()


def test_an_operation_for_which_no_layer_waits_teaches_itself_alone() -> None:
    learner = _learner()
    learner.layers = InLayers(HEADER[0])
    _hear(learner, *HEADER[:2], _complaint(*HEADER[2]))
    assert _places(learner, "GET /b", "fuzzing") == set()
    assert _places(learner, "GET /a", "fuzzing") == {("X-Version",)}
    _hear(learner, *ID[:2], _complaint(*ID[2]))
    assert _places(learner, "GET /users/{id}/mail", "coverage") == {("id",)}


def test_in_fuzz_a_demand_on_a_common_part_holds_at_once() -> None:
    learner = _learner(at_once=True)
    _hear(learner, *HEADER[:2], _complaint(*HEADER[2]))
    assert _places(learner, "GET /b", "exploration") == {("x-version",)}


def test_an_operation_that_accepts_other_values_drops_the_demand_for_itself_alone() -> None:
    learner = _learner()
    _hear(learner, *HEADER[:2], _complaint(*HEADER[2]))
    meta = CaseMetadata(GenerationMode.POSITIVE, {}, PhaseInfo("coverage"))
    case = Case(OPERATIONS[Label("GET /b")], "c", headers={"x-version": "1"}, meta=meta)
    made = GeneratedCase(case, Label("GET /b"), (), (), Literal({}, {}, {}, {}, (), None, "positive"))
    (refuted,) = _observed(learner, made, Response(200, [], b""))
    assert refuted.is_refuted
    assert _places(learner, "GET /b", "fuzzing") == set()
    assert _places(learner, "GET /a", "fuzzing") == {("X-Version",)}


def test_the_keys_of_parts_do_not_depend_on_the_operation() -> None:
    keys = {label: {part.key for part in common_parts(one)} for label, one in OPERATIONS.items()}
    assert len(keys[Label("GET /a")] & keys[Label("GET /b")]) == 1
    assert Constraint("body", ("home", "zip"), "minLength", "5") in [
        Constraint(part.location, (*part.path, "zip"), "minLength", "5")
        for part in common_parts(OPERATIONS[Label("POST /staff")])
    ]


class _Counted(str):
    """A label that counts how often it is looked up."""

    __slots__ = ()
    lookups = 0

    def __hash__(self) -> int:
        _Counted.lookups += 1
        return super().__hash__()


def test_a_case_does_not_cost_more_if_many_operations_have_heard_the_same() -> None:
    learner = _learner()
    (heard,) = _hear(_learner(), *HEADER[:2], _complaint(*HEADER[2]))
    for number in range(50):
        learner.absorb(replace(heard, label=Label(_Counted(f"GET /{number}"))))
    _Counted.lookups = 0
    assert {len(learner.wanted(Label("GET /b"), "coverage", index)) for index in range(100)} == {1}
    assert _Counted.lookups < 10


def test_refutations_are_told_however_many_demands_were_heard() -> None:
    learner = _learner()
    (heard,) = _hear(learner, *HEADER[:2], _complaint(*HEADER[2]))
    for number in range(200):
        learner.absorb(replace(heard, demand=Constraint("query", (f"q{number}",), "minLength", "5")))
    case = Case(
        OPERATIONS[Label("GET /a")],
        "c",
        headers={"X-Version": "1"},
        meta=CaseMetadata(GenerationMode.POSITIVE, {}, PhaseInfo("coverage")),
    )
    made = GeneratedCase(case, Label("GET /a"), (), (), Literal({}, {}, {}, {}, (), None, "positive"))
    (refuted,) = _observed(learner, made, Response(200, [], b""), 1)
    assert (refuted.demand, refuted.is_refuted) == (heard.demand, True)
