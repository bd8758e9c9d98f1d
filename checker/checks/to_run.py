"""Selects the checks for an interaction, because most checks do not apply to most interactions.

Interactions are grouped by kind: everything that is known before the body is read. The checks are selected once for each kind.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from inspect import isclass

from msgspec import Struct, field

from checker.checks.check import Check, Config, InteractionKind, QuickLook
from checker.checks.custom import AFTER_RESPONSE, CUSTOM_CHECKS, ClassCheck, custom_check
from checker.checks.table import BUILT_IN
from checker.core.case import Case
from checker.core.contract import ResponsePlan
from checker.core.errors import UsageError
from checker.core.meta import GenerationMode
from checker.core.operation import Operation
from checker.core.response import Response
from checker.core.scenarios import REQUEST_SHAPES, standing

_NEGATIVE = GenerationMode.NEGATIVE
_KINDS = 4096
_OfResponse = tuple[int, int, str | None]  # `id` of the operation, status, `Content-Type`.
_OfCase = tuple[bool, bool, str, str | None] | tuple[bool, str | None]
"""(follows others, is invalid on purpose, phase, scenario), or (follows others, scenario) for a case from user code."""
Asked = tuple[Check, Config]
MaySend = Callable[[Case, Response], bool]


class ChecksToRun(Struct):
    """The checks that have to run for interactions of one kind."""

    operation: Operation  # Keeps the operation alive, because `Kinds` knows it by its `id`.
    plan: ResponsePlan
    asked: tuple[Asked, ...]
    at_once: tuple[Asked, ...] = ()  # The checks of `asked` that send no requests.
    quick_look: QuickLook | None = None  # A quick test for all of `at_once`; None if one of them has none.
    may_send: MaySend | None = None
    """Returns whether some check may send requests for an interaction; None if no check ever sends requests."""
    by_case: "dict[_OfCase, ChecksToRun] | None" = None
    """The checks by properties of the case; None if they do not depend on the case."""


class Kinds(Struct):
    """The kinds of interactions that occurred, with the checks to run for each."""

    checks: tuple[Asked, ...]
    _met: dict[_OfResponse, ChecksToRun] = field(default_factory=dict)

    def of(self, case: Case, response: Response, *, follows: bool) -> ChecksToRun:
        """Return the checks that apply to an interaction. `follows`: the interaction is not the first of its sequence."""
        kind = (id(case.operation), response.status_code, response.content_type)
        found = self._met.get(kind) or self._meet(kind, case, response, follows=follows)
        if found.by_case is None:
            return found
        meta, method = case.meta, case.other_method
        if meta is None:
            of_case: _OfCase = follows, _scenario(case)
        else:
            phase = meta.phase
            # Most cases have no scenario, and this runs for each of them.
            scenario = _scenario(case) if method is not None or phase.data else None
            of_case = follows, meta.mode is _NEGATIVE, phase.name, scenario
        narrowed = found.by_case.get(of_case)
        if narrowed is None:
            narrowed = self._narrowed(found.asked, found.plan, case, response, follows=follows)
            found.by_case[of_case] = narrowed
        return narrowed

    def _meet(self, kind: _OfResponse, case: Case, response: Response, *, follows: bool) -> ChecksToRun:
        status = response.status_code
        plan = case.operation.contract.plan(status, response.content_type)
        left = tuple(
            (check, config)
            for check, config in self.checks
            if check.applies.to_operation(case.operation) and _look(check, status, plan, config) is not True
        )
        if any(check.applies.asks_for_case for check, _ in left):
            found = ChecksToRun(case.operation, plan, left, by_case={})
        else:
            found = self._narrowed(left, plan, case, response, follows=follows)
        # A server may send a new media type with each response.
        if len(self._met) >= _KINDS:
            self._met.clear()
        self._met[kind] = found
        return found

    def _narrowed(
        self, left: Iterable[Asked], plan: ResponsePlan, case: Case, response: Response, *, follows: bool
    ) -> ChecksToRun:
        meta, method = case.meta, case.operation.method
        if meta is None:
            kind = InteractionKind(response.status_code, method, follows, scenario=_scenario(case))
        else:
            kind = InteractionKind(response.status_code, method, follows, meta.mode, meta.phase.name, _scenario(case))
        asked = tuple(one for one in left if one[0].applies.to(kind))
        at_once = tuple(one for one in asked if not one[0].sends)
        looks = [_look(check, response.status_code, plan, config) for check, config in at_once]
        sending = [check.may_send or (lambda case, response: True) for check, _ in asked if check.sends]
        may_send = reduce(_either, sending) if sending else None
        known = [look for look in looks if not isinstance(look, bool)]
        if len(known) < len(looks):
            look = None
        else:
            look = reduce(_both, known) if known else lambda response: True
        return ChecksToRun(case.operation, plan, asked, at_once, look, may_send)


def _look(check: Check, status: int, plan: ResponsePlan, config: Config) -> QuickLook | bool:
    return check.quick_look is not None and check.quick_look(status, plan, config)


def _either(first: MaySend, second: MaySend) -> MaySend:
    return lambda case, response: first(case, response) or second(case, response)


def _both(first: QuickLook, second: QuickLook) -> QuickLook:
    # Nested calls take a third of the time of `all` over a list.
    return lambda response: first(response) and second(response)


def _scenario(case: Case) -> str | None:
    meta = case.meta
    listed = None if meta is None else meta.phase.data.get("scenario")
    return standing(listed, is_other_method=case.is_of_other_method)


_OF_SHAPES = GenerationMode.NEGATIVE  # Mode of the cases with a scenario of `REQUEST_SHAPES`.


class Needs(Struct, frozen=True):
    """The kinds of requests that the checks of an operation judge."""

    modes: frozenset[GenerationMode]  # Modes of requests to the operation.
    shapes: frozenset[str]  # Scenarios of requests that reach no operation because of their method or media type.


def needs_of(names: Iterable[str], operation: Operation) -> Needs:
    """Return the needs of built-in and custom checks for an operation."""
    known = (BUILT_IN.get(name) or CUSTOM_CHECKS.get(name) for name in names)
    asked = [one.applies for one in known if one is not None and one.applies.to_operation(operation)]

    def is_judged(mode: GenerationMode, scenario: str | None = None) -> bool:
        kind = InteractionKind(0, operation.method, mode=mode, scenario=scenario)
        return any(one.to_request(kind) for one in asked)

    return Needs(
        frozenset(mode for mode in GenerationMode if is_judged(mode)),
        frozenset(shape for shape in REQUEST_SHAPES if is_judged(_OF_SHAPES, shape)),
    )


def selected_checks(names: Sequence[str], classes: Iterable[ClassCheck] = ()) -> tuple[Check, ...]:
    """Return checks in the order of the table, then functions of users, then `classes`. Raises `UsageError` for an unknown name."""
    custom = {
        name: custom_check(name, one.source, one.applies)
        for name, one in CUSTOM_CHECKS.items()
        if not isclass(one.source)
    }
    watching = {
        one.name: custom_check(one.name, one.instance.after_response, one.applies)
        for one in classes
        if hasattr(one.instance, AFTER_RESPONSE)
    }
    known = {**BUILT_IN, **custom, **watching}
    unknown = [name for name in names if name not in known and name not in CUSTOM_CHECKS]
    if unknown:
        raise UsageError(f"unknown check {unknown[0]!r}; choose from {', '.join(known)}")
    return tuple(one for name, one in known.items() if name in names)
