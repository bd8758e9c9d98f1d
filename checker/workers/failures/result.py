"""The result of an investigation."""

from collections.abc import Iterable, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from checker.checks.judge import UNJUDGED, Judgement
from checker.core.response import Outcome, Response
from checker.core.send import Purpose
from checker.corpus.records import Finding
from checker.phases.attempt import Verdict
from checker.workers.recording.traffic import Traffic
from checker.workers.recording.unconfirmed import Chain, ExpectedFailure, JudgedCase, as_checked, evidence


class InvestigationResult(Struct):
    """The result of investigating one failure. The same requests may show other failures of the case."""

    chain: Chain
    is_confirmed: bool
    executions: int = 0
    stopped: str = ""
    wants_more: bool = False
    commands: tuple[str, ...] = ()
    printed: list[tuple[Outcome | None, Judgement]] = field(default_factory=list)
    """The outcome of the printed commands for each time that they were sent in the same situation."""
    is_spent: bool = False
    """Whether the commands were refused because the resource that they create exists now, or the one that they remove is gone."""
    is_anew: bool = False  # Whether the failure showed with resources that its own requests created, or without any.
    takes_filled: bool = False  # Whether a name comes from a list that other requests of the run have filled.
    needs_state: bool = False  # Whether it did not show with newly created resources.
    is_of_check: bool = False
    """Whether the last command is a check's own request, which can only show failures of this check."""
    steps_before: Chain = ()  # The steps before a check's command, as they were sent when it showed the failure.

    def showed(self, wanted: ExpectedFailure) -> int:
        """Return how often the printed commands showed a failure."""
        return len(self._showing(wanted))

    def passes(self, wanted: ExpectedFailure) -> bool:
        """Whether the printed commands were sent at least once without showing the failure."""
        return self.showed(wanted) < len(self.printed)

    def _showing(self, wanted: ExpectedFailure) -> list[JudgedCase]:
        """Return the outcomes of the commands that showed a failure."""
        made, request = self.chain[-1].made, self.chain[-1].verdict.request
        shots = (
            JudgedCase(made, Verdict(made.case, request, outcome, judgement)) for outcome, judgement in self.printed
        )
        return [one for one in shots if wanted.again(one) is not None]

    def _shown_chain(self, wanted: ExpectedFailure) -> Chain:
        """Return the reported sequence. If the command is a check's request, the request and its response replace those of the case."""
        showing = self._showing(wanted) if self.is_of_check else []
        outcome = showing[-1].verdict.outcome if showing else None
        if not isinstance(outcome, Response) or outcome.request is None:
            # The case was not sent again, or the failure did not recur, so the first failure is kept.
            *before, last = self.chain
            return (*before, as_checked(last, wanted.again(last)))
        verdict = replace(showing[-1].verdict, request=outcome.request)
        return (*(self.steps_before or self.chain[:-1]), JudgedCase(showing[-1].made, verdict))

    def further(self, wanted: ExpectedFailure) -> list[JudgedCase]:
        """Return the requests by which a check showed a failure after the reported sequence."""
        shot = self._shown_chain(wanted)[-1]
        failure, case = wanted.again(shot), shot.made.case
        return [
            JudgedCase(shot.made, Verdict(case, request, outcome, UNJUDGED, purpose=Purpose.PROBE))
            for request, outcome in (() if failure is None else failure.exchanges)
        ]

    def described(
        self,
        last: Finding,
        wanted: ExpectedFailure,
        traffic: Traffic,
        further: Sequence[JudgedCase],
        commands: Sequence[str],
    ) -> Finding:
        """Return a finding with the result of its investigation. `commands` send the `further` requests."""
        showed, chain = self.showed(wanted), self._shown_chain(wanted)
        return replace(
            last,
            case=self.chain[-1].made.case.id,
            steps=tuple(shot.made.step for shot in self.chain),
            interactions=tuple(traffic.interaction(evidence(shot)) for shot in chain),
            further=tuple(traffic.interaction(evidence(shot)) for shot in further),
            text=wanted.text,
            investigation=replace(
                last.investigation,
                reproduction="\n".join((*self.commands, *commands)),
                reproduced=showed > 0 if self.printed else None,
                # The first occurrence in the run counts as well.
                hits=1 + showed,
                tries=1 + len(self.printed),
                shrink_executions=self.executions,
                spent=self.is_spent and not showed,
                stopped=self.stopped,
                wants_more=self.wants_more,
                is_anew=self.is_anew and showed > 0 and not self.takes_filled,
                takes_filled=self.takes_filled,
                needs_state=self.needs_state,
            ),
        )


def shown_by(results: Iterable[InvestigationResult], wanted: ExpectedFailure) -> InvestigationResult | None:
    """Return the result of another failure of the case whose last request also shows this one."""
    for result in results:
        is_usable = result.is_confirmed and not result.is_of_check
        if is_usable and wanted.shown(result.chain[-1]) is not None:
            return result
    return None
