"""What is left of the requests for shrinks goes to the worst findings, and never beyond the share."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from checker.core.meta import Drawn, Step
from checker.core.operation import Label
from checker.corpus.records import Finding
from checker.supervisor.run_plan import RunPlan
from checker.supervisor.shrink_plan import AROUND, FEWEST, MOST, ShrinkPlan, next_plan, shrink_tasks
from checker.workers.messages import KNOWN_PLACES, OperationCard
from tests.corpus.generated import finding
from tests.reporting.samples import changed

ENDING = OperationCard("POST /shutdown", "POST", ("shutdown",), is_ending=True)
CARDS = (OperationCard("GET /a", "GET", ("a",)), ENDING)
PLAN = RunPlan(CARDS, seed=1, max_examples=3)
STEP = Step(Label("GET /a"), Drawn((1,)), ())


def unfinished(name: str, **changes: object) -> Any:
    known = changed(finding(name, stage="minimised"), steps=(STEP,), wants_more=True, requests=10)
    return changed(known, **changes)


def allowed(findings: list[Finding], cases: int) -> dict[str, int]:
    tasks = shrink_tasks(findings, cases=cases, share=0.2)
    return {again.fingerprint: again.allowed for task in tasks for again in task.again}


def test_all_that_is_left_goes_to_the_only_one() -> None:
    assert allowed([unfinished("f")], cases=800) == {"f": 176}
    assert allowed([unfinished("f")], cases=100_000) == {"f": MOST}


def test_nothing_goes_to_those_that_are_as_small_as_they_become() -> None:
    small = unfinished("f", wants_more=False)
    other_sight = unfinished("g", same_as="f")
    assert shrink_tasks([small, other_sight], cases=800, share=0.2) == []


def test_severity_and_novelty_weigh() -> None:
    findings = [
        unfinished("low", severity="low", check="c1", label="GET /a"),
        unfinished("first", check="c2", label="GET /b"),
        unfinished("again", check="c2", label="GET /c"),
    ]
    found = allowed(findings, cases=1000)
    assert found["first"] > found["again"] > found["low"] > 0


def test_where_little_is_left_the_worst_have_what_is_of_any_use() -> None:
    many = [unfinished(f"f{n}", severity=one, requests=1) for n, one in enumerate(["low"] * 5 + ["critical"])]
    # 57 requests are left.
    assert allowed(many, cases=268) == {"f5": 18, "f0": 7, "f1": 5, "f2": 5}


def test_a_second_round_has_tasks_of_its_own() -> None:
    (first,) = shrink_tasks([unfinished("f")], cases=800, share=0.2)
    (second,) = shrink_tasks([unfinished("f", requests=30)], cases=800, share=0.2)
    assert first.id != second.id


FINDINGS = st.lists(
    st.builds(
        unfinished,
        st.sampled_from([f"f{number}" for number in range(20)]),
        severity=st.sampled_from(["critical", "high", "medium", "low"]),
        label=st.sampled_from(["GET /a", "GET /b"]),
        requests=st.integers(0, 200),
        wants_more=st.booleans(),
    ),
    unique_by=lambda one: one.fingerprint,
    max_size=12,
)


@given(FINDINGS, st.integers(0, 20_000), st.randoms(use_true_random=False))
def test_the_share_is_kept_whatever_the_order(findings: list[Finding], cases: int, rng: "object") -> None:
    found = allowed(findings, cases)
    spent = sum(one.investigation.requests for one in findings) + AROUND * len(found) + sum(found.values())
    assert not found or spent <= max(FEWEST, 0.2 * (cases + spent) + 1)
    shuffled = list(findings)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    assert allowed(shuffled, cases) == found


def test_a_task_of_a_dead_worker_comes_first_and_one_that_came_back_is_over() -> None:
    found = [unfinished("f"), unfinished("g", label="GET /b")]
    plan = ShrinkPlan(shrink_tasks(found, cases=800, share=0.2), PLAN)
    first, second = plan.lease(0.0), plan.lease(0.0)
    assert first is not None
    assert second is not None
    assert plan.lease(0.0) is None
    plan.lose(first)
    assert plan.waiting == 1
    assert plan.lease(0.0) == first
    for task in (first, second):
        plan.come_back(task, task.stop, finished=True, spent_s=0.0)
    assert plan.is_over


def test_failures_are_looked_at_again_before_anything_ends_the_service() -> None:
    plan = RunPlan(CARDS, seed=1, max_examples=3)
    plan.holds_last = True
    task = plan.lease(0.0)
    assert task is not None
    assert task.labels == ("GET /a",)
    plan.come_back(task, task.stop, finished=True, spent_s=0.0)
    assert (plan.is_over, plan.waiting, plan.lease(0.0)) == (True, 0, None)
    looks = next_plan(plan, [unfinished("f")], cases=800, share=0.2)
    assert isinstance(looks, ShrinkPlan)
    assert next_plan(looks, [], cases=800, share=0.2) is plan
    assert plan.release_deferred()
    last = plan.lease(0.0)
    assert last is not None
    assert last.labels == ("POST /shutdown",)
    plan.come_back(last, last.stop, finished=True, spent_s=0.0)
    assert plan.is_over
    assert not plan.release_deferred()


def test_of_one_cause_some_places_have_to_do() -> None:
    places = [unfinished(f"f{n}", label=f"GET /{n}", cause="no one asks for credentials") for n in range(9)]
    others = [unfinished(f"g{n}", label=f"PUT /{n}", cause=f"cause {n}") for n in range(5)]
    wanted = {f"f{n}" for n in range(KNOWN_PLACES)} | {f"g{n}" for n in range(5)}
    assert allowed(places + others, cases=4000).keys() == wanted
    # Those that are small already are some of them.
    small = [changed(one, wants_more=False, reproduced=True) for one in places[4:6]]
    found = allowed(places[:4] + small + places[6:], cases=4000)
    assert found.keys() == {f"f{n}" for n in range(KNOWN_PLACES - 2)}
