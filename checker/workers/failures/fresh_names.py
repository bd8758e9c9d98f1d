"""New names for the resources that the steps of a failure create: a server with unique names refuses the old ones."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from random import Random

from msgspec import Struct, field
from msgspec.structs import replace

from checker.checks.judge import CLEAN
from checker.core.digests import digest, digest_int
from checker.core.errors import CheckerError
from checker.core.meta import Listed, PhaseInfo
from checker.core.operation import Label
from checker.core.resources import REMOVING, SAFE
from checker.generation.sources.context import Rejected
from checker.phases.attempt import Tools, Verdict, build_request
from checker.phases.case_factory import CaseFactory, GeneratedCase
from checker.phases.case_parts import Texts, others_like, texts_in
from checker.workers.jobs import Job
from checker.workers.recording.unconfirmed import Chain, JudgedCase

_ALONE = 4
"""Texts of one body that are changed alone, before all of them are changed together."""
_FOR_OTHER_REASONS = frozenset((401, 403, 404, 405, 410, 429))
"""Refusals that have nothing to do with a name."""
Again = Callable[[GeneratedCase], Job[JudgedCase]]
"""Sends a case."""


class FreshNames(Struct):
    """Makes cases again with names that the server does not know, if it refuses the old ones.

    A change of one text is tried first, since others may refer to what exists; what helped is kept for the operation.
    """

    case: str = ""
    """Id of the case that failed first."""
    served: frozenset[Label] = frozenset()
    """Operations that the failing sequence called with success and that change something."""
    are_needed: bool = False
    """Whether the failure does not show with the names that were sent before."""
    _places: dict[Label, tuple[str, ...]] = field(default_factory=dict)
    """Operation -> JSON pointers of the texts that have to be new; none for a listed case, which has names of its own."""
    _given: int = 0

    @classmethod
    def of(cls, chain: Chain) -> "FreshNames":
        """Return the names of a sequence that failed."""
        served = (shot.made.label for shot in chain if _may_create(shot) and not _is_refused(shot))
        return cls(chain[-1].made.case.id, frozenset(served))

    def confirmed(
        self,
        factory: CaseFactory,
        tools: Tools,
        refused: JudgedCase,
        again: Callable[[GeneratedCase, Iterable[JudgedCase]], Job[JudgedCase]],
        fails: Callable[[JudgedCase], bool],
    ) -> Job[Chain | None]:
        """Return the case with other names if it failed again so, where it was refused with those of before."""
        shot = yield from self.sent(factory, tools, refused, lambda made: again(made, ()))
        self.are_needed = shot is not refused and fails(shot)
        return (shot,) if self.are_needed else None

    def sent(self, factory: CaseFactory, tools: Tools, refused: JudgedCase, again: Again) -> Job[JudgedCase]:
        """Return the response to a case with other names if it was served in the beginning and is refused now; else the refusal."""
        made = refused.made
        if made.label not in self.served or not _is_refused(refused):
            return refused
        for places in self._tries(made):
            other = self._anew(factory, tools, made, places)
            if other is None:
                continue
            shot = yield from again(other)
            if not _is_refused(shot):
                self._places[made.label] = places
                return shot
        return refused

    def created(self, shot: JudgedCase) -> None:
        """Take note of a candidate of a shrink: if it was served, it has taken the names that a listed case brings along.

        Names of other cases are part of what becomes smaller: they change only where they were refused.
        """
        self.are_needed |= shot.may_have_created and _has_own_names(shot.made)

    def learn(self, chain: Chain, sent: Iterable[Verdict]) -> bool:
        """Whether a step was refused for its name as it seems, and no new names were given yet: from now on they are."""
        if self.are_needed or self._places:
            return False
        shots = [JudgedCase(shot.made, verdict) for shot, verdict in zip(chain, sent, strict=False)]
        self.are_needed = any(one.made.label in self.served and _is_refused(one) for one in shots)
        return self.are_needed

    def given(self, factory: CaseFactory, tools: Tools, made: GeneratedCase) -> GeneratedCase:
        """Return the case with other names, where it is refused without; else itself."""
        places = self._places.get(made.label)
        if places is None:
            if not self.are_needed or made.label not in self.served:
                return made
            places = () if _has_own_names(made) else tuple(at for at, _ in texts_in(made.case.body))
        return self._anew(factory, tools, made, places) or made

    def unsent(self, factory: CaseFactory, tools: Tools, chain: Chain) -> Chain:
        """Return the sequence with names that the server does not know, if it needs them; else the sequence itself.

        Values of later steps that were such a name follow it. Raises `SerializationError`, `HookError`, `CredentialError`.
        """
        steps: list[JudgedCase] = []
        renamed: dict[str, str] = {}
        for shot in chain:
            made = _renamed(factory, shot.made, renamed) if renamed else shot.made
            other = self.given(factory, tools, made)
            for (_, before), (_, now) in zip(texts_in(made.case.body), texts_in(other.case.body), strict=False):
                if before != now:
                    renamed[before] = now
            if other is shot.made:
                steps.append(shot)
                continue
            request = build_request(tools.maker, tools.hooks, other.case, tools.credentials)
            steps.append(JudgedCase(other, Verdict(other.case, request, None, CLEAN)))
        return chain if all(a is b for a, b in zip(steps, chain, strict=True)) else tuple(steps)

    def _tries(self, made: GeneratedCase) -> Iterator[tuple[str, ...]]:
        if made.label in self._places:
            yield self._places[made.label]
        elif _has_own_names(made):
            yield ()
        else:
            places = tuple(pointer for pointer, _ in texts_in(made.case.body))
            yield from ((one,) for one in islice(places, _ALONE))
            if len(places) > 1:
                yield places

    def _anew(
        self, factory: CaseFactory, tools: Tools, made: GeneratedCase, places: Sequence[str]
    ) -> GeneratedCase | None:
        """Return the case with other names, as valid as it was; None if it has no others."""
        self._given += 1
        token = digest("fresh", self.case, str(self._given))
        phase = made.case.meta.phase if made.case.meta is not None else PhaseInfo("")
        step, recipe = made.step, made.other
        if isinstance(recipe, Listed) and recipe.token:
            step = replace(step, recipe=replace(recipe, token=token))
            return factory.remake(step, name=made.case.id, phase=PhaseInfo(recipe.phase))
        kept = [one for one in made.texts if one[0] not in places]
        known, outcome = dict(texts_in(made.case.body)), _outcome(tools, made)
        found: Texts = tuple(kept)
        for place in places:
            if place not in known:
                continue
            for text in others_like(known[place], Random(digest_int(token, place))):
                trial = replace(step, texts=(*found, (place, text)))
                try:
                    other = factory.remake(trial, name=made.case.id, phase=phase)
                except (CheckerError, Rejected):
                    return None
                if text != known[place] and _outcome(tools, other) is outcome:
                    found = trial.texts
                    break
        if found == tuple(kept):
            return None
        return factory.remake(replace(step, texts=found), name=made.case.id, phase=phase)


def _outcome(tools: Tools, made: GeneratedCase) -> object:
    """Return whether the request of a case is valid for the description."""
    operation = made.case.operation
    request = tools.maker.make(made.case)
    base_path = tools.maker.base_path_of(operation)
    return operation.judge_request(request, base_path=base_path).outcome


def _renamed(factory: CaseFactory, made: GeneratedCase, renamed: dict[str, str]) -> GeneratedCase:
    """Return a later step with the new names in place of those of before."""
    bindings = tuple(
        replace(one, literal=renamed[one.literal]) if isinstance(one.literal, str) and one.literal in renamed else one
        for one in made.bindings
    )
    if bindings == made.bindings:
        return made
    phase = made.case.meta.phase if made.case.meta is not None else PhaseInfo("")
    step = replace(made.step, bindings=bindings)
    return factory.remake(step, name=made.case.id, phase=phase)


def _has_own_names(made: GeneratedCase) -> bool:
    return isinstance(made.other, Listed) and bool(made.other.token)


def _may_create(shot: JudgedCase) -> bool:
    return shot.made.case.method not in (*SAFE, REMOVING)


def _is_refused(shot: JudgedCase) -> bool:
    status = shot.said_status
    return 400 <= status < 500 and status not in _FOR_OTHER_REASONS
