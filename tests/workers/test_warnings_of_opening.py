"""What is told before the first request: filters that match nothing, credentials for what nobody declared."""

from pathlib import Path
from typing import Any

import pytest

from checker.config.config import Config
from checker.config.filters import FilterSpec, OperationFilters
from checker.corpus.journal import JournalReader
from checker.corpus.records import Note
from tests.asking import saying
from tests.workers.harness import DOCUMENT, workplace

LIMIT = {"name": "limit", "in": "query", "schema": {"type": "integer"}}
LISTED = {"get": {"parameters": [LIMIT], "responses": {"200": {"description": ""}}}}
PATHS: Any = DOCUMENT["paths"]
SECURED = {
    **DOCUMENT,
    "paths": {**PATHS, "/rows": LISTED},
    "components": {"securitySchemes": {"Bearer": {"type": "http", "scheme": "bearer"}}},
}


def told(folder: Path, **changes: Any) -> list[tuple[str, str]]:
    """(kind, text) of the notes that a worker writes while it opens the description."""
    with workplace(folder, **{"document": SECURED, **changes}) as place:
        place.recorder.flush()
        records = list(JournalReader(place.recorder.journal.path).read_new())
    return [(one.kind, one.text) for one in records if isinstance(one, Note)]


@pytest.mark.parametrize(
    ("name", "notes"),
    [
        ("Bearr", [("unused_openapi_auth", "no security scheme is called 'Bearr'. Did you mean 'Bearer'?")]),
        ("Bearer", []),
    ],
)
def test_credentials_for_a_scheme_that_is_not_declared_are_told(
    tmp_path: Path, name: str, notes: list[tuple[str, str]]
) -> None:
    auth = {"openapi": {name: {"bearer": "t"}}}
    assert told(tmp_path, operations=saying(auth=auth)) == notes


@pytest.mark.parametrize(
    ("path", "notes"),
    [
        ("/thing", [("unmatched_filter", "`--exclude-path /thing` matches no operation. Did you mean '/things'?")]),
        ("/THINGS", [("unmatched_filter", "`--exclude-path /THINGS` matches no operation. Did you mean '/things'?")]),
        ("/things", []),
    ],
)
def test_a_filter_that_matches_nothing_is_told(tmp_path: Path, path: str, notes: list[tuple[str, str]]) -> None:
    filters = OperationFilters((FilterSpec("exclude", "path", path),))
    assert told(tmp_path, filters=filters) == notes


@pytest.mark.parametrize(
    ("path", "hints"), [("/row", [". Did you mean '/rows'?"]), ("/rows", []), ("/unread", []), (["/rows", "/x"], [""])]
)
def test_a_block_about_no_operation_is_told(tmp_path: Path, path: str | list[str], hints: list[str]) -> None:
    block = {"include-path": path, "enabled": False}
    unread = {**SECURED, "paths": {**PATHS, "/rows": LISTED, "/unread": {"get": 1}}}
    found = told(tmp_path, operations=saying(operations=[block]), document=unread)
    wrong = path if isinstance(path, str) else path[1]
    said = f"`include-path = {wrong!r}` of `[[operations]]` matches no operation"
    assert found == [("unmatched_filter", said + hint) for hint in hints]


@pytest.mark.parametrize("is_shared", [True, False])
def test_a_block_for_the_apis_of_several_projects_may_be_about_another_one(tmp_path: Path, is_shared: bool) -> None:
    block = {"include-path": "/row", "parameters": {"limt": 1}}
    shared, own = ([block], []) if is_shared else ([], [block])
    document = {"operations": shared, "project": [{"title": "Things", "operations": own}]}
    config = Config.from_dict(document, environment={}).for_project("Things")
    found = [kind for kind, _ in told(tmp_path, operations=config.operation_layers())]
    assert found == ([] if is_shared else ["unmatched_filter"])


@pytest.mark.parametrize(
    ("key", "notes"),
    [
        (
            "query.limt",
            [("unmatched_parameter", "none of its operations has a parameter 'limt'. Did you mean 'limit'?")],
        ),
        ("query.limit", []),
        ("limit", []),
        ("body.nobody.knows", []),
    ],
)
def test_a_value_for_a_parameter_that_nothing_has_is_told(
    tmp_path: Path, key: str, notes: list[tuple[str, str]]
) -> None:
    overrides = Config.from_dict({"parameters": {key: 1}}, environment={}).overrides()
    assert told(tmp_path, overrides=overrides) == notes
