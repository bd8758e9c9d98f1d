"""What became of a failure that was looked into, and who writes down what was sent for it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from checker.checks.judge import Judgement
from checker.core.response import Outcome
from checker.core.send import Purpose
from checker.corpus.records import Interaction
from checker.phases.making import GeneratedCase
from checker.workers.drafts import Answered
from checker.workers.unconfirmed import Chain, JudgedCase


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


@dataclass(slots=True)
class Settlement:
    """What became of one suspicion; others of the same case may be shown by the same requests."""

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
