"""Identifiers by which schemas of OpenAPI 3.1 refer to each other, with values that they admit and refuse."""

from .dialects import INT, Case, named

IDENTIFIED: dict[str, Case] = {
    "3.1 $id #foo": (
        named({"type": "object", "properties": {"a": {"$ref": "#foo"}}}, B={"$id": "#foo", "type": "integer"}),
        {"a": 5},
        [{"a": "x"}],
    ),
    "3.1 anchor": (
        named({"type": "object", "properties": {"a": {"$ref": "#foo"}}}, B={"$anchor": "foo", "type": "integer"}),
        {"a": 5},
        [{"a": "x"}],
    ),
    "urn id": (
        named(
            {"type": "object", "properties": {"a": {"$ref": "urn:example:b"}}},
            B={"$id": "urn:example:b", "type": "integer"},
        ),
        {"a": 5},
        [{"a": "x"}],
    ),
    "urn id#anchor": (
        named(
            {"type": "object", "properties": {"a": {"$ref": "urn:example:b#foo"}}},
            B={"$id": "urn:example:b", "$defs": {"x": {"$anchor": "foo", "type": "integer"}}},
        ),
        {"a": 5},
        [{"a": "x"}],
    ),
    "urn id#pointer": (
        named(
            {"type": "object", "properties": {"a": {"$ref": "urn:example:b#/$defs/x"}}},
            B={"$id": "urn:example:b", "$defs": {"x": {"$anchor": "foo", "type": "integer"}}},
        ),
        {"a": 5},
        [{"a": "x"}],
    ),
    "urn within": (
        named(
            {
                "$id": "urn:example:a",
                "type": "object",
                "properties": {"a": {"$ref": "#/$defs/x"}, "b": {"$ref": "#foo"}},
                "$defs": {"x": INT, "y": {"$anchor": "foo", "type": "integer"}},
            }
        ),
        {"a": 5, "b": 1},
        [{"a": "x"}, {"b": "x"}],
    ),
    "urn abs out": (
        named(
            {"$id": "urn:example:a", "type": "object", "properties": {"a": {"$ref": "urn:example:c"}}},
            C={"$id": "urn:example:c", "type": "integer"},
        ),
        {"a": 5},
        [{"a": "x"}],
    ),
    "urn nested $id rel": (
        named(
            {
                "$id": "urn:example:a",
                "type": "object",
                "properties": {"a": {"$id": "other", "type": "integer"}, "b": {"$ref": "other"}},
            }
        ),
        {"b": 5},
        [{"b": "x"}],
    ),
    "file id": (
        named(
            {"type": "object", "properties": {"a": {"$ref": "file:///s/b.json"}}},
            B={"$id": "file:///s/b.json", "type": "integer"},
        ),
        {"a": 5},
        [{"a": "x"}],
    ),
    "file rel": (
        named(
            {
                "$id": "file:///s/a.json",
                "type": "object",
                "properties": {"a": {"$ref": "b.json"}, "c": {"$ref": "b.json#foo"}},
            },
            B={"$id": "file:///s/b.json", "type": "integer", "$anchor": "foo"},
        ),
        {"a": 5},
        [{"a": "x"}, {"c": "x"}],
    ),
}
