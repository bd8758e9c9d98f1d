"""Cases that phases list for an operation, as Python users are given them: examples, edges."""

from collections.abc import Iterable, Iterator

from checker.core.case import Case
from checker.core.digests import digest
from checker.core.phases import CaseSource, phases_of_runs
from checker.generation.hooks import ComponentHooks
from checker.generation.settings import GenerationSettings
from checker.kinds.protocol import ApiOperation
from checker.phases.listing import ListingContext, lister_of


def listed_cases(
    operation: ApiOperation,
    phases: Iterable[str],
    settings: GenerationSettings,
    hooks: ComponentHooks,
) -> Iterator[Case]:
    """Cases of those of the phases that list them, in the order of a run, as hooks want them; ids are the same every time.

    Raises `Unsatisfiable`, `BudgetSpent`, `HookError`.
    """
    wanted = set(phases)
    for phase in phases_of_runs():
        if phase.source is not CaseSource.LISTED or phase.name not in wanted:
            continue
        listed = lister_of(phase.name)(operation, ListingContext(settings, None, hooks))
        for number, one in enumerate(listed):
            case_id = digest("listed", operation.label, phase.name, str(number))[:12]
            case = one if isinstance(one, Case) else one.case(operation, case_id)
            case.id = case_id
            finished = hooks.finished(case)
            if finished is not None:
                yield finished
