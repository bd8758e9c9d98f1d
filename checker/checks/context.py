"""What a check may look at, and what it may answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from checker.core.blocks import DEFAULT_TRUNCATION, Truncation
from checker.core.case import Case
from checker.core.contract import ResponsePlan
from checker.core.failures import Failure
from checker.core.lexicon import Lexicon, Words
from checker.core.response import Response
from checker.core.send import Exchanging


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """Settings of all checks."""

    expected_statuses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Check name -> patterns such as `404` or `2XX`; a check without an entry uses its own default."""
    truncation: Truncation = DEFAULT_TRUNCATION
    """How much of a schema and of a value is shown."""


@dataclass(slots=True)
class CheckContext:
    """One interaction under judgement."""

    case: Case
    response: Response
    plan: ResponsePlan
    """What the operation promises of a response with this status and `Content-Type`."""
    settings: CheckSettings
    disagreements: list[str] = field(default_factory=list)
    """Filled by checks whose two validators do not agree: counted and shown, never failed."""
    unjudged: list[str] = field(default_factory=list)
    """Filled by checks that were promised a body and cannot look at all of it: why, likewise."""
    lexicon: Lexicon = field(default_factory=Lexicon)

    @property
    def described(self) -> Words:
        """Words of the API description: those of an error text that mean something."""
        return self.lexicon.of(self.case.operation)


Failures = tuple[Failure, ...]

Check = Callable[[CheckContext], "Failures | Exchanging[Failures]"]
"""Failures of one interaction, empty when it passed.

A check that needs further requests (controls, probes without credentials) is a generator: it yields `Send`.
"""

PASSED: Failures = ()
