"""Values of earlier responses set into cases: found by runtime expressions, and found again when a sequence is sent again."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import lru_cache, partial
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from checker.checks.context import JudgedInteraction
from checker.core.case import NOT_SET, Case, copied, fresh_key, is_idempotency_key
from checker.core.meta import Binding, CaseMetadata, PhaseData, PhaseInfo, ValuePool
from checker.core.operation import Parameter
from checker.core.phases import EXAMPLES
from checker.core.request import Location
from checker.core.resource_names import may_be_segment
from checker.core.resources import REMOVING
from checker.core.response import Response
from checker.core.runtime_expressions import (
    EvaluationContext,
    InvalidExpression,
    Unresolved,
    Value,
    evaluate,
    parse_value,
)
from checker.core.scenarios import OPTIONAL_SETS, Scenario
from checker.core.schema import unescaped
from checker.generation.boundaries.cases import BoundaryCase
from checker.values.harvest import value_at
from checker.values.producers import is_of_request, sent_value

ITEMS = "*"  # In a pointer: every item of a list.
SHOWN = 120  # Characters of a description.


def evaluated(raw: Any, sent: JudgedInteraction) -> Any:
    """Return the value of a link's expression after an interaction, the first of several; `NOT_SET` if there is none."""
    return value_of(json.dumps(raw), sent)


def resolved(binding: Binding, earlier: Sequence[JudgedInteraction]) -> Binding:
    """Return the binding with the value that its producer returned this time; unchanged if the producer returned none."""
    if not binding.expression:
        for sent in reversed(earlier):
            operation = sent.case.operation
            if operation.label == binding.producer and isinstance(sent.outcome, Response):
                if is_of_request(binding.pointer):
                    shown = sent_value(sent.case, binding.pointer)
                else:
                    shown = value_at(sent.outcome, binding.pointer, operation.read_answer)
                if shown is not None:
                    return replace(binding, literal=shown)
        return binding
    if not 0 <= binding.step < len(earlier):
        return binding
    value = value_of(binding.expression, earlier[binding.step], binding.literal)
    return binding if value is NOT_SET else replace(binding, literal=value)


def without_step(bindings: Iterable[Binding], dropped: int) -> tuple[Binding, ...]:
    """Return the bindings of a later step after a step of the sequence was removed. Values from the removed step stay unchanged."""
    found = []
    for binding in bindings:
        step = binding.step
        # The literal still holds what the step gave, and -1 is no step: `resolved` keeps the literal of an expression.
        if step == dropped:
            step = -1
        elif step > dropped:
            step -= 1
        found.append(binding if step == binding.step else replace(binding, step=step))
    return tuple(found)


def set_into(case: Case, bindings: Iterable[Binding]) -> tuple[Binding, ...]:
    """Set values at their places, except in parts that are meant to be wrong; return those that were set."""
    meta = case.meta
    wrong: set[Location] = set()
    if meta is not None:
        # A known value in place of the wrong one would make the case valid, and its 2xx response a failure.
        wrong = {at for at, part in meta.components.items() if part.violation is not None}
    wanted = [one for one in bindings if one.expression and one.location not in wrong]
    done = _all_set(case, wanted)
    if meta is not None and done:
        meta.bindings = (*meta.bindings, *done)
        meta.phase = PhaseInfo(meta.phase.name, described(done))
    return done


def renewed(case: Case, earlier: Sequence[JudgedInteraction]) -> Case:
    """Return a step of a sequence with the values that the responses of earlier steps have this time."""
    other = copy(case)
    for location in Location:
        if location is not Location.BODY:
            # The step is the record of what was sent: values set into its own containers would change the record.
            setattr(other, location.container, copy(getattr(case, location.container)))
    _all_set(other, (resolved(one, earlier) for one in (case.meta.bindings if case.meta is not None else ())))
    return other


def put_back(case: Case, bindings: Iterable[Binding]) -> tuple[Binding, ...]:
    """Set values of earlier responses at places that a case has, and return their bindings. Missing places stay missing."""
    kept = _all_set(case, (one for one in bindings if has_place(case, one)))
    if case.meta is not None and kept:
        case.meta.bindings = (*case.meta.bindings, *kept)
    return kept


def has_place(case: Case, binding: Binding) -> bool:
    """Whether a case has a value at the place of a binding."""
    return any(True for _ in _found_at(case, binding))


def held_by(case: Case, bindings: Iterable[Binding]) -> tuple[Binding, ...]:
    """Return the bindings whose values a case contains. A smaller or invalid case may have lost some."""
    return tuple(one for one in bindings if str(one.literal) in map(str, _found_at(case, one)))


def _found_at(case: Case, binding: Binding) -> Iterator[Any]:
    """Yield the values of a case at the place of a binding: several if it goes through lists."""
    if binding.location is not Location.BODY:
        container = getattr(case, binding.location.container)
        tokens = [binding.name]
    else:
        container, tokens = case.body, [*map(unescaped, binding.name.split("/")[1:])]
    found = [] if container is NOT_SET else [container]
    for token in tokens:
        below: list[Any] = []
        for one in found:
            if isinstance(one, list) and token == ITEMS:
                below += one
            elif isinstance(one, dict) and token in one:
                below.append(one[token])
        found = below
    yield from found


def described(bindings: Sequence[Binding]) -> PhaseData:
    """Return the `case.meta.phase.data` of a step: the step that it follows, and the values that it takes from there."""
    first = max(bindings, key=lambda binding: binding.step)
    values = ", ".join([_described(one.location, one.name, one.expression) for one in bindings])
    return PhaseData(scenario=f"after {first.producer}", description=values)


@lru_cache(maxsize=4096)
def _described(location: Location, name: str, expression: str) -> str:
    return f"{location} {name or '/'} = {expression_of(expression)!s:.{SHOWN}}"


@lru_cache(maxsize=4096)
def expression_of(text: str) -> Any:
    """Return the expression of a link from its JSON in bindings: shared, for reading only."""
    return json.loads(text)


@lru_cache(maxsize=4096)
def shown_place(text: str) -> str:
    """Return the place in a response from which an expression (JSON) takes its value, as reports state it."""
    return place_in_answer(expression_of(text))


def place_in_answer(expression: Any) -> str:
    """Return the place in a response from which a link (as JSON) takes its value, as reports state it."""
    text = expression if isinstance(expression, str) else json.dumps(expression)
    return text.removeprefix("$response.body#").partition("#regex:")[0]


def value_of(expression: str, sent: JudgedInteraction, wanted: Any = NOT_SET) -> Any:
    """Return the value of an expression (JSON) after an interaction: `wanted` or the first of several; `NOT_SET` if there is none."""
    outcome = sent.outcome
    parsed = _parsed(expression)
    if not isinstance(outcome, Response) or parsed is NOT_SET:
        return NOT_SET

    def pick(found: Sequence[Any]) -> Any:
        return wanted if wanted in found else found[0]

    url = str(getattr(outcome, "url", ""))
    value = evaluate(parsed, EvaluationContext(sent.case, outcome, url), pick)
    return NOT_SET if isinstance(value, Unresolved) else value


@lru_cache(maxsize=4096)
def _parsed(expression: str) -> Value:
    try:
        return parse_value(expression_of(expression))
    except InvalidExpression:
        return NOT_SET


def _all_set(case: Case, bindings: Iterable[Binding]) -> tuple[Binding, ...]:
    """Set the values at their places, and return the bindings whose places exist in a case."""
    done, body = [], case.body
    for binding in bindings:
        if binding.location is Location.BODY and binding.name and case.body is body:
            # Other cases may share the drawn body.
            case.body = copied(body)
        value = copied(binding.literal)
        if binding.location is not Location.BODY:
            getattr(case, binding.location.container)[binding.name] = value
        elif not binding.name:
            case.body = value
            if case.media_type is None and case.operation.bodies:
                case.media_type = case.operation.bodies[0].media_type
        elif not isinstance(case.body, dict) or not _is_placed(case.body, binding.name.split("/")[1:], value):
            continue
        done.append(binding)
    return tuple(done)


def _is_placed(body: Any, tokens: list[str], value: Any) -> bool:
    """Set a value at a place, with missing objects on the way; return whether it was set. In a list each item gets it."""
    token, below = tokens[0], tokens[1:]
    if isinstance(body, list) and token == ITEMS:
        if below:
            placed = [_is_placed(item, below, value) for item in body]
            return any(placed)
        body[:] = [value]
        return True
    if not isinstance(body, dict):
        return False
    name = unescaped(token)
    if not below:
        body[name] = value
        return True
    if below[0] != ITEMS:
        body.setdefault(name, {})
    return name in body and _is_placed(body[name], below, value)


_TURNS: Final = 3
_LIKELY: Final = (0, 20, 40)
"""Indices of values of a pool: the best one, then two of those that a pool offers more often the likelier they are. The second best value is left out, because it is often another field of the only known resource, which identifies nothing.
"""


def take_names(case: Case, pool: ValuePool | None, number: int = 0) -> tuple[Binding, ...]:
    """Set known values into the path parameters of a case, and return their bindings.

    Case `number` of a list takes likely values in turn, because one of them may have been deleted. The parameter that the
    case tests and those that users force keep their value. Examples of the description are kept in the examples phase, but
    only in every third case of other lists, because many of them name no resource of this target. In such a list, a path
    with several variables keeps none: the example of one would be combined with known values of another resource.
    """
    meta = case.meta
    if pool is None or meta is None or Location.PATH not in meta.components:
        return ()
    kept, taken = _kept_names(meta, Location.PATH), []
    if None in kept:
        return ()
    is_alone = sum(one.location is Location.PATH for one in case.operation.parameters) == 1
    keeps_said = meta.phase.name == EXAMPLES.name or (is_alone and number % _TURNS == 0)
    for parameter in case.operation.parameters:
        is_said = bool(parameter.examples) and keeps_said
        if parameter.location is not Location.PATH or is_said or parameter.name in kept:
            continue
        for index in dict.fromkeys((_LIKELY[number % _TURNS], 0)):
            found = pool.pick(Location.PATH, parameter.name, index)
            value = None if found is None else _path_value(found.literal, parameter)
            if found is not None and value is not None:
                case.path_parameters[parameter.name] = value
                taken.append(replace(found, literal=value))
                break
    meta.bindings = (*meta.bindings, *taken)
    return tuple(taken)


_ORDINARY: Final = 2**31  # Bound of the integers that servers handle like any other integer.
_ORDINARY_SCENARIOS: Final = (Scenario.NUMBER, Scenario.STRING)
_SHORT: Final = 3  # Characters of ordinary texts in lists of boundary values.


def has_ordinary_name(case: Case, pool: ValuePool | None) -> bool:
    """Whether a valid case of a list tests an ordinary name in its path, such as 1 or `00`, although a pool has real ones.

    The response would be 404, which shows nothing. Numbers beyond 32 and 64 bits and long texts find limits of servers, for
    which requests of other methods are enough: a removal tests no names.
    """
    meta = case.meta
    if pool is None or meta is None or meta.phase.data.scenario not in _ORDINARY_SCENARIOS:
        return False
    if meta.mode.is_negative or meta.phase.data.get("parameter_location") != Location.PATH:
        return False
    name = meta.phase.data.get("parameter") or ""
    value = case.path_parameters.get(name)
    is_ordinary = len(value) <= _SHORT if isinstance(value, str) else isinstance(value, int) and abs(value) < _ORDINARY
    is_ordinary = is_ordinary or case.operation.resource_method == REMOVING
    return is_ordinary and pool.pick(Location.PATH, name, 0) is not None


def _kept_names(meta: CaseMetadata, location: Location) -> tuple[str | None, ...]:
    """Return the parameters of a location that a listed case must keep; None in the result stands for the whole location."""
    part, data = meta.components.get(location), meta.phase.data
    outside = () if part is None else part.outside
    return (data.get("parameter"), *outside) if data.get("parameter_location") == location else outside


def _path_value(literal: object, parameter: Parameter) -> Any:
    """Return a value in the type that its path parameter accepts; None if no type fits."""
    if isinstance(literal, bool) or not isinstance(literal, str | int):
        return None
    number = int(literal) if isinstance(literal, str) and literal.isdecimal() else literal
    for value in (literal, str(literal), number):
        if may_be_segment(str(value)) and (parameter.problem_of is None or parameter.problem_of(value) is None):
            return value
    return None


def take_references(case: Case, listed: object, pool: ValuePool | None, number: int = 0) -> tuple[Binding, ...]:
    """Set known resource names into the body of a case, and return their bindings.

    The cases of a list take the best values in turn, and change with each turn of their path values, so that all pairs
    occur. Every third case keeps the examples of the description.
    """
    meta = case.meta
    if not isinstance(listed, BoundaryCase) or listed.renewal is None or pool is None or meta is None:
        return ()
    pick = partial(pool.pick, Location.BODY, index=_LIKELY[number // _TURNS % _TURNS])
    # The first case has no optional references, because they may be refused as well.
    adds = number > 0 and listed.scenario not in OPTIONAL_SETS
    taken = tuple(listed.renewal.filled(case.body, pick, keeps_said=number % _TURNS == 0, adds=adds))
    meta.bindings = (*meta.bindings, *taken)
    return taken


def renew(case: Case, listed: object, token: str) -> str:
    """Give a listed case resource names and an idempotency key of its own, derived from a token.

    Values that the case tests stay. Returns the token, or "" if no binding depends on the token.
    """
    if not isinstance(listed, BoundaryCase) or not token:
        return ""
    # With the usual key, servers would treat all cases but the first as repetitions.
    kept = () if case.meta is None else _kept_names(case.meta, Location.HEADER)
    keys = {
        name: fresh_key(value, token)
        for name, value in case.headers.items()
        if is_idempotency_key(name) and name not in kept and isinstance(value, str)
    }
    case.headers.update(keys)
    if listed.renewal is not None:
        case.body = listed.renewal.renewed(case.body, token)
    return token if keys or listed.renewal is not None else ""


class BoundPool(Struct, frozen=True):
    """The values that a recorded case took while it was drawn, as a pool.

    Values that were set over drawn ones (bindings with an expression) are not offered: the draw would consume them in
    place of recorded choices, and all later choices would shift.
    """

    bindings: Mapping[tuple[Location, str], Binding]

    @classmethod
    def of(cls, bindings: tuple[Binding, ...]) -> "BoundPool":
        drawn = (binding for binding in bindings if not binding.expression)
        return cls({(binding.location, binding.name): binding for binding in drawn})

    def pick(self, location: Location, name: str, index: int) -> Binding | None:
        """Return the recorded value of that place, for any index."""
        return self.bindings.get((location, name))


class NewestFirst(Struct, frozen=True):
    """A pool that always offers its latest value, which the previous step has just returned."""

    pool: ValuePool

    def pick(self, location: Location, name: str, index: int) -> Binding | None:
        """Return the best value, whatever the index."""
        return self.pool.pick(location, name, 0)
