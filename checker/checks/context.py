"""The context of a check, and its possible results."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct, field

from checker.core.blocks import DEFAULT_TRUNCATION, Truncation
from checker.core.case import Case
from checker.core.contract import Complaint, RequestVerdict, ResponsePlan
from checker.core.credentials import Credentials
from checker.core.failures import Failure
from checker.core.operation import Operation
from checker.core.request import WireRequest
from checker.core.response import Outcome, Response
from checker.core.send import Exchanging
from checker.core.templates import Lexicon, Words


class JudgedInteraction(Protocol):
    """A case, what was sent for it and what came back."""

    @property
    def case(self) -> Case: ...
    @property
    def request(self) -> WireRequest | None:
        """None when nothing was sent."""
        ...

    @property
    def outcome(self) -> Outcome | None:
        """The response, or why there is none; None when nothing was sent."""
        ...


class Peers(Protocol):
    """Users whose things are their own."""

    @property
    def names(self) -> Sequence[str]:
        """Return the names."""
        ...

    def caller_of(self, request: WireRequest | None) -> str | None:
        """Return the caller of a request; None if the caller is unknown."""
        ...

    def lend(self, case: Case, request: WireRequest, who: str) -> None:
        """Have a request without credentials carry those of a user. Raises `CredentialError`."""
        ...


class CheckTools(Struct, frozen=True):
    """The tools of checks beside the interaction itself."""

    make: Callable[[Case], WireRequest]
    """The request of a case, as all others are made. Raises `SerializationError`, `HookError`."""
    make_anonymous: Callable[[Case], WireRequest]
    """The request of a case without the credentials that the user gave for every request."""
    judge_request: Callable[[Operation, WireRequest], RequestVerdict]
    """The verdict on the final bytes of a request."""
    put_credentials: Callable[[WireRequest, Credentials], None]
    """Has a request carry these, in place of what it has under the same names."""
    drop_credentials: Callable[[WireRequest, Credentials], bool]
    """Takes out of a request what it has under the names of these; whether there was anything."""
    base_path_of: Callable[[Operation], str] = lambda operation: ""
    """What stands before the path of an operation on the wire."""
    peers: Peers | None = None
    """None if no users are configured."""


Raised = tuple[str, Exception]
"""Name of a check, and what it raised."""


class CheckContext(Struct):
    """One interaction under judgement."""

    case: Case
    response: Response
    plan: ResponsePlan
    """What the operation promises of a response with this status and `Content-Type`."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the check that is asked, as they stand in the configuration: `expected-statuses`, ... A check of a user
    finds those of the operation in this phase here as well: `request-timeout`, `headers`, ..."""
    sequence: Sequence[JudgedInteraction] = ()
    """What was sent before in the same sequence, oldest first."""
    tools: CheckTools | None = None
    """None where responses are judged apart from everything else."""
    truncation: Truncation = DEFAULT_TRUNCATION
    """How much of a schema and of a value is shown."""
    lexicon: Lexicon = field(default_factory=Lexicon)
    disagreements: list[str] = field(default_factory=list)
    """Filled by checks whose two validators do not agree: counted and shown, never failed."""
    unjudged: list[str] = field(default_factory=list)
    """Filled by checks that have no sure verdict: what was not judged, and why; likewise."""
    errors: list[Raised] = field(default_factory=list)
    """Checks that raised what is no failure: the others are asked all the same."""

    @property
    def phase(self) -> str | None:
        """Name of the phase that the case was made in; None for a case that was made by hand."""
        meta = self.case.meta
        return None if meta is None else meta.phase.name

    @property
    def described(self) -> Words:
        """Words of the API description: those of an error text that mean something."""
        return self.lexicon.of(self.case.operation)

    @property
    def complaint(self) -> Complaint | None:
        """Return the error that the body of the response reports, whatever its status; None if it reports none, or if that is unknown."""
        answers = self.plan.answers
        return None if answers is None else answers.complaint(self.response)

    def make(self, case: Case, *, with_credentials: bool = True) -> WireRequest:
        """The request of another case, for a check to `yield`: what comes back is the response, or a `NetworkFailure`.

        `with_credentials` is about those that the user gave for every request, not about what the case itself holds.
        """
        if self.tools is None:
            raise RuntimeError("nothing can be sent from here: this response is judged by itself")
        return self.tools.make(case) if with_credentials else self.tools.make_anonymous(case)


Instead = tuple[WireRequest, Response]
"""What a check sent before a case, and what came: it takes the place of the case's own request."""
Failures = tuple[Failure, ...]
Found = Failure | Iterable[Failure] | bool | None
"""One failure, several, or none; True says that the check has nothing to do with the interaction."""
CheckFunction = Callable[[CheckContext], "Found | Exchanging[Found]"]
"""Failures of one interaction, raised or returned. One that needs further requests is a generator that yields them."""

PASSED: Failures = ()
