import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.core.errors import MissingSecret
from checker.core.request import WireRequest
from checker.corpus.references import SecretStore, reference


def store(**values: str) -> SecretStore:
    made = SecretStore()
    for name, value in values.items():
        made.add(f"env:{name}", value)
    return made


def test_a_secret_is_written_as_a_reference() -> None:
    secrets = SecretStore()
    secrets.add("header:Authorization", "Bearer abcdef")
    assert secrets.mask("Bearer abcdef") == "secret:header:Authorization"
    assert reference("header:Authorization") == "secret:header:Authorization"
    assert secrets.mask("x Bearer abcdef y") == "x {secret:header:Authorization} y"


def test_the_missing_secret_is_named() -> None:
    with pytest.raises(MissingSecret, match="header:Authorization"):
        store().resolve("secret:header:Authorization")


def test_short_secrets_are_masked_only_as_a_whole() -> None:
    secrets = store(a="ab")
    assert secrets.mask("ab") == "secret:env:a"
    assert secrets.mask("abc") == "abc"


def test_a_short_header_is_masked_where_a_command_spells_it() -> None:
    secrets = SecretStore()
    secrets.add("header:X-Key", "ab")
    secrets.add("header:Authorization", "a-long-value")
    command = "curl -H 'X-Key: ab' -H 'X-Other: ab' -H 'Authorization: a-long-value' -d ab http://h/ab"
    masked = secrets.mask(command)
    assert masked == (
        "curl -H 'X-Key: {secret:header:X-Key}' -H 'X-Other: ab' "
        "-H 'Authorization: {secret:header:Authorization}' -d ab http://h/ab"
    )
    assert secrets.resolve(masked) == command


def test_a_rotated_secret_stays_secret() -> None:
    secrets = store(a="first-value")
    secrets.add("env:a", "second-value")
    assert secrets.mask("first-value") == "secret:env:a"
    assert secrets.resolve("secret:env:a") == "second-value"


def test_a_secret_in_a_target_keeps_its_encoding() -> None:
    secrets = store(a="a b/c+d=")
    target, value = b"/x?key=a%20b%2Fc%2Bd%3D&y=1", b"a b/c+d="
    masked = secrets.mask_bytes(target), secrets.mask_bytes(value)
    assert masked == (b"/x?key={secret-quoted:env:a}&y=1", b"secret:env:a")
    request = WireRequest("GET", masked[0], [(b"X-Key", masked[1])], None)
    sent = WireRequest("GET", target, [(b"X-Key", value)], None)
    assert secrets.resolve_request(request) == sent


def test_a_secret_is_not_looked_for_in_references() -> None:
    secrets = store(secret="one-value")
    secrets.add("header:Authorization", "Authorization")
    text = "one-value Authorization one-value"
    assert secrets.resolve(secrets.mask(text)) == text


texts = st.text("abcdefXYZ %/{}:", min_size=6, max_size=12)


@given(st.lists(texts, min_size=1, max_size=4, unique=True), st.lists(texts, max_size=3), st.data())
def test_what_is_masked_resolves_and_holds_no_secret(values, others, data) -> None:
    secrets = store(**{f"n{index}": value for index, value in enumerate(values)})
    pieces = data.draw(st.permutations([*values, *others]))
    text = "|".join(pieces)
    masked = secrets.mask(text)
    assert secrets.resolve(masked) == text
    assert all(value not in masked for value in values)


@given(st.binary(max_size=30))
def test_bytes_that_hold_no_secret_stay(raw: bytes) -> None:
    assert store(a="0123456789abcdef").mask_bytes(raw) == raw


def test_a_name_that_no_reference_can_hold_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot name"):
        SecretStore().add("a b", "x")


def _spellings(value: str) -> dict[str, str]:
    """How a value stands in what is written, by where that is."""
    return {
        "text": f"<{value}>",
        "query": f"/a?b={quote(value, safe='')}&c",
        "json": json.dumps({"a": value}, ensure_ascii=False),
        "ascii": json.dumps({"a": value}),
    }


@given(st.text(min_size=6, max_size=30).filter(lambda text: "secret" not in text))
@pytest.mark.thorough
def test_a_secret_is_masked_however_it_is_spelled_and_comes_back(value: str) -> None:
    store = SecretStore()
    store.add("query:key", value)
    for place, text in _spellings(value).items():
        masked = store.mask(text)
        assert value not in masked, place
        assert store.resolve(masked) == text
        assert store.hide(text, "***") != text


@given(st.text(st.characters(codec="latin-1"), min_size=6, max_size=30))
@pytest.mark.thorough
def test_a_secret_is_masked_in_the_bytes_of_a_header_and_comes_back(value: str) -> None:
    store = SecretStore()
    store.add("header:X-Key", value)
    raw = value.encode("latin-1")
    masked = store.mask_bytes(raw)
    assert masked.startswith(b"secret")
    assert store.resolve_bytes(masked) == raw


def test_a_short_secret_is_masked_under_its_name_only() -> None:
    store = SecretStore()
    store.add("query:key", "a1")
    assert store.mask("/a1?key=a1&monkey=a2") == "/a1?key={secret:query:key}&monkey=a2"
    assert store.mask("curl 'http://h/?key=a1'") == "curl 'http://h/?key={secret:query:key}'"
    assert store.mask("key=a12") == "key=a12"
