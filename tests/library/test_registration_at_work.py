"""What users register, change and load acts: each public name that takes something, by its effect alone."""

import dataclasses
import json
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import requests
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

import checker
from checker.core.hooks import METRICS
from checker.core.registry import BODY_STRATEGIES, CONSTANT_SOURCES, DESERIALIZERS, SERIALIZERS

QUICK = settings(database=None, phases=[Phase.generate], max_examples=200, suppress_health_check=list(HealthCheck))
REGISTRIES: tuple[Any, ...] = (SERIALIZERS, DESERIALIZERS, BODY_STRATEGIES, METRICS, CONSTANT_SOURCES)  # fmt: skip


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    for one in (*REGISTRIES, checker.auth.providers, checker.auth.signers):
        one.clear()


@pytest.fixture
def it(document, api) -> SimpleNamespace:
    schema = checker.openapi.from_dict(document)
    schema.config.update(base_url=api.url)
    return SimpleNamespace(schema=schema, api=api, get=schema["/items/{id}"]["GET"], post=schema["/items"]["POST"])  # fmt: skip


def first(strategy: Any, wanted: Callable[[Any], bool] = lambda case: True) -> Any:
    return find(strategy, wanted, settings=QUICK)


def sent(it: SimpleNamespace) -> dict[str, str]:
    """Headers of the last request."""
    headers: dict[str, str] = it.api.requests[-1][2]
    return headers


class Counting:
    """Gives a new token each time."""

    given: list[str] = []  # noqa: RUF012 - of the class, which is made by who registers it

    def get(self, case: checker.Case, ctx: checker.AuthContext) -> str:
        self.given.append(f"{ctx.operation.label} {len(self.given)}")
        return self.given[-1]

    def set(self, case: checker.Case, data: str, ctx: checker.AuthContext) -> None:
        case.headers["x-token"] = data


@pytest.fixture(autouse=True)
def no_tokens() -> None:
    Counting.given = []


def test_a_hook_of_a_schema_acts_by_its_name(it) -> None:
    @it.schema.hook("map_query")
    def numbered(ctx: checker.HookContext, query: dict[str, Any]) -> dict[str, Any]:
        return {**query, "of": ctx.operation.label}

    assert first(it.get.as_strategy()).query["of"] == "GET /items/{id}"
    other = checker.openapi.from_dict(it.schema.raw_schema)
    assert "of" not in first(other["/items/{id}"]["GET"].as_strategy()).query


def test_a_hook_of_all_schemas_acts_by_the_name_of_its_function(it) -> None:
    @checker.hook
    def filter_path_parameters(ctx: checker.HookContext, path_parameters: dict[str, Any]) -> bool:
        return bool(path_parameters["id"] > 5)

    assert filter_path_parameters in checker.hooks.get_all_by_name("filter_path_parameters")

    def is_small(case: checker.Case) -> bool:
        return bool(case.path_parameters["id"] <= 5)

    positive = it.get.as_strategy(generation_mode="positive")
    with pytest.raises(NoSuchExample):
        first(positive, is_small)
    checker.hooks.unregister(filter_path_parameters)
    assert is_small(first(positive, is_small))


def test_a_hook_of_a_part_that_a_case_lacks_sees_an_empty_one(it) -> None:
    @checker.hook("map_headers")
    def tagged(ctx: checker.HookContext, headers: dict[str, Any]) -> dict[str, Any]:
        return {**(headers or {}), "X-Tag": "1"}

    assert first(it.get.as_strategy()).headers["x-tag"] == "1"


def test_a_check_judges_whoever_names_it(it) -> None:
    @checker.check
    def has_an_even_id(ctx: checker.CheckContext, response: checker.Response, case: checker.Case) -> None:
        assert response.json()["id"] % 2 == 0, "the id is odd"

    with pytest.raises(checker.errors.FailureGroup, match="the id is odd"):
        it.get.Case(path_parameters={"id": 1}).call_and_validate()
    it.schema.config.checks.update(excluded_check_names=["has_an_even_id"])
    it.get.Case(path_parameters={"id": 1}).call_and_validate()


def test_a_provider_of_a_schema_authenticates_its_calls(it) -> None:
    assert it.schema.auth()(Counting) is Counting
    it.get.Case(path_parameters={"id": 1}).call()
    assert sent(it)["x-token"] == "GET /items/{id} 0"


def test_a_provider_without_an_interval_is_asked_for_each_call(it) -> None:
    checker.auth(refresh_interval=None)(Counting)
    for number in range(3):
        it.post.Case(body={}).call()
        assert sent(it)["x-token"] == f"POST /items {number}"


def test_a_provider_keeps_what_it_got_for_each_key(it) -> None:
    checker.auth(cache_by_key=lambda case, ctx: case.method)(Counting)
    for _ in range(3):
        it.post.Case(body={}).call()
        it.get.Case(path_parameters={"id": 1}).call()
    assert Counting.given == ["POST /items 0", "GET /items/{id} 1"]


@pytest.mark.parametrize(("retry_on", "times"), [(None, 2), ([], 1), ([403], 1), ([401, 418], 2)])
def test_a_provider_says_which_refusals_are_worth_another_try(it, retry_on: Any, times: int) -> None:
    checker.auth(retry_on=retry_on)(Counting)
    it.api.status = 401
    assert it.post.Case(body={}).call().status_code == 401
    assert len(it.api.requests) == times


def test_a_provider_is_for_the_operations_that_it_was_registered_for(it) -> None:
    registered = checker.auth().apply_to(method=["POST", "DELETE"]).skip_for(path_regex="^/item$")
    assert registered(Counting) is Counting
    it.get.Case(path_parameters={"id": 1}).call()
    assert "x-token" not in sent(it)
    it.post.Case(body={}).call()
    assert sent(it)["x-token"] == "POST /items 0"


def test_a_provider_may_call_operations_of_its_own_schema(it) -> None:
    @it.schema.auth()
    class Login(Counting):
        def get(self, case: Any, ctx: Any) -> Any:
            assert it.post.Case(body={}).call().status_code == 200
            assert "x-token" not in sent(it)
            return super().get(case, ctx)

    it.get.Case(path_parameters={"id": 1}).call()
    assert sent(it)["x-token"].startswith("GET /items/{id}")


def test_an_object_of_requests_authenticates_all_schemas(it) -> None:
    checker.auth.set_from_requests(requests.auth.HTTPBasicAuth("u", "p"))
    it.post.Case(body={}).call()
    assert sent(it)["authorization"] == "Basic dTpw"


def test_a_deserializer_of_all_subtypes_gives_what_is_judged(it) -> None:
    seen = []

    @checker.deserializer("text/*")
    def lines(ctx: checker.DeserializationContext, response: checker.Response) -> Any:
        seen.append((ctx.operation.label, ctx.case))
        return {"id": "no number"}

    document = it.schema.raw_schema
    content = document["paths"]["/items"]["post"]["responses"]["200"]["content"]
    document["paths"]["/items"]["post"]["responses"]["200"]["content"] = {"text/odd": content["application/json"]}  # fmt: skip
    operation = checker.openapi.from_dict(document)["/items"]["POST"]
    answer = checker.Response(200, [("Content-Type", "text/odd")], b"id")
    assert not operation.is_valid_response(answer)
    case = operation.Case(body={})
    with pytest.raises(checker.errors.FailureGroup):
        case.validate_response(answer)
    assert seen == [("POST /items", None), ("POST /items", case)]


def test_a_metric_steers_what_is_generated(it) -> None:
    seen: list[float] = []

    @checker.metric
    def length_of_the_query(ctx: checker.MetricContext) -> float:
        seen.append(float(len(ctx.case.query.get("q", ""))))
        assert ctx.response.status_code == 200
        return seen[-1]

    drawn: list[int] = []

    @settings(QUICK, max_examples=80, derandomize=True, phases=[Phase.generate, Phase.target])
    @given(it.get.as_strategy(generation_mode="positive"))
    def call(case: checker.Case) -> None:
        case.call()
        drawn.append(len(case.query.get("q", "")))

    call()
    assert seen == []
    unsteered = sum(drawn)
    drawn.clear()
    it.schema.config.generation.update(maximize=["length_of_the_query"])
    call()
    assert seen == drawn
    assert sum(drawn) > 2 * unsteered


def test_texts_of_a_format_come_from_its_strategy(it, document) -> None:
    checker.openapi.format("card", st.sampled_from(["1234-5678"]))
    parameter = document["paths"]["/items/{id}"]["get"]["parameters"][1]
    parameter.update(required=True, schema={"type": "string", "format": "card"})
    operation = checker.openapi.from_dict(document)["/items/{id}"]["GET"]
    assert first(operation.as_strategy()).query == {"q": "1234-5678"}


def test_bodies_of_a_media_type_and_its_aliases_come_from_their_strategy(document) -> None:
    checker.openapi.media_type("image/odd", st.just(b"odd"), aliases=["image/x-odd"])
    for media_type in ("image/odd", "image/x-odd"):
        body = {"required": True, "content": {media_type: {"schema": {"type": "string"}}}}
        document["paths"]["/items"]["post"]["requestBody"] = body
        operation = checker.openapi.from_dict(document)["/items"]["POST"]
        case = first(operation.as_strategy(generation_mode="positive"))
        assert (case.body, case.media_type) == (b"odd", media_type)


def test_parts_of_a_media_type_come_from_its_strategy(document) -> None:
    checker.openapi.media_type("image/odd", st.just(b"odd"))
    image = {"type": "string", "format": "binary"}
    properties = {"one": image, "more": {"type": "array", "items": image, "minItems": 2}, "name": {"type": "string"}}
    form = {"schema": {"type": "object", "properties": properties, "required": list(properties)}}
    form["encoding"] = {name: {"contentType": "image/odd"} for name in ("one", "more")}
    body = {"required": True, "content": {"multipart/form-data": form}}
    document["paths"]["/items"]["post"]["requestBody"] = body
    operation = checker.openapi.from_dict(document)["/items"]["POST"]
    value = first(operation.as_strategy(generation_mode="positive")).body
    assert value["one"] == b"odd"
    assert set(value["more"]) == {b"odd"}
    assert isinstance(value["name"], str)


def test_values_of_a_scalar_come_from_its_strategy() -> None:
    checker.graphql.scalar("Odd", st.just(checker.graphql.nodes.Int(7)))
    schema = checker.graphql.from_file("scalar Odd type Query { a(x: Odd!): Int }")
    assert first(schema["Query"]["a"].as_strategy()).body == {"arguments": {"x": 7}}


def test_literals_of_an_application_become_values(it, api, tmp_path, monkeypatch) -> None:
    (tmp_path / "shop_with_words.py").write_text('SPECIAL = "only-here-in-the-shop"\n')
    monkeypatch.syspath_prepend(str(tmp_path))

    @checker.python.constants
    def literals() -> Any:
        return __import__("shop_with_words")

    it.schema.config.phases.update(phases=["fuzzing"])
    it.schema.config.generation.update(mode="positive", max_examples=150)
    (tmp_path / "openapi.json").write_text(json.dumps(it.schema.include(method="GET", path_regex="items").raw_schema))  # fmt: skip
    checker.run(str(tmp_path / "openapi.json"), config=it.schema.config)
    assert any("only-here-in-the-shop" in target for _, target, _, _ in api.requests)


def test_a_parameter_more_is_sent(it) -> None:
    added = dataclasses.replace(it.get.get_parameter("id", "path"), name="page", location=checker.kinds.Location.QUERY, style="form")  # fmt: skip
    it.get.add_parameter(added)
    assert isinstance(first(it.get.as_strategy()).query["page"], int)


def test_texts_of_a_container_are_those_of_the_wire(it) -> None:
    texts = it.get.get_parameter_serializers()
    assert texts["path_parameters"]({"id": 7}) == {"id": "7"}
    assert texts["query"]({"q": "a b"}) == {"q": "q=a%20b"}


def test_parts_of_a_form_are_those_that_clients_take(it) -> None:
    parts = it.post.prepare_multipart({"a": 1, "b": b"x"}, {"a": "application/json"})
    client = httpx.Client(transport=httpx.MockTransport(lambda request: httpx.Response(200, content=request.read())))  # fmt: skip
    text = client.post("http://a", files=parts).text
    assert 'name="a"\r\nContent-Type: application/json\r\n\r\n1' in text
    assert 'name="b"' in text


def test_frozen_metadata_stay_while_a_case_changes(it) -> None:
    case = first(it.get.as_strategy())
    case.freeze_metadata()
    case.path_parameters["id"] = "seven"
    assert case.meta.generation.mode is checker.GenerationMode.POSITIVE
    thawed = first(it.get.as_strategy())
    thawed.path_parameters["id"] = "seven"
    assert thawed.meta.generation.mode is checker.GenerationMode.NEGATIVE


def test_settings_of_projects_are_read_and_set() -> None:
    config = checker.Config.from_str(
        "request-timeout = 3\n[[project]]\ntitle = 'Shop'\nrequest-timeout = 5\n[[project]]\ntitle = 'Bank'\n"
    )
    assert config.projects.get_default().request_timeout == 3
    assert {name: one.request_timeout for name, one in config.projects.named.items()} == {"Shop": 5, "Bank": 3}


def test_responses_of_a_client_like_httpx_become_ours() -> None:
    answer = httpx.Response(201, json={"a": 1}, request=httpx.Request("GET", "http://a"))
    assert checker.Response.from_httpx2(answer).json() == {"a": 1}


@pytest.mark.parametrize("send", ["call", "run"])
def test_a_provider_knows_the_application_of_this_process(it, tmp_path, monkeypatch, send: str) -> None:
    monkeypatch.chdir(tmp_path)
    told: list[object] = []

    class Told(Counting):
        def get(self, case: checker.Case, ctx: checker.AuthContext) -> str:
            told.append(ctx.app)
            return "t"

    def app(environ: Any, start: Any) -> list[bytes]:
        start("200 OK", [("Content-Type", "application/json")])
        is_document = environ["PATH_INFO"] == "/openapi.json"
        return [json.dumps(it.schema.raw_schema if is_document else {}).encode()]

    schema = checker.openapi.from_wsgi("/openapi.json", app).include(method="POST")
    schema.auth().apply_to(lambda ctx: ctx.app is app)(Told)
    if send == "call":
        schema["/items"]["POST"].Case(body={}).call()
    else:
        schema.config.generation.update(max_examples=1)
        checker.run(schema)
    assert told == [app]


@pytest.mark.parametrize(
    ("register", "sentence"),
    [
        (
            lambda: checker.auth(cache_by_key=lambda case, ctx: case.headers["x"])(Counting),
            "cache_by_key of Counting: KeyError: 'x'",
        ),
        (
            lambda: checker.auth().apply_to(lambda ctx: bool(1 / 0))(Counting),
            "apply_to and skip_for of Counting: ZeroDivisionError: division by zero",
        ),
    ],
)
def test_functions_of_a_provider_that_raise_are_named(it, register: Any, sentence: str) -> None:
    register()
    with pytest.raises(checker.errors.CredentialError, match=sentence):
        it.post.Case(body={}).call()
