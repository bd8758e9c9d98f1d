"""A server that says what went wrong in its data: unions of what was asked for and of types of errors."""

from itertools import count
from threading import Lock
from typing import Any

from graphql import build_schema

from tests.apps.graphql.depot import by_the_book
from tests.apps.http import Reply, Request

SDL = """
interface Complaint { message: String! }
type Task { id: ID!  title: String! }
type TaskPage { results: [Task!]! }
type TaskIsGone implements Complaint { message: String! }
type TitleTaken { title: String! }
type NotAllowed { message: String! }
type CreateTaskSuccess { task: Task! }
type DeleteTaskSuccess { taskId: String! }
interface UserError { message: String! }
type TooShort implements UserError { message: String!  least: Int }
union TaskOrError = Task | TaskNotFound
type TaskNotFound { message: String! }
union TasksOrError = TaskPage | NotAllowed
union CreateTaskResult = CreateTaskSuccess | TitleTaken | TooShort
union DeleteTaskResult = DeleteTaskSuccess | TaskNotFound
union Found = Task | TaskPage
type Query { taskOrError(taskId: ID!): TaskOrError!  tasksOrError: TasksOrError!  anything: Found }
type Mutation { createTask(title: String!): CreateTaskResult!  deleteTask(taskId: String!): DeleteTaskResult! }
"""
SCHEMA = build_schema(SDL)
_NOT_FOUND = {"__typename": "TaskNotFound", "message": "no such task"}


class Tasks:
    """One server. Where `planted`, what is deleted is still shown."""

    def __init__(self, *, planted: bool) -> None:
        self.planted = planted
        self._numbers = count(1)
        self._tasks: dict[str, dict[str, Any]] = {}
        self._deleted: set[str] = set()
        self._lock = Lock()

    def answer(self, request: Request) -> Reply:
        """The answer to one request; one is worked on at a time."""
        with self._lock:
            return by_the_book(SCHEMA, self, request)

    def _there(self) -> list[dict[str, Any]]:
        return [one for key, one in self._tasks.items() if key not in self._deleted]

    # Resolvers

    def taskOrError(self, info: object, taskId: str) -> Any:
        shown = self._tasks if self.planted else {one["id"]: one for one in self._there()}
        return shown.get(taskId, _NOT_FOUND)

    def tasksOrError(self, info: object) -> Any:
        return {"__typename": "TaskPage", "results": self._there()}

    def createTask(self, info: object, title: str) -> Any:
        if len(title) < 2:
            return {"__typename": "TooShort", "message": "write more", "least": 2}
        if any(one["title"] == title for one in self._there()):
            return {"__typename": "TitleTaken", "title": title}
        key = f"task-{next(self._numbers):x}"
        made = self._tasks[key] = {"__typename": "Task", "id": key, "title": title}
        return {"__typename": "CreateTaskSuccess", "task": made}

    def deleteTask(self, info: object, taskId: str) -> Any:
        if taskId not in self._tasks or taskId in self._deleted:
            return _NOT_FOUND
        self._deleted.add(taskId)
        return {"__typename": "DeleteTaskSuccess", "taskId": taskId}
