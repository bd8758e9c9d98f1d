from hypothesis import given
from hypothesis import strategies as st

from checker.core.digests import case_id, digest, digest_of

SEEDS = st.integers(0, 2**64 - 1)
INDICES = st.integers(0, 2**34)


@given(SEEDS, st.lists(INDICES, unique=True))
def test_cases_of_a_task_have_different_ids_of_letters_and_digits(seed: int, indices: list[int]) -> None:
    found = [case_id(seed, index) for index in indices]
    assert len(set(found)) == len(indices)
    assert all(name.isalnum() and name.isascii() for name in found)


@given(SEEDS, SEEDS, INDICES, INDICES)
def test_ids_are_equal_only_where_tasks_nearly_are(seed: int, other: int, index: int, another: int) -> None:
    is_one = (seed % 2**40, index) == (other % 2**40, another)
    assert (case_id(seed, index) == case_id(other, another)) is is_one


def test_ids_stay_as_they_are() -> None:
    assert case_id(0xFEDC_BA98_7654_3210, 17) == "987654321017"


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_bytes_have_the_digest_of_their_text(text: str) -> None:
    assert digest_of("document", text.encode()) == digest("document", text)
