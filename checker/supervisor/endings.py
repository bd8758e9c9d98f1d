"""The end of a run and its exit code. Pure: `now` is an argument."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum

from msgspec import Struct
from msgspec.structs import replace

from checker.config.settings import FetchLimits, RunSettings
from checker.core.errors import LoaderError, LoaderErrorKind
from checker.core.phases import CaseSource, phase_named
from checker.core.security import UNAUTHORIZED
from checker.corpus.fold import RunView
from checker.corpus.known import KnownFailures
from checker.corpus.records import UNBROKEN, UNREACHED, WHOLE_TASK, Note, OperationError
from checker.health import GATEWAY, TARGET, TOO_MANY, TURNED_AWAY
from checker.supervisor.plans import TimeWindow
from checker.workers.messages import Drain, LeavingKind, OperationCard, Task

GRACE_S = 3.0
"""Seconds that requests in flight may take after an interrupt.

Shrinks end after half of these seconds, requests are dropped at the end, and workers are killed after 1.5 times the seconds.
"""

# The closing seconds of a time limit: a tenth of it, at most 1.5 s. In their first half shrinks are ended, in the
# second half requests are dropped, and at the end workers are killed.
CLOSING_SHARE = 0.1
LONGEST_CLOSING_S = 1.5

CANNOT = 2  # Exit code of a run that was impossible.

INTERRUPTED = "interrupted"
TIME_LIMIT = "time limit"
SATURATED = "saturated"
FAILED = "error"
UNAVAILABLE = "target unavailable"
"""Outcome of a run whose target stopped serving requests. Reports have an equal constant, because they do not import the supervisor."""
_TURNED_AWAY = (TURNED_AWAY - {TOO_MANY}) | GATEWAY | {0}
"""Statuses of a target that serves no request. 429 has a warning of its own."""
_HURRIED = (INTERRUPTED, FAILED, UNAVAILABLE)
"""Outcomes after which workers have `GRACE_S` seconds. After other outcomes, workers finish their work."""


class _EndingStage(IntEnum):
    """The orders to workers at the end of a run, in this order."""

    NOTHING = 0
    DRAIN = 1
    NO_SHRINKS = 2
    HASTEN = 3
    KILL = 4


_DRAINS = {
    _EndingStage.DRAIN: Drain(),
    _EndingStage.NO_SHRINKS: Drain(shrinks=False),
    _EndingStage.HASTEN: Drain(shrinks=False, immediate=True),
    _EndingStage.KILL: Drain(shrinks=False, immediate=True),
}


def closing_s(max_time_s: float) -> float:
    """Return the length of the closing period of a time limit, in seconds. In this period nothing new begins, and requests in flight finish."""
    return min(LONGEST_CLOSING_S, CLOSING_SHARE * max_time_s)


class RunFault(Struct, frozen=True):
    """The reason why a run ends with exit code 2, or with 1 if it found something and `keeps_verdict`."""

    sentence: str
    kind: LeavingKind | None = None  # The reason of the worker that could not go on; None if no worker reported one.
    details: tuple[str, ...] = ()  # Further lines.
    loading: LoaderErrorKind = LoaderErrorKind.UNCLASSIFIED
    """Kind of the error that kept the description from being read."""
    url: str | None = None  # Location of the description, if it is a URL.
    keeps_verdict: bool = False  # Whether the failures that were found before decide the exit code.

    @property
    def loader_error(self) -> LoaderError:
        """Return the exception of the Python API for a description that could not be read."""
        return LoaderError(self.sentence, list(self.details), kind=self.loading, url=self.url)

    def __str__(self) -> str:
        # A sentence about a full disk or wrong settings is complete without the kind.
        is_plain = self.kind in (None, LeavingKind.DISK, LeavingKind.CANNOT_START)
        first = self.sentence if is_plain else f"{self.kind}: {self.sentence}"
        return "\n".join((first, *self.details))


class Ending:
    """The end of a run. Its first reason starts it, and later reasons can only speed it up.

    All workers have ended at the time limit. In the closing seconds before the limit no new case is made, and failures are
    confirmed but not shrunk; in their second half requests in flight are abandoned. Reports are written afterwards.
    """

    def __init__(self, settings: RunSettings) -> None:
        self._goes_on: Mapping[str, bool] = {}
        """Label -> `continue-on-failure` of operations that have a setting of their own."""
        self._read = 0
        """Number of changed findings that this object has read."""
        self._failing: set[str] = set()
        """Fingerprints of findings that fail the run."""
        self._ending: set[str] = set()
        """Fingerprints of failures that end a run of `fuzz`."""
        self.go_by(settings)
        self.outcome = ""
        """As in `RunFinished`; empty while the run continues."""
        self.error: RunFault | None = None
        self._told = _EndingStage.NOTHING
        self._hurried_at: float | None = None

    def go_by(self, settings: RunSettings) -> None:
        """Take the limits from these settings. Called again when the project is known."""
        self._settings = settings
        self._known = KnownFailures(settings.verdict.baseline)
        self._read_again()

    def know(self, cards: Iterable[OperationCard]) -> None:
        """Take the settings `continue-on-failure` of single operations."""
        self._goes_on = {card.label: card.continue_on_failure for card in cards if card.continue_on_failure is not None}
        self._read_again()

    @property
    def began(self) -> bool:
        """Whether nothing new may begin."""
        return bool(self.outcome)

    @property
    def is_late(self) -> bool:
        return self.outcome == TIME_LIMIT

    @property
    def drops_openings(self) -> bool:
        """Whether workers that still read the description are killed. At the time limit they may still open it for a moment."""
        return self.began and not (self.is_late and self._told < _EndingStage.HASTEN)

    def left_s(self, elapsed_s: float) -> float | None:
        """Return the seconds until nothing new begins; None without a time limit."""
        limit_s = self._settings.max_time_s
        if limit_s is None:
            return None
        return max(0.0, limit_s - closing_s(limit_s) - elapsed_s)

    def window(self, elapsed_s: float) -> TimeWindow | None:
        """Return the time from now on until nothing new begins; None without a time limit."""
        left_s = self.left_s(elapsed_s)
        return None if left_s is None else TimeWindow(elapsed_s, elapsed_s + left_s)

    def fetch_limits(self, now: float, elapsed_s: float) -> FetchLimits:
        """Return the limits for reading the description in the time that the run has left."""
        left_s = self.left_s(elapsed_s)
        return self._settings.documents if left_s is None else replace(self._settings.documents, until=now + left_s)

    def begin(self, outcome: str) -> None:
        """Begin the end. The first reason counts, but an interrupt replaces it."""
        # Scripts recognise an interrupted run by exit code 130, even if a limit was reached just before.
        if not self.outcome or outcome == INTERRUPTED:
            self.outcome = outcome

    def failures(self, view: RunView) -> int:
        """Return the number of findings that fail the run. Known ones do not."""
        # Only changes are read: this runs at every turn, and a run may have thousands of findings.
        changed = view.sights.changes[self._read :]
        self._read += len(changed)
        # The changes include withdrawn and merged findings, which no longer fail the run.
        for name in set(changed):
            finding = view.sights.version(name)
            fails = view.sights.is_shown(name) and self._known.fails(finding)
            goes_on = self._goes_on.get(finding.label, self._settings.common.continue_on_failure)
            ends = fails and not (finding.same_as or goes_on)
            for names, is_in in ((self._failing, fails), (self._ending, ends)):
                (names.add if is_in else names.discard)(name)
        return len(self._failing)

    def _read_again(self) -> None:
        """Judge all findings anew, by the current settings."""
        self._read = 0
        self._failing.clear()
        self._ending.clear()

    def complete(self, view: RunView) -> None:
        """End the run because nothing is left to do. `fuzz` never runs out of work, so this is an error of `fuzz`."""
        count = 0 if view.opened is None else view.opened.selected
        if self._settings.kind == "fuzz" and count and not view.counts.cases:
            which = "the one selected operation" if count == 1 else f"any of {count} operations"
            self.fail(
                RunFault(f"nothing was tested: no case can be generated for {which}; the report gives the reasons")
            )
        self.begin("completed")

    def fail(self, error: RunFault) -> None:
        """End the run with this error. A later error is ignored."""
        self.error = self.error or error
        self.outcome = FAILED

    def fail_to_open(self) -> None:
        """End because the description was not read within the time limit."""
        sentence = (
            f"the API description was not read within the {self._settings.max_time_s:g} s of `--max-time`; give the "
            "run more time"
        )
        self.fail(RunFault(sentence, LeavingKind.CANNOT_OPEN))

    @property
    def kills(self) -> bool:
        return self._told is _EndingStage.KILL

    def next_order(self, view: RunView, now: float, elapsed_s: float, interrupts: int) -> Drain | None:
        """Return the order that is now due to all workers: drain, no shrinks, hasten. None if none is due. After the last order, workers are killed."""
        if interrupts and not self.error:
            self.begin(INTERRUPTED)
        if not self.outcome:
            limit = self._settings.verdict.max_failures
            if self.left_s(elapsed_s) == 0:
                self.outcome = TIME_LIMIT
            elif limit is not None and self.failures(view) + len(view.errors) >= limit:
                self.outcome = "failure limit"
            elif self._settings.has_no_end and self.failures(view) and self._ending:
                self.outcome = "first failure"
        if not self.outcome:
            return None
        if self._hurried_at is None and (interrupts or self.outcome in _HURRIED):
            self._hurried_at = now
        waited_s = 0.0 if self._hurried_at is None else now - self._hurried_at
        wanted = max(_EndingStage.DRAIN, self._due(elapsed_s), self._asked_for(waited_s, interrupts))
        if wanted <= self._told:
            return None
        self._told = wanted
        return _DRAINS[wanted]

    def _due(self, elapsed_s: float) -> _EndingStage:
        """Return the order that the time limit requires."""
        if self._settings.max_time_s is None:
            return _EndingStage.NOTHING
        # Computed from the age of the process and not from the previous order, so that a busy supervisor skips orders
        # and still meets the limit.
        closing = closing_s(self._settings.max_time_s)
        left_s = self._settings.max_time_s - elapsed_s
        if left_s <= 0:
            return _EndingStage.KILL
        if left_s <= closing / 2:
            return _EndingStage.HASTEN
        return _EndingStage.NO_SHRINKS if left_s <= closing else _EndingStage.NOTHING

    def _asked_for(self, waited_s: float, interrupts: int) -> _EndingStage:
        """Return the order that an interrupt or an error requires."""
        if waited_s > 1.5 * GRACE_S or interrupts > 1:
            return _EndingStage.KILL
        if waited_s > GRACE_S or self.outcome in (FAILED, UNAVAILABLE):
            return _EndingStage.HASTEN
        return _EndingStage.NO_SHRINKS if waited_s > GRACE_S / 2 else _EndingStage.NOTHING


def exit_code(view: RunView, ending: Ending) -> int:
    """Return 130 for an interrupt, 2 if the run broke or tested nothing, 1 if something failed, else 0."""
    has_found = bool(ending.failures(view) or view.errors or view.quarantined)
    if ending.error:
        # A broken run did not reach everything, so its failures must not look like the whole result.
        return 1 if has_found and ending.error.keeps_verdict else CANNOT
    if ending.outcome == INTERRUPTED:
        return 130
    if has_found:
        return 1
    # With `--mode negative`, operations that accept every request are skipped. It is no error if all operations are skipped.
    skipped = {note.label for note in view.notes.get(UNBROKEN, {}).values()}
    # A shard is empty where there are fewer groups of operations than shards.
    is_empty_shard = view.opened is not None and view.opened.partition and not view.opened.selected
    is_unchanged = view.opened is not None and view.opened.is_unchanged
    is_all_skipped = view.opened is not None and 0 < view.opened.selected <= len(skipped)
    return 0 if view.counts.cases or is_all_skipped or is_empty_shard or is_unchanged else CANNOT


def nothing_tested(view: RunView, ending: Ending) -> str:
    """Return the reason why a run without an error tested nothing."""
    if view.opened is not None and view.opened.selected == view.opened.unreadable:
        if view.errors:
            return "nothing was tested: no selected operation can be read; the report says why"
        return "nothing was tested: no operation is selected"
    if ending.outcome == TIME_LIMIT:
        return "nothing was tested: no case was finished within the time limit"
    return "nothing was tested: no case was finished"


def lost_service(view: RunView, cards: Iterable[OperationCard], gone_at: float | None) -> Iterator[OperationError]:
    """Yield the error of a target that served requests at first, and later none until the end of the run.

    `gone_at`: when connections began to fail (`Outages.gone_at`). Refusals are evidence only if requests that were served
    before are refused as well (`RunView.lost_access`), because operations may refuse for their own reasons. More than half
    of the operations must have only refusals, because some need no credentials. Operations that may end the service
    come last in a run, so refusals after them do not matter.
    """
    began = 0.0 if view.run is None else view.run.at
    untested = [label for label in view.labels if not any(200 <= status < 400 for status in view.of(label).statuses)]
    left = f"Never served: {len(untested)} of {len(view.labels)} operations."
    if gone_at is not None:
        what = (
            f"The API stopped answering {gone_at - began:.0f} s after the start of the run, "
            "and did not answer again before its end."
        )
        yield OperationError(TARGET, "", UNREACHED, f"{what} {left}")
    # A run that lost its access at the second request once ended with "No issues found", although 98.8 % of its
    # requests were refused.
    lost, last = view.lost_access, {card.label for card in cards if card.is_ending}
    asked = [statuses for label, statuses in lost.statuses.items() if label not in last]
    shut = [statuses for statuses in asked if statuses.keys() <= _TURNED_AWAY]
    if lost.is_final and 2 * len(shut) > len(asked):
        statuses = ", ".join(str(one or "no response") for one in sorted(set().union(*shut)))
        what = (
            f"Access was lost {lost.since - began:.0f} s after the start of the run, "
            f"after {view.counts.requests - lost.requests:,} of {view.counts.requests:,} requests: "
            f"until the end {len(shut)} of {len(asked)} operations returned nothing but {statuses}."
        )
        named = {note.label for note in view.notes.get("turned_away", {}).values()} - {TARGET}
        # If several operations may be the cause, none is named.
        since = f" It was probably lost by `{named.pop()}` (warning `turned_away`)." if len(named) == 1 else ""
        yield OperationError(TARGET, "", "Access lost", f"{what}{since} {left}")


def shut_out(view: RunView, credentials: Sequence[str]) -> Iterator[OperationError]:
    """Yield the error of a run whose configured credentials (given by their names) were accepted by no operation.

    All valid requests to operations that declare security were answered with 401 or 403: an expired token must not pass in CI.
    """
    asking = [one for one in view.operations.values() if one.described and one.described.needs_credentials]
    answered = [statuses for one in asking if (statuses := one.positive_statuses)]
    if credentials and answered and all(statuses.keys() <= UNAUTHORIZED for statuses in answered):
        shown = ", ".join(sorted({str(status) for statuses in answered for status in statuses}))
        what = f"all {len(answered)} tested operations" if len(answered) > 1 else "the only tested operation"
        yield OperationError(
            TARGET,
            "",
            "Access refused",
            f"The configured credentials ({', '.join(credentials)}) opened no operation: {what} with declared security "
            f"returned nothing but {shown}. Renew them, or accept this with `auth.allow-refused = true`.",
        )


def untried(view: RunView, tasks: Iterable[Task]) -> Iterator[Note]:
    """Yield a note for each operation with cases that the time limit prevented."""
    tried: dict[str, list[str]] = {}
    for task in tasks:
        known = view.tasks.get(task.id)
        done = 0 if known is None else known.cases
        is_left_out = (task.id, WHOLE_TASK) in view.quarantined
        if done < task.stop and not (known is not None and known.finished) and not is_left_out:
            is_listed = phase_named(task.phase).source is CaseSource.LISTED
            cases = "case" + "s" * (done != 1) if is_listed else f"of {task.stop} cases"
            phases_of = tried.setdefault(task.labels[0], [])
            phases_of.append(f"{done} {cases} of the {task.phase} phase")
    for label, phases in tried.items():
        yield Note("untried", label, "", f"sent {', '.join(phases)}")
