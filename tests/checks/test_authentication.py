"""Who asks for credentials has to refuse requests without them, and with wrong ones."""

import base64
from typing import Any

import pytest

from checker.checks.judge import CLEAN
from checker.core.meta import Binding, GenerationMode
from checker.core.operation import Label
from checker.core.request import Location, WireRequest
from checker.core.response import FailureKind, NetworkFailure, Outcome, Response
from tests.checks.asked import NEGATIVE, POSITIVE, Exchanges, Sent, operations_of

CHECK = "ignored_auth"
OK = {"200": {"description": "fine"}}
ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "basic": {"type": "http", "scheme": "basic"},
    "header": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "query": {"type": "apiKey", "in": "query", "name": "key"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": "session"},
    "mutual": {"type": "mutualTLS"},
}


def path(*alternatives: dict[str, list[str]]) -> dict[str, Any]:
    return {"get": {"security": list(alternatives), "responses": OK}}


PATHS = {
    **{f"/{name}": path({name: []}) for name in SCHEMES},
    "/both": path({"header": [], "query": []}),
    "/either": path({"header": []}, {"bearer": []}),
    "/optional": path({"bearer": []}, {}),
    "/unknown": path({"nobody": []}),
    "/public": path(),
    "/bearer/{id}": {
        method: {"parameters": [ID], "security": [{"bearer": []}], "responses": OK} for method in ("get", "delete")
    },
}
BEARER = ("Authorization", "Bearer right")


def exchanges(*headers: tuple[str, str]) -> Exchanges:
    return Exchanges(operations_of(PATHS, {"securitySchemes": SCHEMES}), headers)


def sent(them: Exchanges, label: str, status: int = 200, *, is_probed: bool = True, **parts: Any) -> Sent:
    one = them.sent(label, status, mode=POSITIVE, phase="fuzzing", **parts)
    assert one.request is not None
    one.request.is_probed = is_probed
    return one


def always(status: int) -> Any:
    return lambda request: Response(status, [], b"")


def titles(them: Exchanges, label: str, answers: Any = None, **parts: Any) -> list[str]:
    found = them.verdict(CHECK, sent(them, label, **parts), answers=answers)
    return [one.title for one in found.failures]


ACCEPTS, WRONG = "API accepts requests without authentication", "API accepts invalid authentication"


def test_what_succeeds_without_credentials_is_a_failure_at_once() -> None:
    them = exchanges()
    (failure,) = them.verdict(CHECK, sent(them, "GET /bearer")).failures
    assert (failure.title, failure.code, failure.severity) == (ACCEPTS, "ST401", "critical")
    first = "Expected 401 or 403, got `200` for `GET /bearer` (no credentials provided)"
    assert failure.message.splitlines()[0] == first
    assert them.asked == []


def test_a_right_operation_is_asked_without_credentials_and_with_wrong_ones() -> None:
    them = exchanges(BEARER)
    assert titles(them, "GET /bearer", always(401)) == []
    without, wrong = them.asked
    assert without.header(b"authorization") is None
    token = wrong.header(b"authorization")
    assert token is not None
    assert token.startswith(b"Bearer ")
    assert token != b"Bearer right"


def test_who_ignores_credentials_is_found_out() -> None:
    them = exchanges(BEARER)
    assert titles(them, "GET /bearer", always(200)) == [ACCEPTS]
    assert len(them.asked) == 1


def test_operations_that_ignore_credentials_have_one_cause() -> None:
    them = exchanges(BEARER)
    causes = set()
    for label, status in (("GET /bearer", 200), ("GET /either", 200), ("GET /either", 501)):
        failures = them.verdict(CHECK, sent(them, label), answers=always(status)).failures
        causes |= {one.cause(label) for one in failures}
    assert len(causes) == 1


def test_who_takes_any_credentials_is_found_out() -> None:
    def takes_any(request: WireRequest) -> Outcome:
        return Response(401 if request.header(b"authorization") is None else 200, [], b"")

    them = exchanges(BEARER)
    assert titles(them, "GET /bearer", takes_any) == [WRONG]


@pytest.mark.parametrize(
    ("status", "title"),
    [
        (403, []),
        (302, []),
        (429, []),
        (400, ["Unexpected response to a request without authentication"]),
        (500, ["Unexpected response to a request without authentication"]),
    ],
)
def test_other_answers(status: int, title: list[str]) -> None:
    assert titles(exchanges(BEARER), "GET /bearer", always(status)) == title


def test_what_the_right_request_made_may_stand_in_the_way() -> None:
    them = exchanges(BEARER)
    found = them.verdict(CHECK, sent(them, "GET /bearer"), answers=always(409))
    assert (found.failures, len(found.unjudged)) == ((), 2)


@pytest.mark.parametrize(("stranger", "title"), [(201, "API accepts requests without authentication"), (401, None)])
def test_what_was_made_does_not_stand_in_the_way_of_another_thing(stranger: int, title: str | None) -> None:
    code = {"type": "string", "pattern": "^[A-Z]{2}$"}
    members = {"code": code, "kind": {"enum": ["a"]}, "number": {"type": "integer", "maximum": 3}}
    body = {"content": {"application/json": {"schema": {"type": "object", "properties": members}}}}
    post = {"requestBody": body, "security": [{"bearer": []}], "responses": OK}
    them = Exchanges(operations_of({"/c": {"post": post}}, {"securitySchemes": SCHEMES}), (BEARER,))

    def unique(request: WireRequest) -> Response:
        made = b'{"code":"AZ","kind":"a","number":3}'
        return Response(409 if request.body == made else stranger, [], b"")

    made = {"code": "AZ", "kind": "a", "number": 3}
    one = sent(them, "POST /c", 201, media_type="application/json", body=made)
    verdict = them.verdict(CHECK, one, answers=unique)
    assert [failure.title for failure in verdict.failures] == ([title] if title else [])
    other = next(request for request in them.asked if request.body != b'{"code":"AZ","kind":"a","number":3}')
    assert other.body == b'{"code":"ZY","kind":"a","number":3}'
    assert other.header(b"authorization") is None


def test_what_is_not_there_for_strangers_is_not_judged() -> None:
    them = exchanges(BEARER)
    one = sent(them, "GET /bearer/{id}", path_parameters={"id": "1"})
    found = them.verdict(CHECK, one, answers=always(404))
    assert (found.failures, len(found.unjudged)) == ((), 2)


@pytest.mark.parametrize(
    ("label", "parts", "header", "target"),
    [
        ("GET /header", {"headers": {"X-Key": "k"}}, b"x-key", b"/v1/header"),
        ("GET /query", {"query": {"key": "k", "a": "b"}}, b"cookie", b"/v1/query?a=b"),
        ("GET /cookie", {"cookies": {"session": "k"}}, b"cookie", b"/v1/cookie"),
        ("GET /either", {"headers": {"X-Key": "k"}}, b"x-key", b"/v1/either"),
        ("GET /both", {"headers": {"X-Key": "k"}, "query": {"key": "k"}}, b"x-key", b"/v1/both"),
    ],
)
def test_credentials_are_left_out_wherever_they_stand(
    label: str, parts: dict[str, Any], header: bytes, target: bytes
) -> None:
    them = exchanges()
    assert titles(them, label, always(401), **parts) == []
    without, wrong = them.asked
    assert (without.header(header), without.target) == (None, target)
    assert (wrong.header(header), wrong.target) != (None, target)


def test_wrong_credentials_are_well_formed() -> None:
    them = exchanges(("Authorization", "Basic cmlnaHQ="))
    assert titles(them, "GET /basic", always(401)) == []
    token = them.asked[1].header(b"authorization")
    assert token is not None
    word, _, text = token.partition(b" ")
    assert (word, base64.b64decode(text).startswith(b"nobody:")) == (b"Basic", True)


@pytest.mark.parametrize("label", ["optional", "unknown", "public", "mutual"])
def test_who_asks_for_nothing_that_can_be_left_out_is_not_asked(label: str) -> None:
    assert titles(exchanges(), f"GET /{label}") == []


def test_others_than_the_declared_credentials_prove_nothing() -> None:
    assert titles(exchanges(BEARER), "GET /header") == []
    assert titles(exchanges(("Cookie", "a=b")), "GET /header") == []


def test_wrong_paths_and_refusals_are_not_judged() -> None:
    them = exchanges()
    parts: dict[str, Any] = {"path_parameters": {"id": "1"}, "mode": NEGATIVE}
    assert them.failures(CHECK, them.sent("GET /bearer", 401, mode=POSITIVE)) == []
    assert them.failures(CHECK, them.sent("GET /bearer/{id}", 404, **parts)) == []


def test_no_answer_is_no_verdict() -> None:
    def silent(request: WireRequest) -> Outcome:
        return NetworkFailure(FailureKind.TIMEOUT, "no answer", 1.0)

    assert titles(exchanges(BEARER), "GET /bearer", silent) == []


@pytest.mark.parametrize(
    ("label", "parts"),
    [
        ("GET /bearer", {}),
        ("GET /header", {"headers": {"X-Key": "k"}}),
        ("GET /query", {"query": {"a": "b", "key": "k"}}),
        ("GET /cookie", {"cookies": {"session": "k"}}),
    ],
)
def test_what_is_not_probed_is_judged_at_once(label: str, parts: dict[str, Any]) -> None:
    them = exchanges(BEARER) if label == "GET /bearer" else exchanges()
    judge = them.judge(CHECK)
    for index in range(20):
        one = sent(them, label, index=index, is_probed=False, **parts)
        assert isinstance(one.outcome, Response)
        assert judge.verdict(one.case, one.outcome) is CLEAN
        assert judge.probes(one.case, one.outcome) is True


@pytest.mark.parametrize(
    ("label", "status", "parts", "can_be"),
    [
        ("GET /bearer", 400, {}, False),
        ("GET /header", 200, {}, False),
        ("GET /public", 200, {}, None),
        ("GET /optional", 200, {}, None),
    ],
)
def test_only_accepted_requests_with_credentials_are_probed(
    label: str, status: int, parts: dict[str, Any], can_be: bool | None
) -> None:
    them = exchanges(BEARER)
    one = sent(them, label, status, **parts)
    assert isinstance(one.outcome, Response)
    assert them.judge(CHECK).probes(one.case, one.outcome) is can_be


def test_a_stranger_who_is_served_is_looked_at_though_nothing_is_probed() -> None:
    them = exchanges()
    one = sent(them, "GET /bearer", is_probed=False)
    assert isinstance(one.outcome, Response)
    assert them.judge(CHECK).verdict(one.case, one.outcome) is None


@pytest.mark.parametrize(
    ("status", "title"), [(400, []), (500, ["Unexpected response to a request without authentication"])]
)
def test_a_server_error_without_credentials_is_a_failure_at_once(status: int, title: list[str]) -> None:
    them = exchanges()
    found = them.verdict(CHECK, sent(them, "GET /bearer", status, is_probed=False))
    assert [one.title for one in found.failures] == title
    assert them.asked == []


def test_a_failure_is_confirmed_though_its_case_is_not_probed() -> None:
    them = exchanges(BEARER)
    judge = them.judge(CHECK)
    one = sent(them, "GET /bearer", is_probed=False)
    assert isinstance(one.outcome, Response)
    assert one.request is not None
    assert them.drive(judge.judge(one.case, one.outcome), always(200)).failures == ()
    assert them.asked == []
    one.request.confirms = "ignored_auth"
    (failure,) = them.drive(judge.judge(one.case, one.outcome), always(200)).failures
    assert failure.title == ACCEPTS
    assert them.drive(judge.judge(one.case, one.outcome), always(401)).failures == ()


def behind_gate(gate: bytes, label: str, status: int, **parts: Any) -> tuple[list[str], list[str]]:
    """Return the titles and the methods of what the check sends, with a header `X-Gate` for every request.

    A request with the header `gate` gets 405.
    """
    them = Exchanges(operations_of(PATHS, {"securitySchemes": SCHEMES}), neutral=(("X-Gate", "s3"),))
    shown = titles(
        them,
        label,
        lambda one: Response(405 if one.header(gate) else 401, [], b""),
        status=status,
        is_probed=False,
        **parts,
    )
    return shown, [one.method for one in them.asked]


def test_a_header_of_the_user_costs_no_request_without_a_failure() -> None:
    assert behind_gate(b"x-gate", "GET /bearer", 404) == ([], [])
    assert behind_gate(b"x-gate", "DELETE /bearer/{id}", 404, path_parameters={"id": "7"}) == ([], [])


def test_a_header_of_the_user_that_lets_requests_in_withdraws_a_failure_and_repeats_no_change() -> None:
    assert behind_gate(b"x-gate", "GET /bearer", 200) == ([], ["GET"])
    assert behind_gate(b"x-gate", "DELETE /bearer/{id}", 200, path_parameters={"id": "7"}) == ([], ["GET", "GET"])


def test_a_header_of_the_user_that_changes_no_response_withdraws_no_failure() -> None:
    found = behind_gate(b"x-other", "DELETE /bearer/{id}", 200, path_parameters={"id": "7"})
    assert found == ([ACCEPTS], ["GET", "GET"])


REMOVAL = "DELETE /bearer/{id}"


def removal(
    them: Exchanges, index: int, *, label: str = REMOVAL, mode: GenerationMode = POSITIVE, is_known: bool = True
) -> Sent:
    made_before = Binding(Location.PATH, "id", Label("GET /bearer"), "/id", 0, "a")
    return them.sent(
        label,
        204,
        mode=mode,
        phase="stateful",
        bindings=(made_before,) if is_known else (),
        index=index,
        path_parameters={"id": "a"},
    )


def first(them: Exchanges, one: Sent, answers: Any) -> Any:
    """What takes the place of the case's own request."""
    assert one.request is not None
    work: Any = them.judge(CHECK).first(one.case, one.request)
    return them.drive(work, answers)


def test_removals_are_asked_without_credentials_before_they_are_done() -> None:
    them = exchanges(BEARER)
    asked = [index for index in range(400) if them.judge(CHECK).asks_first(removal(them, index).case)]
    assert 60 < len(asked) < 140
    one = removal(them, asked[0])
    assert first(them, one, always(401)) is None
    without, wrong = them.asked
    assert without.header(b"authorization") is None
    assert wrong.header(b"authorization") not in (None, b"Bearer right")
    assert (without.method, without.target) == ("DELETE", b"/v1/bearer/a")
    # Afterwards nothing is left to be asked for.
    before = sent(them, "GET /bearer")
    assert them.verdict(CHECK, one, [before]) is CLEAN


@pytest.mark.parametrize(("served", "title"), [(0, ACCEPTS), (1, WRONG)])
def test_a_stranger_who_may_remove_takes_the_place_of_who_may(served: int, title: str) -> None:
    them = exchanges(BEARER)
    answers = iter([401] * served + [204])
    one = removal(them, 0)
    assert one.request is not None
    one.request.confirms = "ignored_auth"
    request, answer = first(them, one, lambda _: Response(next(answers), [], b""))
    assert request is them.asked[served]
    judged = Sent(one.case, request, answer)
    (failure,) = them.verdict(CHECK, judged, [sent(them, "GET /bearer")]).failures
    assert failure.title == title


@pytest.mark.parametrize(
    ("label", "parts"), [(REMOVAL, {"is_known": False}), (REMOVAL, {"mode": NEGATIVE}), ("GET /bearer/{id}", {})]
)
def test_what_removes_nothing_that_is_known_is_not_asked_first(label: str, parts: dict[str, Any]) -> None:
    them = exchanges(BEARER)
    ones = [removal(them, index, label=label, **parts) for index in range(64)]
    assert not any(them.judge(CHECK).asks_first(one.case) for one in ones)


@pytest.mark.parametrize("label", ["GET /bearer", "DELETE /bearer/{id}"])
def test_a_header_of_the_user_does_not_hide_that_any_credentials_are_accepted(label: str) -> None:
    them = Exchanges(operations_of(PATHS, {"securitySchemes": SCHEMES}), (BEARER,), (("X-Trace", "s3"),))
    parts = {"path_parameters": {"id": "7"}} if label.startswith("DELETE") else {}
    assert titles(
        them, label, lambda one: Response(200 if one.header(b"authorization") else 401, [], b""), **parts
    ) == [WRONG]
