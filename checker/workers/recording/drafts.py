"""Interactions that wait to be written."""

import dataclasses
import time
from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct

from checker.core.operation import Label
from checker.core.request import WireRequest
from checker.core.response import Outcome, Response
from checker.corpus.traffic import Keep
from checker.phases.attempt import Verdict
from checker.phases.making import GeneratedCase

# What a case takes in memory beside its bodies, about.
DRAFT_BYTES = 4096


class Answered(NamedTuple):
    """A request and what came of it."""

    request: WireRequest
    outcome: Outcome
    at: float
    """When the outcome was there, in seconds since the epoch."""


def answered(request: WireRequest, outcome: Outcome) -> Answered:
    """What came now of a request, as it is: to be sent again it may get other credentials."""
    sent = dataclasses.replace(request, headers=request.headers[:])
    return Answered(sent, outcome, time.time())


class Draft(Struct):
    """A verdict that is described when it is written."""

    encoded: Callable[[GeneratedCase, Verdict, Keep], bytes]
    """Case and verdict as bytes."""
    made: GeneratedCase
    verdict: Verdict

    @property
    def label(self) -> Label:
        """Of its operation."""
        return self.made.label

    def __len__(self) -> int:
        outcome, request = self.verdict.outcome, self.verdict.request
        received = len(outcome.content) if isinstance(outcome, Response) else 0
        sent = len(request.body) if request is not None and request.body is not None else 0
        return DRAFT_BYTES + received + sent

    def encode(self, keep: Keep) -> bytes:
        """The interaction as bytes, without the bodies that `keep` takes."""
        return self.encoded(self.made, self.verdict, keep)
