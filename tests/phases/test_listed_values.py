"""Listed cases take names that earlier answers gave, in paths that they are not about."""

from contextlib import suppress
from typing import Any

import pytest
from msgspec import Struct

from checker.core.case import Case
from checker.core.meta import Binding, CaseMetadata, ComponentProvenance, GenerationMode, PhaseData, PhaseInfo
from checker.core.operation import Label
from checker.core.phases import phase_named
from checker.core.request import Location
from checker.core.scenarios import Scenario
from checker.generation.boundaries.cases import BoundaryCase, Parts
from checker.generation.settings import GenerationSettings
from checker.phases.bindings import BoundPool, has_ordinary_name, renew, take_names
from checker.phases.case_factory import CaseFactory, Exhausted, FilteredOut, GenerationRules
from checker.phases.listed_phases import edge_cases
from tests.openapi.documents import operation


def case_of(
    schema: Any, about: str | None = None, *, outside: tuple[str, ...] = (), phase: str = "coverage", **more: Any
) -> Case:
    parameter = {"name": "id", "in": "path", "required": True, "schema": schema, **more}
    part = ComponentProvenance(outside=outside)
    told = PhaseInfo(phase, PhaseData(parameter_location=about))
    meta = CaseMetadata(GenerationMode.POSITIVE, {Location.PATH: part}, told)
    described = operation({"parameters": [parameter]}, path="/a/{id}")
    return Case(described, "a", path_parameters={"id": "made up"}, meta=meta)


def pool(literal: object) -> BoundPool:
    return BoundPool.of((Binding(Location.PATH, "id", Label("POST /a"), "/id", 0, literal),))


@pytest.mark.parametrize(
    ("schema", "literal", "value"),
    [
        ({"type": "integer"}, 7, 7),
        ({"type": "integer"}, "7", 7),
        ({"type": "string"}, 7, "7"),
        ({"type": "string"}, "x-7", "x-7"),
    ],
)
def test_a_name_is_taken_as_its_schema_wants_it(schema: Any, literal: object, value: object) -> None:
    case = case_of(schema, about="query")
    (taken,) = take_names(case, pool(literal))
    assert (case.path_parameters, taken.literal) == ({"id": value}, value)
    assert case.meta is not None
    assert case.meta.bindings == (taken,)


@pytest.mark.parametrize(
    ("case", "literal"),
    [
        (case_of({"type": "integer"}, about="path"), 7),
        (case_of({"type": "integer"}), "x"),
        (case_of({"type": "string"}), "a/b"),
        (case_of({"type": "string"}), ".."),
        (case_of({"type": "string"}), True),
        (case_of({"type": "string"}, example="e"), "x"),
        (case_of({"type": "string"}, outside=("id",)), "x"),
    ],
    ids=["about it", "another type", "two segments", "dots", "no name", "example", "forced"],
)
def test_others_stay_as_they_are(case: Case, literal: object) -> None:
    assert take_names(case, pool(literal)) == ()
    assert case.path_parameters == {"id": "made up"}


@pytest.mark.parametrize(
    ("path", "method"), [("/users/{id}", "delete"), ("/users/{id}", "get"), ("/pets/{id}", "delete")]
)
@pytest.mark.parametrize("phase", ["coverage", "fuzzing"])
def test_no_invented_number_removes_the_account_of_the_run(path: str, method: str, phase: str) -> None:
    parameter = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
    described = operation({"parameters": [parameter]}, path=path, method=method)
    factory = CaseFactory(
        {described.label: described},
        GenerationRules.alike(GenerationSettings(mode=GenerationMode.POSITIVE)),
        lister=lambda _: edge_cases,
    )
    sent = set()
    with suppress(Exhausted):
        for index in range(300):
            with suppress(FilteredOut):
                made = factory.maker(phase_named(phase))(described.label, 1, index, PhaseInfo(phase))
                sent.add(made.case.path_parameters["id"])
    assert any(0 < one < 100 for one in sent) is ((path, method) != ("/users/{id}", "delete"))
    assert max(sent) > 1000


@pytest.mark.parametrize(
    ("value", "is_ordinary"), [(1, True), (-1, True), (2**31, False), (2**63, False), ("00", True), ("0" * 255, False)]
)
def test_an_ordinary_name_is_not_worth_a_case_where_others_are_known(value: object, *, is_ordinary: bool) -> None:
    case = case_of({}, about="path")
    assert case.meta is not None
    case.meta.phase.data |= {"parameter": "id", "scenario": Scenario.NUMBER}
    case.path_parameters["id"] = value
    assert has_ordinary_name(case, pool(7)) is is_ordinary
    case.operation = operation({}, path="/a/{id}", method="delete")
    assert has_ordinary_name(case, pool(7))
    assert not has_ordinary_name(case, BoundPool.of(()))
    assert not has_ordinary_name(case_of({}, about="query"), pool(7))


def test_without_a_pool_nothing_is_taken() -> None:
    assert take_names(case_of({"type": "string"}), None) == ()


def test_a_case_about_one_part_of_a_path_takes_names_for_the_others() -> None:
    names = ("owner", "pet")
    parameters = [{"name": name, "in": "path", "required": True, "schema": {"type": "integer"}} for name in names]
    path = operation({"parameters": parameters}, path="/owners/{owner}/pets/{pet}")
    data: dict[str, str | None] = {"parameter_location": "path", "parameter": "pet"}
    part = ComponentProvenance(outside=())
    meta = CaseMetadata(GenerationMode.POSITIVE, {Location.PATH: part}, PhaseInfo("coverage", PhaseData(data)))
    case = Case(path, "a", path_parameters={"owner": 1, "pet": 0}, meta=meta)
    known = BoundPool.of(tuple(Binding(Location.PATH, name, Label("POST /a"), "/id", 0, 7) for name in names))
    take_names(case, known)
    assert case.path_parameters == {"owner": 7, "pet": 0}


class Counting(Struct):
    """A pool that gives the index."""

    def pick(self, location: Location, name: str, index: int) -> Binding | None:
        return Binding(location, name, Label("POST /a"), "/id", index, index)


def test_the_cases_of_a_list_take_likely_values_in_turn() -> None:
    taken = [take_names(case_of({"type": "integer"}), Counting(), number) for number in range(4)]
    assert [one.literal for (one,) in taken] == [0, 20, 40, 0]


class Titled(Struct):
    """A pool whose best value alone fits."""

    def pick(self, location: Location, name: str, index: int) -> Binding | None:
        return Binding(location, name, Label("POST /a"), "/id", index, "a title" if index else 7)


def test_a_case_takes_the_best_value_where_the_one_of_its_turn_does_not_fit() -> None:
    taken = [take_names(case_of({"type": "integer"}), Titled(), number) for number in range(3)]
    assert [one.literal for (one,) in taken] == [7, 7, 7]


@pytest.mark.parametrize(("phase", "expected"), [("coverage", [[], [20], [40], []]), ("examples", [[], [], [], []])])
def test_every_third_case_and_the_examples_phase_keep_the_example_of_a_path(
    phase: str, expected: list[list[int]]
) -> None:
    cases = [case_of({"type": "integer"}, phase=phase, example=5) for _ in range(4)]
    taken = [take_names(case, Counting(), number) for number, case in enumerate(cases)]
    assert [[one.literal for one in names] for names in taken] == expected


@pytest.mark.parametrize(
    ("about", "outside", "is_fresh"),
    [(None, (), True), ("X-Other", (), True), ("Idempotency-Key", (), False), (None, ("Idempotency-Key",), False)],
)
def test_each_case_has_an_idempotency_key_of_its_own_unless_it_is_about_it(
    about: str | None, outside: tuple[str, ...], is_fresh: bool
) -> None:
    parts = Parts().with_value(Location.HEADER, "Idempotency-Key", "00000000")
    listed = BoundaryCase(
        parts,
        GenerationMode.POSITIVE,
        "",
        Scenario.STRING,
        parameter=about,
        location=None if about is None else Location.HEADER,
        outside={Location.HEADER: outside},
    )
    keys = []
    for token in ("a", "b"):
        case = listed.case(operation({}), token)
        assert renew(case, listed, token) == (token if is_fresh else "")
        keys.append(case.headers["Idempotency-Key"])
    assert (len(set(keys)) == 2) is is_fresh
    assert ("00000000" not in keys) is is_fresh
