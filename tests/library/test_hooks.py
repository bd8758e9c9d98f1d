"""Every hook acts where its name says."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import checker
from checker.core.hooks import TEST_HOOKS

QUICK = settings(max_examples=10, database=None, deadline=None, suppress_health_check=list(HealthCheck))


def drawn(strategy: Any) -> list[Any]:
    found: list[Any] = []

    @QUICK
    @given(strategy)
    def collect(case) -> None:
        found.append(case)

    collect()
    return found


def test_a_document_is_changed_before_it_is_read(document) -> None:
    @checker.hook
    def before_load_schema(ctx, raw_schema) -> None:
        assert ctx.operation is None
        raw_schema["info"]["title"] = "Changed"
        del raw_schema["paths"]["/broken"]

    schema = checker.openapi.from_dict(document)
    assert schema.title == "Changed"
    assert "/broken" not in schema


def test_a_loaded_schema_is_shown(document) -> None:
    shown = []

    @checker.hook
    def after_load_schema(ctx, schema) -> None:
        shown.append(schema)

    assert shown == [checker.openapi.from_dict(document)][:1]


def test_methods_of_a_path_can_be_taken_away(schema) -> None:
    @schema.hook
    def before_process_path(ctx, path, methods) -> None:
        if path == "/items":
            methods.pop("post")

    assert "/items" not in schema
    assert "/both" in schema


def test_operations_are_shown_once_when_they_are_read(schema) -> None:
    seen = []

    @schema.hook.apply_to(method="POST")
    def before_init_operation(ctx, operation) -> None:
        seen.append(operation.label)

    for _ in range(2):
        assert schema["/items"]["POST"].label == "POST /items"
        assert schema["/items/{id}"]["GET"].label == "GET /items/{id}"
    assert seen == ["POST /items"]


def test_a_hook_that_raises_breaks_its_operation_alone(schema) -> None:
    @schema.hook.apply_to(path="/items")
    def before_init_operation(ctx, operation) -> None:
        raise RuntimeError("no")

    wanted = "hook before_init_operation raised RuntimeError: no"
    with pytest.raises(checker.errors.InvalidSchema, match=wanted):
        _ = schema["/items"]["POST"]
    assert schema["/both"]["POST"].label == "POST /both"


def test_a_hook_that_raises_at_a_path_is_told_by_all_of_its_methods(schema) -> None:
    @schema.hook
    def before_process_path(ctx, path, methods) -> None:
        raise RuntimeError("no")

    wanted = "hook before_process_path raised RuntimeError: no"
    with pytest.raises(checker.errors.InvalidSchema, match=wanted):
        _ = schema["/items"]["POST"]


def test_whole_cases_are_drawn_as_users_want_them(schema) -> None:
    @schema.hook
    def before_generate_case(ctx, strategy):
        return strategy.filter(lambda case: case.path_parameters["id"] % 2 == 0)

    @schema.hook
    def flatmap_case(ctx, case):
        def named(text):
            case.query = {"q": text}
            return case

        return st.sampled_from(["a", "b"]).map(named)

    cases = drawn(schema["/items/{id}"]["GET"].as_strategy())
    assert {case.path_parameters["id"] % 2 for case in cases} == {0}
    assert {case.query["q"] for case in cases} <= {"a", "b"}


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("map_case", "the case"),
        ("flatmap_case", "a strategy"),
        ("before_generate_case", "a strategy"),
        ("flatmap_path_parameters", "a strategy"),
        ("before_generate_path_parameters", "a strategy"),
    ],
)
def test_a_hook_that_forgets_to_return_is_named(schema, name: str, what: str) -> None:
    schema.hook(name)(lambda ctx, value: None)
    wanted = f"hook {name} gave None; it has to return {what}"
    with pytest.raises(checker.errors.HookExecutionError, match=wanted):
        drawn(schema["/items/{id}"]["GET"].as_strategy())


def test_results_of_checks_are_shown(schema, api) -> None:
    seen: list[Any] = []

    @schema.hook
    def after_validate(ctx, case, response, results) -> None:
        seen.append((ctx.operation.label, response.status_code, {name: status for name, status, _ in results}))

    case = schema["/items/{id}"]["GET"].Case(path_parameters={"id": 7})
    case.call()
    assert not seen
    case.call_and_validate()
    label, status, results = seen.pop()
    assert (label, status) == ("GET /items/{id}", 200)
    assert set(results.values()) == {"success"}
    api.status = 500
    with pytest.raises(checker.errors.FailureGroup):
        case.call_and_validate()
    assert seen.pop()[2]["not_a_server_error"] == "failure"


def test_what_is_registered_between_two_calls_acts_in_the_second(schema) -> None:
    seen: list[str] = []

    def after_call(ctx, case, response) -> None:
        seen.append("hook")

    def named(ctx, response, case) -> None:
        seen.append("check")

    case = schema["/items/{id}"]["GET"].Case(path_parameters={"id": 7})
    case.call_and_validate()
    schema.hook(after_call)
    checker.check(named)
    case.call_and_validate()
    assert seen == ["hook", "check"]
    schema.hooks.unregister(after_call)
    case.call_and_validate(excluded_checks=[named])
    assert seen == ["hook", "check"]
    case.call_and_validate(checks=iter([named]))
    assert seen == ["hook", "check", "check"]


def test_failures_can_be_dropped(schema, api) -> None:
    @schema.hook.apply_to(path="/items/{id}")
    def filter_failure(ctx, failure, case, response):
        return not isinstance(failure, checker.errors.ServerError)

    api.status = 500
    case = schema["/items/{id}"]["GET"].Case(path_parameters={"id": 7})
    # The undocumented status is part of the failure.
    case.call_and_validate()
    with pytest.raises(checker.errors.FailureGroup) as caught:
        case.call_and_validate(checks=["status_code_conformance"])
    assert [one.title for one in caught.value.exceptions] == ["Undocumented HTTP status code"]
    with pytest.raises(checker.errors.FailureGroup):
        schema["/items"]["POST"].Case(body={}).call_and_validate(checks=["not_a_server_error"])


def test_a_request_without_an_answer_is_shown(schema) -> None:
    seen = []

    @schema.hook
    def after_network_error(ctx, case, request) -> None:
        seen.append((case.operation.label, request.method, request.target))

    case = schema["/items/{id}"]["GET"].Case(path_parameters={"id": 7})
    with pytest.raises(ConnectionError):
        case.call("http://127.0.0.1:1")
    assert seen == [("GET /items/{id}", "GET", b"/items/7")]


def test_hooks_act_in_whole_runs(schema, api) -> None:
    seen: dict[str, set[Any]] = {}

    def note(name: str, value: Any) -> None:
        seen.setdefault(name, set()).add(value)

    @checker.hook
    def before_load_schema(ctx, raw_schema) -> None:
        raw_schema["info"]["title"] = "Changed"

    @checker.hook
    def after_load_schema(ctx, schema) -> None:
        note("after_load_schema", schema.title)

    @checker.hook
    def before_process_path(ctx, path, methods) -> None:
        note("before_process_path", path)

    @checker.hook
    def before_init_operation(ctx, operation) -> None:
        note("before_init_operation", operation.label)

    @checker.hook
    def before_generate_case(ctx, strategy):
        note("before_generate_case", ctx.operation.label)
        return strategy

    @checker.hook
    def after_validate(ctx, case, response, results) -> None:
        note("after_validate", tuple(sorted({status for _, status, _ in results})))

    @checker.hook
    def filter_failure(ctx, failure, case, response) -> bool:
        note("filter_failure", failure.title)
        return bool(failure.title != "Server error")

    api.status = 500
    schema.config.generation.update(max_examples=3)
    one = schema.include(path="/items/{id}")
    one.config.checks.update(included_check_names=["not_a_server_error"])
    result = checker.engine.from_schema(one).execute().finish()
    assert result.findings == ()
    # The document was read when the schema was loaded: before its hook was there.
    assert seen["after_load_schema"] == {"Items"}
    assert "/items" in seen["before_process_path"]
    assert "GET /items/{id}" in seen["before_init_operation"]
    assert seen["before_generate_case"] == {"GET /items/{id}"}
    assert seen["filter_failure"] == {"Server error"}
    assert seen["after_validate"] == {("success",)}


def test_headers_are_overridden_in_any_letter_case(document) -> None:
    key = {"name": "x-key", "in": "header", "required": True, "schema": {"type": "string"}}
    document["paths"]["/items"]["post"]["parameters"] = [key]
    schema = checker.openapi.from_dict(document)

    @schema.override(headers={"X-Key": "mine", "X-Other": "1"})
    def test(case) -> None: ...

    schema = schema.with_test_hooks(getattr(test, TEST_HOOKS))
    for case in drawn(schema["/items"]["POST"].as_strategy(generation_mode="positive")):
        assert [value for name, value in case.headers.items() if name.lower() == "x-key"] == ["mine"]
        assert case.headers.get("x-other") != "1"


@pytest.mark.parametrize("how", ["run", "listed"])
def test_hooks_of_parts_act_on_listed_cases(schema, api, how: str) -> None:
    @schema.hook
    def filter_query(ctx, query) -> bool:
        return (query or {}).get("q") != ""

    @schema.hook
    def map_headers(ctx, headers):
        return {**(headers or {}), "X-Hook": "1"}

    one = schema.include(path="/items/{id}")
    one.config.generation.update(mode="positive")
    one.config.phases.update(phases=["coverage"])
    if how == "run":
        checker.engine.from_schema(one).execute().finish()
        sent = [(target, headers.get("x-hook")) for method, target, headers, _ in api.requests if method == "GET"]
    else:
        (operation,) = one.get_all_operations()
        cases = list(one.engine.listed_cases(operation))
        sent = [(case.as_transport_kwargs("http://a")["url"], case.headers["X-Hook"]) for case in cases]
    assert sent
    assert {hooked for _, hooked in sent} == {"1"}
    assert not any(target.endswith("q=") for target, _ in sent)
