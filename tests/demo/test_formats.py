"""Formats agree with the standard library where it knows them."""

import base64
import datetime
import ipaddress
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.demo.formats import FORMATS, is_date, is_ipv6


def is_possible(parse: Callable[[str], object], text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True


@given(st.dates().map(str) | st.from_regex(r"[0-9]{4}-[01][0-9]-[0-3][0-9]", fullmatch=True))
def test_dates_are_days_of_the_calendar(text: str) -> None:
    assert is_date(text) == is_possible(datetime.date.fromisoformat, text)


@given(st.ip_addresses(v=6).map(str) | st.text("0:af.1", max_size=12))
def test_ipv6_is_read_as_python_does(text: str) -> None:
    assert is_ipv6(text) == is_possible(ipaddress.IPv6Address, text)


@given(
    st.ip_addresses(v=4).map(str) | st.from_regex(r"([0-9]{1,3}\.){2,4}[0-9]{1,3}", fullmatch=True)
)
def test_ipv4_is_read_as_python_does(text: str) -> None:
    assert FORMATS["ipv4"](text) == is_possible(ipaddress.IPv4Address, text)


@given(st.binary(max_size=20))
def test_encoded_bytes_are_base64(data: bytes) -> None:
    text = base64.b64encode(data).decode()
    assert FORMATS["byte"](text)
    assert not text or not FORMATS["byte"](text[:-1])


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("date-time", "2024-02-29T23:59:60.5+23:59", True),
        ("date-time", "2024-02-29t00:00:00z", True),
        ("date-time", "2024-02-29 00:00:00Z", False),
        ("date-time", "2024-02-29T00:00:00", False),
        ("date-time", "2024-02-29T00:00Z", False),
        ("date-time", "2024-02-29T00:00:00+1:00", False),
        ("email", "a.b+c@d-e.example", True),
        ("email", "a@b", True),
        ("email", "a b@c", False),
        ("email", ".a@b", False),
        ("uri", "https://user@example.com:8080/a%20b/;c?d=/e?#f/?g", True),
        ("uri", "urn:isbn:0451450523", True),
        ("uri", "http://[::1]:80", True),
        ("uri", "mailto:a@b.c", True),
        ("uri", "http:", True),
        ("uri", "/path", False),
        ("uri", "1http://a", False),
        ("uri", "http://a/%zz", False),
        ("uri", "http://ä/", False),
        ("uri", "http://a:b", False),
        ("uuid", "3F2B8C1E-9d54-4c1a-8a70-5b1f0c6de901", True),
        ("uuid", "3f2b8c1e9d544c1a8a705b1f0c6de901", False),
    ],
)
def test_other_formats_follow_their_rfc(name: str, text: str, *, expected: bool) -> None:
    assert FORMATS[name](text) is expected
