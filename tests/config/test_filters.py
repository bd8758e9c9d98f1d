import pickle
from dataclasses import dataclass, field
from typing import Any

import pytest

from checker.config.filters import FilterSpec, OperationFilters, Selection
from checker.core.errors import UsageError
from checker.core.operation import BrokenOperation, Label


@dataclass
class Operation:
    method: str
    path: str
    tags: tuple[str, ...] = ()
    operation_id: str | None = None
    deprecated: bool = False
    definition: dict[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return f"{self.method} {self.path}"


GET_USERS = Operation("GET", "/users", ("users",), "listUsers", definition={"x-level": 1, "x-open": True, "a/b": [7]})
POST_USERS = Operation("POST", "/users", ("users", "write"), "createUser")
GET_ITEM = Operation("GET", "/items/{id}", deprecated=True)
ALL = [GET_USERS, POST_USERS, GET_ITEM]


def selected(*options: tuple[str, str]) -> list[str]:
    specs = []
    for option, value in options:
        verb, _, rest = option.partition("-")
        specs.append(FilterSpec(verb, rest.removesuffix("-regex"), value, rest.endswith("-regex")))
    filters = OperationFilters(tuple(specs))
    return [operation.label for operation in ALL if filters.matches(operation)]


def test_no_filter_selects_everything() -> None:
    assert selected() == ["GET /users", "POST /users", "GET /items/{id}"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([("include-path", "/users")], ["GET /users", "POST /users"]),
        ([("include-path", "/user")], []),
        ([("include-path-regex", "^/i")], ["GET /items/{id}"]),
        ([("include-method", "get")], ["GET /users", "GET /items/{id}"]),
        ([("include-method-regex", "^p")], ["POST /users"]),
        ([("include-name", "GET /users")], ["GET /users"]),
        ([("include-tag", "write")], ["POST /users"]),
        ([("include-tag-regex", "^us")], ["GET /users", "POST /users"]),
        ([("include-operation-id", "listUsers")], ["GET /users"]),
        ([("exclude-operation-id-regex", "User")], ["GET /items/{id}"]),
        ([("exclude-deprecated", "")], ["GET /users", "POST /users"]),
        ([("include-by", "/x-level == 1")], ["GET /users"]),
        ([("include-by", "/x-open==true")], ["GET /users"]),
        ([("include-by", "/a~1b/0 == 7")], ["GET /users"]),
        ([("exclude-by", "/x-level != 1")], ["GET /users"]),
        ([("include-by", "/x-level == true")], []),
    ],
)
def test_one_filter(options: list[tuple[str, str]], expected: list[str]) -> None:
    assert expected == selected(*options)


def test_kinds_combine_with_and_and_repeats_with_or() -> None:
    repeats = [("include-path", "/users"), ("include-path", "/items/{id}")]
    assert len(selected(*repeats)) == 3
    assert selected(*repeats, ("include-method", "GET")) == ["GET /users", "GET /items/{id}"]


def test_exclusions_win() -> None:
    assert selected(("include-path", "/users"), ("exclude-method", "get")) == ["POST /users"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ([("include-path", "/a"), ("include-path", "/a")], "include-path: '/a' is given more than once"),
        ([("include-method", "GET"), ("include-method", "get")], "include-method: 'get' is given more than once"),
        ([("include-tag", "a"), ("exclude-tag", "a")], "tag 'a' is both included and excluded"),
        ([("include-path-regex", "[")], "include-path-regex: invalid regular expression '['"),
        ([("include-by", "x-level = 1")], "invalid filter expression 'x-level = 1'"),
        ([("include-by", "level == 1")], "invalid filter expression 'level == 1'"),
    ],
)
def test_wrong_filters_are_refused_when_they_are_made(options: list[tuple[str, str]], reason: str) -> None:
    with pytest.raises(UsageError, match=r".*") as caught:
        selected(*options)
    assert str(caught.value).startswith(reason)


def test_same_value_of_different_kinds_is_fine() -> None:
    assert selected(("include-tag", "users"), ("exclude-name", "users"), ("include-path", "users")) == []


def test_disabled_blocks_intersect_with_filters() -> None:
    selection = Selection(
        OperationFilters((FilterSpec("include", "path", "/users"),)),
        (OperationFilters((FilterSpec("include", "method", "POST"),)),),
    )
    assert [selection.matches(operation) for operation in ALL] == [True, False, False]


def test_broken_operations_are_selected_by_what_is_known() -> None:
    broken = BrokenOperation(Label("GET /users"), "GET", "/users", "no such reference")
    assert Selection(OperationFilters((FilterSpec("include", "path", "/users"),))).matches(broken)
    assert not Selection(OperationFilters((FilterSpec("include", "tag", "users"),))).matches(broken)


def test_selection_survives_pickle() -> None:
    selection = Selection(
        OperationFilters((FilterSpec("include", "path", "/users.*", True),)),
        (OperationFilters((FilterSpec("exclude", "by", "/a == 1"),)),),
    )
    assert selection == pickle.loads(pickle.dumps(selection))
