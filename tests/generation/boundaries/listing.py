"""Boundary values of a bare schema."""

from collections.abc import Callable
from typing import Any

from checker.core.operation import Location
from checker.core.schema import Dialect, Direction
from checker.generation.boundaries.negatives import negatives
from checker.generation.boundaries.positives import Edges, positives
from checker.generation.boundaries.values import Boundary
from checker.generation.drawing.compiling import Compiler
from checker.generation.drawing.places import TextPlace, body_place, place_of
from checker.generation.normalization.canonical import Canon
from checker.generation.normalization.forms import Conjunction, Facet
from checker.generation.sources import alphabets
from checker.generation.sources.context import Budget, DrawContext

from ..making import schema_of

BODY = body_place(alphabets.TEXT, is_form=False, is_bytes=False)
QUERY = place_of(Location.QUERY, alphabets.TEXT, "")
PATH = place_of(Location.PATH, alphabets.TEXT, "")


def compiled(
    raw: Any, dialect: Dialect = Dialect.OPENAPI31, components: dict[str, Any] | None = None
) -> tuple[Compiler, Conjunction]:
    schema = schema_of(raw, dialect, components)
    canon = Canon(schema.document, dialect, Direction.REQUEST)
    return Compiler(canon, DrawContext(), Budget(), {}, 16_384), (Facet(schema.raw, schema.pointer),)


def valid(raw: Any, place: TextPlace = BODY, **options: Any) -> list[Boundary]:
    compiler, conjunction = compiled(raw, **options)
    return list(positives(Edges(compiler), conjunction, place))


def invalid(
    raw: Any, place: TextPlace = BODY, is_broken: Callable[[Any], bool] | None = None, **options: Any
) -> list[Boundary]:
    compiler, conjunction = compiled(raw, **options)
    return list(negatives(compiler, conjunction, place, is_broken))


def shown(found: list[Boundary]) -> list[tuple[Any, str]]:
    return [(boundary.value, boundary.description) for boundary in found]
