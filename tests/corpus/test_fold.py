import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.corpus.fold import RunView, fold
from checker.corpus.records import Record
from tests.reporting.samples import changed, progress

from .generated import RECORDS, exact, finding

STREAMS = st.lists(st.lists(RECORDS, max_size=6), min_size=1, max_size=3)


def interleaved(streams: list[list[Record]], rng: random.Random) -> list[tuple[int, Record]]:
    waiting = [(number, list(stream)) for number, stream in enumerate(streams, 1)]
    found = []
    while waiting := [pair for pair in waiting if pair[1]]:
        number, stream = rng.choice(waiting)
        found.append((number, stream.pop(0)))
    return found


def shown(view: RunView) -> str:
    return exact(
        (
            list(view.findings.items()),
            sorted(view.errors.items(), key=exact),
            sorted(view.notes),
            sorted((name, sorted(p.tested), sorted(p.failed)) for name, p in view.phases.items()),
            sorted((task, t.next_index, t.finished) for task, t in view.tasks.items()),
            (view.counts.cases, view.counts.requests, view.counts.failed_cases, view.ledger),
            sorted((label, sorted(counts.items())) for label, counts in view.statuses.items()),
            view.opened,
        )
    )


@given(STREAMS, st.randoms(use_true_random=False))
@pytest.mark.thorough
def test_any_interleaving_of_incarnations_shows_the_same(streams: list[list[Record]], rng: random.Random) -> None:
    in_turn = [(n, record) for n, stream in enumerate(streams, 1) for record in stream]
    assert shown(fold(interleaved(streams, rng))) == shown(fold(in_turn))


def test_the_minimised_version_wins_whenever_it_comes() -> None:
    late, best = finding(at=9.0), finding(at=2.0, stage="minimised")
    for order in ([late, best], [best, late]):
        assert fold([(1, order[0]), (2, order[1])]).findings == {"f1": best}


def test_finished_tasks_are_forgotten_with_their_counts_kept() -> None:
    view = fold([(1, progress(task=name, finished=name == "done")) for name in ("begun", "done")])
    counts = (view.counts.cases, view.statuses)
    for name in ("begun", "done"):
        view.forget_finished(name)
    assert view.tasks.keys() == {"begun"}
    assert (view.counts.cases, view.statuses) == counts


def test_what_has_yet_to_happen_again_counts_as_nothing_until_it_does() -> None:
    first = changed(finding(), withdrawn=True)
    waiting = fold([(1, first)])
    assert (waiting.findings, waiting.finding_count()) == ({}, 0)
    assert not waiting.phases["fuzzing"].failed
    best = finding(at=2.0, stage="minimised")
    assert fold([(1, first), (1, best)]).findings == {"f1": best}


def test_what_one_worker_withdraws_hides_nothing_that_another_has_confirmed() -> None:
    confirmed = finding(at=2.0, stage="minimised")
    gone = changed(finding(at=3.0, stage="minimised"), withdrawn=True, phase="stateful")
    for order in ([confirmed, gone], [gone, confirmed]):
        view = fold([(1, order[0]), (2, order[1])])
        assert view.findings == view.settled == {"f1": confirmed}
        assert {name for name, phase in view.phases.items() if phase.failed} == {confirmed.phase}


def test_of_one_stage_the_later_version_wins() -> None:
    assert fold([(1, finding(at=2.0)), (2, finding(at=1.0))]).findings["f1"].at == 2.0


def test_findings_keep_the_order_in_which_they_were_first_seen() -> None:
    records = [finding("f2", at=1.0), finding("f1", at=2.0), finding("f2", at=3.0)]
    assert list(fold((1, record) for record in records).findings) == ["f2", "f1"]


@given(STREAMS)
@pytest.mark.thorough
def test_findings_of_a_journal_read_twice_are_the_same(streams: list[list[Record]]) -> None:
    once = [(n, record) for n, stream in enumerate(streams, 1) for record in stream]
    assert exact(fold(once + once).findings) == exact(fold(once).findings)
