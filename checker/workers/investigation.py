"""From a failing case to a finding worth reading: alone, smaller, and re-sent exactly as printed."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from checker.core import curl
from checker.core.case import Case
from checker.core.digests import digest, digest_int
from checker.core.errors import HookError
from checker.core.failures import Failure
from checker.core.meta import Binding, PhaseInfo
from checker.core.operation import Label, Location
from checker.core.request import Origin, WireRequest
from checker.core.response import Outcome, Response
from checker.corpus.inflight import Stage
from checker.corpus.records import Finding, Interaction
from checker.corpus.values import value_at
from checker.generation.sources.choices import Source
from checker.generation.sources.shrinking import ShrinkBudget, shrink
from checker.generation.sources.turn import Rejected
from checker.phases.attempt import Tools, Verdict, attempt, drive, judge_outcome
from checker.phases.making import CaseFactory, Made


@dataclass(slots=True)
class Shot:
    """A case, its answer and the verdict. Not frozen: one is made for each request."""

    made: Made
    verdict: Verdict


MOST_EVIDENCE = 64 << 10
"""Bytes of an answer that a finding keeps: all findings of a run are held in memory, and each may have a mebibyte."""


def evidence(shot: Shot) -> Shot:
    """A shot with as much of its answer as a finding keeps."""
    outcome = shot.verdict.outcome
    if not isinstance(outcome, Response) or len(outcome.content) <= MOST_EVIDENCE:
        return shot
    return Shot(shot.made, replace(shot.verdict, outcome=outcome.truncated(MOST_EVIDENCE)))


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A failure seen once, already on disk."""

    finding: Finding
    failure: Failure
    chain: tuple[Shot, ...]
    """What was sent in this sequence, oldest first; the last one failed."""
    phase: PhaseInfo


class Describer(Protocol):
    """Turns shots into records."""

    def interaction(self, shot: Shot) -> Interaction: ...


@dataclass(slots=True)
class Investigator:
    """Re-sends, shrinks and reproduces. Blocking: `send` pumps the other lanes meanwhile."""

    tools: Tools
    factory: CaseFactory
    describer: Describer
    origin: Origin
    send: Callable[[WireRequest], Outcome]
    stage: Callable[[Stage], None]
    budget: ShrinkBudget | None
    """None leaves failing cases as they are (`no-shrink`)."""
    verify: bool = True
    new_failure: Callable[[Shot, Failure], None] = lambda shot, failure: None
    """Told of every other failure that turns up on the way."""
    is_hurried: Callable[[], bool] = lambda: False
    """Whether nothing but the last version is to be sent any more."""

    def settle(self, suspicion: Suspicion) -> Finding:
        """The final version of a finding."""
        self.stage(Stage.CONFIRM)
        chain = self._confirmed(suspicion)
        executions = 0
        if chain is None:
            chain = suspicion.chain
        elif len(chain) == 1 and self.budget is not None:
            self.stage(Stage.SHRINK)
            chain, executions = self._shrunk(suspicion, chain[0])
        self.stage(Stage.CONFIRM)
        return self._described(suspicion, chain, executions)

    def _confirmed(self, suspicion: Suspicion) -> tuple[Shot, ...] | None:
        """The shortest sequence that failed again; None if nothing did.

        A last case that took values from the steps before it is confirmed with them first: alone it may fail for the
        state that they left behind, and nobody else could reproduce that.
        """
        last = suspicion.chain[-1].made
        if len(suspicion.chain) > 1 and last.bindings:
            whole = self._replayed(suspicion, suspicion.chain)
            if self._fails(suspicion, whole[-1]):
                return self._without_idle_steps(suspicion, whole)
        alone = self._again(suspicion, last)
        if self._fails(suspicion, alone):
            return (alone,)
        if len(suspicion.chain) == 1 or last.bindings:
            return None
        whole = self._replayed(suspicion, suspicion.chain)
        return whole if self._fails(suspicion, whole[-1]) else None

    def _replayed(self, suspicion: Suspicion, chain: tuple[Shot, ...]) -> tuple[Shot, ...]:
        """The sequence sent again, each step with what its producers answered this time."""
        shots: list[Shot] = []
        for shot in chain:
            shots.append(self._again(suspicion, self._rebound(shot.made, shots)))
        return tuple(shots)

    def _without_idle_steps(
        self, suspicion: Suspicion, chain: tuple[Shot, ...]
    ) -> tuple[Shot, ...]:
        """The sequence without the steps that it fails without, the latest first."""
        for number in range(len(chain) - 2, -1, -1):
            shorter = self._replayed(suspicion, chain[:number] + chain[number + 1 :])
            if self._fails(suspicion, shorter[-1]):
                chain = shorter
        return chain

    def _again(self, suspicion: Suspicion, made: Made) -> Shot:
        name = digest("confirmed", made.case.id)[:12]
        again = self.factory.remake(made.step, name=name, phase=suspicion.phase)
        verdict = drive(attempt(self.tools, again.case, fresh=True), self.send)
        return Shot(again, verdict)

    def _rebound(self, made: Made, earlier: list[Shot]) -> Made:
        """The same case with the values that its producers answered this time."""
        bindings = tuple(_resolved(binding, earlier) for binding in made.bindings)
        return replace(made, bindings=bindings)

    def _fails(self, suspicion: Suspicion, shot: Shot) -> bool:
        label = suspicion.finding.label
        found = False
        for failure in shot.verdict.judgement.failures:
            if failure.fingerprint(label) == suspicion.finding.fingerprint:
                found = True
            else:
                self.new_failure(shot, failure)
        return found

    def _shrunk(self, suspicion: Suspicion, shot: Shot) -> tuple[tuple[Shot, ...], int]:
        """The smallest case that fails in the same way, sent once more by itself."""
        step = shot.made.step
        name = digest("shrunk", shot.made.case.id)[:12]
        redraw = self.factory.redraw(step, name=name, phase=suspicion.phase)
        broken = _broken(shot.made.case)

        def draw(source: Source) -> Made:
            try:
                return redraw(source)
            except HookError as error:
                # A hook that cannot bear a candidate says nothing of the failure.
                raise Rejected(str(error)) from error

        def still_fails(candidate: Made) -> bool:
            # What is wrong with a case stays what it was: valid data may fail for another reason.
            if self.is_hurried() or _broken(candidate.case) != broken:
                return False
            try:
                verdict = drive(attempt(self.tools, candidate.case), self.send)
            except HookError:
                return False
            return self._fails(suspicion, Shot(candidate, verdict))

        result = shrink(
            draw,
            step.choices,
            still_fails,
            budget=self.budget,
            seed=digest_int("shrink", suspicion.finding.fingerprint),
        )
        # Two failures of one case may shrink to two cases: each has a name of its own.
        name = digest(name, repr(result.choices))[:12]
        made = self.factory.remake(result.value.step, name=name, phase=suspicion.phase)
        # No candidate any more: it has all the time that its failure needs.
        self.stage(Stage.CONFIRM)
        verdict = drive(attempt(self.tools, made.case, fresh=True), self.send)
        smallest = Shot(made, verdict)
        kept = smallest if self._fails(suspicion, smallest) else shot
        return (kept,), result.executions

    def _described(self, suspicion: Suspicion, chain: tuple[Shot, ...], executions: int) -> Finding:
        last = chain[-1]
        failure = next(
            (
                found
                for found in last.verdict.judgement.failures
                if found.fingerprint(suspicion.finding.label) == suspicion.finding.fingerprint
            ),
            suspicion.failure,
        )
        command, reproduced = self._reproduced(suspicion, chain)
        return replace(
            suspicion.finding,
            message=failure.message,
            case=last.made.case.id,
            stage="minimised",
            steps=tuple(shot.made.step for shot in chain),
            interactions=tuple(self.describer.interaction(evidence(shot)) for shot in chain),
            reproduction=command,
            reproduced=reproduced,
            shrink_executions=executions,
        )

    def _reproduced(self, suspicion: Suspicion, chain: tuple[Shot, ...]) -> tuple[str, bool]:
        """The commands as printed, and whether sending just them fails again."""
        requests = [shot.verdict.request for shot in chain if shot.verdict.request is not None]
        commands = [curl.render(request, self.origin, verify=self.verify) for request in requests]
        outcome: Outcome | None = None
        for command in commands:
            outcome = self.send(replace(curl.as_sent(command), fresh=True))
        if not isinstance(outcome, Response):
            return "\n".join(commands), False
        judgement = drive(judge_outcome(self.tools, chain[-1].made.case, outcome), self.send)
        label = Label(suspicion.finding.label)
        failed = any(
            failure.fingerprint(label) == suspicion.finding.fingerprint
            for failure in judgement.failures
        )
        return "\n".join(commands), failed


def _broken(case: Case) -> frozenset[tuple[Location, str]]:
    return frozenset() if case.meta is None else case.meta.broken


def _resolved(binding: Binding, earlier: list[Shot]) -> Binding:
    for shot in reversed(earlier):
        outcome = shot.verdict.outcome
        if shot.made.case.operation.label == binding.producer and isinstance(outcome, Response):
            value = value_at(outcome, binding.pointer)
            if value is not None:
                return replace(binding, literal=value)
    return binding
