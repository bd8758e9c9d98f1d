"""What items do: fixtures, marks, classes, settings, phases, skips."""

import re

import pytest

ONE = '@schema.include(path="/users").parametrize()\n'


def test_items_pass_and_fail_by_themselves(run) -> None:
    result = run("@schema.parametrize()\ndef test_api(case):\n    case.call_and_validate()\n")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["FAILED *::test_api?DELETE /users/{id}?*"])


def test_fixtures_are_given(run) -> None:
    text = """
@pytest.fixture(scope="module")
def number():
    return 7

@schema.include(path="/users").parametrize()
def test_api(case, number):
    assert number == 7
    case.call_and_validate()
"""
    run(text).assert_outcomes(passed=1)


def test_methods_are_given_their_instance(run) -> None:
    text = """
class TestShop:
    path = "/users"

    @schema.include(path="/users").parametrize()
    def test_api(self, case):
        assert case.path == self.path
"""
    run(text).assert_outcomes(passed=1)


def test_methods_of_unittest_are_given_their_instance(run) -> None:
    text = """
import unittest
class Shop(unittest.TestCase):
    def setUp(self):
        self.path = "/users"

    @schema.include(path="/users").parametrize()
    def test_api(self, case):
        self.assertEqual(case.path, self.path)
"""
    run(text).assert_outcomes(passed=1)
    # As pytest-django runs them.
    conftest = """
from _pytest.unittest import TestCaseFunction
import pytest

@pytest.fixture(autouse=True)
def as_they_are(monkeypatch):
    monkeypatch.setattr(TestCaseFunction, "runtest", lambda item: item.instance(result=item))
"""
    run(text, conftest=conftest).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("mark", "outcome"),
    [
        ("skip(reason='later')", {"skipped": 1}),
        ("xfail(reason='known')", {"xfailed": 1}),
        ("skipif(True, reason='later')", {"skipped": 1}),
    ],
)
def test_marks_are_kept(run, mark: str, outcome: dict[str, int]) -> None:
    text = f"@pytest.mark.{mark}\n{ONE}def test_api(case):\n    assert False\n"
    run(text).assert_outcomes(**outcome)


def test_marks_below_are_kept_and_select(run) -> None:
    conftest = "def pytest_configure(config):\n    config.addinivalue_line('markers', 'slow: x')\n"
    text = f"{ONE}@pytest.mark.slow\ndef test_api(case):\n    pass\n\ndef test_other():\n    pass\n"
    run(text, "-m", "slow", conftest=conftest).assert_outcomes(passed=1, deselected=1)


def test_parameters_of_pytest_are_given(run) -> None:
    text = f"{ONE}@pytest.mark.parametrize('a', [1, 2])\ndef test_api(case, a):\n    assert a == 1\n"
    run(text).assert_outcomes(passed=1, failed=1)


def test_skipping_inside_skips(run) -> None:
    run(f"{ONE}def test_api(case):\n    pytest.skip('no')\n").assert_outcomes(skipped=1)


COUNTED = """
CASES = []
{above}
@schema.include(path="/users/{{id}}", method="GET").parametrize()
{below}
def test_api(case):
    CASES.append(case)

def test_count():
    print("cases:", len(CASES), sorted({{case.meta.phase.name for case in CASES}}))
"""


def counted(run, above: str = "", below: str = "", *options: str) -> str:
    result = run(COUNTED.format(above=above, below=below), "-s", *options)
    result.assert_outcomes(passed=2)
    (line,) = (one for one in result.outlines if "cases:" in one)
    return str(line).partition("cases: ")[2]


def test_the_configuration_says_how_many_cases(run) -> None:
    assert counted(run).startswith("3 ")


def test_settings_of_the_test_say_more_than_the_configuration(run) -> None:
    assert counted(run, below="@settings(max_examples=5)").startswith("5 ")
    # Not as long as the module before: Python knows compiled modules by second and size.
    assert counted(run, above="@settings(max_examples=16)").startswith("16 ")


def test_the_profile_counts_where_nobody_says_anything(run) -> None:
    profile = "settings.register_profile('p', max_examples=7); settings.load_profile('p')"
    reset = "schema.config.generation.update(max_examples=100)"
    assert counted(run, above=f"{profile}; {reset}").startswith("7 ")


def test_listed_cases_come_first(run) -> None:
    found = counted(run, above="schema.config.phases.update(phases=['coverage', 'fuzzing'])")
    count, _, phases = found.partition(" ")
    assert int(count) > 4
    assert "'coverage', 'fuzzing'" in phases


def test_listed_cases_say_what_they_are_there_for(run) -> None:
    text = """
schema.config.phases.update(phases=["coverage"])
schema.config.generation.update(mode="all")
@schema.include(path="/users/{id}", method="GET").parametrize()
def test_api(case):
    data = case.meta.phase.data
    assert case.meta.phase.name == "coverage"
    assert data["description"] == data.description
    print("told:", data.parameter, data.parameter_location, data.location, data.description)
"""
    result = run(text, "-s")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*told: id path * Incorrect type"])


def test_tests_have_valid_and_wrong_data_unless_the_configuration_says_otherwise(run) -> None:
    text = """
unsaid = checker.openapi.from_wsgi("/openapi.json", app)
unsaid.config.generation.update(database="none")
MODES = {"coverage": set(), "fuzzing": set()}
@unsaid.include(path="/users/{id}", method="GET").parametrize()
def test_api(case):
    MODES[case.meta.phase.name].add(str(case.meta.generation.mode))
def test_modes():
    assert list(MODES.values()) == [{"positive", "negative"}] * 2
@schema.include(path="/users/{id}", method="GET").parametrize()
def test_valid(case):
    assert case.meta.generation.mode is checker.GenerationMode.POSITIVE
"""
    run(text).assert_outcomes(passed=3)


def test_only_listed_cases_are_run_without_fuzzing(run) -> None:
    found = counted(run, above="schema.config.phases.update(phases=['coverage'])")
    assert found.endswith("['coverage']")


def test_phases_of_hypothesis_are_honoured(run) -> None:
    above = "from hypothesis import Phase; schema.config.phases.update(phases=['coverage', 'fuzzing'])"
    below = "@settings(phases=[Phase.generate], max_examples=2)"
    assert counted(run, above, below) == "2 ['fuzzing']"


def test_without_any_phase_there_is_nothing_to_test(run) -> None:
    text = "schema.config.phases.update(phases=[])\n" + ONE
    result = run(text + "def test_api(case):\n    assert False\n", "-rs")
    result.assert_outcomes(skipped=1)


def test_no_deadline(run) -> None:
    text = f"""
settings.load_profile("default")
assert settings.default.deadline is not None
{ONE}def test_api(case, request):
    assert request.node.obj._hypothesis_internal_use_settings.deadline is None
"""
    run(text).assert_outcomes(passed=1)


def test_a_deadline_of_the_user_holds(run) -> None:
    text = f"""
{ONE}@settings(deadline=1234)
def test_api(case, request):
    found = request.node.obj._hypothesis_internal_use_settings
    assert found.deadline.total_seconds() == 1.234
"""
    run(text).assert_outcomes(passed=1)


def test_seeds_repeat_cases(run) -> None:
    text = """
from hypothesis import seed
@seed(3)
@schema.include(path="/users/{id}", method="GET").parametrize()
def test_api(case):
    print("id:", case.path_parameters["id"])
"""
    first, second = ([line for line in run(text, "-s").outlines if "id:" in line] for _ in range(2))
    assert first == second
    assert first


def test_the_seed_of_the_configuration_repeats_cases(run) -> None:
    text = """
schema.config.update(seed=5)
@schema.include(path="/users/{id}", method="GET").parametrize()
def test_api(case):
    print("id:", case.path_parameters["id"])
"""
    first, second = ([line for line in run(text, "-s").outlines if "id:" in line] for _ in range(2))
    assert first == second
    assert first


def test_examples_of_the_user_come_first(run) -> None:
    text = """
from hypothesis import example
operation = schema["/users/{id}"]["GET"]
@schema.include(path="/users/{id}", method="GET").parametrize()
@example(case=operation.Case(path_parameters={"id": 4711}))
def test_api(case):
    print("id:", case.path_parameters["id"])
"""
    found = [line for line in run(text, "-s").outlines if "id:" in line]
    assert found[0].endswith("id: 4711")


def test_listed_cases_of_one_operation_are_none_of_another(run) -> None:
    text = """
from hypothesis import example
schema.config.phases.update(phases=["coverage"])
given = schema["/users/{id}"]["GET"].Case(path_parameters={"id": 4711})
@schema.parametrize()
@example(case=given)
def test_api(case):
    print("case:", case.operation.label in OWN[-1] or case is given)

OWN = []
@pytest.fixture(autouse=True)
def own(request):
    OWN.append(request.node.name)
"""
    found = [line for line in run(text, "-s").outlines if "case:" in line]
    assert len(found) > 8
    assert not [line for line in found if "False" in line]


def test_further_arguments_are_drawn(run) -> None:
    text = """
@schema.given(number=st.integers(3, 3))
@schema.include(path="/users").parametrize()
def test_api(case, number):
    assert number == 3
"""
    run(text).assert_outcomes(passed=1)


def test_strategies_by_position_belong_to_the_last_arguments(run) -> None:
    text = """
@pytest.fixture(scope="module")
def one():
    return 1

@schema.include(path="/users").parametrize()
@schema.given(st.just(2), st.just(3))
def test_api(case, one, two, three):
    assert (one, two, three) == (1, 2, 3)
"""
    run(text).assert_outcomes(passed=1)


def test_listed_cases_take_the_simplest_of_further_arguments(run) -> None:
    text = """
schema.config.phases.update(phases=["coverage"])
@schema.given(number=st.integers())
@schema.include(path="/users/{id}", method="GET").parametrize()
def test_api(case, number):
    assert number == 0
"""
    run(text).assert_outcomes(passed=1)


def test_statistics_of_hypothesis_are_shown(run) -> None:
    result = run(f"{ONE}def test_api(case):\n    pass\n", "--hypothesis-show-statistics")
    result.stdout.fnmatch_lines(["*::test_api?GET /users?:", "*during generate phase*"])


def test_failing_cases_are_kept_for_each_operation(run) -> None:
    text = """
schema.config.generation.update(database=".examples", max_examples=50)
@schema.include(path="/users/{id}").parametrize()
def test_api(case):
    print(case.method, "id:", case.path_parameters["id"])
    assert case.method == "DELETE" or case.path_parameters["id"] < 100
"""
    run(text, "-s")
    second = [line for line in run(text, "-s").outlines if "id:" in line]
    get = [line for line in second if "GET" in line]
    assert get[0].endswith("GET id: 100")


def test_the_simplest_case_is_told(run) -> None:
    text = """
schema.config.generation.update(max_examples=100)
@schema.include(path="/users/{id}", method="GET").parametrize()
def test_api(case):
    assert case.path_parameters["id"] < 100
"""
    result = run(text)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*path_parameters={'id': 100}*"])


def test_a_printed_failure_is_reproduced(run) -> None:
    text = """
{above}
@schema.include(path="/users/{{id}}", method="GET").parametrize()
@settings(print_blob=True)
def test_api(case):
    print("id:", case.path_parameters["id"])
    assert case.path_parameters["id"] < 1000
"""
    first = run(text.format(above="schema.config.generation.update(max_examples=100)"))
    # Where `CI` is set it is told more than once.
    (decorator,) = set(re.findall(r"@reproduce_failure\([^()]*\)", first.stdout.str()))
    above = f"from hypothesis import reproduce_failure\n{decorator}"
    second = run(text.format(above=above))
    second.assert_outcomes(failed=1)
    assert {line for line in second.outlines if line.startswith("id:")} == {"id: 1000"}


def test_only_failed_items_run_again(run, pytester) -> None:
    text = "@schema.parametrize()\ndef test_api(case):\n    case.call_and_validate()\n"
    options = ("--no-usual", "-p", "no:xdist")
    run(text, *options).assert_outcomes(passed=3, failed=1)
    again = pytester.runpytest_inprocess("--lf", "-p", "no:xdist")
    again.assert_outcomes(failed=1)


def test_where_there_is_nothing_to_violate_the_test_is_skipped(run) -> None:
    text = f"schema.config.generation.update(modes=['negative'])\n{ONE}def test_api(case):\n    pass\n"
    result = run(text, "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*GET /users: there is nothing to violate*"])


def test_what_nothing_satisfies_is_told(run) -> None:
    text = """
DOCUMENT["paths"]["/none"] = {"get": {"parameters": [{**ID, "in": "query", "schema": False}], "responses": OK}}
schema = checker.openapi.from_wsgi("/openapi.json", app)
schema.config.phases.update(phases=["fuzzing"])
@schema.include(path="/none").parametrize()
def test_api(case):
    pass
"""
    result = run(text)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["GET /none: *"])


def test_fixtures_of_a_function_are_made_once_for_all_cases(run) -> None:
    text = f"""
MADE = []

@pytest.fixture
def db(tmp_path):
    MADE.append(tmp_path)
    return tmp_path

{ONE}def test_api(case, db):
    assert [db] == MADE
"""
    run(text).assert_outcomes(passed=1)


@pytest.mark.thorough
def test_items_run_in_several_processes(run) -> None:
    text = "@schema.parametrize()\ndef test_api(case):\n    case.call_and_validate()\n"
    result = run(text, "--no-usual", "-p", "no:cacheprovider", "-n", "2", in_process=False)
    result.assert_outcomes(passed=3, failed=1)
