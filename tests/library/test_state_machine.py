"""State machines: sequences over links, what users override, how they shrink."""

import json
import unittest
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings

import checker

USER = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
OK = {"description": "", "content": {"application/json": {"schema": USER}}}
ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
LINK = {"GetUser": {"operationId": "getUser", "parameters": {"id": "$response.body#/id"}}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "User API", "version": "1"},
    "paths": {
        "/users": {"post": {"responses": {"201": {**OK, "links": LINK}}}},
        "/users/{id}": {
            "get": {"operationId": "getUser", "parameters": [ID], "responses": {"200": OK, "404": {"description": ""}}}
        },
    },
}
QUICK = settings(
    max_examples=30, database=None, deadline=None, stateful_step_count=6, suppress_health_check=list(HealthCheck),
    phases=[phase for phase in Phase if phase is not Phase.explain],
)  # fmt: skip


class App:
    """Users are kept; the third cannot be read, if it is broken."""

    document: ClassVar[dict[str, Any]] = DOCUMENT

    def __init__(self, *, is_broken: bool = False) -> None:
        self.is_broken = is_broken
        self.count = 0
        self.seen: list[tuple[str, str]] = []

    def __call__(self, environ: Any, start: Any) -> list[bytes]:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        if path == "/openapi.json":
            start("200 OK", [("Content-Type", "application/json")])
            return [json.dumps(self.document).encode()]
        self.seen.append((method, path))
        status, body = self.answer(method, path)
        start(status, [("Content-Type", "application/json")])
        return [json.dumps(body).encode()]

    def answer(self, method: str, path: str) -> tuple[str, Any]:
        if method == "POST":
            self.count += 1
            return "201 Created", {"id": self.count}
        number = int(path.rpartition("/")[2])
        if not 1 <= number <= self.count:
            return "404 Not Found", {"id": 0}
        return ("500 Oh" if self.is_broken and number % 3 == 2 else "200 OK"), {"id": number}


def loaded(app: App) -> Any:
    schema = checker.openapi.from_wsgi("/openapi.json", app)
    schema.config.generation.update(mode="positive")
    schema.config.checks.update(included_check_names=["not_a_server_error"])
    return schema


@pytest.mark.thorough
def test_answers_lead_on_to_requests() -> None:
    app = App()
    loaded(app).as_state_machine().run(settings=QUICK)
    read = [int(path.rpartition("/")[2]) for method, path in app.seen if method == "GET"]
    assert len(read) > 10
    assert all(1 <= number <= app.count for number in read)


def test_a_defect_behind_a_sequence_is_found() -> None:
    app = App(is_broken=True)

    class Machine(loaded(app).as_state_machine()):  # type: ignore[misc]
        def setup(self) -> None:
            app.count = 0
            app.seen.clear()

    with pytest.raises(checker.errors.FailureGroup, match="Server error") as caught:
        Machine.run(settings=settings(QUICK, max_examples=200))
    # The shortest way to the defect: two users, and the second is read.
    assert app.seen == [("POST", "/users"), ("POST", "/users"), ("GET", "/users/2")]
    told = str(caught.value).partition("Reproduce with:\n\n")[2].split("\n")
    assert [line.split()[-1] for line in told] == [
        "http://localhost/users",
        "http://localhost/users",
        "http://localhost/users/2",
    ]


class Forgetful(App):
    """Deletes nothing, or keeps nothing."""

    document: ClassVar[dict[str, Any]] = {
        **DOCUMENT,
        "paths": {
            **DOCUMENT["paths"],
            "/users/{id}": {
                **DOCUMENT["paths"]["/users/{id}"],
                "delete": {"parameters": [ID], "responses": {"200": OK}},
            },
        },
    }

    def __init__(self, *, keeps: bool) -> None:
        super().__init__()
        self.keeps = keeps

    def answer(self, method: str, path: str) -> tuple[str, Any]:
        if method == "DELETE":
            return "200 OK", {"id": 0}
        if not self.keeps and method == "GET":
            return "404 Not Found", {"id": 0}
        return super().answer(method, path)


@pytest.mark.parametrize(
    ("keeps", "check", "title", "last"),
    [
        (True, "use_after_free", "Use after free", ["POST", "DELETE", "GET"]),
        (False, "ensure_resource_availability", "Resource is not available after creation", ["POST", "GET"]),
    ],
)
@pytest.mark.thorough
def test_checks_of_sequences_judge_by_earlier_steps(keeps, check, title, last) -> None:
    app = Forgetful(keeps=keeps)
    schema = loaded(app)
    schema.config.checks.update(included_check_names=[check])

    class Machine(schema.as_state_machine()):  # type: ignore[misc]
        def setup(self) -> None:
            app.count = 0
            app.seen.clear()

    with pytest.raises(checker.errors.FailureGroup, match=title) as caught:
        Machine.run(settings=settings(QUICK, max_examples=200, derandomize=True))
    methods = [method for method, _ in app.seen]
    # How short it gets is for Hypothesis to say: each of these is needed, in this order.
    rest = iter(methods)
    assert all(one in rest for one in last)
    assert methods[-1] == last[-1]
    told = str(caught.value).partition("Reproduce with:\n\n")[2].split("\n")
    sent = [line.split()[2] for line in told]
    # A check asks afterwards whether any name is answered alike, or for the same with another new resource.
    assert sent == methods[: len(sent)]
    assert methods[len(sent) :] in ([], ["GET"], ["POST", "GET"])


def test_users_override_what_happens() -> None:
    told: list[str] = []

    class Machine(loaded(App()).as_state_machine()):  # type: ignore[misc]
        def setup(self) -> None:
            told.append("setup")

        def teardown(self) -> None:
            told.append("teardown")

        def before_call(self, case: Any) -> None:
            told.append("before")
            case.headers["X-Before"] = "1"

        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            return {"headers": {"X-Mine": "1"}}

        def after_call(self, response: Any, case: Any) -> None:
            assert response.request.header(b"X-Mine") == b"1"
            assert response.request.header(b"X-Before") == b"1"
            told.append("after")

        def validate_response(self, response: Any, case: Any, **kwargs: Any) -> None:
            told.append("validate")

    Machine.run(settings=settings(QUICK, max_examples=3))
    assert told[:4] == ["setup", "before", "after", "validate"]
    assert told.count("setup") == told.count("teardown") > 0


def test_cases_belong_to_the_stateful_phase() -> None:
    phases = set()

    class Machine(loaded(App()).as_state_machine()):  # type: ignore[misc]
        def after_call(self, response: Any, case: Any) -> None:
            phases.add(case.meta.phase.name)

    Machine.run(settings=settings(QUICK, max_examples=3))
    assert phases == {"stateful"}


def test_settings_and_arguments_that_are_none_are_named() -> None:
    class Machine(loaded(App()).as_state_machine()):  # type: ignore[misc]
        def get_call_kwargs(self, case: Any) -> Any:
            return None

    with pytest.raises(checker.errors.IncorrectUsage, match=r"must be a `hypothesis.settings\(...\)`, got 3"):
        Machine.run(settings=3)
    with pytest.raises(checker.errors.IncorrectUsage, match="`get_call_kwargs` of Machine must return a dict"):
        Machine.run(settings=QUICK)


def test_it_is_a_test_case() -> None:
    machine = loaded(App()).as_state_machine()
    assert machine.__name__ == "UserAPIStateMachine"
    assert machine.TestCase.settings.deadline is None
    assert issubclass(machine, checker.stateful.APIStateMachine)


def test_tests_of_subclasses_have_the_settings_of_the_configuration() -> None:
    schema = loaded(App())
    schema.config.generation.update(max_examples=7, database="none")
    schema.config.phases.stateful.update(max_steps=4)

    class Machine(schema.as_state_machine()):  # type: ignore[misc]
        pass

    chosen = Machine.TestCase.settings
    assert (chosen.max_examples, chosen.stateful_step_count) == (7, 4)
    assert (chosen.deadline, chosen.database) == (None, None)
    assert Phase.explain not in chosen.phases


@pytest.mark.parametrize("own", [{}, {"deadline": 50}])
def test_settings_of_a_test_ask_for_no_deadline_and_for_no_lines_of_ours(own) -> None:
    used: list[Any] = []

    class Machine(loaded(App()).as_state_machine()):  # type: ignore[misc]
        def setup(self) -> None:
            used.append(settings.default)

    test = Machine.TestCase()
    test.settings = settings(max_examples=3, stateful_step_count=2, database=None, **own)
    result = unittest.TestResult()
    test.run(result)
    assert result.wasSuccessful(), result.errors
    assert {one.max_examples for one in used} == {3}
    assert {one.deadline is None for one in used} == {not own}
    assert not any(Phase.explain in one.phases for one in used)


def test_without_links_there_is_no_machine() -> None:
    schema = loaded(App())
    with pytest.raises(checker.errors.NoLinksFound, match="none of them connects selected operations"):
        schema.include(path="/users").as_state_machine()
    alone = {**DOCUMENT, "paths": {"/a": {"get": {"responses": {"200": OK}}}}}
    with pytest.raises(checker.errors.NoLinksFound, match="declare `links`"):
        checker.openapi.from_dict(alone).as_state_machine()
