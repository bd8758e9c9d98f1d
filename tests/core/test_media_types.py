import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.core.media_types import MediaType, is_form, is_json, is_multipart, matches, parse


def test_parts_are_read_without_case_and_quotes() -> None:
    assert parse('Application/Problem+JSON ; Charset="utf-8";q=1') == MediaType(
        "application", "problem+json", {"charset": "utf-8", "q": "1"}
    )


@pytest.mark.parametrize(
    "text",
    ["", "json", "a/", "/b", "a/b/c", "a/b c", "a/b; =x", 'a/b; c="', "a /b", "a/b; charset = x"],
)
def test_malformed(text: str) -> None:
    assert parse(text) is None
    assert not matches(text, "a/b")
    assert not matches("*/*", text)


@pytest.mark.parametrize("text", ["a/b;", " a/b ", "a/b;;c=d", 'a/b;c="x\\"y;z"'])
def test_well_formed(text: str) -> None:
    assert parse(text) is not None


@pytest.mark.parametrize(
    ("declared", "received", "expected"),
    [
        ("application/json", "application/json; charset=utf-8", True),
        ("application/json; charset=utf-8", "application/json", False),
        ("application/json; charset=utf-8", "application/json; charset=UTF-8", True),
        ("application/json; version=A", "application/json; version=a", False),
        ("APPLICATION/json", "application/JSON", True),
        ("*/*", "text/html", True),
        ("text/*", "text/html", True),
        ("text/*", "image/png", False),
        ("application/*+json", "application/problem+json", True),
        ("application/*+json", "application/json", False),
        ("application/json", "application/problem+json", False),
    ],
)
def test_matching(declared: str, received: str, expected: bool) -> None:
    assert matches(declared, received) is expected


def test_families() -> None:
    assert is_json("application/vnd.api+json; x=y")
    assert is_json("text/json")
    assert not is_json("application/jsonl")
    assert is_form("application/x-www-form-urlencoded; charset=utf-8")
    assert is_multipart("multipart/form-data; boundary=x")
    assert not is_multipart("nonsense")


@given(st.text(max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    parsed = parse(text)
    assert parsed is None or parsed.covers(parsed)
