"""Values for texts and numbers that no keyword lists: from prose, or from places of the same name."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from checker.core.resource_names import is_identifier, normalised
from checker.core.schema import Document, tokens_of
from checker.core.system import later_pattern
from checker.generation.normalization.forms import INTEGER, NUMBER, STRING, Facet

_SHOWING: Final = frozenset(("enum", "const", "example", "examples"))
_SHOWN: Final = _SHOWING | {"default"}
_SAYING: Final = _SHOWING | {"pattern", "format"}  # Keywords that describe a text better than prose does.
_LONGEST: Final = 2_000
_MOST: Final = 8
_MOST_ELSEWHERE: Final = 4
_MOST_NODES: Final = 200_000  # Objects and lists that are searched in one document.
_OPENING: Final = "[\"'`\u201c\u2018\u201e]"
_QUOTED: Final = rf"{_OPENING}([^\"'`\u201c\u201d\u2018\u2019\u201e\n]{{1,80}})[\"'`\u201d\u2019\u201c]"
_LEAD: Final = r"(?:\be\.\s?g\.|\bfor (?:example|instance)|\bexamples?:|\bsuch as|\bone of|\bset to)[,:]?\s+"
_LED: Final = later_pattern(rf"{_LEAD}(?:{_QUOTED}(?:,? (?:or|and) |, ?| ?\| ?)?)+", re.IGNORECASE)
_VALUE: Final = later_pattern(_QUOTED)
_BARE: Final = later_pattern(
    rf"{_LEAD}((?=[\w.:/+@-]*[\d_:@-])[A-Za-z0-9+-](?:[\w.:/+@-]*[A-Za-z0-9])?)(?![\w'\u2019])", re.IGNORECASE
)
"""A value without quotes that is not a word of the sentence: `e.g. 2024-01-31`, `for example en-US`."""
_LIST: Final = later_pattern(
    r"\bone of:?\s+([\w.-]+(?:,\s*[\w.-]+)*,?\s+(?:or|and)\s+[\w.-]+|[\w-]+(?:,\s*[\w-]+)+)", re.IGNORECASE
)
_FORMAT: Final = later_pattern(
    r"\b[Ff]ormat(?:ted as|\s+is|:)?\s+[\"'`]?((?:[a-z][.-]){1,3}[a-z]|[YMDHSymdhs:/. T-]{8,19})\b"
)
_BOUND: Final = later_pattern(
    r"\b(?:at least|at most|minimum(?: of| is|:)?|maximum(?: of| is|:)?|no (?:less|more) than)\s+(\d{1,9})\b(?!\.?\d|\s+(?:digit|char))",
    re.IGNORECASE,
)
"""A limit of a number, which itself is valid: `must be at least 1 second`, but not `at least 4 digits`."""
_OBJECT: Final = later_pattern(
    r"\b(?:object|body|payload|json|dict(?:ionary)?)\b[^.\n]{0,40}?\b(?:contain(?:s|ing)?|with|of|has|having)\b[^.\n]*",
    re.IGNORECASE,
)
_MOST_OBJECTS: Final = 3
_OF_RESPONSE: Final = later_pattern(r"\b(?:respon|return|result|output|receive)\w*[^{}.]{0,80}$", re.IGNORECASE)
_NO_COMMA: Final = later_pattern(r'(["\d}\]el])([ \t]*\n\s*")')
"""A line end in a JSON object where a comma is missing."""
_DATE_PARTS: Final = {"yyyy": "2024", "mm": "01", "dd": "31", "hh": "10", "ss": "30"}
_DATE_PART: Final = later_pattern("yyyy|mm|dd|hh|ss", re.IGNORECASE)


def prose_examples(raw: Mapping[str, Any], prose: str = "") -> list[str]:
    """Return the examples in prose for a text that no keyword describes, each once. `prose` is the text of its parameter."""
    if raw.get("type") != STRING or not _SAYING.isdisjoint(raw):
        return []
    found: list[str] = []
    for text in (raw.get("description"), prose):
        if isinstance(text, str):
            text = text[:_LONGEST]
            for led in _LED.finditer(text):
                found += _VALUE.findall(led[0])
            found += _BARE.findall(text)
            for listed in _LIST.findall(text):
                found += [word for word in re.split(r",\s*|\s+", listed) if word not in ("or", "and", "")]
            for template in _FORMAT.findall(text):
                # A template of a format, such as `x.y.z` or `YYYY-MM-DD`.
                if re.fullmatch(r"(?:[a-z][.-])+[a-z]", template):
                    numbers = iter(range(1, len(template)))
                    found.append("".join(str(next(numbers)) if one.isalpha() else one for one in template))
                    continue
                value = _DATE_PART.sub(lambda part: _DATE_PARTS[part[0].lower()], template).strip()
                if value != template and not re.search("[YMDHSymdhs]", value):
                    found.append(value)
    return list(dict.fromkeys(found))[:_MOST]


def named_members(prose: str) -> list[str]:
    """Return the members of an object that prose names, each once, as in `An object containing 'keys' and 'data'`."""
    found = [name for text in _OBJECT.findall(prose[:_LONGEST]) for name in _VALUE.findall(text)]
    return list(dict.fromkeys(name for name in found if name.isidentifier()))[:_MOST]


def prose_objects(prose: str) -> list[dict[str, Any]]:
    """Return the JSON objects in prose, each once, without nested objects and those that prose calls responses.

    Missing commas at line ends are added. An object that still is no JSON is left out.
    """
    text, at = _NO_COMMA.sub(r"\1,\2", prose[:_LONGEST]), 0
    found: list[dict[str, Any]] = []
    while len(found) < _MOST_OBJECTS and (start := text.find("{", at)) >= 0:
        before = text[at:start]
        try:
            value, at = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            # The search continues after the brace that closes the object at `start`.
            depth, at = 0, start
            while at < len(text):
                depth += (text[at] == "{") - (text[at] == "}")
                at += 1
                if not depth:
                    break
            continue
        if value and value not in found and not _OF_RESPONSE.search(before):
            found.append(value)
    return found


def told_values(document: Document, facet: Facet) -> list[Any]:
    """Return values for a schema without examples: first from its prose, then from other parameters and properties of the document.

    Those have the same name, type and format. Names that identify resources are left out, because servers mostly refuse
    a second resource with the same name.
    """
    raw = facet.raw
    if not isinstance(raw, dict) or raw.get("type") not in (STRING, INTEGER, NUMBER) or not _SHOWING.isdisjoint(raw):
        return []
    holder = _holder(document, facet)
    name, prose = holder.get("name"), holder.get("description")
    said = prose if isinstance(prose, str) else ""
    found: list[Any] = [*prose_examples(raw, said)]
    if raw["type"] != STRING:
        own = raw.get("description")
        found += map(int, _BOUND.findall(f"{own[:_LONGEST] if isinstance(own, str) else ''} {said[:_LONGEST]}"))
    if isinstance(name, str) and "default" not in raw and _SHOWING.isdisjoint(holder):
        found += _elsewhere(document).get((name, raw["type"], _text_or_none(raw.get("format"))), ())
    return found[:_MOST]


def _holder(document: Document, facet: Facet) -> Mapping[str, Any]:
    """Return the parameter that a schema belongs to, or the name of a property; empty for other schemas."""
    if facet.is_made:
        return {}
    tokens = tokens_of(facet.pointer)
    if tokens[-2:-1] == ("properties",):
        return {"name": tokens[-1]}
    if isinstance(facet.raw, dict) and "in" in facet.raw:
        return facet.raw
    at: Any = document.root
    for token in tokens[:-1] if tokens[-1:] == ("schema",) else ():
        if isinstance(at, list):
            at = at[int(token)] if token.isdecimal() and int(token) < len(at) else None
        else:
            at = at.get(token) if isinstance(at, dict) else None
    return at if isinstance(at, dict) and "in" in at else {}


_Kind = tuple[str, Any, Any]  # Name, type and format.


def _elsewhere(document: Document) -> Mapping[_Kind, list[Any]]:
    """Return the examples, defaults and `enum` members of all parameters and properties of a document."""
    found: dict[_Kind, list[Any]] | None = document.facts.get(_elsewhere)
    if found is None:
        found = document.facts[_elsewhere] = {}
        for name, schema, holder in _declared(document.root):
            if is_identifier(normalised(name)):
                continue
            kind = (name, _text_or_none(schema.get("type")), _text_or_none(schema.get("format")))
            values = found.setdefault(kind, [])
            for value in _shown((schema, holder)):
                is_scalar = isinstance(value, str | int | float) and not isinstance(value, bool)
                if is_scalar and value not in values and len(values) < _MOST_ELSEWHERE:
                    values.append(value)
    return found


def _text_or_none(value: object) -> str | None:
    # In OpenAPI 3.1 a type may be a list, which cannot be a key.
    return value if isinstance(value, str) else None


def _declared(root: Any) -> Iterator[tuple[str, Any, Mapping[str, Any]]]:
    """Yield (name, schema, parameter or schema) of the parameters and properties of a document with values, breadth first."""
    level: list[Any] = [root]
    searched = 0
    while level:
        below: list[Any] = []
        for node in level[: _MOST_NODES - searched]:
            members = node
            if isinstance(node, dict):
                members = node.values()
                name, properties = node.get("name"), node.get("properties")
                if isinstance(name, str) and isinstance(node.get("in"), str):
                    schema = node.get("schema", node)
                    if isinstance(schema, dict) and not (_SHOWN.isdisjoint(schema) and _SHOWN.isdisjoint(node)):
                        yield name, schema, node
                if isinstance(properties, dict):
                    for key, schema in properties.items():
                        if isinstance(schema, dict) and not _SHOWN.isdisjoint(schema):
                            yield str(key), schema, schema
            for one in members:
                # A tuple of classes takes a third of the time of a union. This runs for each value of a document.
                if isinstance(one, (dict, list)):
                    below.append(one)
        searched += len(level)
        if searched >= _MOST_NODES:
            return
        level = below


def _shown(holders: Iterable[Mapping[str, Any]]) -> Iterator[Any]:
    for holder in holders:
        yield from (holder[key] for key in ("example", "default", "const") if key in holder)
        examples = holder.get("examples")
        if isinstance(examples, dict):
            yield from (one.get("value") for one in examples.values() if isinstance(one, dict))
        for listed in (examples, holder.get("enum")):
            yield from listed if isinstance(listed, list) else ()
