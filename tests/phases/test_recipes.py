"""Cases of every recipe: made again as they were, made small without becoming another kind of case, kept as bytes."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from checker.config.overrides import Override, Overrides
from checker.core.case import Case
from checker.core.contract import Outcome
from checker.core.credentials import Credentials
from checker.core.digests import case_id
from checker.core.hooks import Hook, HookContext, HookRegistry
from checker.core.meta import Binding, Drawn, GenerationMode, Listed, Literal, PhaseInfo, Step, told
from checker.core.operation import Label, Location, Operation
from checker.core.phases import phase_named
from checker.corpus.secrets import Secrets
from checker.generation.boundaries.values import likeness
from checker.generation.program import GenerationSettings, OperationProgram
from checker.kinds.protocol import ApiOperation
from checker.openapi.loaders import from_dict
from checker.phases.case_factory import (
    CaseFactory,
    Exhausted,
    FilteredOut,
    GeneratedCase,
    GenerationRules,
    OutOfDate,
    plainest_like,
    undescribed_method,
)
from checker.phases.case_parts import literal_of, places_of
from checker.phases.listed_phases import edge_cases
from checker.phases.listing import Lister, ListingContext
from checker.phases.shrinking import shrink_case
from checker.transport.prepare import plain_maker
from checker.workers.observers.saved_examples import SavedExamples
from tests.searching import searched

LABEL = Label("POST /things")
COVERAGE = PhaseInfo("coverage")
THING = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "minLength": 2, "maxLength": 5},
        "size": {"type": "integer", "minimum": 1},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "owner": {
            "type": "object",
            "required": ["id"],
            "properties": {"id": {"type": "integer"}, "note": {"type": "string"}},
        },
    },
}
PARAMETERS = [
    {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1}},
    {"name": "sort", "in": "query", "schema": {"enum": ["up", "down"]}},
    {"name": "trace", "in": "header", "schema": {"type": "string"}},
    {"name": "key", "in": "query", "required": True, "schema": {"type": "integer"}},
]


def operation(thing: Any = THING) -> ApiOperation:
    document = {
        "openapi": "3.0.3",
        "info": {"title": "Things", "version": "1"},
        "paths": {
            "/things": {
                "post": {
                    "parameters": PARAMETERS,
                    "requestBody": {"required": True, "content": {"application/json": {"schema": thing}}},
                    "responses": {"200": {"description": ""}},
                }
            }
        },
    }
    (found,) = from_dict(document).get_all_operations()
    assert not hasattr(found, "error")
    return found


THINGS = operation()


def given(of: Operation, context: ListingContext) -> Iterator[Case]:
    """Cases that are made already, as others may have them from anywhere."""
    body = {"name": "abc", "size": 7, "tags": ["a", "b"], "owner": {"id": 1, "note": "n"}}
    yield Case(of, "x", query={"key": 1, "limit": 5}, body=body, media_type="application/json")


def factory(of: ApiOperation = THINGS, *, mode: GenerationMode | None = None, hook: Hook | None = None) -> CaseFactory:
    settings = GenerationSettings(mode=mode)
    listers: dict[str, Lister] = {"coverage": edge_cases, "given": given}
    rules = GenerationRules.alike(settings)
    hooks = HookRegistry()
    if hook is not None:
        hooks.register(hook)
    return CaseFactory({LABEL: of}, rules, hooks=hooks, lister=listers.__getitem__)


def all_listed(makes: CaseFactory) -> list[GeneratedCase]:
    found: list[GeneratedCase] = []
    while True:
        try:
            found.append(makes.listed(LABEL, 1, len(found), COVERAGE))
        except Exhausted:
            return found


def first(makes: CaseFactory, accepts: Callable[[Case], bool]) -> GeneratedCase:
    return next(made for made in all_listed(makes) if accepts(made.case))


RECIPES: dict[str, Callable[[CaseFactory], GeneratedCase]] = {
    "drawn": lambda makes: makes.make(LABEL, 3, 1, PhaseInfo("fuzzing")),
    "listed": lambda makes: makes.listed(LABEL, 3, 4, COVERAGE),
    "literal": lambda makes: makes.listed(LABEL, 3, 0, PhaseInfo("given")),
}
KINDS: dict[str, type[object]] = {"drawn": Drawn, "listed": Listed, "literal": Literal}


@pytest.mark.parametrize("kind", RECIPES)
def test_a_step_makes_the_same_request_again(kind: str) -> None:
    made = RECIPES[kind](factory())
    again = factory().remake(made.step, name="again", phase=PhaseInfo("any"))
    assert isinstance(made.recipe, KINDS[kind])
    assert likeness(again.case) == likeness(made.case)
    assert again.step == made.step
    assert again.case.id == "again"


@pytest.mark.parametrize("is_wrong", [False, True])
def test_a_later_step_draws_no_case_of_the_mode_that_is_not_wanted(
    monkeypatch: pytest.MonkeyPatch, *, is_wrong: bool
) -> None:
    drawn: list[GenerationMode] = []
    draw = OperationProgram.draw

    def noted(program: OperationProgram, *arguments: Any) -> Case:
        case = draw(program, *arguments)
        assert case.meta is not None
        drawn.append(case.meta.mode)
        return case

    monkeypatch.setattr(OperationProgram, "draw", noted)
    makes = factory()
    for index in range(100):
        makes.make_step(LABEL, (5, index, 1), PhaseInfo("stateful"), (), is_wrong=is_wrong)
    assert len(drawn) == 100
    assert sum(mode.is_negative is not is_wrong for mode in drawn) <= 3


@pytest.mark.parametrize("kind", RECIPES)
def test_a_case_made_again_shares_nothing(kind: str) -> None:
    makes = factory()
    made = RECIPES[kind](makes)
    one, other = (makes.remake(made.step, name="n", phase=COVERAGE).case for _ in range(2))
    one.query["more"] = 1
    if isinstance(one.body, dict):
        one.body["more"] = 1
    assert likeness(other) == likeness(made.case)


@pytest.mark.parametrize("kind", RECIPES)
def test_recipes_are_kept_as_bytes(kind: str, tmp_path: Path) -> None:
    step = RECIPES[kind](factory()).step
    saved = SavedExamples(str(tmp_path))
    saved.save((step,))
    assert SavedExamples(str(tmp_path)).load(LABEL) == [(step,)]
    saved.forget((step,))
    assert saved.load(LABEL) == []


SECRET = "tok-C4n4ry-0001"
ELSEWHERE = Binding(Location.QUERY, "key", Label("POST /sessions"), "/token", 0, SECRET)
FOUND_ANEW = replace(ELSEWHERE, expression='"$response.body#/token"', step=0)


@pytest.mark.parametrize(
    ("step", "is_kept"),
    [
        (Step(LABEL, Drawn((1, 2)), (ELSEWHERE,)), False),
        (Step(LABEL, Drawn((1, f"Bearer {SECRET}"))), False),
        (Step(LABEL, Literal({}, {}, {}, {}, ({"a": [{SECRET: 1}]},), None, "positive")), False),
        (Step(LABEL, Literal({}, {}, {}, {}, (SECRET.encode(),), None, "positive")), False),
        # The value is left out: whoever sends the sequence again finds it in an answer.
        (Step(LABEL, Drawn((1, 2)), (FOUND_ANEW,)), True),
        (Step(LABEL, Drawn((1, 2)), (replace(ELSEWHERE, literal="B-7"),)), True),
    ],
)
def test_recipes_with_secrets_are_not_kept(step: Step, is_kept: bool, tmp_path: Path) -> None:
    secrets = Secrets()
    saved = SavedExamples(str(tmp_path), secrets)
    # What a source of credentials gives is known later than the recipes of earlier runs.
    secrets.add_credentials(Credentials({"Authorization": f"Bearer {SECRET}"}))
    saved.save((step,))
    assert bool(saved.load(LABEL)) is is_kept
    kept = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(SECRET.encode() in content for content in kept)


@pytest.mark.parametrize("kind", RECIPES)
def test_recipes_are_told_to_people(kind: str) -> None:
    step = RECIPES[kind](factory()).step
    words = {"drawn": "choices [", "listed": "number 4 of the coverage phase", "literal": "abc"}
    assert words[kind] in told(step.recipe)


def test_listed_cases_say_what_they_are_and_end() -> None:
    found = all_listed(factory())
    assert [made.case.id for made in found] == [case_id(1, index) for index in range(len(found))]
    assert len({likeness(made.case) for made in found}) == len(found)
    for made in found:
        assert made.case.meta is not None
        assert made.case.meta.phase.name == "coverage"
        assert made.case.meta.phase.data["scenario"]


def test_listed_cases_say_what_in_them_came_from_outside() -> None:
    forced = Override(Location.QUERY, ("limit",), (7,))
    settings = GenerationSettings(overrides=Overrides((forced,)), fixed_headers=frozenset({"trace"}))
    rules = GenerationRules.alike(settings)
    makes = CaseFactory({LABEL: THINGS}, rules)
    for made in all_listed(makes):
        meta = made.case.meta
        assert meta is not None
        told = {place: part.outside for place, part in meta.components.items()}
        wanted = {Location.QUERY: ("limit",), Location.HEADER: ("trace",), Location.BODY: ()}
        assert told == {place: wanted[place] for place in told}


def test_a_case_of_another_description_is_not_taken_for_it() -> None:
    made = factory().listed(LABEL, 1, 2, COVERAGE)
    other = operation({"type": "object", "properties": {"other": {"type": "boolean"}}})
    with pytest.raises(OutOfDate, match="case 2 of the coverage phase is a different case now"):
        factory(other).remake(made.step, name="n", phase=COVERAGE)


def test_hooks_of_whole_cases_see_listed_ones() -> None:
    def map_case(context: HookContext, case: Case) -> Case:
        case.query["mapped"] = "yes"
        return case

    def filter_case(context: HookContext, case: Case) -> bool:
        return False

    assert factory(hook=map_case).listed(LABEL, 1, 0, COVERAGE).case.query["mapped"] == "yes"
    with pytest.raises(FilteredOut):
        factory(hook=filter_case).listed(LABEL, 1, 0, COVERAGE)


@pytest.mark.parametrize("kind", RECIPES)
def test_what_the_failure_does_not_need_is_left_out(kind: str) -> None:
    makes = factory(mode=GenerationMode.POSITIVE)

    def fails(made: GeneratedCase) -> bool:
        body = made.case.body
        return isinstance(body, dict) and "owner" in body

    started = RECIPES[kind](makes)
    if kind == "listed":
        started = first(makes, lambda case: len(places_of(case)) > 5 and "owner" in case.body)
    elif kind == "drawn":
        drawn = (makes.make(LABEL, 3, index, PhaseInfo("fuzzing")) for index in range(99))
        started = next(made for made in drawn if fails(made) and len(made.case.body) > 2)
    shrunk = searched(shrink_case(makes, started, "small", COVERAGE), fails)
    case = shrunk.case
    # What is required stays: the case is as valid as it was.
    assert set(case.body) == {"name", "owner"}
    assert set(case.body["owner"]) == {"id"}
    assert set(case.query) == {"key"}
    assert case.headers == {}
    again = makes.remake(shrunk.step, name="n", phase=COVERAGE)
    assert likeness(again.case) == likeness(case)


def test_an_item_that_takes_the_place_of_another_ends_no_shrink() -> None:
    makes = factory(mode=GenerationMode.POSITIVE)
    started = first(makes, lambda case: case.body and len(case.body.get("tags", ())) == 2)
    case = searched(shrink_case(makes, started, "small", COVERAGE), lambda made: made.case.body.get("tags")).case
    assert len(case.body["tags"]) == 1


def test_what_is_wrong_stays_wrong_in_the_same_way() -> None:
    makes = factory(mode=GenerationMode.NEGATIVE)
    started = first(makes, lambda case: case.query.get("limit") == 0 and isinstance(case.body, dict))
    case = searched(shrink_case(makes, started, "small", COVERAGE), lambda made: True).case
    assert case.query == {"key": 0, "limit": 0}
    assert set(case.body) == {"name"}


@pytest.mark.parametrize("kind", ["listed", "literal"])
def test_values_are_made_as_small_as_the_failure_admits(kind: str) -> None:
    makes = factory(mode=GenerationMode.POSITIVE)
    started = RECIPES[kind](makes)
    if kind == "listed":
        started = first(makes, lambda case: case.body and case.body.get("size", 0) > 1)
    size = started.case.body["size"]

    def fails(made: GeneratedCase) -> bool:
        body = made.case.body
        return isinstance(body, dict) and body.get("size", 0) >= min(size, 3)

    shrunk = searched(shrink_case(makes, started, "small", COVERAGE), fails)
    case = shrunk.case
    assert case.body["size"] == min(size, 3)
    assert case.query == {"key": 0}
    # As valid as it was: the name keeps its shortest length.
    assert case.operation.judge_request(plain_maker().make(case)).outcome is Outcome.VALID
    again = makes.remake(shrunk.step, name="n", phase=COVERAGE)
    assert likeness(again.case) == likeness(case)


def test_a_case_that_stays_is_not_made_again_for_each_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    makes = factory(mode=GenerationMode.NEGATIVE)
    started = first(makes, lambda case: case.query.get("limit") == 0)
    made: list[Step] = []
    remake = CaseFactory.remake

    def noted(self: CaseFactory, step: Step, *, name: str, phase: PhaseInfo) -> GeneratedCase:
        made.append(step)
        return remake(self, step, name=name, phase=phase)

    monkeypatch.setattr(CaseFactory, "remake", noted)
    searched(shrink_case(makes, started, "small", COVERAGE), lambda candidate: False)
    assert len(made) > 3
    # Before the first candidate, before values are lowered, and as what comes of it.
    assert made.count(started.step) == 3


def test_a_shrink_can_be_ended() -> None:
    makes = factory()
    started = RECIPES["literal"](makes)
    asked: list[GeneratedCase] = []

    def fails(made: GeneratedCase) -> bool:
        asked.append(made)
        return False

    shrunk = searched(shrink_case(makes, started, "small", COVERAGE), fails, 2)
    assert len(asked) == 2
    assert likeness(shrunk.case) == likeness(started.case)


def test_the_simplest_case_has_no_more_than_it_needs() -> None:
    makes = factory()
    found = all_listed(makes)
    simplest = makes.simplest(found[5].step, name="n", phase=COVERAGE)
    assert isinstance(simplest.recipe, Drawn)
    assert len(places_of(simplest.case)) < max(len(places_of(made.case)) for made in found)


def test_the_simplest_case_is_valid_like_its_model() -> None:
    makes = factory()
    drawn = [makes.drawn(LABEL, 1, index, PhaseInfo("fuzzing")) for index in range(40)]
    modes = {made.case.meta.mode: made for made in drawn if made.case.meta is not None}
    assert set(modes) == set(GenerationMode)
    for mode, made in modes.items():
        simplest = plainest_like(makes, made, PhaseInfo("fuzzing"))
        assert simplest.case.meta is not None
        assert simplest.case.meta.mode is mode
    # Only the method is wrong.
    probe = first(makes, lambda case: undescribed_method(case) is not None)
    simplest = plainest_like(makes, probe, PhaseInfo("fuzzing"))
    assert undescribed_method(simplest.case) == probe.case.method
    valid = replace(literal_of(simplest.case), method=None)
    case = makes.remake(Step(LABEL, valid), name="v", phase=COVERAGE).case
    assert case.operation.judge_request(plain_maker().make(case)).outcome is Outcome.VALID


@pytest.mark.parametrize("phase", ["unknown", "fuzzing"])
def test_a_recipe_of_a_phase_that_lists_nothing_is_out_of_date(phase: str) -> None:
    rules = GenerationRules.alike(GenerationSettings())
    makes = CaseFactory({LABEL: THINGS}, rules)
    with pytest.raises(OutOfDate, match=f"nothing lists cases for the phase '{phase}'"):
        makes.remake(Step(LABEL, Listed(phase, 0, "")), name="n", phase=COVERAGE)


def test_rows_say_what_a_phase_makes() -> None:
    makes = factory()
    sources = {"coverage": makes.listed, "fuzzing": makes.drawn, "stateful": makes.make_first}
    for name, make in sources.items():
        phase = PhaseInfo(name)
        made, wanted = makes.maker(phase_named(name))(LABEL, 1, 1, phase), make(LABEL, 1, 1, phase)
        assert likeness(made.case) == likeness(wanted.case)
