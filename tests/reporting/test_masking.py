import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.config.settings import Sanitization
from checker.reporting.masking import is_sensitive, masked_url

ON = Sanitization()


@pytest.mark.parametrize("name", ["Authorization", "X-API-Key", "Cookie", "author", "sessionId"])
def test_sensitive_names_are_known_in_any_case(name: str) -> None:
    assert is_sensitive(name, ON)


@pytest.mark.parametrize("name", ["Content-Type", "limit", "User-Agent"])
def test_other_names_are_not(name: str) -> None:
    assert not is_sensitive(name, ON)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://a:b@h/x", "http://[Filtered]@h/x"),
        ("http://h/x?token=1&q=2", "http://h/x?token=%5BFiltered%5D&q=2"),
        ("http://h/x?tok%65n=1", "http://h/x?tok%65n=%5BFiltered%5D"),
        ("http://h/x?token", "http://h/x?token"),
        ("http://h/a@b?q=a@b", "http://h/a@b?q=a@b"),
    ],
)
def test_urls_lose_credentials_and_sensitive_values_only(url: str, shown: str) -> None:
    assert masked_url(url, ON) == shown


@given(st.text())
def test_nothing_is_masked_when_it_is_switched_off(text: str) -> None:
    assert masked_url(text, Sanitization(enabled=False)) == text
