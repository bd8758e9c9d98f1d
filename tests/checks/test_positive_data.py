"""What a refusal of valid data says of properties that nobody declared."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from checker.core.request import WireRequest
from checker.core.response import Response
from tests.checks.asked import POSITIVE, Exchanges, operations_of

CHECK = "positive_data_acceptance"
NAMED: dict[str, Any] = {"type": "object", "properties": {"name": {"type": "string"}}}
MAP = {"type": "object", "additionalProperties": {"type": "integer"}}


def _post(schema: dict[str, Any]) -> dict[str, Any]:
    body = {"content": {"application/json": {"schema": schema}}}
    return {"post": {"requestBody": body, "responses": {"200": {"description": "fine"}}}}


def _get(*of_path: dict[str, Any]) -> dict[str, Any]:
    parameters = [{"in": "path", "required": True, **one} for one in of_path]
    return {"get": {"parameters": parameters, "responses": {"200": {"description": "fine"}}}}


PATHS = {
    "/plain": _post(NAMED),
    "/parts": _post({"allOf": [{"$ref": "#/components/schemas/Named"}]}),
    "/map": _post(MAP),
    "/sets/{set_id}": _get({"name": "set_id", "schema": {"type": "string"}}),
    "/sets/{set_id}/items": _get({"name": "set_id", "schema": {"type": "string"}}),
    "/names/{name}": _get({"name": "name", "schema": {"type": "string"}}),
    "/files/{number}": _get({"name": "number", "schema": {"type": "integer"}}),
    "/files/{name}": _get({"name": "name", "schema": {"type": "string"}}),
    "/files/newest": _get(),
    "/zones/{zone}": _get({"name": "zone", "schema": {"type": "string"}}),
    "/zones/{zone}/keys": _get({"name": "zone", "schema": {"type": "string"}}),
    "/keys/{key}": _get({"name": "key", "schema": {"type": "string"}}),
    "/keyed": {
        "post": {
            **_post(NAMED)["post"],
            "parameters": [{"name": "Idempotency-Key", "in": "header", "schema": {"type": "string"}}],
        }
    },
    "/listed": {
        method: {
            "parameters": [{"name": name, "in": "query", "schema": {"type": "integer"}} for name in ("_to", "id")],
            "responses": {"200": {"description": "fine"}},
        }
        for method in ("get", "delete")
    },
    "/conditional": {
        method: {
            "parameters": [
                {"name": name, "in": "header", "schema": {"type": "string"}}
                for name in ("If-Match", "If-None-Match", "If-Unmodified-Since")
            ],
            "responses": {"200": {"description": "fine"}},
        }
        for method in ("post", "put")
    },
}


@pytest.fixture
def exchanges() -> Exchanges:
    return Exchanges(operations_of(PATHS, {"schemas": {"Named": NAMED}}))


def strict(request: WireRequest) -> Response:
    """Accepts a name alone."""
    return Response(200 if request.body == b'{"name":"n"}' else 400, [], b"")


def missing(request: WireRequest) -> Response:
    """Has nothing, and refuses no path."""
    return Response(404, [], b"")


def _message(exchanges: Exchanges, label: str, body: Any) -> str:
    sent = exchanges.sent(label, 400, mode=POSITIVE, media_type="application/json", body=body)
    (failure,) = exchanges.verdict(CHECK, sent, answers=strict).failures
    assert failure.unique_key == "400"
    return failure.message


@pytest.mark.parametrize("label", ["POST /plain", "POST /parts"])
def test_what_is_accepted_without_them_names_three_of_them(exchanges: Exchanges, label: str) -> None:
    body = {"name": "n", "one": 1, "two": 2, "three": 3, "four": 4}
    last = _message(exchanges, label, body).splitlines()[-1]
    assert last.startswith("Hint: the request is accepted without `one`, `two`, `three`, which")
    assert [request.body for request in exchanges.asked] == [b'{"name":"n"}']


def test_what_is_refused_without_them_too_has_no_hint(exchanges: Exchanges) -> None:
    assert "Hint" not in _message(exchanges, "POST /plain", {"name": "other", "one": 1})
    assert len(exchanges.asked) == 1


@pytest.mark.parametrize(("label", "body"), [("POST /plain", {"name": "n"}), ("POST /map", {"a": 1})])
def test_nothing_is_sent_where_all_is_described(exchanges: Exchanges, label: str, body: Any) -> None:
    assert "Hint" not in _message(exchanges, label, body)
    assert exchanges.asked == []


@pytest.mark.parametrize(("status", "is_of_a_moment"), [(400, False), (412, True), (422, False), (424, True)])
def test_a_refusal_with_a_status_of_a_moment_has_to_show_each_time(
    exchanges: Exchanges, status: int, is_of_a_moment: bool
) -> None:
    sent = exchanges.sent("GET /keys/{key}", status, mode=POSITIVE, path_parameters={"key": "a"})
    (failure,) = exchanges.verdict(CHECK, sent, answers=strict).failures
    assert failure.needs_repetition is is_of_a_moment


def _cause(exchanges: Exchanges, label: str, answer: bytes, **parts: Any) -> str:
    sent = exchanges.sent(label, 400, mode=POSITIVE, answer=answer, **parts)
    (failure,) = exchanges.verdict(CHECK, sent, answers=strict).failures
    return failure.cause(label)


@pytest.mark.parametrize(
    ("one", "other", "is_shared"),
    [
        (b"expected 3-512 characters, got: abc", b"expected 3-512 characters, got: xyz", True),
        (b"the name is required", b"the name is required", False),
        (b"limit must be <= 200.", b'limit must be <= 200 ("5000")', True),
        (b"size exceeds 10", b"size exceeds 12 (id 3fa85f64-5717)", True),
        (b"size exceeds 10!", b"'size' exceeds 12", True),
        (b"limit must be <= 200", b"limit must be >= 0", True),
        (b"size must be <= 200", b"limit must be >= 0", False),
        (b"limit: must be less than or equal to 200.", b"limit: must be less than or equal to 50.", True),
        (b"limit: must be less than or equal to 200.", b"limit: must be greater than or equal to 0.", True),
        (b'{"in": "a", "min": "at least 3 characters"}', b'{"in": "b", "min": "at least 3 characters"}', False),
    ],
)  # fmt: skip
def test_refusals_that_name_the_same_limit_have_one_cause(
    exchanges: Exchanges, one: bytes, other: bytes, is_shared: bool
) -> None:
    parts = {"media_type": "application/json"}
    found = _cause(exchanges, "POST /plain", one, body={"name": "abc"}, **parts)
    again = _cause(exchanges, "POST /parts", other, body={"name": "xyz"}, **parts)
    assert (found == again) is is_shared


@pytest.mark.parametrize(
    ("one", "other", "is_shared"),
    [
        ({"name": ["This field may not be blank."]}, {"title": ["This field may not be blank."]}, True),
        (
            {"name": ["This field may not be blank."]},
            {"title": ["This field may not be blank."], "country": ["Invalid hyperlink - No URL match."]},
            True,
        ),
        ({"error": '"name" is not allowed to be empty'}, {"error": '"title" is not allowed to be empty'}, True),
        ({"name": ["Null characters are not allowed."]}, {"title": ["Null characters are not allowed."]}, True),
        ({"name": ["Null characters are not allowed."]}, {"title": ["This field may not be blank."]}, False),
        ({"name": ["This field is required."]}, {"title": ["This field is required."]}, False),
        (
            {"name": ["This field may not be blank."]},
            {"title": ["This field may not be blank."], "total": ["A valid number is required."]},
            False,
        ),
    ],
)  # fmt: skip
def test_refusals_of_empty_texts_by_one_framework_have_one_cause(
    exchanges: Exchanges, one: Any, other: Any, is_shared: bool
) -> None:
    parts = {"media_type": "application/json"}
    found = _cause(exchanges, "POST /plain", json.dumps(one).encode(), body={"name": ""}, **parts)
    again = _cause(exchanges, "POST /parts", json.dumps(other).encode(), body={"name": ""}, **parts)
    assert (found == again) is is_shared


@pytest.mark.parametrize(("answer", "is_shared"), [(b"names.first.0: Required", True), (b"first.0: Required", False)])
def test_refusals_that_name_the_same_two_properties_have_one_cause(
    exchanges: Exchanges, answer: bytes, is_shared: bool
) -> None:
    parts = {"media_type": "application/json", "body": {"names": {"first": [""]}}}
    found = [_cause(exchanges, f"POST /{name}", answer, **parts) for name in ("plain", "parts")]
    assert (len(set(found)) == 1) is is_shared


def test_bodies_that_are_required_and_described_as_optional_are_one_mistake(exchanges: Exchanges) -> None:
    missing_one, missing_other = b"title is required", b"amount is required"
    assert _cause(exchanges, "POST /plain", missing_one) == _cause(exchanges, "POST /map", missing_other)
    body = {"media_type": "application/json", "body": {}}
    assert _cause(exchanges, "POST /plain", missing_one) != _cause(exchanges, "POST /plain", missing_one, **body)
    assert _cause(exchanges, "POST /conditional", b"Bad") != _cause(exchanges, "PUT /conditional", b"Bad")


def test_refusals_that_quote_the_same_variable_of_the_path_have_one_cause(exchanges: Exchanges) -> None:
    def cause(label: str, name: str, value: str) -> str:
        told = f'{{"error": "Unable to parse \'{value}\'"}}'.encode()
        sent = exchanges.sent(label, 422, answer=told, mode=POSITIVE, path_parameters={name: value})
        (failure,) = exchanges.verdict(CHECK, sent, answers=missing).failures
        return failure.cause(label)

    found = cause("GET /zones/{zone}", "zone", "a.")
    assert cause("GET /zones/{zone}/keys", "zone", "b..") == found
    assert cause("GET /keys/{key}", "key", "a.") != found


@pytest.mark.parametrize(
    "told",
    [
        b'{"code": 400, "message": "If-Match in header: not an integer"}',
        b'{"detail": "Invalid IF-MATCH header format. Expected \'x.y.z\'"}',
    ],
)
def test_refusals_that_name_the_same_parameter_have_one_cause(exchanges: Exchanges, told: bytes) -> None:
    found = _cause(exchanges, "POST /conditional", told, headers={"If-Match": "0*"})
    again = _cause(exchanges, "PUT /conditional", told, headers={"If-Match": "00*"})
    assert found == again
    # One part of a server reads all conditions.
    other = told.replace(b"If-Match", b"If-None-Match").replace(b"IF-MATCH", b"IF-NONE-MATCH")
    assert _cause(exchanges, "PUT /conditional", other, headers={"If-None-Match": "00*"}) == found


@pytest.mark.parametrize(
    ("one", "other", "is_shared"),
    [
        ({"text": "Invalid value", "name": "_to"}, {"text": "Invalid value", "name": "_to"}, True),
        ({"text": "Invalid value", "name": "_to"}, {"text": "Invalid value", "name": "id"}, False),
        ({"text": "Invalid value", "id": "of a log"}, {"text": "Invalid value", "id": "of a log"}, False),
        ({"text": "Invalid thing to do"}, {"text": "Invalid thing to do"}, False),
    ],
)
def test_a_short_name_of_a_parameter_counts_in_quotes(
    exchanges: Exchanges, one: Any, other: Any, is_shared: bool
) -> None:
    found = _cause(exchanges, "GET /listed", json.dumps(one).encode(), query={"_to": 1})
    again = _cause(exchanges, "DELETE /listed", json.dumps(other).encode(), query={"_to": 2})
    assert (found == again) is is_shared


def test_refused_properties_that_nobody_declared_have_one_cause(exchanges: Exchanges) -> None:
    def cause(label: str, body: dict[str, Any]) -> str:
        told = f"Unrecognized: {min(body)}".encode()
        return _cause(exchanges, label, told, media_type="application/json", body=body)

    found = cause("POST /plain", {"00": "", "name": "n"})
    assert cause("POST /parts", {"$ref": "", "name": "n"}) == found
    assert cause("POST /parts", {"$ref": "", "name": "other"}) != found


@pytest.mark.parametrize("value", ["z", "zy", "r'", "to", 'a"b\\`c', "ü$%&/()=", "q" * 5_000])
def test_the_reason_of_a_refusal_does_not_depend_on_the_value_that_it_repeats(exchanges: Exchanges, value: str) -> None:
    def cause(sent: str) -> str:
        said = f"Invalid IF-MATCH header format. Expected to be in 'x.y.z', received {sent} in the header"
        told = json.dumps({"detail": said}).encode()
        return _cause(exchanges, "POST /conditional", told, headers={"If-Match": sent})

    assert cause(value) == cause("00*")


def test_the_name_of_a_parameter_may_be_told_in_words(exchanges: Exchanges) -> None:
    found = _cause(exchanges, "GET /sets/{set_id}", b"Invalid Set ID: 0", path_parameters={"set_id": "0"})
    again = _cause(exchanges, "GET /sets/{set_id}/items", b"Invalid Set ID: r", path_parameters={"set_id": "r"})
    assert found == again


@pytest.mark.parametrize("name", ["If-Match", "If-None-Match", "If-Unmodified-Since"])
def test_a_condition_that_does_not_hold_refuses_no_data(exchanges: Exchanges, name: str) -> None:
    sent = exchanges.sent("POST /conditional", 412, mode=POSITIVE, headers={name: "x"})
    assert exchanges.failures(CHECK, sent) == []


def test_what_asks_for_a_condition_refuses_no_data(exchanges: Exchanges) -> None:
    verdict = exchanges.verdict(CHECK, exchanges.sent("PUT /conditional", 428, mode=POSITIVE))
    reason = "the server wants a condition (If-Match), not other data"
    assert (verdict.failures, verdict.unjudged) == ((), (f"a request was refused with 428, and {reason}",))


@pytest.mark.parametrize(("status", "found"), [(201, []), (422, ["422"])])
def test_what_is_accepted_with_another_idempotency_key_was_refused_for_its_key(
    exchanges: Exchanges, status: int, found: list[str]
) -> None:
    sent = exchanges.sent(
        "POST /keyed",
        422,
        mode=POSITIVE,
        headers={"Idempotency-Key": "key-0000"},
        media_type="application/json",
        body={"name": "n"},
    )
    verdict = exchanges.verdict(CHECK, sent, answers=lambda _: Response(status, [], b""))
    assert [one.unique_key for one in verdict.failures] == found
    (asked,) = exchanges.asked
    assert asked.body == b'{"name":"n"}'
    assert asked.header(b"Idempotency-Key") not in (None, b"key-0000")


def test_412_to_what_has_no_condition_is_a_refusal(exchanges: Exchanges) -> None:
    sent = exchanges.sent("POST /conditional", 412, mode=POSITIVE)
    assert exchanges.failures(CHECK, sent) == ["412"]


@pytest.mark.parametrize(
    ("label", "values", "is_judged"),
    [
        ("GET /files/{name}", {"name": "a"}, False),
        ("GET /files/{number}", {"number": 1}, False),
        ("GET /files/newest", {}, True),
    ],
)
def test_a_path_of_several_operations_is_refused_by_nobody_knows_which(
    exchanges: Exchanges, label: str, values: dict[str, Any], is_judged: bool
) -> None:
    sent = exchanges.sent(label, 400, mode=POSITIVE, path_parameters=values)
    verdict = exchanges.verdict(CHECK, sent)
    assert bool(verdict.failures) is is_judged
    assert any("several operations" in one for one in verdict.unjudged) is not is_judged


def _walled(refused: str) -> Callable[[WireRequest], Response]:
    """A server that refuses what has such a text in its path, wherever it leads."""
    return lambda request: Response(400 if refused.encode() in request.target else 404, [], b"")


@pytest.mark.parametrize(
    ("refused", "is_judged", "targets"),
    [
        # In front of all operations.
        ("%3B", False, [b"/v1/checker-probe%3B", b"/v1/checker-probe"]),
        # By the operation.
        ("/names/", True, [b"/v1/checker-probe%3B"]),
        # Whatever comes.
        ("", True, [b"/v1/checker-probe%3B", b"/v1/checker-probe"]),
    ],
)
def test_characters_that_are_refused_wherever_they_lead_are_no_failure(
    exchanges: Exchanges, refused: str, is_judged: bool, targets: list[bytes]
) -> None:
    sent = exchanges.sent("GET /names/{name}", 400, mode=POSITIVE, path_parameters={"name": "a;b;"})
    verdict = exchanges.verdict(CHECK, sent, answers=_walled(refused))
    assert bool(verdict.failures) is is_judged
    assert any("in any path" in one for one in verdict.unjudged) is not is_judged
    assert [request.target for request in exchanges.asked] == targets
    assert {(request.method, request.body) for request in exchanges.asked} == {("GET", None)}


@pytest.mark.parametrize(("name", "answer"), [("ab", b""), ("a;b", b'{"message": "a bad name"}')])
def test_plain_paths_and_refusals_with_a_reason_ask_nobody(exchanges: Exchanges, name: str, answer: bytes) -> None:
    sent = exchanges.sent("GET /names/{name}", 400, answer=answer, mode=POSITIVE, path_parameters={"name": name})
    assert exchanges.verdict(CHECK, sent).failures
    assert exchanges.asked == []


@pytest.mark.parametrize("status", [404, 409, 410, 429])
def test_statuses_that_say_nothing_of_the_data_refuse_none(exchanges: Exchanges, status: int) -> None:
    sent = exchanges.sent("GET /names/{name}", status, mode=POSITIVE)
    assert exchanges.verdict(CHECK, sent).failures == ()


@pytest.mark.parametrize("body", [{"__proto__": 1}, {"a": [{"__proto__": {}}]}])
def test_parsers_may_refuse_what_would_change_prototypes(exchanges: Exchanges, body: dict[str, Any]) -> None:
    sent = exchanges.sent("POST /plain", 400, mode=POSITIVE, media_type="application/json", body=body)
    judgement = exchanges.verdict(CHECK, sent, answers=strict)
    assert not judgement.failures
    (unjudged,) = judgement.unjudged
    assert "`__proto__`" in unjudged
