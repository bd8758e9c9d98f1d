"""Which findings share a block."""

from dataclasses import replace

from checker.core.blocks import Truncation
from checker.core.operation import Label
from checker.core.sequence import Drawn, Step
from checker.corpus.records import Finding
from checker.reporting.findings import failures_by_label
from tests.corpus.generated import finding


def candidate(name: str, choice: int, **changes: object) -> Finding:
    step = Step(Label("GET /a"), Drawn((choice,)), ())
    return replace(finding(name), steps=(step,), **changes)  # type: ignore[arg-type]


def blocks(*findings: Finding) -> int:
    ((_, text),) = failures_by_label(findings, Truncation())
    return text.count("Test Case ID")


def test_candidates_of_one_shrink_are_told_apart_by_what_they_are() -> None:
    assert blocks(candidate("f1", 1), candidate("f2", 2)) == 2
    assert blocks(candidate("f1", 1), candidate("f2", 1)) == 1


def test_what_one_command_shows_is_one_block() -> None:
    command = {"reproduction": "curl -X GET http://127.0.0.1/a"}
    assert blocks(candidate("f1", 1, **command), candidate("f2", 1, **command)) == 1
