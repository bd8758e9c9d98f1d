"""The plainest case of an operation: what fails in it does not depend on the input."""

from msgspec.structs import replace

from checker.core.case import Case
from checker.core.meta import PhaseInfo, Step
from checker.core.scenarios import Scenario
from checker.phases.literals import literal_of
from checker.phases.making import CaseFactory, GeneratedCase


def undescribed_method(case: Case) -> str | None:
    """The method of a case that tries one which the description does not have for its path; None for any other case."""
    meta = case.meta
    scenario = None if meta is None else meta.phase.data.get("scenario")
    return case.other_method if scenario == Scenario.UNSPECIFIED_METHOD else None


def plainest_like(factory: CaseFactory, made: GeneratedCase, phase: PhaseInfo) -> GeneratedCase:
    """The plainest case of the operation of `made`, sent with the method of that where it is not described.

    Raises `Rejected`, and whatever making a case does.
    """
    plain = factory.simplest(made.step, name="", phase=phase)
    method = undescribed_method(made.case)
    if method is None:
        return plain
    told = literal_of(made.case)
    recipe = replace(literal_of(plain.case), mode=told.mode, data=told.data, method=method)
    return factory.remake(Step(made.label, recipe), name="", phase=phase)
