"""The coverage phase: requests at the edges of an operation, each of which tests one thing."""

from collections.abc import Iterator

from checker.core.operation import Operation
from checker.generation.boundaries.operations import Coverage, OperationEdges
from checker.generation.program import too_deep
from checker.phases.listing import ListedCase, ListingContext


def edge_cases(operation: Operation, context: ListingContext) -> Iterator[ListedCase]:
    """What is usual first, then one change at a time. Raises `Unsatisfiable` and `BudgetSpent`."""
    if not operation.is_described:
        return
    settings = context.settings
    edges = OperationEdges(operation, settings, Coverage(settings.mode), store=context.store)
    try:
        yield from edges.cases()
    except RecursionError:
        raise too_deep(operation) from None
