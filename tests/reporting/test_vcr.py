import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker import __version__
from checker.config.settings import Sanitization
from checker.core import curl
from checker.core.request import BaseUrl, WireRequest
from checker.corpus.records import CheckOutcome, Component, Interaction
from checker.corpus.secrets import Secrets
from checker.reporting.shown import ReportContext
from tests import cassettes

from .samples import exchange, interaction
from .writing import cassette_text

texts = st.text(st.characters(exclude_categories=()), max_size=9)
latin = st.text(st.characters(max_codepoint=255), max_size=9)
bodies = st.binary(max_size=30)


def cassette(*interactions: Interaction, **changes: Any) -> dict[str, Any]:
    settings = ReportContext(
        **{"command": "checker run x", "seed": 7, "base_url": "http://127.0.0.1:8080/api", **changes}
    )
    document: dict[str, Any] = cassettes.read(cassette_text(settings, interactions))
    return document


def only(*interactions: Interaction, **changes: Any) -> dict[str, Any]:
    (found,) = cassette(*interactions, **changes)["http_interactions"]
    return dict(found)


def test_head_tells_command_tool_and_seed() -> None:
    assert cassette() == {
        "command": "checker run x",
        "recorded_with": f"Checker {__version__}",
        "seed": 7,
        "http_interactions": None,
    }


def test_interaction_has_the_fields_of_the_specification() -> None:
    assert only(interaction()) == {
        "id": "1",
        "status": "FAILURE",
        "seed": 7,
        "elapsed": 0.0125,
        "recorded_at": "2026-01-01T00:00:00.250000+00:00",
        "thread_id": 1,
        "correlation_id": "0a1b2c3d4e5f",
        "data_generation_method": "positive",
        "generation": {"time": 0.00002, "mode": "positive"},
        "components": {"query": {"mode": "positive"}},
        "phase": {"name": "fuzzing", "data": {}},
        "purpose": "test",
        "checks": [{"name": "not_a_server_error", "status": "FAILURE", "message": "Server error"}],
        "request": {
            "uri": "http://127.0.0.1:8080/api/users?limit=0",
            "method": "GET",
            "headers": {"User-Agent": ["checker/0.1.0"], "X-Checker-TestCaseId": ["0a1b2c3d4e5f"]},
        },
        "response": {
            "status": {"code": "500", "message": "Internal Server Error"},
            "elapsed": "0.012500",
            "headers": {"Content-Type": ["application/json"]},
            "body": {"encoding": "utf-8", "string": '{"error":"boom"}'},
            "http_version": "1.1",
        },
    }


def test_response_is_null_after_a_time_out() -> None:
    found = only(interaction(exchange=exchange(status=None, failure="timed out: 10 s")))
    assert found["response"] is None


def test_absent_body_differs_from_an_empty_one() -> None:
    empty = only(interaction(exchange=exchange(body=b"")))
    assert empty["request"]["body"] == {"encoding": "utf-8", "string": ""}
    assert "body" not in only(interaction())["request"]


def test_values_of_one_header_stay_in_order() -> None:
    headers = ((b"A", b"2"), (b"B", b"x"), (b"A", b"1"))
    found = only(interaction(exchange=exchange(headers=headers)))
    assert found["request"]["headers"] == {"A": ["2", "1"], "B": ["x"]}


def test_sensitive_values_are_masked_unless_told_otherwise() -> None:
    sent = exchange(target=b"/x?api_key=1&q=%41", headers=((b"Authorization", b"Bearer 1"),))
    found = only(interaction(exchange=sent))["request"]
    assert found["headers"] == {"Authorization": ["[Filtered]"]}
    assert found["uri"] == "http://127.0.0.1:8080/x?api_key=%5BFiltered%5D&q=%41"
    open_ = only(interaction(exchange=sent), sanitization=Sanitization(enabled=False))["request"]
    assert open_["headers"] == {"Authorization": ["Bearer 1"]}
    assert open_["uri"] == "http://127.0.0.1:8080/x?api_key=1&q=%41"


def test_references_to_secrets_are_masked_even_without_sanitisation() -> None:
    sent = exchange(headers=((b"X-Plain", b"secret:header:X-Plain"),))
    found = only(interaction(exchange=sent), sanitization=Sanitization(enabled=False))
    assert found["request"]["headers"] == {"X-Plain": ["[Filtered]"]}


def test_secrets_are_written_out_only_when_nothing_is_sanitised() -> None:
    sent = exchange(headers=((b"Authorization", b"secret:header:Authorization"),))
    secrets = Secrets([("Authorization", "Bearer 1")])
    off = Sanitization(enabled=False)
    shown = only(interaction(exchange=sent), sanitization=off, secrets=secrets)
    assert shown["request"]["headers"] == {"Authorization": ["Bearer 1"]}
    kept = only(interaction(exchange=sent), secrets=secrets)
    assert kept["request"]["headers"] == {"Authorization": ["[Filtered]"]}


def test_sensitive_form_fields_are_masked() -> None:
    kind = ((b"Content-Type", b"application/x-www-form-urlencoded"),)
    sent = exchange(headers=kind, body=b"password=1&q=%41")
    found = only(interaction(exchange=sent))["request"]["body"]["string"]
    assert found == "password=%5BFiltered%5D&q=%41"


def test_response_that_broke_off_is_null() -> None:
    found = only(interaction(exchange=exchange(status=200, failure="timed out: 10 s")))
    assert found["response"] is None


def test_cut_response_tells_its_size() -> None:
    found = only(interaction(exchange=exchange(response_size=5000)))
    assert found["response"]["body"]["size"] == 5000


@given(body=bodies, answer=bodies, charset=st.none() | texts, preserve=st.booleans())
def test_bodies_come_back_byte_for_byte(body: bytes, answer: bytes, charset: str | None, preserve: bool) -> None:
    kind = "text/plain" if charset is None else f"text/plain; charset={charset}"
    sent = exchange(body=body, response_body=answer, response_head=f"Content-Type: {kind}\r\n".encode())
    found = only(interaction(exchange=sent), preserve_bytes=preserve)
    for wanted, kept in ((body, found["request"]["body"]), (answer, found["response"]["body"])):
        if "base64_string" in kept:
            assert base64.b64decode(kept["base64_string"]) == wanted
        else:
            assert not preserve
            assert kept["string"].encode(kept["encoding"]) == wanted


@given(
    case=texts,
    data=texts,
    message=st.none() | texts,
    name=latin.map(lambda text: text.encode("latin-1")),
    value=latin.map(lambda text: text.encode("latin-1")),
    target=st.binary(max_size=9),
)
def test_any_content_stays_valid_yaml(
    case: str, data: str, message: str | None, name: bytes, value: bytes, target: bytes
) -> None:
    found = only(
        interaction(
            case=case,
            phase_data=((data, data),),
            checks=(CheckOutcome(data, "FAILURE", message),),
            exchange=exchange(headers=((name, value),), target=b"/" + target, reason=data),
        )
    )
    if "\ud800" not in ascii(case) and case.isprintable():
        assert found["correlation_id"] == case
    assert isinstance(found["request"]["uri"], str)


def test_a_long_body_stands_once_and_is_referred_to() -> None:
    long, other = b'{"a": "\\n"}' * 500, b"\xff" * 5000
    sent = [
        interaction(case=f"c{number}", exchange=exchange(body=body, response_body=answer))
        for number, (body, answer) in enumerate([(None, long), (long, other), (other, long)])
    ]
    settings = ReportContext("checker run x", 7, "http://h")
    text = cassette_text(settings, sent)
    found = cassettes.read(text)["http_interactions"]
    answers = [one["response"]["body"] for one in found]
    assert [answer.get("string", "").encode() for answer in answers] == [long, b"", long]
    assert base64.b64decode(answers[1]["base64_string"]) == other
    assert found[1]["request"]["body"]["string"].encode() == long
    assert base64.b64decode(found[2]["request"]["body"]["base64_string"]) == other
    assert text.count("string: *body-1\n") == 2
    assert text.count('"base64_string": *body-2\n') == 1
    assert len(text) < 2 * (len(long) + len(other))


def test_short_bodies_stay_where_they_are() -> None:
    same = [interaction(case=f"c{number}") for number in range(3)]
    text = cassette_text(ReportContext("checker run x", 7, "http://h"), same)
    assert text.count('string: "{\\"error\\":\\"boom\\"}"') == 3


def test_a_cut_request_tells_its_size() -> None:
    found = only(interaction(exchange=exchange(body=b"abc", body_size=5000)))
    assert found["request"]["body"] == {"encoding": "utf-8", "string": "abc", "size": 5000}


FORM = (b"Content-Type", b"application/x-www-form-urlencoded")
JSON = (b"Content-Type", b"application/json")


@pytest.mark.parametrize(
    ("outside", "header", "body", "shown"),
    [
        (("*",), JSON, b'{"a": {"password": "x"}}', '{"a":{"password":"[Filtered]"}}'),
        (("*",), FORM, b"password=x&a=1", "password=%5BFiltered%5D&a=1"),
        ((), JSON, b'{"a": {"password": "x"}}', '{"a": {"password": "x"}}'),
        ((), FORM, b"password=x&my_key=1", "password=%5BFiltered%5D&my_key=1"),
    ],
)
def test_bodies_are_masked_as_in_commands(
    outside: tuple[str, ...], header: tuple[bytes, bytes], body: bytes, shown: str
) -> None:
    sent = exchange(method="POST", target=b"/x?sort_key=1", headers=(header,), body=body)
    parts = (Component("body", "positive", outside), Component("query", "positive", outside))
    found = only(interaction(exchange=sent, components=parts))["request"]
    assert found["body"]["string"] == shown
    assert found["uri"].endswith("?sort_key=%5BFiltered%5D" if outside else "?sort_key=1")
    masking = ReportContext("", 0, "").masking
    request = WireRequest(sent.method, sent.target, list(sent.headers), body)
    command = curl.render(request, BaseUrl.from_url("http://127.0.0.1:8080"))
    assert shown in masking.command(command, [parts]).text
    assert found["uri"] in masking.command(command, [parts]).text


def test_answers_are_from_outside() -> None:
    head = b"X-Sort-Key: 1\r\nX-Page: 2\r\n"
    found = only(interaction(exchange=exchange(response_head=head)))["response"]
    assert found["headers"] == {"X-Sort-Key": ["[Filtered]"], "X-Page": ["2"]}
