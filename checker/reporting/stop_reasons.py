"""Why a run ended, in words, and how `fuzz` goes on."""

from collections.abc import Iterator
from typing import Final

_REASONS: Final = {
    "completed": "Completed",
    "time limit": "Time limit reached",
    "failure limit": "Failure limit reached",
    "first failure": "First failure",
    "target unavailable": "The API could not be reached",
    "interrupted": "Interrupted",
    "error": "Error",
}
_NEXT_STEPS: Final = {
    "interrupted": "The same command begins with the failures and sequences that this one kept.",
    "first failure": "`--max-time SECONDS` or `--continue-on-failure` goes on after failures.",
}


def stop_reason(outcome: str) -> str:
    """The outcome of a run, for people."""
    return _REASONS.get(outcome, outcome)


def stop_lines(outcome: str) -> Iterator[str]:
    """Lines about the end of `fuzz`, with what to do to go on."""
    yield f"Stop reason: {stop_reason(outcome)}"
    if outcome in _NEXT_STEPS:
        yield f"  {_NEXT_STEPS[outcome]}"
    yield ""
