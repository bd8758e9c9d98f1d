"""Authentication documents of the Web Fuzzing Commons: what each user of them is read as."""

import json
from typing import Any

import pytest

from checker.config.auth import Authentication, DynamicScheme, WfcUser, users_of
from checker.core.errors import ConfigError
from checker.core.request import BaseUrl, WireRequest
from checker.core.response import Response
from checker.core.security import SecurityScheme
from checker.workers.authentication.logins import LoginTransport, TokenSource
from checker.workers.authentication.schemes import SchemeCredentials

FIXED = {"name": "anna", "fixedHeaders": [{"name": "X-Key", "value": " k "}]}
TOKEN = {"extractFrom": "body", "extractSelector": "/t", "sendIn": "header", "sendName": "Authorization"}
LOGIN = {"verb": "post", "endpoint": "/login", "payloadRaw": "x"}


def users(*entries: Any, **more: Any) -> tuple[WfcUser, ...]:
    return users_of(json.dumps({"auth": list(entries), **more}))


def test_entries_have_what_they_do_not_say_themselves_from_the_template() -> None:
    template = {
        "loginEndpointAuth": {**LOGIN, "contentType": "text/plain", "headers": [{"name": "A", "value": "b"}]},
    }  # fmt: skip
    own = {"name": "bert", "loginEndpointAuth": {"payloadRaw": "bert"}}
    anna, bert = users({"name": "anna"}, own, authTemplate=template)
    assert anna.login is not None
    assert bert.login is not None
    assert (anna.login.payload, bert.login.payload) == ("x", "bert")
    assert (bert.login.endpoint, bert.login.content_type) == ("/login", "text/plain")
    assert bert.login.headers == (("A", "b"),)


def test_what_nobody_knows_is_tolerated_and_values_are_literal() -> None:
    entry = {**FIXED, "fixedHeaders": [{"name": "X", "value": "${HOME}"}], "color": "red"}
    (anna,) = users(entry, schemaVersion="0.2.0", configs={"a": 1})
    assert anna.headers == (("X", "${HOME}"),)


@pytest.mark.parametrize("verb", ["POST", "GET", "PATCH", "DELETE", "PUT"])
def test_a_login_has_any_of_five_verbs(verb: str) -> None:
    (found,) = users({"name": "a", "loginEndpointAuth": {**LOGIN, "verb": verb}})
    assert found.login is not None
    # Neither a token nor `expectCookies`: the cookies of the answer count.
    assert (found.login.method, found.login.token) == (verb, None)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([], "'auth' must be a list of users that is not empty"),
        ([FIXED, FIXED], "the user 'anna' occurs more than once"),
        ([{}], "auth[0]: 'name' is missing"),
        ([{"name": "a"}], "has neither 'fixedHeaders' nor 'loginEndpointAuth'"),
        ([{"name": "a", "loginEndpointAuth": {**LOGIN, "verb": "HEAD"}}], "must be one of"),
        ([{"name": "a", "loginEndpointAuth": {"endpoint": "/l"}}], "'verb' is missing"),
        ([{"name": "a", "loginEndpointAuth": {"verb": "GET"}}], "'endpoint' is missing"),
        ([{"name": "a", "loginEndpointAuth": {**LOGIN, "endpoint": "l"}}], "starts with '/'"),
        ([{**FIXED, "loginEndpointAuth": LOGIN}], "auth[0] (anna) has both 'fixedHeaders' and 'loginEndpointAuth'"),
        (
            [{"name": "a", "loginEndpointAuth": {**LOGIN, "token": TOKEN, "expectCookies": True}}],
            "auth[0] (a).loginEndpointAuth has both 'token' and 'expectCookies'",
        ),
        (
            [{"name": "a", "loginEndpointAuth": {**LOGIN, "token": {**TOKEN, "sendTemplate": "Bearer"}}}],
            "auth[0] (a).loginEndpointAuth.token: 'sendTemplate' does not hold '{token}'",
        ),
    ],
)
def test_what_means_nothing_is_one_sentence(entries: list[Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        users(*entries)
    assert message in str(caught.value)


@pytest.mark.parametrize(("retry_on", "refused"), [((401,), [401]), ((403, 419), [403, 419]), ((), [])])
def test_a_token_is_fetched_anew_at_statuses_of_retry_on_alone(retry_on: tuple[int, ...], refused: list[int]) -> None:
    asked = DynamicScheme(
        name="D", endpoint="/login", method="POST", payload="", payload_content_type="application/json",
        extract_from="body", extract_selector="/t", retry_on=retry_on,
    )  # fmt: skip
    scheme = SecurityScheme("D", "oauth2", "#")

    def send(request: WireRequest) -> Response:
        raise AssertionError(request)

    wiring = LoginTransport(BaseUrl.from_url("http://h"), send, lambda url: send)
    source = TokenSource(asked, scheme, SchemeCredentials({}, Authentication()), wiring)
    statuses = (200, 401, 403, 419, 500)
    assert [one for one in statuses if source.is_refused(answer(one))] == refused
    assert source.refresh_s == 300


def answer(status: int) -> Response:
    lines = [b"HTTP/1.1 %d X\r\n" % status, b"\r\n"]
    request = WireRequest("GET", b"/", [])
    return Response.from_lines(status, lines, b"", elapsed=0.0, request=request, message="X", http_version="1.1")
