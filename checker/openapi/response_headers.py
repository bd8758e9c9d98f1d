"""Headers of responses: required ones, and texts read by their schemas."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from checker.core.contract import HeaderOpinions, SchemaViolation
from checker.core.media_types import is_json
from checker.core.schema import Dialect, Schema, UnresolvableReference
from checker.openapi.implied import Implied, node_of
from checker.openapi.opinions import TwoOpinions
from checker.openapi.parameters import swagger_schema
from checker.openapi.readings import exact_json, readings
from checker.openapi.references import OpenApiDocument
from checker.transport.unstyled import Shape, header_value
from checker.validation.compiled import UnusableSchema
from checker.validation.pointers import pointer_child

_OTHERS: Final = frozenset({"content-type", "accept", "authorization"})
"""Said elsewhere in OpenAPI 3: such declarations are to be ignored."""
_DELIMITERS: Final = {"ssv": " ", "tsv": "\t", "pipes": "|"}


@dataclass(frozen=True, slots=True)
class HeaderRule:
    """What is promised of one header."""

    name: str
    required: bool
    opinions: TwoOpinions | None
    """None when nothing is said of its value, or what is said cannot be used."""
    explode: bool = False
    delimiter: str = ","
    is_json: bool = False

    def values(self, fields: list[str]) -> list[Any]:
        """Values that the fields of this name can stand for, most telling first."""
        assert self.opinions is not None
        schema = self.opinions.schema
        texts = dict.fromkeys((", ".join(fields), fields[0]))
        if self.is_json:
            return [value for text in texts for value in _json(text)]
        implied, node = Implied(schema.document, schema.dialect), node_of(schema)
        found = []
        for text in texts:
            for shape in _shapes(implied.types(node)):
                separated = text if shape is Shape.SCALAR else text.replace(self.delimiter, ",")
                try:
                    tree = header_value(separated.strip(" \t"), shape, explode=self.explode)
                except ValueError:
                    continue
                found += [reading.value for reading in readings(tree, node, implied)]
        return found or [fields[0]]


class HeaderContract:
    """Implements `checker.core.contract.HeaderValidator`."""

    __slots__ = ("_rules",)

    def __init__(self, rules: list[HeaderRule]) -> None:
        self._rules = tuple((rule.name.lower(), rule) for rule in rules)

    def is_valid(self, headers: Mapping[str, list[str]]) -> bool:
        """True when what is required is there, and what is there fits."""
        for name, rule in self._rules:
            fields = headers.get(name)
            if not fields:
                if rule.required:
                    return False
            elif rule.opinions is not None:
                # Most headers are text: no reading beside it is needed then.
                is_plain = not rule.is_json and rule.opinions.is_valid(fields[0])
                if not is_plain and not rule.opinions.any_valid(rule.values(fields)):
                    return False
        return True

    def opinions(self, headers: Mapping[str, list[str]]) -> HeaderOpinions:
        """What both validators say."""
        missing = [r.name for name, r in self._rules if r.required and not headers.get(name)]
        violations: list[tuple[str, SchemaViolation]] = []
        disagreements = []
        for name, rule in self._rules:
            fields = headers.get(name)
            if not fields or rule.opinions is None:
                continue
            said = rule.opinions.on([*rule.values(fields), *([] if rule.is_json else fields[:1])])
            violations += [(rule.name, violation) for violation in said.violations]
            if said.disagreement is not None:
                disagreements.append(f"the header {rule.name}: {said.disagreement}")
        return HeaderOpinions(tuple(missing), tuple(violations), tuple(disagreements))


def header_contract(
    document: OpenApiDocument, response: Mapping[str, Any], at: str, *, validate_formats: bool
) -> tuple[HeaderContract | None, list[str]]:
    """What a response object promises of headers, and notes on what cannot be validated."""
    declared = response.get("headers")
    rules: list[HeaderRule] = []
    notes: list[str] = []
    for name, raw in declared.items() if isinstance(declared, dict) else ():
        if name.lower() in _OTHERS and document.dialect is not Dialect.OPENAPI20:
            continue
        try:
            value, place = document.dereferenced(raw, pointer_child(at, "headers", name))
            if isinstance(value, dict):
                rules.append(_rule(document, name, value, place, validate_formats))
        except (UnresolvableReference, UnusableSchema) as error:
            notes.append(f"the header `{name}` is not validated: {error}")
    # Headers that are optional and say nothing of their values cost no time.
    telling = [rule for rule in rules if rule.required or rule.opinions is not None]
    return (HeaderContract(telling) if telling else None), notes


def _rule(
    document: OpenApiDocument, name: str, raw: dict[str, Any], at: str, validate_formats: bool
) -> HeaderRule:
    if document.dialect is Dialect.OPENAPI20:
        schema = document.schema(swagger_schema(raw), at)
        opinions = TwoOpinions(schema, validate_formats=validate_formats)
        delimiter = _DELIMITERS.get(str(raw.get("collectionFormat")), ",")
        return HeaderRule(name, False, opinions, delimiter=delimiter)
    found = _schema(document, raw, at)
    content = raw.get("content")
    return HeaderRule(
        name,
        raw.get("required") is True,
        None if found is None else TwoOpinions(found, validate_formats=validate_formats),
        raw.get("explode") is True,
        is_json="schema" not in raw and isinstance(content, dict) and any(map(is_json, content)),
    )


def _schema(document: OpenApiDocument, raw: dict[str, Any], at: str) -> Schema | None:
    content = raw.get("content")
    if "schema" not in raw and isinstance(content, dict) and content:
        media_type, inner = next(iter(content.items()))
        inner, at = document.dereferenced(inner, pointer_child(at, "content", media_type))
        raw = inner if isinstance(inner, dict) else {}
    schema = raw.get("schema")
    if not isinstance(schema, dict | bool) or schema in ({}, True):
        return None
    return document.schema(schema, pointer_child(at, "schema"))


def _shapes(types: frozenset[str]) -> Iterator[Shape]:
    if "object" in types:
        yield Shape.OBJECT
    if "array" in types:
        yield Shape.ARRAY
    if types - {"array", "object"}:
        yield Shape.SCALAR


def _json(text: str) -> list[Any]:
    try:
        return [exact_json(text)]
    except ValueError:
        return [text]
