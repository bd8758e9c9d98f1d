"""Errors as data: unions of what was asked for and of types of errors lead on, and say whether it worked."""

import json
from pathlib import Path
from typing import Any

import pytest

from checker.core.operation import Label
from checker.core.response import Response
from checker.graphql.schema import GraphQLOperation
from tests.apps.graphql import verdicts
from tests.apps.serving import serving
from tests.e2e.runner import Command
from tests.graphql_kind.making import opened

SCHEMA = opened(verdicts.SDL)


def of(label: str) -> GraphQLOperation:
    found = SCHEMA.find(label)
    assert isinstance(found, GraphQLOperation)
    return found


@pytest.mark.parametrize(
    ("label", "method", "path", "asked"),
    [
        (
            "Query.taskOrError",
            "GET",
            "/Task/{taskId}",
            "{ __typename ... on Task { id } ... on TaskNotFound { message } }",
        ),
        ("Query.tasksOrError", "GET", "/Task", "... on TaskPage { results { id } }"),
        ("Query.anything", "GET", "/anything", "{ __typename }"),
        ("Mutation.createTask", "POST", "/Task", "... on CreateTaskSuccess { task { id } }"),
        ("Mutation.deleteTask", "DELETE", "/Task/{taskId}", "{ __typename ... on TaskNotFound { message } }"),
    ],
)
def test_the_member_that_is_no_error_is_what_was_asked_for(label: str, method: str, path: str, asked: str) -> None:
    operation = of(label)
    assert (operation.resource_method, operation.resource_path) == (method, path)
    assert asked in json.loads(operation.writer({"arguments": {}}))["query"]


def test_answers_lead_on_through_unions() -> None:
    values = {(one.source, one.target): one.values[0].value for one in SCHEMA.resources().transitions}
    read, gone = Label("Query.taskOrError"), Label("Mutation.deleteTask")
    assert values[Label("Mutation.createTask"), read] == "$response.body#/task/id"
    assert values[Label("Query.tasksOrError"), gone] == "$response.body#/results/*/id"
    assert values[read, gone] == "$response.body#/id"


@pytest.mark.parametrize(
    ("label", "data", "status"),
    [
        ("Query.taskOrError", {"__typename": "Task", "id": "1"}, 200),
        ("Query.taskOrError", {"__typename": "TaskNotFound"}, 404),
        ("Query.taskOrError", {"id": "1"}, 200),
        ("Query.tasksOrError", {"__typename": "NotAllowed"}, 403),
        ("Mutation.createTask", {"__typename": "TitleTaken"}, 409),
        ("Mutation.createTask", {"__typename": "TooShort"}, 422),
        ("Mutation.createTask", {"__typename": "CreateTaskSuccess", "task": {"id": "1"}}, 200),
        ("Mutation.deleteTask", {"__typename": "TaskNotFound"}, 404),
        ("Mutation.deleteTask", {"__typename": "DeleteTaskSuccess"}, 200),
        ("Query.anything", {"__typename": "TaskPage"}, 200),
    ],
)
def test_types_of_errors_say_what_others_say_by_status(label: str, data: dict[str, Any], status: int) -> None:
    operation = of(label)
    body = json.dumps({"data": {label.partition(".")[2]: data}}).encode()
    response = Response(200, [("Content-Type", "application/json")], body)
    assert operation.status_of(response) == status


@pytest.mark.parametrize(("planted", "found"), [(True, [("Mutation.deleteTask", "use_after_free")]), (False, [])])
@pytest.mark.thorough
def test_what_is_shown_after_its_removal_is_found_and_nothing_else(
    planted: bool, found: list[tuple[str, str]], tmp_path: Path
) -> None:
    (tmp_path / "tasks.graphql").write_text(verdicts.SDL)
    with serving(verdicts.Tasks(planted=planted).answer, {}) as app:
        where = ("tasks.graphql", "--url", f"{app.url}/graphql")
        ran = Command(tmp_path).run_as_usual(*where, "-n", "20", inline=True)
    assert ran.defects == found, ran.shown
