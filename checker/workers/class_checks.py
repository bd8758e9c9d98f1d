"""The state of users' class checks in one worker, and their conclusions at the end of the run."""

import time
from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from checker.checks.custom import AFTER_RUN, ClassCheck, after_run
from checker.core.errors import CheckError
from checker.corpus.codec import Undecodable, pack, unpack
from checker.corpus.journal import Journals
from checker.corpus.layout import RunLayout
from checker.corpus.records import CheckState, Finding, Investigation, OperationError
from checker.health import RUN_CHECKS
from checker.workers.check_states import Untransferable, decoded, encoded
from checker.workers.recording.recorder import title_of

MOST_STATE = 1 << 16  # Packed bytes of one state. Each worker records a changed state whenever a task ends.


class ClassChecks(Struct):
    """The class checks of one worker."""

    checks: tuple[ClassCheck, ...]
    _written: dict[str, CheckState] = field(default_factory=dict)

    @property
    def concludes(self) -> bool:
        """Whether some check has conclusions when the run is over."""
        return any(check.concludes for check in self.checks)

    @property
    def works_alone(self) -> str:
        """Return the name of a check that needs all cases in one worker; empty if there is none."""
        alone = (one.name for one in self.checks if one.concludes and not one.is_mergeable)
        return next(alone, "")

    def news(self) -> Iterator[CheckState]:
        """Return the states that changed since the last call, as records."""
        for check in self.checks:
            if check.concludes:
                try:
                    packed = pack(encoded(check.state(), "state()" if check.is_mergeable else ""))
                except (CheckError, Untransferable) as error:
                    record = CheckState(check.name, b"", str(error))
                else:
                    record = CheckState(check.name, packed)
                    if len(packed) > MOST_STATE:
                        lost = f"it has {len(packed)} bytes; at most {MOST_STATE} are kept"
                        record = CheckState(check.name, b"", lost)
                if record != self._written.get(check.name):
                    self._written[check.name] = record
                    yield record

    def conclusion(self, kept: Iterable[tuple[int, CheckState]]) -> Iterator[Finding | OperationError]:
        """Yield the conclusions from the states of all workers: (incarnation, state) pairs in the order of their records."""
        latest: dict[str, dict[int, CheckState]] = {}
        for incarnation, record in kept:
            latest.setdefault(record.check, {})[incarnation] = record
        for check in self.checks:
            if check.concludes:
                states = latest.get(check.name, {})
                yield from _concluded(check, [states[number] for number in sorted(states)])


def states_in(layout: RunLayout, first: int) -> list[tuple[int, CheckState]]:
    """(incarnation, state) pairs of the run that the incarnation `first` began."""
    pairs = Journals(layout, above=first, kinds=(CheckState,)).read_new()
    return [(incarnation, record) for incarnation, record in pairs if isinstance(record, CheckState)]


def _concluded(check: ClassCheck, states: list[CheckState]) -> Iterator[Finding | OperationError]:
    lost = next((state.lost for state in states if state.lost), "")
    if lost:
        yield _error(check, f"its state is lost, so `after_run` was not called: {lost}")
        return
    if len(states) > 1 and not check.is_mergeable:
        yield _error(
            check,
            f"it has no `merge`, and {len(states)} workers had a part of the run, since one was replaced: "
            "`after_run` was not called",
        )
        return
    try:
        for state in states:
            check.absorb(unpack(state.state, decoded))
        failures = after_run(check)
    except Undecodable as error:
        yield _error(check, f"its state cannot be read, so `after_run` was not called: {error}")
        return
    except CheckError as error:
        title, trace = title_of(error)
        yield OperationError(RUN_CHECKS, "", title, str(error), trace)
        return
    for number, failure in enumerate(failures):
        yield Finding.of(
            failure,
            RUN_CHECKS,
            phase="",
            case="",
            task=AFTER_RUN,
            index=number,
            steps=(),
            interactions=(),
            investigation=Investigation(stage="minimised"),
            at=time.time(),
        )


def _error(check: ClassCheck, reason: str) -> OperationError:
    return OperationError(RUN_CHECKS, "", "Check Error", f"check {check.name}: {reason}")
