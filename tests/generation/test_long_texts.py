"""Texts of megabytes, where nothing shorter is valid."""

from typing import Any

import pytest

from checker.core.errors import Unsatisfiable

from .making import bodies, opinions, program_of, schema_of

LONG: dict[str, dict[str, Any]] = {
    "plain": {},
    "of one length": {"maxLength": 100_000},
    "of a pattern": {"pattern": "^[a-z]+$"},
    "of a format": {"format": "uri"},
}


@pytest.mark.parametrize("name", LONG)
def test_long_texts_that_have_to_be_are_drawn(name: str) -> None:
    text = {"type": "string", "minLength": 100_000, **LONG[name]}
    raw = {"type": "object", "required": ["a"], "properties": {"a": text}}
    is_valid = opinions(schema_of(raw))
    assert all(map(is_valid, bodies(raw, 3)))


def test_texts_of_many_megabytes_are_refused() -> None:
    with pytest.raises(Unsatisfiable, match="minLength 4194305 is more than the 4194304"):
        program_of(body={"type": "string", "minLength": 4_194_305})
