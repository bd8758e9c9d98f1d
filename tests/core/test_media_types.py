import contextlib
from encodings.aliases import aliases

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.core.media_types import (
    MediaType,
    best_of,
    is_charset,
    is_form,
    is_json,
    is_multipart,
    matches,
    media_type_of,
    parse,
)


def test_parts_are_read_without_case_and_quotes() -> None:
    assert parse('Application/Problem+JSON ; Charset="utf-8";q=1') == MediaType(
        "application", "problem+json", {"charset": "utf-8", "q": "1"}
    )


@pytest.mark.parametrize(
    "text", ["", "json", "a/", "/b", "a/b/c", "a/b c", "a/b; =x", 'a/b; c="', "a /b", "a/b; charset = x"]
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


@pytest.mark.parametrize(
    ("text", "essence", "parameters"),
    [
        ("a/b; charset = X", "a/b", {"charset": "x"}),
        ('A/B ; c="D;e"; broken', "a/b", {"c": "d;e"}),
        (" text/* ", "text/*", {}),
    ],
)
def test_what_others_wrote_is_read_as_far_as_it_goes(text: str, essence: str, parameters: dict[str, str]) -> None:
    found = media_type_of(text)
    assert found is not None
    assert (found.essence, found.parameters) == (essence, parameters)


def test_what_is_no_type_is_none_even_for_the_lenient() -> None:
    assert [media_type_of(text) for text in ("", "json", "a /b", "a/b c")] == [None] * 4


def test_the_most_exact_declaration_fits_best() -> None:
    declared = {"*/*": 0, "application/*": 1, "application/json": 2, "application/json; v=1": 3}
    for received, wanted in {"application/json": 2, "application/json;v=1": 3, "application/xml": 1, "a/b": 0}.items():
        found = media_type_of(received)
        assert found is not None
        assert best_of(declared, found) == wanted


@pytest.mark.parametrize("junk", ["a" * 50_000, " " * 50_000, " ;" * 20_000, '="' * 20_000])
def test_long_parameters_are_read_at_once(junk: str) -> None:
    found = media_type_of(f"application/json; {junk};charset=UTF-8")
    assert found is not None
    assert found.essence == "application/json"


@pytest.mark.parametrize(
    "name", ["idna", "{idna", "-Idna-", "Punycode", "undefined", "unicode-escape", "utf-8\0", "\xe9", "u" * 41, ""]
)
def test_what_no_server_means_is_no_charset(name: str) -> None:
    found = media_type_of(f"text/plain; charset={name}")
    assert found is not None
    assert found.charset is None


def test_by_what_may_be_a_charset_any_bytes_are_decoded() -> None:
    for name in filter(is_charset, sorted({*aliases, *aliases.values(), "idna", "undefined"})):
        # Decoders expect `LookupError`, of unknown names and of codecs that are none of text.
        with contextlib.suppress(LookupError):
            assert bytes(range(256)).decode(name, "replace"), name
