"""`--tables`: one item for all rows of a parametrized test, and each row that fails by its name."""

import pytest

ROWS = """
import pytest

@pytest.mark.parametrize(("a", "b"), [(1, 1), (2, 3), pytest.param(4, 5, id="last")])
@pytest.mark.parametrize("c", [0, 1])
def test_pairs(a, b, c):
    assert a == b

@pytest.mark.parametrize("a", [1, 2])
def test_all_pass(a):
    assert a

@pytest.mark.parametrize("a", [1, 2])
def test_some_are_skipped(a):
    if a == 2:
        pytest.skip("no two")

@pytest.fixture(scope="module")
def shared():
    return []

@pytest.mark.parametrize("a", [1, 2])
def test_shares_a_fixture(a, shared):
    shared.append(a)
    assert len(shared) == a
"""
APART = """
import pytest

@pytest.mark.parametrize("a", [1, 2])
def test_has_its_own_folder(a, tmp_path):
    assert not list(tmp_path.iterdir())
    (tmp_path / "a").touch()

@pytest.mark.parametrize("a", [1, pytest.param(2, marks=pytest.mark.skip)])
def test_marks_a_row(a):
    assert a == 1

@pytest.mark.parametrize("a", iter([1, 2]))
def test_takes_an_iterator(a):
    assert a

@pytest.mark.parametrize("made", [1, 2], indirect=True)
def test_goes_through_a_fixture(made):
    assert made in (3, 4)

@pytest.fixture
def made(request):
    return request.param + 2
"""


def run(pytester: pytest.Pytester, text: str, *options: str) -> pytest.RunResult:
    pytester.makepyfile(text)
    plugins = ("tests.tables", "no:cacheprovider", "no:xdist", "no:timeout")
    return pytester.runpytest_inprocess("-q", *(f"-p{one}" for one in plugins), *options)


def test_each_row_that_fails_is_named(pytester: pytest.Pytester) -> None:
    ran = run(pytester, ROWS, "--tables", "-rs")
    ran.assert_outcomes(passed=2, failed=1, skipped=1)
    shown = ran.stdout.str()
    assert "4 of 6 rows failed" in shown
    assert all(f"'a': {a}, 'b': {a + 1}" in shown for a in (2, 4))
    assert "assert 2 == 3" in shown
    assert "{'a': 2}: no two" in shown


def test_rows_with_fixtures_or_marks_of_their_own_stay_apart(pytester: pytest.Pytester) -> None:
    run(pytester, APART, "--tables", "-Wignore").assert_outcomes(passed=7, skipped=1)


def test_without_the_option_each_row_is_an_item(pytester: pytest.Pytester) -> None:
    run(pytester, ROWS).assert_outcomes(passed=7, failed=4, skipped=1)
