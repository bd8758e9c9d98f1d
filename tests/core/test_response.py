import codecs
import gzip
import json

import httpx
import pytest
import requests
from hypothesis import example, given
from hypothesis import strategies as st

from checker.core.request import WireRequest
from checker.core.response import Response, head_of, headers_of

REQUEST = WireRequest("GET", b"/", [])
NAMES = st.sampled_from(["Content-Type", "content-type", "Content-Type ", "Content-Types", "C", "X-A"])
VALUES = st.sampled_from(["application/json", " text/plain;a=\xe9 ", "", "a:b"])
ENDS = st.sampled_from(["\r\n", "\n", "\r\n more\r\n", "\r\n\tmore\r\n"])
LINES = st.lists(st.builds("{}:{}{}".format, NAMES, VALUES, ENDS), max_size=4)


def received(lines: list[str], ending: bytes = b"\r\n") -> Response:
    head = "".join(lines).encode("latin-1").splitlines(keepends=True)
    return Response.from_lines(
        200,
        [b"HTTP/1.1 200 OK\r\n", *head, ending],
        b"",
        elapsed=0.0,
        request=REQUEST,
        message="OK",
        http_version="1.1",
    )


@given(LINES)
@example(["Content-Type:application/json\r\n more\r\n"])
def test_the_first_content_type_is_found_however_it_is_written(lines: list[str]) -> None:
    response = received(lines)
    named = [value for name, value in response.raw_headers if name.lower() == "content-type"]
    assert response.content_type == (named[0] if named else None)
    assert Response(200, response.raw_headers, b"").content_type == response.content_type


@given(LINES)
def test_the_head_says_what_the_headers_say(lines: list[str]) -> None:
    response = received(lines)
    assert headers_of(response.head) == response.raw_headers
    assert headers_of(head_of(response.raw_headers)) == response.raw_headers


def test_what_follows_the_blank_line_is_no_header_of_the_response() -> None:
    response = received(["A: 1\r\n", "\r\n", "Content-Type: a/b\r\n"])
    assert (response.raw_headers, response.content_type) == ([("A", "1")], None)


def test_no_head_is_no_headers() -> None:
    assert headers_of(b"") == []
    assert Response(200, [], b"").head == b""


def test_text_and_json_are_read_without_compression() -> None:
    fields = [("Content-Type", "text/plain; charset=latin-1"), ("Content-Encoding", "gzip")]
    response = Response(200, fields, gzip.compress(b'"\xe9"'))
    assert response.text == response.text_lossy() == '"\xe9"'
    whole = Response(200, fields, gzip.compress(b'{"a": 1}'))
    assert whole.json() == {"a": 1}
    assert whole.content.startswith(b"\x1f\x8b")


def test_of_a_long_content_type_the_beginning_is_kept() -> None:
    long = f"text/plain; {'a' * 5000}"
    assert received([f"Content-Type: {long}\r\n"]).content_type == long[:1024]
    assert Response(200, [("content-type", long)], b"").content_type == long[:1024]


@pytest.mark.parametrize(
    "charset", ["idna", "punycode", "undefined", "base64", "a\0b", "\xe9", "x*0*=a; charset*" + "9" * 5000]
)
def test_whatever_a_charset_is_called_the_text_can_be_read(charset: str) -> None:
    response = Response(200, [("Content-Type", f"text/plain; charset={charset}")], b"\xffok")
    assert response.text_lossy() == "\ufffdok"


JAPANESE = "日本語のテキストです。これは文字コードの検出を試すための文章です。"
GERMAN = "Größe: groß, Straße, Mädchen, übermäßig"


@pytest.mark.parametrize(
    ("content_type", "text", "written_in"),
    [
        ("text/html", "<meta charset=iso-8859-1><p>Crème brûlée", "latin-1"),
        ("text/html", '<meta charset="iso-8859-2"><p>Zażółć', "iso-8859-2"),
        ("text/plain", GERMAN, "latin-1"),
        ("text/plain", "é", "cp1252"),
        ("text/plain", JAPANESE, "shift_jis"),
        ("text/plain", JAPANESE, "euc_jp"),
        ("text/plain", JAPANESE, "utf-16"),
        ("text/plain; charset=nothing", GERMAN, "latin-1"),
        ("text/plain; charset=nothing", GERMAN, "utf-8"),
        ("", GERMAN, "utf-8-sig"),
    ],
)
def test_the_encoding_of_a_text_is_detected_where_no_known_one_is_named(
    content_type: str, text: str, written_in: str
) -> None:
    response = Response(200, [("Content-Type", content_type)], text.encode(written_in))
    assert response.text == text
    assert response.encoding is not None
    assert codecs.lookup(response.encoding)


@pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\xff\xfe\xfd\x00\x8f"])
def test_content_that_is_no_text_has_no_encoding(content: bytes) -> None:
    assert Response(200, [], content).encoding is None


def test_a_character_that_is_cut_does_not_change_the_encoding() -> None:
    whole = GERMAN.encode()
    assert Response(200, [], whole[:3], content_size=len(whole)).encoding == "utf-8"


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"[" * 100_000, "nested too deeply"), (b"9" * 5000, "too many digits"), (b"{", "Expecting")],
)
def test_what_is_beyond_python_is_no_json(content: bytes, reason: str) -> None:
    with pytest.raises(json.JSONDecodeError, match=reason):
        Response(200, [], content).json()


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
@example([float("inf"), float("nan"), -0.0, 10**400, "\ud800", {"": [[]]}])
@pytest.mark.thorough
def test_json_is_what_python_reads(value: object) -> None:
    content = json.dumps(value).encode()
    assert repr(Response(200, [], content).json()) == repr(json.loads(content))


def test_json_that_is_no_text_is_no_json() -> None:
    with pytest.raises(json.JSONDecodeError, match="no text in utf-8: unexpected end of data"):
        Response(200, [], b"\xe9").json()
    with pytest.raises(json.JSONDecodeError, match="Expecting value"):
        Response(200, [("Content-Type", "a/json; charset=latin-1")], b"\xe9").json()


def test_json_is_read_in_the_charset_that_is_named() -> None:
    named = [("Content-Type", "application/json; charset=latin-1")]
    assert Response(200, named, b'"\xe9"').json() == "\xe9"
    assert Response(200, named, '"\xe9"'.encode()).json() == "\xe9", "UTF-8 is what JSON is"
    with pytest.raises(json.JSONDecodeError):
        Response(200, [("Content-Type", "a/json; charset=nothing")], b'"\xe9"').json()


def test_users_make_responses_of_what_they_have() -> None:
    given = {"Content-Type": "text/plain", "X-Two": ["1", "2"]}
    response = Response(200, headers=given, content=b"\xe9", encoding="latin-1")
    assert response.headers == {"content-type": ["text/plain"], "x-two": ["1", "2"]}
    assert response.text == "\xe9"
    assert Response(204, {}).content_size == 0


@pytest.mark.parametrize(
    "sent",
    [
        requests.Request("POST", "http://127.0.0.1:8080/a?b=1", {"X-A": "1"}, json={}).prepare(),
        httpx.Request("POST", "http://127.0.0.1:8080/a?b=1", headers={"X-A": "1"}, json={}),
    ],
)
def test_requests_of_clients_are_told_as_ours(sent: object) -> None:
    found = Response(200, {}, request=sent).request
    assert found is not None
    assert (found.method, found.url, found.body) == ("POST", "http://127.0.0.1:8080/a?b=1", b"{}")
    # Lengths and hosts are written by whoever sends it again.
    assert {name.lower() for name, _ in found.headers} == {b"x-a", b"content-type"}


def test_whether_a_certificate_was_verified_is_for_the_caller_to_say() -> None:
    answer = httpx.Response(200)
    assert Response.from_httpx(answer).verify is True
    assert Response.from_httpx(answer, verify=False).verify is False
