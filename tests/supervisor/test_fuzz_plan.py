from msgspec.structs import replace

from checker.core.meta import Drawn, Step
from checker.core.operation import Label
from checker.corpus.fold import RunView
from checker.corpus.records import Finding
from checker.supervisor.fuzz_plan import (
    FIRST_CASES,
    LONGEST_PAUSE,
    MOST_CASES,
    MOST_RECALLED,
    USUAL_CASES,
    FuzzPlan,
    replay_tasks,
)
from checker.supervisor.plans import left
from checker.workers.messages import LeaseReport, OperationReport, Task
from tests.reporting.samples import finding

CLUSTERS = [("GET /a", "POST /a"), ("GET /b",), ("GET /c",)]


def exploration(workers: int = 1, first_round: int = 0) -> FuzzPlan:
    return FuzzPlan(dict.fromkeys(CLUSTERS, ()), seed=1, workers=workers, first_round=first_round)


def leased(plan: FuzzPlan, elapsed_s: float = 0.0, worker: int = 0) -> Task:
    task = plan.lease(elapsed_s, worker)
    assert task is not None
    return task


def test_every_cluster_has_a_turn_before_any_has_a_second() -> None:
    plan = exploration()
    rounds = []
    for turn in range(6):
        task = leased(plan, turn * 30.0)
        rounds.append(task)
        plan.come_back(task, 50, finished=False, spent_s=30.0)
    assert [task.labels for task in rounds[:3]] == CLUSTERS
    assert rounds[4].labels == CLUSTERS[0], "two operations need twice the time"
    assert len({task.seed for task in rounds}) == 6
    assert [task.slice_s for task in rounds] == [10.0] * 3 + [7.5, 7.5, 3.75]
    assert {task.start for task in rounds} == {0}
    assert [task.first.tries_saved for task in rounds] == [True] * 3 + [False] * 3, "failing examples are sent once"


def test_the_first_turns_are_short_and_those_of_a_long_night_long() -> None:
    plan = FuzzPlan({("GET /a", "GET /b"): ()}, seed=1, workers=1)
    stops = []
    for turn in range(1_000):
        task = leased(plan, turn * 30.0)
        stops.append(task.stop)
        plan.come_back(task, task.stop, finished=True, spent_s=30.0, report=LeaseReport(requests=task.stop))
    assert stops[:8] == [2 * min(FIRST_CASES << turn, USUAL_CASES) for turn in range(8)]
    assert stops[32] == 2 * 5 * USUAL_CASES
    assert stops == sorted(stops)
    assert stops[-1] == 2 * MOST_CASES


def test_a_worker_keeps_the_clusters_that_it_had() -> None:
    plan = FuzzPlan({(f"GET /{number}",): () for number in range(6)}, seed=1, workers=2)
    had: dict[int, list[tuple[str, ...]]] = {7: [], 8: []}
    tasks: dict[int, Task] = {}
    for turn in range(24):
        for worker in (7, 8) if turn % 4 else (8, 7):
            if worker in tasks:
                plan.come_back(tasks[worker], 50, finished=False, spent_s=30.0)
            task = plan.lease(turn * 30.0, worker)
            assert task is not None
            tasks[worker] = task
            had[worker].append(task.labels)
    assert [len(set(labels)) for labels in had.values()] == [3, 3]
    assert not set(had[7]) & set(had[8])


def test_what_a_worker_leaves_goes_to_others() -> None:
    plan = exploration()
    first = plan.lease(0.0, 1)
    assert first is not None
    plan.come_back(first, 50, finished=False, spent_s=30.0)
    had: list[tuple[str, ...]] = []
    for turn in range(1, 20):
        task = plan.lease(turn * 30.0, 2)
        assert task is not None
        had.append(task.labels)
        plan.come_back(task, 50, finished=False, spent_s=30.0)
    assert min(map(had.count, CLUSTERS)) >= 4


def test_the_first_round_takes_a_minute_whatever_the_number_of_clusters() -> None:
    many: dict[tuple[str, ...], tuple[str, ...]] = {(f"GET /{number}",): () for number in range(40)}
    assert FuzzPlan(many, seed=1, workers=2).lease(0.0).slice_s == 3.0  # type: ignore[union-attr]


def test_a_short_run_sees_everything_in_a_third_of_its_time() -> None:
    plan = FuzzPlan(dict.fromkeys(CLUSTERS, ()), seed=1, workers=1, time_s=9.0)
    assert [leased(plan).slice_s for _ in CLUSTERS] == [1.5, 0.75, 0.75]


def test_a_cluster_whose_cases_are_answered_at_once_needs_no_rest() -> None:
    plan = FuzzPlan({("GET /a",): ()}, seed=1, workers=1)
    for turn in range(10):
        task = plan.lease(turn * 0.5)
        assert task is not None
        answered = LeaseReport(requests=task.stop)
        plan.come_back(task, task.stop, finished=True, spent_s=0.5, report=answered)


def test_more_workers_than_clusters_all_have_work() -> None:
    plan = exploration(workers=5)
    tasks = [leased(plan) for _ in range(5)]
    assert len({task.id for task in tasks}) == 5


def test_a_cluster_that_is_through_in_no_time_rests_longer_and_longer() -> None:
    plan = FuzzPlan({("GET /a",): ()}, seed=1, workers=1)
    leases, now = 0, 0.0
    while now < 60.0:
        task = plan.lease(now)
        if task is not None:
            leases += 1
            plan.come_back(task, 1, finished=True, spent_s=0.001)
        now += 0.1
    assert leases < 10


def test_a_cluster_that_pauses_its_operations_does_not_rest_for_its_short_turns() -> None:
    plan = FuzzPlan({("GET /a",): ()}, seed=1, workers=1)
    for turn in range(10):
        task = plan.lease(turn * 0.9)
        assert task is not None
        quiet = LeaseReport(requests=task.stop // LONGEST_PAUSE)
        plan.come_back(task, task.stop, finished=True, spent_s=0.9, report=quiet)


def test_operations_with_a_single_case_do_not_keep_a_run_from_being_saturated() -> None:
    plan, now, turns = FuzzPlan({("GET /health",): ()}, seed=1, workers=1), 0.0, 0
    while not plan.is_saturated:
        task = plan.lease(now)
        if task is not None:
            turns += 1
            one = OperationReport("GET /health", 1, is_dead=False)
            plan.come_back(task, 1, finished=True, spent_s=0.001, report=LeaseReport(requests=1, operations=(one,)))
        now += 0.5
    assert turns < 20


def test_a_lost_lease_is_given_out_again_with_its_seed() -> None:
    plan = exploration()
    task = leased(plan)
    plan.lose(replace(task, start=7, redo=(3,)))
    assert leased(plan) == replace(task, start=7, redo=(3,))


def test_a_process_that_goes_on_with_a_run_repeats_none_of_its_tasks() -> None:
    plan = exploration()
    begun = {leased(plan).id for _ in range(4)}
    assert leased(exploration(first_round=1 << 32)).id not in begun
    assert leased(exploration()).id in begun


def test_a_turn_that_had_not_begun_is_leased_again() -> None:
    plan = exploration()
    first, second = leased(plan), leased(plan)
    plan.come_back(second, second.start, finished=False, spent_s=0.0)
    plan.come_back(first, 7, finished=False, spent_s=3.0)
    assert leased(plan) == second
    assert leased(plan).labels == CLUSTERS[2]


def test_a_turn_behind_another_ends_before_operations_that_may_end_the_access() -> None:
    plan = FuzzPlan(dict.fromkeys(CLUSTERS, ()), seed=1, workers=1, last=["POST /logout"], ends_s=12.0, time_s=120.0)
    first, second = leased(plan), leased(plan)
    assert first.slice_s < 12.0
    assert 0 < second.slice_s < 12.0 - first.slice_s
    assert plan.lease(0.0) is None


def test_there_is_no_end_of_exploration() -> None:
    assert not exploration().is_over
    assert FuzzPlan({}, seed=1, workers=1).is_over


def test_something_waits_also_when_a_round_is_over() -> None:
    plan = FuzzPlan({("GET /a",): (), ("GET /b",): ()}, seed=1, workers=1)
    assert [plan.lease(0.0), plan.lease(0.0)].count(None) == 0
    assert plan.waiting == 2


def test_an_operation_that_kills_its_workers_does_not_take_the_turns_of_others() -> None:
    plan = exploration()
    task = leased(plan)
    plan.lose(replace(task, start=9, redo=(8,)), task.slice_s / 2)
    again = leased(plan)
    assert (again.id, again.slice_s) == (task.id, task.slice_s / 2)
    # Its time is over: only what was in flight is tried once more.
    plan.lose(replace(again, start=20, redo=(19,)), again.slice_s)
    last = leased(plan)
    assert (last.id, last.redo, left(last)) == (task.id, (19,), 1)
    plan.come_back(last, last.stop, finished=True, spent_s=0.1)
    assert leased(plan).labels != task.labels


def test_a_lost_lease_without_time_and_cases_in_flight_is_over() -> None:
    plan = exploration()
    task = leased(plan)
    plan.lose(replace(task, start=9), task.slice_s)
    assert leased(plan).id != task.id


def test_operations_that_may_end_access_are_sent_once_each_and_alone_before_the_end() -> None:
    last = ["POST /logout", "POST /reset"]
    plan = FuzzPlan({("GET /a",): ()}, seed=1, workers=2, time_s=100.0, last=last, ends_s=100.0)
    turn = plan.lease(90.0)
    assert turn is not None
    assert turn.labels == ("GET /a",)
    assert turn.slice_s == 8.5
    assert plan.lease(98.5) is None
    assert list(plan.held_back) == last
    plan.come_back(turn, 10, finished=False, spent_s=8.5)
    for label in last:
        task = plan.lease(98.6)
        assert task is not None
        assert (task.labels, task.stop, task.is_last, task.first.tries_saved) == ((label,), 1, True, False)
        assert plan.lease(98.7) is None
        plan.come_back(task, 1, finished=True, spent_s=0.1)
    assert plan.lease(98.8) is None
    assert list(plan.held_back) == []
    assert not plan.is_over


def test_without_an_end_operations_that_may_end_access_are_not_sent() -> None:
    plan = FuzzPlan({("GET /a",): ()}, seed=1, workers=1, last=["POST /logout"])
    turn = plan.lease(10.0**9)
    assert turn is not None
    assert turn.labels == ("GET /a",)
    assert list(plan.held_back) == ["POST /logout"]


def earlier(name: str, severity: str = "low") -> Finding:
    return finding(fingerprint=name, severity=severity, steps=(Step(Label("GET /b"), Drawn(())),))


def with_findings(*findings: Finding) -> FuzzPlan:
    return FuzzPlan(
        dict.fromkeys(CLUSTERS, ()),
        seed=1,
        workers=2,
        time_s=300.0,
        replays=replay_tasks(findings, {"GET /b"}, RunView(), 1),
    )


def replayed(task: Task | None) -> str:
    return "" if task is None or task.replay is None else task.replay.fingerprint


def test_findings_of_earlier_runs_come_first_the_worst_before_others() -> None:
    plan = with_findings(earlier("mild"), earlier("worst", "critical"))
    tasks = [leased(plan, worker=number) for number in (1, 2)]
    assert [replayed(task) for task in tasks] == ["worst", "mild"]
    assert plan.lease(1.0, 3) is None, "no new case begins before the results are there"
    plan.come_back(tasks[0], 0, finished=True, spent_s=0.1)
    plan.lose(tasks[1])
    assert leased(plan, 2.0).labels == CLUSTERS[0], "a replay that killed its worker is over"


def test_findings_that_take_long_take_turns_with_new_cases() -> None:
    plan = with_findings(*(earlier(str(number)) for number in range(4)))
    plan.come_back(leased(plan, 5.0), 0, finished=True, spent_s=30.0)
    assert replayed(leased(plan, 34.9)) == "1"
    kinds = [bool(replayed(leased(plan, 35.1 + turn, worker=1 + turn))) for turn in range(5)]
    assert kinds == [False, True, False, True, False]


def test_a_replay_is_alone_on_its_worker() -> None:
    plan = with_findings(*(earlier(str(number)) for number in range(3)))
    first = leased(plan)
    assert plan.lease(40.0) is None, "a turn could change what the replay finds"
    plan.come_back(first, 0, finished=True, spent_s=0.1)
    turn = leased(plan, 41.0)
    assert not replayed(turn)
    assert plan.lease(42.0) is None, "it is the turn of a replay"
    plan.come_back(turn, 9, finished=True, spent_s=1.0)
    assert replayed(leased(plan, 43.0))


def test_operations_are_saturated_after_many_cases_without_news() -> None:
    plan = exploration()
    for cases in (400, 700):
        task = leased(plan)
        reports = (
            OperationReport("GET /a", cases, is_dead=False),
            OperationReport("POST /a", cases, False, has_news=True),
        )
        plan.come_back(task, 50, finished=False, spent_s=0.1, report=LeaseReport(2 * cases, operations=reports))
        for other in (leased(plan), leased(plan)):
            plan.come_back(other, 50, finished=False, spent_s=600.0)
    assert plan.saturated == ("GET /a",)


def test_the_first_turn_of_a_cluster_begins_with_its_sequences_of_earlier_runs() -> None:
    plan = FuzzPlan({("GET /a",): (), ("GET /b",): ()}, seed=1, workers=1)
    steps = [(Step(Label("GET /b"), Drawn((number,))),) for number in range(2 * MOST_RECALLED)]
    plan.recall(steps)
    turns = [leased(plan) for _ in range(4)]
    assert [turn.first.recalled for turn in turns if turn.labels == ("GET /a",)] == [(), ()]
    assert [turn.first.recalled for turn in turns if turn.labels == ("GET /b",)] == [tuple(steps[:MOST_RECALLED]), ()]
