from typing import Any

import pytest

from checker.core.schema import Dialect, Direction
from checker.validation import compiled
from checker.validation.compiled import Compiled, compile_schema

from .schemas import schema_of


def compiled_of(raw: Any, dialect: Dialect = Dialect.OPENAPI30, *, formats: bool = True) -> Compiled:
    return compile_schema(schema_of(raw, dialect), Direction.RESPONSE, validate_formats=formats)


@pytest.fixture
def handed(monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """Names of the formats of ours that each validator is built with."""
    seen: list[set[str]] = []
    draft = compiled._DRAFTS[Dialect.OPENAPI30]

    def built(plain: Any, *, formats: dict[str, Any], validate_formats: bool) -> Any:
        seen.append(set(formats))
        return draft(plain, formats=formats, validate_formats=validate_formats)

    monkeypatch.setitem(compiled._DRAFTS, Dialect.OPENAPI30, built)
    return seen


def test_engine_is_handed_no_format_before_it_may_be_too_strict(handed: list[set[str]]) -> None:
    compiled_of({"properties": {"url": {"format": "email"}, "at": {"format": "date-time"}}})
    compiled_of({"items": {"allOf": [{"format": "uuid"}, {"format": "date"}]}})
    compiled_of({"format": "uri"}, formats=False)
    assert handed == [set(), set(), set()]


def test_second_validator_is_built_when_the_engine_may_be_too_strict(handed: list[set[str]]) -> None:
    for raw in ({"format": "email"}, {"format": "uri"}, {"maxLength": 0}):
        is_valid = compiled_of(raw).is_valid
        assert not is_valid("@")
        assert not is_valid("@")
    assert handed == [set(), {"email"}, set(), {"uri"}, set()]


@pytest.mark.parametrize(
    ("name", "text"), [("time", "10:00:00"), ("date-time", "2020-01-01 00:00:00Z"), ("hostname", "_dmarc.a.b")]
)
@pytest.mark.parametrize("dialect", [Dialect.OPENAPI30, Dialect.OPENAPI31])
def test_what_only_the_strictest_reader_refuses_is_valid(name: str, text: str, dialect: Dialect) -> None:
    one = compiled_of({"format": name}, dialect)
    assert (one.is_valid(text), one.is_strictly_valid(text)) == (True, False)
