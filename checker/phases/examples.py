"""The examples phase: requests made of the values that the description gives."""

from collections.abc import Iterable, Iterator

from checker.core.case import Case
from checker.core.meta import GenerationMode
from checker.core.operation import Operation
from checker.generation.boundaries.examples import PHASE, OperationExamples
from checker.generation.hooks import call
from checker.generation.program import too_deep
from checker.phases.listing import ListedCase, ListingContext


def declared_examples(operation: Operation, context: ListingContext) -> Iterator[ListedCase | Case]:
    """Return valid cases. Hooks `before_add_examples` receive all of them, and may add others. Raises `HookError`."""
    listed = _listed(operation, context)
    if not context.hooks.examples:
        yield from listed
        return
    cases = [one.case(operation, f"{PHASE}-{number}") for number, one in enumerate(listed)]
    for hook in context.hooks.examples:
        changed = call(hook, "before_add_examples", context.hooks.context, cases)
        cases = cases if changed is None else list(changed)
    yield from cases


def _listed(operation: Operation, context: ListingContext) -> Iterable[ListedCase]:
    settings = context.settings
    if not operation.is_described or settings.mode is GenerationMode.NEGATIVE:
        return
    examples = OperationExamples(operation, settings, context.store, context.warn)
    try:
        yield from examples.cases()
    except RecursionError:
        raise too_deep(operation) from None
