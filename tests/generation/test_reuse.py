from dataclasses import dataclass, field
from typing import Any

import pytest

from checker.core.meta import Binding, CaseMetadata, ComponentProvenance, GenerationMode, Origin
from checker.core.operation import Label, Location
from checker.generation.program import GenerationSettings
from checker.generation.sources.choices import RandomSource
from checker.generation.sources.replay import ReplaySource
from tests.measuring.conjecture import replay_through_conjecture

from .making import PHASE, drawer, parameter_of, parts, program_of

PRODUCER = Label("GET /things")
BODY = {
    "type": "object",
    "properties": {
        "owner": {"type": "string"},
        "kind": {"enum": ["a", "b"]},
        "lines": {
            "type": "array",
            "items": {"type": "object", "properties": {"sku": {"type": "integer"}}, "required": ["sku"]},
        },
    },
    "required": ["owner", "lines", "kind"],
}
SETTINGS = GenerationSettings(reuse=True)
PROGRAM = program_of(
    parameter_of({"type": "integer"}, Location.PATH, "id"),
    parameter_of({"type": "string"}, Location.QUERY, "q"),
    parameter_of({"enum": ["x"]}, Location.QUERY, "fixed"),
    body=BODY,
    settings=SETTINGS,
)


@dataclass
class Pool:
    values: dict[tuple[Location, str], Any]
    asked: set[tuple[Location, str]] = field(default_factory=set)

    def pick(self, location: Location, name: str, index: int) -> Binding | None:
        self.asked.add((location, name))
        value = self.values.get((location, name))
        return None if value is None else Binding(location, name, PRODUCER, "/id", index % 2, value)


@dataclass
class Bound:
    bindings: tuple[Binding, ...]

    def pick(self, location: Location, name: str, index: int) -> Binding | None:
        for binding in self.bindings:
            if (binding.location, binding.name) == (location, name):
                return binding
        return None


POOL = Pool(
    {
        (Location.PATH, "id"): "42",
        (Location.QUERY, "q"): 5,
        (Location.BODY, "/owner"): "somebody",
        (Location.BODY, "/lines/0/sku"): 77,
        (Location.BODY, "/lines/1/sku"): "not a number",
    }
)


def _drawn(pool: Any, seed: int) -> tuple[Any, RandomSource]:
    source = RandomSource(seed)
    return PROGRAM.draw(source, case_id="c", phase=PHASE, pool=pool), source


def test_values_are_taken_where_they_fit_as_often_as_meant() -> None:
    drawn = [_drawn(POOL, seed)[0] for seed in range(500)]
    assert 450 < sum(case.path_parameters["id"] == 42 for case in drawn) < 500
    assert 60 < sum(case.query["q"] == "5" for case in drawn) < 150
    assert 60 < sum(case.body["owner"] == "somebody" for case in drawn) < 150
    skus = [line["sku"] for case in drawn for line in case.body["lines"][:2]]
    assert 77 in skus
    assert all(isinstance(sku, int) for sku in skus)
    assert not any(name in ("fixed", "/kind") for _, name in POOL.asked)


@pytest.mark.parametrize(("name", "is_taken"), [("éé中א😀", True), (" a b!", False), ("a/b", False), ("\ud800", False)])
def test_names_in_paths_may_have_characters_that_are_not_drawn(name: str, *, is_taken: bool) -> None:
    program = program_of(parameter_of({"type": "string"}, Location.PATH, "id"), settings=SETTINGS)
    pool = Pool({(Location.PATH, "id"): name})
    drawn = [program.draw(RandomSource(seed), case_id="c", phase=PHASE, pool=pool) for seed in range(50)]
    assert any(case.path_parameters["id"] == name for case in drawn) == is_taken


def test_bindings_and_provenance_say_what_was_taken() -> None:
    case = next(case for seed in range(50) if (case := _drawn(POOL, seed)[0]).body["owner"] == "somebody")
    assert case.meta is not None
    taken = {binding.name: binding for binding in case.meta.bindings}
    assert taken["/owner"].literal == "somebody"
    assert taken["/owner"].producer == PRODUCER
    assert case.meta.components[Location.BODY].origin is Origin.POOL
    assert ("id" in taken) == (case.meta.components[Location.PATH].origin is Origin.POOL)


def test_values_of_answers_are_from_outside() -> None:
    for seed in range(50):
        case = _drawn(POOL, seed)[0]
        assert case.meta is not None
        taken = {binding.name for binding in case.meta.bindings}
        assert case.meta.outside(Location.PATH) == (("id",) if "id" in taken else ())
        assert case.meta.outside(Location.QUERY) == (("q",) if "q" in taken else ())
        named = {"/owner": "owner", "/lines/0/sku": "lines", "/lines/1/sku": "lines"}
        wanted = {of for name, of in named.items() if name in taken}
        assert set(case.meta.outside(Location.BODY)) >= wanted
        assert ("owner" in case.meta.outside(Location.BODY)) == ("/owner" in taken)


@pytest.mark.parametrize(
    ("pointer", "named"),
    [("/a/b", "a.b"), ("/a/b/0/c", "a.b"), ("/0", "*"), ("", "*"), ("/a~1b", "*"), ("/a/b.c", "a.b.c")],
)  # fmt: skip
def test_a_place_in_a_body_is_named_up_to_the_first_list(pointer: str, named: str) -> None:
    taken = (Binding(Location.BODY, pointer, PRODUCER, "/id", 0, "x"),)
    components = {Location.BODY: ComponentProvenance(outside=("z",))}
    meta = CaseMetadata(GenerationMode.POSITIVE, components, PHASE, taken)
    assert meta.outside(Location.BODY) == ("z", named)


def test_choices_do_not_depend_on_the_pool_where_nothing_is_taken() -> None:
    for seed in range(50):
        with_none, first = _drawn(None, seed)
        with_empty, second = _drawn(Pool({}), seed)
        assert parts(with_none) == parts(with_empty)
        assert first.choices == second.choices


def test_records_replay_with_a_pool_of_their_bindings() -> None:
    for seed in range(200):
        case, source = _drawn(POOL, seed)
        assert case.meta is not None
        bound = Bound(case.meta.bindings)
        replay = ReplaySource(tuple(source.choices))
        again = PROGRAM.draw(replay, case_id="c", phase=PHASE, pool=bound)
        assert parts(case) == parts(again)
        assert source.choices == replay.choices
        assert again.meta is not None
        assert case.meta.bindings == again.meta.bindings
        draw = lambda given: PROGRAM.draw(given, case_id="c", phase=PHASE, pool=bound)  # noqa: B023, E731
        value, status, is_exact = replay_through_conjecture(draw, source.choices)
        assert (status, is_exact) == ("VALID", True)
        assert value is not None
        assert parts(case) == parts(value)


def test_nothing_is_asked_without_reuse() -> None:
    program = program_of(parameter_of({"type": "integer"}, Location.PATH, "id"))
    source = RandomSource(1)
    drawer(program)(source)
    assert len(source.choices) == 1
