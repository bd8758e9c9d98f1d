"""Verdicts on a request on the wire: each part is valid, invalid at a place, or unknown."""

from enum import StrEnum

from msgspec import Struct

from checker.core.locations import Location


class Outcome(StrEnum):
    """The verdict on a part of a request."""

    VALID = "valid"
    INVALID = "invalid"
    AMBIGUOUS = "ambiguous"
    """Nobody can know: the text has several readings, and they differ; or nothing says how it is to be read."""
    UNDECLARED = "undeclared"
    """The description does not speak of it: neither right nor wrong."""


class PartVerdict(Struct, frozen=True):
    """The verdict on one part: a parameter, the path as a whole, or the body."""

    location: Location
    name: str
    """Name of the parameter as declared; empty for the body and for the path as a whole."""
    outcome: Outcome
    pointer: str = ""
    """JSON pointer of the schema, or of the object, that is broken."""
    keyword: str = ""
    """What is broken: a keyword of JSON Schema, or one of the words of `checker.openapi.referee.requests`."""
    instance_path: tuple[str | int, ...] = ()
    """Where in the value."""
    value: object = None
    """The part of the value that is at fault, as it was read."""
    reason: str = ""
    """One sentence for people; empty when valid."""


class RequestVerdict(Struct, frozen=True):
    """Verdicts on all parts of a request. A part that is invalid in several ways has as many verdicts."""

    parts: tuple[PartVerdict, ...]

    @property
    def outcome(self) -> Outcome:
        """Of the request as a whole: one invalid part spoils it, one part in doubt leaves it in doubt."""
        outcomes = {part.outcome for part in self.parts}
        if Outcome.INVALID in outcomes:
            return Outcome.INVALID
        return Outcome.AMBIGUOUS if Outcome.AMBIGUOUS in outcomes else Outcome.VALID

    @property
    def invalid(self) -> tuple[PartVerdict, ...]:
        """Return an invalid verdict with its reason."""
        return tuple(part for part in self.parts if part.outcome is Outcome.INVALID)

    @property
    def ambiguous(self) -> tuple[PartVerdict, ...]:
        """Return an unknown verdict with its reason."""
        return tuple(part for part in self.parts if part.outcome is Outcome.AMBIGUOUS)

    def of(self, location: Location, name: str = "") -> Outcome | None:
        """Outcome of one part; None when nothing was said of it."""
        found = RequestVerdict(
            tuple(part for part in self.parts if (part.location, part.name) == (location, name))
        )
        return None if not found.parts else _only(found)


def _only(verdict: RequestVerdict) -> Outcome:
    outcome = verdict.outcome
    return verdict.parts[0].outcome if outcome is Outcome.VALID else outcome
