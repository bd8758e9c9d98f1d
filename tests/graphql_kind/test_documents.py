"""Schemas as they are found."""

import json
from pathlib import Path

import pytest
from graphql import build_schema, introspection_from_schema

import checker
from checker.core.errors import ForeignDescription, LoaderError
from checker.core.schema import WarningKind
from checker.kinds.sources import DIRECT, FileSource, TextSource
from checker.kinds.table import kind_named, open_description, packed, unpacked
from tests.graphql_kind.library import SDL
from tests.graphql_kind.making import opened, opened_value

LABELS = ["Query.book", "Query.books", "Query.search", "Query.node", "Query.count", "Query.odd", "Query.old", "Mutation.addBook", "Mutation.deleteBook"]  # fmt: skip


def test_root_fields_are_operations() -> None:
    assert [one.label for one in opened(SDL).checked_entries()] == LABELS


def test_introspections_are_read_bare_and_under_data() -> None:
    found = dict(introspection_from_schema(build_schema(SDL)))
    for value in (found, {"data": found}):
        assert [one.label for one in opened_value(value).checked_entries()] == LABELS


def test_a_schema_is_a_mapping() -> None:
    schema = checker.graphql.from_file(SDL)
    assert schema["Query"]["book"].label == "Query.book"
    assert list(schema) == ["Query", "Mutation"]
    assert "book" in schema["Query"]
    with pytest.raises(LookupError, match="Did you mean `Query`"):
        schema["Qery"]
    with pytest.raises(LookupError, match=r"Field `bok` not found\. Did you mean `book`.*fields: book"):
        schema["Query"]["bok"]


def test_own_names_of_root_types_count() -> None:
    schema = opened("schema { query: query_root } type query_root { users: Int }")
    assert [one.label for one in schema.entries()] == ["query_root.users"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("directive @key(fields: Set) on OBJECT type Query { a: Int }", "the type Set is not defined"),
        ("extend type Query { a: Int }", "extended and not defined"),
        ("type Query { a: A } interface B { c: Int } interface D { e: Int } type A implements B, D { c: Int e: Int }", "before 2018"),
        ("type Query { a: Int } type Query { b: Int }", "defined more than once"),
        ("type Query { a: Int } query { a }", "holds queries"),
    ],
)  # fmt: skip
def test_loose_sdl_is_read_and_told(text: str, says: str) -> None:
    schema = opened(text)
    assert "Query.a" in [one.label for one in schema.entries()]
    (note,) = [one.warning.message for one in schema.dropped()]
    assert says in note


@pytest.mark.parametrize(
    "text",
    [
        "type Query { a: Missing }",
        "type Query { a(b: [Missing!]): Int }",
        "type Query { a: A } type B { b: Int } union A = B | Missing",
        "type Query implements Missing { a: Int }",
        "input I { b: Missing } type Query { a(i: I): Int }",
    ],
)
def test_a_type_that_is_not_defined_is_refused(text: str) -> None:
    with pytest.raises(checker.errors.LoaderError, match="the type Missing is used and not defined"):
        opened(text)


def test_unknown_directives_and_old_comments_are_nothing_special() -> None:
    text = '# A thing\ntype Query @key(fields: "a") { "An a" a: Int @shareable }'
    schema = opened(text)
    assert [one.warning for one in schema.dropped()] == []


def test_what_is_not_tested_is_told() -> None:
    text = SDL + "\nextend type Query { _service: Int  _entities(representations: [_Any!]!): [Item] } scalar _Any"
    schema = opened(text)
    waiting = [one.label for one in schema.entries() if one.only_by_name]
    assert waiting == ["Query._service", "Query._entities"]
    kinds = {one.warning.kind: one.warning.message for one in schema.dropped()}
    assert set(kinds) == {WarningKind.SUBSCRIPTION, WarningKind.FEDERATION}
    assert kinds[WarningKind.SUBSCRIPTION].startswith("2 subscriptions are not tested")


@pytest.mark.parametrize("text", ["", "openapi: 3.0.0\n", "{}", "[]", '{"openapi": "3.0.0"}', "hello"])
def test_other_texts_are_of_another_kind(text: str) -> None:
    with pytest.raises(ForeignDescription):
        kind_named("graphql").open(TextSource(text.encode(), "it"), DIRECT)


def test_broken_sdl_is_told() -> None:
    with pytest.raises(LoaderError, match="it is not a GraphQL schema: Syntax Error"):
        kind_named("graphql").open(TextSource(b"type Query { a: }", "it"), DIRECT)


def test_introspections_that_are_not_whole_are_told() -> None:
    with pytest.raises(LoaderError, match="not a whole GraphQL introspection"):
        opened_value({"__schema": {"queryType": {"name": "Query"}, "types": []}})


@pytest.mark.parametrize("source", [SDL, dict(introspection_from_schema(build_schema(SDL)))])
def test_workers_open_what_the_first_one_has_read(source: object) -> None:
    schema = opened(source) if isinstance(source, str) else opened_value(dict(source))  # type: ignore[call-overload]
    again = unpacked(packed(schema))
    assert packed(again) == packed(schema)
    assert [one.label for one in again.checked_entries()] == LABELS


def test_files_are_known_by_what_they_hold(tmp_path: Path) -> None:
    for name, text in {
        "a.graphql": SDL,
        "b.txt": SDL,
        "c.json": json.dumps(introspection_from_schema(build_schema(SDL))),
    }.items():
        (tmp_path / name).write_text(text)
        assert open_description(FileSource(tmp_path / name), DIRECT).kind == "graphql"


@pytest.mark.corpora
def test_all_real_schemas_are_read(corpora: Path) -> None:
    for path in sorted((corpora / "graphql").iterdir()):
        schema = open_description(FileSource(path), DIRECT)
        assert list(schema.entries()), path.name
