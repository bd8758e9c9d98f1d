"""The context of a check, and its possible results."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct, field

from checker.core.blocks import DEFAULT_TRUNCATION, Truncation
from checker.core.case import Case
from checker.core.contract import Complaint, RequestVerdict, ResponsePlan
from checker.core.failures import Exchange, Failure
from checker.core.operation import Operation
from checker.core.request import WireRequest
from checker.core.response import Outcome, Response
from checker.core.send import Exchanging
from checker.core.templates import Lexicon, Words


class JudgedInteraction(Protocol):
    """A case with its request and its outcome."""

    @property
    def case(self) -> Case: ...
    @property
    def request(self) -> WireRequest | None:
        """None if nothing was sent."""
        ...

    @property
    def outcome(self) -> Outcome | None:
        """The response, or the reason why there is none; None if nothing was sent."""
        ...


class Peers(Protocol):
    """The configured users. Each has private resources."""

    @property
    def names(self) -> Sequence[str]: ...

    def caller_of(self, request: WireRequest | None) -> str | None:
        """Return the caller of a request; None if the caller is unknown."""
        ...

    def lend(self, case: Case, request: WireRequest, who: str) -> None:
        """Add the credentials of a user to a request without any. Raises `CredentialError`."""
        ...


class Maker(Protocol):
    """Makes requests from cases."""

    def make(self, case: Case) -> WireRequest:
        """Return the request of a case. Raises `SerializationError`."""
        ...


class KnowingMaker(Maker, Protocol):
    """A maker that knows the base path of each operation."""

    def base_path_of(self, operation: Operation) -> str:
        """Return the base path of an operation on the wire."""
        ...


class CheckTools(Struct, frozen=True):
    """The tools of checks beside the interaction itself."""

    maker: KnowingMaker  # Makes requests as the run does. Raises `SerializationError`, `HookError`.
    anonymous: Maker  # Makes requests without the credentials that the user configured for all requests.
    renew: "Callable[[Case, Sequence[JudgedInteraction]], Case]" = lambda case, earlier: case
    """Returns a step of a sequence with values of the new responses to earlier steps."""
    peers: Peers | None = None  # None if no users are configured.
    bare: Maker | None = None
    """Makes requests without any header that the user configured for all requests; None if no such headers are known."""

    def judge_request(self, operation: Operation, request: WireRequest) -> RequestVerdict:
        """Return the verdict on the final bytes of a request."""
        return operation.judge_request(request, base_path=self.maker.base_path_of(operation))


Raised = tuple[str, Exception]  # (name of a check, its exception).


class CheckContext(Struct):
    """The argument of a check: one interaction."""

    case: Case
    response: Response
    plan: ResponsePlan
    """The plan for responses with this status and `Content-Type`, according to the description."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the running check, by their configuration names: `expected-statuses`. A user's check also finds the settings
    of the operation in this phase, such as `headers`.
    """
    sequence: Sequence[JudgedInteraction] = ()
    """Earlier interactions of the sequence, oldest first."""
    tools: CheckTools | None = None
    """None if no requests can be sent."""
    truncation: Truncation = DEFAULT_TRUNCATION
    """The longest parts of a schema and of a value in messages."""
    lexicon: Lexicon = field(default_factory=Lexicon)
    disagreements: list[str] = field(default_factory=list)
    """Sentences about disagreements of the validators. They are counted and shown, but are no failures."""
    unjudged: list[str] = field(default_factory=list)
    """Sentences about parts that could not be judged, with reasons. They are counted and shown, but are no failures."""
    errors: list[Raised] = field(default_factory=list)
    """Exceptions of checks that are no failures. Other checks still run."""

    exchanges: list[Exchange] = field(default_factory=list)
    """Requests that the running check has sent for the interaction, with their outcomes."""

    @property
    def phase(self) -> str | None:
        """Return the phase of the case; None for a case from user code."""
        meta = self.case.meta
        return None if meta is None else meta.phase.name

    @property
    def described(self) -> Words:
        """Return the words of the API description. Error texts are compared by them, because other words may differ each time."""
        return self.lexicon.of(self.case.operation)

    @property
    def complaint(self) -> Complaint | None:
        """Return the error in the body, whatever the status; None if there is none, or if the body cannot be read."""
        answers = self.plan.answers
        return None if answers is None else answers.complaint(self.response)

    def make(self, case: Case, *, with_credentials: bool = True) -> WireRequest:
        """Return the request of another case. A check that yields it receives the response or a `NetworkFailure`.

        `with_credentials` concerns credentials that the user configured for all requests, not values of the case.
        """
        if self.tools is None:
            raise RuntimeError("nothing can be sent here: the response is judged without a run")
        return (self.tools.maker if with_credentials else self.tools.anonymous).make(case)


Instead = tuple[WireRequest, Response]
"""(request that a check sent before a case, response). They are judged in place of the case's own request."""
Failures = tuple[Failure, ...]
Found = Failure | Iterable[Failure] | bool | None
"""One failure, several, or none; True if the check does not apply to the interaction."""
CheckFunction = Callable[[CheckContext], "Found | Exchanging[Found]"]
"""A check: raises or returns the failures of one interaction. A check that needs further requests is a generator that yields them."""

PASSED: Failures = ()
