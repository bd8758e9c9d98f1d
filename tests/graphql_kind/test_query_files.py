"""Queries of files are what the examples phase sends first; what is wrong with one is told, and costs nothing else."""

import json
from pathlib import Path

import pytest

from checker.config.config import Config
from checker.config.files import QueryFile
from checker.core.contract import Outcome
from checker.core.errors import ConfigError
from checker.core.operation import Label
from checker.core.schema import WarningKind
from checker.generation.boundaries.examples import OperationExamples
from checker.generation.settings import GenerationSettings
from checker.graphql.schema import GraphQLDescription, GraphQLOperation
from checker.kinds.sources import SchemaOptions
from tests.graphql_kind.library import SDL
from tests.graphql_kind.making import MAKER, opened

TWO = """
query ByName($text: String!) { ...found }
query One($id: ID!) { book(id: $id) { ...named } }
fragment found on Query { search(text: $text) { __typename } }
fragment named on Book { id title }
"""
VARIABLES = {"ByName": {"text": "Dune"}, "One": {"id": "7"}}


def with_files(*files: QueryFile) -> GraphQLDescription:
    schema = opened(SDL)
    schema.configure(SchemaOptions(queries=files))
    return schema


def bodies(schema: GraphQLDescription, label: str) -> list[object]:
    """Of the requests that the examples phase makes."""
    operation = schema.find(label)
    assert isinstance(operation, GraphQLOperation)
    made = [MAKER.make(one.case(operation, "")) for one in OperationExamples(operation, GenerationSettings()).cases()]
    assert all(operation.judge_request(one).outcome is Outcome.VALID for one in made)
    return [json.loads(one.body or b"") for one in made]


def test_each_query_goes_to_its_first_root_field_with_its_fragments_and_variables() -> None:
    schema = with_files(QueryFile("two.graphql", TWO, json.dumps(VARIABLES)))
    (found,) = bodies(schema, "Query.search")
    assert found == {
        "query": "query ByName($text: String!) {\n  ...found\n}\n\nfragment found on Query {\n  search(text: $text) {\n    __typename\n  }\n}",
        "variables": {"text": "Dune"},
        "operationName": "ByName",
    }  # fmt: skip
    (other,) = bodies(schema, "Query.book")
    assert isinstance(other, dict)
    assert other["variables"] == {"id": "7"}
    assert [one.warning for one in schema.dropped()][1:] == []


def test_variables_of_one_query_need_no_name() -> None:
    schema = with_files(QueryFile("a.gql", "query ($id: ID!) { node(id: $id) { id } }", '{"id": "1", "other": 2}'))
    (found,) = bodies(schema, "Query.node")
    assert found == {"query": "query ($id: ID!) {\n  node(id: $id) {\n    id\n  }\n}", "variables": {"id": "1"}}


@pytest.mark.parametrize(
    ("text", "variables", "says"),
    [
        ("{ count", "", "cannot be read: Syntax Error"),
        ("{ count }", "[]", "its variables are not an object"),
        ("fragment a on Book { id }", "", "holds no query"),
        ("{ nothing }", "", "`Query` has no field `nothing`"),
        ("subscription { added { id } }", "", "it is a subscription"),
        ("query ($id: ID!) { book(id: $id) { id } }", "", "Variable '$id'"),
        ("{ book(id: 1) { colour } }", "", "Cannot query field 'colour'"),
        ("{ __typename }", "", "it selects no field of the schema"),
        ("{ ...a } fragment a on Query { ...a }", "", "it selects no field"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_and_costs_that_query_alone(text: str, variables: str, says: str) -> None:
    schema = with_files(QueryFile("wrong.graphql", text, variables), QueryFile("right.graphql", "{ count }", ""))
    (fault,) = [one.warning for one in schema.dropped() if one.warning.kind is WarningKind.INVALID_EXAMPLE]
    assert says in fault.message
    assert fault.label == "wrong.graphql"
    assert len(bodies(schema, "Query.count")) == 1


def test_defaults_of_arguments_are_sent_with_what_is_required_beside_them() -> None:
    schema = opened("type Query { a(size: Int = 7, name: String!): Int }")
    assert bodies(schema, "Query.a") == [
        {"query": "query ($name: String!, $size: Int) { a(name: $name, size: $size) }", "variables": {"name": "0", "size": 7}}
    ]  # fmt: skip


def test_files_are_found_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "queries").mkdir()
    for name, text in {"b.graphql": "{ b }", "a.graphql": "{ a }", "a.variables.json": "{}"}.items():
        (tmp_path / "queries" / name).write_text(text)
    file = tmp_path / "checker.toml"
    file.write_text('[phases.examples]\nqueries = ["queries/*.graphql", "queries/a.graphql"]\n')
    found = Config.from_path(file).queries()
    assert [(Path(one.path).name, one.text, one.variables) for one in found] == [
        ("a.graphql", "{ a }", "{}"),
        ("b.graphql", "{ b }", ""),
    ]


@pytest.mark.parametrize("name", ["none.graphql", "none/*.graphql", ".", "/nowhere/*.graphql"])
def test_names_that_lead_nowhere_are_one_sentence(name: str, tmp_path: Path) -> None:
    file = tmp_path / "checker.toml"
    file.write_text(f"[phases.examples]\nqueries = [{name!r}]\n")
    with pytest.raises(ConfigError, match=r"phases\.examples\.queries: .*"):
        Config.from_path(file).queries()


def test_labels_are_those_of_the_schema() -> None:
    schema = with_files(QueryFile("m.graphql", 'mutation { deleteBook(id: "1") }', ""))
    assert len(schema.written.by_label[Label("Mutation.deleteBook")]) == 1
