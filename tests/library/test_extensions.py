"""Extension points of a loaded schema: what users put there acts where its name says."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

import checker

from .signing import Token


def test_the_url_of_a_case(schema, api) -> None:
    case = schema["/items/{id}"]["GET"].Case(path_parameters={"id": 7}, query={"q": "a"})
    assert schema.build_request_url(case, "http://there/v1/") == "http://there/v1/items/7"
    schema.build_request_url = lambda case, base_url: f"{base_url}/v2{case.formatted_path}"
    case.call()
    assert api.requests[0][1] == "/v2/items/7?q=a"
    schema.build_request_url = lambda case, base_url: f"{base_url}{case.formatted_path}?version=2"
    case.call()
    assert api.requests[1][1] == "/items/7?version=2&q=a"


@pytest.mark.parametrize("given", [None, "/items/7"])
def test_a_url_of_a_case_that_is_none_is_named(schema, api, given: str | None) -> None:
    schema.build_request_url = lambda case, base_url: given
    with pytest.raises(checker.errors.IncorrectUsage, match=f"must return an absolute URL, got {given}"):
        schema["/items/{id}"]["GET"].Case(path_parameters={"id": 7}).call()
    assert api.requests == []


def test_bodies_are_prepared_before_they_are_written(schema, api) -> None:
    schema.prepare_request_body = lambda body: {"wrapped": body}
    case = schema.include(path="/items")["/items"]["POST"].Case(body={"a": 1})
    case.call()
    assert api.requests[0][3] == b'{"wrapped":{"a":1}}'
    assert case.body == {"a": 1}


def test_server_errors_are_told(schema) -> None:
    case = schema["/items"]["POST"].Case(body={})
    schema.evaluate_server_error(case, checker.Response(200, [], b""))
    with pytest.raises(checker.errors.FailureGroup, match="Server error"):
        schema.evaluate_server_error(case, checker.Response(500, [], b""))


def test_each_answer_is_observed(schema) -> None:
    seen: list[Any] = []
    schema.record_runtime_observations = lambda case, response: seen.append(response.status_code)
    case = schema["/items"]["POST"].Case(body={})
    case.call()
    with pytest.raises(ConnectionError):
        case.call("http://127.0.0.1:1")
    assert seen == [200]


def test_metadata_are_asked_for_again_when_a_case_has_changed(schema) -> None:
    schema.revalidate_case_metadata = lambda case: None
    case = find(schema["/items/{id}"]["GET"].as_strategy(), lambda case: True)
    assert case.meta is not None
    case.path_parameters["id"] = "seven"
    assert case.meta is None


def test_formats_of_one_schema(document) -> None:
    document["paths"]["/items/{id}"]["get"]["parameters"][1].update(
        required=True, schema={"type": "string", "format": "card"}
    )

    class Mine(checker.BaseSchema):
        def get_custom_format_strategies(self, generation_config, mode):
            return {"card": CARDS}

    schema = checker.openapi.from_dict(document)
    schema.__class__ = Mine
    case = find(schema["/items/{id}"]["GET"].as_strategy(), lambda case: True)
    assert case.query["q"] in ("1234", "5678")


CARDS = st.sampled_from(["1234", "5678"])


def test_operations_are_chosen_by_weight(schema) -> None:
    schema.compute_fuzz_operation_weights = lambda operations: [float(one.label == "POST /items") for one in operations]
    found = set()

    @settings(max_examples=20, database=None, suppress_health_check=list(HealthCheck))
    @given(schema.as_strategy())
    def collect(case) -> None:
        found.add(case.operation.label)

    collect()
    assert found == {"POST /items"}


def test_users_apply_authentication_themselves(schema, api) -> None:
    schema.auth().apply_to(method="POST")(Token)

    def apply(case: checker.Case, context: checker.AuthContext) -> bool:
        case.headers["x-mine"] = context.operation.label
        return bool(case.body == {"a": 1})

    schema.apply_auth = apply
    operation = schema["/items"]["POST"]
    case = operation.Case(body={"a": 1})
    case.call()
    operation.Case(body={"a": 2}).call()
    mine, others = (headers for _, _, headers, _ in api.requests)
    assert ("x-mine" in mine, "x-token" in mine) == (True, False)
    assert ("x-mine" in others, "x-token" in others) == (False, True)
    assert "x-mine" not in case.headers


def test_authentication_is_applied_to_a_case(schema) -> None:
    schema.auth().apply_to(method="POST")(Token)
    for method, path, applied in (("POST", "/items", True), ("GET", "/items/{id}", False)):
        operation = schema[path][method]
        case = operation.Case(path_parameters={"id": 1})
        assert schema.apply_auth(case, checker.AuthContext(operation)) is applied
        assert ("x-token" in case.headers) is applied


class Known:
    """Knows one identifier that the API accepts."""

    def values_for(self, operation: checker.APIOperation, location: str, name: str) -> Sequence[object]:
        return [424242] if (location, name) == ("path", "id") else []


def test_values_of_users_take_the_place_of_random_ones(schema) -> None:
    schema.create_extra_data_source = Known
    strategy = schema["/items/{id}"]["GET"].as_strategy()
    case = find(strategy, lambda case: case.path_parameters["id"] == 424242)
    assert case.meta is not None
    assert [(one.name, one.literal) for one in case.meta.bindings] == [("id", 424242)]


def test_coverage_lists_what_it_may(schema) -> None:
    operation = schema["/items/{id}"]["GET"]
    schema.config.phases.update(phases=["examples", "coverage"])
    schema.config.generation.update(mode="all")
    every = {case.meta.phase.data["scenario"] for case in schema.engine.listed_cases(operation)}
    assert {"incorrect_type", "unspecified_http_method"} < every
    schema.get_coverage_capabilities = lambda: ["incorrect_type"]
    few = {case.meta.phase.data["scenario"] for case in schema.engine.listed_cases(operation)}
    assert few == {"incorrect_type"}


def making(api) -> Any:
    """Makes things where nothing in the description says so: its `Location` alone does."""
    thing = {"get": {"parameters": [THING], "responses": {"200": {"description": ""}}}}
    make = {"post": {"responses": {"201": {"description": ""}}}}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Maker", "version": "1"},
        "servers": [{"url": api.url}],
        "paths": {"/orders": make, "/archive/{thing}": thing},
    }
    api.status, api.location = 201, "/archive/7"
    return checker.openapi.from_dict(document)


THING = {"name": "thing", "in": "path", "required": True, "schema": {"type": "integer"}}


def test_locations_of_answers_are_transitions(api) -> None:
    schema = making(api)
    with pytest.raises(checker.errors.NoLinksFound):
        schema.as_state_machine()
    schema["/orders"]["POST"].Case().call()
    api.requests.clear()

    class Machine(schema.as_state_machine()):  # type: ignore[misc]
        def validate_response(self, response, case, additional_checks=None, **kwargs) -> None:
            assert case.path_parameters.get("thing") != "7"

    with pytest.raises(AssertionError):
        Machine.run(settings=settings(Machine.usual_settings, database=None, derandomize=True))
    assert ("GET", "/archive/7") in [request[:2] for request in api.requests]


def test_users_infer_transitions_themselves(api) -> None:
    schema = making(api)
    seen: list[Any] = []

    def infer(observations: Sequence[Any]) -> list[Any]:
        seen.extend((one.operation.label, one.status, one.location) for one in observations)
        return []

    schema.apply_stateful_inference = infer
    schema["/orders"]["POST"].Case().call()
    with pytest.raises(checker.errors.NoLinksFound):
        schema.as_state_machine()
    assert seen == [("POST /orders", 201, "/archive/7")]


def test_characters_that_are_refused_are_told(schema, api) -> None:
    told: list[str] = []
    schema.adapt_to_null_byte_in_header_failure = lambda: told.append("header")
    schema.adapt_to_path_decoder_rejection = lambda: told.append("path")
    operation = schema["/items"]["POST"]
    with pytest.raises(ValueError, match="NUL, CR or LF"):
        operation.Case(headers={"x-odd": "a\0b"}).call()
    assert told == ["header"]
    operation.Case(headers={"x-usual": "ab"}).call()
    schema.build_request_url = lambda case, base_url: f"{base_url}/items%5C%1B"
    api.body = {"error": "the application saw it"}
    api.status = 400
    operation.Case().call()
    assert told == ["header"]
    api.content = b""
    operation.Case().call()
    assert told == ["header", "path"]


def test_how_often_credentials_are_renewed(schema, api) -> None:
    schema.auth()(Token)
    api.status = 401

    def sent() -> int:
        api.requests.clear()
        for _ in range(6):
            schema["/items"]["POST"].Case(body={}).call()
        return len(api.requests)

    assert sent() == 6 + schema.reauth_state.most_in_vain
    assert schema.reauth_state is not schema.reauth_state
    states: list[Any] = []

    class Impatient(checker.BaseSchema):
        @property
        def reauth_state(self) -> Any:
            states.append(super().reauth_state)
            states[-1].most_in_vain = 1
            return states[-1]

    schema.__class__ = Impatient
    schema.config.update(headers={"x-new": "1"})
    assert sent() == 6 + 1
    assert [(one.renewals, one.is_broken) for one in states] == [(1, True)]
