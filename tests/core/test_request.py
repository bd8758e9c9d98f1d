import pytest

from checker.core.request import BaseUrl


@pytest.mark.parametrize(
    ("url", "origin", "shown"),
    [
        ("http://h", BaseUrl("http", "h", 80, ""), "http://h"),
        ("https://h/", BaseUrl("https", "h", 443, ""), "https://h"),
        ("http://h:8080/api/v1/", BaseUrl("http", "h", 8080, "/api/v1"), "http://h:8080"),
        ("http://[::1]:81/a", BaseUrl("http", "::1", 81, "/a"), "http://[::1]:81"),
        ("http://[::1]", BaseUrl("http", "::1", 80, ""), "http://[::1]"),
        ("http://u:p%40@h:1", BaseUrl("http", "h", 1, "", "u:p@"), "http://h:1"),
        ("http://u@[fe80::1]/a", BaseUrl("http", "fe80::1", 80, "/a", "u"), "http://[fe80::1]"),
        ("https://h:80", BaseUrl("https", "h", 80, ""), "https://h:80"),
        ("http://h:443/a,b;c=(d)", BaseUrl("http", "h", 443, "/a,b;c=(d)"), "http://h:443"),
    ],
)
def test_base_urls(url, origin, shown) -> None:
    assert BaseUrl.from_url(url) == origin
    assert origin.url == shown


@pytest.mark.parametrize("url", ["h/a", "ftp://h", "http://", "http://h:0", "http://h:70000", "http://h:x"])
def test_what_is_no_base_url_is_refused(url) -> None:
    with pytest.raises(ValueError, match=r"."):
        BaseUrl.from_url(url)
