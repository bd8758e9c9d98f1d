"""Schemas that hardly say anything, and those that nearly repeat themselves."""

import json
from typing import Any

import pytest

from .making import bodies

LARGE = {"type": "object", "properties": {f"p{index}": {"type": "string", "maxLength": index} for index in range(60)}}
SCHEMAS: dict[str, dict[str, Any]] = {
    "one flag": {"type": "object", "properties": {"sync": {"type": "boolean"}}},
    "one word": {"type": "object", "properties": {"key": {"enum": ["key1", "key2"]}}},
    "a list of large items": {"type": "object", "properties": {"all": {"type": "array", "items": LARGE}}},
    "large items": {"type": "array", "items": LARGE},
    "one optional text": {
        "type": "object", "properties": {"foo": {"type": "string"}}, "additionalProperties": False,
    },
    "a list of flags": {"type": "array", "items": {"type": "boolean"}},
}  # fmt: skip


@pytest.mark.parametrize("name", SCHEMAS)
def test_twenty_values_are_ten_different_ones(name: str) -> None:
    found = {json.dumps(value) for value in bodies(SCHEMAS[name], 20)}
    assert len(found) >= 10
