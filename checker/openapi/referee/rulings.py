"""Verdicts on a part of a request, from its readings."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from checker.core.contract import Outcome, PartVerdict, SchemaViolation
from checker.core.operation import Parameter
from checker.core.request import Location
from checker.core.schema import Direction, Schema
from checker.core.system import later, later_pattern
from checker.schema.discriminators import Family, Heir, family_of, has_bases
from checker.schema.views import AppliedSchema, Outline, outline_of
from checker.transport.wire.ambiguity import UNKNOWN
from checker.transport.wire.readings import Reading

if TYPE_CHECKING:
    import checker.validation.referee as opinions
    from checker.validation.referee import Referee
else:
    # Asked first when a value is wrong: jsonschema is a sixth of the imports of a worker.
    opinions = later("checker.validation.referee", by_all=False)

_INVERTING: Final = frozenset({"contains", "if", "not", "oneOf", "then"})
"""Keywords by which a value is wrong because it fits a schema."""
_ENGINES: Final = "engines of regular expressions do not agree whether it matches"
_CLASSES: Final = later_pattern(r"\\[bBdDsSwW]")

_UNNAMED: Final = "its discriminator names no schema, or a schema that the value fits only in part"


def _is_read_otherwise(violation: SchemaViolation) -> bool:
    """Whether a text that breaks a pattern may match it in the engine of the service.

    `$` matches before a final line break in Python, Perl and PHP, and engines differ on digits, letters and white
    space beyond ASCII.
    """
    schema, value = violation.schema, violation.value
    if violation.keyword != "pattern" or not isinstance(schema, dict) or not isinstance(value, str):
        return False
    pattern = str(schema.get("pattern"))
    if value.endswith("\n") and "$" in pattern:
        return True
    return not value.isascii() and _CLASSES.search(pattern) is not None


class Rule:
    """A schema with its outline and its referee."""

    __slots__ = ("_families", "_has_bases", "_parts", "outline", "referee", "schema")

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.outline = outline_of(schema)
        self.referee = opinions.referee(schema, Direction.REQUEST)
        self._parts: dict[str, Referee] = {}
        self._families: dict[str, Family | None] = {}
        self._has_bases = has_bases(schema.document)

    def errors(self, value: Any) -> tuple[list[SchemaViolation], str]:
        """Return the violations of a value, and a reason to doubt that it is valid without any.

        A value of a base schema must also fit the heir that its discriminator names.
        """
        wrong, doubt = self.referee.errors(value), next(iter(self.referee.doubts), "")
        if doubt:
            # A schema that is not understood may be narrower than it seems, which makes these errors uncertain.
            wrong = [one for one in wrong if _INVERTING.isdisjoint(one.schema_path)]
        todo: list[tuple[Outline, Any, tuple[str | int, ...], bool]] = []
        if self._has_bases and not wrong:
            todo.append((self.outline, value, (), True))
        while todo:
            outline, inner, path, is_sure = todo.pop()
            todo += [(one, inner, path, False) for some in outline.alternatives() for one in some]
            if isinstance(inner, list):
                todo += [(outline.item(i), item, (*path, i), is_sure) for i, item in enumerate(inner)]
            if not isinstance(inner, dict):
                continue
            for named in self._named(outline, inner):
                if named is None:
                    doubt = doubt or _UNNAMED
                    continue
                heir = self.outline.schema_at(named.raw, named.where)
                faults = [
                    replace(one, instance_path=(*path, *one.instance_path))
                    for one in self._part(AppliedSchema(heir.raw, heir.pointer)).errors(inner)
                ]
                if faults and is_sure:
                    return faults, ""
                doubt = doubt or (_UNNAMED if faults else "")
                outline = outline_of(heir)
            todo += [(outline.property(name), item, (*path, name), is_sure) for name, item in inner.items()]
        return wrong, doubt

    def _named(self, outline: Outline, value: dict[str, Any]) -> Iterator[Heir | None]:
        """Yield the heir that the discriminator of each base schema names; None if it names none."""
        facets = outline.facets()
        places = {facet.pointer for facet in facets}
        for base in facets:
            if not isinstance(base.raw, dict) or "discriminator" not in base.raw:
                continue
            if base.pointer not in self._families:
                root = self.schema.document.root
                self._families[base.pointer] = family_of(base.raw, base.pointer, root, outline.lookup)
            family = self._families[base.pointer]
            if family is not None and places.isdisjoint(heir.where for heir in family.heirs):
                tag = value.get(family.property_name)
                if tag not in family.own_names:
                    yield next((heir for heir in family.heirs if tag in heir.names), None)

    def likely(self, found: list[Reading], outline: Outline) -> list[Reading]:
        """Return the readings of a part of the value that fit the schemas of the part alone; the first one if none fits.

        A part that is wrong by itself makes the whole wrong.
        """
        if len(found) == 1:
            return found
        judges = [self._part(facet) for facet in outline.facets() if isinstance(facet.raw, dict)]
        fits = [one for one in found if not any(judge.errors(one.value) for judge in judges)]
        if fits and found[0] not in fits and all(one.doubt for one in fits):
            # The most likely reading does not fit.
            return [found[0], *fits]
        return fits or [one for i, one in enumerate(found) if i == 0 or one.doubt in UNKNOWN]

    def _part(self, facet: AppliedSchema) -> "Referee":
        judge = self._parts.get(facet.pointer)
        if judge is None:
            schema = replace(self.schema, raw=facet.raw, pointer=facet.pointer)
            judge = self._parts[facet.pointer] = opinions.referee(schema, Direction.REQUEST)
        return judge


class Part(Struct, frozen=True):
    """The part of a request that a verdict is about."""

    location: Location
    name: str
    pointer: str = ""
    """Pointer of the parameter, or of the media type object."""

    @classmethod
    def of(cls, parameter: Parameter) -> "Part":
        return cls(parameter.location, parameter.name, parameter.pointer)

    def valid(self) -> list[PartVerdict]:
        return [PartVerdict(self.location, self.name, Outcome.VALID, self.pointer)]

    def ambiguous(self, reason: str, value: object = None) -> list[PartVerdict]:
        """Return the verdict of a part that may be right or wrong."""
        return [self._verdict(Outcome.AMBIGUOUS, "", reason, value)]

    def undeclared(self, reason: str) -> list[PartVerdict]:
        """Return the verdict of a part that the description does not declare."""
        return [self._verdict(Outcome.UNDECLARED, "", reason, None)]

    def broken(self, keyword: str, reason: str, value: object = None) -> list[PartVerdict]:
        """Return the verdict of a part that breaks a rule outside of schemas: style, encoding, presence."""
        return [self._verdict(Outcome.INVALID, keyword, reason, value)]

    def judged(self, found: list[Reading], rule: Rule) -> list[PartVerdict]:
        """Return valid if a reading beyond doubt is valid, invalid if every reading is invalid, ambiguous otherwise."""
        errors: list[tuple[Reading, list[SchemaViolation]]] = []
        read_only: set[str] = set()
        doubts: list[str] = []
        for reading in found:
            wrong, doubt = rule.errors(reading.value)
            errors.append((replace(reading, doubt=doubt) if doubt and not reading.doubt else reading, wrong))
            if not wrong:
                read_only |= rule.referee.read_only
                doubts.append(doubt)
        fits = [reading for reading, wrong in errors if not wrong]
        unknown = next((one.doubt for one in found if one.doubt in UNKNOWN), None)
        # Readings that were not tried may be valid, so such a part is never called wrong.
        if not fits and unknown is not None:
            return self.ambiguous(unknown)
        if not fits:
            # Violations of patterns on which regular expression engines disagree prove nothing.
            reading, violations = errors[0]
            certain = [
                PartVerdict(
                    self.location,
                    self.name,
                    Outcome.INVALID,
                    one.schema_pointer,
                    one.keyword,
                    one.instance_path,
                    one.value,
                    one.message,
                    one.schema,
                )
                for one in violations
                if not _is_read_otherwise(one)
            ]
            return certain or self.ambiguous(_ENGINES, reading.value)
        if all(doubts):
            return self.ambiguous(doubts[0])
        if read_only:
            # A server may refuse or ignore read-only properties in a request (OpenAPI 3.0, Schema Object): both are right.
            return self.ambiguous(f"it has read-only properties: {', '.join(sorted(read_only))}")
        if len(fits) == len(errors) > 1 or not all(reading.doubt for reading in fits):
            # If several readings are all valid, it does not matter which of them the server takes.
            return self.valid()
        return self.ambiguous(fits[0].doubt, fits[0].value)

    def _verdict(self, outcome: Outcome, keyword: str, reason: str, value: object) -> PartVerdict:
        return PartVerdict(self.location, self.name, outcome, self.pointer, keyword, value=value, reason=reason)


class Rules(Struct):
    """Rules by schema, made on demand."""

    _by_pointer: dict[tuple[str, int], Rule] = field(default_factory=dict)

    def of(self, schema: Schema) -> Rule:
        """Return the rule of a schema."""
        key = (schema.pointer, id(schema.raw))
        found = self._by_pointer.get(key)
        if found is None:
            found = self._by_pointer[key] = Rule(schema)
        return found
