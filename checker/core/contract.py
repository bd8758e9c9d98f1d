"""Judgements by an operation: verdicts on the parts of a request, and its contract for responses."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Protocol

from msgspec import Struct

from checker.core.request import Location
from checker.core.response import Response
from checker.core.schema import Schema


class SchemaViolation(Struct, frozen=True):
    """One way in which a value violates its schema. Both validators found a violation in a response, one of them a violation in a request."""

    schema_path: tuple[str, ...]
    """Keywords and names from the root of the response schema, without array indices: the unique key of a failure."""
    schema_pointer: str
    """JSON pointer in the document of the schema that failed."""
    instance_path: tuple[str | int, ...]
    keyword: str
    message: str
    schema: object
    """The failing subschema, for the excerpt."""
    value: object
    """The failing part of the body, for the excerpt."""
    event: int | None = None
    """In a stream: the number of the event, from 1."""
    is_payload: bool = False
    """The event is valid, but its data violates the `contentSchema`."""


class UndecodableBody(Struct, frozen=True):
    """The body does not have its media type."""

    media_type: str
    message: str
    """`Expecting value: line 1 column 1 (char 0)`."""


class BodyOpinions(Struct, frozen=True):
    """The verdicts on a body of two validators that share no code."""

    violations: tuple[SchemaViolation, ...] = ()
    """Rejected by both; at most one for each schema path."""
    undecodable: UndecodableBody | None = None
    disagreement: str | None = None
    """Set if one validator accepts the value and the other rejects it. This is counted and shown, but is never a failure."""
    unread: str | None = None
    """The limit that the body exceeds, as a phrase with `is` or `has`. Such a body is not read, so it counts as neither right nor wrong."""


class BodyValidator(Protocol):
    """Judges bodies of one operation, status and media type."""

    @property
    def reads_prefix(self) -> bool:
        """True if the beginning of a body can be judged, such as the complete events of a stream."""
        ...

    @property
    def refuses_compressed(self) -> bool:
        """True if no compressed body is valid without decoding, so that only refused bodies have to be decoded."""
        ...

    def is_valid(self, content: bytes) -> bool:
        """Whether one compiled validator accepts the body: the fast path. False also for undecodable bodies."""
        ...

    def opinions(self, content: bytes) -> BodyOpinions:
        """Return the faults after `is_valid` returned False, by both validators, with messages and places: the slow path."""
        ...


class HeaderOpinions(Struct, frozen=True):
    """The verdicts on the headers of a response of two validators that share no code."""

    missing: tuple[str, ...] = ()  # Required headers that are missing, as declared.
    violations: tuple[tuple[str, SchemaViolation], ...] = ()
    """(header, violation) of values that both reject in every way to read the text."""
    disagreements: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()  # Names of headers that are too long to be read in every way.


class HeaderValidator(Protocol):
    """Judges the headers of one operation and status."""

    def is_valid(self, headers: Mapping[str, list[str]]) -> bool:
        """Whether one compiled validator accepts the headers: the fast path. Names are in lower case."""
        ...

    def opinions(self, headers: Mapping[str, list[str]]) -> HeaderOpinions:
        """Return the faults after `is_valid` returned False: the slow path."""
        ...


class Blame(StrEnum):
    """The error that a response reports in its body."""

    REFUSED = "refused"  # The request breaks the rules of the API: the client is at fault.
    DENIED = "denied"  # The meaning of 401, 403, 404 and 429: neither side is at fault.
    BROKEN_PROMISE = "broken promise"  # The server noticed by itself that it would break its own schema.
    FAILED = "failed"  # The server failed.


class Complaint(Struct, frozen=True):
    """A failure that a response reports in its body, with any status."""

    blame: Blame
    message: str  # Text for people: one line for each of the first errors.
    text: str  # Text of the first error.
    place: str  # Where the error happened, without parts that differ between requests.
    part: str = ""  # The failed part by its name in the description; empty if unknown.
    is_of_schema: bool = False
    """Whether the response says that the request violates the description, as opposed to a rule that a description cannot state."""


class AnswerJudge(Protocol):
    """Judges responses of APIs that report errors in the body and not by status, such as GraphQL."""

    def is_fine(self, response: Response) -> bool:
        """Whether there is no complaint and the response has everything that the request asked for: the fast path."""
        ...

    def complaint(self, response: Response) -> Complaint | None:
        """Return the error that the body reports; None if it reports none, or if that is unknown."""
        ...

    def opinions(self, response: Response, case: Any = None) -> BodyOpinions:
        """Return the faults in the data of a response to a case: the slow path."""
        ...


class MediaTypeVerdict(StrEnum):
    """The verdict of an operation on the media type of a response."""

    DOCUMENTED = "documented"
    """Also used when the operation documents no media types."""
    MISSING = "missing"
    MALFORMED = "malformed"
    UNDOCUMENTED = "undocumented"


class ResponsePlan(Struct, frozen=True):
    """Everything that is known about a response from its status and `Content-Type` alone."""

    status_documented: bool
    documented_statuses: tuple[str, ...]
    """As spelled in the document, `default` included."""
    media_type: MediaTypeVerdict
    documented_media_types: tuple[str, ...]
    body: BodyValidator | None
    """None if the body is undocumented or its schema is unusable, which a warning of the operation explains."""
    matched_response: str | None = None
    """The key of the response object that applies: `200`, `4XX`, `default`."""
    headers: HeaderValidator | None = None
    """None if no headers are described."""
    schema: Schema | None = None
    """The schema of a JSON body; None without one."""
    answers: AnswerJudge | None = None
    """Set if the body reports whether the request succeeded, and the contract depends on it."""


class ResponseContract(Protocol):
    """Table of plans, filled on demand."""

    def plan(self, status: int, content_type: str | None) -> ResponsePlan:
        """Plan for a response; `content_type` is the raw header value, None when absent."""
        ...


class Outcome(StrEnum):
    """The verdict on a part of a request."""

    VALID = "valid"
    INVALID = "invalid"
    AMBIGUOUS = "ambiguous"
    """Unknown: the text has several readings with different verdicts, or its reading is not defined."""
    UNDECLARED = "undeclared"  # The description does not mention it, so it is neither right nor wrong.


class PartVerdict(Struct, frozen=True):
    """The verdict on one part: a parameter, the path as a whole, or the body."""

    location: Location
    name: str  # Name of the parameter as declared; empty for the body and for the path as a whole.
    outcome: Outcome
    pointer: str = ""  # JSON pointer of the violated schema or object.
    keyword: str = ""  # The broken rule: a keyword of JSON Schema, or one of the words of `checker.openapi.referee`.
    instance_path: tuple[str | int, ...] = ()  # The place in the value.
    value: object = None  # The wrong part of the value, as it was read.
    reason: str = ""  # One sentence for people; empty when valid.
    schema: object = None  # The violated subschema, if there is one.


class RequestVerdict(Struct, frozen=True):
    """Verdicts on all parts of a request. A part that is invalid in several ways has as many verdicts."""

    parts: tuple[PartVerdict, ...]

    @property
    def outcome(self) -> Outcome:
        """The outcome of the whole request: invalid if one part is invalid, else ambiguous if one part is."""
        outcomes = {part.outcome for part in self.parts}
        if Outcome.INVALID in outcomes:
            return Outcome.INVALID
        return Outcome.AMBIGUOUS if Outcome.AMBIGUOUS in outcomes else Outcome.VALID

    @property
    def invalid(self) -> tuple[PartVerdict, ...]:
        return tuple(part for part in self.parts if part.outcome is Outcome.INVALID)

    @property
    def ambiguous(self) -> tuple[PartVerdict, ...]:
        return tuple(part for part in self.parts if part.outcome is Outcome.AMBIGUOUS)

    def of(self, location: Location, name: str = "") -> Outcome | None:
        """Return the outcome of one part; None if it was not judged."""
        found = RequestVerdict(tuple(part for part in self.parts if (part.location, part.name) == (location, name)))
        if not found.parts:
            return None
        outcome = found.outcome
        return found.parts[0].outcome if outcome is Outcome.VALID else outcome
