from typing import Any

import pytest

from checker.core.schema import Dialect, UnresolvableReference
from checker.schema.scopes import entered, resolve_dynamic
from tests.measuring.documents import JsonDocument

BASE = "http://example.com/root.json"
TREE = {
    "$id": BASE,
    "$defs": {
        "plain": {"type": "string"},
        "named": {"$anchor": "here", "type": "integer"},
        "inside": {"$id": "nested/a.json", "$defs": {"deep": {"$anchor": "here"}}, "items": True},
        "a~b/c%d": {"const": 1},
    },
    "enum": [{"$id": "http://example.com/not-a-schema.json"}],
}


def document(root: Any = TREE, dialect: Dialect = Dialect.DRAFT2020, **others: Any) -> JsonDocument:
    return JsonDocument(root, dialect, others={f"http://example.com/{name}": raw for name, raw in others.items()})


@pytest.mark.parametrize(
    ("reference", "at", "place"),
    [
        ("#/$defs/plain", "#", "#/$defs/plain"),
        ("#here", "#", "#/$defs/named"),
        ("#", "#/$defs/plain", "#"),
        (BASE, "#/$defs/inside", "#"),
        ("nested/a.json", "#", "#/$defs/inside"),
        ("#/$defs/deep", "#/$defs/inside/items", "#/$defs/inside/$defs/deep"),
        ("#here", "#/$defs/inside/items", "#/$defs/inside/$defs/deep"),
        ("../root.json#/$defs/plain", "#/$defs/inside", "#/$defs/plain"),
        ("#/$defs/a~0b~1c%25d", "#", "#/$defs/a~0b~1c%25d"),
    ],
)
def test_reference_means_a_place(reference: str, at: str, place: str) -> None:
    assert document().resolve(reference, at=at)[1] == place


@pytest.mark.parametrize("reference", ["#/nothing", "#nobody", "other.json", "not-a-schema.json"])
def test_reference_to_nothing_is_said(reference: str) -> None:
    with pytest.raises(UnresolvableReference, match="points at nothing"):
        document().resolve(reference, at="#")


def test_documents_beside_are_found_by_their_uri() -> None:
    other = {"definitions": {"x": {"type": "null"}, "y": {"$ref": "#/definitions/x"}}}
    found = document({"$id": BASE}, other=other)
    value, place = found.resolve("other#/definitions/y", at="#")
    assert place == "http://example.com/other#/definitions/y"
    assert found.resolve(value["$ref"], at=place)[0] == {"type": "null"}  # type: ignore[index]


def test_metaschemas_are_at_hand() -> None:
    found = document({"$id": BASE})
    value, _ = found.resolve("http://json-schema.org/draft-07/schema#/definitions/nonNegativeInteger", at="#")
    assert value == {"type": "integer", "minimum": 0}


def test_old_drafts_name_places_by_id() -> None:
    root = {"id": BASE, "definitions": {"x": {"id": "#x"}, "y": {"id": "y.json", "items": {"$ref": "#"}}}}
    found = document(root, Dialect.DRAFT4)
    assert found.resolve("#x", at="#")[1] == "#/definitions/x"
    assert found.resolve("#", at="#/definitions/y/items")[1] == "#/definitions/y"


def test_siblings_of_a_reference_name_nothing_before_2019() -> None:
    root = {"$id": BASE, "definitions": {"x": {"$id": "other/x.json", "$ref": "y"}}}
    found = document(root, Dialect.DRAFT7, y={"type": "null"})
    assert found.resolve("y", at="#/definitions/x")[0] == {"type": "null"}


def test_dynamic_reference_means_the_outermost_anchor() -> None:
    inner = {"$id": "inner", "$dynamicAnchor": "node", "items": {"$dynamicRef": "#node"}}
    root = {"$id": BASE, "$dynamicAnchor": "node", "$ref": "inner", "$defs": {"inner": inner}}
    found = document(root)
    at, raw = "#/$defs/inner/items", inner["items"]
    assert isinstance(raw, dict)
    outside = entered(found, entered(found, (), "#"), at)
    assert resolve_dynamic(found, raw, at, outside) == (root, "#")
    assert resolve_dynamic(found, raw, at, entered(found, (), at)) == (inner, "#/$defs/inner")


def test_dialect_of_an_embedded_schema_is_its_own() -> None:
    old = {"$id": "http://example.com/old", "$schema": "http://json-schema.org/draft-07/schema#"}
    root = {"$id": BASE, "$defs": {"old": old}}
    assert document(root).resource("#/$defs/old").dialect is Dialect.DRAFT7
    assert document(root).resource("#").dialect is Dialect.DRAFT2020
