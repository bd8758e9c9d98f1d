"""Schemas from fixtures: one item, a subtest for each operation."""

import pytest

LAZY = """
@pytest.fixture
def api():
    return schema

lazy = checker.pytest.from_fixture("api")
"""
API = """
@lazy.parametrize()
def test_api(case):
    case.call_and_validate()
"""


def subtests(result: pytest.RunResult) -> tuple[int, int]:
    """How many failed, and how many passed, in the words of pytest 9 and in those of pytest-subtests."""
    summary = [line for line in result.outlines if line.startswith(("SUBFAILED", "["))]
    failed = sum("SUBFAIL" in line for line in summary)
    return failed, sum("SUBPASS" in line for line in result.outlines)


def test_there_is_one_item(names) -> None:
    assert names(LAZY + API) == ["test_api"]


def test_operations_are_subtests(run) -> None:
    result = run(LAZY + API, "-v")
    assert subtests(result) == (1, 3)
    result.stdout.fnmatch_lines(["*test_api?DELETE /users/{id}?*"])


def test_failures_look_as_elsewhere(run) -> None:
    result = run(LAZY + API)
    result.stdout.re_match_lines([">       case.call_and_validate()", "E +.*checker found 1 failure"])


@pytest.mark.parametrize("narrowed", ["lazy.include(method='GET')", "lazy.exclude(method=['DELETE', 'POST'])"])
def test_they_are_narrowed(run, narrowed: str) -> None:
    assert subtests(run(LAZY + API.replace("lazy", narrowed), "-v")) == (0, 2)


def test_a_filter_that_leaves_nothing_fails(run) -> None:
    result = run(LAZY + API.replace("lazy", "lazy.include(path='/none')"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*does not match any API operations*"])


def test_other_fixtures_and_marks_are_kept(run) -> None:
    text = """
@pytest.fixture
def number():
    return 7

@lazy.include(path="/users").parametrize()
@pytest.mark.parametrize("a", [1, 2])
def test_api(case, number, a):
    assert (number, a) == (7, 1)
"""
    assert subtests(run(LAZY + text, "-v")) == (1, 1)


def test_fixtures_may_be_parametrised(run) -> None:
    text = LAZY.replace("@pytest.fixture", "@pytest.fixture(params=['a', 'b'])").replace(
        "def api():", "def api(request):"
    )
    result = run(text + API.replace("lazy", "lazy.exclude(method='DELETE')"))
    result.assert_outcomes(passed=2)


def test_what_is_no_schema_is_an_error(run) -> None:
    result = run(LAZY.replace("return schema", "return 1") + API)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the fixture 'api' gave int 1; it must give a loaded schema*"])


def test_further_arguments_are_drawn(run) -> None:
    text = """
@lazy.given(number=st.just(3))
@lazy.include(path="/users").parametrize()
def test_api(case, number):
    assert number == 3
"""
    run(LAZY + text).assert_outcomes(passed=1)


def test_hooks_act_on_this_schema_alone(run) -> None:
    text = """
@lazy.hook
def map_path_parameters(ctx, path_parameters):
    return {"id": 42}

@lazy.include(path="/users/{id}", method="GET").parametrize()
def test_api(case):
    assert case.path_parameters == {"id": 42}

@schema.include(path="/users/{id}", method="GET").parametrize()
def test_other(case):
    assert case.path_parameters != {"id": 42}
"""
    run(LAZY + text).assert_outcomes(passed=2)


def test_parameters_are_overridden(run) -> None:
    text = """
@lazy.include(path="/users/{id}", method="GET").parametrize()
@lazy.override(path_parameters={"id": 42})
def test_api(case):
    assert case.path_parameters == {"id": 42}
"""
    run(LAZY + text).assert_outcomes(passed=1)


def test_methods_are_given_their_instance(run) -> None:
    text = """
class TestShop:
    path = "/users"

    @lazy.include(path="/users").parametrize()
    def test_api(self, case):
        assert case.path == self.path
"""
    run(LAZY + text).assert_outcomes(passed=1)


def test_asynchronous_tests_run(run) -> None:
    text = """
@lazy.include(path="/users").parametrize()
async def test_api(case):
    import asyncio
    await asyncio.sleep(0)
    SEEN.append("awaited")

def test_awaited():
    assert "awaited" in SEEN
"""
    run(LAZY + text).assert_outcomes(passed=2)


def test_without_subtests_failures_of_all_operations_are_told_together(run) -> None:
    result = run(LAZY + API, "-p", "no:subtests")
    result.assert_outcomes(failed=1)
    result.stdout.re_match_lines([">       case.call_and_validate()", "E +.*checker found 1 failure"])
    result.stdout.fnmatch_lines(["*test_api?DELETE /users/{id}?"])


def test_without_subtests_what_passes_passes_and_what_is_skipped_is_skipped(run) -> None:
    narrowed = API.replace("lazy", "lazy.exclude(method='DELETE')")
    run(LAZY + narrowed, "-p", "no:subtests").assert_outcomes(passed=1)
    nothing = API.replace("lazy", "lazy.include(path='/users')")
    result = run(
        LAZY + nothing + "\nschema.config.generation.update(modes=['negative'])\n",
        "-p", "no:subtests", "-rs",
    )  # fmt: skip
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*there is nothing to violate*"])


def test_without_subtests_a_failing_assertion_is_shown_with_its_operation(run) -> None:
    text = """
@lazy.parametrize()
def test_api(case):
    assert case.method == "POST"
"""
    result = run(LAZY + text, "-p", "no:subtests")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*3 of 4 operations failed*", "*test_api?GET /users?"])


def test_the_mark_of_asynchronous_tests_is_not_above_what_stands_for_one(run) -> None:
    text = """
@pytest.fixture(autouse=True)
def marks(request):
    SEEN.extend(mark.name for mark in request.node.iter_markers())

@lazy.include(path="/users").parametrize()
@pytest.mark.asyncio
@pytest.mark.slow
async def test_api(case):
    pass

def test_marks():
    assert "slow" in SEEN and "asyncio" not in SEEN
"""
    markers = """
def pytest_configure(config):
    for name in ("asyncio", "slow"):
        config.addinivalue_line("markers", name)
"""
    run(LAZY + text, conftest=markers).assert_outcomes(passed=2)


def test_providers_of_a_lazy_schema_authenticate_its_tests(run) -> None:
    result = run(
        """
lazy = checker.pytest.from_fixture("api").include(method="POST")

@lazy.auth()
class Token:
    def get(self, case, ctx):
        return "t"
    def set(self, case, data, ctx):
        case.headers["X-Token"] = data

@pytest.fixture
def api():
    schema.config.update(base_url="http://localhost")
    return schema

@lazy.parametrize()
def test_api(case):
    assert case.call().request.header(b"X-Token") == b"t"
"""
    )
    result.assert_outcomes(passed=1)
