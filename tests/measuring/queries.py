"""Cases of root fields against graphql-core: is a valid one valid, and does a wrong one break what it says, and nothing else?"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from graphql import DocumentNode, GraphQLError, GraphQLSchema, NameNode, OperationDefinitionNode, parse, validate
from graphql.execution.values import get_variable_values

from checker.core.case import Case
from checker.core.errors import CheckerError, NothingToBreak
from checker.core.meta import GenerationMode, PhaseInfo, Violation
from checker.core.registry import FORMATS
from checker.core.request import BaseUrl, Location, WireRequest
from checker.generation.program import OperationProgram
from checker.generation.settings import GenerationSettings
from checker.generation.sources.choices import RandomSource
from checker.graphql.schema import GraphQLDescription, GraphQLOperation
from checker.kinds.sources import DIRECT, FileSource
from checker.kinds.table import open_description
from checker.transport.prepare import RequestMaker

_MAKER: Final = RequestMaker(BaseUrl.from_url("http://localhost/graphql"), (), version="")
_MOST_ERRORS: Final = 20
_WRONG_VALUE: Final = r"cannot represent|Expected (value of )?type|Expected non-nullable|must not be null|to be None|must be non-null|found null|non-null|does not exist in"
_NO_BODY: Final = "no request"
_RULES: Final = {
    "required": r"is required, but it was not provided|of required type|to include required field|to be provided|"
    + _NO_BODY,
    "additionalProperties": r"Unknown argument|is not defined by type|to include unknown field|Cannot query field",
    "enum": r"Cannot query field|does not exist in|cannot represent|Expected|null",
    "type": _WRONG_VALUE,
    "anyOf": _WRONG_VALUE,
    "minimum": r"non 32-bit|cannot represent",
    "maximum": r"non 32-bit|cannot represent",
    "format": r"cannot represent",
    "pattern": r"cannot represent",
    "minProperties": r"[Ee]xactly one",
    "maxProperties": r"[Ee]xactly one",
}
"""Keyword that a case says it breaks -> what graphql-core says then."""


@dataclass
class Tally:
    """What became of cases."""

    fields: int = 0
    valid: int = 0
    wrong: int = 0
    by_rule: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    """Valid cases that are refused, wrong ones that are taken or break something else, fields without cases."""
    nothing_to_break: Counter[str] = field(default_factory=Counter)


def schemas(folder: Path, names: list[str]) -> Iterator[tuple[str, GraphQLDescription]]:
    """Schemas of a folder, by their names."""
    for path in sorted(folder.iterdir()):
        if not names or any(name in path.name for name in names):
            schema = open_description(FileSource(path), DIRECT)
            assert isinstance(schema, GraphQLDescription)
            yield path.name, schema


class QueryMeasuring:
    """Measures the root fields of one schema."""

    def __init__(self, schema: GraphQLDescription, tally: Tally) -> None:
        self._schema = schema
        self._tally = tally

    def measure(self, operation: GraphQLOperation, count: int) -> None:
        """`count` valid cases and as many wrong ones."""
        self._tally.fields += 1
        for mode in GenerationMode:
            try:
                settings = GenerationSettings(mode=mode, formats=FORMATS)
                program = operation.compile(settings)
            except NothingToBreak as error:
                self._tally.nothing_to_break[str(error)] += 1
                continue
            except CheckerError as error:
                self._fault(operation, mode, f"not made: {error}")
                continue
            made = list(_made(program, count))
            requests = [request for _, request in made]
            schema = self._schema.document.schema
            for (case, request), found in zip(made, complaints(schema, requests), strict=True):
                self._judge(operation, case, f"{request.body!r:.600}", found)

    def _judge(self, operation: GraphQLOperation, case: Case, shown: str, found: list[str]) -> None:
        assert case.meta is not None
        mode, said = case.meta.mode, f"{found} of {shown}"
        if not mode.is_negative:
            self._tally.valid += 1
            if found:
                self._fault(operation, mode, said)
            return
        self._tally.wrong += 1
        violation = case.meta.components[Location.BODY].violation
        if violation is None:
            self._fault(operation, mode, f"names nothing: {said}")
            return
        self._tally.by_rule[violation.keyword] += 1
        if not breaks_what_it_says(violation, found):
            self._fault(operation, mode, f"{violation.keyword} at {violation.pointer}: {said}")

    def _fault(self, operation: GraphQLOperation, mode: GenerationMode, says: str) -> None:
        self._tally.faults.append(f"{operation.label} {mode}: {says}")


def breaks_what_it_says(violation: Violation, found: list[str]) -> bool:
    """Whether one rule is broken, and the one that is named."""
    rule = _RULES.get(violation.keyword)
    return len(found) == 1 and rule is not None and re.search(rule, found[0]) is not None


def complaints(schema: GraphQLSchema, requests: list[WireRequest]) -> list[list[str]]:
    """What graphql-core says of the query and the variables of each request.

    The queries are validated as one document: most of what validation costs is what each document costs.
    """
    found: list[list[str]] = [[] for _ in requests]
    operations: dict[int, tuple[OperationDefinitionNode, Any]] = {}
    for index, request in enumerate(requests):
        if request.body is None:
            found[index].append(_NO_BODY)
            continue
        body: dict[str, Any] = json.loads(request.body)
        try:
            (operation,) = parse(body["query"]).definitions
        except GraphQLError as error:
            found[index].append(error.message)
            continue
        assert isinstance(operation, OperationDefinitionNode)
        members = {key: getattr(operation, key) for key in operation.keys}
        named = OperationDefinitionNode(**{**members, "name": NameNode(value=f"_{index}")})
        operations[index] = named, body["variables"]
    for index, message in _refused(schema, {index: one for index, (one, _) in operations.items()}):
        found[index].append(message)
    for index, (operation, variables) in operations.items():
        if not found[index]:
            values = get_variable_values(schema, operation.variable_definitions or (), variables)
            found[index] += [one.message for one in values] if isinstance(values, list) else []
    return found


def _refused(schema: GraphQLSchema, operations: dict[int, OperationDefinitionNode]) -> Iterator[tuple[int, str]]:
    """Yield (index, message) for each validation error of the operations."""
    errors = validate(schema, DocumentNode(definitions=tuple(operations.values())), max_errors=None)
    index_of = {id(one.loc.source): index for index, one in operations.items() if one.loc}
    if all(id(error.source) in index_of for error in errors):
        yield from ((index_of[id(error.source)], error.message) for error in errors)
        return
    # graphql-core 3.3 puts the values of variables into literals: errors about these have no source.
    for index, operation in operations.items():
        for error in validate(schema, DocumentNode(definitions=(operation,)), max_errors=None):
            yield index, error.message


def _made(program: OperationProgram, count: int) -> Iterator[tuple[Case, WireRequest]]:
    for seed in range(count):
        case = program.draw(RandomSource(seed * 7919 + 1), "x", PhaseInfo("fuzzing"))
        yield case, _MAKER.make(case)
