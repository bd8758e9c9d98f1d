"""`generation.graphql-allow-null` governs null and NUL alike."""

import json
from typing import Any

import pytest

from checker.config.config import Config
from checker.config.operation_settings import OperationResolver
from checker.config.resolve import Invocation, run_settings
from checker.core.contract import Outcome
from checker.core.meta import GenerationMode
from checker.graphql.schema import GraphQLDescription
from checker.kinds.sources import SchemaOptions
from tests.graphql_kind.library import SDL
from tests.graphql_kind.making import cases, opened

LABELS = ["Query.books", "Query.search", "Mutation.addBook"]


def configured(values: dict[str, Any]) -> GraphQLDescription:
    schema, config = opened(SDL), Config.from_dict(values, environment={})
    operations = OperationResolver(run_settings(config, Invocation(""), {}).operations)
    schema.configure(SchemaOptions(allows_null=lambda one: operations.of(one).cases.graphql_allow_null))
    return schema


def sent(schema: GraphQLDescription, label: str) -> str:
    operation: Any = schema.find(label)
    assert operation is not None
    bodies = []
    for number, (case, request) in enumerate(cases(operation, GenerationMode.POSITIVE, 300)):
        # The referee takes ten times as long as making the case.
        if number % 10 == 0:
            assert operation.judge_request(request).outcome is not Outcome.INVALID
        bodies.append(json.dumps(case.body["arguments"]) if "arguments" in case.body else "")
    return "\n".join(bodies)


@pytest.mark.parametrize("label", LABELS)
def test_null_and_nul_are_sent_where_they_may_be(label: str) -> None:
    text = sent(configured({}), label)
    assert ": null" in text or label == "Query.search"
    assert "\\u0000" in text or label == "Query.books"


@pytest.mark.parametrize("label", LABELS)
def test_neither_is_sent_where_users_do_not_want_it(label: str) -> None:
    text = sent(configured({"generation": {"graphql-allow-null": False}}), label)
    assert len(text) > 300
    # The text "null" is a value as any other.
    assert "null" not in text.replace('"null"', "")
    assert "\\u0000" not in text


def test_a_block_is_about_its_operations_alone() -> None:
    block = {"include-name": "Query.books", "generation": {"graphql-allow-null": False}}
    schema = configured({"operations": [block]})
    assert "null" not in sent(schema, "Query.books")
    assert "null" in sent(schema, "Mutation.addBook")
