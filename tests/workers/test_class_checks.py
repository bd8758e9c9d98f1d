"""What class checks keep, and what becomes of it: by the records alone."""

from collections import Counter

from checker.checks.classes import ClassCheck
from checker.corpus.packing import pack
from checker.corpus.records import CheckState, Finding, OperationError
from checker.workers.class_checks import MOST_STATE, ClassChecks


class Merged:
    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def state(self):
        return dict(self.seen)

    def merge(self, state):
        self.seen.update(state)

    def after_run(self, context):
        raise AssertionError(f"{self.seen.total()}")


class Alone:
    def __init__(self) -> None:
        self.seen: object = 0

    def after_run(self, context):
        assert not self.seen, f"{self.seen}"


def checks(*instances: object) -> ClassChecks:
    return ClassChecks(tuple(ClassCheck(type(one).__name__, one, {}) for one in instances))


def kept(check: str, *states: object) -> list[tuple[int, CheckState]]:
    return [(number, CheckState(check, pack(state))) for number, state in enumerate(states)]


def test_a_state_is_written_when_it_changed() -> None:
    merged = Merged()
    of_worker = checks(merged)
    assert len(list(of_worker.news())) == 1
    assert list(of_worker.news()) == []
    merged.seen["a"] += 1
    assert [one.state for one in of_worker.news()] == [pack({"a": 1})]


def test_the_last_state_of_each_worker_counts_once() -> None:
    states = [*kept("Merged", {"a": 1}, {"a": 2}), *kept("Merged", {"a": 3})]
    (finding,) = checks(Merged()).conclusion(states)
    assert isinstance(finding, Finding)
    assert (finding.label, finding.message.split("\n")[0]) == ("Run checks", "5")


def test_what_cannot_be_merged_is_told_when_a_worker_was_replaced() -> None:
    alone = checks(Alone())
    assert alone.works_alone == "Alone"
    (finding,) = alone.conclusion(kept("Alone", {"seen": 3}))
    assert isinstance(finding, Finding)
    (error,) = checks(Alone()).conclusion(kept("Alone", {"seen": 3}, {"seen": 4}))
    assert isinstance(error, OperationError)
    assert "it has no `merge`, and 2 workers had a part of the run" in error.message


def test_a_state_that_nobody_can_keep_is_lost_and_told() -> None:
    for state, why in (
        (object(), "a object cannot be packed"),
        ("x" * MOST_STATE, "bytes; at most"),
    ):
        alone = Alone()
        alone.seen = state
        (record,) = checks(alone).news()
        assert why in record.lost
        (error,) = checks(Alone()).conclusion([(1, record)])
        assert isinstance(error, OperationError)
        assert "`after_run` was not called" in error.message
