from typing import Any

import pytest

from checker.core.request import BaseUrl, WireRequest

SENT = [(b"X-Key", b"1"), (b"Accept", b"\xe9"), (b"x-key", b"2")]


def test_headers_are_read_by_name_as_text() -> None:
    headers: Any = WireRequest("GET", b"/", list(SENT)).shown().headers
    assert headers["x-KEY"] == "1, 2"
    assert headers["Accept"] == "\xe9"
    assert "x-key" in headers
    assert "x-other" not in headers
    assert headers.get("x-other") is None
    assert headers.get("x-other", "none") == "none"
    with pytest.raises(KeyError, match="x-other"):
        headers["x-other"]
    assert dict(headers) == {"X-Key": "1, 2", "Accept": "\xe9", "x-key": "1, 2"}
    assert headers.values() == ["1", "\xe9", "2"]


def test_they_stay_what_was_sent() -> None:
    request = WireRequest("GET", b"/", list(SENT))
    headers = request.shown().headers
    assert list(headers) == headers == SENT
    assert headers[0] == SENT[0]
    assert headers[1:] == SENT[1:]
    assert (b"X-Key", b"1") in headers
    assert request.shown().headers is headers
    assert request.header(b"accept") == b"\xe9"


def test_a_request_says_where_it_went() -> None:
    request = WireRequest("GET", b"/a?b=\xe9", [])
    assert request.url == "/a?b=\xe9"
    place = BaseUrl.from_url("http://user:pass@127.0.0.1:8080/v1")
    assert request.shown(place).url == "http://127.0.0.1:8080/a?b=%E9"
    assert request.shown().url == "http://127.0.0.1:8080/a?b=%E9"
