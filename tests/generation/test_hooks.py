from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.core.case import NOT_SET, Case
from checker.core.errors import HookError, Unsatisfiable
from checker.core.hooks import HookContext, HookRegistry
from checker.core.operation import Location
from checker.generation.hooks import ComponentHooks, PartHooks
from checker.generation.program import GenerationSettings, OperationProgram
from checker.generation.sources.choices import RandomSource
from checker.generation.sources.hypothesis import DrawnStrategy
from checker.generation.sources.replay import ReplaySource
from tests.measuring.conjecture import replay_through_conjecture

from .making import PHASE, cases, drawer, parameter_of, parts, program_of

CARDS = st.from_regex(r"\A4[0-9]{3}\Z").filter(lambda text: text != "4000")


def _with_marker(context: Any, strategy: Any) -> Any:
    return st.tuples(strategy, st.integers(1, 9)).map(lambda drawn: {**drawn[0], "marker": drawn[1]})


def _with_total(context: Any, body: Any) -> Any:
    return {**body, "total": len(body["card"])}


def _program(hooks: ComponentHooks, *, is_required: bool = True) -> OperationProgram:
    return program_of(
        parameter_of({"type": "integer"}, name="page"),
        parameter_of({"type": "string"}, Location.HEADER, "X-Trace"),
        body={
            "type": "object",
            "properties": {"card": {"type": "string", "format": "card"}, "note": {"type": "string"}},
            "required": ["card"],
        },
        hooks=hooks,
        settings=GenerationSettings(formats={"card": CARDS}),
        body_required=is_required,
    )


HOOKED = _program(ComponentHooks(query=PartHooks(before_generate=(_with_marker,)), body=PartHooks(map=(_with_total,))))


def test_hooks_and_user_formats_work() -> None:
    for case in cases(HOOKED, 30):
        assert 1 <= case.query["marker"] <= 9
        assert isinstance(case.query["page"], int)
        assert case.body["card"][0] == "4"
        assert case.body["total"] == 4


@pytest.mark.parametrize("seed", range(40))
def test_hooks_and_user_formats_replay_exactly_in_every_source(seed: int) -> None:
    source = RandomSource(seed)
    case = drawer(HOOKED)(source)
    replay = ReplaySource(tuple(source.choices))
    assert parts(case) == parts(drawer(HOOKED)(replay))
    assert source.choices == replay.choices
    value, status, is_exact = replay_through_conjecture(drawer(HOOKED), source.choices)
    assert (status, is_exact) == ("VALID", True)
    assert value is not None
    assert parts(case) == parts(value)


def test_hooks_of_a_registry_run_in_their_order() -> None:
    registry = HookRegistry()
    registry.register(lambda context, query: query["page"] > 3, "filter_query")
    registry.register(lambda context, query: {"page": query["page"] * 2}, "map_query")
    registry.register(lambda context, query: st.just({**query, "flat": True}), "flatmap_query")
    program = _program(ComponentHooks.from_registry(registry, HookContext()))
    for case in cases(program, 50):
        assert case.query["page"] >= 8
        assert case.query["flat"] is True


def test_filter_that_accepts_nothing_is_named() -> None:
    program = _program(ComponentHooks(headers=PartHooks(filter=(lambda context, headers: False,))))
    with pytest.raises(Unsatisfiable, match="filter_headers"):
        cases(program, 1)


def test_hook_that_gives_no_parameters_leaves_none() -> None:
    hooks = ComponentHooks(query=PartHooks(map=(lambda context, query: None,)))
    assert [case.query for case in cases(_program(hooks), 3)] == [{}, {}, {}]


def test_hook_that_raises_is_named() -> None:
    def fail(context: Any, body: Any) -> Any:
        raise KeyError("nothing")

    program = _program(ComponentHooks(body=PartHooks(map=(fail,))))
    with pytest.raises(HookError, match="map_body raised KeyError"):
        cases(program, 1)


def test_context_is_given_to_every_hook() -> None:
    context = object()
    seen: list[object] = []

    def keep(given: object, value: Any) -> Any:
        seen.append(given)
        return value

    hooks = ComponentHooks(context, body=PartHooks(map=(keep,)), case=PartHooks(map=(keep,)))
    cases(_program(hooks), 1)
    assert [context, context] == seen


def test_cases_of_a_strategy_are_cases_of_the_program() -> None:
    strategy = DrawnStrategy(lambda source: HOOKED.draw(source, case_id="s", phase=PHASE), "<cases>")
    found: list[Case] = []
    _run(strategy, found.append)
    assert len({parts(case) for case in found}) > 10
    assert all(case.body["total"] == 4 for case in found)


def _run(strategy: Any, keep: Callable[[Case], None]) -> None:
    @settings(max_examples=30, deadline=None, database=None)
    @given(strategy)
    def collect(case: Case) -> None:
        keep(case)

    collect()


def test_hooks_are_not_asked_about_a_body_that_is_left_out() -> None:
    def seen(context: Any, body: Any) -> Any:
        return {**body, "seen": True}

    def again(context: Any, body: Any) -> Any:
        return st.just({**body, "again": True})

    def accepts(context: Any, body: Any) -> bool:
        return "card" in body

    hooks = ComponentHooks(body=PartHooks(filter=(accepts,), map=(seen,), flatmap=(again,)))
    program = _program(hooks, is_required=False)
    bodies = [case.body for case in cases(program, 40)]
    assert NOT_SET in bodies
    assert all(body["seen"] and body["again"] for body in bodies if body is not NOT_SET)


def _outside(hooks: ComponentHooks) -> dict[str, tuple[str, ...]]:
    (case,) = cases(_program(hooks), 1)
    assert case.meta is not None
    return {str(location): case.meta.outside(location) for location in case.meta.components}


def test_what_hooks_and_strategies_of_users_made_is_not_known() -> None:
    known = {"header": (), "query": (), "body": ("*",)}
    assert _outside(ComponentHooks()) == known
    changing = PartHooks(map=(lambda context, query: query,))
    assert _outside(ComponentHooks(query=changing)) == known | {"query": ("*",)}
    choosing = PartHooks(filter=(lambda context, query: True,))
    assert _outside(ComponentHooks(query=choosing)) == known
    whole = PartHooks(map=(lambda context, case: case,))
    assert _outside(ComponentHooks(case=whole)) == {"header": ("*",), "query": ("*",), "body": ("*", "*")}
