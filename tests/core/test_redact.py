import json
from dataclasses import replace

import pytest

from checker.core.redact import Redaction
from checker.core.request import WireRequest
from checker.generation.boundaries.values import deep
from checker.generation.drawing.places import body_place
from checker.generation.sources import alphabets

REDACTION = Redaction()


@pytest.mark.parametrize(
    "name",
    [
        "Authorization",
        "X-API-Key",
        "phpsessid",
        "my_token_2",
        "Set-Cookie",
        "PassWord",
        "proxy-authorisation",
        "author_auth",
        *("apiKey", "api_key", "x-api-key", "keyId", "accesskey", "sortKeys", "KEYS", "API_KEY_2", "Key1"),
    ],
)
def test_sensitive_names(name: str) -> None:
    assert REDACTION.is_sensitive(name)


@pytest.mark.parametrize(
    "name", ["Accept", "name", "Content-Type", "id", "author_id", "keywords_type", "KEYWORDS", "keyboard"]
)
def test_harmless_names(name: str) -> None:
    assert not REDACTION.is_sensitive(name)


def test_headers_keep_their_order() -> None:
    fields = [("X-A", "1"), ("Cookie", "a=b"), ("X-A", "2")]
    assert REDACTION.headers(fields) == [("X-A", "1"), ("Cookie", "a=[Filtered]"), ("X-A", "2")]


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://u:p@h/a?b=1", "http://[Filtered]@h/a?b=1"),
        ("/a?token=1&b=%2f&api%5Fkey=2#x", "/a?token=%5BFiltered%5D&b=%2f&api%5Fkey=%5BFiltered%5D#x"),
        ("/a?token", "/a?token"),
        ("/a@b?c=d@e", "/a@b?c=d@e"),
        ("http://h/?a=x?token=1", "http://h/?a=x?token=1"),
    ],
)
def test_urls(url: str, shown: str) -> None:
    assert REDACTION.url(url) == shown


def test_json_bodies_are_masked_in_depth() -> None:
    body = b'{"a": [{"password": "x", "n": 1}], "tokens": ["a", "b"], "secret": {"c": 1}}'
    assert REDACTION.body(body, "application/vnd.x+json; charset=utf-8") == (
        b'{"a":[{"password":"[Filtered]","n":1}],"tokens":["[Filtered]","[Filtered]"],"secret":{"c":0}}'
    )


@pytest.mark.parametrize(
    ("body", "media_type"),
    [(b'{"a" :1}', "application/json"), (b'{"token":', "application/json"), (b"token=1", "text/plain")],
)
def test_bodies_without_sensitive_names_keep_their_bytes(body: bytes, media_type: str) -> None:
    assert REDACTION.body(body, media_type) == body


def test_nothing_hides_in_nothing() -> None:
    body = b'{"token": "", "keys": [], "secret": null, "auth": {}}'
    assert REDACTION.body(body, "application/json") == body
    assert REDACTION.headers([("Authorization", " ")]) == [("Authorization", " ")]
    assert REDACTION.url("/a?token=&token") == "/a?token=&token"


def test_places_of_a_request_are_those_that_are_masked() -> None:
    body = b'{"a": [{"password": "x"}, {"password": "y"}], "token": "", "secret": {"c": 1}}'
    request = WireRequest(
        "POST",
        b"/a?api%5Fkey=1&token=&b=2",
        [(b"Cookie", b"a=b"), (b"X-Token", b""), (b"Content-Type", b"application/json")],
        body,
    )
    assert REDACTION.places(request) == ["header Cookie", "query api_key", "body a.password", "body secret"]
    form = [(b"Content-Type", b"application/x-www-form-urlencoded")]
    assert REDACTION.places(WireRequest("POST", b"/", form, b"a=1&token=2")) == ["body token"]
    broken = [(b"Content-Type", b"application/json")]
    assert REDACTION.places(WireRequest("POST", b"/", broken, b'{"token":')) == []


def test_a_request_is_masked_everywhere() -> None:
    request = WireRequest(
        "POST",
        b"/a?token=1&x=\xff",
        [(b"Authorization", b"Bearer x"), (b"Content-Type", b"application/x-www-form-urlencoded")],
        b"a=1&password=2",
    )
    assert REDACTION.request(request) == WireRequest(
        "POST",
        b"/a?token=%5BFiltered%5D&x=\xff",
        [(b"Authorization", b"[Filtered]"), (b"Content-Type", b"application/x-www-form-urlencoded")],
        b"a=1&password=%5BFiltered%5D",
    )


@pytest.mark.parametrize("password", ["p@ss", "p:s", "p%40s", "@"])
def test_user_info_ends_at_the_last_sign_before_the_path(password: str) -> None:
    assert REDACTION.url(f"http://u:{password}@h/a@b") == "http://[Filtered]@h/a@b"
    assert REDACTION.url(f"//u:{password}@h") == "//[Filtered]@h"


def drawn(**outside: tuple[str, ...]) -> Redaction:
    """Rules for a request of which all is known."""
    nothing: dict[str, tuple[str, ...]] = dict.fromkeys(("header", "cookie", "query", "body"), ())
    return REDACTION.knowing(nothing | outside)


def test_what_was_drawn_escapes_parts_of_names_only() -> None:
    url = "/a?sort_key=1&api_key=2&token=3&Page-Token=4"
    assert drawn().url(url) == "/a?sort_key=1&api_key=%5BFiltered%5D&token=%5BFiltered%5D&Page-Token=4"  # fmt: skip
    fields = [("X-Token-Type", "a"), ("X-API-Key", "b"), ("Cookie", "a=b"), ("Authorization", "c")]
    values = [value for _, value in drawn().headers(fields)]
    assert values == ["a", "[Filtered]", "a=[Filtered]", "[Filtered]"]
    body = b'{"password": "x", "sort_key": "y"}'
    assert drawn().body(body, "application/json") == body
    form = "application/x-www-form-urlencoded"
    shown = drawn().body(b"password=x&sort_key=y&%74oken=z&a=b", form)
    assert shown == b"password=%5BFiltered%5D&sort_key=y&%74oken=%5BFiltered%5D&a=b"
    request = WireRequest("POST", b"/", [(b"Content-Type", form.encode())], b"password=x&my_key=y")
    assert drawn().places(request) == ["body password"]


def test_what_came_from_outside_is_masked_by_both_rules() -> None:
    known = drawn(query=("sort_key",), header=("x-token-type",))
    assert known.url("/a?sort_key=1&page_key=2") == "/a?sort_key=%5BFiltered%5D&page_key=2"
    fields = [("X-Token-Type", "a"), ("X-Token", "b")]
    assert known.headers(fields) == [("X-Token-Type", "[Filtered]"), ("X-Token", "b")]
    assert drawn(query=("*",)).url("/a?sort_key=1") == "/a?sort_key=%5BFiltered%5D"
    assert drawn(query=("q",)).url("/a?q=1") == "/a?q=1"


def test_where_nobody_knows_both_rules_hold() -> None:
    known = REDACTION.knowing({"query": ()})
    assert known.url("/a?sort_key=1") == "/a?sort_key=1"
    assert known.headers([("X-Sort-Key", "1")]) == [("X-Sort-Key", "[Filtered]")]
    assert known.body(b'{"sort_key":1}', "application/json") == b'{"sort_key":"[Filtered]"}'


@pytest.mark.parametrize(
    ("outside", "masked"),
    [
        ("auth.id", '{"auth":{"id":0},"a":{"token":1,"b":2}}'),
        ("a.token", '{"auth":{"id":1},"a":{"token":"[Filtered]","b":2}}'),
        ("a", '{"auth":{"id":1},"a":{"token":"[Filtered]","b":2}}'),
        ("a.b", '{"auth":{"id":1},"a":{"token":1,"b":2}}'),
        ("*", '{"auth":{"id":0},"a":{"token":"[Filtered]","b":2}}'),
    ],
)
def test_members_of_bodies_are_masked_where_something_is_from_outside(outside: str, masked: str) -> None:
    body = b'{"auth":{"id":1},"a":{"token":1,"b":2}}'
    known = drawn(body=(outside,))
    assert known.body(body, "application/json").decode() == masked
    request = WireRequest("POST", b"/", [(b"Content-Type", b"application/json")], body)
    assert bool(known.places(request)) is (masked.encode() != body)


def test_an_object_under_a_sensitive_name_keeps_its_structure() -> None:
    body = b'{"sortKey":{"by":"age","parts":["a",{"n":3,"is_last":true,"of":null}],"limit":7}}'
    known = drawn(body=("sortKey.limit",))
    assert known.body(body, "application/json").decode() == (
        '{"sortKey":{"by":"[Filtered]","parts":["[Filtered]",{"n":3,"is_last":true,"of":null}],"limit":0}}'
    )


@pytest.mark.parametrize("name", ["AKIASECRETKEY", "sk_live_51Hx", "8f14e45fceea167a", "wJalrXUtnFEMI", "a" * 31])
def test_names_under_a_sensitive_name_that_are_no_words_are_masked(name: str) -> None:
    body = f'{{"token":{{"{name}":true}}}}'.encode()
    assert REDACTION.body(body, "application/json") == b'{"token":{"[Filtered]":true}}'


@pytest.mark.parametrize("name", ["sortKey", "expires_at", "userID", "is-last", "line1", "API", "7", "$ref"])
def test_plain_names_under_a_sensitive_name_are_shown(name: str) -> None:
    body = f'{{"token":{{"{name}":true}}}}'.encode()
    assert REDACTION.body(body, "application/json") == body


@pytest.mark.parametrize("depth", [100, 900, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [('{"token":', "}"), ('{"a":', "}"), ("[", "]")])
def test_deep_bodies_are_replaced_below_some_levels(depth: int, opening: str, closing: str) -> None:
    body = (opening * depth + '{"token":"hidden"}' + closing * depth).encode()
    assert b"hidden" not in REDACTION.body(body, "application/json")
    request = WireRequest("POST", b"/", [(b"Content-Type", b"application/json")], body)
    assert REDACTION.places(request)


def test_the_deepest_generated_body_is_shown() -> None:
    (deepest,) = deep(body_place(alphabets.TEXT, is_form=False, is_bytes=False), "")
    body = json.dumps({"where": [deepest.value]}, separators=(",", ":")).encode()
    assert REDACTION.body(body, "application/json") == body


def test_in_a_form_a_value_from_outside_may_be_any_pair() -> None:
    form = "application/x-www-form-urlencoded"
    assert drawn(body=("user",)).body(b"token=1&a=2", form) == b"token=%5BFiltered%5D&a=2"


def test_credentials_are_masked_whoever_made_them() -> None:
    known = replace(drawn(), credentials=frozenset(("query appid", "header x-me", "cookie sid")))
    assert known.url("/a?appid=1&b=2") == "/a?appid=%5BFiltered%5D&b=2"
    assert known.headers([("X-Me", "1"), ("appid", "2")]) == [("X-Me", "[Filtered]"), ("appid", "2")]


def test_cookies_are_masked_one_by_one_where_the_header_is_not() -> None:
    known = Redaction(frozenset(("session",)), ("token",), credentials=frozenset(("cookie sid",)))
    fields = [("Cookie", "a=1; session=2; sid=3; my_token=4; token")]
    shown = "a=1; session=[Filtered]; sid=[Filtered]; my_token=[Filtered]; token"
    assert known.headers(fields) == [("Cookie", shown)]


def test_what_was_drawn_is_masked_where_that_is_wanted() -> None:
    known = replace(REDACTION, generated=True).knowing({"query": (), "body": ()})
    assert known.url("/a?sort_key=1") == "/a?sort_key=%5BFiltered%5D"
    assert known.body(b'{"token":1}', "application/json") == b'{"token":"[Filtered]"}'


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a=1; b=2", "a=[Filtered]; b=[Filtered]"),
        ("a=; b=2=3;", "a=; b=[Filtered];"),
        ("word; b=2", "[Filtered]; b=[Filtered]"),
        ("word", "[Filtered]"),
    ],
)
def test_names_of_cookies_are_shown(value: str, shown: str) -> None:
    assert REDACTION.headers([("Cookie", value)]) == [("Cookie", shown)]


def test_cookies_are_shown_where_nobody_calls_them_sensitive() -> None:
    some = Redaction(keys=frozenset(["b"]), markers=())
    assert some.headers([("Cookie", "a=1; b=2")]) == [("Cookie", "a=1; b=[Filtered]")]
