"""The result of an investigation."""

from collections.abc import Callable, Iterable
from dataclasses import replace as replace_request

from msgspec import Struct, field
from msgspec.structs import replace

from checker.checks.judge import Judgement
from checker.core.request import WireRequest
from checker.core.response import Outcome, Response
from checker.corpus.records import Finding
from checker.phases.attempt import Verdict
from checker.phases.case_factory import CaseFactory
from checker.workers.failures.fresh_names import FreshNames
from checker.workers.failures.reproduction import PrintedReplay
from checker.workers.failures.slot import InvestigationSlot
from checker.workers.jobs import Job
from checker.workers.recording.traffic import Traffic
from checker.workers.recording.unconfirmed import Chain, ExpectedFailure, JudgedCase, evidence

MORE_TRIES = 6
"""The number of further times that commands are sent which did not show their failure each time."""


class InvestigationResult(Struct):
    """The result of the investigation of one failure; the same requests may show other failures of the case."""

    chain: Chain
    is_confirmed: bool
    executions: int = 0
    stopped: str = ""
    wants_more: bool = False
    commands: tuple[str, ...] = ()
    printed: list[tuple[Outcome | None, Judgement]] = field(default_factory=list)
    """The outcome of the printed commands, for each time that they were sent in the same situation."""
    is_spent: bool = False
    """Whether the commands were refused because the resource that they make exists now, or the one that they remove is gone."""
    is_of_check: bool = False
    """Whether the commands are those of one check: they show nothing else."""
    earlier: tuple[Verdict, ...] = ()
    """Requests that were sent before and still count when the commands are sent."""
    names: FreshNames = field(default_factory=FreshNames)
    _steps_before: Chain = ()
    """The steps before the command of a check, as they were sent when it showed the failure."""

    def send_printed(self, printed: PrintedReplay, factory: CaseFactory, wanted: ExpectedFailure) -> Job[None]:
        """Send the commands as they will be printed, and keep the verdict on the last response."""
        failure = wanted.again(self.chain[-1])
        own = None if failure is None else failure.request
        self.is_of_check = own is not None
        chain = self.names.unsent(factory, printed.tools, self.chain)
        if own is not None and chain is not self.chain:
            own = _about_other(own, chain[-1].verdict.request)
        self.commands, sent = yield from printed.sent(chain, own)
        if not sent:
            return
        if self.names.learn(chain, sent):
            yield from self.send_printed(printed, factory, wanted)
            return
        if self.names.are_spent(chain, sent):
            self.is_spent = True
            if self.is_confirmed and not self.is_of_check and not self.printed:
                self.commands = printed.commands(self.chain)
                self.printed.append((self.chain[-1].verdict.outcome, self.chain[-1].verdict.judgement))
            return
        self.printed.append((sent[-1].outcome, sent[-1].judgement))
        if len(sent) != len(chain):
            return
        shots = tuple(JudgedCase(shot.made, verdict) for shot, verdict in zip(chain, sent, strict=True))
        if wanted.again(shots[-1]) is None:
            return
        if own is not None:
            self._steps_before = shots[:-1]
        elif chain is not self.chain:
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
        outcome = showing[-1].verdict.outcome if showing else None
        if not isinstance(outcome, Response) or outcome.request is None:
            return self.chain
        verdict = replace(showing[-1].verdict, request=outcome.request)
        return (*(self._steps_before or self.chain[:-1]), JudgedCase(showing[-1].made, verdict))

    def described(self, last: Finding, wanted: ExpectedFailure, traffic: Traffic) -> Finding:
        """Return a finding with the result of its investigation."""
        showed = self.showed(wanted)
        return replace(
            last,
            case=self.chain[-1].made.case.id,
            steps=tuple(shot.made.step for shot in self.chain),
            interactions=tuple(traffic.interaction(evidence(shot)) for shot in self._shown_chain(wanted)),
            reproduction="\n".join(self.commands),
            reproduced=showed > 0 if self.printed else None,
            # It was seen once before.
            hits=1 + showed,
            tries=1 + len(self.printed),
            shrink_executions=self.executions,
            text=wanted.text,
            spent=self.is_spent and not showed,
            stopped=self.stopped,
            wants_more=self.wants_more,
        )


def _about_other(own: WireRequest, request: WireRequest | None) -> WireRequest:
    """Return the request of a check with the path and the body of another case. Its credentials and query stay."""
    if request is None:
        return own
    _, mark, query = own.target.partition(b"?")
    described = [(name, value) for name, value in request.headers if name.lower() == b"content-type"]
    headers = [(name, value) for name, value in own.headers if name.lower() != b"content-type"]
    target = request.target.partition(b"?")[0] + mark + query
    return replace_request(own, target=target, headers=[*headers, *described], body=request.body)


Send = Callable[[InvestigationResult, ExpectedFailure], Job[None]]
"""Sends the commands of a result, and adds the verdict to it."""


def as_printed(
    chain: Chain, wanted: ExpectedFailure, send: Send, slot: InvestigationSlot, why: str
) -> Job[InvestigationResult]:
    """Return the result of the printed commands alone: only the last request if it needs no other before it, else all.

    `why` is the reason why nothing else is sent.
    """
    last = chain[-1:]
    sequences = [chain] if len(chain) == 1 or last[0].made.bindings else [last, chain]
    for sequence in sequences:
        result = InvestigationResult(
            sequence, is_confirmed=False, stopped=why, wants_more=len(sequence) == 1, names=FreshNames.of(sequence)
        )
        yield from send(result, wanted)
        result.is_confirmed = result.showed(wanted) > 0
        if result.is_confirmed:
            break
    yield from count_hits(result, wanted, send, slot)
    return result


def count_hits(result: InvestigationResult, wanted: ExpectedFailure, send: Send, slot: InvestigationSlot) -> Job[None]:
    """Send commands that did not show their failure several times more, to report how often they do."""
    if result.is_confirmed and result.showed(wanted):
        return
    for _ in range(MORE_TRIES):
        if slot.may_repeat() and not result.is_spent:
            yield from send(result, wanted)


def shown_by(results: Iterable[InvestigationResult], wanted: ExpectedFailure) -> InvestigationResult | None:
    """Return the result of another failure of the same case, if its last request shows this one, too."""
    for result in results:
        is_usable = result.is_confirmed and not result.is_of_check
        if is_usable and wanted.shown(result.chain[-1]) is not None:
            return result
    return None
