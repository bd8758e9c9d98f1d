"""The coverage phase: requests at the edges of an operation, each of which tests one thing."""

from collections.abc import Hashable, Iterable, Iterator
from hashlib import blake2b

from checker.core.case import Case
from checker.core.errors import CheckerError, HookExecutionError
from checker.core.meta import GenerationMode
from checker.core.operation import Operation
from checker.core.request import LONGEST_TARGET, WireRequest
from checker.core.scenarios import REQUEST_SHAPES, Scenario
from checker.generation.boundaries.examples import PHASE, OperationExamples
from checker.generation.boundaries.operations import Coverage, OperationEdges
from checker.generation.hooks import call
from checker.generation.program import too_deep
from checker.phases.listing import ListedCase, ListingContext
from checker.transport.prepare import plain_maker


def edge_cases(operation: Operation, context: ListingContext) -> Iterator[ListedCase]:
    """Yield the usual case first, then cases with one change each. No request is sent twice.

    Undeclared methods are tried once for each path. Requests with a longer head than servers have to accept are left out. Raises `Unsatisfiable` and `BudgetSpent`.
    """
    if not operation.is_described:
        return
    settings, listing = context.settings, context.settings.listing
    # All operations of a path would send the same requests.
    methods = listing.unexpected_methods if context.is_first_of_path else ()
    coverage = Coverage(
        settings.mode, methods, listing.repeats_query, has_forms=context.is_first_of_path, costly=listing.costly_queries
    )
    edges = OperationEdges(operation, settings, coverage)
    maker = plain_maker()
    seen: set[Hashable] = set()
    try:
        for listed in edges.cases():
            is_shape = listed.scenario in REQUEST_SHAPES
            if not (listed.scenario in listing.judged_shapes if is_shape else listed.mode in listing.judged_modes):
                continue
            case = listed.case(operation, "")
            is_probe = listed.scenario is Scenario.UNSPECIFIED_METHOD
            # Another template may match the path as it is sent: `/users/me` is also a `/users/{id}`. So a probe is
            # listed only if some template matches the path, and none that matches declares the method.
            methods_there = operation.methods_at(maker.formatted_path(case)) if is_probe else ()
            if is_probe and (not methods_there or any(case.method in one for one in methods_there)):
                continue
            try:
                request = maker.make(case)
            except (CheckerError, ValueError):
                # The reason why a case cannot be written is reported when it is sent. The values are the key of such a case.
                request = None
            if request is not None and (
                len(request.target) > LONGEST_TARGET or any(len(value) > LONGEST_TARGET for _, value in request.headers)
            ):
                continue
            wire = (listed.mode, listed.is_again, str(listed.key) if request is None else _wire(request))
            if wire not in seen:
                seen.add(wire)
                yield listed
    except RecursionError:
        raise too_deep(operation) from None


def _wire(request: WireRequest) -> Hashable:
    """Return a key that is equal for equal requests; with digests, because thousands of bodies take tens of megabytes."""
    body = request.body and blake2b(request.body, digest_size=16).digest()
    return request.method, request.target, tuple(request.headers), body


_EXAMPLES = "before_add_examples"


def declared_examples(operation: Operation, context: ListingContext) -> Iterator[ListedCase | Case]:
    """Return valid cases. Hooks `before_add_examples` receive all of them, and may add others. Raises `HookError`."""
    listed = _listed(operation, context)
    if not context.hooks.examples:
        yield from listed
        return
    cases = [one.case(operation, f"{PHASE}-{number}") for number, one in enumerate(listed)]
    for hook in context.hooks.examples:
        changed = call(hook, _EXAMPLES, context.hooks.context, cases)
        cases = cases if changed is None else list(changed)
        for case in cases:
            if not isinstance(case, Case):
                raise HookExecutionError(_EXAMPLES, f"gave the example {case!r:.80}; it has to be a case")
    yield from cases


def _listed(operation: Operation, context: ListingContext) -> Iterable[ListedCase]:
    settings = context.settings
    if not operation.is_described or settings.mode is GenerationMode.NEGATIVE:
        return
    examples = OperationExamples(operation, settings, context.warn)
    try:
        yield from examples.cases()
    except RecursionError:
        raise too_deep(operation) from None
