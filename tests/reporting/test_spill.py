from hypothesis import given
from hypothesis import strategies as st

from checker.reporting.spill import in_order

texts = st.text(st.characters(exclude_categories=()), max_size=9)
items = st.lists(st.tuples(st.floats(allow_nan=False), texts, texts))


@given(items, st.integers(1, 40))
def test_order_does_not_depend_on_what_was_spilled(
    found: list[tuple[float, str, str]], limit: int
) -> None:
    assert list(in_order(found, limit)) == sorted(found)
