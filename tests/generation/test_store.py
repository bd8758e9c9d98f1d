"""Operations of one document share what they read of its schemas, and nothing of that can be seen in their cases."""

from collections import Counter
from typing import Any

import pytest

from checker.core.meta import GenerationMode
from checker.core.operation import Location, Parameter
from checker.core.schema import Dialect, Direction, Schema
from checker.generation.normalization import canonical
from checker.generation.normalization.canonical import Canon
from checker.generation.normalization.forms import Facet, made
from checker.generation.program import GenerationSettings, OperationProgram, compile_operation
from checker.generation.sources.context import Budget

from .making import PlainOperation, body_of, cases, schema_of

KINDS = 60


def wide() -> Schema:
    """A body of many kinds, with something beside them that can be broken."""
    members = {
        f"M{index}": {
            "type": "object",
            "required": ["kind"],
            "properties": {
                "kind": {"const": f"k{index}"},
                f"a{index}": {"type": "string", "maxLength": 9},
                "inner": {"$ref": "#/components/schemas/Wide"},
            },
        }
        for index in range(KINDS)
    }
    body = {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string", "minLength": 2}, "size": {"type": "integer"}},
        "anyOf": [{"$ref": f"#/components/schemas/{name}"} for name in members],
    }
    return schema_of({"$ref": "#/components/schemas/Wide"}, components={"Wide": body, **members})


def compiled(schema: Schema, mode: GenerationMode) -> tuple[OperationProgram, Budget]:
    operation, budget = PlainOperation((), (body_of(schema),)), Budget()
    settings = GenerationSettings(mode=mode)
    return compile_operation(operation, settings, budget=budget), budget


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Pointers of the conjunctions that were read."""
    found: list[str] = []
    real = Canon._canonical

    def noted(self: Canon, conjunction: tuple[Facet, ...]) -> Any:
        found.append(conjunction[0].pointer if conjunction else "#")
        return real(self, conjunction)

    monkeypatch.setattr(Canon, "_canonical", noted)
    return found


@pytest.mark.parametrize("mode", GenerationMode)
def test_the_second_operation_of_a_schema_reads_nothing(mode: GenerationMode, read: list[str]) -> None:
    schema, counts = wide(), []
    for _ in range(3):
        program, _ = compiled(schema, mode)
        cases(program, 40)
        counts.append(len(read))
        read.clear()
    assert counts[0] > KINDS
    assert counts[1:] == [0, 0]


@pytest.mark.parametrize("mode", GenerationMode)
def test_what_is_shared_changes_neither_cases_nor_work(mode: GenerationMode) -> None:
    schema = wide()
    alone, budget = compiled(wide(), mode)
    wanted = [(case.body, budget.steps) for case in cases(alone, 40)]
    for _ in range(3):
        program, budget = compiled(schema, mode)
        assert [(case.body, budget.steps) for case in cases(program, 40)] == wanted


def test_what_schemas_say_is_looked_at_twice_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the operation is compiled and when it draws, although each alternative stands beside the inverses of all others."""
    looked: list[int] = []
    real = canonical._refers

    def noted(raw: Any) -> bool:
        looked.append(id(raw))
        return real(raw)

    monkeypatch.setattr(canonical, "_refers", noted)
    schema = schema_of(_alternatives(5))
    program, _ = compiled(schema, GenerationMode.NEGATIVE)
    cases(program, 40)
    assert len(set(looked)) > 2**5
    assert max(Counter(looked).values()) <= 2


def _alternatives(depth: int, place: int = 1) -> dict[str, Any]:
    """Either of two alternatives, which are alternatives again."""
    if not depth:
        return {"type": "object", "properties": {f"p{place}": {"type": "integer"}}}
    return {"oneOf": [_alternatives(depth - 1, 2 * place + side) for side in (0, 1)]}


def test_names_of_what_is_made_are_not_trusted() -> None:
    schema = schema_of({})
    place = Facet(schema.raw, schema.pointer)
    for kind in ("string", "integer", "string", "boolean"):
        canon = Canon(schema.document, Dialect.OPENAPI31, Direction.REQUEST)
        one = made(place, "same name", {"type": kind})
        assert canon.canonical((place, one)).types == {kind}


def test_neighbours_of_a_shared_parameter_are_those_of_its_operation() -> None:
    raw = {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1}
    schema = schema_of(raw)
    for others in (("a", "b"), ("c",), ("a",), ()):
        named = [Parameter(name, Location.QUERY, False, schema_of({"type": "string"}), "form", True) for name in others]
        alone, program = (
            compile_operation(
                PlainOperation((Parameter("filter", Location.QUERY, True, one, "form", True), *named)),
                GenerationSettings(),
            )
            for one in (schema_of(raw), schema)
        )
        assert [case.query for case in cases(program, 60)] == [case.query for case in cases(alone, 60)]  # fmt: skip
