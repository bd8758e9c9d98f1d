"""JSON texts in the properties of an event: `contentMediaType` and `contentSchema` (OpenAPI 3.2, 4.14.4)."""

from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from checker.core.contract import BodyOpinions
from checker.core.schema import Schema, UnresolvableReference
from checker.openapi.answers.opinions import TwoOpinions
from checker.openapi.answers.texts import BeyondLimits, json_of_text
from checker.validation.compiled import UnusableSchema
from checker.validation.pointers import pointer_child

_MOST: Final = 1000
"""Schemas that are looked through: alternatives may lead to each other in far more ways."""
_Way = tuple[str, ...]


class Payloads(Struct):
    """What one schema says of them."""

    own: dict[str, tuple[TwoOpinions, _Way]] = field(default_factory=dict)
    """By property: the schema of its text, and the way to it."""
    parts: list["Payloads"] = field(default_factory=list)
    """Of schemas that say more of the same event."""
    choices: list[list[tuple[TwoOpinions, "Payloads"]]] = field(default_factory=list)
    """Alternatives, each with the schema that says whether an event is one of them."""

    def __bool__(self) -> bool:
        return bool(self.own or self.parts or self.choices)

    def opinions(self, event: dict[str, Any]) -> Iterator[BodyOpinions]:
        """What both validators say of the texts of an event that is valid itself."""
        for name, (payload, way) in self.own.items():
            if isinstance(event.get(name), str):
                yield _of_text(payload, name, event[name], way)
        for part in self.parts:
            yield from part.opinions(event)
        for branches in self.choices:
            admitting = [inner for branch, inner in branches if branch.is_valid(event)]
            yield from _nearest([list(inner.opinions(event)) for inner in admitting])


def payloads_of(schema: Schema) -> Payloads:
    """What a schema of events says of texts in them; what cannot be read says nothing."""
    return _EventWalk(schema).read(schema.raw, schema.pointer, (), frozenset())


def _nearest(said: list[list[BodyOpinions]]) -> list[BodyOpinions]:
    """What is wrong by the alternative that an event comes nearest to: nothing is, if one of them finds nothing."""
    return next(
        (one for one in said if not any(each.violations for each in one)), (said or [[]])[0]
    )


class _EventWalk:
    """One walk through the schemas of an event."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._left = _MOST

    def read(self, raw: object, at: str, way: _Way, above: frozenset[str]) -> Payloads:
        found = Payloads()
        self._left -= 1
        if not isinstance(raw, dict) or at in above or self._left < 0:
            return found
        above |= {at}
        try:
            if isinstance(raw.get("$ref"), str):
                target, place = self._schema.document.resolve(raw["$ref"], at=at)
                found.parts.append(self.read(target, place, (*way, "$ref"), above))
        except UnresolvableReference:
            # Told where the schema is compiled.
            return found
        for keyword in ("allOf", "oneOf", "anyOf"):
            inner = list(self._listed(raw.get(keyword), pointer_child(at, keyword), way, above))
            if not any(payloads for _, payloads in inner):
                continue
            if keyword == "allOf":
                found.parts += [payloads for _, payloads in inner]
            else:
                self._choose(found, inner)
        self._own(found, raw, at, way)
        found.parts = [part for part in found.parts if part]
        return found

    def _listed(
        self, listed: object, at: str, way: _Way, above: frozenset[str]
    ) -> Iterator[tuple[Schema, Payloads]]:
        keyword = at.rpartition("/")[2]
        for index, raw in enumerate(listed if isinstance(listed, list) else ()):
            place = pointer_child(at, str(index))
            payloads = self.read(raw, place, (*way, keyword, str(index)), above)
            yield self._at(raw, place), payloads

    def _choose(self, found: Payloads, inner: list[tuple[Schema, Payloads]]) -> None:
        try:
            branches = [
                (TwoOpinions(schema, validate_formats=True), payloads) for schema, payloads in inner
            ]
        except (UnresolvableReference, UnusableSchema):
            # Nobody can tell which alternative an event is.
            return
        found.choices.append(branches)

    def _own(self, found: Payloads, raw: dict[str, Any], at: str, way: _Way) -> None:
        properties = raw.get("properties")
        for name, inner in properties.items() if isinstance(properties, dict) else ():
            if not isinstance(inner, dict) or not _is_json_text(inner):
                continue
            place = pointer_child(at, "properties", name, "contentSchema")
            try:
                payload = TwoOpinions(
                    self._at(inner["contentSchema"], place), validate_formats=True
                )
            except (UnresolvableReference, UnusableSchema):
                continue
            found.own[name] = (payload, (*way, "properties", name, "contentSchema"))

    def _at(self, raw: object, place: str) -> Schema:
        return Schema(raw, place, self._schema.dialect, self._schema.document)


def _of_text(payload: TwoOpinions, name: str, text: str, way: _Way) -> BodyOpinions:
    try:
        values = [json_of_text(text)]
    except BeyondLimits as error:
        return BodyOpinions(unread=str(error))
    except ValueError:
        # What is no JSON breaks the schema as the text that it is, if that is not allowed.
        values = [text]
    said = payload.on(values)
    moved = tuple(
        replace(
            one,
            instance_path=(name, *one.instance_path),
            schema_path=(*way, *one.schema_path),
            is_payload=True,
        )
        for one in said.violations
    )
    return BodyOpinions(moved, None, said.disagreement)


def _is_json_text(raw: dict[str, Any]) -> bool:
    media_type = raw.get("contentMediaType")
    return (
        isinstance(media_type, str)
        and media_type.partition(";")[0].strip().lower().endswith("json")
        and isinstance(raw.get("contentSchema"), dict | bool)
    )
