"""Keys by which servers know requests again."""

from uuid import UUID

import pytest

from checker.core.case import fresh_key, is_idempotency_key


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Idempotency-Key", True),
        ("x-idempotency-key", True),
        ("X-IdempotencyToken", True),
        ("X-Api-Key", False),
        ("X-Request-Id", False),
    ],
)
def test_names_of_such_headers(name: str, expected: bool) -> None:
    assert is_idempotency_key(name) is expected


@pytest.mark.parametrize("key", ["00000000", "order-0001", "ABCD-EFGH", "ref_aaaaaaaa", "0" * 64])
def test_a_fresh_key_has_the_form_of_the_one_before(key: str) -> None:
    found = {fresh_key(key, str(number)) for number in range(20)}
    assert len(found) > 10
    assert key not in found
    for one in found:
        assert [c.isdigit() for c in one] == [c.isdigit() for c in key]
        assert [c.isupper() for c in one] == [c.isupper() for c in key]


def test_a_fresh_uuid_is_of_the_same_version() -> None:
    key = UUID("7d444840-9dc0-41d1-b245-5ffdce74fad2")
    fresh = UUID(fresh_key(str(key), "a"))
    assert (fresh.version, fresh.variant) == (key.version, key.variant)
    assert fresh != key


def test_what_has_no_letters_and_digits_stays() -> None:
    assert fresh_key("---", "a") == "---"
