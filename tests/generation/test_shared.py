"""Operations share equal parameters: their cases are the same as without, whichever operation comes first."""

import gc
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from checker.core.constraints import Constraint
from checker.core.errors import CheckerError
from checker.core.operation import Location, Operation, Parameter
from checker.core.schema import Dialect, Schema
from checker.generation.program import GenerationSettings, compile_operation
from checker.generation.sources.context import Shared
from tests.measuring.corpora import operations

from .making import PlainDocument, PlainOperation, cases, parts
from .negation.test_parts import BOTH, wrong_part

SMOKE = Path(__file__).parents[1] / "data" / "smoke"
FILES = sorted(path for path in SMOKE.iterdir() if path.suffix != ".md")


def drawn(found: list[Operation], settings: GenerationSettings) -> dict[Operation, Any]:
    shown: dict[Operation, Any] = {}
    for operation in found:
        try:
            program = compile_operation(operation, settings)
            made = cases(program, 12)
        except CheckerError as error:
            shown[operation] = str(error)
        else:
            shown[operation] = [(parts(case), case.meta and case.meta.components) for case in made], program.opaque
    return shown


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("path", FILES[::3], ids=lambda path: path.name)
def test_shared_parameters_change_no_case(path: Path) -> None:
    found = list(operations(path))[:40]
    alone = drawn(found, BOTH)
    assert repr(drawn(found, replace(BOTH, shared=Shared()))) == repr(alone)
    backwards = drawn(found[::-1], replace(BOTH, shared=Shared()))
    assert all(repr(backwards[operation]) == repr(alone[operation]) for operation in found)


RAW = {"type": "integer", "minimum": 3, "maximum": 9}


def pair(raw: Any = RAW) -> dict[str, Operation]:
    """Two operations of one document, each with a parameter of its own, which are equal."""
    document = PlainDocument({name: {"schema": raw} for name in "ab"})
    schemas = {name: Schema(raw, f"#/{name}/schema", Dialect.OPENAPI31, document) for name in "ab"}
    return {
        name: PlainOperation((Parameter("q", Location.QUERY, True, schema, "form", True, pointer=f"#/{name}"),))
        for name, schema in schemas.items()
    }


def test_violations_point_into_their_own_operation() -> None:
    shared, programs = Shared(), []
    for name, operation in pair().items():
        program = compile_operation(operation, replace(BOTH, shared=shared))
        programs.append(program)
        wrong = [case for case in cases(program, 60) if case.meta and case.meta.mode.is_negative]
        assert wrong
        assert {wrong_part(case)[1].pointer.split("/")[1] for case in wrong} == {name}
    assert len(shared.parts) == 1


def test_parameters_last_as_long_as_programs_that_use_them() -> None:
    """A worker has room for a part of the programs of a large description."""
    shared = Shared()
    programs = [compile_operation(one, replace(BOTH, shared=shared)) for one in pair().values()]
    programs.pop()
    gc.collect()
    assert len(shared.parts) == 1
    programs.pop()
    gc.collect()
    assert not shared.parts


def test_each_program_counts_the_memory_of_its_parameters() -> None:
    raw = {"type": "array", "items": {"type": "object", "properties": {name: {"type": "string"} for name in "abcdef"}}}
    shared, sizes = Shared(), []
    for operation in pair(raw).values():
        program = compile_operation(operation, replace(BOTH, shared=shared))
        sizes.append(program.size_bytes)
    small = compile_operation(pair()["a"], BOTH).size_bytes
    assert sizes[0] == sizes[1] > 4 * small


def test_demands_on_one_operation_are_not_shared() -> None:
    shared = Shared()
    demand = Constraint("query", ("q",), "enum", "[5]")
    operations_of_pair = pair()
    for name, learned, wanted in (("a", (demand,), {5}), ("b", (), set(range(3, 10)))):
        program = compile_operation(
            operations_of_pair[name], replace(GenerationSettings(), shared=shared, learned=learned)
        )
        assert {case.query["q"] for case in cases(program, 60)} == wanted


def test_wrong_values_of_one_operation_say_nothing_of_the_next() -> None:
    # Only wrong values have so many dependents, and are found by chance.
    raw = {"not": {"type": "object", "dependentRequired": {one: [one * 2] for one in "abcd"}}}
    shared = Shared()
    for operation in pair(raw).values():
        program = compile_operation(operation, replace(BOTH, shared=shared))
        cases(program, 60)
        assert program.opaque == {}
