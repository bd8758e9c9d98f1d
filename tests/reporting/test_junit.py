from xml.etree.ElementTree import fromstring

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase

from checker.core.meta import Listed, Step
from checker.core.operation import Label
from checker.corpus.fold import fold
from checker.corpus.records import OperationsSelected
from checker.reporting.formats.junit import write
from checker.reporting.report import report_of
from checker.reporting.shown import ReportContext

from .samples import ORDERS, USERS, finding, records, settings

HEALTH, NEVER = "GET /health", "DELETE /users"
CONTEXT = ReportContext("checker run", 1, "http://127.0.0.1:8080/api")


def cases() -> dict[str, TestCase]:
    found = [OperationsSelected((USERS, ORDERS, NEVER)), *records()]
    report = report_of(fold((1, record) for record in found), settings(), "completed")
    (suite,) = JUnitXml.fromstring("".join(write(report, CONTEXT)).encode())
    assert (suite.name, suite.tests, suite.failures, suite.errors, suite.skipped) == (*("checker", 4, 1, 2, 1),)
    return {case.name: case for case in suite}


def test_the_root_counts_what_its_suite_counts() -> None:
    report = report_of(fold((1, record) for record in records()), settings(), "completed")
    root = fromstring("".join(write(report, CONTEXT)).encode())
    counts = {name: root.get(name) for name in ("disabled", "errors", "failures", "tests", "time")}
    assert counts == {name: root[0].get(name) for name in counts}
    assert counts["disabled"] == "0"


def test_an_operation_is_a_case_that_ends_as_it_ended() -> None:
    results = {name: [type(one) for one in case.result] for name, case in cases().items()}
    assert results == {USERS: [Failure], ORDERS: [Error], NEVER: [Skipped], HEALTH: [Error]}


def test_a_failure_has_the_block_of_the_console() -> None:
    (failure,) = cases()[USERS].result
    assert (failure.type, failure.message) == (
        "failure",
        "Server error; Response violates schema: 'id' is a required property; "
        "Undocumented HTTP status code: received 500, documented: 200, 404",
    )
    assert failure.text.startswith("1. Test Case ID: 0a1b2c3d4e5f\n\n- Server error")
    assert "curl -X GET 'http://127.0.0.1:8080/api/users?limit=0'" in failure.text


def test_an_error_starts_with_its_title() -> None:
    (error,) = cases()[ORDERS].result
    assert (error.type, error.message) == ("error", "Schema Error")
    assert error.text.startswith("Schema Error\n\n    #/components/schemas/Order")


def test_sequences_are_one_case_whichever_operation_ended_them() -> None:
    steps = tuple(Step(Label(USERS), Listed("coverage", number, "")) for number in (0, 1))
    chain = finding(fingerprint="chain", label=USERS, title="Use after free", steps=steps)
    with_chain = [*records()[:-1], chain, records()[-1]]
    report = report_of(fold((1, record) for record in with_chain), settings(), "completed")
    (suite,) = JUnitXml.fromstring("".join(write(report, CONTEXT)).encode())
    by_name = {case.name: case for case in suite}
    (failure,) = by_name["Stateful tests"].result
    assert failure.text.startswith("1. Test Case ID: ")
    assert f"- Use after free\n\n    Operation: {USERS}" in failure.text
    (alone,) = by_name[USERS].result
    assert "Use after free" not in alone.text
