import pytest

from checker.config.value_kinds import Bytes, bytes_in


@pytest.mark.parametrize("text", ["2G", "2g", "2GB", "2Gi", "2GiB", str(2 << 30), f"{2 << 30}B"])
def test_a_size_may_have_a_suffix(text: str) -> None:
    assert Bytes().problem(text, "'max-memory'") is None
    assert bytes_in(text) == 2 << 30


@pytest.mark.parametrize("text", ["", "G", "1.5G", "2 G", "2iB", "-1", "٢G", "9" * 5000])
def test_other_texts_are_no_sizes(text: str) -> None:
    problem = Bytes().problem(text, "'max-memory'")
    assert problem is not None
    assert "Must be a number of bytes" in problem.text
