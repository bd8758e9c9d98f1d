"""Payloads of `[auth.dynamic.openapi.<scheme>]`: any JSON value, and what of it is a secret."""

import json
from datetime import date
from typing import Any

import pytest

import checker
from checker.config.auth import secret_pairs, users_of
from checker.workers.authentication.logins import written

FORM = "application/x-www-form-urlencoded"


def configured(payload: Any, media_type: str = "application/json") -> Any:
    asked = {"path": "/login", "extract_selector": "/token", "payload": payload, "payload_content_type": media_type}
    tables = {"auth": {"dynamic": {"openapi": {"Key": asked}}}}
    return checker.Config.from_dict(tables, environment={"PIN": "1234"})


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        ({"a": {"b": ["${PIN}", 1, 2.5, True, None]}}, '{"a": {"b": ["1234", 1, 2.5, true, null]}}'),
        ([], "[]"),
        ("${PIN}", '"1234"'),
        (0, "0"),
        (False, "false"),
        ({}, ""),
        (None, ""),
    ],
)  # fmt: skip
def test_any_json_value_is_a_payload(payload: Any, text: str) -> None:
    (scheme,) = configured(payload).operation_layers().common.authentication.dynamic
    assert scheme.payload == text


@pytest.mark.parametrize(
    ("media_type", "text"),
    [
        ("application/json; charset", '{"a": "b c"}'),
        ("application/vnd.login+json; profile=http://a/b", '{"a": "b c"}'),
        (f"{FORM}; charset", "a=b+c"),
    ],
)
def test_malformed_parameters_of_media_types_are_sent_as_given(media_type: str, text: str) -> None:
    (scheme,) = configured({"a": "b c"}, media_type).operation_layers().common.authentication.dynamic
    assert scheme.payload_content_type == media_type
    names = {"usernameField": "a", "username": "b c", "passwordField": "p", "password": ""}
    login = {"verb": "POST", "endpoint": "/login", "contentType": media_type, "payloadUserPwd": names}
    (user,) = users_of(json.dumps({"auth": [{"name": "anna", "loginEndpointAuth": login}]}))
    assert user.login is not None
    assert user.login.content_type == media_type
    assert written(json.loads(scheme.payload), media_type) == text


@pytest.mark.parametrize(
    ("payload", "media_type", "sentence"),
    [
        ({"login": {"pin": "C4n4ry"}}, FORM, "'payload' -> 'login' must be a string, a number or a boolean to be sent as a form, but got table; give a 'payload_content_type' of JSON for nested values"),
        ({"pins": ["C4n4ry"]}, FORM, "'payload' -> 'pins' must be a string, a number or a boolean to be sent as a form, but got array"),
        (["C4n4ry"], f"{FORM}; charset=utf-8", "'payload' must be a table to be sent as a form, but got array"),
        ({"a": {"b": [date(2026, 1, 1)]}}, "application/json", "'payload' -> 'a' -> 'b' -> item 0 must be a JSON value, but got date; write it as a string"),
        ({"a": float("nan")}, "application/json", "'payload' -> 'a' must be a finite number"),
        ({"a": {1: "C4n4ry"}}, "application/json", "'payload' -> 'a' must have strings as names"),
    ],
)  # fmt: skip
def test_what_cannot_be_written_is_one_sentence_without_values(payload: Any, media_type: str, sentence: str) -> None:
    with pytest.raises(checker.errors.ConfigError) as told:
        configured(payload, media_type)
    assert sentence in str(told.value)
    assert "C4n4ry" not in str(told.value)


@pytest.mark.parametrize(
    ("payload", "pairs"),
    [
        ({"user": "u", "password": "p"}, [("password", "p")]),
        ({"form": {"user": "u", "password": "p"}}, [("form.password", "p")]),
        ({"credentials": {"user": "u", "pin": 1234, "keep": True}}, [("credentials.user", "u"), ("credentials.pin", "1234")]),
        ({"secrets": ["a", "b"]}, [("secrets.0", "a"), ("secrets.1", "b")]),
        ({"form": {"user": "u", "pin": "p"}}, [("form.user", "u"), ("form.pin", "p")]),
        ("p", [("payload", "p")]),
        (None, []),
    ],
)  # fmt: skip
def test_secrets_are_below_sensitive_names_or_everywhere(payload: Any, pairs: list[tuple[str, str]]) -> None:
    assert list(secret_pairs(payload)) == pairs
