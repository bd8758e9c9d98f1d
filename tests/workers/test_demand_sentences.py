"""Sentences of real services, and what they demand."""

from typing import Any

import pytest

from checker.refusals.said import Said
from checker.refusals.table import READERS

NAME = "^[a-zA-Z0-9]([a-zA-Z0-9._-]*[a-zA-Z0-9])?$"
ENDS = "starting and ending with a character in [a-zA-Z0-9]. Got: x"
NAMED = {("name", "minLength", 3), ("name", "maxLength", 512), ("name", "pattern", NAME)}
TARGET = "Failed to deserialize the JSON body into the target type: "
SENTENCES: list[tuple[str, set[tuple[str, str, Any]]]] = [
    (f"Expected a name containing 3-512 characters from [a-zA-Z0-9._-], {ENDS}", NAMED),
    (
        f"Validation error: name: Expected a name containing 3-512 characters from [a-zA-Z0-9._-], {ENDS}",
        NAMED,
    ),
    (
        "database name must be at least 3 characters",
        {("database", "minLength", 3), ("database_name", "minLength", 3)},
    ),
    (
        "Collection ID is not a valid UUIDv4",
        {("Collection_ID", "format", "uuid"), ("Collection", "format", "uuid")},
    ),
    (
        "Validation error: collection_id: Invalid collection ID format, expected UUID",
        {("collection_id", "format", "uuid")},
    ),
    (
        "Tonic error: code: 'x', message: \"Client validation error: Invalid collection_id UUID format\"",
        {("collection_id", "format", "uuid")},
    ),
    (
        "Validation error: crn: CRN must be in the format <tenant>:<database>:<name> with non-empty parts",
        {("crn", "pattern", "^[^:]+:[^:]+:[^:]+$")},
    ),
    ("X-A in header: this header is mandatory", {("X-A", "required", True)}),
    ("permissions.write.0 in body: Required", {("permissions.write.*", "required", True)}),
    ("Expected a string containing 3-9 characters", set()),
    (f"{TARGET}missing field `name` at line 1 column 2", {("name", "required", True)}),
    (f"{TARGET}a[0].b: missing field `c` at line 1", {("a.*.b.c", "required", True)}),
    (f"{TARGET}unknown field `x`, expected `y` at line 1", {("x", "forbidden", True)}),
    (
        f"{TARGET}a.b: unknown variant `f8`, expected one of `min`, `max` at line 1",
        {("a.b", "enum", ("min", "max"))},
    ),
    (
        f"{TARGET}age: invalid type: floating point `2.86`, expected u32 at line 1",
        {("age", "type", "integer")},
    ),
    (
        f"{TARGET}tags: invalid type: map, expected a sequence at line 1 column 9",
        {("tags", "type", "array")},
    ),
    (
        'tags: Validation error: length [{"value": Array [String("a")], "min": Number(2)}]',
        {("tags", "minItems", 2)},
    ),
    (
        'code: Validation error: length [{"equal": Number(4), "value": String("\\"min\\": 1")}]',
        {("code", "minLength", 4), ("code", "maxLength", 4)},
    ),
    (
        'price: Validation error: range [{"exclusive_min": Number(0.5)}]',
        {("price", "exclusiveMinimum", 0.5)},
    ),
]


def said_by(body: Any) -> list[Said]:
    return next((found for reader in READERS if (found := list(reader.read(body)))), [])


@pytest.mark.parametrize(("sentence", "wanted"), SENTENCES)
def test_a_sentence_demands(sentence: str, wanted: set[tuple[str, str, Any]]) -> None:
    for body in (sentence, {"error": "InvalidArgumentError", "message": sentence}):
        found = {
            (
                ".".join(one.path),
                one.keyword,
                tuple(one.value) if isinstance(one.value, list) else one.value,
            )
            for one in said_by(body)
        }
        assert found == wanted
