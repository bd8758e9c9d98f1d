"""A race condition: two equal requests are both accepted if they are sent at once, but only the first if they are sent one after the other (CWE-362)."""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import chain
from typing import Final

from msgspec import Struct
from msgspec.structs import replace as replace_context

from checker.checks.authentication import other_things
from checker.checks.context import PASSED, CheckContext, Found
from checker.checks.location import reading_at
from checker.checks.resources import Sent, is_done, is_one_of, is_success, line_of, request_of_check, resource_in
from checker.core.case import Case, is_idempotency_key, with_fresh_key
from checker.core.contract import Outcome as Verdict
from checker.core.failures import Failure, Severity
from checker.core.request import CONDITIONS, WireRequest
from checker.core.resource_names import VERSION_FIELDS, normalised, words
from checker.core.response import FailureKind, NetworkFailure, Outcome, Response
from checker.core.send import Exchanging

_ONE_OF: Final = 16  # One in this many accepted writes is repeated.
_SPENDS_OF: Final = 2
"""One in this many accepted actions that may spend a balance is repeated, because balances do not last."""
_CREATED: Final = 201
_TRIES, _MORE_TRIES = 3, 8
"""Pairs of requests that are sent for a write whose repetition is refused, and pairs to confirm a failure. A single pair may miss the race."""
_PAIRS: Final = 2  # Pairs that spend a balance twice. After these, nothing has to be repeated.
_KEYS_OF: Final = 2  # One in this many accepted writes with an `Idempotency-Key` is repeated: few operations have one.
_SETTLE_S: Final = 0.1
_CONFLICT: Final = "409"
_OF_STATE: Final = frozenset((400, 402, 403, 404, 409, 410, 412, 422, 423, 428))
"""Statuses of requests that may be refused because an equal request came first."""
_IDS: Final = (("id",), ("uuid",), ("guid",))  # Last words of the names of identifiers.
_TITLES: Final = {
    "update": "Lost update",
    "key": "Idempotency key accepted twice at once",
    "repetition": "Repetition accepted at once",
}
_EXPECTED: Final = {
    "update": "Expected: one refusal, as if sent one after the other, because the version is old by then",
    "key": "Expected: one resource in both responses, as if sent one after the other",
    "repetition": "Expected: one refusal, as if sent one after the other",
}


class RaceCondition(Failure, code="ST310", title="Race condition", severity=Severity.HIGH, needs_repetition=True):
    """Two equal requests that are sent at once are both accepted. Sent one after the other, only the first one is."""


class RepeatedKey(
    Failure, code="ST317", title="Idempotency key is ignored", severity=Severity.HIGH, needs_repetition=True
):
    """Two requests with the same `Idempotency-Key` create two resources."""


_NOTHING: Final = NetworkFailure(FailureKind.OTHER, "", 0.0)


def is_chosen(case: Case, response: Response) -> bool:
    """Whether the check sends a request for an interaction, or judges the response to its own request."""
    sent = response.request
    if sent is None or sent.is_of_check:
        return sent is not None and sent.is_twice
    one_of = _KEYS_OF if any(map(is_idempotency_key, case.headers)) else _ONE_OF
    if sent.is_for("races") or is_one_of(case, one_of):
        return True
    if not is_one_of(case, _SPENDS_OF):
        return False
    body = case.body if isinstance(case.body, dict) else {}
    if case.method != "POST" or response.status_code == _CREATED or not any(type(one) is int for one in body.values()):
        return False
    shown = resource_in(response) or {}
    return any(type(value) is int and name not in body for name, value in shown.items())


def races(context: CheckContext) -> Exchanging[Found]:
    """Fail if two equal requests are both accepted when they are sent at once, and the second one is refused when they are sent one after the other.

    An accepted write is repeated. An `Idempotency-Key` is ignored if the responses contain two resources. If the repetition
    is refused, or returns the resource that was created with the same `Idempotency-Key`, the earlier steps are sent again,
    with other names if theirs are in use, and then the write twice at once. It is a race if both are accepted and a third
    request is refused. As a control, the earlier steps are sent once more, followed by two requests one after the other: the
    second of them has to be refused. The server then checks and acts in two steps. An update counts if it names a version, in
    a condition (RFC 9110, 13.1) or in its body. It is also a race if two requests lower a balance by the amount of one.
    """
    case, sent, tools = context.case, context.response.request, context.tools
    if sent is None or tools is None or context.response.redirects:
        return True
    if sent.is_twice:
        return _failure(case, context.response) if (yield from is_race(context.response)) else PASSED
    if case.method != "POST" and not _conditions_of(case):
        return PASSED
    again = yield _repeated(context.response)
    if not _refuses(context.response, again):
        if any(map(is_idempotency_key, case.headers)) and _are_two(context.response, again):
            return _ignored_key(context, sent, again)
        spent = yield from _spent_once(context, again)
        if spent is not None:
            return spent
        # A server may need some time until it sees what it has accepted.
        is_for_once = _CONFLICT in context.plan.documented_statuses
        if not is_for_once or not (yield from _is_refused(context.response)):
            return PASSED
    stage = _Stage(context, [step.case for step in context.sequence], case)
    for _ in range(_MORE_TRIES if sent.confirms else _TRIES):
        pair = yield from stage.sent(is_twice=True)
        if pair is None:
            return PASSED
        if not (yield from is_race(pair)):
            continue
        first = yield from stage.sent(is_twice=False)
        if first is None or not (yield from _is_refused(first)):
            return PASSED
        failure = _failure(stage.case, pair)
        failure.request = pair.request
        return failure
    return PASSED


def _spent_once(context: CheckContext, again: Outcome) -> Exchanging[Failure | None]:
    """Return the failure if two equal requests are accepted at once and lower a balance by the amount of only one of them.

    The case and its repetition have shown that each request lowers the balance by a number in its body. Each request spends
    a bit more than half of the remaining balance, so both succeed only if the server reads the balance in one step and
    writes it in another. A second pair spends the other half.
    """
    case, tools, sent = context.case, context.tools, context.response.request
    assert tools is not None
    before, after = resource_in(context.response) or {}, resource_in(again) or {}
    body = case.body if isinstance(case.body, dict) else {}
    spends = (
        (name, field)
        for name, amount in body.items()
        for field, left in after.items()
        if type(amount) is int and type(left) is int and type(before.get(field)) is int
        if left > 0 and before[field] - left == amount > 0
    )
    name, field = next(spends, ("", ""))
    if not name:
        return None
    rest, shown = after[field], list[RaceCondition]()
    wanted = 1 if sent is not None and sent.confirms else _PAIRS
    for _ in range(_MORE_TRIES):
        amount = rest // 2 + 1
        other = copy(case)
        other.body = body | {name: amount}
        request = request_of_check(context, other)
        if tools.judge_request(case.operation, request).outcome is not Verdict.VALID:
            break
        rests = [
            (resource_in(one) or {}).get(field) for one in _both((yield replace(request, is_twice=True, fresh=True)))
        ]
        if rests == [rest - amount] * 2:
            text = f"`{field}` before: {rest}\nSent twice at once: {line_of(request)} with `{name}`: {amount}\nReceived twice: `{field}`: "
            text += f"{rests[0]}\nExpected: one refusal, or a balance that both have lowered"
            failure = RaceCondition(text, title="Spent twice, paid once", unique_key="balance")
            shown.append(failure.showing_with(context.exchanges))
        # If a pair misses the race, only one of its requests is accepted.
        rest = min((one for one in rests if type(one) is int), default=0)
        if rest <= 0 or len(shown) == wanted:
            break
    if not shown:
        return None
    # After a second pair, no other request can have paid the same amount back. The balance may be spent when the
    # failure is investigated.
    shown[0].is_repeated = len(shown) == _PAIRS
    return shown[0]


class _Stage(Struct):
    """Creates the state in which a write is accepted, as often as needed."""

    context: CheckContext
    steps: list[Case]  # The steps before the write, with the names that were accepted last.
    case: Case  # The write, with the names that were accepted last.

    def sent(self, *, is_twice: bool) -> Exchanging[Response | None]:
        """Send the earlier steps again, then the write. Return the response to the write; None if a step or the write is refused."""
        earlier: list[Sent] = []
        for number, (step, before) in enumerate(zip(self.steps, self.context.sequence, strict=True)):
            found = yield from self._accepted(step, earlier)
            if found is None and is_done(before):
                return None
            if found is not None:
                self.steps[number] = found.case
            earlier.append(found or Sent(step, self._request(step), before.outcome or _NOTHING))
        found = yield from self._accepted(self.case, earlier, is_twice=is_twice)
        if found is None or not isinstance(found.outcome, Response):
            return None
        self.case = found.case
        return found.outcome

    def _accepted(self, case: Case, earlier: Sequence[Sent], *, is_twice: bool = False) -> Exchanging[Sent | None]:
        """Send a case with the values of earlier steps' responses, then with other names; None if it is refused each time."""
        assert self.context.tools is not None
        renewed = yield from self._with_current_version(self.context.tools.renew(case, earlier))
        keyed = with_fresh_key(renewed)
        others: Iterable[Case] = ()
        if keyed is None and renewed.method == "POST":
            others = other_things(replace_context(self.context, case=renewed), texts_only=True)
        for trial in chain((keyed or renewed,), others):
            request = replace(self._request(trial), is_twice=is_twice)
            outcome = yield request
            if isinstance(outcome, Response) and 200 <= outcome.status_code < 300 and not outcome.redirects:
                return Sent(trial, request, outcome)
        return None

    def _with_current_version(self, case: Case) -> Exchanging[Case]:
        """Return an update with the version that a read of the resource returns now."""
        conditions = _conditions_of(case) if case.method != "POST" else ()
        if not conditions:
            return case
        plain, other = copy(case), copy(case)
        plain.headers = {name: value for name, value in case.headers.items() if name not in conditions}
        target = self._request(plain).path.decode("latin-1")
        read = yield reading_at(replace_context(self.context, case=plain), target)
        shown, tags = resource_in(read) or {}, read.headers.get("etag") if isinstance(read, Response) else None
        for name in conditions:
            if name in case.headers:
                other.headers = other.headers | ({name: tags[0]} if tags else {})
            elif name in shown:
                other.body = other.body | {name: shown[name]}
        return other

    def _request(self, case: Case) -> WireRequest:
        # A load balancer may send each connection to another process, and otherwise only the connections might differ.
        return replace(request_of_check(self.context, case), fresh=True)


def _conditions_of(case: Case) -> list[str]:
    """Return the headers and the fields of the body that contain the version of the resource."""
    fields = case.body if isinstance(case.body, dict) else ()
    return [
        *(name for name in case.headers if name.lower() in CONDITIONS),
        *(name for name in fields if normalised(name) in VERSION_FIELDS),
    ]


def _has_key(request: WireRequest | None) -> bool:
    names = () if request is None else (name.decode("latin-1") for name, _ in request.headers)
    return any(map(is_idempotency_key, names))


def is_race(pair: Response) -> Exchanging[bool]:
    """Whether two requests at once were both accepted, and a third request is refused or returns a resource that the two created."""
    both = _both(pair)
    if not both:
        are_done = False
    else:
        first, second = map(_ids_in, both)
        if _has_key(pair.request):
            are_done = first != second
        else:
            sent = b"" if pair.request is None else pair.request.target + (pair.request.body or b"")
            is_new = any(str(one).encode() not in sent for one in first.values())
            are_done = first != second or not is_new
    return are_done and (yield from _is_refused(pair))


def _is_refused(first: Response) -> Exchanging[bool]:
    """Whether the server refuses the repetition of an accepted write after a short pause, or returns the resource that it created for the same key."""
    return _refuses(first, (yield replace(_repeated(first), delay_s=_SETTLE_S)))


def _repeated(first: Response) -> WireRequest:
    assert first.request is not None
    return replace(first.request, is_twice=False, is_of_check=True, fresh=True)


def _refuses(first: Response, again: Outcome) -> bool:
    """Whether a repetition is refused, or returns the resource that the same `Idempotency-Key` created."""
    if not isinstance(again, Response):
        return False
    shown = [_ids_in(one) for one in (first, *(outcome for _, outcome, _ in first.earlier))]
    return again.status_code in _OF_STATE or (
        _has_key(first.request) and bool(_ids_in(again)) and _ids_in(again) in shown
    )


def _are_two(first: Response, again: Outcome) -> bool:
    """Whether two responses contain two resources: all identifiers that the request does not contain differ."""
    sent = b"" if first.request is None else first.request.target + (first.request.body or b"")
    pairs = [
        {name: one for name, one in _ids_in(shown).items() if f"{one}".encode() not in sent} for shown in (first, again)
    ]
    ones, others = pairs
    return bool(ones) and ones.keys() == others.keys() and not set(ones.values()) & set(others.values())


def _ignored_key(context: CheckContext, request: WireRequest, again: Outcome) -> Failure:
    ids = "\n".join(
        f"Received: {', '.join(f'{name} {value}' for name, value in _ids_in(one).items())}"
        for one in (context.response, again)
    )
    message = f"Sent twice with the same `Idempotency-Key`: {line_of(request)}\n{ids}\nExpected: the same resource"
    return RepeatedKey(message, unique_key="key").showing_with(context.exchanges)


def _both(pair: Outcome) -> Sequence[Response]:
    """Return the responses to two requests that were sent at once; empty unless both succeeded."""
    others = [outcome for request, outcome, _ in pair.earlier if request.is_twice] if is_success(pair) else []
    # The outcome of a pair is the response with the lower status.
    return (pair, others[0]) if is_success(pair) and len(others) == 1 and is_success(others[0]) else ()


def _ids_in(response: Outcome) -> Mapping[str, str | int]:
    """Return the identifiers of the resource in a response."""
    found = {name: value for name, value in (resource_in(response) or {}).items() if words(name)[-1:] in _IDS}
    return {name: value for name, value in found.items() if isinstance(value, str | int)}


def _failure(case: Case, pair: Response) -> Failure:
    statuses = [
        one.status_code for one in (pair, *(other for _, other, _ in pair.earlier)) if isinstance(one, Response)
    ]
    kind = "update" if case.method != "POST" else "key" if _has_key(pair.request) else "repetition"
    return RaceCondition(
        f"Sent twice at once: {line_of(pair.request)}\nReceived: {' and '.join(map(str, statuses))}\n{_EXPECTED[kind]}",
        title=_TITLES[kind],
        unique_key=kind,
    )
