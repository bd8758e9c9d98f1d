"""A run chooses operations by their entries; whoever opens the document again reads those that it works on."""

from pathlib import Path
from typing import Any, NoReturn

import pytest

from checker.config.filters import FilterSpec, OperationFilters, Selection
from checker.core.errors import LoaderError
from checker.core.operation import BrokenOperation, Label
from checker.openapi.loaders import from_path, open_normalised
from checker.openapi.schema import OpenApiSchema
from checker.workers.selected import SelectedOperations
from tests.openapi.documents import opened
from tests.openapi.robustness import documents as odd_documents
from tests.openapi.test_smoke import SMOKE

ALL = Selection()
OK = {"responses": {"200": {"description": ""}}}
LOST = {"parameters": [{"$ref": "#/components/parameters/Gone"}], **OK}
PATHS: dict[str, Any] = {
    "/a": {"get": {"tags": ["one"], **OK}, "put": LOST},
    "/b/{id}": {
        "parameters": [{"name": "If-Match", "in": "header"}, {"name": "accept", "in": "header"}],
        "get": {"tags": ["two"], "parameters": [{"name": "q", "in": "query"}], **OK},
        "post": "nothing",
    },
}
REAL = [*sorted(SMOKE.iterdir())[:8], *odd_documents()]


def again(schema: OpenApiSchema) -> OpenApiSchema:
    return open_normalised(schema.normalised())


def test_second_opening_reads_nothing_to_select(monkeypatch: pytest.MonkeyPatch) -> None:
    data = opened("3.0.0", PATHS).normalised()

    def refused(*_: object) -> NoReturn:
        raise AssertionError("read")

    monkeypatch.setattr("checker.openapi.schema.operations.read_operation", refused)
    selected = SelectedOperations(open_normalised(data), ALL)
    assert list(selected) == ["GET /a", "GET /b/{id}"]
    assert [broken.label for broken in selected.broken] == ["PUT /a", "POST /b/{id}"]
    assert selected.total == 4
    assert list(selected.names(Label("GET /b/{id}"))) == ["id", "If-Match", "q"]
    with pytest.raises(AssertionError, match="read"):
        selected[Label("GET /a")]


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name[-40:])
def test_second_opening_selects_what_the_first_does(path: Path) -> None:
    try:
        schema = from_path(path)
    except LoaderError:
        return
    first, second = SelectedOperations(schema, ALL), SelectedOperations(again(schema), ALL)
    every = list(schema.get_all_operations())
    assert list(second) == list(first) == [o.label for o in every if o.label in first]
    assert second.broken == first.broken == [o for o in every if isinstance(o, BrokenOperation)]
    assert second.total == first.total == len(every)
    assert again(again(schema)).normalised() == schema.normalised()


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name[-40:])
def test_names_are_those_of_the_parameters(path: Path) -> None:
    try:
        selected = SelectedOperations(from_path(path), ALL)
    except LoaderError:
        return
    for label, operation in selected.items():
        left_out = len(operation.unusable_parameters)
        names = {parameter.name for parameter in operation.parameters}
        assert names <= set(selected.names(label))
        assert len(set(selected.names(label)) - names) <= left_out


def test_filters_see_tags_of_what_can_be_read_alone() -> None:
    filters = OperationFilters((FilterSpec("exclude", "tag", "one"),))
    selected = SelectedOperations(again(opened("3.0.0", PATHS)), Selection(filters))
    assert list(selected) == ["GET /b/{id}"]
    assert len(selected.broken) == 2


def test_an_operation_is_read_once() -> None:
    selected = SelectedOperations(again(opened("3.0.0", PATHS)), ALL)
    assert selected[Label("GET /a")] is selected[Label("GET /a")]


def test_variables_are_known_where_no_operation_is_about_their_resource_alone() -> None:
    paths = {"/users/": {"post": OK}, "/users/{id}/mails/{mail}.{format}/": {"get": OK}, "/users/{name}": {"get": OK}}
    found = SelectedOperations(opened("3.0.0", paths), ALL).variables_below()
    assert found == {"/users": ("id", "name"), "/users/{id}/mails": ("mail", "format")}
