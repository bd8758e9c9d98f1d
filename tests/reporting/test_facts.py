"""The one line that says what is wrong."""

import pytest

from checker.core.blocks import Answer, FailedCase
from checker.reporting.findings import fact_of
from tests.reporting.samples import finding


def fact(
    message: str, *, code: str = "", status: int = 200, body: bytes = b"", command: str = "", label: str = ""
) -> str:
    case = FailedCase("c", (("Title", message),), Answer(status, body=body), (command,) if command else ())
    return fact_of(finding(code=code, label=label), case)


@pytest.mark.parametrize(
    ("command", "body", "expected"),
    [
        ("curl -X GET 'http://h/a?sort=-due'", b'{"message": "KeyError: due"}', "500 on `?sort=-due`: KeyError: due"),
        ("curl -X POST -d '{\"n\":1}' http://h/a", b'{"error": "boom"}', '500 on `{"n":1}`: boom'),
        ("curl -X GET http://h/a", b"<html><title>Oh no</title><p>x</p></html>", "500: Oh no"),
        ("curl -X GET http://h/a", b"", "500"),
        ("curl -X GET http://h/a", b'{"code": "unexpected", "message": "division by zero"}', "500: division by zero"),
        ("", b"[" * 5000, f"500: {'[' * 152}..."),
    ],
)
def test_a_server_error_is_told_by_its_input_and_its_text(command: str, body: bytes, expected: str) -> None:
    told = fact("The description documents it as `500`.", code="ST101", status=500, body=body, command=command)
    assert told == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Received: 202\nDocumented: 201, 400", "received 202, documented: 201, 400"),
        ("Received: 3 items\nExpected: at most `limit=1`", "received 3 items, expected: at most `limit=1`"),
        ("Invalid data\nExpected: 400\nInvalid component: parameter `limit` in query - 51 is greater", "200 for parameter `limit` in query - 51 is greater"),
        ("Invalid data\nExpected: 400\nInvalid components:\n- body at /n - {} is not\n- body at /m", "200 for body at /n - {} is not"),
        ("The following headers are required by the schema:\n- `X-Total`\n- `X-Left`", "The following headers are required by the schema: `X-Total`"),
        ("Sent with the method PUT, which is new\nThe response to PUT is 405", "The response to PUT is 405"),
        ("Wrong status for the method PUT\nReceived: 200\nExpected: 405\nDescribe it", "Wrong status for the method PUT: received 200, expected: 405"),
        ('body.floor: null is not of type "integer"\n\nSchema at #/a:', 'body.floor: null is not of type "integer"'),
        ("", ""),
    ],
)  # fmt: skip
def test_a_message_is_told_by_the_line_that_names_the_fault(message: str, expected: str) -> None:
    assert fact(message) == expected


def test_a_refusal_of_valid_data_without_a_reason_is_told_by_its_response() -> None:
    told = fact(
        "Valid data should have been accepted\nExpected: 2XX, 404",
        status=400,
        body=b'{"message": "the year is odd"}',
        command="curl -X GET http://h/years/1999",
        label="GET /years/{year}",
    )
    assert told == "400 on `/years/1999`: the year is odd"


def test_a_fact_is_one_line_of_bounded_length_without_commands_of_a_log() -> None:
    told = fact("##[error]" + "x" * 500)
    assert len(told) <= 161
    assert "##[" not in told
