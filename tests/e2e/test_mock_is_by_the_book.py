"""The mock answers every operation of every smoke document so that neither `jsonschema` nor our checks object."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from checker.checks.judge import Judge, Judgement
from checker.checks.table import BUILT_IN
from checker.core.case import Case
from checker.core.operation import BrokenOperation
from checker.core.response import Response
from checker.openapi.loaders import from_path
from tests.apps.builder import Builder, Unbuildable
from tests.apps.document import Described, read
from tests.apps.http import Reply, Request
from tests.apps.mock import Mock
from tests.e2e.documents import smoke_documents

DOCUMENTS = smoke_documents()
UNSATISFIABLE = frozenset(
    # `oneOf` with the same schema twice, which every object with a `method` fits.
    {"submitSelfServiceSettingsFlowBody"}
)
"""Component schemas that no value is valid by."""
JUDGE = Judge([one for one in BUILT_IN.values() if not one.switch])


def _id(path: Path) -> str:
    return path.name


def _path_of(mock: Mock, operation: Described) -> str:
    """A path by the template, filled with numbers: valid or not, the mock answers."""
    path = operation.path.partition("#")[0]
    for index, parameter in enumerate(mock.document.parameters(operation)):
        path = path.replace("{" + parameter["name"] + "}", f"x{index}y")
    return quote(path)


def _chosen(operation: Described) -> dict[str, str]:
    """The header that a fragment of the path names."""
    name, _, value = operation.path.partition("#")[2].partition("=")
    return {name.lower(): value} if value else {}


def _judged(operation: Any, reply: Reply) -> Judgement:
    headers = [("Content-Type", reply.media_type)] if reply.media_type else []
    response = Response(reply.status, headers, reply.body)
    case = Case(operation, "judged")
    asked = JUDGE.judge(case, response)
    try:
        next(asked)
    except StopIteration as done:
        judgement: Judgement = done.value
        return judgement
    raise AssertionError("a built-in check wants to send")


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("path", DOCUMENTS, ids=_id)
def test_no_check_objects_to_what_the_mock_answers(path: Path) -> None:
    mock, schema = Mock(read(path)), from_path(path)
    for operation in mock.document.operations():
        ours = schema.find(operation.label)
        assert ours is not None, operation.label
        if isinstance(ours, BrokenOperation):
            continue
        reply = mock(Request(operation.method, _path_of(mock, operation).encode(), _chosen(operation)))
        assert reply == mock.reply(operation), f"{operation.label} is shadowed"
        judgement = _judged(ours, reply)
        assert judgement.failures == (), operation.label
        assert judgement.disagreements == (), operation.label


@pytest.mark.parametrize("path", DOCUMENTS, ids=_id)
def test_tool_and_test_read_the_same_operations(path: Path) -> None:
    mock, schema = Mock(read(path)), from_path(path)
    found = [operation.label for operation in schema.get_all_operations()]
    assert [operation.label for operation in mock.document.operations()] == found
    assert schema.raw_schema == mock.document.root


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("path", DOCUMENTS, ids=_id)
def test_every_documented_schema_has_a_value(path: Path) -> None:
    """Of requests and responses alike: what cannot be built is named here."""
    document = Mock(read(path)).document
    unbuildable = []
    for direction in (True, False):
        builder = Builder(document, is_response=direction)
        for pointer, schema in _schemas(document.root, "#"):
            try:
                assert builder.witness.problem(schema, builder.value(schema)) is None
            except Unbuildable as error:
                if not any(name in str(error) for name in UNSATISFIABLE):
                    unbuildable.append((pointer, str(error)[:80]))
    assert unbuildable == []


def _schemas(value: Any, at: str) -> list[tuple[str, Any]]:
    found = []
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "schema" and isinstance(inner, dict):
                found.append((f"{at}/schema", inner))
            found += _schemas(inner, f"{at}/{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            found += _schemas(inner, f"{at}/{index}")
    return found
