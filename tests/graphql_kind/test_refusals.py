"""What servers say of scalars that only they know is respected by later cases, and dropped where it does not help."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from graphql import GraphQLError, build_schema, graphql_sync

from checker.core.case import Case
from checker.core.meta import PhaseInfo
from checker.core.operation import Label
from checker.core.request import BaseUrl
from checker.core.response import Response
from checker.corpus.records import DemandHeard
from checker.generation.settings import GenerationSettings
from checker.phases.case_factory import CaseFactory, GenerationRules
from checker.refusals.reading import demands_in
from checker.transport.prepare import RequestMaker
from checker.workers.observers.demands import DemandLearner
from tests.graphql_kind.making import opened, operations

SDL = """
scalar Odd
input In { x: Odd!  all: [Odd!] }
type Query { a(value: Odd!, note: String): Int  b(in: In!): Int }
"""
COUNT = 60
SAID = [
    # (server, argument, what it answers, what it demands)
    ("graphql-js", ("value",), {"message": 'Variable "$value" got invalid value 5; Expected type "Odd". Must be an ISO date.'}, {"format": "date"}),
    ("Apollo", ("in", "x"), {"message": 'Variable "$in" got invalid value "z" at "in.x"; Odd cannot represent value: expected UUID', "extensions": {"code": "BAD_USER_INPUT"}}, {"format": "uuid"}),
    ("graphql-core", ("in", "all", "*"), {"message": "Variable '$in' got invalid value 7 at 'in.all[1]'; Odd cannot represent non-integer value: 7.5"}, {"type": "integer"}),
    ("graphql-core 3.3", ("in", "all", "*"), {"message": "Variable '$in' has invalid value at .all[1]: Expected value of type 'Odd', but encountered error 'must match ^[A-Z]{3}$'; found: 'z'."}, {"pattern": "^[A-Z]{3}$"}),
    ("graphql-core 3.3, a value of its own", ("value",), {"message": "Variable '$value' has invalid value: Expected value of type 'Odd', but encountered error 'expected UUID'; found: 5."}, {"format": "uuid"}),
    ("graphql-core 3.3, a literal", ("value",), {"message": "Expected value of type 'Odd', but encountered error 'must match ^[A-Z]{3}$'; found: \"3\".", "locations": [{"line": 1, "column": 18}]}, {"pattern": "^[A-Z]{3}$"}),
    ("a literal", ("value",), {"message": "Expected value of type 'Odd!', found 3; must match ^[A-Z]{3}$", "locations": [{"line": 1, "column": 18}]}, {"pattern": "^[A-Z]{3}$"}),
    ("graphql-java", ("value",), {"message": "Validation error (WrongType@[a]) : argument 'value' with value 'StringValue{value='z'}' is not a valid 'Odd' - Expected ISO 8601 date-time"}, {"format": "date-time"}),
    ("gqlgen", ("in", "x"), {"message": "must be a valid email", "path": ["variable", "in", "x"]}, {"format": "email"}),
    ("Hasura", ("value",), {"message": "must be one of 'a', 'b'", "extensions": {"path": "$.selectionSet.a.args.value", "code": "parse-failed"}}, {"enum": ["a", "b"]}),
    ("Absinthe", ("value",), {"message": 'Argument "value" has invalid value "z".\nExpected a string'}, {"type": "string"}),
    ("Rails", ("in", "x"), {"message": "Variable $in of type In! was provided invalid value for x (must be at least 10)", "extensions": {"problems": [{"path": ["x"], "explanation": "must be at least 10"}]}}, {"minimum": 10}),
    ("a list as a whole", ("in", "all", "*"), {"message": 'Argument "in.all" has invalid value; must be a UUID'}, {"format": "uuid"}),
    ("no place", ("value",), {"message": "Odd cannot represent non string value"}, {"type": "string"}),
]  # fmt: skip


def answered(*errors: dict[str, Any], case: Case | None = None) -> Response:
    content = json.dumps({"errors": list(errors), "data": None}).encode()
    maker = RequestMaker(BaseUrl.from_url("http://localhost/graphql"), (), version="")
    request = None if case is None else maker.make(case)
    return Response(200, [("Content-Type", "application/json")], content, request=request)


@pytest.mark.parametrize(("server", "place", "error", "demands"), SAID)
def test_each_server_says_what_it_wants(
    server: str, place: tuple[str, ...], error: dict[str, Any], demands: dict[str, Any]
) -> None:
    first, second = operations(opened(SDL))
    operation = second if place[0] == "in" else first
    given: dict[str, Any] = {"in": {"x": "z"}} if place[0] == "in" else {"value": 3}
    case = operation.Case(body={"arguments": given, "literals": True}, media_type="application/json")
    found = demands_in(case, answered(error, case=case))
    assert {one.path for one in found} == {("arguments", *place)}, server
    said = {one.keyword: one.given for one in found}
    assert demands.items() <= said.items()
    assert said.keys() <= {*demands, "type"}


@pytest.mark.parametrize(
    "error",
    [
        {"message": "boom", "path": ["a"]},
        {"message": 'Cannot query field "x" on type "Query".', "path": 5, "locations": 3},
        {"message": 'Variable "$b_value" got invalid value 5; expected UUID', "extensions": []},
        {"message": 5},
    ],
)  # fmt: skip
def test_what_nobody_understands_demands_nothing(error: dict[str, Any]) -> None:
    operation = next(operations(opened("type Query { a(value: Int): Int }")))
    case = operation.Case(body={"arguments": {"value": 3}}, media_type="application/json")
    assert demands_in(case, answered(error, case=case)) == []


Reader = Callable[[Any], Any]


def iso_date(value: Any) -> Any:
    if not isinstance(value, str) or not re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        raise GraphQLError("expected ISO date")
    return value


def code(value: Any) -> Any:
    if not isinstance(value, str) or not re.fullmatch("[A-Z]{3}-[0-9]{2}", value):
        raise ValueError("must match ^[A-Z]{3}-[0-9]{2}$")
    return value


def number(value: Any) -> Any:
    if not isinstance(value, int) or isinstance(value, bool):
        raise GraphQLError(f"Odd cannot represent non-integer value: {value!r}")
    return value


def liar(value: Any) -> Any:
    if value is not None:
        raise ValueError("must be a valid UUID")
    return value


@dataclass
class Server:
    """A worker and graphql-core with a scalar of its own, without the network between them."""

    read: Reader
    learner: DemandLearner = field(default_factory=DemandLearner)
    heard: list[DemandHeard] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.schema = build_schema(SDL)
        for name in ("parse_value", "coerce_input_value"):
            setattr(self.schema.type_map["Odd"], name, self.read)
        self.operations = {one.label: one for one in operations(opened(SDL))}
        rules = GenerationRules.alike(GenerationSettings())
        self.factory = CaseFactory(self.operations, rules)
        self.factory.learner = self.learner
        self.maker = RequestMaker(BaseUrl.from_url("http://localhost/graphql"), (), version="")

    def accepted(self, label: str, phase: str) -> int:
        """How many of the cases of a phase are."""
        self.learner.begin(phase)
        count = 0
        for index in range(COUNT):
            made = self.factory.make(Label(label), 7, index, PhaseInfo(phase))
            request = self.maker.make(made.case)
            asked = json.loads(request.body or b"")
            done = graphql_sync(self.schema, asked["query"], {"a": 1, "b": 1}, variable_values=asked["variables"])
            content = json.dumps(done.formatted).encode()
            answer = Response(200, [("Content-Type", "application/json")], content, request=request)
            found = self.learner.observe(made, answer, phase, index)
            self.heard += [one for one in found if isinstance(one, DemandHeard)]
            count += not done.errors
        return count  # fmt: skip


@pytest.mark.parametrize("label", ["Query.a", "Query.b"])
@pytest.mark.parametrize("read", [iso_date, code, number])
@pytest.mark.thorough
def test_later_cases_respect_what_a_scalar_is_said_to_be(read: Reader, label: str) -> None:
    server = Server(read)
    before, after = server.accepted(label, "coverage"), server.accepted(label, "fuzzing")
    assert after >= 0.9 * COUNT > 2 * before, server.heard


def test_what_does_not_help_is_dropped() -> None:
    server = Server(liar)
    for phase in ("examples", "coverage", "fuzzing"):
        server.accepted("Query.a", phase)
    server.learner.begin("stateful")
    refuted = {(one.demand.keyword, one.demand.value) for one in server.heard if one.is_refuted}
    assert ("format", '"uuid"') in refuted
    made = server.factory.make(Label("Query.a"), 3, 1, PhaseInfo("stateful"))
    assert not made.learned


NESTED = """
type Person { name: String  friend: Friend }
type Friend { name: String  pet: Pet  house: House }
union Pet = Cat
type Cat { age: Int  house: House }
type House { town: String }
type Query { me: Person }
"""


@pytest.mark.parametrize(
    ("text", "selection", "allowed"),
    [
        ("'q' exceeds maximum operation depth of 3", ["friend.pet.[Cat].age"], ["name", "friend", "friend.name"]),
        *(
            (text, ["friend.pet.[Cat].age"], ["name", "friend", "friend.name"])
            for text in (
                "depth 7 exceeds maximum depth of 3 at line 2 column 1",
                "max depth is 3, but 1 operation has 7 [2:1]",
                "Depth of 7, only 3 allowed (line: 1, column: 2)",
                "The depth limit: 7 > 3",
            )
        ),
        ("Query is nested too deep", ["friend.house"], ["name", "friend", "friend.name"]),
        ("Query is nested too deep", ["friend.name", "name"], ["name"]),
        ("Query is nested too deep", ["name"], None),
        ("limit must be at most 5", ["friend.name", "name"], None),
    ],
)
def test_a_limit_of_depth_is_a_demand_on_the_selection(
    text: str, selection: list[str], allowed: list[str] | None
) -> None:
    (operation,) = operations(opened(NESTED))
    case = operation.Case(body={"arguments": {}, "selection": selection}, media_type="application/json")
    found = [one for one in demands_in(case, answered({"message": text})) if one.path == ("selection", "*")]
    if allowed is None:
        assert found == []
    else:
        (one,) = found
        listed = {name for name in one.given if not name.endswith("*")}
        assert (one.keyword, listed) == ("enum", set(allowed))


@pytest.mark.parametrize(
    ("text", "count", "most"),
    [
        ("The query exceeds the maximum cost of 100", 4, [2]),
        ("Query complexity 7 exceeds 5", 1, []),
        ("too many", 4, []),
        ("too many fields", 4, [2]),
        ("too many fields in input", 4, []),
        ("too many input fields", 4, []),
    ],
)
def test_a_limit_of_cost_is_a_demand_on_the_length_of_the_selection(text: str, count: int, most: list[int]) -> None:
    (operation,) = operations(opened(NESTED))
    case = operation.Case(body={"arguments": {}, "selection": ["name"] * count}, media_type="application/json")
    found = demands_in(case, answered({"message": text}))
    assert [one.given for one in found if one.keyword == "maxItems"] == most
