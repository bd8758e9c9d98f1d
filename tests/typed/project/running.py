"""Tests, state machines, whole runs."""

from typing import Any, assert_type

import hypothesis.strategies as st
from hypothesis import settings

import checker
from checker import Case, Response

users = checker.openapi.from_path("users.yaml")
orders = checker.openapi.from_path("orders.yaml")
lazy = checker.pytest.from_fixture("schema")
assert_type(lazy, checker.pytest.LazySchema)


@users.include(method="GET").parametrize()
@settings(max_examples=5)
def test_users(case: Case) -> None:
    case.call_and_validate()


@lazy.include(path="/a").exclude(deprecated=True).parametrize()
@lazy.given(number=st.integers())
@lazy.override(headers={"X": "1"})
def test_lazy(case: Case, number: int) -> None:
    case.call_and_validate(headers={"X-Number": str(number)})


CHECKS = [
    checker.checks.allow_header_conformance,
    checker.checks.collection_conformance,
    checker.checks.content_type_conformance,
    checker.checks.ensure_resource_availability,
    checker.checks.error_disclosure,
    checker.checks.ignored_auth,
    checker.checks.injection,
    checker.checks.location_conformance,
    checker.checks.mass_assignment,
    checker.checks.max_response_time,
    checker.checks.missing_required_header,
    checker.checks.negative_data_rejection,
    checker.checks.not_a_server_error,
    checker.checks.object_level_authorization,
    checker.checks.object_level_writes,
    checker.checks.positive_data_acceptance,
    checker.checks.races,
    checker.checks.read_your_writes,
    checker.checks.refused_write,
    checker.checks.response_headers_conformance,
    checker.checks.response_schema_conformance,
    checker.checks.safe_methods,
    checker.checks.session_ends,
    checker.checks.status_code_conformance,
    checker.checks.unsupported_method,
    checker.checks.update_conformance,
    checker.checks.use_after_free,
]


@users.parametrize()
def test_some_checks(case: Case) -> None:
    case.call_and_validate(checks=CHECKS, excluded_checks=["ignored_auth"])
    case.call_and_validate(additional_checks=checker.checks.not_a_server_error)


@checker.pytest.parametrize(users=users, orders=orders)
def test_several(case: Case) -> None:
    case.call_and_validate()


@users.given(data=st.data())
@users.parametrize()
def test_given(case: Case, data: st.DataObject) -> None:
    case.query["q"] = data.draw(st.integers())


class Machine(users.as_state_machine()):  # type: ignore[misc]
    """Sequences of calls: a class made at run time is no base that type checkers know."""


class Documented(checker.stateful.APIStateMachine):
    """What users may override."""

    def setup(self) -> None:
        self.token = "t"

    def teardown(self) -> None:
        self.token = ""

    def before_call(self, case: Case) -> None:
        case.headers["X"] = self.token

    def after_call(self, response: Response, case: Case) -> None:
        assert_type(response.status_code, int)

    def get_call_kwargs(self, case: Case) -> dict[str, Any]:
        return {"headers": {"X": self.token}}

    def validate_response(self, response: Response, case: Case, additional_checks: Any = None, **kwargs: Any) -> None:
        super().validate_response(response, case, additional_checks, **kwargs)


TestMachine = users.as_state_machine().TestCase


def machines() -> None:
    users.as_state_machine().run(settings=settings(max_examples=3))


def runs() -> None:
    result = checker.run("http://127.0.0.1/openapi.json", config=checker.Config(), inline=False)
    assert_type(result.exit_code, int)
    assert_type(result.passed, bool)
    for finding in result.findings:
        assert_type(finding, checker.reports.Finding)
    result = checker.run(users)
    result = checker.fuzz("openapi.yaml")
    stream = checker.engine.from_schema(users).execute()
    for event in stream:
        if isinstance(event, checker.reports.Finding):
            stream.stop()
    assert_type(stream.finish(), checker.engine.RunResult)
    checker.engine.from_schema(users).fuzz()
