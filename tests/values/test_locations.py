"""URLs are read by the described paths at their end."""

import sys

import pytest

from checker.core.response import Response
from checker.values.locations import DescribedPaths, may_be_url, member_of, urls_in_headers, value_in

PATHS = DescribedPaths(
    ["/boxes/{id}", "/boxes/{id}/items", "/boxes/{box}/items/{item}", "/boxes/latest", "/{any}", "/a/{x}.{y}"]
)


@pytest.mark.parametrize(
    ("url", "values"),
    [
        ("/boxes/7", [("boxes", "id", "7")]),
        ("https://api.example:8443/v2/boxes/7?full=1#top", [("boxes", "id", "7")]),
        ("boxes/7/", [("boxes", "id", "7")]),
        ("../boxes/7/items{?page}", [("boxes", "id", "7")]),
        ("/boxes/a%2Fb/items/urn:x:9", [("boxes", "box", "a/b"), ("boxes/{}/items", "item", "urn:x:9")]),
        ("/a/left.right", [("a", "x", "left"), ("a", "y", "right")]),
        ("/other/7", []),
        ("/anything", []),
        ("mailto:boxes/7", []),
        ("http://[bad/boxes/7", []),
    ],
)
def test_a_url_names_the_members_of_the_longest_path_at_its_end(url: str, values: list[tuple[str, str, str]]) -> None:
    assert [("/".join(one.resource), one.variable, one.value) for one in PATHS.members(url)] == values


def test_members_of_a_url_stand_in_those_before_them() -> None:
    assert [one.above for one in PATHS.members("/boxes/1/items/2")] == [(), (("boxes", "1"),)]


def test_urls_of_other_hosts_are_left_alone() -> None:
    assert not PATHS.members("http://elsewhere.example/boxes/7", "api.example")
    assert PATHS.members("http://localhost/boxes/7", "127.0.0.1")


def test_a_value_is_found_again_by_its_pointer() -> None:
    member = PATHS.members("/boxes/1/items/2")[1]
    found = member_of(member.pointer("/links/*/href"))
    assert found is not None
    assert (found.template, found.variable, found.name) == ("/boxes/{box}/items/{item}", "item", "item")
    assert value_in("http://host/boxes/9/items/8", found.template, found.variable) == "8"
    assert value_in("/boxes/9", found.template, found.variable) is None


def test_headers_hold_urls() -> None:
    headers = {"Location": "/boxes/1", "Link": ["</boxes/2>; rel=next, </boxes/3>"], "Server": "/boxes/4"}
    assert [url for _, url in urls_in_headers(Response(409, headers))] == ["/boxes/1", "/boxes/2", "/boxes/3"]


def test_a_url_is_compared_with_the_templates_of_its_own_names() -> None:
    described = DescribedPaths(f"/things{n}/{{id}}" for n in range(2_000))
    calls: list[str] = []
    sys.setprofile(lambda frame, event, argument: calls.append(event))
    try:
        found = [described.members(url) for url in ("/api/other/7", "/api/things7/7")]
    finally:
        sys.setprofile(None)
    assert [[one.template for one in members] for members in found] == [[], ["/things7/{id}"]]
    assert len(calls) < 1_000


@pytest.mark.parametrize("text", ["boxes/7", "/boxes/7", "image/7", "/boxes/a+b", "text/html/7", "../a/1?b=c="])
def test_relative_urls_are_urls(text: str) -> None:
    assert may_be_url(text)


@pytest.mark.parametrize(
    "text", ["text/html", "application/json;charset=utf-8", "/9j/4AAQSkZJRgABAQ+/", "aGVs/G8gd29ybGQ="]
)
def test_media_types_and_encoded_bytes_are_no_urls(text: str) -> None:
    assert not may_be_url(text)


@pytest.mark.parametrize("text", ["a text / with spaces", "word", 7, None, "<a/>"])
def test_other_values_are_no_urls(text: object) -> None:
    assert not may_be_url(text)


@pytest.mark.parametrize(
    ("paths", "content", "expected"),
    [
        (("/boxes/{id}", "/me"), b'{"url": "https://api/v1/boxes/77"}', True),
        (("/boxes/{id}", "/me"), rb'{"url": "\/boxes\/77"}', True),
        (("/boxes/{id}", "/me"), b'{"url": "https://api/me/77", "type": "text/plain", "text": "boxes"}', False),
        (("/boxes/{id}/items/{item}",), b'{"url": "/other/boxes/77"}', True),
        (("/boxes/{id}", "/{tenant}"), b'{"url": "/a/b"}', True),
        (("/b\xf6xes/{id}",), rb'{"url": "/b\u00f6xes/7"}', True),
        (("/boxes/{id}", "/{tenant}"), b"{}", False),
        *((("/boxes/{id}",), '{"url": "/boxes/77"}'.encode(one), True) for one in ("utf-16-le", "utf-16-be", "utf-32")),
    ],
)
def test_a_body_is_read_for_urls_only_if_a_described_path_may_be_in_it(
    paths: tuple[str, ...], content: bytes, expected: bool
) -> None:
    assert DescribedPaths(paths).may_be_in(content) is expected
