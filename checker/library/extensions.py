"""Extension points of a loaded schema, which users replace by assigning a function or writing a subclass."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import unquote_to_bytes, urlsplit

from msgspec import Struct

from checker.checks.check import Check
from checker.checks.context import CheckContext
from checker.checks.custom import custom_check
from checker.core.case import NOT_SET, Case
from checker.core.credentials import RUNNING_SOURCES
from checker.core.errors import IncorrectUsage
from checker.core.meta import Binding, CaseMetadata, ValuePool
from checker.core.operation import BrokenOperation, Label, Operation
from checker.core.providers import GLOBAL_AUTH, AuthContext
from checker.core.request import Location, WireRequest
from checker.core.resource_names import variables_of
from checker.core.resources import TakenValue, Transition, place_of
from checker.core.response import FailureKind, Outcome, Response
from checker.core.scenarios import Scenario
from checker.core.system import later
from checker.kinds.protocol import ApiOperation

if TYPE_CHECKING:
    import hypothesis.strategies as st

    import checker.library.cases as drawn_cases
    import checker.phases.known_resources as known_resources
    import checker.workers.authentication.keeper as credentials
    from checker.workers.authentication.keeper import ReauthState
else:
    # Collecting tests imports this module: generation, transport and Hypothesis are imported with the first case.
    st = later("hypothesis.strategies")
    drawn_cases = later("checker.library.cases")
    known_resources = later("checker.phases.known_resources")
    credentials = later("checker.workers.authentication.keeper")

MOST_OBSERVED: Final = 20  # Kept responses of one operation.


class Observation(Struct, frozen=True):
    """A response with the location of a resource."""

    operation: Operation
    status: int
    location: str
    """The header `Location` (RFC 9110, 10.2.2)."""


def located_transitions(observations: Iterable[Observation], operations: Sequence[Operation]) -> Iterator[Transition]:
    """Yield transitions from each response to the operations whose path matches its `Location`, or a path above it."""
    seen: set[tuple[Label, int, Label]] = set()
    for one in observations:
        for target in operations:
            key = (one.operation.label, one.status, target.label)
            values = tuple(_located(one.location, target))
            if values and key not in seen:
                seen.add(key)
                yield Transition("Location", key[0], str(one.status), target.label, values)


def _located(url: str, target: Operation) -> Iterator[TakenValue]:
    """Yield the variables of an operation that a URL gives."""
    path = target.resource_path
    for name in variables_of(path):
        for pattern in known_resources.located_patterns(path, name):
            if re.search(pattern, url):
                expression = f"$response.header.Location#regex:{pattern}"
                yield TakenValue(*place_of(target, name), expression)
                break


class ExtraDataSource(Protocol):
    """Provides values that an API accepts, such as identifiers of existing resources."""

    def values_for(self, operation: ApiOperation, location: str, name: str) -> Sequence[Any]:
        """Return values for one place, best first. Values that the schema forbids are skipped.

        `location` is `path`, `query`, `header`, `cookie` or `body`; `name` is that of the parameter, or a JSON pointer into the body.
        """
        ...


class ExtraValues(Struct, frozen=True):
    """The values of a source for one operation, before those of another pool. Implements `checker.core.meta.ValuePool`."""

    source: ExtraDataSource
    operation: ApiOperation
    usual: ValuePool | None = None

    def pick(self, location: Location, name: str, index: int) -> Binding | None:
        """Return the value at this index, which wraps around at the end of the list. Without values, return the value of the other pool."""
        values = self.source.values_for(self.operation, str(location), name)
        if not values:
            return None if self.usual is None else self.usual.pick(location, name, index)
        at = index % len(values)
        return Binding(location, name, Label(""), "", at, values[at])


_ODD: Final = frozenset((*range(0x20), ord("\\"), 0x7F))
_UNSENT: Final = (FailureKind.UNSENDABLE, FailureKind.DROPPED, FailureKind.MALFORMED)


def is_path_refused(request: WireRequest, outcome: Outcome) -> bool:
    """Whether a path with a backslash or a control character was refused before it reached the application.

    A response 400 with an empty body, or with the page of Tomcat, comes from the server that decodes the path.
    """
    if not isinstance(outcome, Response) or outcome.status_code != 400:
        return False
    path = unquote_to_bytes(request.target.partition(b"?")[0])
    is_mute = not outcome.content or b"Apache Tomcat" in outcome.content
    return is_mute and not _ODD.isdisjoint(path)


class ExtensionPoints:
    """The extension points of a loaded schema that its engine calls."""

    engine: Any
    observations: list[Observation]

    @property
    def reauth_state(self) -> "ReauthState":
        """Return a new count of refused credentials, which limits the renewals of calls to one target."""
        return credentials.ReauthState()

    def build_request_url(self, case: Case, base_url: str) -> str:
        """Return the URL of a case: a base URL and the path with substituted variables. The query is added to this URL."""
        before = base_url.rstrip("/")
        return before + str(self.engine.formatted_path(case, urlsplit(before).path))

    def prepare_request_body(self, body: Any) -> Any:
        """Return the body to send; called before each call."""
        return body

    def apply_auth(self, case: Case, context: AuthContext) -> bool:
        """Put the credentials of a provider of `auth` into a case. Return whether a provider covers the operation.

        A replacement is called before each call. If it returns True, no other credentials are added to the call.
        """
        for registry in (*self.engine.auth.registries, GLOBAL_AUTH):
            for provider in registry.providers:
                if provider.scope.covers(context):
                    with RUNNING_SOURCES.adding(provider):
                        found = provider.fetch(case)
                    held = provider.carried(found, case)
                    if held is not None:
                        case.headers.update(held.headers)
                        case.query.update(held.query)
                        case.cookies.update(held.cookies)
                        return True
        return False

    def evaluate_server_error(self, case: Case, response: Response) -> None:
        """Raise a `FailureGroup` if a response shows a server error, as the kind of API defines it."""
        self.engine.evaluate_server_error(case, response)

    def record_runtime_observations(self, case: Case, response: Response) -> None:
        """Add the location in a response to `observations`, for the first few of each operation; called after each call with a response."""
        operation, known = case.operation, self.observations
        for location in response.headers.get("location", ()):
            if sum(one.operation.label == operation.label for one in known) < MOST_OBSERVED:
                known.append(Observation(operation, response.status_code, location))

    def apply_stateful_inference(self, observations: Sequence[Observation]) -> Iterable[Transition]:
        """Return the transitions that follow from `observations`; called for each state machine.

        By default they lead from a response to the operations that match its `Location`.
        """
        found = self.engine.schema.get_all_operations()
        usable = [one for one in found if not isinstance(one, BrokenOperation)]
        return located_transitions(observations, usable)

    def create_extra_data_source(self) -> ExtraDataSource | None:
        """Return a source of values that sometimes replace random ones; None for no source. Called once."""
        return None

    def get_coverage_capabilities(self) -> Collection[str]:
        """Return the scenarios that the coverage phase may list, by the names in `case.meta.phase.data["scenario"]`; by default all."""
        return frozenset(Scenario)

    def adapt_to_null_byte_in_header_failure(self) -> None:
        """React to a call with NUL in a header that was not sent or was refused. Headers are then generated without NUL."""

    def adapt_to_path_decoder_rejection(self) -> None:
        """React to a 400 for a path with control characters or backslashes that did not reach the application.

        Paths are then generated without both.
        """

    def revalidate_case_metadata(self, case: Case) -> CaseMetadata | None:
        """Return the metadata of a changed case, with the modes that its bytes prove."""
        meta = Case.__dict__["meta"].__get__(case)
        return None if meta is None else drawn_cases.judged_anew(case, meta)

    def get_custom_format_strategies(self, generation_config: Any, mode: Any) -> Mapping[str, Any]:
        """Return strategies of strings by `format`, in addition to those that are registered for all schemas."""
        return {}

    def get_unit_scheduler(
        self, operations: Iterable[ApiOperation | BrokenOperation], phase: str
    ) -> Iterable[ApiOperation | BrokenOperation]:
        """Return the operations in the order in which a phase (`examples`, `coverage`, `fuzzing`) tests them."""
        return operations

    def compute_fuzz_operation_weights(self, operations: Sequence[ApiOperation]) -> Sequence[float]:
        """Return the relative weight of each operation in `schema.as_strategy()`; by default they are equal."""
        return [1.0] * len(operations)


NAMES: Final = tuple(name for name in vars(ExtensionPoints) if not name.startswith("_"))
_FINEST: Final = 100
SERVER_ERROR: Final = "not_a_server_error"


def is_extended(schema: object, name: str) -> bool:
    """Whether a user has replaced an extension point."""
    return getattr(getattr(schema, name, None), "__func__", None) is not getattr(ExtensionPoints, name)


def prepared(schema: Any, case: Case) -> Case:
    """Return the case with the body that the `prepare_request_body` of a user returns."""
    if schema is None or not is_extended(schema, "prepare_request_body") or case.body is NOT_SET:
        return case
    changed = copy(case)
    changed.body = schema.prepare_request_body(case.body)
    return changed


def authorised(schema: Any, case: Case) -> Case:
    """Return the case itself, or a copy with the credentials that a user's `apply_auth` added."""
    if schema is None or not is_extended(schema, "apply_auth"):
        return case
    changed = copy(case)
    for part in ("headers", "cookies", "query"):
        setattr(changed, part, copy(getattr(case, part)))
    return changed if schema.apply_auth(changed, AuthContext.of(case.operation)) else case


def target_of(schema: Any, case: Case, base_url: str, target: bytes) -> bytes:
    """Return the target of a request: the path of `build_request_url` of a user, and the query of the request."""
    if schema is None or not is_extended(schema, "build_request_url"):
        return target
    url = str(schema.build_request_url(case, base_url))
    if "://" not in url:
        raise IncorrectUsage(f"`build_request_url` must return an absolute URL, got {url:.80}")
    path = "/" + url.partition("://")[2].partition("/")[2]
    _, mark, query = target.partition(b"?")
    if mark and "?" in path:
        mark = b"&"
    return path.encode("ascii", "backslashreplace") + mark + query


def within_capabilities(schema: Any, cases: Iterable[Case]) -> Iterable[Case]:
    """Yield the cases that the coverage phase may list."""
    if schema is None or not is_extended(schema, "get_coverage_capabilities"):
        return cases
    wanted = frozenset(schema.get_coverage_capabilities())
    return (one for one in cases if one.meta is None or one.meta.phase.data.get("scenario") in (None, *wanted))


def adapt(schema: Any, request: WireRequest, outcome: Outcome) -> None:
    """Notify the schema that a server refuses characters before its application sees them."""
    if schema is None:
        return
    is_refused = outcome.status_code == 400 if isinstance(outcome, Response) else outcome.kind in _UNSENT
    if is_refused and any(b"\0" in value for _, value in request.headers):
        schema.adapt_to_null_byte_in_header_failure()
    if is_path_refused(request, outcome):
        schema.adapt_to_path_decoder_rejection()


def weighted(schema: Any, operations: Sequence[ApiOperation], options: Mapping[str, Any]) -> "st.SearchStrategy[Case]":
    """Return one strategy that draws from several by the weights of operations. Operations without cases of the wanted mode are skipped."""
    strategies = [one.as_strategy(**options) for one in operations]

    def chosen() -> "st.SearchStrategy[Case]":
        pairs = list(zip(operations, strategies, strict=True))
        # If no operation has cases, drawing raises the reason of each.
        having = [pair for pair in pairs if schema.engine.has_cases(pair[0], options)] or pairs
        weights = list(schema.compute_fuzz_operation_weights([one for one, _ in having]))
        if len(set(weights)) < 2:
            return st.one_of(*(one for _, one in having))
        most = max(weights)
        counts = [round(_FINEST * weight / most) for weight in weights]
        places = [place for place, count in enumerate(counts) for _ in range(count)]
        return st.sampled_from(places).flatmap(lambda place: having[place][1])

    # The test for cases compiles operations, so it waits until the first draw, when hooks and settings are final.
    return st.deferred(chosen)


def judges(schema: Any) -> Mapping[str, Check]:
    """Return the functions that replace checks: `evaluate_server_error` of users."""
    if schema is None or not is_extended(schema, "evaluate_server_error"):
        return {}

    def evaluate(context: CheckContext, response: Response, case: Case) -> None:
        schema.evaluate_server_error(case, response)

    return {SERVER_ERROR: custom_check(SERVER_ERROR, evaluate)}


def kept(schema: Any) -> Iterator[tuple[str, Any]]:
    """Yield the extensions that were assigned to a schema, for narrowed schemas."""
    return ((name, value) for name, value in vars(schema).items() if name in NAMES)
