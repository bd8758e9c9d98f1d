from typing import Any

import pytest

from checker.core.errors import IncorrectUsage
from checker.core.hooks import HookContext, HookDecorator, HookRegistry
from checker.core.registry import FORMATS, register_format


@pytest.fixture
def registry() -> HookRegistry:
    return HookRegistry()


@pytest.fixture
def hook(registry: HookRegistry) -> HookDecorator:
    return HookDecorator(registry)


def test_bare_decorator_takes_the_name_of_the_function(hook, registry) -> None:
    @hook
    def map_query(ctx, query):
        return query

    assert (map_query,) == registry.named("map_query")


def test_explicit_name_beats_the_name_of_the_function(hook, registry) -> None:
    @hook("filter_body")
    def only_small(ctx, body):
        return True

    assert (only_small,) == registry.named("filter_body")
    assert registry.named("only_small") == ()


def test_hooks_run_in_order_of_registration(hook, registry) -> None:
    first = hook("map_body")(lambda ctx, body: body)
    second = hook("map_body")(lambda ctx, body: body)
    assert (first, second) == registry.named("map_body")


def test_unknown_name_is_a_type_error(hook) -> None:
    with pytest.raises(TypeError) as caught:
        hook("map_querry")(lambda ctx, query: query)
    assert str(caught.value) == "There is no hook with name 'map_querry'. Did you mean 'map_query'?"


def test_an_unknown_name_is_refused_before_there_is_a_function(hook) -> None:
    with pytest.raises(TypeError, match="There is no hook with name 'map_querry'"):
        hook("map_querry")


def test_wrong_number_of_arguments_is_a_type_error(hook) -> None:
    with pytest.raises(TypeError) as caught:
        hook("map_query")(lambda ctx, query, extra: query)
    expected = "Hook 'map_query' is called with (context, query), which does not fit (ctx, query, extra)"
    assert str(caught.value) == expected


def test_a_function_with_more_optional_arguments_is_a_hook(hook, registry) -> None:
    functions = (lambda *arguments: None, lambda ctx, case, response, **more: None, lambda a, b, c, d=1, *, e=2: None)
    for one in functions:
        hook("after_call")(one)
    assert registry.named("after_call") == functions


def test_before_call_may_change_kwargs_in_both_forms(hook, registry) -> None:
    @hook("before_call")
    def plain(ctx, case, kwargs):
        kwargs["headers"] = {"A": "1"}

    @hook("before_call")
    def spread(ctx, case, **kwargs):
        kwargs["headers"]["B"] = "2"
        return {"params": {}}

    kwargs: dict[str, Any] = {}
    for call in registry.named("before_call"):
        call(HookContext(), None, kwargs)
    assert kwargs == {"headers": {"A": "1", "B": "2"}, "params": {}}
    assert [plain, spread] == registry.get_all_by_name("before_call")


def test_unregistered_hooks_do_not_run(hook, registry) -> None:
    function = hook("before_call")(lambda ctx, case, **kwargs: None)
    other = hook("after_call")(lambda ctx, case, response: None)
    registry.unregister(function)
    assert registry.named("before_call") == ()
    assert (other,) == registry.named("after_call")
    registry.unregister_all()
    assert registry.named("after_call") == ()


def test_formats_are_found_by_name() -> None:
    class Strategy:
        def example(self): ...

        def map(self): ...

    strategy = Strategy()
    register_format("card", strategy)
    try:
        assert strategy == FORMATS["card"]
    finally:
        del FORMATS["card"]


def test_format_without_a_strategy_is_refused() -> None:
    with pytest.raises(IncorrectUsage, match="must be a Hypothesis strategy"):
        register_format("card", "1234")
