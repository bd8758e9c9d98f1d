"""What people read of an outage: a finding where the target died, a warning where it turned everybody away."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from checker.checks.judge import UNJUDGED
from checker.core.digests import digest
from checker.core.failures import Severity
from checker.core.response import FailureKind, NetworkFailure
from checker.core.sequence import Step
from checker.corpus.records import Finding, Interaction, Note
from checker.phases.attempt import Verdict
from checker.workers.outage_messages import Trouble
from checker.workers.recorder import Recorder
from checker.workers.served import Sent
from checker.workers.unconfirmed import JudgedCase

LABEL = "Target"
"""Stands in the place of an operation: an outage that no request is guilty of is of the run as a whole."""
CHECK = "target_health"
TITLE = "The API stopped answering"
_MOST_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Account:
    """What was found about one outage."""

    number: int
    trouble: Trouble
    culprit: Sent | None
    is_certain: bool
    """Whether the culprit, sent alone, did it again."""
    serves: bool
    """Whether the target serves again."""
    refused: Sent | None
    """The answer that showed it."""


def tell(recorder: Recorder, account: Account, before: Sequence[Sent]) -> None:
    """Write down what happened; `before`: what was sent, the latest first."""
    if account.trouble is Trouble.GONE:
        recorder.keep([_finding(recorder, account, before)])
    else:
        label = LABEL if account.culprit is None else account.culprit.label
        recorder.note(Note("turned_away", label, "", _turned_away(account)))
    recorder.flush()


def _turned_away(account: Account) -> str:
    status = "" if account.refused is None else f" with {account.refused.status}"
    culprit = account.culprit
    if culprit is None:
        what = f"nearly everything was refused{status} for a while, and no request sent alone did it again"
    elif account.is_certain:
        what = f"after `{culprit}` nearly everything is refused{status}: it is sent no more before the end of the run"
    else:
        what = f"nearly everything is refused{status}, probably since `{culprit}`: it is sent no more before the end of the run"
    return what if account.serves else f"{what}; refusals after it count for nothing"


def _finding(recorder: Recorder, account: Account, before: Sequence[Sent]) -> Finding:
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
    label = LABEL if culprit is None else culprit.label
    key = f"outage {account.number}" if culprit is None else "outage"
    return Finding(
        fingerprint=digest("v1", label, CHECK, key),
        label=label,
        check=CHECK,
        title=TITLE,
        message=_message(account, before),
        severity=Severity.CRITICAL.value,
        unique_key=key,
        phase=phase,
        case=case,
        task=CHECK,
        index=account.number,
        stage="minimised",
        steps=steps,
        interactions=interactions,
        reproduction=command,
        reproduced=account.is_certain if culprit is not None else None,
        shrink_executions=0,
        at=time.time(),
    )


def _message(account: Account, before: Sequence[Sent]) -> str:
    """What happened, whether it is over, who did it, and what was sent last."""
    parts = ["No connection could be opened any more."]
    if account.culprit is None:
        parts.append("None of the last requests, sent alone, did it again.")
    elif account.is_certain:
        parts.append(f"`{account.culprit}`, sent alone, did it again.")
    else:
        parts.append(f"`{account.culprit}` was not answered, or was the last to change something.")
    parts.append("It came back." if account.serves else "It did not come back.")
    shown = [f"    {sent} -> {sent.status or 'no answer'}" for sent in before[:_MOST_SHOWN]]
    return "\n".join([" ".join(parts), "", "Last requests, the latest first:", "", *shown])
