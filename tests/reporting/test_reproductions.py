"""Variables of printed reproductions: one for each value of a response."""

import re

from hypothesis import given
from hypothesis import strategies as st

from checker.reporting.calls import Source
from checker.reporting.reproduction import variable_of

WORDS = st.sampled_from(["id", "owner", "items", "x-key", "1st", "ключ", "a b$(touch x)", ""])
PATHS = st.none() | st.lists(WORDS | st.integers(0, 9), max_size=4).map(tuple)


@given(st.integers(0, 9), PATHS)
def test_a_variable_is_a_name_of_a_shell(call: int, path: tuple[str | int, ...] | None) -> None:
    assert re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", variable_of(Source(call, path)))


def test_values_of_one_response_have_variables_of_their_own() -> None:
    paths = (None, ("id",), ("owner", "id"), ("items", 0, "id"), ("items", 1, "id"))
    assert len({variable_of(Source(0, path)) for path in paths}) == len(paths)
