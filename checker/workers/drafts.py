"""Interactions that wait to be written."""

from collections.abc import Callable
from dataclasses import dataclass

from checker.core.operation import Label
from checker.core.response import Response
from checker.corpus.records import Interaction
from checker.phases.attempt import Verdict
from checker.phases.making import Made

# What a case takes in memory beside its bodies, about.
_DRAFT_BYTES = 4096


@dataclass(slots=True)
class Draft:
    """A verdict that is described when it is written."""

    encoded: Callable[[Made, Verdict, float], bytes]
    """Case, verdict and time (seconds since the epoch) as bytes."""
    made: Made
    verdict: Verdict
    at: float

    @property
    def label(self) -> Label:
        """Of its operation."""
        return self.made.label

    def __len__(self) -> int:
        outcome, request = self.verdict.outcome, self.verdict.request
        received = len(outcome.content) if isinstance(outcome, Response) else 0
        sent = len(request.body) if request is not None and request.body is not None else 0
        return _DRAFT_BYTES + received + sent

    def encode(self) -> bytes:
        """The interaction as bytes."""
        return self.encoded(self.made, self.verdict, self.at)


@dataclass(slots=True)
class Described:
    """An interaction that somebody has described already."""

    interaction: Interaction
    encoded: Callable[[Interaction], bytes]

    @property
    def label(self) -> str:
        """Of its operation."""
        return self.interaction.label

    def __len__(self) -> int:
        """About how many bytes of memory it takes."""
        return _DRAFT_BYTES + len(self.interaction.exchange.response_body)

    def encode(self) -> bytes:
        """The interaction as bytes."""
        return self.encoded(self.interaction)
