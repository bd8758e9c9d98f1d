"""Wrong data has to be refused, if it is proved to be wrong as it was sent."""

from typing import Any

import pytest

from checker.core.response import Response
from checker.core.scenarios import Scenario
from tests.checks.asked import POSITIVE, Exchanges, operations_of

CHECK = "negative_data_rejection"
INTEGER = {"type": "integer", "minimum": 1}
LIMIT = {"name": "limit", "in": "query", "schema": INTEGER}
KEY = {"name": "X-Key", "in": "header", "required": True, "schema": {"type": "string"}}
ID = {"name": "id", "in": "path", "required": True, "schema": INTEGER}
NAMED = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
ONCE = {"name": "Idempotency-Key", "in": "header", "required": True, "schema": {"type": "string"}}
OK = {"200": {"description": "fine"}}
PATHS = {
    "/a": {
        "get": {"parameters": [LIMIT, KEY], "responses": OK},
        "post": {"requestBody": {"content": {"application/json": {"schema": NAMED}}}, "responses": OK},
    },
    "/once": {"get": {"parameters": [LIMIT, ONCE], "responses": OK}},
    "/a/{id}": {"get": {"parameters": [ID], "responses": OK}},
    "/a/own": {"get": {"responses": OK}},
}


@pytest.fixture
def exchanges() -> Exchanges:
    return Exchanges(operations_of(PATHS))


KEYED: dict[str, Any] = {"headers": {"X-Key": "k"}}


def test_wrong_data_that_is_accepted_is_a_failure_that_names_it(exchanges: Exchanges) -> None:
    sent = exchanges.sent("GET /a", 200, query={"limit": 0}, **KEYED)
    (failure,) = exchanges.verdict(CHECK, sent).failures
    assert failure.title == "API accepted schema-violating request"
    assert (failure.code, failure.unique_key) == ("ST201", "2XX")
    first, expected, component = failure.message.splitlines()
    assert first == "Invalid data should have been rejected"
    assert expected.startswith("Expected: 400, 401, 403,")
    assert component.startswith("Invalid component: parameter `limit` in query - 0 is less than")


def test_the_body_is_named_with_the_place_in_it(exchanges: Exchanges) -> None:
    sent = exchanges.sent("POST /a", 201, media_type="application/json", body={"name": 1})
    (failure,) = exchanges.verdict(CHECK, sent).failures
    assert 'Invalid component: body at /name - 1 is not of type "string"' in failure.message


@pytest.mark.parametrize(
    ("name", "is_shared"), [(1, True), (True, True), (1.5, True), (None, False), ({}, False), ([], False)]
)
def test_values_that_frameworks_convert_are_one_mistake(exchanges: Exchanges, name: Any, is_shared: bool) -> None:
    def cause(value: Any, label: str) -> str:
        sent = exchanges.sent("POST /a", 201, media_type="application/json", body={"name": value})
        (failure,) = exchanges.verdict(CHECK, sent).failures
        return failure.cause(label)

    assert (cause(5, "POST /a") == cause(name, "POST /b")) is is_shared


def test_a_converted_type_hides_no_bound_that_is_not_enforced(exchanges: Exchanges) -> None:
    def fingerprint(value: Any) -> str:
        sent = exchanges.sent("POST /a", 201, media_type="application/json", body={"name": value})
        (failure,) = exchanges.verdict(CHECK, sent).failures
        return failure.fingerprint("POST /a")

    assert fingerprint(5) == fingerprint(True) != fingerprint({}) == fingerprint([])


def test_a_validation_that_a_shared_schema_lacks_is_one_mistake() -> None:
    amount = {"type": "integer", "minimum": 1, "maximum": 9}
    order = {"type": "object", "properties": {"amount": amount, "size": amount}}
    own = {"type": "object", "properties": {"amount": amount}}

    def operation(body: dict[str, Any], limit: dict[str, Any]) -> dict[str, Any]:
        parameter = {"name": "limit", "in": "query", "schema": limit}
        return {
            "parameters": [parameter],
            "requestBody": {"content": {"application/json": {"schema": body}}},
            "responses": OK,
        }

    named = {"$ref": "#/components/schemas/Order"}
    paths = {
        "/a": operation(named, INTEGER),
        "/b": operation(named, INTEGER),
        "/c": operation(own, amount),
        "/d": operation(own, INTEGER),
    }
    exchanges = Exchanges(
        operations_of({path: {"post": one} for path, one in paths.items()}, {"schemas": {"Order": order}})
    )

    def cause(label: str, **parts: Any) -> str:
        (failure,) = exchanges.verdict(
            CHECK, exchanges.sent(label, 200, media_type="application/json", **parts)
        ).failures
        return failure.cause(label)

    too_small = cause("POST /a", body={"amount": 0})
    assert too_small == cause("POST /a", body={"amount": 10}) == cause("POST /b", body={"amount": 10})
    assert too_small != cause("POST /a", body={"size": 0})
    # Inline schemas that look alike need not be validated by the same code, but a parameter of one name is.
    assert cause("POST /c", body={"amount": 0}) != cause("POST /d", body={"amount": 0})
    limit = cause("POST /a", body={}, query={"limit": 0})
    assert limit == cause("POST /d", body={}, query={"limit": 0}) != cause("POST /c", body={}, query={"limit": 0})
    # A converted value beside it is not the mistake.
    assert cause("POST /a", body={"amount": "5", "size": 0}) == cause("POST /a", body={"size": 0})


def test_copies_of_a_schema_deep_in_a_value_lack_one_validation() -> None:
    def operation(*others: str) -> dict[str, Any]:
        read = {"type": "array", "items": {"type": "string"}}
        rights = {"type": "object", "properties": {"read": read} | {key: {"type": "string"} for key in others}}
        body = {"type": "object", "properties": {"rights": rights, "read": read}}
        return {"requestBody": {"content": {"application/json": {"schema": body}}}, "responses": OK}

    def listed(schema: str) -> dict[str, Any]:
        content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
        return {"parameters": [{"name": "filter", "in": "query", "content": content}], "responses": OK}

    order = {"oneOf": [{"type": "string"}, {"type": "array"}]}
    filters = {name: {"type": "object", "properties": {"order": order, name: {}}} for name in ("One", "Other")}
    paths = {
        "/a": {"post": operation(), "get": listed("One")},
        "/b": {"post": operation("own"), "get": listed("Other")},
    }
    exchanges = Exchanges(operations_of(paths, {"schemas": filters}))

    def cause(label: str, **parts: Any) -> str:
        (failure,) = exchanges.verdict(CHECK, exchanges.sent(label, 200, **parts)).failures
        return failure.cause(label)

    deep, top = _json({"rights": {"read": None}}), _json({"read": None})
    assert cause("POST /a", **deep) == cause("POST /b", **deep) != cause("POST /a", **_json({"rights": None}))
    assert cause("POST /a", **top) != cause("POST /b", **top)
    by_order = {"query": {"filter": {"order": None}}}
    assert cause("GET /a", **by_order) == cause("GET /b", **by_order)


def test_a_format_of_numbers_that_is_not_checked_is_one_mistake() -> None:
    short, long = ({"type": "integer", "format": one} for one in ("int32", "int64"))
    body = {"type": "object", "properties": {"limit": short, "size": long}}
    described = {"requestBody": {"content": {"application/json": {"schema": body}}}, "responses": OK}
    queried = {"parameters": [{"name": "offset", "in": "query", "schema": short}], "responses": OK}
    exchanges = Exchanges(operations_of({"/a": {"post": described, "get": queried}}))

    def cause(label: str, **parts: Any) -> str:
        (failure,) = exchanges.verdict(CHECK, exchanges.sent(label, 200, **parts)).failures
        return failure.cause(label)

    of_body = cause("POST /a", **_json({"limit": 2**31}))
    assert of_body == cause("GET /a", query={"offset": -(2**31) - 1})
    assert of_body != cause("POST /a", **_json({"size": 2**63}))


def _json(body: Any) -> dict[str, Any]:
    return {"media_type": "application/json", "body": body}


@pytest.mark.parametrize(
    ("one", "other", "is_shared"),
    [
        ({"query": {"limit": 0}} | _json({}), {"query": {"limit": -5}} | _json({}), True),
        ({"query": {"limit": 0}} | _json({}), {"query": {"limit": "x"}} | _json({}), True),
        ({}, {}, True),
        (_json([]), _json("a"), True),
        (_json({"pet": {}}), _json({"pet": {}}), True),
        (_json({"pet": {}}), _json({"pet": {"name": None}}), False),
        (_json({"own": None}), _json({"own": None}), False),
    ],
    ids=["parameter", "other keyword", "no body", "whole body", "named schema", "other keyword of it", "inline schema"],
)
def test_a_rule_that_no_operation_checks_is_one_mistake(one: Any, other: Any, is_shared: bool) -> None:
    pet = {"$ref": "#/components/schemas/Pet"}
    whole = {"type": "object", "properties": {"pet": pet, "own": {"type": "string"}}}
    both = {"required": True, "content": {"application/json": {"schema": whole}}}
    operation = {"parameters": [LIMIT], "requestBody": both, "responses": OK}
    pets = Exchanges(operations_of({"/a": {"post": operation, "put": operation}}, {"schemas": {"Pet": NAMED}}))

    def cause(label: str, parts: dict[str, Any]) -> str:
        (failure,) = pets.verdict(CHECK, pets.sent(label, 200, **parts)).failures
        return failure.cause(label)

    assert (cause("POST /a", one) == cause("PUT /a", other)) is is_shared


@pytest.mark.parametrize(
    "status", [400, 401, 403, 404, 405, 406, 409, 410, 411, 413, 414, 415, 422, 423, 428, 429, 431, 451, 500, 501, 503]
)
def test_what_refuses_passes(exchanges: Exchanges, status: int) -> None:
    sent = exchanges.sent("GET /a", status, query={"limit": 0}, **KEYED)
    assert exchanges.failures(CHECK, sent) == []


@pytest.mark.parametrize("status", [402, 407, 408, 412, 416, 418, 424, 426])
def test_other_statuses_do_not_refuse_data(exchanges: Exchanges, status: int) -> None:
    sent = exchanges.sent("GET /a", status, query={"limit": 0}, **KEYED)
    assert exchanges.failures(CHECK, sent) == [str(status)]


def test_a_condition_that_does_not_hold_accepts_nothing(exchanges: Exchanges) -> None:
    headers = {"X-Key": "k", "If-Match": '"0"'}
    sent = exchanges.sent("GET /a", 412, query={"limit": 0}, headers=headers)
    assert exchanges.failures(CHECK, sent) == []


def test_other_statuses_may_be_expected(exchanges: Exchanges) -> None:
    sent = exchanges.sent("GET /a", 404, query={"limit": 0}, **KEYED)
    wanted = {"expected-statuses": ["400", "42X"]}
    assert exchanges.failures(CHECK, sent, **wanted) == ["404"]


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"query": {"limit": 5}}, "it became valid when it was serialised"),
        ({}, "it became valid when it was serialised"),
    ],
)
def test_what_is_right_on_the_wire_is_not_judged(exchanges: Exchanges, parts: dict[str, Any], reason: str) -> None:
    found = exchanges.verdict(CHECK, exchanges.sent("GET /a", 200, **parts, **KEYED))
    assert found.failures == ()
    assert found.unjudged == (f"an invalid request was answered with 200: {reason}",)


@pytest.mark.parametrize(("status", "found", "unjudged"), [(200, ["2XX"], 0), (422, [], 1)])
def test_an_answer_to_the_idempotency_key_accepts_no_data(
    exchanges: Exchanges, status: int, found: list[str], unjudged: int
) -> None:
    sent = exchanges.sent("GET /once", 200, query={"limit": 0}, headers={"Idempotency-Key": "key-0000"})
    verdict = exchanges.verdict(CHECK, sent, answers=lambda _: Response(status, [], b""))
    assert [one.unique_key for one in verdict.failures] == found
    assert len(verdict.unjudged) == unjudged
    (asked,) = exchanges.asked
    assert asked.target.endswith(b"?limit=0")
    assert asked.header(b"Idempotency-Key") not in (None, b"key-0000")


def test_redirects_say_nothing_of_data(exchanges: Exchanges) -> None:
    found = exchanges.verdict(CHECK, exchanges.sent("GET /a", 302, query={"limit": 0}, **KEYED))
    text = "an invalid request was answered with 302: a redirect neither accepts nor refuses it"
    assert (found.failures, found.unjudged) == ((), (text,))


def test_what_redirects_lead_to_and_what_has_not_changed_say_nothing_of_data(exchanges: Exchanges) -> None:
    followed = exchanges.sent("GET /a", 200, query={"limit": 0}, **KEYED)
    assert isinstance(followed.outcome, Response)
    followed.outcome.redirects = 1
    found = exchanges.verdict(CHECK, followed)
    text = "an invalid request was redirected, and the response of the other URL (200) does not judge it"
    assert (found.failures, found.unjudged) == ((), (text,))
    found = exchanges.verdict(CHECK, exchanges.sent("GET /a", 304, query={"limit": 0}, **KEYED))
    text = "an invalid request was answered with 304: 304 neither accepts nor refuses it"
    assert (found.failures, found.unjudged) == ((), (text,))


def test_parameters_that_nobody_declared_may_be_passed_over(exchanges: Exchanges) -> None:
    sent = exchanges.sent("GET /a", 200, query={"unknown": "42"}, **KEYED)
    assert exchanges.failures(CHECK, sent) == []


def test_headers_that_nobody_declared_may_be_passed_over(exchanges: Exchanges) -> None:
    data: dict[str, str | None] = {"scenario": Scenario.UNEXPECTED_PROPERTIES, "parameter_location": "header"}
    sent = exchanges.sent("GET /a", 200, data=data, headers={"X-Key": "k", "X-Other": "42"})
    assert exchanges.failures(CHECK, sent) == []


def test_a_path_that_another_operation_has_is_not_judged(exchanges: Exchanges) -> None:
    own = exchanges.sent("GET /a/{id}", 200, path_parameters={"id": "own"})
    assert len(exchanges.verdict(CHECK, own).unjudged) == 1
    other = exchanges.sent("GET /a/{id}", 200, path_parameters={"id": "other"})
    assert exchanges.failures(CHECK, other) == ["2XX"]


def test_valid_cases_and_requests_of_another_shape_are_not_its_business(exchanges: Exchanges) -> None:
    valid = exchanges.sent("GET /a", 200, mode=POSITIVE, query={"limit": 0}, **KEYED)
    assert exchanges.failures(CHECK, valid) == []
    data: dict[str, str | None] = {"scenario": Scenario.UNSPECIFIED_METHOD}
    shaped = exchanges.sent("GET /a", 200, data=data, query={"limit": 0}, **KEYED)
    assert exchanges.failures(CHECK, shaped) == []


def test_a_missing_header_is_left_to_the_check_of_headers(exchanges: Exchanges) -> None:
    assert exchanges.failures(CHECK, exchanges.sent("GET /a", 200)) == []
    assert exchanges.failures(CHECK, exchanges.sent("GET /a", 200, query={"limit": 0})) == ["2XX"]


def test_bodies_that_are_not_of_their_media_type_are_read_by_one_parser() -> None:
    paths = {
        path: {"post": {"requestBody": {"content": {"application/json": {"schema": schema}}}, "responses": OK}}
        for path, schema in (("/a", NAMED), ("/b", INTEGER))
    }
    exchanges = Exchanges(operations_of(paths))

    def cause(label: str, content: bytes) -> str:
        sent = exchanges.sent(label, 201, **_json(1))
        assert sent.request is not None
        sent.request.body = content
        (failure,) = exchanges.verdict(CHECK, sent).failures
        return failure.cause(label)

    assert cause("POST /a", b'{"name":"\xff"}') == cause("POST /b", b'"\xff"') != cause("POST /b", b"0")
