"""Runs that end in the ways in which runs end, as their journals tell them: what consoles are read for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from checker.core.known import Baseline
from checker.corpus.known import entry_for
from checker.corpus.records import UNREACHED, Note, OperationError, OperationsSelected, RunFinished

from .samples import AT, ORDERS, USERS, changed, finding, opened, progress, records, started

HEALTH: Final = "GET /health"
_ALL: Final = (USERS, ORDERS, HEALTH)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A run, and what it was asked for."""

    journals: tuple[tuple[Any, ...], ...]
    """Of each incarnation in turn."""
    settings: Mapping[str, Any] = field(default_factory=dict)


def _end(outcome: str = "completed", seconds: float = 2.0) -> RunFinished:
    return RunFinished("r1", AT + seconds, outcome, seconds, (0.11, 1.6, 0.06, 0.03, 2.2))


def _begun(kind: str = "run", selected: int = 3) -> tuple[Any, ...]:
    return started(kind), OperationsSelected(_ALL[:selected]), opened(selected, selected)


def _done(label: str, *statuses: tuple[int, int], phase: str = "fuzzing", at: float = 1.5) -> Any:
    count = sum(many for _, many in statuses)
    return progress(
        task=f"{phase} {label}",
        phase=phase,
        labels=(label,),
        cases=count,
        requests=count,
        failed_cases=sum(many for status, many in statuses if status >= 500),
        statuses=tuple((label, status, many) for status, many in statuses),
        at=AT + at,
    )


def _findings() -> tuple[Any, ...]:
    found = [one for one in records() if not isinstance(one, RunFinished)]
    return tuple(changed(one, code="ST101") if _is_first(one) else one for one in found)


def _is_first(record: Any) -> bool:
    return getattr(record, "fingerprint", "") == "f1"


def _known() -> Scenario:
    entries = (entry_for(finding(), "2026-11-01"),)
    baseline = Baseline("known.toml", "2026-11-22", entries)
    begun = (*_begun(selected=1), finding(code="ST101"), _done(USERS, (200, 90), (500, 10)))
    return Scenario(((*begun, _end()),), {"baseline": baseline})


_CUT_SHORT: Final = (
    *_begun(),
    finding(code="ST101"),
    _done(USERS, (200, 90), (500, 10)),
    progress(task="t2", labels=(HEALTH,), cases=0, requests=0, statuses=(), finished=False),
)
_DEAD: Final = tuple(
    OperationError(
        label,
        "fuzzing",
        UNREACHED,
        "nothing was tested: the API at http://127.0.0.1:8080/api cannot be reached (connection refused); "
        "check that it runs there, or give its address with `--url`",
    )
    for label in _ALL
)
SCENARIOS: Final[Mapping[str, Scenario]] = {
    "all_green": Scenario(
        (
            (
                *_begun(),
                _done(USERS, (200, 12), phase="coverage", at=0.5),
                _done(USERS, (200, 100)),
                _done(ORDERS, (201, 95), (400, 5), at=1.75),
                _done(HEALTH, (200, 3), at=1.8),
                _end(),
            ),
        ),
        {"phases": ("coverage", "fuzzing")},
    ),
    "findings": Scenario(((*_findings(), _end()),)),
    "known_failures_only": _known(),
    "warnings_only": Scenario(
        (
            (
                *_begun(),
                _done(USERS, (200, 100)),
                _done(ORDERS, (404, 95), (201, 5)),
                _done(HEALTH, (200, 3)),
                Note("unusable_body", ORDERS, "application/xml", "no serialiser"),
                _end(),
            ),
        )
    ),
    "nothing_reached": Scenario(
        (
            (
                *_begun(),
                Note(
                    "first_answers",
                    "",
                    "",
                    "all of the first 25 responses were 404: check the address of the API: its base URL may lack a path",
                ),
                *(_done(label, (404, 100)) for label in _ALL),
                _end(),
            ),
        )
    ),
    "dead_target": Scenario(((*_begun(), *_DEAD, _end("target unavailable")),)),
    "interrupted": Scenario(((*_CUT_SHORT, _end("interrupted", 1.6)),)),
    "killed": Scenario((_CUT_SHORT,)),
    "killed_and_resumed": Scenario(
        (
            (changed(_CUT_SHORT[0], kind="fuzz"), *_CUT_SHORT[1:]),
            (
                changed(started("fuzz"), at=AT + 10.0),
                opened(),
                _done(HEALTH, (200, 3), at=10.5),
                _end("time limit", 11.0),
            ),
        ),
        {"kind": "fuzz", "phases": ("exploration",)},
    ),
}
