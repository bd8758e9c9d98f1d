"""The result of an investigation, and the record of its requests."""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from checker.checks.judge import Judgement
from checker.core.response import Outcome, Response
from checker.core.send import Purpose
from checker.corpus.records import Finding, Interaction
from checker.phases.attempt import Verdict
from checker.phases.case_factory import CaseFactory, GeneratedCase
from checker.workers.failures.fresh_names import FreshNames
from checker.workers.failures.reproduction import PrintedReplay
from checker.workers.recording.traffic import Answered
from checker.workers.recording.unconfirmed import Chain, ExpectedFailure, JudgedCase, evidence

OF_KNOWN_CAUSE = "before it began (other operations show what it has in common with them)"
"""Why the shrink of one of many places of a mistake ended."""
MORE_TRIES = 6
"""Times that commands are sent once more which did not show their failure each time."""


class Describer(Protocol):
    """Turns shots into records."""

    def interaction(self, shot: JudgedCase) -> Interaction:
        """A shot as a finding keeps it."""
        ...

    def record(self, shot: JudgedCase) -> None:
        """Write down a request."""
        ...

    def unjudged(self, made: GeneratedCase, answers: Iterable[Answered], purpose: Purpose) -> None:
        """Write down requests whose answers no check has judged: the first one for this purpose, then those of checks."""
        ...

    def beside(self, made: GeneratedCase, answers: Sequence[Answered], verdict: Verdict) -> None:
        """Write down what else was sent for a case: what was refused for its credentials before, what checks sent after."""
        ...


class Settlement(Struct):
    """The result of one suspicion; other failures of the same case may be shown by the same requests."""

    chain: Chain
    is_confirmed: bool
    executions: int = 0
    stopped: str = ""
    wants_more: bool = False
    commands: tuple[str, ...] = ()
    printed: list[tuple[Outcome | None, Judgement]] = field(default_factory=list)
    """Answers to the commands as printed, each time that they were sent."""
    is_of_check: bool = False
    """Whether the commands are those of one check: they show nothing else."""
    earlier: tuple[Verdict, ...] = ()
    """What was sent before and still counts when the commands are sent."""
    names: FreshNames = field(default_factory=FreshNames)

    def send_printed(self, printed: PrintedReplay, factory: CaseFactory, wanted: ExpectedFailure) -> None:
        """Send the commands as they will be printed, and keep the verdict on the last answer."""
        failure = wanted.again(self.chain[-1])
        own = None if failure is None else failure.request
        self.is_of_check = own is not None
        chain = self.chain
        if own is None:
            chain = self.names.unsent(factory, printed.tools, chain)
        self.commands, sent = printed.sent(chain, own)
        if not sent:
            return
        if own is None and self.names.learn(chain, sent):
            self.send_printed(printed, factory, wanted)
            return
        self.printed.append((sent[-1].outcome, sent[-1].judgement))
        if chain is self.chain or len(sent) != len(chain):
            return
        shots = tuple(JudgedCase(shot.made, verdict) for shot, verdict in zip(chain, sent, strict=True))
        if wanted.again(shots[-1]) is not None:
            self.chain = shots

    def showed(self, wanted: ExpectedFailure) -> int:
        """Return how often the printed commands showed a failure."""
        return len(self._showing(wanted))

    def _showing(self, wanted: ExpectedFailure) -> list[JudgedCase]:
        """Return the outcomes of the commands that showed a failure."""
        made, request = self.chain[-1].made, self.chain[-1].verdict.request
        shots = (
            JudgedCase(made, Verdict(made.case, request, outcome, judgement)) for outcome, judgement in self.printed
        )
        return [one for one in shots if wanted.again(one) is not None]

    def _shown_chain(self, wanted: ExpectedFailure) -> Chain:
        """Return the reported sequence: if the command is that of a check, its response replaces that of the case."""
        showing = self._showing(wanted) if self.is_of_check else []
        outcome = showing[0].verdict.outcome if showing else None
        if not isinstance(outcome, Response) or outcome.request is None:
            return self.chain
        verdict = replace(showing[0].verdict, request=outcome.request)
        return (*self.chain[:-1], JudgedCase(showing[0].made, verdict))

    def told(self, last: Finding, wanted: ExpectedFailure, describer: Describer) -> Finding:
        """A finding with what was found out about it."""
        showed = self.showed(wanted)
        return replace(
            last,
            case=self.chain[-1].made.case.id,
            steps=tuple(shot.made.step for shot in self.chain),
            interactions=tuple(describer.interaction(evidence(shot)) for shot in self._shown_chain(wanted)),
            reproduction="\n".join(self.commands),
            reproduced=showed > 0 if self.printed else None,
            # It was seen once before.
            hits=1 + showed,
            tries=1 + len(self.printed),
            shrink_executions=self.executions,
            text=wanted.text,
            stopped=self.stopped,
            wants_more=self.wants_more,
        )


Send = Callable[[Settlement, ExpectedFailure], None]
"""Sends the commands of a settlement, and adds the answer to it."""


def as_printed(chain: Chain, wanted: ExpectedFailure, send: Send, may_send: Callable[[], bool], why: str) -> Settlement:
    """Return what comes of the commands alone: that of the last request if it needs nothing before it, else all.

    `why` says why no more is sent.
    """
    last = chain[-1:]
    sequences = [chain] if len(chain) == 1 or last[0].made.bindings else [last, chain]
    for sequence in sequences:
        settlement = Settlement(
            sequence, is_confirmed=False, stopped=why, wants_more=len(sequence) == 1, names=FreshNames.of(sequence)
        )
        send(settlement, wanted)
        settlement.is_confirmed = settlement.showed(wanted) > 0
        if settlement.is_confirmed:
            break
    count_hits(settlement, wanted, send, may_send)
    return settlement


def count_hits(settlement: Settlement, wanted: ExpectedFailure, send: Send, may_send: Callable[[], bool]) -> None:
    """Send commands that did not show their failure once more, to say how often they do."""
    if settlement.is_confirmed and settlement.showed(wanted):
        return
    for _ in range(MORE_TRIES):
        if may_send():
            send(settlement, wanted)


def shown_by(settlements: Iterable[Settlement], wanted: ExpectedFailure) -> Settlement | None:
    """Return the result of another failure of the same case, if its last request shows this one, too."""
    for settlement in settlements:
        is_usable = settlement.is_confirmed and not settlement.is_of_check
        if is_usable and wanted.shown(settlement.chain[-1]) is not None:
            return settlement
    return None


def spent_after(requests: int) -> str:
    """Return the sentence about a shrink that spent its budget: `shrinking stopped after 20 requests`."""
    if requests:
        return f"after {requests} requests"
    return "before it began (`generation.shrink-share` of the requests was spent)"
