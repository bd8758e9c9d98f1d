"""Values of earlier answers in cases that are listed: paths name things, and a made-up name leads to 404."""

from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from checker.core.case import Case
from checker.core.idempotency import fresh_key, is_idempotency_key
from checker.core.meta import Binding, ValuePool
from checker.core.operation import Parameter
from checker.core.request import Location
from checker.core.scenarios import Scenario
from checker.generation.boundaries.cases import BoundaryCase

_TURNS: Final = 3
_NO_NAMES: Final = ("", ".", "..")
"""Texts that are no segment of a path."""
_SETS: Final = (Scenario.ONLY_REQUIRED, Scenario.SOME_OPTIONAL)
"""Cases that are about which optional properties there are."""


def take_names(case: Case, pool: ValuePool | None, number: int = 0) -> tuple[Binding, ...]:
    """Set the best known names into the path of a case, but for the one that it is about; what was taken.

    The cases of a list, by their `number`, take the best few in turn: one of them may be gone. What the description gives as
    an example, and what users force, stays.
    """
    meta = case.meta
    if pool is None or meta is None:
        return ()
    data = meta.phase.data
    about = data.get("parameter") if data.get("parameter_location") == Location.PATH else ""
    if about is None:
        return ()
    part = meta.components.get(Location.PATH)
    taken = []
    for parameter in case.operation.parameters:
        is_free = parameter.location is Location.PATH and not parameter.examples
        if part is None or not is_free or parameter.name in (about, *part.outside):
            continue
        found = pool.pick(Location.PATH, parameter.name, number % _TURNS)
        value = None if found is None else _fitting(found.literal, parameter)
        if found is not None and value is not None:
            case.path_parameters[parameter.name] = value
            taken.append(replace(found, literal=value))
    if taken:
        meta.bindings = (*meta.bindings, *taken)
    return tuple(taken)


def take_known(
    case: Case, listed: object, pool: ValuePool | None, number: int = 0
) -> tuple[Binding, ...]:
    """Set known names of things into the body and the path of a case; what was taken. Before its body is given names of its own."""
    return *take_references(case, listed, pool, number), *take_names(case, pool, number)


def take_references(
    case: Case, listed: object, pool: ValuePool | None, number: int = 0
) -> tuple[Binding, ...]:
    """Set known names of things into the body of a case, but where it is about them; what was taken.

    The cases of a list take the best few in turn, and other ones with each turn of their paths. Where the description gives an
    example, some keep it.
    """
    renewal = listed.renewal if isinstance(listed, BoundaryCase) else None
    meta = case.meta
    if renewal is None or pool is None or meta is None:
        return ()
    pick = partial(pool.pick, Location.BODY, index=number // _TURNS % _TURNS)
    keeps_said = number % _TURNS == 0
    adds = isinstance(listed, BoundaryCase) and listed.scenario not in _SETS
    taken = tuple(renewal.references.filled(case.body, pick, keeps_said=keeps_said, adds=adds))
    meta.bindings = (*meta.bindings, *taken)
    return taken


def renew(case: Case, listed: object, token: str) -> str:
    """Give a case names and a key of its own, which follow from a token, but where it is about them; the token, or "" if nothing is to differ."""
    if not isinstance(listed, BoundaryCase) or not token:
        return ""
    has_key = _gets_key(case, token)
    if listed.renewal is not None:
        case.body = listed.renewal.renewed(case.body, token)
    return token if has_key or listed.renewal is not None else ""


def _gets_key(case: Case, token: str) -> bool:
    """Whether there was a key by which servers know requests again, which is another one now: with the usual one all cases but the first would be repetitions."""
    meta = case.meta
    if meta is None or not case.headers:
        return False
    data, part = meta.phase.data, meta.components.get(Location.HEADER)
    about = data.get("parameter") if data.get("parameter_location") == Location.HEADER else ""
    kept = (about, *(() if part is None else part.outside))
    fresh = {
        name: fresh_key(value, token)
        for name, value in case.headers.items()
        if is_idempotency_key(name) and name not in kept and isinstance(value, str)
    }
    case.headers.update(fresh)
    return bool(fresh)


def _fitting(literal: object, parameter: Parameter) -> Any:
    """The value as the schema of the parameter wants it; None where it wants another one."""
    if isinstance(literal, bool) or not isinstance(literal, str | int):
        return None
    number = int(literal) if isinstance(literal, str) and literal.isdecimal() else literal
    for value in (literal, str(literal), number):
        text = str(value)
        is_name = text not in _NO_NAMES and "/" not in text
        if is_name and (parameter.problem_of is None or parameter.problem_of(value) is None):
            return value
    return None
