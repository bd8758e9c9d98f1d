"""What people read of an outage: a finding where the target died, a warning where it turned everybody away."""

import time
from collections.abc import Iterator, Sequence

from msgspec import Struct

from checker.checks.judge import UNJUDGED
from checker.core.digests import digest
from checker.core.failures import Severity
from checker.core.meta import Step
from checker.core.response import FailureKind, NetworkFailure
from checker.corpus.records import Finding, Interaction, Note
from checker.health import GATEWAY, HEALTH_CHECK, TARGET, TOO_MANY
from checker.phases.attempt import Verdict
from checker.workers.observers.witnesses import Sent
from checker.workers.outage_messages import Death, Examine, Trouble
from checker.workers.recording.recorder import Recorder
from checker.workers.recording.unconfirmed import JudgedCase

TITLE = "The API stopped answering"
_MOST_SHOWN = 5
_RATE_LIMITED = "rate_limited"


class OutageAccount(Struct, frozen=True):
    """What was found about one outage."""

    order: Examine
    culprit: Sent | None
    is_certain: bool
    """Whether suspects were sent alone: then the culprit did it again, or none did."""
    serves: bool
    """Whether the target serves again."""
    refused: Sent | None
    """The answer that showed it."""

    @property
    def is_rate(self) -> bool:
        """Whether too much was sent, as far as anybody can tell."""
        said = 0 if self.refused is None else self.refused.status
        return self.culprit is None and said == TOO_MANY

    @property
    def deaths(self) -> list[Death]:
        """All of the run that the culprit did, this one included, oldest first; none where nobody is guilty."""
        if self.culprit is None:
            return []
        label = self.culprit.label
        earlier = [one for one in self.order.deaths if one.culprit == label]
        return [*earlier, Death(self.order.at, label)]


def tell(recorder: Recorder, account: OutageAccount, before: Sequence[Sent]) -> None:
    """Write down what happened; `before`: what was sent, the latest first."""
    if account.order.trouble is Trouble.GONE:
        recorder.keep([_finding(recorder, account, before)])
    else:
        label = TARGET if account.culprit is None else account.culprit.label
        kind = _RATE_LIMITED if account.is_rate else "turned_away"
        recorder.note(Note(kind, label, "", _turned_away(account)))
    recorder.flush()


def tell_of_rates(recorder: Recorder) -> None:
    """Write down that the target counts requests."""
    recorder.note(
        Note(
            _RATE_LIMITED, TARGET, "", "it refuses with 429 whatever is sent when that is too much"
        )
    )
    recorder.flush()


def _turned_away(account: OutageAccount) -> str:
    status = "" if account.refused is None else f" with {account.refused.status}"
    culprit = account.culprit
    if account.is_rate and not account.serves:
        what = f"nearly everything is refused{status}, still after a rest: by a limit that holds for longer, or because a request before locked the caller out"
    elif culprit is None and not account.serves:
        what = f"nearly everything is refused{status}, and nobody knows since which request"
    elif culprit is None:
        what = f"nearly everything was refused{status} for a while, and no request sent alone did it again"
    elif account.is_certain:
        what = f"after `{culprit}` nearly everything is refused{status}: it is sent no more before the end of the run"
    else:
        what = f"nearly everything is refused{status}, probably since `{culprit}`: it is sent no more before the end of the run"
    return what if account.serves else f"{what}; refusals after it count for nothing"


def _finding(recorder: Recorder, account: OutageAccount, before: Sequence[Sent]) -> Finding:
    culprit = account.culprit
    interactions: tuple[Interaction, ...] = ()
    steps: tuple[Step, ...] = ()
    command = phase = case = ""
    if culprit is not None:
        meta = culprit.made.case.meta
        phase, case = ("" if meta is None else meta.phase.name), culprit.made.case.id
        lost = NetworkFailure(FailureKind.DROPPED, "the target ended the connection", 0.0)
        verdict = Verdict(culprit.made.case, culprit.request, lost, UNJUDGED, time.time())
        interactions = (recorder.traffic.interaction(JudgedCase(culprit.made, verdict)),)
        steps, command = (culprit.made.step,), recorder.reproduction(culprit.request)
    label = TARGET if culprit is None else culprit.label
    # A culprit has one finding, whatever number of deaths; a death without one is told apart from others.
    key = f"outage {account.order.number}" if culprit is None else "outage"
    return Finding(
        fingerprint=digest("v1", label, HEALTH_CHECK, key),
        label=label,
        check=HEALTH_CHECK,
        title=TITLE,
        message=_message(account, before),
        severity=Severity.CRITICAL.value,
        unique_key=key,
        phase=phase,
        case=case,
        task=HEALTH_CHECK,
        index=account.order.number,
        stage="minimised",
        steps=steps,
        interactions=interactions,
        reproduction=command,
        reproduced=culprit is not None if account.is_certain else None,
        shrink_executions=0,
        at=time.time(),
        cause=digest("cause v1", label, HEALTH_CHECK),
    )


def _message(account: OutageAccount, before: Sequence[Sent]) -> str:
    """What happened when, whether it is over, who did it, and what was sent last."""
    at, refused = _clock(account.order.at), account.refused
    if refused is not None and refused.status in GATEWAY:
        what = f"What stands before it answered {refused.status} whatever was sent, from {at} on."
    else:
        what = f"No connection could be opened any more at {at}."
    parts = [what, *_guilt(account)]
    parts.append("It came back." if account.serves else "It did not come back.")
    shown = [f"    {sent} -> {sent.status or 'no answer'}" for sent in before[:_MOST_SHOWN]]
    last = ["", "Last requests, the latest first:", "", *shown] if shown else []
    return "\n".join([" ".join(parts), *last])


def _guilt(account: OutageAccount) -> Iterator[str]:
    """Who did it, as far as anybody knows, and how often."""
    if account.culprit is None:
        yield "None of the last requests, sent alone, did it again."
    elif account.is_certain:
        yield f"`{account.culprit}`, sent alone, did it again."
    else:
        yield f"`{account.culprit}` was not answered, or was the last to change something."
    if len(deaths := account.deaths) > 1:
        times = ", ".join(_clock(one.at) for one in deaths[:_MOST_SHOWN])
        more = ", ..." if len(deaths) > _MOST_SHOWN else ""
        yield f"Its operation did so {len(deaths)} times, at {times}{more}."


def _clock(at: float) -> str:
    """A moment as logs of servers tell it."""
    return time.strftime("%H:%M:%S UTC", time.gmtime(at))
