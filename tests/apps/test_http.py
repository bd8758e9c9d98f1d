"""Requests come out of a stream of bytes the same however it is cut."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from tests.apps.http import Broken, Parser, Reply, Request, render

TOKENS = st.text("abcXYZ-", min_size=1, max_size=8)
ITEMS = st.tuples(st.sampled_from(["GET", "POST", "x!"]), st.binary(max_size=40), st.integers(0, 9))


def encoded(method: str, body: bytes, chunk: int) -> bytes:
    """A request, its body in chunks of a size, or whole for 0."""
    head = f"{method} /a?b HTTP/1.1\r\nHost: inn\r\n".encode()
    if not chunk:
        return head + b"content-length:%d\r\n\r\n" % len(body) + body
    pieces = [body[start : start + chunk] for start in range(0, len(body), chunk)]
    return (
        head
        + b"Transfer-Encoding: Chunked\r\n\r\n"
        + b"".join(b"%X\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
        + b"0\r\n\r\n"
    )


def parsed(data: bytes, cuts: list[int]) -> list[Request | Broken]:
    parser, found = Parser(), []
    bounds = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    for start, end in itertools.pairwise(bounds):
        parser.feed(data[start:end])
        while (request := parser.next()) is not None:
            found.append(request)
            if isinstance(request, Broken):
                return found
    return found


@given(st.lists(ITEMS, min_size=1, max_size=5), st.lists(st.integers(0, 10_000), max_size=12))
def test_requests_are_read_back_whatever_the_cuts(items: list[tuple[str, bytes, int]], cuts: list[int]) -> None:
    found = parsed(b"".join(encoded(*item) for item in items), cuts)
    assert [(method, body) for method, body, _ in items] == [
        (request.method, request.body) for request in found if isinstance(request, Request)
    ]


@given(st.binary(max_size=200), st.lists(st.integers(0, 10_000), max_size=12))
def test_any_bytes_are_read_the_same_whatever_the_cuts(data: bytes, cuts: list[int]) -> None:
    assert parsed(data, cuts) == parsed(data, [])


@given(st.lists(st.tuples(TOKENS, st.text("a b,;=é", max_size=9)), max_size=5))
def test_repeated_headers_are_joined_in_order(pairs: list[tuple[str, str]]) -> None:
    lines = "".join(f"{name}: \t{value} \r\n" for name, value in pairs)
    (request,) = parsed(f"GET / HTTP/1.0\r\n{lines}\r\n".encode("latin-1"), [])
    assert isinstance(request, Request)
    for name in {name.lower() for name, _ in pairs}:
        values = [value.strip(" ") for each, value in pairs if each.lower() == name]
        assert request.headers[name] == ", ".join(values)


def test_an_answer_without_a_body_says_no_length() -> None:
    assert render(Reply(204), keep_alive=True) == b"HTTP/1.1 204 No Content\r\n\r\n"


def test_a_header_full_of_spaces_takes_no_time() -> None:
    (request,) = parsed(b"GET / HTTP/1.0\r\na:" + b" " * 60_000 + b"b\r\n\r\n", [])
    assert isinstance(request, Request)
    assert request.headers == {"a": "b"}
