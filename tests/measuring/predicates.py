"""Failures that depend on little of a large case, each with the smallest case that fails."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from checker.core.case import Case
from checker.core.meta import GenerationMode
from tests.measuring.sketches import Schema, sketched

Predicate = Callable[[Case], bool]

_NEGATIVE = GenerationMode.NEGATIVE
_COLOURS = ("red", "green", "blue", "white", "violet")
_ITEM: Schema = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string"},
        "count": {"type": "integer"},
        "price": {"type": "number"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "extra": {"type": "object", "additionalProperties": {"type": "integer"}},
    },
}
_NODE: Schema = {
    "type": "object",
    "required": ["value"],
    "properties": {
        "value": {"type": "integer"},
        "children": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}},
    },
}
_BOX: Schema = {
    "type": "object",
    "required": ["size"],
    "properties": {"size": {"enum": ["small", "medium", "large"]}, "lid": {"type": "boolean"}},
}
_ORDER: Schema = {
    "type": "object",
    "required": ["items"],
    "properties": {
        "items": {"type": "array", "items": {"$ref": "#/components/schemas/Item"}},
        "note": {"type": "string"},
        "price": {"type": "number"},
        "code": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{3}$"},
        "mail": {"type": "string", "format": "email"},
        "day": {"type": "string", "format": "date"},
        "colour": {"enum": list(_COLOURS)},
        "kind": {"oneOf": [{"type": "integer"}, {"type": "array", "items": {"type": "boolean"}}, _BOX]},
        "flags": {"type": "object", "properties": {name: {"type": "boolean"} for name in "abcde"}},
        "tree": {"$ref": "#/components/schemas/Node"},
        "deep": {
            "type": "object",
            "properties": {
                "a": {
                    "type": "object",
                    "properties": {
                        "b": {"type": "object", "properties": {"c": {"$ref": "#/components/schemas/Item"}}},
                    },
                },
            },
        },
    },
}  # fmt: skip

ORDER = sketched(
    _ORDER,
    components={"Item": _ITEM, "Node": _NODE},
    query_page={"type": "integer"},
    query_search={"type": "string"},
    header_X_Trace={"type": "string"},
    cookie_session={"type": "string"},
)


@dataclass(frozen=True, slots=True)
class Smallest:
    """Parts of the smallest case that fails; what is not said is as small as it can be."""

    body: Any = field(default_factory=lambda: {"items": []})
    path: str = "0"
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, Any] = field(default_factory=dict)
    cookies: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, case: Case) -> "Smallest":
        """The parts of a case that are compared."""
        path = case.path_parameters["id"]
        return cls(case.body, path, case.query, case.headers, case.cookies)

    def __str__(self) -> str:
        said = {
            "path": "" if self.path == "0" else self.path,
            "query": self.query,
            "headers": self.headers,
            "cookies": self.cookies,
            "body": self.body,
        }
        return ", ".join(f"{name} {value!r}" for name, value in said.items() if value)


@dataclass(frozen=True, slots=True)
class Failing:
    """A failure: what it depends on, when it happens and the smallest case of it."""

    kind: str
    name: str
    fails: Predicate
    smallest: Smallest
    mode: GenerationMode = GenerationMode.POSITIVE


def _items(case: Case) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = case.body["items"]
    return found


def _some_item(holds: Callable[[dict[str, Any]], bool]) -> Predicate:
    return lambda case: any(map(holds, _items(case)))


def _inner(case: Case) -> dict[str, Any]:
    found: dict[str, Any] = case.body.get("deep", {}).get("a", {}).get("b", {}).get("c", {})
    return found


def _depth(node: Mapping[str, Any]) -> int:
    return 1 + max(map(_depth, node.get("children", ())), default=0) if node else 0


def _nodes(node: Mapping[str, Any], depth: int = 1) -> Iterator[tuple[int, int]]:
    """Depth and value of each."""
    if node:
        yield depth, node["value"]
        for child in node.get("children", ()):
            yield from _nodes(child, depth + 1)


def _is_repeated(values: list[Any]) -> bool:
    return len(set(values)) < len(values)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _field(case: Case, name: str) -> Any:
    """Of a body that may be anything."""
    return case.body.get(name) if isinstance(case.body, dict) else None


def _one(**item: Any) -> Smallest:
    return Smallest({"items": [{"name": "", **item}]})


def _order(**fields: Any) -> Smallest:
    return Smallest({"items": [], **fields})


FAILING: tuple[Failing, ...] = (
    Failing("string length", "a note of more than 10 characters",
        lambda case: len(case.body.get("note", "")) > 10, _order(note="0" * 11)),
    Failing("string length", "a name of 100 characters", _some_item(lambda item: len(item["name"]) >= 100),
        _one(name="0" * 100)),
    Failing("substring", "% in a note", lambda case: "%" in case.body.get("note", ""), _order(note="%")),
    Failing("substring", "e acute in the name of an item", _some_item(lambda item: "\u00e9" in item["name"]),
        _one(name="\u00e9")),
    Failing("number beyond a bound", "a count above 100", _some_item(lambda item: item.get("count", 0) > 100),
        _one(count=101)),
    Failing("number beyond a bound", "a count above 2**31", _some_item(lambda item: item.get("count", 0) > 2**31),
        _one(count=2**31 + 1)),
    Failing("number beyond a bound", "a price below -1", lambda case: case.body.get("price", 0) < -1,
        _order(price=-2)),
    Failing("number beyond a bound", "counts of 1,000 together",
        lambda case: sum(item.get("count", 0) for item in _items(case)) >= 1000, _one(count=1000)),
    Failing("query value", "a page below -5", lambda case: case.query.get("page", 0) < -5,
        Smallest(query={"page": -6})),
    Failing("nested value at depth 4", "two tags", lambda case: len(_inner(case).get("tags", ())) > 1,
        _order(deep={"a": {"b": {"c": {"name": "", "tags": ["", ""]}}}})),
    Failing("nested value at depth 4", "a negative count", lambda case: _inner(case).get("count", 0) < 0,
        _order(deep={"a": {"b": {"c": {"name": "", "count": -1}}}})),
    Failing("n-th array element", "a third item", lambda case: len(_items(case)) > 2,
        Smallest({"items": [{"name": ""}] * 3})),
    Failing("n-th array element", "a third item with a count above 7",
        lambda case: len(_items(case)) > 2 and _items(case)[2].get("count", 0) > 7,
        Smallest({"items": [{"name": ""}, {"name": ""}, {"name": "", "count": 8}]})),
    Failing("n-th array element", "an eighth tag", _some_item(lambda item: len(item.get("tags", ())) >= 8),
        _one(tags=[""] * 8)),
    Failing("two fields together", "a note and a price above 5",
        lambda case: "note" in case.body and case.body.get("price", 0) > 5, _order(note="", price=6)),
    Failing("two fields together", "a traced search",
        lambda case: "X-Trace" in case.headers and "search" in case.query,
        Smallest(query={"search": "0"}, headers={"X-Trace": "0"})),
    Failing("absent optional", "a price without a count",
        _some_item(lambda item: "price" in item and "count" not in item), _one(price=0)),
    Failing("absent optional", "flags but the first", lambda case: "a" not in case.body.get("flags", {"a": 0})
        and len(case.body["flags"]) == 4, _order(flags=dict.fromkeys("bcde", False))),
    Failing("header", "more than three characters", lambda case: len(case.headers.get("X-Trace", "")) > 3,
        Smallest(headers={"X-Trace": "0000"})),
    Failing("cookie", "a session", lambda case: "session" in case.cookies, Smallest(cookies={"session": "0"})),
    Failing("path value", "five characters", lambda case: len(case.path_parameters["id"]) >= 5, Smallest(path="00000")),
    Failing("path value", "a question mark", lambda case: "?" in case.path_parameters["id"], Smallest(path="?")),
    Failing("duplicate items", "a tag twice that is not empty",
        _some_item(lambda item: _is_repeated([tag for tag in item.get("tags", ()) if tag])), _one(tags=["0", "0"])),
    Failing("duplicate items", "two items of one count",
        lambda case: _is_repeated([item["count"] for item in _items(case) if item.get("count", 0) > 1]),
        Smallest({"items": [{"name": "", "count": 2}] * 2})),
    Failing("oneOf branch", "a list with a true", lambda case: True in _listed(case.body.get("kind")),
        _order(kind=[True])),
    Failing("oneOf branch", "a large box",
        lambda case: isinstance(case.body.get("kind"), dict) and case.body["kind"]["size"] == "large",
        _order(kind={"size": "large"})),
    Failing("recursive depth", "a tree of four levels", lambda case: _depth(case.body.get("tree", {})) >= 4,
        _order(tree={"value": 0, "children": [{"value": 0, "children": [
            {"value": 0, "children": [{"value": 0}]}]}]})),
    Failing("recursive depth", "a value above 10 on the third level",
        lambda case: any(depth >= 3 and value > 10 for depth, value in _nodes(case.body.get("tree", {}))),
        _order(tree={"value": 0, "children": [{"value": 0, "children": [{"value": 11}]}]})),
    Failing("unicode", "a combining acute accent in a note",
        lambda case: "\u0301" in case.body.get("note", ""), _order(note="\u0301")),
    Failing("format", "an address", lambda case: "mail" in case.body, _order(mail="0@0.com")),
    Failing("format", "a day before 1970", lambda case: case.body.get("day", "9") < "1970",
        _order(day="1969-12-31")),
    Failing("pattern", "a code that ends in 7", lambda case: case.body.get("code", "").endswith("7"),
        _order(code="AA-007")),
    Failing("enum member", "the last of five", lambda case: case.body.get("colour") == "violet",
        _order(colour="violet")),
    Failing("map", "an extra above 10", _some_item(lambda item: any(v > 10 for v in item.get("extra", {}).values())),
        _one(extra={"0": 11})),
    Failing("negative case", "no item has a name",
        lambda case: any(isinstance(item, dict) and "name" not in item for item in _listed(_field(case, "items"))),
        Smallest({"items": [{}]}), _NEGATIVE),
    Failing("negative case", "a count that is a text",
        lambda case: any(isinstance(item, dict) and isinstance(item.get("count"), str)
                         for item in _listed(_field(case, "items"))),
        _one(count=""), _NEGATIVE),
    Failing("negative case", "a colour that is no colour",
        lambda case: isinstance(_field(case, "colour"), str) and _field(case, "colour") not in _COLOURS,
        _order(colour="red\n"), _NEGATIVE),
    Failing("number", "a price that is a huge power",
        lambda case: math.isfinite(case.body.get("price", 0)) and case.body.get("price", 0) > 2**60,
        _order(price=float(2**60 + 256))),
)  # fmt: skip
"""At least thirty."""
