"""Extension points, hooks and providers of a loaded schema act in whole runs of it, as in calls."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import strategies as st

import checker
from checker.corpus.records import SchemaOpened

from .signing import Token


@pytest.fixture
def schema(document, api):
    found = checker.openapi.from_dict(document)
    found.config.update(base_url=api.url, seed=1)
    found.config.phases.update(phases=["fuzzing"])
    found.config.generation.update(max_examples=4, mode="positive")
    found.config.checks.update(included_check_names=["not_a_server_error"])
    return found.exclude(path="/broken").exclude(path="/both")


def ran(schema: Any) -> Any:
    return checker.engine.from_schema(schema).execute().finish()


def targets(api: Any, method: str = "GET") -> list[str]:
    return [target for verb, target, _, _ in api.requests if verb == method]


def test_hooks_and_providers_of_the_schema(schema, api) -> None:
    called = []

    @schema.hook
    def map_query(ctx: checker.HookContext, query: Any) -> Any:
        return {**query, "q": "of-the-hook"}

    @schema.hook
    def after_call(ctx: checker.HookContext, case: Any, response: Any) -> None:
        called.append(ctx.operation.label)

    schema.auth().apply_to(method="POST")(Token)
    result = ran(schema)
    assert result.exit_code == 0
    assert set(called) == {"GET /items/{id}", "POST /items"}
    drawn = [one for one in targets(api) if "q=" in one]
    assert drawn
    assert all(one.endswith("q=of-the-hook") for one in drawn)
    assert {headers.get("x-token") for verb, _, headers, _ in api.requests if verb == "POST"} == {"t"}


def test_urls_and_bodies(schema, api) -> None:
    schema.build_request_url = lambda case, base_url: f"{base_url}/v2{case.operation.path}"
    schema.prepare_request_body = lambda body: {"wrapped": body}
    assert ran(schema).exit_code == 0
    assert {target.partition("?")[0] for target in targets(api)} == {"/v2/items/{id}"}
    bodies = [body for verb, _, _, body in api.requests if verb == "POST" and body]
    assert bodies
    assert all(body.startswith(b'{"wrapped":') for body in bodies)


def test_a_finding_shows_the_url_of_users(schema, api) -> None:
    schema.build_request_url = lambda case, base_url: f"{base_url}/v2{case.operation.path}"
    api.status = 500
    (finding, *_) = ran(schema.include(method="POST")).findings
    assert f"{api.url}/v2/items" in finding.investigation.reproduction


def test_authentication(schema, api) -> None:
    schema.auth()(Token)

    def apply(case: checker.Case, context: checker.AuthContext) -> bool:
        case.headers["x-mine"] = "secret-of-mine"
        return context.operation.method == "POST"

    schema.apply_auth = apply
    api.statuses = {"POST": 500}
    result = ran(schema)
    of = {verb: (headers.get("x-mine"), headers.get("x-token")) for verb, _, headers, _ in api.requests}
    assert of == {"POST": ("secret-of-mine", None), "GET": (None, "t")}
    assert result.findings
    assert all("secret-of-mine" not in one.investigation.reproduction for one in result.findings)


def test_how_often_credentials_are_renewed(schema, api) -> None:
    schema.auth()(Token)
    api.status = 401

    def sent() -> int:
        api.requests.clear()
        ran(schema.include(method="POST"))
        return len(api.requests)

    usual = sent()

    class Impatient(checker.BaseSchema):
        @property
        def reauth_state(self) -> Any:
            found = super().reauth_state
            found.most_in_vain = 0
            return found

    schema.__class__ = Impatient
    assert sent() < usual


def test_server_errors(schema, api) -> None:
    def evaluate(case: checker.Case, response: checker.Response) -> None:
        checker.BaseSchema.evaluate_server_error(schema, case, response)
        if "oops" in response.text:
            raise checker.errors.Failure("it says oops")

    schema.evaluate_server_error = evaluate
    api.body = {"id": 1, "said": "oops"}
    assert {(one.check, one.message) for one in ran(schema).findings} == {("not_a_server_error", "it says oops")}
    with pytest.raises(checker.errors.FailureGroup, match="it says oops"):
        schema["/items"]["POST"].Case(body={}).call_and_validate()
    api.status, api.body = 500, {}
    assert {one.title for one in ran(schema).findings} == {"Server error"}
    api.status = 200
    assert ran(schema).findings == ()


def test_observations_and_what_is_refused(schema, api) -> None:
    seen: list[Any] = []
    schema.record_runtime_observations = lambda case, response: seen.append((case.operation.label, response.status_code))  # fmt: skip
    schema.adapt_to_path_decoder_rejection = lambda: seen.append("path")
    schema.build_request_url = lambda case, base_url: f"{base_url}/items%5C%1B"
    assert ran(schema).exit_code == 0
    assert set(seen) == {("GET /items/{id}", 200), ("POST /items", 200)}
    api.status, api.content = 400, b""
    ran(schema)
    assert "path" in seen


def test_transitions(api) -> None:
    """Nothing in the description says that orders lead to the archive."""
    thing = {"name": "thing", "in": "path", "required": True, "schema": {"type": "integer"}}
    ok = {"200": {"description": ""}}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Maker", "version": "1"},
        "servers": [{"url": api.url}],
        "paths": {
            "/orders": {"post": {"responses": {"201": {"description": ""}}}},
            "/archive/{thing}": {"get": {"parameters": [thing], "responses": ok}},
        },
    }
    schema: Any = checker.openapi.from_dict(document)
    schema.config.phases.update(phases=["stateful"])
    schema.config.generation.update(max_examples=4, mode="positive")
    schema.config.update(seed=1)
    api.body, api.statuses = {"special": 987654}, {"POST": 201}
    ran(schema)
    assert "/archive/987654" not in targets(api)
    place = checker.kinds.TakenValue(checker.kinds.Location.PATH, "thing", "$response.body#/special")
    source, target = (checker.kinds.Label(one.label) for one in schema.get_all_operations())
    seen: list[Any] = []

    def infer(observations: Sequence[checker.Observation]) -> list[Any]:
        seen.extend(observations)
        return [checker.kinds.Transition("mine", source, "201", target, (place,))]

    schema.apply_stateful_inference = infer
    api.location = "/archive/7"
    schema["/orders"]["POST"].Case().call()
    api.location = ""
    ran(schema)
    assert "/archive/987654" in targets(api)
    assert [one.location for one in seen] == ["/archive/7"]


class Known:
    """Knows one identifier that the API accepts."""

    def values_for(self, operation: checker.APIOperation, location: str, name: str) -> Sequence[object]:
        return [424242] if (operation.method, location, name) == ("GET", "path", "id") else []


def test_values_of_users(schema, api) -> None:
    schema.create_extra_data_source = Known
    schema.config.generation.update(max_examples=30)
    api.statuses = {"GET": 500}
    schema.config.update(continue_on_failure=True)
    result = ran(schema)
    assert any("/items/424242" in target for target in targets(api))
    assert any("/items/" in one.investigation.reproduction for one in result.findings)


def test_formats(document, schema, api) -> None:
    document["paths"]["/items/{id}"]["get"]["parameters"][1].update(
        required=True, schema={"type": "string", "format": "card"}
    )
    mine: Any = checker.openapi.from_dict(document, config=schema.config).include(method="GET", path_regex="items")  # fmt: skip
    mine.get_custom_format_strategies = lambda generation_config, mode: {"card": st.just("1234-5678")}  # fmt: skip
    assert ran(mine).exit_code == 0
    assert targets(api)
    assert all("q=1234-5678" in target for target in targets(api))


def test_scenarios_of_coverage(schema) -> None:
    schema.config.phases.update(phases=["coverage"])
    schema.config.generation.update(mode="all")
    schema.config.checks.update(included_check_names=["negative_data_rejection"])
    schema.config.update(continue_on_failure=True)
    sent: set[str | None] = set()

    @schema.hook
    def after_call(ctx: checker.HookContext, case: checker.Case, response: Any) -> None:
        assert case.meta is not None
        sent.add(case.meta.phase.data["scenario"])

    ran(schema)
    assert {"incorrect_type"} < sent
    sent.clear()
    schema.get_coverage_capabilities = lambda: ["incorrect_type"]
    ran(schema)
    assert sent == {"incorrect_type"}


def test_the_order_of_operations(schema, api) -> None:
    asked = []

    def schedule(operations: Any, phase: str) -> Any:
        found = list(operations)
        asked.append((phase, [one.label for one in found]))
        return [one for one in reversed(found) if one.label != "DELETE /items/{id}"]

    def order() -> list[str]:
        api.requests.clear()
        ran(schema)
        return list(dict.fromkeys(verb for verb, _, _, _ in api.requests if verb in ("GET", "POST")))

    usual = order()
    schema.get_unit_scheduler = schedule
    labels = [one.label for one in schema.get_all_operations()]
    wanted = [label.partition(" ")[0] for label in reversed(labels)]
    assert order() == wanted
    assert asked == [("fuzzing", labels)]
    schema.get_unit_scheduler = lambda operations, phase: list(operations)
    assert order() == wanted[::-1]
    assert usual in (wanted, wanted[::-1])


def test_weights_of_fuzz(schema, api) -> None:
    schema.compute_fuzz_operation_weights = lambda operations: [float(one.method == "POST") for one in operations]  # fmt: skip
    stream = checker.engine.from_schema(schema).fuzz()
    api.statuses = {"POST": 500}
    result = stream.finish()
    assert result.exit_code == 1
    assert set(targets(api, "POST")) == {"/items"}
    assert targets(api) == []


RUNS: list[Callable[..., Any]] = [checker.run, checker.fuzz]


@pytest.mark.parametrize("start", RUNS, ids=["run", "fuzz"])
def test_functions_take_schemas(schema, api, start) -> None:
    @schema.hook
    def map_headers(ctx: checker.HookContext, headers: Any) -> Any:
        return {**(headers or {}), "X-Hook": "1"}

    api.status = 500
    assert start(schema).exit_code == 1
    assert any(headers.get("x-hook") == "1" for _, _, headers, _ in api.requests)
    with pytest.raises(checker.errors.IncorrectUsage, match="is run in this process, since its hooks"):
        start(schema, inline=False)
    with pytest.raises(checker.errors.IncorrectUsage, match="has a configuration"):
        start(schema, config=checker.Config())


def test_the_document_is_not_read_again(tmp_path, api) -> None:
    read = []

    @checker.hook
    def before_load_schema(ctx: checker.HookContext, raw_schema: dict[str, Any]) -> None:
        read.append(raw_schema["info"]["title"])
        raw_schema["paths"]["/added"] = {"get": {"responses": {"200": {"description": ""}}}}

    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "item.json").write_text('{"type": "object", "required": ["id"], "properties": {"id": {"const": 5}}}')  # fmt: skip
    content = {"application/json": {"schema": {"$ref": "parts/item.json"}}}
    post = {"requestBody": {"required": True, "content": content}, "responses": {"200": {"description": ""}}}  # fmt: skip
    document = {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": {"/a": {"post": post}}}  # fmt: skip
    (tmp_path / "openapi.json").write_text(json.dumps(document))
    schema = checker.openapi.from_path(tmp_path / "openapi.json")
    schema.config.update(base_url=api.url)
    schema.config.generation.update(max_examples=3, mode="positive")
    schema.config.phases.update(phases=["fuzzing"])
    records = list(checker.engine.from_schema(schema).execute())
    assert read == ["T"]
    assert [one.title for one in records if isinstance(one, SchemaOpened)] == ["T"]
    assert {target for _, target, _, _ in api.requests} >= {"/a", "/added"}
    assert all(b'"id":5' in body for _, target, _, body in api.requests if target == "/a")


def test_operations_in_hooks_belong_to_the_loaded_schema(schema, api) -> None:
    seen = []

    @schema.hook.apply_to(path="/items/{id}")
    def after_call(ctx: checker.HookContext, case: Any, response: Any) -> None:
        assert case.operation.schema is schema
        answer = case.operation.schema["/items"]["POST"].Case(body={}).call()
        seen.append((case.formatted_path, answer.status_code))

    assert ran(schema).errors == ()
    assert {status for _, status in seen} == {200}
    assert all(path.startswith("/items/") for path, _ in seen)


def test_operations_in_hooks_of_a_run_by_location_send_as_the_run_does(document, api, tmp_path) -> None:
    seen = []

    @checker.hook
    def before_call(ctx: checker.HookContext, case: Any, kwargs: dict[str, Any]) -> None:
        if case.path == "/items/{id}":
            answer = case.operation.schema["/items"]["POST"].Case(body={}).call()
            seen.append((case.formatted_path, answer.status_code))

    config = checker.Config.from_dict(
        {
            "base-url": f"{api.url}/v1",
            "headers": {"X-All": "1"},
            "generation": {"max-examples": 2, "mode": "positive", "database": "none"},
        },
        environment={},
    )
    config.phases.update(phases=["fuzzing"])
    (tmp_path / "openapi.json").write_text(json.dumps(document))
    result = checker.run(str(tmp_path / "openapi.json"), config=config)
    assert all(one.label != "GET /items/{id}" for one in result.errors), result.errors
    assert {status for _, status in seen} == {200}
    sent = [one for one in api.requests if one[0] == "POST"]
    assert {(path, headers["x-all"]) for _, path, headers, _ in sent} >= {("/v1/items", "1")}


def test_the_target_under_another_name_is_reached_as_the_run_does(tmp_path) -> None:
    operation = {"get": {"responses": {"200": {"description": ""}}}}
    document = {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": {"/items": operation}}
    beside = checker.openapi.from_dict(document)
    beside.config.update(base_url="http://localhost:9")
    seen = []

    @checker.hook
    def after_call(ctx: checker.HookContext, case: Any, response: Any) -> None:
        seen.append(beside["/items"]["GET"].Case().call().status_code)

    config = checker.Config.from_dict(
        {
            "transport": "tests.seams.memory_transport:shop",
            "base-url": "http://127.0.0.1:9",
            "generation": {"max-examples": 1, "mode": "positive", "database": "none"},
        },
        environment={},
    )
    (tmp_path / "openapi.json").write_text(json.dumps(document))
    result = checker.run(str(tmp_path / "openapi.json"), config=config)
    assert result.errors == ()
    assert set(seen) == {200}
