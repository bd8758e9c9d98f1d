"""One item for each operation: names, selections, what is wrong."""

import pytest

API = """
@schema.parametrize()
def test_api(case):
    case.call_and_validate()
"""
ALL = ["test_api[GET /users]", "test_api[GET /users/{id}]", "test_api[DELETE /users/{id}]", "test_api[POST /orders]"]


def test_each_operation_is_an_item_in_document_order(names) -> None:
    assert names(API) == ALL


def test_collection_sends_no_request(run) -> None:
    result = run(API + "\ndef test_sent():\n    assert SEEN == []\n", "-k", "test_sent")
    result.assert_outcomes(passed=1, deselected=len(ALL))


def test_collection_reads_no_operation(run) -> None:
    text = """
READ = []

@checker.hook
def before_init_operation(context, operation):
    READ.append(operation.label)

def test_read():
    assert READ == []
"""
    run(API + text, "-k", "test_read").assert_outcomes(passed=1, deselected=len(ALL))


def test_items_have_the_mark_of_hypothesis(names) -> None:
    assert names(API + "\ndef test_other():\n    pass\n", "-m", "hypothesis") == ALL


def test_an_item_reads_its_own_operation_alone(run) -> None:
    text = """
READ = []

@checker.hook
def before_init_operation(context, operation):
    READ.append(operation.label)

@schema.include(path="/users").parametrize()
def test_api(case):
    assert set(READ) == {"GET /users"}
"""
    run(text).assert_outcomes(passed=1)


def test_items_are_selected_by_keyword(names) -> None:
    assert names(API, "-k", "DELETE") == ["test_api[DELETE /users/{id}]"]
    assert names(API, "-k", "users and not DELETE") == ALL[:2]


def test_an_item_is_selected_by_its_id(run, pytester) -> None:
    run(API, "--collect-only")
    (path,) = pytester.path.glob("test_*.py")
    result = pytester.runpytest_inprocess("-p", "no:xdist", f"{path.name}::test_api[GET /users]")
    result.assert_outcomes(passed=1)


def test_parameters_of_pytest_are_appended(names) -> None:
    text = "@schema.include(path='/users').parametrize()\n@pytest.mark.parametrize('a', ['x', 'y'])\n"
    found = names(text + "def test_api(case, a):\n    pass\n")
    assert found == ["test_api[GET /users][x]", "test_api[GET /users][y]"]


def test_methods_of_classes_are_items(names) -> None:
    text = """
class TestShop:
    @schema.include(method="POST").parametrize()
    def test_api(self, case):
        pass
"""
    assert names(text) == ["TestShop::test_api[POST /orders]"]


def test_inherited_methods_are_collected_once_in_each_class(names) -> None:
    text = """
class TestBase:
    @schema.include(method="POST").parametrize()
    def test_api(self, case):
        pass

class TestHeir(TestBase):
    pass
"""
    assert names(text) == ["TestBase::test_api[POST /orders]", "TestHeir::test_api[POST /orders]"]


def test_methods_of_unittest_are_items(names) -> None:
    text = """
import unittest
class Shop(unittest.TestCase):
    @schema.include(tag="orders").parametrize()
    def test_api(self, case):
        pass
"""
    assert names(text) == ["Shop::test_api[POST /orders]"]


def test_functions_under_other_names_are_no_tests(names) -> None:
    assert names(API.replace("test_api", "check_api")) == []


def test_imported_tests_are_collected_by_their_new_name(names, pytester) -> None:
    pytester.makepyfile(other="from shop import *\n" + API)
    assert names("from other import test_api as helper\n") == []


def test_several_schemas_stand_in_the_names(names) -> None:
    text = """
@checker.pytest.parametrize(users=schema.include(tag="users", method="GET"), orders=schema.include(tag="orders"))
def test_api(case):
    pass
"""
    assert names(text) == [
        "test_api[users][GET /users]",
        "test_api[users][GET /users/{id}]",
        "test_api[orders][POST /orders]",
    ]


def test_several_schemas_have_to_be_schemas(run) -> None:
    result = run("@checker.pytest.parametrize(a=1)\ndef test_api(case):\n    pass\n")
    result.stdout.fnmatch_lines(["*IncorrectUsage: 'a' must be a loaded schema, got 1*"])


@pytest.mark.parametrize(
    ("narrowed", "expected"),
    [
        ("schema.include(method='get')", ALL[:2]),
        ("schema.include(path='/users')", ALL[:1]),
        ("schema.include(path_regex='id')", ALL[1:3]),
        ("schema.include(tag=['orders'])", ALL[3:]),
        ("schema.include(operation_id='getUser')", ALL[1:2]),
        ("schema.include(name='POST /orders')", ALL[3:]),
        ("schema.include(name_regex='^GET').exclude(path='/users')", ALL[1:2]),
        ("schema.include(path='/users').include(method='POST')", [ALL[0], ALL[3]]),
        ("schema.include(method='GET', tag='users', path='/users')", ALL[:1]),
        ("schema.exclude(deprecated=True)", [*ALL[:2], ALL[3]]),
        ("schema.exclude(deprecated=True, path='/orders')", ALL),
        ("schema.exclude(deprecated=True).exclude(path='/orders')", ALL[:2]),
        ("schema.exclude(method=['GET', 'DELETE'])", ALL[3:]),
        ("schema.include(lambda ctx: ctx.operation.operation_id == 'listUsers')", ALL[:1]),
    ],
)
def test_schemas_are_narrowed(names, narrowed: str, expected: list[str]) -> None:
    assert names(API.replace("schema", narrowed, 1)) == expected


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("include()", "a filter needs a function or one of name, method, path, tag, operation_id"),
        ("include(name='a', name_regex='a')", "'name' and 'name_regex' contradict each other"),
        ("include(path='/a').exclude(path='/a')", "the filter path='/a' is already there"),
        ("include(pathes='/a')", "there is no filter 'pathes'"),
        ("include(name_regex='(')", r"name_regex: invalid regular expression '\('"),
        ("include(3)", "a filter function must be callable, got 3"),
    ],
)
def test_filters_that_mean_nothing_are_refused(run, wrong: str, sentence: str) -> None:
    result = run(API.replace("schema", f"schema.{wrong}", 1))
    result.stdout.re_match_lines([f".*IncorrectUsage: .*{sentence}"])


def test_a_schema_without_operations_fails_the_test(run) -> None:
    result = run(API.replace("schema", "schema.include(path='/none')", 1))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["Test function test_api does not match any API operations and therefore has no effect"]
    )


def test_operations_that_the_configuration_disables_are_no_mistake(run) -> None:
    text = """
config = checker.Config.from_dict({"operations": [{"include-path-regex": ".", "enabled": False}]})
schema = checker.openapi.from_wsgi("/openapi.json", app, config=config)
"""
    result = run(text + API, "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*the configuration disables all operations of the test*"])


def test_operations_that_cannot_be_read_fail_alone(run) -> None:
    text = """
DOCUMENT["paths"]["/broken"] = {"get": {"parameters": [{"$ref": "#/no"}], "responses": OK}}
schema = checker.openapi.from_wsgi("/openapi.json", app)
schema.config.generation.update(max_examples=1, mode="positive")
schema = schema.exclude(method="DELETE")
"""
    result = run(text + API)
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["Schema Error", "*#/no*points at nothing*"])
    result.stdout.fnmatch_lines(["FAILED *::test_api?GET /broken?*"])


@pytest.mark.parametrize(
    ("above", "arguments", "sentence"),
    [
        ("@schema.parametrize()\n", "case", "`parametrize` is applied twice to 'test_api'"),
        ("@schema.given(n=st.none())\n@schema.given(m=st.none())\n", "case", "`given` is applied twice to 'test_api'"),
        (
            "@schema.given(n=st.none())\n@schema.given(m=st.none())\n",
            "case, n, m",
            "`given` is applied twice to 'test_api'",
        ),
        ("@schema.given(case=st.none())\n", "case", "`given` above 'test_api' gives `case`"),
    ],
)
def test_decorators_that_mean_nothing_fail_their_test_and_no_other(
    run, above: str, arguments: str, sentence: str
) -> None:
    result = run(f"{above}{API.replace('(case)', f'({arguments})')}\ndef test_other():\n    pass\n")
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines([f"{sentence}*"])


def test_one_function_tests_several_schemas(run) -> None:
    text = """
def judged(case):
    SEEN.append(case.operation.label)

test_users = schema.include(path="/users").parametrize()(judged)
test_orders = schema.include(path="/orders").parametrize()(judged)
"""
    result = run(text, "-v")
    result.assert_outcomes(passed=2)
    ids = ["*::test_users?GET /users? PASSED*", "*::test_orders?POST /orders? PASSED*"]
    result.stdout.fnmatch_lines(ids)


def test_given_without_strategies_fails_its_test_and_no_other(run) -> None:
    text = """
@schema.include(path="/users").parametrize()
@schema.given()
def test_nothing(case):
    pass

def test_other():
    pass
"""
    result = run(text)
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["`given` above 'test_nothing' needs at least one strategy*"])


def test_given_with_more_strategies_than_arguments_is_refused(run) -> None:
    text = """
class TestShop:
    @schema.parametrize()
    @schema.given(st.integers(), st.integers())
    def test_api(self, case, number):
        pass
"""
    result = run(text)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*has 2 strategies by position, but 'test_api' has 1 other*"])


def test_given_of_hypothesis_is_told_from_that_of_the_schema(run) -> None:
    text = """
from hypothesis import given
@schema.parametrize()
@given(st.integers())
def test_api(case, number):
    pass
"""
    result = run(text)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*uses `hypothesis.given` together with `parametrize`; use `@schema.given`*"])


@pytest.mark.parametrize("argument", ["", "cas", "number"])
def test_a_test_without_case_is_told(run, argument: str) -> None:
    mark = "@pytest.mark.parametrize('number', [1, 2])\n" if argument == "number" else ""
    result = run(f"{mark}@schema.parametrize()\ndef test_api({argument}):\n    pass\n")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*'test_api' takes no argument `case`*"])


def test_objects_that_cannot_be_asked_anything_are_left_alone(names) -> None:
    text = """
class Unset:
    @property
    def __class__(self):
        raise RuntimeError("not configured")

unset = Unset()
"""
    assert names(text + API) == ALL


def test_a_schema_says_the_order_of_its_tests(names) -> None:
    text = """
schema.get_unit_scheduler = lambda operations, phase: sorted(operations, key=lambda one: one.label)
@schema.parametrize()
def test_api(case):
    pass
"""
    labels = ("DELETE /users/{id}", "GET /users", "GET /users/{id}", "POST /orders")
    assert names(text) == [f"test_api[{label}]" for label in labels]


def test_collection_imports_nothing_that_makes_or_sends_cases(pytester) -> None:
    """Half of what collecting a few operations costs was importing what it does not need."""
    pytester.makefile(".json", openapi='{"openapi": "3.0.3", "info": {}, "paths": {"/a": {"get": {}}}}')
    pytester.makepyfile(
        """
        import checker
        schema = checker.openapi.from_path("openapi.json")

        @schema.include(method="GET").parametrize()
        def test_api(case):
            case.call_and_validate()
        """
    )
    pytester.makeconftest(
        """
        import sys

        def pytest_collection_finish(session):
            print("ITEMS", *[one.name for one in session.items])
            print("IMPORTED", *sorted(sys.modules))
        """
    )
    result = pytester.runpytest_subprocess("--collect-only", "-s", "-p", "no:xdist")
    (items,) = [one for one in result.outlines if one.startswith("ITEMS")]
    assert items == "ITEMS test_api[GET /a]"
    (line,) = [one for one in result.outlines if one.startswith("IMPORTED")]
    imported = set(line.split())
    assert "checker.openapi.schema" in imported
    heavy = ("checker.generation", "checker.workers", "checker.phases", "checker.reporting", "checker.transport")
    assert [one for one in imported if one.startswith(heavy)] == []
    assert not imported & {"hypothesis", "jsonschema", "jsonschema_rs", "pycurl", "referencing"}
