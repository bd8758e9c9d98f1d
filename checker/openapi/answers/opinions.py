"""Two validators over what came back: one on the hot path, both before anything is called a failure."""

from collections.abc import Sequence
from typing import Any

from checker.core.contract import BodyOpinions
from checker.core.schema import Direction, Schema
from checker.validation.compiled import compile_schema
from checker.validation.referee import Referee, referee


class TwoOpinions:
    """A schema of responses, compiled; the second validator is made when it is needed."""

    __slots__ = ("_referee", "_validate_formats", "is_valid", "schema")

    def __init__(self, schema: Schema, *, validate_formats: bool) -> None:
        """Compiles. Raises `UnresolvableReference` and `UnusableSchema`."""
        self.schema = schema
        self._validate_formats = validate_formats
        compiled = compile_schema(schema, Direction.RESPONSE, validate_formats=validate_formats)
        self.is_valid = compiled.is_valid
        self._referee: Referee | None = None

    def any_valid(self, values: Sequence[Any]) -> bool:
        """True when one of several readings fits."""
        return any(map(self.is_valid, values))

    def on(self, values: Sequence[Any]) -> BodyOpinions:
        """What both say of a body that can be read in these ways, most telling first."""
        if self.any_valid(values):
            return BodyOpinions()
        if self._referee is None:
            self._referee = referee(
                self.schema, Direction.RESPONSE, validate_formats=self._validate_formats
            )
        found = [self._referee.errors(value) for value in values]
        if all(found):
            return BodyOpinions(tuple(found[0]))
        return BodyOpinions(
            disagreement=f"the schema at {self.schema.pointer}: the compiled validator rejects what the second one accepts"
        )
