"""From readings of a part to a verdict on it."""

from dataclasses import dataclass, field

from checker.core.contract import SchemaViolation
from checker.core.locations import Location
from checker.core.operation import Parameter
from checker.core.schema import Direction, Schema
from checker.core.verdicts import Outcome, PartVerdict
from checker.openapi.implied import Implied, Node, node_of
from checker.openapi.readings import Reading
from checker.validation.referee import Referee, referee


@dataclass(frozen=True, slots=True)
class Rule:
    """A schema as requests are judged by it."""

    node: Node
    implied: Implied
    referee: Referee

    @classmethod
    def of(cls, schema: Schema) -> "Rule":
        """Rule of a schema, for values that travel to the server."""
        implied = Implied(schema.document, schema.dialect)
        return cls(node_of(schema), implied, referee(schema, Direction.REQUEST))

    @property
    def types(self) -> frozenset[str]:
        """JSON types that a value can have."""
        return self.implied.types(self.node)


@dataclass(frozen=True, slots=True)
class Part:
    """What a verdict is about."""

    location: Location
    name: str
    pointer: str = ""
    """Of the parameter, or of the media type object."""

    @classmethod
    def of(cls, parameter: Parameter) -> "Part":
        """The part that a parameter is."""
        return cls(parameter.location, parameter.name, parameter.pointer)

    def valid(self) -> list[PartVerdict]:
        """Nothing is wrong with it."""
        return [PartVerdict(self.location, self.name, Outcome.VALID, self.pointer)]

    def ambiguous(self, reason: str, value: object = None) -> list[PartVerdict]:
        """Nobody can know."""
        return [self._verdict(Outcome.AMBIGUOUS, "", reason, value)]

    def undeclared(self, reason: str, value: object = None) -> list[PartVerdict]:
        """The description does not speak of it."""
        return [self._verdict(Outcome.UNDECLARED, "", reason, value)]

    def broken(self, keyword: str, reason: str, value: object = None) -> list[PartVerdict]:
        """It breaks what no schema says: the style, the encoding, its being required."""
        return [self._verdict(Outcome.INVALID, keyword, reason, value)]

    def judged(self, found: list[Reading], rule: Rule) -> list[PartVerdict]:
        """Valid if one certain reading is; invalid if every reading is; else nobody can know."""
        errors = [(reading, rule.referee.errors(reading.value)) for reading in found]
        fits = [reading for reading, wrong in errors if not wrong]
        if not fits:
            return [self._violated(violation) for violation in errors[0][1]]
        if len(fits) == len(errors) > 1 or not all(reading.doubt for reading in fits):
            return self.valid()
        return self.ambiguous(fits[0].doubt, fits[0].value)

    def _verdict(self, outcome: Outcome, keyword: str, reason: str, value: object) -> PartVerdict:
        return PartVerdict(
            self.location, self.name, outcome, self.pointer, keyword, value=value, reason=reason
        )

    def _violated(self, violation: SchemaViolation) -> PartVerdict:
        return PartVerdict(
            self.location,
            self.name,
            Outcome.INVALID,
            violation.schema_pointer,
            violation.keyword,
            violation.instance_path,
            violation.value,
            violation.message,
        )


@dataclass(slots=True)
class Rules:
    """Rules by schema, made when they are needed."""

    _by_pointer: dict[tuple[str, int], Rule] = field(default_factory=dict)

    def of(self, schema: Schema) -> Rule:
        """The rule of a schema."""
        key = (schema.pointer, id(schema.raw))
        found = self._by_pointer.get(key)
        if found is None:
            found = self._by_pointer[key] = Rule.of(schema)
        return found
