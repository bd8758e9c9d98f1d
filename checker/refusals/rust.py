"""Error bodies of Rust: the crate `validator` as text and as JSON, and serde with the path that frameworks put before its words."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from checker.core.constraints import FORBIDDEN, REQUIRED
from checker.refusals.said import PlaceDemand, path_of
from checker.refusals.sentences import listed, number_of

# Frameworks put words of their own before it: `into the target type: name: ...`.
_PATH: Final = r"(?:^|(?<=: )|(?<=\n))(?P<path>[A-Za-z_][\w.\[\]-]*): "
_RULE = re.compile(rf"{_PATH}Validation error: (?P<code>\w+) \[(?P<params>[^\n]*)")
_PARAM = re.compile(r'"(?P<name>\w+)": Number\((?P<n>-?\d+(?:\.\d+)?)\)')
_IS_LIST = re.compile(r'"value": Array')
_VARIANT = re.compile(
    rf"{_PATH}unknown variant `[^`]*`, expected (?:one of )?(?P<list>`[^`]*`(?:(?:,| or) `[^`]*`)*)"
)
_MISSING = re.compile(rf"(?:{_PATH})?missing field `(?P<name>[^`]+)`")
_UNKNOWN = re.compile(rf"(?:{_PATH})?unknown field `(?P<name>[^`]+)`")
_TYPE = re.compile(
    rf"{_PATH}invalid (?:type|value): .*?, expected (?P<what>[\w ]+?)(?= at line|$|\n)"
)
_WORDS: Final = (
    (re.compile(r"(?:a |an )?(?:borrowed )?string\b"), "string"),
    (re.compile(r"[iu](?:8|16|32|64|128|size)\b|(?:an )?integer\b"), "integer"),
    (re.compile(r"f(?:32|64)\b|(?:a )?floating"), "number"),
    (re.compile(r"(?:a )?boolean\b"), "boolean"),
    (re.compile(r"(?:a )?(?:sequence|tuple)\b"), "array"),
    (re.compile(r"(?:a )?map\b|struct\b"), "object"),
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


def _below(value: Any, path: tuple[str, ...], depth: int) -> Iterator[PlaceDemand]:
    if isinstance(value, str):
        yield from _of_text(value[:_LONGEST])
    elif isinstance(value, dict) and depth:
        for name, inner in value.items():
            rules = [one for one in inner if _is_rule(one)] if isinstance(inner, list) else []
            for rule in rules:
                numbers = {key: one for key, one in rule["params"].items() if _is_number(one)}
                is_list = isinstance(rule["params"].get("value"), list)
                yield from _demands((*path, *path_of(name)), rule["code"], numbers, is_list=is_list)
            if not rules:
                yield from _below(inner, path, depth - 1)


def _is_rule(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("code"), str)
        and isinstance(value.get("params"), dict)
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _of_text(text: str) -> Iterator[PlaceDemand]:
    for found in _RULE.finditer(text):
        params = found["params"]
        numbers = {one["name"]: number_of(one["n"]) for one in _PARAM.finditer(params)}
        is_list = _IS_LIST.search(params) is not None
        yield from _demands(path_of(found["path"]), found["code"], numbers, is_list=is_list)
    for found in _VARIANT.finditer(text):
        yield PlaceDemand(path_of(found["path"]), "enum", listed(found["list"]))
    for pattern, keyword in ((_MISSING, REQUIRED), (_UNKNOWN, FORBIDDEN)):
        for found in pattern.finditer(text):
            above = path_of(found["path"]) if found["path"] else ()
            yield PlaceDemand((*above, found["name"]), keyword, where="body")
    for found in _TYPE.finditer(text):
        for words, kind in _WORDS:
            if words.match(found["what"]):
                yield PlaceDemand(path_of(found["path"]), "type", kind)


def _demands(
    path: tuple[str, ...], code: str, numbers: Mapping[str, int | float], *, is_list: bool
) -> Iterator[PlaceDemand]:
    if code in _FORMATS:
        yield PlaceDemand(path, "format", _FORMATS[code])
    elif code == "required":
        yield PlaceDemand(path, REQUIRED)
    elif code == "length":
        for name, ends in _LENGTHS.items():
            for end in ends if name in numbers else ():
                yield PlaceDemand(
                    path, f"{end}{'Items' if is_list else 'Length'}", int(numbers[name])
                )
    elif code == "range":
        for name, keyword in _RANGES.items():
            if name in numbers:
                yield PlaceDemand(path, keyword, numbers[name])
