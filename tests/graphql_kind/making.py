"""Cases of root fields for tests, and what graphql-core says of them."""

from collections.abc import Iterator
from typing import Any

from checker.core.case import Case
from checker.core.errors import NothingToBreak
from checker.core.meta import GenerationMode, PhaseInfo
from checker.core.registry import FORMATS
from checker.core.request import BaseUrl, WireRequest
from checker.generation.settings import GenerationSettings
from checker.generation.sources.choices import RandomSource
from checker.graphql.schema import GraphQLDescription, GraphQLOperation
from checker.kinds.sources import DIRECT, TextSource, ValueSource
from checker.kinds.table import kind_named
from checker.transport.prepare import RequestMaker

MAKER = RequestMaker(BaseUrl.from_url("http://localhost/graphql"), (), version="")


def opened(text: str) -> GraphQLDescription:
    schema = kind_named("graphql").open(TextSource(text.encode(), "the schema"), DIRECT)
    assert isinstance(schema, GraphQLDescription)
    return schema


def opened_value(value: dict[str, Any]) -> GraphQLDescription:
    schema = kind_named("graphql").open(ValueSource(value), DIRECT)
    assert isinstance(schema, GraphQLDescription)
    return schema


def operations(schema: GraphQLDescription) -> Iterator[GraphQLOperation]:
    for entry in schema.entries():
        yield GraphQLOperation(entry, schema)


def cases(operation: GraphQLOperation, mode: GenerationMode, count: int) -> Iterator[tuple[Case, WireRequest]]:
    """Drawn cases with their requests; none of an operation that takes everything."""
    try:
        program = operation.compile(GenerationSettings(mode=mode, formats=FORMATS))
    except NothingToBreak:
        return
    for seed in range(count):
        case = program.draw(RandomSource(seed * 7919 + 1), "x", PhaseInfo("fuzzing"))
        yield case, MAKER.make(case)
