"""Findings with one cause together: what is wrong once is told once, with the list of its places."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from checker.core.terminal import one_line
from checker.corpus.records import Finding
from checker.reporting.severities import severity_rank

MOST_IN_FULL = 2
"""Places of a cause that are each told in full. With more of them one is, and the others are listed."""
_UNDOCUMENTED_STATUS = "ST103"
"""Most of what a first run finds, and none of it is broken: whole groups of them come last."""


class Cause(Struct, frozen=True):
    """What one mistake of the target came to."""

    fingerprint: str
    places: tuple[Finding, ...]
    """At least one, by label."""

    @property
    def worst(self) -> Finding:
        """The place that stands for all of them: of the worst ones the easiest to see again."""
        return min(self.places, key=_to_be_shown)

    @property
    def rank(self) -> tuple[int, int]:
        """Sorts causes, worst first."""
        worst = self.worst
        return int(self.is_group and worst.code == _UNDOCUMENTED_STATUS), severity_rank(
            worst.severity
        )

    @property
    def is_group(self) -> bool:
        """Whether it is told once for all its places."""
        return len(self.labels) > MOST_IN_FULL

    @property
    def labels(self) -> tuple[str, ...]:
        """Operations in which it shows, sorted."""
        return tuple(sorted({one.label for one in self.places}))


def _to_be_shown(finding: Finding) -> tuple[int, bool, int, str]:
    fails_each_time = finding.reproduced is True and finding.hits >= finding.tries
    return severity_rank(finding.severity), not fails_each_time, len(finding.steps), finding.label


def cause_of(finding: Finding) -> str:
    """Fingerprint of the cause; of what was recorded without one, that of the finding."""
    return finding.cause or finding.fingerprint


def causes_of(findings: Iterable[Finding]) -> list[Cause]:
    """Each cause with its places, worst first, then by title and first place."""
    by_cause: dict[str, list[Finding]] = {}
    for finding in findings:
        by_cause.setdefault(cause_of(finding), []).append(finding)
    causes = [
        Cause(name, tuple(sorted(places, key=lambda one: (one.label, one.fingerprint))))
        for name, places in by_cause.items()
    ]
    return sorted(
        causes, key=lambda one: (one.rank, one.worst.code, one.worst.title, one.worst.label)
    )


def apart(findings: Iterable[Finding]) -> tuple[list[Cause], list[Finding]]:
    """Causes that are told once for all their places, and the findings that are told one by one."""
    causes = causes_of(findings)
    groups = [cause for cause in causes if cause.is_group]
    return groups, [one for cause in causes if not cause.is_group for one in cause.places]


def place_lines(cause: Cause, most: int) -> Iterator[str]:
    """`In 12 operations:` and a line for each place with the test case that showed it; at most `most` lines."""
    yield f"In {len(cause.labels)} operations:"
    for one in cause.places[:most]:
        yield f"- {one_line(one.label)} ({_evidence(one)})"
    if (left := len(cause.places) - most) > 0:
        yield f"- and {left} more: a report such as `--report json` lists all of them"


def _evidence(finding: Finding) -> str:
    sent = finding.interactions[-1].exchange if finding.interactions else None
    method, space, _ = finding.label.partition(" ")
    answered = ""
    if sent is not None and sent.status is not None:
        is_told = bool(space) and sent.method != method
        answered = f"{sent.method} {sent.status}" if is_told else str(sent.status)
    return ", ".join(part for part in (answered, f"test case {finding.case}") if part)
