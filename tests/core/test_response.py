import gzip

from hypothesis import example, given
from hypothesis import strategies as st

from checker.core.request import WireRequest
from checker.core.response import Response, head_of, headers_of

REQUEST = WireRequest("GET", b"/", [])
NAMES = st.sampled_from(
    ["Content-Type", "content-type", "Content-Type ", "Content-Types", "C", "X-A"]
)
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
