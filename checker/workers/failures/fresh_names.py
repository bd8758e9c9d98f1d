"""New names for the resources that the steps of a failure create, because a server with unique names refuses the old ones."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace as replace_request
from itertools import count
from random import Random

from msgspec import Struct, field
from msgspec.structs import replace

from checker.checks.judge import CLEAN
from checker.checks.rules import says_taken
from checker.core.digests import digest, digest_int
from checker.core.errors import CheckerError
from checker.core.meta import Listed, PhaseInfo
from checker.core.operation import Label, Place
from checker.core.request import Location, WireRequest
from checker.core.resources import REMOVING, SAFE
from checker.core.response import Response
from checker.generation.sources.context import Rejected
from checker.phases.attempt import Tools, Verdict, build_request
from checker.phases.case_factory import GeneratedCase
from checker.phases.case_parts import names_in, others_like
from checker.schema.views import outline_of
from checker.transport.wire.bodies import json_bytes
from checker.workers.context import WorkerContext
from checker.workers.jobs import Job
from checker.workers.recording.unconfirmed import Chain, JudgedCase

_ALONE = 4  # Number of texts, and of integers, of one case that are changed alone. After that, all texts are changed together.
_FOR_OTHER_REASONS = frozenset((401, 403, 404, 405, 410, 429))  # Refusals that have nothing to do with a name.
_GONE = frozenset((404, 410))
_CONFLICT = 409
Again = Callable[[GeneratedCase], Job[JudgedCase]]  # Sends a case.


class FreshNames(Struct):
    """Makes cases with names that the server does not know, if it refuses the old ones.

    One value is changed first, because other values may refer to existing resources. The change that helped is kept for the
    operation.
    """

    context: WorkerContext
    case: str = ""  # Id of the case that failed.
    served: frozenset[Label] = frozenset()
    """Operations that change something and that the failing sequence called successfully."""
    removed: frozenset[Label] = frozenset()  # Operations by which the failing sequence removed something.
    are_needed: bool = False  # Whether the failure does not show with the names that were sent before.
    _places: dict[Label, tuple[str, ...]] = field(default_factory=dict)
    """Operation -> places whose values have to be new; empty for a listed case, which has its own new names."""
    _untried: dict[Label, list[tuple[str, ...]]] = field(default_factory=dict)
    """Operation whose printed request was refused -> places that were not changed yet."""
    counter: Iterator[int] = field(default_factory=lambda: count(1))
    """Counter of new names of a case. All its failures share the counter, because a name that another failure has used is not new."""

    @classmethod
    def of(cls, context: WorkerContext, chain: Chain, counter: Iterator[int]) -> "FreshNames":
        """Return the names of a sequence that failed."""
        served = (
            shot.made.label
            for shot in chain
            if shot.made.case.method not in (*SAFE, REMOVING) and not _is_refused(shot)
        )
        removed = (shot.made.label for shot in chain if shot.made.case.method == REMOVING and shot.is_served)
        return cls(context, chain[-1].made.case.id, frozenset(served), frozenset(removed), counter=counter)

    def sent(self, refused: JudgedCase, again: Again) -> Job[JudgedCase]:
        """Return the response to a case with other names if the case was served at first and is now refused; otherwise the refusal.

        A success is preferred, because a server error may be about a text that names another resource.
        """
        made, found = refused.made, refused
        if made.label not in self.served or not _is_refused(refused):
            return refused
        for places in self._tries(made):
            other = self._anew(made, places)
            if other is None:
                continue
            shot = yield from again(other)
            if shot.is_served or (found is refused and not 400 <= shot.said_status < 500):
                self._places[made.label], found = places, shot
            if shot.is_served:
                break
        return found

    def created(self, shot: JudgedCase) -> None:
        """Note a candidate of a shrink: if it was served, the names that a listed case contains are in use now.

        In other cases, names are among the values that are reduced, so they change only if they were refused.
        """
        self.are_needed |= shot.may_have_created and _has_own_names(shot.made)

    def renew(self, label: Label, place: Place) -> None:
        """Give the resources of an operation a new name each time it is sent."""
        location, name = place
        self._places[label] = (name if location is Location.BODY else f"{location} {name}",)

    def branch(self) -> "FreshNames":
        """Return a copy of these names, for trying others."""
        return replace(self, _places=dict(self._places))

    def learn(self, chain: Chain, sent: Iterable[Verdict]) -> bool:
        """Return whether a step seems to be refused because of its name, or fails with the new name.

        In both cases it gets the next name, if there is one.
        """
        for one in _shots(chain, sent):
            label = one.made.label
            has_changed = label in self._untried
            if label not in self.served or one.is_served or self.are_needed or not (has_changed or _is_refused(one)):
                continue
            if label in self._places and not has_changed:
                continue
            untried = self._untried.setdefault(label, list(self._tries(one.made)))
            if untried:
                self._places[label] = untried.pop(0)
                return True
        return False

    def are_spent(self, chain: Chain, sent: Iterable[Verdict]) -> bool:
        """Whether a step is refused because the resource that it creates exists by now, or the resource that it removes is gone.

        A step that failed with a server error may have created nothing, so its refusal has to say that something exists.
        """
        return any(
            (now.made.label in self.served and _is_refused(now) and (known.is_served or is_of_taken_name(now)))
            or (now.made.label in self.removed and now.said_status in _GONE)
            for known, now in zip(chain, _shots(chain, sent), strict=False)
        )

    def given(self, made: GeneratedCase) -> GeneratedCase:
        """Return the case with other names if it is refused without them; otherwise the case itself."""
        places = self._places.get(made.label)
        if places is None:
            if not self.are_needed or made.label not in self.served:
                return made
            places = () if _has_own_names(made) else _texts_of(made) or _numbers_of(made)
        return self._anew(made, places) or made

    def unsent(self, chain: Chain) -> Chain:
        """Return the sequence with names that the server does not know, if it needs them; otherwise the sequence itself.

        Values of later steps that were equal to such a name change with it. Raises `SerializationError`, `HookError`,
        `CredentialError`.
        """
        steps: list[JudgedCase] = []
        tools = self.context.tools
        renamed: dict[str, str] = {}
        for shot in chain:
            made = shot.made
            bindings = tuple(
                replace(one, literal=renamed[one.literal])
                if isinstance(one.literal, str) and one.literal in renamed
                else one
                for one in made.bindings
            )
            if renamed and bindings != made.bindings:
                phase = made.case.meta.phase if made.case.meta is not None else PhaseInfo("")
                step = replace(made.step, bindings=bindings)
                made = self.context.factory.remake(step, name=made.case.id, phase=phase)
            other = self.given(made)
            for (_, before), (_, now) in zip(names_in(made.case), names_in(other.case), strict=False):
                if before != now and isinstance(before, str) and isinstance(now, str):
                    renamed[before] = now
            if other is shot.made:
                steps.append(shot)
                continue
            request = build_request(tools.maker, tools.hooks, other.case, tools.credentials)
            if shot.verdict.request is not None and shot.verdict.request.is_of_check:
                # A check that sends a removal itself sends it first without credentials, or with wrong ones.
                of_case = build_request(tools.maker, tools.hooks, shot.made.case, tools.credentials)
                request = about_other(shot.verdict.request, of_case, request)
            steps.append(JudgedCase(other, Verdict(other.case, request, None, CLEAN)))
        return chain if all(a is b for a, b in zip(steps, chain, strict=True)) else tuple(steps)

    def _tries(self, made: GeneratedCase) -> Iterator[tuple[str, ...]]:
        if made.label in self._places:
            yield self._places[made.label]
            return
        if _has_own_names(made):
            yield ()
        texts = _texts_of(made)
        yield from ((one,) for one in texts[:_ALONE])
        if len(texts) > 1:
            yield texts
        yield from ((one,) for one in _numbers_of(made)[:_ALONE])

    def _anew(self, made: GeneratedCase, places: Sequence[str]) -> GeneratedCase | None:
        """Return the case with other names, equally valid; None if it has none."""
        token = digest("fresh", self.case, str(next(self.counter)))
        phase = made.case.meta.phase if made.case.meta is not None else PhaseInfo("")
        step, recipe = made.step, made.other
        if not places and isinstance(recipe, Listed) and recipe.token:
            step = replace(step, recipe=replace(recipe, token=token))
            return self.context.factory.remake(step, name=made.case.id, phase=PhaseInfo(recipe.phase))
        kept = tuple(one for one in made.names if one[0] not in places)
        known, outcome = dict(names_in(made.case)), _outcome(self.context.tools, made)
        found = kept
        for place in places:
            if place not in known:
                continue
            random = Random(digest_int(token, place))
            # Other names of the same form, then the other members of an enumeration in random order.
            declared = made.case.operation.parameters
            schema = next((one.schema for one in declared if f"{one.location} {one.name}" == place), None)
            listed = () if schema is None else outline_of(schema).first("enum") or ()
            texts = [text for text in listed if isinstance(text, str)]
            # Even a value of the same form may break the schema, by a pattern or a length. The first value that keeps
            # the case as valid as it was is taken.
            for value in (*others_like(known[place], random), *random.sample(texts, len(texts))):
                trial = replace(step, names=(*found, (place, value)))
                try:
                    other = self.context.factory.remake(trial, name=made.case.id, phase=phase)
                except (CheckerError, Rejected):
                    return None
                if value != known[place] and _outcome(self.context.tools, other) is outcome:
                    found = trial.names
                    break
        if found == kept:
            return None
        return self.context.factory.remake(replace(step, names=found), name=made.case.id, phase=phase)


def _shots(chain: Chain, sent: Iterable[Verdict]) -> Iterator[JudgedCase]:
    return (JudgedCase(shot.made, verdict) for shot, verdict in zip(chain, sent, strict=False))


def _texts_of(made: GeneratedCase) -> tuple[str, ...]:
    return tuple(place for place, value in names_in(made.case) if isinstance(value, str))


def _numbers_of(made: GeneratedCase) -> tuple[str, ...]:
    return tuple(place for place, value in names_in(made.case) if not isinstance(value, str))


def _outcome(tools: Tools, made: GeneratedCase) -> object:
    """Return whether the request of a case is valid for the description."""
    operation = made.case.operation
    request = tools.maker.make(made.case)
    base_path = tools.maker.base_path_of(operation)
    return operation.judge_request(request, base_path=base_path).outcome


def _has_own_names(made: GeneratedCase) -> bool:
    return isinstance(made.other, Listed) and bool(made.other.token)


def _is_refused(shot: JudgedCase) -> bool:
    status = shot.said_status
    return 400 <= status < 500 and status not in _FOR_OTHER_REASONS


def is_of_taken_name(shot: JudgedCase) -> bool:
    """Whether a response says that something exists already. A new resource has its own name, so such a refusal says nothing about the new resource."""
    outcome = shot.verdict.outcome
    return isinstance(outcome, Response) and (
        shot.said_status == _CONFLICT or (shot.said_status >= 400 and says_taken(outcome.readable.content))
    )


def about_other(own: WireRequest, before: WireRequest | None, request: WireRequest | None) -> WireRequest:
    """Return the request of a check with the path and the names of another case. The credentials, the query and the check's changes stay.

    `before` is the request of the case for which the check made its own.
    """
    if before is None or request is None:
        return own
    _, mark, query = own.target.partition(b"?")
    described = [(name, value) for name, value in request.headers if name.lower() == b"content-type"]
    headers = [(name, value) for name, value in own.headers if name.lower() != b"content-type"]
    target = request.target.partition(b"?")[0] + mark + query
    body = request.body
    if own.body != before.body:
        # The properties in which the requests of the two cases differ are names.
        try:
            changed, old, new = (json.loads(one.body or b"") for one in (own, before, request))
            body = json_bytes(changed | {name: value for name, value in new.items() if old.get(name) != value})
        except (ValueError, RecursionError, AttributeError, TypeError):
            # Names can be found only in bodies that are JSON objects.
            body = own.body
    return replace_request(own, target=target, headers=[*headers, *described], body=body)
