"""A server without a library's care: it breaks its own schema without noticing, and takes what it should refuse."""

import json
from typing import Any

from graphql import build_schema, execute, parse, validate
from graphql.execution.values import get_variable_values

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply

PLANTED = {
    ("Query.kind", "response_schema_conformance"): "a value that is not in the enum",
    ("Query.names", "response_schema_conformance"): "one value for a list",
    ("Query.count", "response_schema_conformance"): "a text for a number",
    ("Query.thing", "response_schema_conformance"): "a field that is missing",
    ("Query.owner", "response_schema_conformance"): "null where it cannot be",
    ("Query.open", "negative_data_rejection"): "whatever is sent",
    ("Query.closed", "positive_data_acceptance"): "a number above 9",
    ("Query.crash", "not_a_server_error"): "status 500",
}
SDL = """
enum Kind { A B }
type Thing { id: ID!  label: String }
type Query {
  kind: Kind
  names: [String!]!
  count: Int!
  thing: Thing
  again(id: ID!): Thing
  owner: Thing!
  open(number: Int!): Int
  closed(number: Int!): Int
  crash(deep: Boolean = false): Int
}
"""
_SCHEMA = build_schema(SDL)
_ROOT: dict[str, Any] = {
    "kind": "A", "names": ["a"], "count": 1, "thing": {"id": "1", "label": "x"}, "owner": {"id": "1"},
    "again": {"id": "1", "label": "x"}, "open": 1, "closed": 1, "crash": 1,
}  # fmt: skip
_SPOILT: dict[str, Any] = {"kind": "C", "names": "a", "count": "1", "thing": {"id": "1"}, "owner": None}


class Careless:
    """Answers by the book, but for what is planted."""

    def __init__(self, *, planted: bool) -> None:
        self.planted = planted

    def answer(self, request: Request) -> Reply:
        try:
            asked = json.loads(request.body)
            query, variables = asked["query"], asked.get("variables") or {}
            document = parse(query)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with it
            return json_reply({"errors": [{"message": f"Syntax Error: {error}"}]}, 400)
        if self.planted and "{ open" in query:
            return json_reply({"data": {"open": 1}})
        wrong = validate(_SCHEMA, document)
        operation: Any = document.definitions[0]
        given = get_variable_values(_SCHEMA, operation.variable_definitions or (), variables)
        if not wrong and isinstance(given, list):
            wrong = given
        if wrong:
            return json_reply({"errors": [error.formatted for error in wrong]})
        return self._answered(query, variables, document)

    def _answered(self, query: str, variables: dict[str, Any], document: Any) -> Reply:
        if self.planted and "{ crash" in query:
            return json_reply({"errors": [{"message": "boom"}]}, 500)
        if self.planted and "{ closed" in query and variables.get("number", 0) > 9:
            return json_reply({"errors": [{"message": 'Variable "$number" got invalid value'}]})
        done = execute(_SCHEMA, document, _ROOT, variable_values=variables)
        assert not hasattr(done, "__await__")
        data = dict(done.data or {})
        if self.planted:
            data = {key: _SPOILT.get(key, value) for key, value in data.items()}
        return json_reply({"data": data})
