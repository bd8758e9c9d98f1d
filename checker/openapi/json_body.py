"""Bodies in JSON, judged: one validator on the hot path, two before anything is called a failure."""

import json
from typing import Any, NoReturn

import orjson

from checker.core.contract import BodyOpinions, UndecodableBody
from checker.core.schema import Direction, Schema
from checker.validation.compiled import compile_schema
from checker.validation.referee import Referee, referee

_UTF8 = frozenset({None, "utf-8", "utf8", "us-ascii", "ascii"})


class JsonBody:
    """Judge of bodies of one schema: implements `checker.core.contract.BodyValidator`."""

    __slots__ = ("_charset", "_is_valid", "_media_type", "_referee", "_schema", "_validate_formats")

    def __init__(
        self, schema: Schema, media_type: str, charset: str | None, *, validate_formats: bool
    ) -> None:
        """Compiles. Raises `UnresolvableReference` and `UnusableSchema`."""
        self._schema = schema
        self._media_type = media_type
        self._charset = None if charset in _UTF8 else charset
        self._validate_formats = validate_formats
        compiled = compile_schema(schema, Direction.RESPONSE, validate_formats=validate_formats)
        self._is_valid = compiled.is_valid
        self._referee: Referee | None = None

    def is_valid(self, content: bytes) -> bool:
        """True when the body is JSON and fits the schema."""
        try:
            value = orjson.loads(content)
        except orjson.JSONDecodeError:
            # Lone surrogates, a byte order mark, UTF-16: JSON all the same.
            value = self._decoded(content)
            if isinstance(value, UndecodableBody):
                return False
        return self._is_valid(value)

    def opinions(self, content: bytes) -> BodyOpinions:
        """What both validators say."""
        value = self._decoded(content)
        if isinstance(value, UndecodableBody):
            return BodyOpinions(undecodable=value)
        if self._is_valid(value):
            return BodyOpinions()
        if self._referee is None:
            self._referee = referee(
                self._schema, Direction.RESPONSE, validate_formats=self._validate_formats
            )
        violations = self._referee.errors(value)
        if violations:
            return BodyOpinions(tuple(violations))
        return BodyOpinions(
            disagreement=f"the schema at {self._schema.pointer}: the compiled validator rejects a body that the second one accepts"
        )

    def _decoded(self, content: bytes) -> Any | UndecodableBody:
        try:
            text = _text(content, self._charset)
            return json.loads(text, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            return UndecodableBody(self._media_type, reason)


def _text(content: bytes, charset: str | None) -> str:
    if charset is not None:
        try:
            return content.decode(charset)
        except (LookupError, UnicodeDecodeError):
            # The header lies or names nothing; JSON says itself how it is encoded.
            pass
    return content.decode(json.detect_encoding(content))


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
