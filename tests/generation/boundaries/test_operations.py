"""Boundary cases of whole operations: those of the recorded examples, each once, every cell of input coverage."""

from collections import defaultdict
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from checker.core.case import NOT_SET, Case
from checker.core.errors import Unsatisfiable
from checker.core.meta import GenerationMode, Origin
from checker.core.operation import Location, Operation, Parameter
from checker.core.schema import Direction
from checker.generation.boundaries.cases import BoundaryCase
from checker.generation.boundaries.operations import Coverage, OperationEdges
from checker.generation.boundaries.values import Scenario
from checker.generation.program import GenerationSettings, compile_operation
from checker.generation.sources.choices import RandomSource
from checker.validation.compiled import compile_schema
from checker.workers.observers.signals import InputCells
from tests.measuring.corpora import operations

from ..making import PlainOperation, body_of, drawer, parameter_of, schema_of

SMOKE = Path(__file__).parent.parent.parent / "data" / "smoke"
FILES = sorted(path for path in SMOKE.iterdir() if path.suffix != ".md")
INTEGER = {"type": "integer"}


def operation_of(*parameters: Parameter, body: Any = None, required: bool = True) -> Operation:
    bodies = () if body is None else (body_of(schema_of(body)),)
    return PlainOperation(tuple(parameters), bodies, required and body is not None)


def listed(operation: Operation, **options: Any) -> list[BoundaryCase]:
    return list(OperationEdges(operation, GenerationSettings(), Coverage(**options)).cases())


def described(cases: list[BoundaryCase], location: Location) -> list[tuple[Any, str]]:
    return [(case.parts.containers.get(location), case.description) for case in cases]


MULTI = operation_of(
    parameter_of(INTEGER, name="a"),
    parameter_of({"type": "string"}, name="b", required=False),
    parameter_of({"type": "boolean"}, name="c", required=False),
)
MULTI_RECORDED = [
    # `c` has a closed set of values; a value of `b` would be invented.
    ({"a": 0, "c": True}, "Default positive test case"),
    ({"a": 0, "b": "0", "c": True}, "Valid string"),
    # An empty text is an edge of its own: in all cases it would have servers refuse all of them.
    ({"a": 0, "b": "", "c": True}, "Empty string"),
    ({"a": 0, "c": False}, "Valid boolean value"),
    ({"a": 0, "c": "AAA"}, "Incorrect type"),
    ({"a": 0, "c": 2}, "Incorrect type"),
    ({"a": "AAA", "c": True}, "Incorrect type"),
    ({"a": False, "c": True}, "Incorrect type"),
    ({"c": True}, "Missing `a` at query"),
    ({"a": 0}, "Smallest request"),
    ({"a": "AAA"}, "a: Incorrect type"),
    ({"a": 0, "b": "0"}, "All required properties and optional 'b'"),
    ({"a": 0, "c": True, "x-checker-unknown-property": "42"}, "Object with unexpected properties"),
]


@pytest.mark.parametrize("recorded", MULTI_RECORDED, ids=str)
def test_what_was_recorded_of_a_query_is_there(recorded: tuple[Any, str]) -> None:
    assert recorded in described(listed(MULTI), Location.QUERY)


def test_a_path_parameter_is_never_missing() -> None:
    found = listed(operation_of(parameter_of(INTEGER, Location.PATH, "id")))
    assert all("id" in case.parts.containers[Location.PATH] for case in found)
    assert Scenario.MISSING_PARAMETER not in {case.scenario for case in found}


def test_a_header_that_every_request_has_is_never_missing() -> None:
    text = {"type": "string"}
    agent = parameter_of(text, Location.HEADER, "User-Agent")
    found = listed(operation_of(agent, parameter_of(text, Location.HEADER, "X-A")))
    missing = [case.parameter for case in found if case.scenario is Scenario.MISSING_PARAMETER]
    assert missing == ["X-A"]


def test_a_text_that_reads_as_valid_is_no_negative() -> None:
    found = listed(operation_of(parameter_of({"type": "string"})), mode=GenerationMode.NEGATIVE)
    values = {case.parts.containers[Location.QUERY].get("q") for case in found}
    # Nothing but to leave it out: every text is a string.
    assert values == {"0", None}


def test_an_operation_with_a_body_is_told_by_its_bodies() -> None:
    found = listed(operation_of(parameter_of(INTEGER), body={"type": "string", "maxLength": 3}))
    # What is required is all that there is: the smallest request is the usual one.
    assert found[0].description == "Smallest request"
    assert (found[1].description, found[1].location) == ("Maximum length string", Location.BODY)
    texts = {case.description for case in found}
    assert {
        "Maximum length string",
        "String larger than maxLength",
        "Missing request body",
        "Unsupported Content-Type: text/plain",
        "Malformed Content-Type: multipart/form-data without boundary",
        "Missing `q` at query",
    } <= texts
    assert "Default positive test case" not in texts


def test_methods_that_are_not_declared_are_tried() -> None:
    found = listed(operation_of(parameter_of(INTEGER)), unexpected_methods=("PUT", "TRACE"))
    tried = [case for case in found if case.method is not None]
    assert [(case.method, case.description) for case in tried] == [
        ("PUT", "Unspecified HTTP method: PUT"),
        ("TRACE", "Unspecified HTTP method: TRACE"),
    ]


def test_a_parameter_is_sent_twice_when_asked_for() -> None:
    operation = operation_of(parameter_of(INTEGER))
    assert Scenario.DUPLICATE_PARAMETER not in {case.scenario for case in listed(operation)}
    (twice,) = [
        case for case in listed(operation, duplicates_query=True) if case.scenario is Scenario.DUPLICATE_PARAMETER
    ]
    assert twice.parts.containers[Location.QUERY] == {"q": [0, 0]}
    assert twice.description == "Duplicate `q` query parameter"


def test_one_of_each_number_of_optional_parameters() -> None:
    many = [parameter_of(INTEGER, name=f"p{index}", required=False) for index in range(6)]
    found = listed(operation_of(*many), mode=GenerationMode.POSITIVE)
    sizes = {len(case.parts.containers.get(Location.QUERY, {})) for case in found}
    assert sizes == set(range(7))


def test_without_a_value_for_what_is_required_there_are_no_cases() -> None:
    impossible = parameter_of({"type": "integer", "minimum": 5, "maximum": 2})
    edges = OperationEdges(operation_of(impossible), GenerationSettings())
    assert list(edges.cases()) == []
    assert list(edges.problems) == [impossible.pointer]


def test_an_impossible_required_body_is_left_out() -> None:
    operation = operation_of(parameter_of(INTEGER), body={"type": "integer", "minimum": 5, "maximum": 2})
    (only,) = listed(operation)
    assert (only.description, only.parts.body) == ("Missing request body", NOT_SET)


def test_cases_of_one_mode_are_of_that_mode() -> None:
    for mode in GenerationMode:
        found = listed(MULTI, mode=mode)
        assert found
        assert {case.mode for case in found} == {mode}


def test_more_cases_than_wanted_are_reported() -> None:
    edges = OperationEdges(MULTI, GenerationSettings(), Coverage(most=5))
    assert len(list(edges.cases())) == 5
    assert edges.is_cut


def test_a_case_tells_where_it_comes_from() -> None:
    operation = operation_of(parameter_of({"type": "integer", "maximum": 3, "example": 2}), body=INTEGER)
    found = listed(operation)
    (large,) = [case for case in found if case.scenario is Scenario.TOO_LARGE]
    case = large.case(operation, "c")
    assert case.meta is not None
    assert case.meta.phase.name == "coverage"
    assert case.meta.phase.data == {
        "scenario": "value_above_maximum",
        "description": "Value greater than maximum",
        "location": "#/s/maximum",
        "parameter": "q",
        "parameter_location": "query",
    }
    violation = case.meta.components[Location.QUERY].violation
    assert violation is not None
    assert (violation.keyword, violation.was, violation.became) == ("maximum", 3, 4)
    assert case.meta.components[Location.BODY].mode is GenerationMode.POSITIVE


def test_an_example_is_the_usual_value_and_says_so() -> None:
    found = listed(operation_of(parameter_of({"type": "integer", "default": 7, "example": 2})))
    assert found[0].parts.containers[Location.QUERY] == {"q": 2}
    (default,) = [one for one in found if one.scenario is Scenario.DEFAULT]
    assert default.origin is Origin.EXAMPLE


def test_changing_a_case_changes_no_other_one() -> None:
    operation = operation_of(body={"type": "object", "properties": {"a": {"type": "object"}}})
    found = listed(operation)
    for case in found:
        body = case.case(operation, "c").body
        if isinstance(body, dict):
            body["changed"] = True
            if isinstance(body.get("a"), dict):
                body["a"]["changed"] = True
    assert "changed" not in repr(found)


def _cells(cells: InputCells, case: Case) -> set[tuple[str | None, str, str]]:
    """Cells of a case; bodies of different media types are told apart."""
    found = cells.of(case)
    return {
        (f"body {case.media_type}" if where == Location.BODY.container else where, name, cell)
        for where, name, cell in found
    }


def test_properties_that_an_example_lacks_have_their_edges() -> None:
    raw = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "integer", "minimum": 7}},
        "example": {"a": "x"},
    }
    found = [case.case(operation_of(body=raw), "c").body for case in listed(operation_of(body=raw))]
    assert {"a": "x", "b": 7} in found
    assert {"a": "x", "b": 8} in found


def test_a_body_with_endless_edges_leaves_room_for_parameters() -> None:
    raw = {"type": "object", "properties": {f"p{n}": {"type": "integer"} for n in range(40)}}
    operation = operation_of(parameter_of({"type": "integer", "minimum": 5}), body=raw)
    found = listed(operation, most=60)
    assert len(found) <= 60
    assert any(case.case(operation, "c").query == {"q": 4} for case in found)


def test_cells_look_through_what_only_adds_words() -> None:
    raw = {"allOf": [{"type": "integer", "minimum": 1}, {"description": "how many"}]}
    operation = operation_of(parameter_of(raw))
    values = {
        case.case(operation, "c").query["q"]: cell
        for case in listed(operation)
        for _, name, cell in InputCells(operation).of(case.case(operation, "c"))
        if name == "q" and type(case.case(operation, "c").query.get("q")) is int
    }
    assert values[0] == "below min"
    assert values[1] == "min"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@pytest.mark.thorough_beyond(1)
def test_every_cell_that_chance_reaches_is_reached(path: Path) -> None:
    source = RandomSource()
    for operation in operations(path):
        try:
            draw = drawer(compile_operation(operation, GenerationSettings()))
        except Unsatisfiable:
            continue
        cells = InputCells(operation)
        wanted: set[Any] = set()
        for seed in range(40):
            source.reset(seed)
            wanted |= _cells(cells, draw(source))
        edges = OperationEdges(operation, GenerationSettings(), Coverage(GenerationMode.POSITIVE))
        reached: set[Any] = set()
        for boundary in edges.cases():
            reached |= _cells(cells, boundary.case(operation, "c"))
        assert wanted - reached == set(), operation.label


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@pytest.mark.thorough_beyond(1)
def test_nearly_every_cell_of_invalid_data_is_reached(path: Path) -> None:
    source = RandomSource()
    wanted, missed = 0, []
    for operation in list(operations(path))[:8]:
        try:
            negative = GenerationSettings(mode=GenerationMode.NEGATIVE)
            draw = drawer(compile_operation(operation, negative))
        except Unsatisfiable:
            continue
        cells = InputCells(operation)
        found: set[Any] = set()
        for seed in range(20):
            source.reset(seed)
            found |= _cells(cells, draw(source))
        wanted += len(found)
        for boundary in OperationEdges(operation, GenerationSettings()).cases():
            found -= _cells(cells, boundary.case(operation, "c"))
        missed += list(found)
    # A random wrong type is now and then wrong in one more way.
    assert len(missed) <= 1 + wanted // 50, missed


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_each_bound_of_real_parameters_is_exceeded(path: Path) -> None:
    for operation in operations(path):
        if not any(_has_bounds(parameter) for parameter in operation.parameters):
            continue
        found: dict[str, set[str]] = defaultdict(set)
        for case in listed(operation, mode=GenerationMode.NEGATIVE):
            found[case.parameter or ""].add(str(case.pointer))
        for parameter in operation.parameters:
            for keyword in _has_bounds(parameter):
                pointer = f"{parameter.schema.pointer}/{keyword}"
                assert pointer in found[parameter.name], operation.label


def _has_bounds(parameter: Parameter) -> list[str]:
    """Bounds of an integer that is no alternative of a text."""
    raw = parameter.schema.raw
    if not isinstance(raw, dict) or raw.get("type") != "integer":
        return []
    return [keyword for keyword in ("minimum", "maximum") if keyword in raw]


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("path", FILES[::4], ids=lambda path: path.name)
def test_the_cases_of_an_operation_do_not_depend_on_the_others(path: Path) -> None:
    some = list(operations(path))[:10]
    forwards = list(map(_first_keys, some))
    backwards = list(map(_first_keys, reversed(some)))
    assert forwards == backwards[::-1]


def _first_keys(operation: Operation) -> list[Any]:
    edges = OperationEdges(operation, GenerationSettings())
    return [case.key for case in islice(edges.cases(), 60)]


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_positive_cases_of_real_operations_are_valid_in_every_part(path: Path) -> None:
    for operation in list(operations(path))[:12]:
        checks: dict[Any, Any] = {one.place: str.isprintable for needed in operation.security for one in needed.schemes}
        checks |= {
            (item.location, item.name): compile_schema(item.schema, Direction.REQUEST).is_valid
            for item in operation.parameters
        }
        for case in listed(operation, mode=GenerationMode.POSITIVE):
            for location, container in case.parts.containers.items():
                for name, value in container.items():
                    assert checks[location, name](value), (operation.label, name, value)


def test_texts_of_a_request_contain_each_other_and_are_reversed() -> None:
    text = {"type": "string", "maxLength": 40}
    word = {"type": "object", "required": ["word"], "properties": {"word": text}}
    found = listed(operation_of(parameter_of(text, name="whole"), body=word))
    related = [one.parts for one in found if one.scenario is Scenario.RELATED_TEXTS]
    pairs = [(parts.containers[Location.QUERY]["whole"], parts.body["word"]) for parts in related]
    assert pairs == [("abcabc", "abc"), ("abc", "abcabc"), ("abc", "cba")]


def test_texts_that_are_listed_short_or_formatted_are_related_to_none() -> None:
    listed_text, uri, short = ({"enum": ["x"]}, {"format": "uri"}, {"maxLength": 2})
    for other in (listed_text, uri):
        operation = operation_of(
            parameter_of({"type": "string"}, name="a"), parameter_of({"type": "string"} | other, name="b")
        )
        assert Scenario.RELATED_TEXTS not in {one.scenario for one in listed(operation)}
    operation = operation_of(
        parameter_of({"type": "string"}, name="a"), parameter_of({"type": "string"} | short, name="b")
    )
    related = [
        one.parts.containers[Location.QUERY] for one in listed(operation) if one.scenario is Scenario.RELATED_TEXTS
    ]
    assert all(len(query["b"]) <= 2 for query in related)
