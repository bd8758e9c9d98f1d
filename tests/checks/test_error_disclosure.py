"""Error responses that show the inside of the server, as frameworks print it."""

import json
from typing import Any

import pytest

from tests.checks.asked import Exchanges, operations_of

NAME = "error_disclosure"
LABEL = "POST /a"
BODY: dict[str, Any] = {"content": {"application/json": {"schema": {}}}}
JAVA = (
    "java.lang.IllegalStateException: no\n\tat com.example.Books.find(Books.java:12)\n\tat jdk.Main.main(Main.java:3)"
)
NODE = "SyntaxError: Unexpected token } in JSON\n    at JSON.parse (<anonymous>)\n    at parse (/srv/shop/lib/json.js:92:19)"
DISCLOSED = {
    "Python stack trace": ('Traceback (most recent call last):\n  File "/srv/a.py", line 3, in get\nKeyError: 1',),
    "Java stack trace": (JAVA,),
    "JavaScript stack trace": (NODE, "Error: no\n    at async file:///srv/app/index.mjs:10:5"),
    ".NET stack trace": (
        "   at Shop.Books.Get(Int32 id) in C:\\src\\Books.cs:line 7",
        "   at System.Linq.ThrowHelper.ThrowNoElementsException()",
    ),
    "Go stack trace": ("panic: no\n\ngoroutine 18 [running]:\nmain.get(0x1)",),
    "PHP stack trace": (
        "#0 /var/www/html/index.php(12): get()",
        "<b>Warning</b>: no in <b>/srv/x.php</b> on line <b>3</b>",
    ),
    "Ruby stack trace": ("app/models/book.rb:12:in `find'",),
    "Rust panic": ("thread 'main' panicked at src/main.rs:4:5",),
    "database error": (
        "SQLSTATE[23505]: Unique violation",
        'ERROR: syntax error at or near "FROM"',
        'near "x": syntax error',
        "ORA-00933: SQL command not properly ended",
        'duplicate key value violates unique constraint "users_email_key"',
        "UNIQUE constraint failed: users.email",
        "Duplicate entry 'a' for key 'users.email'",
        "Invalid `prisma.user.create()` invocation",
    ),
    "path of a file": (
        "/usr/lib/python3/site-packages/flask/app.py",
        "[Errno 2] No such file or directory: '/srv/data/a.txt'",
        "cannot open /srv/data/a.txt: No such file or directory",
        "open '/var/lib/shop/a.txt': No such file or directory",
        "ENOENT: no such file or directory, open '/srv/data/a.txt'",
    ),
    "secret": (
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0Z3VS5JJcds3",
        "postgres://shop:hunter2@db:5432/shop",
        '{"env": {"AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7"}}',
    ),
}


@pytest.fixture
def exchanges() -> Exchanges:
    return Exchanges(operations_of({"/a": {"post": {"requestBody": BODY, "responses": {}}}}))


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in DISCLOSED.items() for text in texts])
@pytest.mark.parametrize("status", [400, 500])
def test_a_text_of_a_framework_is_found_in_plain_text_and_in_json(
    exchanges: Exchanges, status: int, name: str, text: str
) -> None:
    for answer in (text, json.dumps({"error": {"detail": text}})):
        (failure,) = exchanges.verdict(NAME, exchanges.sent(LABEL, status, answer=answer.encode())).failures
        assert (failure.code, failure.unique_key) == ("ST403", name)
        assert "hunter2" not in failure.message


def test_one_message_shows_the_line(exchanges: Exchanges) -> None:
    (failure,) = exchanges.verdict(NAME, exchanges.sent(LABEL, 500, answer=JAVA.encode())).failures
    assert failure.message == "The body holds a Java stack trace: at com.example.Books.find(Books.java:12)"


@pytest.mark.parametrize(
    "text",
    [
        "Must be at least 3 characters: line 12",
        "Arrive at 12:30:45, look at index.js, config.php or Main.java",
        "The constraint `unique` failed at /items/0/name",
        "File not found: /reports/2024.pdf",
        "Set DATABASE_URL and SECRET_KEY before you start",
        "See https://docs.example.com/errors and postgres://host/name",
        "Unexpected token } in JSON at position 4: syntax error",
        "goroutine limits are described in the manual",
        "Must start with -----BEGIN PRIVATE KEY-----",
        "Cannot connect to postgresql://app:***@db/shop",
        "Write it as postgres://user:password@host/name",
        '{"errors": {"AWS_SECRET_ACCESS_KEY": "required"}, "file": "index.php"}',
        '{"DATABASE_URL": "env: value is missing"}',
    ],
)
def test_a_usual_message_is_no_disclosure(exchanges: Exchanges, text: str) -> None:
    assert exchanges.failures(NAME, exchanges.sent(LABEL, 400, answer=text.encode())) == []


def test_a_text_of_the_request_is_no_disclosure(exchanges: Exchanges) -> None:
    body = {"log": "Traceback (most recent call last):\n"}
    answer = json.dumps({"unreadable": body}).encode()
    sent = exchanges.sent(LABEL, 422, answer=answer, body=body, media_type="application/json")
    assert exchanges.failures(NAME, sent) == []


def test_long_bodies_of_paths_are_read_in_linear_time(exchanges: Exchanges) -> None:
    """A pattern that begins anew at each character would take half a minute."""
    answer = b"a.rb:/site-packages/ " + b"/aaaa" * 12_000
    assert exchanges.failures(NAME, exchanges.sent(LABEL, 500, answer=answer)) == []


def test_a_served_response_may_hold_any_text(exchanges: Exchanges) -> None:
    assert exchanges.failures(NAME, exchanges.sent(LABEL, 200, answer=JAVA.encode())) == []
