import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.config.settings import Sanitization
from checker.core.references import SecretStore
from checker.reporting.masking import (
    ShownCommand,
    masked_headers,
    masked_url,
    redaction_of,
    shown_command,
)

ON = Sanitization()


def test_values_of_sensitive_names_and_references_to_secrets_are_masked() -> None:
    headers = [
        ("Authorization", "Bearer 1"),
        ("X-Plain", "secret:header:X-Plain"),
        ("X-Part", "a {secret-quoted:env:TOKEN} b"),
        ("A", "2"),
        ("A", "1"),
    ]
    assert masked_headers(headers, redaction_of(ON)) == {
        "Authorization": ["[Filtered]"],
        "X-Plain": ["[Filtered]"],
        "X-Part": ["[Filtered]"],
        "A": ["2", "1"],
    }


def test_names_and_replacement_can_be_configured() -> None:
    redaction = redaction_of(Sanitization(keys=("x-mine",), markers=(), replacement="***"))
    found = masked_headers([("X-Mine", "1"), ("Authorization", "2")], redaction)
    assert found == {"X-Mine": ["***"], "Authorization": ["2"]}


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://a:b@h/x", "http://[Filtered]@h/x"),
        ("http://h/x?token=1&q=2", "http://h/x?token=%5BFiltered%5D&q=2"),
        ("http://h/x?tok%65n=1", "http://h/x?tok%65n=%5BFiltered%5D"),
        ("http://h/x?token", "http://h/x?token"),
        ("http://h/a@b?q=a@b", "http://h/a@b?q=a@b"),
    ],
)
def test_urls_lose_credentials_and_sensitive_values_only(url: str, shown: str) -> None:
    assert masked_url(url, ON) == shown


@given(st.text())
def test_nothing_is_masked_when_it_is_switched_off(text: str) -> None:
    assert masked_url(text, Sanitization(enabled=False)) == text


def test_a_command_shows_no_reference_to_a_secret() -> None:
    store = SecretStore()
    store.add("header:Authorization", "Bearer t0ps3cret")
    command = "curl -H 'Authorization: {secret:header:Authorization}' http://127.0.0.1/"
    hidden = "curl -H 'Authorization: [Filtered]' http://127.0.0.1/"
    assert shown_command(command, Sanitization(), store) == ShownCommand(
        hidden, ("header Authorization",)
    )
    assert shown_command(command, Sanitization(enabled=False), store) == ShownCommand(
        "curl -H 'Authorization: Bearer t0ps3cret' http://127.0.0.1/"
    )


@pytest.mark.parametrize(
    ("words", "shown", "hidden"),
    [
        ("-H 'X-Api-Key: 0' http://h/", "-H 'X-Api-Key: [Filtered]' http://h/", "header X-Api-Key"),
        ("-H 'X-Api-Key;' http://h/", "-H 'X-Api-Key;' http://h/", ""),
        ("'http://h/?token=a&b=%20'", "'http://h/?token=%5BFiltered%5D&b=%20'", "query token"),
        ("'http://h/?token=&token'", "'http://h/?token=&token'", ""),
        ("http://a:b@h/", "'http://[Filtered]@h/'", "credentials in the URL"),
        (
            "-X GET --globoff $'http://h/{a}?q=\\x07'",
            "-X GET --globoff $'http://h/{a}?q=\\x07'",
            "",
        ),
        (
            "-H 'Content-Type: application/json' -d '{\"password\": 1, \"b\": 2}' http://h/",
            '-H \'Content-Type: application/json\' -d \'{"password":"[Filtered]","b":2}\' http://h/',
            "body password",
        ),
        (
            "-d 'token=it'\"'\"'s&x=1' http://h/",
            "-d 'token=%5BFiltered%5D&x=1' http://h/",
            "body token",
        ),
        (
            "-H 'Content-Type:' -d 'token=a' http://h/",
            "-H 'Content-Type:' -d 'token=a' http://h/",
            "",
        ),
    ],
)
def test_a_command_shows_no_value_of_a_sensitive_name_and_says_where(
    words: str, shown: str, hidden: str
) -> None:
    command = shown_command(f"curl {words}", ON, SecretStore())
    assert command == ShownCommand(f"curl {shown}", (hidden,) if hidden else ())


def test_words_under_a_command_stay_but_for_secrets() -> None:
    command = "curl -H 'X-Api-Key: 123' http://h/\n(as drawn, with {secret:header:X-Mine})"
    shown = shown_command(command, ON, SecretStore())
    first, second = shown.text.splitlines()
    assert "123" not in first
    assert second == "(as drawn, with [Filtered])"
    assert shown.hidden == ("header X-Api-Key", "header X-Mine")
