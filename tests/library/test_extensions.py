"""Extension points of a loaded schema: what users put there acts where its name says."""

from typing import Any

import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

import checker


@pytest.fixture
def schema(document, api):
    found = checker.openapi.from_dict(document)
    found.config.update(base_url=api.url)
    found.config.phases.update(phases=["fuzzing"])
    return found


def test_the_url_of_a_case(schema, api) -> None:
    case = schema["/items/{id}"]["GET"].Case(path_parameters={"id": 7}, query={"q": "a"})
    assert schema.build_request_url(case, "http://there/v1/") == "http://there/v1/items/7"
    schema.build_request_url = lambda case, base_url: f"{base_url}/v2{case.formatted_path}"
    case.call()
    assert api.requests[0][1] == "/v2/items/7?q=a"


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
    schema.compute_fuzz_operation_weights = lambda operations: [
        float(one.label == "POST /items") for one in operations
    ]
    found = set()

    @settings(max_examples=20, database=None, suppress_health_check=list(HealthCheck))
    @given(schema.as_strategy())
    def collect(case) -> None:
        found.add(case.operation.label)

    collect()
    assert found == {"POST /items"}


class Token:
    """Gives a token to operations that are read."""

    def get(self, case: checker.Case, ctx: checker.AuthContext) -> str:
        return "t"

    def set(self, case: checker.Case, data: str, ctx: checker.AuthContext) -> None:
        case.headers["x-token"] = data


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
