"""Credentials stand in a request in place of what it has under the same names, and nothing else is touched."""

from checker.core.credentials import Credentials, put
from checker.core.request import WireRequest


def request(target: bytes = b"/a", *headers: tuple[bytes, bytes]) -> WireRequest:
    made = WireRequest("GET", target, list(headers))
    made.lines = [b"of before"]
    return made


def test_headers_replace_those_of_the_same_name() -> None:
    sent = request(b"/a", (b"authorization", b"old"), (b"X-A", b"1"))
    put(sent, Credentials({"Authorization": "new"}))
    assert sent.headers == [(b"X-A", b"1"), (b"Authorization", b"new")]
    assert sent.lines is None


def test_query_pairs_are_added_encoded_and_replaced() -> None:
    sent = request(b"/a?x=%2F&k%65y=old&flag")
    put(sent, Credentials(query={"key": "a b&c"}))
    assert sent.target == b"/a?x=%2F&flag&key=a%20b%26c"
    put(sent, Credentials(query={"key": "later"}))
    assert sent.target == b"/a?x=%2F&flag&key=later"
    bare = request(b"/a")
    put(bare, Credentials(query={"key": "1"}))
    assert bare.target == b"/a?key=1"


def test_cookies_join_those_of_the_case() -> None:
    sent = request(b"/a", (b"Cookie", b"theme=dark; sid=old"))
    put(sent, Credentials(cookies={"sid": "new"}))
    assert sent.headers == [(b"Cookie", b"theme=dark; sid=new")]


def test_nothing_leaves_a_request_as_it_is() -> None:
    sent = request(b"/a?x=1", (b"X-A", b"1"))
    put(sent, Credentials())
    assert (sent.target, sent.headers, sent.lines) == (b"/a?x=1", [(b"X-A", b"1")], [b"of before"])
