"""When and how a run ends, and what its exit code is. Pure: `now` is an argument."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from checker.config.settings import RunSettings
from checker.corpus.fold import RunView
from checker.corpus.records import UNBROKEN, Note
from checker.supervisor.assignment import Cut
from checker.workers.messages import Drain, OperationCard

GRACE_S = 3.0
"""What is in flight may take so long when time is over or the user asked to stop; half of it more when hastened."""

CANNOT = 2
"""Exit code of what could not be done."""

INTERRUPTED = "interrupted"
TIME_LIMIT = "time limit"
FAILED = "error"
_HURRIED = (INTERRUPTED, TIME_LIMIT, FAILED)


@dataclass(frozen=True, slots=True)
class Order:
    """What to do about the end now."""

    drain: Drain | None = None
    """Tell everybody."""
    kills: bool = False
    """End those that are left."""


class Ending:
    """The way from work to rest: begun once, then only faster."""

    def __init__(self, settings: RunSettings) -> None:
        self._goes_on: Mapping[str, bool] = {}
        """By label: operations that have a word of their own on `continue-on-failure`."""
        self.go_by(settings)
        self.outcome = ""
        """As in `RunFinished`; empty while nothing ends the run."""
        self.error = ""
        self._told = 0
        """0 nothing, 1 to drain, 2 to hasten, 3 killed."""
        self._hurried_at: float | None = None

    def go_by(self, settings: RunSettings) -> None:
        """Take the limits from these settings: once more when the project is known."""
        self._max_time_s = settings.max_time_s
        self._max_failures = settings.max_failures
        self._may_stop_at_first = settings.kind == "fuzz"
        self._usually_goes_on = settings.common.continue_on_failure

    def know(self, cards: Iterable[OperationCard]) -> None:
        """Take what single operations say of going on."""
        self._goes_on = {
            card.label: card.continue_on_failure
            for card in cards
            if card.continue_on_failure is not None
        }

    @property
    def began(self) -> bool:
        """Whether nothing new is to be started."""
        return bool(self.outcome)

    def begin(self, outcome: str) -> None:
        """The first reason counts; but an interrupt is always worth telling."""
        if not self.outcome or outcome == INTERRUPTED:
            self.outcome = outcome

    def fail(self, error: str) -> None:
        """End with this sentence; the first one counts."""
        self.error = self.error or error
        self.outcome = FAILED

    def next_order(self, view: RunView, now: float, elapsed_s: float, interrupts: int) -> Order:
        """What the situation asks for: to drain, later to hasten, at last to kill."""
        self._judge(view, elapsed_s, interrupts)
        if not self.outcome:
            return Order()
        late = self._max_time_s is not None and elapsed_s >= self._max_time_s
        if self._hurried_at is None and (late or interrupts or self.outcome in _HURRIED):
            self._hurried_at = now
        waited_s = 0.0 if self._hurried_at is None else now - self._hurried_at
        wanted = 1
        if waited_s > GRACE_S or self.outcome == FAILED:
            wanted = 2
        if waited_s > 1.5 * GRACE_S or interrupts > 1:
            wanted = 3
        if wanted <= self._told:
            return Order(kills=self._told == 3)
        self._told = wanted
        return Order(Drain(hasten=wanted > 1), kills=wanted == 3)

    def _judge(self, view: RunView, elapsed_s: float, interrupts: int) -> None:
        found = view.finding_count()
        if interrupts and not self.error:
            self.begin(INTERRUPTED)
        if self.outcome:
            return
        if self._max_time_s is not None and elapsed_s >= self._max_time_s:
            self.outcome = TIME_LIMIT
        elif self._max_failures is not None and found >= self._max_failures:
            self.outcome = "failure limit"
        elif found and self._may_stop_at_first and self._ends_all(view):
            self.outcome = "first failure"

    def _ends_all(self, view: RunView) -> bool:
        """Whether an operation has failed that `fuzz` does not go on after."""
        usual = self._usually_goes_on
        return any(
            not finding.same_as and not self._goes_on.get(finding.label, usual)
            for finding in view.findings.values()
        )


def exit_code(view: RunView, ending: Ending) -> int:
    """Of requirement 2: 130 interrupted, 2 broken or nothing tested, 1 something failed, 0 all is well."""
    if ending.error:
        return CANNOT
    if ending.outcome == INTERRUPTED:
        return 130
    if view.finding_count() or view.errors or view.quarantined:
        return 1
    return 0 if view.cases or _is_all_skipped(view) else CANNOT


def _is_all_skipped(view: RunView) -> bool:
    """Whether nothing can be wrong with a request to any operation, where only wrong ones are wanted: no fault of anybody's."""
    skipped = {note.label for note in view.notes.get(UNBROKEN, {}).values()}
    return view.opened is not None and 0 < view.opened.selected <= len(skipped)


def nothing_tested(view: RunView, ending: Ending) -> str:
    """Why a run without an error still has nothing to say."""
    if view.opened is not None and not view.opened.selected:
        return "nothing was tested: no operation is selected"
    if ending.outcome == TIME_LIMIT:
        return "nothing was tested: no case was finished before the time was over"
    return "nothing was tested: no case was finished"


def note_of_cut(view: RunView, cut: Cut, elapsed_s: float) -> Note | None:
    """What to tell of an operation that had its share of the time: how far it came, or that it never answered.

    The latter is no error: nobody waited for as long as the settings allow. Of one that has an error that is enough.
    """
    if any(error.label == cut.label for error in view.errors.values()):
        return None
    if any(status for status in view.statuses.get(cut.label, ())):
        text = (
            f"{cut.done} of {cut.cases} cases in {cut.spent_s:.1f} s of the run's {elapsed_s:.0f} s"
        )
        return Note("slow", cut.label, "", text)
    cases = "its one case" if cut.done == 1 else f"{cut.done} cases"
    text = (
        f"no answer to {cases} in {cut.spent_s:.1f} s; alone (`--include-name`) it has all the time"
    )
    return Note("unanswered", cut.label, "", text)
