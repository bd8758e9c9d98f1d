"""Defects that only some values trigger: a sketched operation and what has to be in its case."""

import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from checker.core.case import NOT_SET, Case
from checker.core.meta import GenerationMode
from checker.core.operation import Operation
from tests.measuring.sketches import Schema, sketched

Predicate = Callable[[Case], bool]
_NEGATIVE = GenerationMode.NEGATIVE


@dataclass(frozen=True, slots=True)
class Defect:
    """One defect of an API, seen from its requests."""

    kind: str
    name: str
    operation: Operation
    triggers: tuple[Predicate, ...]
    """All of them have to be met, by the same case or by several."""
    mode: GenerationMode = GenerationMode.POSITIVE


_LINE: Schema = {
    "type": "object",
    "required": ["sku", "quantity"],
    "properties": {
        "sku": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{4}$"},
        "quantity": {"type": "integer", "minimum": 1, "maximum": 999},
        "price": {"type": "number", "minimum": 0},
        "note": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 20}},
    },
}
_ORDER: Schema = {
    "type": "object",
    "required": ["customer", "lines"],
    "properties": {
        "customer": {"type": "string", "minLength": 1, "maxLength": 80},
        "email": {"type": "string", "format": "email"},
        "lines": {"type": "array", "items": _LINE, "maxItems": 50},
        "comment": {"type": "string"},
        "voucher": {"type": "string", "example": "SAVE10"},
        "priority": {"type": "integer", "default": 42},
        "due": {"type": "string", "format": "date"},
        "placed": {"type": "string", "format": "date-time"},
        "metadata": {"type": "object", "additionalProperties": {"type": "string"}},
        "references": {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 10**9}},
        "weight": {"type": "number"},
        "serial": {"type": "integer"},
        "grid": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
    },
}  # fmt: skip
_WIDE: Schema = {"type": "object", "properties": {f"option{index}": {"type": "boolean"} for index in range(30)}}
_PLACE: Schema = {
    "type": "object",
    "required": ["latitude", "longitude"],
    "properties": {
        "latitude": {"type": "number", "minimum": -90, "maximum": 90},
        "longitude": {"type": "number", "minimum": -180, "maximum": 180},
    },
}
_CURRENCIES = tuple(f"{a}{b}{c}" for a in "ABCEG" for b in "DLNRS" for c in "DKMNP")
_STATES = ("new", "paid", "packed", "sent", "lost", "back", "closed", "void")
_CHANNELS = ("web", "app", "phone", "shop", "mail", "fax", "api", "bot")
_PAYMENT: Schema = {
    "type": "object",
    "required": ["amount", "currency"],
    "properties": {"amount": {"type": "number"}, "currency": {"type": "string", "enum": list(_CURRENCIES)}},
}
_COMMENT: Schema = {
    "type": "object",
    "required": ["text"],
    "properties": {
        "text": {"type": "string"},
        "answers": {"type": "array", "items": {"$ref": "#/components/schemas/Comment"}},
    },
}
_LONG: Schema = {
    "type": "object",
    "required": ["text"],
    "properties": {"title": {"type": "string"}, "text": {"type": "string", "maxLength": 8000}},
}
_ACCOUNT: Schema = {
    "type": "object",
    "required": ["number"],
    "properties": {"number": {"type": "string", "pattern": "^[0-9]{4,12}$"}, "zip": {"type": "string"}},
}  # fmt: skip
_CALL: Schema = {
    "type": "object",
    "required": ["path", "mail", "server"],
    "properties": {
        "path": {"type": "string", "pattern": "^/"},
        "mail": {"type": "string", "format": "email", "pattern": "@example\\.com$"},
        "server": {"type": "string", "format": "ipv4", "pattern": "^10\\."},
        "comment": {"type": "string"},
    },
}

ORDER = sketched(_ORDER)
CALL = sketched(_CALL, header_If_Match={"type": "string", "pattern": '^"[0-9]+"$|\\*'})
PLACE = sketched(_PLACE)
PAGES = sketched(
    required_query_limit={"type": "integer", "minimum": 1, "maximum": 10_000},
    query_offset={"type": "integer", "minimum": 0},
    query_search={"type": "string"},
    query_sort={"type": "string", "default": "created_at"},
    query_language={"type": "string", "examples": ["pt-BR", "gsw-CH"]},
    header_X_Tenant={"type": "string"},
    header_X_Trace={"type": "string"},
)


def texts(value: Any) -> Iterator[str]:
    """Every string in a value, names left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


def depth(value: Any, name: str) -> int:
    """How many objects are inside each other, each in the list `name` of the one around it."""
    if not isinstance(value, Mapping):
        return 0
    return 1 + max((depth(item, name) for item in value.get(name, ())), default=0)


def levels(value: Any) -> int:
    """How many arrays and objects are inside each other."""
    inner = value.values() if isinstance(value, Mapping) else value
    if not isinstance(value, Mapping | list):
        return 0
    return 1 + max(map(levels, inner), default=0)


def _has_category(category: str) -> Predicate:
    return lambda case: any(unicodedata.category(char) == category for text in texts(case.body) for char in text)


def _in_body(holds: Callable[[Any], bool]) -> tuple[Predicate]:
    return (lambda case: case.body is not NOT_SET and holds(case.body),)


def _has_currency(code: str) -> Predicate:
    return lambda case: bool(case.body["currency"] == code)


def _has_pair(state: str, channel: str) -> Predicate:
    return lambda case: (case.query["state"], case.query["channel"]) == (state, channel)


def _is_negative_zero(value: Any) -> bool:
    return isinstance(value, float) and value == 0 and math.copysign(1.0, value) < 0


def _lines(body: Any) -> list[dict[str, Any]]:
    """Lines of an order, also of one that is wrong elsewhere."""
    found = body.get("lines") if isinstance(body, Mapping) else None
    return [line for line in found if isinstance(line, dict)] if isinstance(found, list) else []


def _some_sku(pattern: str) -> tuple[Predicate]:
    matches = re.compile(pattern).fullmatch
    return _in_body(
        lambda body: any(isinstance(line.get("sku"), str) and matches(line["sku"]) for line in _lines(body))
    )


def _is_repeated(values: list[Any]) -> bool:
    return len(set(values)) < len(values)


def _leads_with_zero(text: str) -> bool:
    return len(text) > 1 and text.isdecimal() and text[0] == "0"


DEFECTS: tuple[Defect, ...] = (
    Defect("bound", "a line of 999 pieces", ORDER, _in_body(
        lambda body: any(line["quantity"] == 999 for line in body["lines"]))),
    Defect("bound", "a page of 10,000", PAGES, (lambda case: case.query["limit"] == 10_000,)),
    Defect("just past a bound", "a line of 1,000 pieces, 999 allowed", ORDER, _in_body(
        lambda body: any(line.get("quantity") == 1000 for line in _lines(body))), _NEGATIVE),
    Defect("just past a bound", "81 characters, 80 allowed", ORDER, _in_body(
        lambda body: isinstance(body, Mapping) and isinstance(body.get("customer"), str)
        and len(body["customer"]) == 81), _NEGATIVE),
    Defect("emptiness", "an empty comment", ORDER, _in_body(lambda body: body.get("comment") == "")),
    Defect("emptiness", "metadata of nothing", ORDER, _in_body(lambda body: body.get("metadata") == {})),
    Defect("unicode category", "a combining mark (Mn)", ORDER, (_has_category("Mn"),)),
    Defect("unicode category", "an emoji (So)", ORDER, (_has_category("So"),)),
    Defect("huge number", "an integer beyond 2**53", ORDER, _in_body(
        lambda body: abs(body.get("serial", 0)) > 2**53)),
    Defect("huge number", "a number beyond 1e50", ORDER, _in_body(lambda body: abs(body.get("weight", 0)) > 1e50)),
    Defect("negative zero", "a weight of -0.0", ORDER, _in_body(lambda body: _is_negative_zero(body.get("weight")))),
    Defect("negative zero", "a longitude of -0.0", PLACE, _in_body(
        lambda body: _is_negative_zero(body["longitude"]))),
    Defect("duplicate item", "a tag twice", ORDER, _in_body(
        lambda body: any(_is_repeated(line.get("tags", [])) for line in body["lines"]))),
    Defect("duplicate item", "one of 10**9 references twice", ORDER, _in_body(
        lambda body: _is_repeated(body.get("references", [])))),
    Defect("missing optional", "a price and no note", ORDER, _in_body(
        lambda body: any("price" in line and "note" not in line for line in body["lines"]))),
    Defect("missing optional", "all of six options but the fourth", sketched(_WIDE), _in_body(
        lambda body: "option3" not in body and all(f"option{index}" in body for index in (0, 1, 2, 4, 5)))),
    Defect("two optionals together", "a tenant and a search", PAGES, (
        lambda case: "X-Tenant" in case.headers and "search" in case.query,)),
    Defect("two optionals together", "the seventh and the last of 30", sketched(_WIDE), _in_body(
        lambda body: "option6" in body and "option29" in body)),
    Defect("each enum member", "each of 125 currencies", sketched(_PAYMENT), tuple(
        map(_has_currency, _CURRENCIES))),
    Defect("each enum member", "each pair of 8 states and 8 channels", sketched(
        required_query_state={"enum": list(_STATES)}, required_query_channel={"enum": list(_CHANNELS)}), tuple(
        _has_pair(state, channel) for state in _STATES for channel in _CHANNELS)),
    Defect("pattern near miss", "one digit less or more", ORDER, _some_sku("[A-Z]{3}-(?:[0-9]{3}|[0-9]{5})"), _NEGATIVE),
    Defect("pattern near miss", "a matching text and a line break", ORDER, _some_sku("[A-Z]{3}-[0-9]{4}\n"), _NEGATIVE),
    Defect("around a match", "an entity tag that is neither a number nor *", CALL, (
        lambda case: not re.fullmatch('"[0-9]+"|\\*', case.headers.get("If-Match", "*")),)),
    Defect("around a match", "a control character after the slash", CALL, _in_body(
        lambda body: any(unicodedata.category(char) == "Cc" for char in body["path"]))),
    Defect("two constraints", "an address at one domain with a + in it", CALL, _in_body(
        lambda body: "+" in body["mail"] and body["mail"].endswith("@example.com"))),
    Defect("two constraints", "a host of one network that ends with 255", CALL, _in_body(
        lambda body: body["server"].startswith("10.") and body["server"].endswith(".255"))),
    Defect("long string", "more than 255 characters", ORDER, _in_body(lambda body: len(body.get("comment", "")) > 255)),
    Defect("long string", "more than 4,096 characters", sketched(_LONG), _in_body(lambda body: len(body["text"]) > 4096)),
    Defect("deep nesting", "answers four levels deep",
        sketched({"$ref": "#/components/schemas/Comment"}, components={"Comment": _COMMENT}),
        _in_body(lambda body: depth(body, "answers") >= 5)),
    Defect("deep nesting", "anything, four levels deep", sketched({"type": "object"}), _in_body(
        lambda body: levels(body) >= 4)),
    Defect("zero-length array", "an order of no lines", ORDER, _in_body(lambda body: body["lines"] == [])),
    Defect("zero-length array", "a full row and an empty one", ORDER, _in_body(
        lambda body: [] in body.get("grid", ()) and any(body["grid"]))),
    Defect("whitespace only", "a customer of blanks", ORDER, _in_body(lambda body: not body["customer"].strip())),
    Defect("whitespace only", "a search for a tab", PAGES, (lambda case: case.query.get("search") == "\t",)),
    Defect("leading zero", "an account number that starts with 0", sketched(_ACCOUNT), _in_body(
        lambda body: _leads_with_zero(body["number"]))),
    Defect("leading zero", "a search for 007 or the like", PAGES, (
        lambda case: _leads_with_zero(case.query.get("search", "")),)),
    Defect("date edge", "due on a 29 February", ORDER, _in_body(lambda body: body.get("due", "").endswith("-02-29"))),
    Defect("date edge", "placed at midnight", ORDER, _in_body(
        lambda body: "T00:00:00" in body.get("placed", ""))),
    Defect("reserved URL character", "# or ? in the path", PAGES, (
        lambda case: any(char in case.path_parameters["id"] for char in "#?"),)),
    Defect("reserved URL character", "+ in a query", PAGES, (lambda case: "+" in case.query.get("search", ""),)),
    Defect("example value", "the voucher of the example", ORDER, _in_body(lambda body: body.get("voucher") == "SAVE10")),
    Defect("example value", "the second language", PAGES, (lambda case: case.query.get("language") == "gsw-CH",)),
    Defect("default value", "the priority that is the default", ORDER, _in_body(lambda body: body.get("priority") == 42)),
    Defect("default value", "the sort order that is the default", PAGES, (
        lambda case: case.query.get("sort") == "created_at",)),
    Defect("undeclared name", "a place with a third member", PLACE, _in_body(lambda body: len(body) > 2)),
    Defect("undeclared name", "a parameter that no page has", PAGES, (
        lambda case: not case.query.keys() <= {"limit", "offset", "search", "sort", "language"},)),
)  # fmt: skip
"""At least two of each kind."""
