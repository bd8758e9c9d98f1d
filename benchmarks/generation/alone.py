"""Whether a keyword can be broken alone: a search that knows nothing of the generator's ways, judged by the referee.

Values of the schema, wrong ones, guesses and labelled instances are changed at one place, then at two, by rules that
are the same for all schemas. What no candidate shows is taken to be impossible, and the reason is what they all show.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import chain, islice
from time import process_time
from typing import Any, Final

from jsonschema import ValidationError

from checker.schema.views import type_of
from checker.validation.formats import INTEGER_RANGES
from checker.validation.referee import Referee
from tests.measuring.oracles import as_json
from tests.measuring.probes import guesses

_ALIASES: Final = {
    "exclusiveMinimum": "minimum",
    "exclusiveMaximum": "maximum",
    "dependentRequired": "dependencies",
    "dependentSchemas": "dependencies",
}

_STRINGS, _NUMBERS, _ARRAYS, _OBJECTS = (
    {"string"}, {"number", "integer"}, {"array"}, {"object"},
)  # fmt: skip
_SPEAKS_OF: Final[dict[str, set[str]]] = {
    **dict.fromkeys(("minLength", "maxLength", "pattern"), _STRINGS),
    **dict.fromkeys(("minimum", "maximum", "multipleOf"), _NUMBERS),
    **dict.fromkeys(("minItems", "maxItems", "uniqueItems"), _ARRAYS),
    **dict.fromkeys(("minProperties", "maxProperties", "required"), _OBJECTS),
}
"""Keyword -> types of values that it can be broken by."""
_CANDIDATES: Final = 4_000
_SECONDS: Final = 4.0
_NODES: Final = 40
"""Places of a value that are changed."""
_LOOKED_AT: Final = 400
_LARGE: Final = 20_000
"""Longer values, as JSON, are not changed."""
_UNKNOWN: Final = "unheard of"
_PROBES: Final[tuple[Any, ...]] = (
    None, True, False, 0, 1, -1, 7, 1.5, 10**9, 10**30, -(10**30), "", "a", " ", "aaaa", "a" * 60, "%", "~", [], [None], {}, {_UNKNOWN: 1},
)  # fmt: skip


def is_about(error: ValidationError, keyword: str) -> bool:
    """True when an error is of the keyword, or of what stands in it."""
    path = error.absolute_schema_path
    named = keyword if keyword != "false" else None
    return _alias(error.validator) == _alias(named) or keyword in path


def _alias(keyword: object) -> object:
    return _ALIASES.get(str(keyword), keyword)


def is_alone(errors: list[ValidationError], keyword: str) -> bool:
    """True when the only leaf error is of the keyword.

    What one schema says of several items counts once. An error of `anyOf` or `oneOf` is a leaf, and so is the only error of one of the alternatives: nothing else keeps
    the value from being what that alternative means.
    """
    if len({tuple(error.absolute_schema_path) for error in errors}) != 1:
        return False
    error = errors[0]
    if is_about(error, keyword):
        return True
    return any(is_alone(branch, keyword) for branch in _branches(error))


def _branches(error: ValidationError) -> list[list[ValidationError]]:
    found: dict[object, list[ValidationError]] = {}
    for inner in error.context or ():
        found.setdefault(inner.schema_path[0] if inner.schema_path else None, []).append(inner)
    return list(found.values())


def _breaks(errors: Iterable[ValidationError], keyword: str) -> bool:
    return any(is_about(error, keyword) or _breaks(error.context or (), keyword) for error in errors)


@dataclass(slots=True)
class Search:
    """What candidates of one schema show."""

    tried: int = 0
    broken: int = 0
    """Those that break the keyword."""
    beside: Counter[str] = field(default_factory=Counter)
    """What else they break."""
    found: Any = None
    """The value that breaks nothing else, in a list."""
    implied: str = ""
    """Why there is nothing to search for."""

    @property
    def reason(self) -> str:
        """Why it cannot be broken alone, as far as candidates show."""
        if self.implied:
            return self.implied
        if not self.broken:
            return f"none of {self.tried} candidates breaks it"
        others = ", ".join(name for name, _ in self.beside.most_common(3))
        return f"{self.broken} of {self.tried} candidates break it, all of them {others} as well"


@dataclass(frozen=True, slots=True)
class Words:
    """What a schema speaks of."""

    names: tuple[str, ...]
    values: tuple[Any, ...]
    near: tuple[tuple[str, ...], ...] = ()
    """Where in a value the keyword speaks; `*` is any name."""


def words_of(raw: object, near: Iterable[tuple[str, ...]]) -> Words:
    """Names of properties and listed values, wherever they stand."""
    names: dict[str, None] = {}
    values: list[Any] = []
    todo = [raw]
    while todo and len(names) < 60:
        node = todo.pop(0)
        if isinstance(node, list):
            todo += node
        if not isinstance(node, dict):
            continue
        todo += node.values()
        for word in ("properties", "dependentRequired", "dependentSchemas", "dependencies"):
            if isinstance(node.get(word), dict):
                names |= dict.fromkeys(node[word])
        if isinstance(node.get("required"), list):
            names |= {name: None for name in node["required"] if isinstance(name, str)}
        values += [node[word] for word in ("const", "default", "example") if word in node]
        for word in ("enum", "examples"):
            if isinstance(node.get(word), list):
                values += node[word][:6]
    return Words(tuple(names), tuple(values[:60]), tuple(near))


def implied(keyword: str, schemas: list[object]) -> str:
    """Why none of these schemas can have the keyword broken alone, by what stands beside it; empty when that does not say."""
    reasons = {_implied(keyword, schema) if isinstance(schema, dict) else "" for schema in schemas}
    return "" if "" in reasons else "; ".join(sorted(reasons))


def _implied(keyword: str, schema: dict[str, Any]) -> str:
    declared = schema.get("type")
    types = set(declared) if isinstance(declared, list) else {declared}
    if schema.get("nullable") is True or schema.get("x-nullable") is True or None in types:
        return ""
    types |= {"integer"} if "number" in types else set()
    listed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if keyword == "type" and isinstance(listed, list):
        if all(type_of(value) & types for value in listed):
            return "all listed values have the type: any other is not listed either"
        return ""
    if keyword == "format" and {"minimum", "maximum"} <= schema.keys() and not types - _NUMBERS:
        low, high = INTEGER_RANGES.get(schema["format"], (1, 0))
        if low <= schema["minimum"] and schema["maximum"] <= high:
            return "its range holds the bounds that are declared"
    wanted = _SPEAKS_OF.get(keyword)
    if wanted is not None and not types & wanted:
        return f"it speaks of {min(wanted)} only, and the type is {declared}"
    return ""


def search(
    leaves: Referee,
    words: Words,
    seeds: Iterable[Any],
    keyword: str,
    travels: Callable[[Any], bool] = lambda value: True,
) -> Search:
    """Look for a value whose only leaf error is of the keyword, among those that can be sent."""
    search = Search()
    until = process_time() + _SECONDS
    for value in islice(filter(travels, _candidates(list(seeds), words)), _CANDIDATES):
        if process_time() > until:
            break
        search.tried += 1
        errors = leaves.whole_errors(as_json(value))
        if _breaks(errors, keyword):
            search.broken += 1
            search.beside.update({str(error.validator or "false") for error in errors if not is_about(error, keyword)})
            if is_alone(errors, keyword):
                search.found = [value]
                break
    return search


def _candidates(seeds: list[Any], words: Words) -> Iterator[Any]:
    """All at first, then each with one change, then those with two."""
    first = [*seeds, *guesses(), *words.values]
    yield from first
    small = [value for value in first if len(json.dumps(value, default=repr)) < _LARGE]
    seen: set[str] = set()
    for changed in _alternating([_variants(value, words) for value in small]):
        text = json.dumps(changed, default=repr, sort_keys=True)
        if text not in seen and len(seen) < _CANDIDATES:
            seen.add(text)
            yield changed
    for text in list(seen):
        yield from islice(_variants(json.loads(text), words), 20)


def _alternating(parts: list[Iterator[Any]]) -> Iterator[Any]:
    """One of each, and again, until all are spent."""
    while parts:
        left = []
        for part in parts:
            for value in islice(part, 4):
                yield value
                left.append(part)
        parts = list({id(part): part for part in left}.values())


def _variants(value: Any, words: Words) -> Iterator[Any]:
    """The value with one change, where the keyword speaks first."""
    paths = sorted(islice(_paths(value), _LOOKED_AT), key=lambda path: _distance(path, words.near))
    for path in paths[:_NODES]:
        node = _at(value, path)
        for other in chain(_changes(node, words), _PROBES, words.values):
            yield _with(value, path, other)


def _paths(value: Any) -> Iterator[tuple[Any, ...]]:
    todo: list[tuple[Any, ...]] = [()]
    while todo:
        path = todo.pop(0)
        yield path
        node = _at(value, path)
        if isinstance(node, dict):
            todo += [(*path, name) for name in node]
        elif isinstance(node, list):
            todo += [(*path, index) for index in range(len(node))]


def _distance(path: tuple[Any, ...], near: tuple[tuple[str, ...], ...]) -> int:
    """Steps between a place and the nearest of some others."""
    return min((_steps(path, other) for other in near), default=len(path))


def _steps(path: tuple[Any, ...], other: tuple[str, ...]) -> int:
    together = 0
    for token, meant in zip(path, other, strict=False):
        if meant not in ("*", str(token)):
            break
        together += 1
    return len(path) + len(other) - 2 * together


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for token in path:
        value = value[token]
    return value


def _with(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    if not path:
        return other
    changed = deepcopy(value)
    _at(changed, path[:-1])[path[-1]] = other
    return changed


def _changes(node: Any, words: Words) -> Iterator[Any]:
    """What is close to a value."""
    if isinstance(node, str):
        yield from (node + "x", node[:-1], node[1:], node * 2, node[:1], node.swapcase(), node + " ")
        yield from (node + "%", " " + node, node + "\n", "-" + node, node * 40)
    elif isinstance(node, int | float) and not isinstance(node, bool):
        yield from (node + 1, node - 1, node * 2, -node, node / 2, node + 0.5, node * 1000, node / 3)
    elif isinstance(node, list):
        yield from ([*node, item] for item in (*node[-1:], *_PROBES, *words.values))
        yield from (node[:-1], node[1:], node * 2, node[::-1], node * 30)
    elif isinstance(node, dict):
        for name in node:
            yield {other: item for other, item in node.items() if other != name}
        for name in (_UNKNOWN, *words.names, "a", "x-a", "1"):
            if name not in node:
                for item in (*_PROBES, *words.values[:10]):
                    yield {**node, name: item}
