"""Error bodies that name a fault by a code: pydantic, validators of JavaScript and Rust, Zod, Symfony, Spring, Go."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from checker.core.constraints import FORBIDDEN, REQUIRED
from checker.core.scalars import is_number
from checker.core.system import later_pattern
from checker.refusals.sentences import (
    TYPES,
    WHERE,
    FieldPath,
    PlaceDemand,
    demanded,
    demands_of,
    listed,
    number_of,
    path_of,
    sentences_at,
    texts_in,
)

# pydantic

_PYDANTIC_SIZES: Final = {
    "string_too_short": ("minLength", "min_length"), "string_too_long": ("maxLength", "max_length"),
    "too_short": ("minItems", "min_length"), "too_long": ("maxItems", "max_length"),
    "greater_than": ("exclusiveMinimum", "gt"), "greater_than_equal": ("minimum", "ge"),
    "less_than": ("exclusiveMaximum", "lt"), "less_than_equal": ("maximum", "le"),
    "string_pattern_mismatch": ("pattern", "pattern"),
    "value_error.any_str.min_length": ("minLength", "limit_value"),
    "value_error.any_str.max_length": ("maxLength", "limit_value"),
    "value_error.list.min_items": ("minItems", "limit_value"), "value_error.list.max_items": ("maxItems", "limit_value"),
    "value_error.number.not_ge": ("minimum", "limit_value"), "value_error.number.not_gt": ("exclusiveMinimum", "limit_value"),
    "value_error.number.not_le": ("maximum", "limit_value"), "value_error.number.not_lt": ("exclusiveMaximum", "limit_value"),
    "value_error.str.regex": ("pattern", "pattern"),
    "type_error.enum": ("enum", "enum_values"), "value_error.const": ("enum", "permitted"),
}  # fmt: skip
_PYDANTIC_KINDS: Final = {
    "int": ("type", "integer"), "float": ("type", "number"), "decimal": ("type", "number"), "string": ("type", "string"),
    "str": ("type", "string"), "bool": ("type", "boolean"), "list": ("type", "array"), "dict": ("type", "object"),
    "model": ("type", "object"), "uuid": ("format", "uuid"), "date": ("format", "date"), "datetime": ("format", "date-time"),
    "time": ("format", "time"), "url": ("format", "uri"), "email": ("format", "email"),
}  # fmt: skip


def pydantic(body: Any) -> Iterator[PlaceDemand]:
    """`{"detail": [{"loc": ["body", "age"], "type": "greater_than_equal", "msg": "...", "ctx": {"ge": 18}}]}`, v1 and v2."""
    errors = body.get("detail", body.get("errors")) if isinstance(body, dict) else body
    for error in errors if isinstance(errors, list) else ():
        if isinstance(error, dict) and isinstance(error.get("loc"), list) and "type" in error:
            loc = [str(part) for part in error["loc"]]
            where = WHERE.get(loc[0], "") if loc else ""
            path = path_of(loc[1:] if where else loc)
            kind, ctx = str(error["type"]), error.get("ctx")
            ctx = ctx if isinstance(ctx, dict) else {}
            if kind in ("missing", "value_error.missing"):
                yield PlaceDemand(path, "required", where=where)
            elif kind in ("extra_forbidden", "value_error.extra"):
                yield PlaceDemand(path, "forbidden", where=where)
            elif kind in _PYDANTIC_SIZES:
                keyword, name = _PYDANTIC_SIZES[kind]
                if name in ctx:
                    yield PlaceDemand(path, keyword, ctx[name], where)
            elif kind in ("literal_error", "enum"):
                yield PlaceDemand(path, "enum", listed(str(ctx.get("expected", ""))), where)
            else:
                word = kind.removeprefix("type_error.").removeprefix("value_error.").partition("_")[0]
                known = _PYDANTIC_KINDS.get(word.partition(".")[0])
                if known is not None:
                    yield PlaceDemand(path, *known, where)
                else:
                    yield from demanded(path, demands_of(str(error.get("msg", ""))), where=where)


# JSON Schema in JavaScript

_AJV: Final = {
    "minimum": "limit", "maximum": "limit", "exclusiveMinimum": "limit", "exclusiveMaximum": "limit", "minLength": "limit",
    "maxLength": "limit", "minItems": "limit", "maxItems": "limit", "pattern": "pattern", "format": "format",
    "enum": "allowedValues", "type": "type", "multipleOf": "multipleOf",
}  # fmt: skip


def ajv(body: Any) -> Iterator[PlaceDemand]:
    """Ajv `[{"instancePath": "/age", "keyword": "minimum", "params": {"limit": 18}, "message": "must be >= 18"}]`, and LoopBack."""
    for error in _items(body, ("errors", "validation", "details", "detail", "error", "data")):
        # LoopBack: `{"path": "/age", "code": "minimum", "info": {"limit": 18}}`.
        params, keyword = error.get("params", error.get("info")), error.get("keyword", error.get("code"))
        place = error.get("instancePath", error.get("dataPath", error.get("path")))
        if not isinstance(params, dict) or not isinstance(keyword, str) or place is None:
            continue
        where, path = _place(path_of(place), str(error.get("validationContext", "")))
        if keyword == "required":
            yield PlaceDemand((*path, str(params.get("missingProperty"))), "required", where=where)
        elif keyword == "additionalProperties":
            yield PlaceDemand((*path, str(params.get("additionalProperty"))), "forbidden", where=where)
        elif keyword in _AJV and _AJV[keyword] in params:
            yield PlaceDemand(path, keyword, params[_AJV[keyword]], where)


def fastify(body: Any) -> Iterator[PlaceDemand]:
    """`{"code": "FST_ERR_VALIDATION", "message": "body/age must be >= 18"}`."""
    text = body.get("message") if isinstance(body, dict) else None
    if not isinstance(text, str) or body.get("code") != "FST_ERR_VALIDATION":
        return
    for part in text.split(", "):
        place, _, sentence = part.partition(" ")
        where, path = _place(path_of(f"/{place}"), "")
        yield from demanded(path, demands_of(sentence), sentence, where)


def _place(path: FieldPath, context: str) -> tuple[str, FieldPath]:
    """Return the part of the request and the rest of a path, which may begin with the part."""
    if context in WHERE:
        return WHERE[context], path
    if path and path[0] in WHERE:
        return WHERE[path[0]], path[1:]
    return "", path


# Zod

_ZOD_FORMATS: Final = {
    "email": "email", "uuid": "uuid", "url": "uri", "datetime": "date-time", "date": "date", "time": "time", "ipv4": "ipv4",
    "ipv6": "ipv6",
}  # fmt: skip


def zod(body: Any) -> Iterator[PlaceDemand]:
    """`{"issues": [{"code": "too_small", "minimum": 3, "type": "string", "path": ["name"]}]}`, v3 and v4."""
    for error in _items(body, ("issues", "errors", "error", "details")):
        code, path = error.get("code"), error.get("path")
        if not isinstance(code, str) or not isinstance(path, list):
            continue
        where, place = _place(path_of(path), "")
        yield from (PlaceDemand(*one, where) for one in _zod_error(code, place, error))


def _zod_error(code: str, path: FieldPath, error: Mapping[str, Any]) -> Iterator[tuple[FieldPath, str, Any]]:
    match code:
        case "invalid_type":
            missing = error.get("received") == "undefined" or "undefined" in str(error.get("message"))
            expected = TYPES.get(str(error.get("expected")))
            if missing or error.get("message") == "Required":
                yield path, "required", True
            elif expected is not None:
                yield path, "type", expected
        case "too_small" | "too_big":
            is_low = code == "too_small"
            limit = error.get("minimum" if is_low else "maximum")
            if isinstance(limit, bool) or not isinstance(limit, int | float):
                return
            word = "min" if is_low else "max"
            match str(error.get("type", error.get("origin"))):
                case "string":
                    yield path, f"{word}Length", limit
                case "array" | "set":
                    yield path, f"{word}Items", limit
                case _ if error.get("inclusive", True):
                    yield path, f"{word}imum", limit
                case _:
                    yield path, f"exclusive{word.capitalize()}imum", limit
        case "invalid_enum_value" | "invalid_value" | "invalid_literal":
            values = error.get("options", error.get("values", [error.get("expected")]))
            yield path, "enum", values
        case "unrecognized_keys":
            for key in error.get("keys", ()):
                yield (*path, str(key)), "forbidden", True
        case "invalid_string" | "invalid_format":
            name, pattern = error.get("format", error.get("validation")), error.get("pattern")
            if name in _ZOD_FORMATS:
                yield path, "format", _ZOD_FORMATS[name]
            elif isinstance(pattern, str):
                yield path, "pattern", pattern.strip("/")
        case _:
            return


# Symfony


def symfony(body: Any) -> Iterator[PlaceDemand]:
    """`{"violations": [{"propertyPath": "name", "title": "...", "parameters": {"{{ choices }}": "..."}}]}`."""
    for error in _items(body, ("violations", "hydra:violations")):
        path = path_of(error.get("propertyPath", ""))
        text = str(error.get("title", error.get("message", "")))
        given = error.get("parameters")
        params = given if isinstance(given, dict) else {}
        if "{{ choices }}" in params:
            yield PlaceDemand(path, "enum", listed(str(params["{{ choices }}"])))
        elif "{{ pattern }}" in params:
            yield PlaceDemand(path, "pattern", str(params["{{ pattern }}"]).strip("/"))
        else:
            yield from sentences_at(path, text)


# Spring

_THROUGH = later_pattern(r"\[\"(\w+)\"\]")
_UNRECOGNIZED = later_pattern(r"Unrecognized field \"(\w+)\"")
_MISSING = later_pattern(
    r"Required (?:request )?(?P<where>parameter|header|cookie|path variable|part)? ?'(?P<name>[\w-]+)'"
)
_SPRING_WHERE: Final = {"parameter": "query", "header": "header", "cookie": "cookie", "path variable": "path"}


def spring(body: Any) -> Iterator[PlaceDemand]:
    """`{"errors": [{"field": "age", "code": "Min", "defaultMessage": "must be greater than or equal to 18"}]}`, and Jackson."""
    if not isinstance(body, dict):
        return
    for error in _items(body, ("errors", "fieldErrors", "violations")):
        text = error.get("defaultMessage", error.get("message"))
        if isinstance(text, str) and isinstance(name := error.get("field"), str):
            yield from sentences_at(path_of(name), text)
    for name in ("message", "detail", "error", "title"):
        text = body.get(name)
        if isinstance(text, str):
            if found := _UNRECOGNIZED.search(text):
                yield PlaceDemand((found[1],), "forbidden", where="body")
            elif "Required request body is missing" in text:
                yield PlaceDemand((), "required", where="body")
            elif found := _MISSING.search(text):
                yield PlaceDemand((found["name"],), "required", where=_SPRING_WHERE.get(found["where"] or "", ""))
            elif "annot deserialize value of type" in text:
                path = tuple(_THROUGH.findall(text.partition("through reference chain")[2]))
                enum = [one for one in demands_of(text) if one[0] == "enum"]
                kind = re.search(r"of type `(?:java\.lang\.)?(\w+)`", text)
                word = TYPES.get(kind[1].lower()) if kind else None
                if enum:
                    yield from demanded(path, enum, where="body")
                elif word is not None and path:
                    yield PlaceDemand(path, "type", word, "body")


# Go

_GO = later_pattern(
    r"Key: '(?:\w+\.)?(?P<path>[\w.\[\]]+)' Error:Field validation for '\w+' failed on the '(?P<tag>\w+)' tag"
)
_GO_UNKNOWN = later_pattern(r'json: unknown field "(?P<name>[^"]+)"')
_GO_TYPE = later_pattern(r"json: cannot unmarshal \w+ into Go struct field \w+\.(?P<path>[\w.]+) of type (?P<type>\w+)")
_GO_TAGS: Final = {
    "required": ("required", True), "email": ("format", "email"), "url": ("format", "uri"), "uri": ("format", "uri"),
    "uuid": ("format", "uuid"), "uuid4": ("format", "uuid"), "number": ("type", "number"), "numeric": ("type", "number"),
    "boolean": ("type", "boolean"), "alpha": ("pattern", "^[a-zA-Z]+$"), "alphanum": ("pattern", "^[a-zA-Z0-9]+$"),
    "lowercase": ("pattern", "^[^A-Z]+$"), "ipv4": ("format", "ipv4"), "ipv6": ("format", "ipv6"),
}  # fmt: skip
_GO_LIMITS: Final = {"gte": "minimum", "lte": "maximum", "gt": "exclusiveMinimum", "lt": "exclusiveMaximum"}


def go_validator(body: Any) -> Iterator[PlaceDemand]:
    """`Key: 'User.Name' Error:Field validation for 'Name' failed on the 'required' tag`, and fields with tags and parameters."""
    for text in texts_in(body, _DEPTH):
        for found in _GO.finditer(text):
            yield from _go_tag(path_of(found["path"]), found["tag"], "")
        for found in _GO_UNKNOWN.finditer(text):
            yield PlaceDemand((found["name"],), "forbidden", where="body")
        for found in _GO_TYPE.finditer(text):
            if found["type"].lower() in TYPES:
                yield PlaceDemand(path_of(found["path"]), "type", TYPES[found["type"].lower()], "body")
    for error in _items(body, ("errors", "error", "details")):
        lowered = {str(name).lower(): value for name, value in error.items()}
        if isinstance(lowered.get("tag"), str) and isinstance(lowered.get("field"), str):
            param = lowered.get("param", lowered.get("value", ""))
            yield from _go_tag(path_of(lowered["field"]), lowered["tag"], str(param))


def _go_tag(path: FieldPath, tag: str, param: str) -> Iterator[PlaceDemand]:
    if tag in _GO_TAGS:
        yield PlaceDemand(path, *_GO_TAGS[tag])
    elif tag == "oneof" and param:
        yield PlaceDemand(path, "enum", param.split())
    elif param.lstrip("-").isdigit():
        limit = int(param)
        if tag in _GO_LIMITS:
            yield PlaceDemand(path, _GO_LIMITS[tag], limit)
        elif tag in ("min", "max", "len"):
            # The tag limits the value of a number and the length of a text. The type of the sent value decides between the two.
            for word in ("min", "max") if tag == "len" else (tag,):
                yield PlaceDemand(path, f"{word}Length", limit)
                if tag != "len":
                    yield PlaceDemand(path, f"{word}imum", limit)


def _items(body: Any, names: FieldPath) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of the first list below one of the names, at most two levels down, or of the body itself."""
    found = body
    for _ in range(3):
        if not isinstance(found, dict):
            break
        found = next((found[name] for name in names if found.get(name)), None)
    if isinstance(found, list):
        yield from (one for one in found if isinstance(one, dict))


# Frameworks put their own words before it: `into the target type: name: ...`.
_PATH: Final = r"(?:^|(?<=: )|(?<=\n))(?P<path>[A-Za-z_][\w.\[\]-]*): "
_RULE = later_pattern(rf"{_PATH}Validation error: (?P<code>\w+) \[(?P<params>[^\n]*)")
_PARAM = later_pattern(r'"(?P<name>\w+)": Number\((?P<n>-?\d+(?:\.\d+)?)\)')
_IS_LIST = later_pattern(r'"value": Array')
_VARIANT = later_pattern(
    rf"{_PATH}unknown variant `[^`]*`, expected (?:one of )?(?P<list>`[^`]*`(?:(?:,| or) `[^`]*`)*)"
)
_MISSING_FIELD = later_pattern(rf"(?:{_PATH})?missing field `(?P<name>[^`]+)`")
_UNKNOWN = later_pattern(rf"(?:{_PATH})?unknown field `(?P<name>[^`]+)`")
_TYPE = later_pattern(rf"{_PATH}invalid (?:type|value): .*?, expected (?P<what>[\w ]+?)(?= at line|$|\n)")
_WORDS: Final = (
    (later_pattern(r"(?:a |an )?(?:borrowed )?string\b"), "string"),
    (later_pattern(r"[iu](?:8|16|32|64|128|size)\b|(?:an )?integer\b"), "integer"),
    (later_pattern(r"f(?:32|64)\b|(?:a )?floating"), "number"),
    (later_pattern(r"(?:a )?boolean\b"), "boolean"),
    (later_pattern(r"(?:a )?(?:sequence|tuple)\b"), "array"),
    (later_pattern(r"(?:a )?map\b|struct\b"), "object"),
)
_FORMATS: Final = {"email": "email", "url": "uri"}
_LENGTHS: Final = {"min": ("min",), "max": ("max",), "equal": ("min", "max")}
_RANGES: Final = {
    "min": "minimum",
    "max": "maximum",
    "exclusive_min": "exclusiveMinimum",
    "exclusive_max": "exclusiveMaximum",
}
_DEPTH: Final = 4
_LONGEST: Final = 4_000


def rust(body: Any) -> Iterator[PlaceDemand]:
    """`name: Validation error: length [{"min": Number(3)}]`, `{"name": [{"code": "length", "params": {"min": 3}}]}`, serde."""
    yield from _below(body, (), _DEPTH)


def _below(value: Any, path: FieldPath, depth: int) -> Iterator[PlaceDemand]:
    if isinstance(value, str):
        yield from _of_text(value[:_LONGEST])
    elif isinstance(value, dict) and depth:
        for name, inner in value.items():
            rules = (
                [
                    one
                    for one in inner
                    if isinstance(one, dict)
                    and isinstance(one.get("code"), str)
                    and isinstance(one.get("params"), dict)
                ]
                if isinstance(inner, list)
                else []
            )
            for rule in rules:
                numbers = {key: one for key, one in rule["params"].items() if is_number(one)}
                is_list = isinstance(rule["params"].get("value"), list)
                yield from _demands((*path, *path_of(name)), rule["code"], numbers, is_list=is_list)
            if not rules:
                yield from _below(inner, path, depth - 1)


def _of_text(text: str) -> Iterator[PlaceDemand]:
    for found in _RULE.finditer(text):
        params = found["params"]
        numbers = {one["name"]: number_of(one["n"]) for one in _PARAM.finditer(params)}
        is_list = _IS_LIST.search(params) is not None
        yield from _demands(path_of(found["path"]), found["code"], numbers, is_list=is_list)
    for found in _VARIANT.finditer(text):
        yield PlaceDemand(path_of(found["path"]), "enum", listed(found["list"]))
    for pattern, keyword in ((_MISSING_FIELD, REQUIRED), (_UNKNOWN, FORBIDDEN)):
        for found in pattern.finditer(text):
            above = path_of(found["path"]) if found["path"] else ()
            yield PlaceDemand((*above, found["name"]), keyword, where="body")
    for found in _TYPE.finditer(text):
        path, what = path_of(found["path"]), found["what"]
        yield from (PlaceDemand(path, "type", kind) for words, kind in _WORDS if words.match(what))


def _demands(path: FieldPath, code: str, numbers: Mapping[str, int | float], *, is_list: bool) -> Iterator[PlaceDemand]:
    if code in _FORMATS:
        yield PlaceDemand(path, "format", _FORMATS[code])
    elif code == "required":
        yield PlaceDemand(path, REQUIRED)
    elif code == "length":
        for name, ends in _LENGTHS.items():
            for end in ends if name in numbers else ():
                yield PlaceDemand(path, f"{end}{'Items' if is_list else 'Length'}", int(numbers[name]))
    elif code == "range":
        yield from (PlaceDemand(path, keyword, numbers[name]) for name, keyword in _RANGES.items() if name in numbers)
