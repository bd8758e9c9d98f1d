"""Headers of responses: required ones, and texts read by their schemas."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from checker.core.contract import BodyOpinions, HeaderOpinions, SchemaViolation
from checker.core.operation import Location, Parameter
from checker.core.schema import Dialect, Schema, UnresolvableReference
from checker.openapi.answers.texts import TwoOpinions
from checker.openapi.documents.dialects import flag, members
from checker.openapi.documents.references import OpenApiDocument
from checker.openapi.parameters import swagger_schema, swagger_style
from checker.schema.pointers import pointer_child
from checker.schema.views import outline_of
from checker.transport.wire.ambiguity import LOOSE
from checker.transport.wire.decoding import decode_header
from checker.validation.compiled import UnusableSchema

_OTHERS: Final = frozenset({"content-type", "accept", "authorization"})
"""OpenAPI 3 declares these elsewhere, and has such header objects ignored."""
_DIGITS: Final = 19
LONGEST: Final = 8192
"""Characters of all fields of one name that are read: a list of so many is read in several ways, item by item."""


class Unvalidated(Struct, frozen=True):
    """Something that is declared of responses and cannot be judged."""

    pointer: str
    reason: str
    is_unread: bool = False
    """True when nothing is wrong with it: values of that form are not read."""


class HeaderRule:
    """The rule of one declared header.

    Fields of one name are one list, their values joined by commas (RFC 9110, 5.3): what a schema of arrays reads, and only
    that. Of anything else a recipient may take the first value, the last one or all, so each of them has to fit, unless
    they fit joined. That a value which is no list was sent twice is no failure by itself: schemas do not speak of it.
    """

    def __init__(self, parameter: Parameter, opinions: TwoOpinions | None) -> None:
        """Without `opinions` nothing is said of its value."""
        self.name = parameter.name
        self.required = parameter.required
        self.opinions = opinions
        self._parameter = parameter
        self._outline = outline_of(parameter.schema)
        is_plain = parameter.media_type is None
        self._has_text = is_plain and "string" in self._outline.types
        self._has_integers = is_plain and "integer" in self._outline.types
        self._is_list = (
            is_plain
            and parameter.style == "simple"
            and self._outline.types == {"array"}
            # The one header that is repeated and cannot be joined: there are commas in its dates.
            and self.name.lower() != "set-cookie"
        )

    def fits(self, fields: list[str]) -> bool:
        """True when one reading is valid; text and whole numbers, which most headers are, are tried first."""
        opinions, text = self.opinions, fields[0]
        if opinions is None:
            return True
        if is_long(fields):
            return False
        if len(fields) == 1:
            if self._has_text and opinions.is_valid(text):
                return True
            is_short = self._has_integers and len(text) < _DIGITS
            if is_short and text.isdecimal() and text.isascii() and opinions.is_valid(int(text)):
                return True
        return any(all(map(opinions.any_valid, way)) for way in self._ways(fields))

    def said(self, fields: list[str]) -> BodyOpinions:
        """Return the opinions of both validators."""
        if self.opinions is None:
            return BodyOpinions()
        found = [_worst(list(map(self.opinions.on, way))) for way in self._ways(fields)]
        # One way in which all fits is enough, and one doubt is enough to call nothing wrong.
        return next(
            (one for one in found if not one.violations and one.disagreement is None),
            next((one for one in found if one.disagreement is not None), found[0]),
        )

    def _ways(self, fields: list[str]) -> list[list[list[Any]]]:
        """Ways to read the fields, most telling first: texts, each by the values that it can stand for."""
        if self._is_list:
            # Empty elements of a list count for nothing (RFC 9110, 5.6.1).
            fields = list(filter(None, fields)) or [""]
        joined = [self._values(", ".join(fields))]
        if len(fields) == 1 or self._is_list:
            return [joined]
        return [[self._values(text) for text in dict.fromkeys(fields)], joined]

    def _values(self, text: str) -> list[Any]:
        decoded = decode_header(self._parameter, text, self._outline)
        found: list[Any] = []
        if isinstance(decoded, list):
            # What only generous readers take for a number or a boolean is not what was promised.
            found = [reading.value for reading in decoded if reading.doubt != LOOSE]
        # Text that is not of its media type is the text that it is.
        return found or [text]


class HeaderContract:
    """Implements `checker.core.contract.HeaderValidator`."""

    def __init__(self, rules: list[HeaderRule]) -> None:
        self._rules = tuple((rule.name.lower(), rule) for rule in rules)

    def is_valid(self, headers: Mapping[str, list[str]]) -> bool:
        """True when what is required is there, and what is there fits."""
        for name, rule in self._rules:
            fields = headers.get(name)
            if not fields:
                if rule.required:
                    return False
            elif not rule.fits(fields):
                return False
        return True

    def opinions(self, headers: Mapping[str, list[str]]) -> HeaderOpinions:
        """Return the opinions of both validators."""
        missing = [r.name for name, r in self._rules if r.required and not headers.get(name)]
        violations: list[tuple[str, SchemaViolation]] = []
        disagreements, unread = [], []
        for name, rule in self._rules:
            fields = headers.get(name)
            if not fields:
                continue
            if rule.opinions is not None and is_long(fields):
                unread.append(rule.name)
                continue
            said = rule.said(fields)
            violations += [(rule.name, violation) for violation in said.violations]
            if said.disagreement is not None:
                disagreements.append(f"the header {rule.name}: {said.disagreement}")
        return HeaderOpinions(tuple(missing), tuple(violations), tuple(disagreements), tuple(unread))


def is_long(fields: list[str]) -> bool:
    """Whether the fields of one name are more than is read."""
    return len(fields[0]) > LONGEST if len(fields) == 1 else sum(map(len, fields)) > LONGEST


def _worst(opinions: list[BodyOpinions]) -> BodyOpinions:
    """Return the opinion on texts that all have to fit: the first that does not, else one in doubt, else any."""
    doubted = next((one for one in opinions if one.disagreement is not None), opinions[0])
    return next((one for one in opinions if one.violations), doubted)


def header_contract(
    document: OpenApiDocument, response: Mapping[str, Any], at: str, *, validate_formats: bool
) -> tuple[HeaderContract | None, list[Unvalidated]]:
    """Return the contract of a response object's headers, and the headers that cannot be judged."""
    rules: list[HeaderRule] = []
    faults: list[Unvalidated] = []
    for name, raw, place in members(response, at, "headers"):
        if name.lower() in _OTHERS and document.dialect is not Dialect.OPENAPI20:
            continue
        try:
            value, place = document.dereferenced(raw, place)
            if isinstance(value, dict):
                parameter = _parameter(document, name, value, place)
                place = parameter.schema.pointer
                is_open = parameter.schema.raw in ({}, True)
                opinions = None if is_open else TwoOpinions(parameter.schema, validate_formats=validate_formats)
                rules.append(HeaderRule(parameter, opinions))
        except (UnresolvableReference, UnusableSchema) as error:
            faults.append(Unvalidated(place, str(error)))
    # Headers that are optional and say nothing of their values cost no time.
    telling = [rule for rule in rules if rule.required or rule.opinions is not None]
    return (HeaderContract(telling) if telling else None), faults


def _parameter(document: OpenApiDocument, name: str, raw: dict[str, Any], at: str) -> Parameter:
    """A header as a parameter. Raises `UnresolvableReference`."""
    if document.dialect is Dialect.OPENAPI20:
        schema = document.schema(swagger_schema(raw), at)
        style, _ = swagger_style(raw.get("collectionFormat"), "header")
        return Parameter(name, Location.HEADER, False, schema, style, False)
    schema, media_type = _schema(document, raw, at)
    is_required, explode = bool(flag(raw, "required")), bool(flag(raw, "explode"))
    return Parameter(name, Location.HEADER, is_required, schema, "simple", explode, media_type)


def _schema(document: OpenApiDocument, raw: dict[str, Any], at: str) -> tuple[Schema, str | None]:
    content, media_type = raw.get("content"), None
    if "schema" not in raw and isinstance(content, dict) and content:
        media_type, inner = next(iter(content.items()))
        inner, at = document.dereferenced(inner, pointer_child(at, "content", media_type))
        raw = inner if isinstance(inner, dict) else {}
    schema = raw.get("schema")
    if not isinstance(schema, dict | bool):
        schema = {}
    return document.schema(schema, pointer_child(at, "schema")), media_type
