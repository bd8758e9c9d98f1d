import io
from typing import Any

import pytest

from checker.corpus.records import WorkerGone
from checker.reporting.live import RunProgress, Screen, clock_text
from checker.reporting.live_lines import LiveLines

from .samples import ORDERS, USERS, changed, finding, opened, records
from .samples import progress as sample


def drawn(progress: RunProgress, *, encoding: str = "utf-8", loading: str = "") -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    screen = Screen(stream)
    lines = LiveLines(screen, progress, loading=loading, clock=lambda: 72.0)
    if not loading:
        lines.opened()
    screen.rich.print(lines.renderable())
    stream.flush()
    return raw.getvalue().decode(encoding)


def followed(**known: Any) -> RunProgress:
    progress = RunProgress(started=0.0, **known)
    for record in records():
        progress.follow(1, record, 70.0)
    return progress


def test_live_lines_tell_elapsed_share_rates_and_findings() -> None:
    text = drawn(followed(tasks=8))
    assert "1:12" in text
    assert "25%, about 3:36 left" in text
    assert "120 cases  27 requests/s  1 worker  2xx 110  5xx 10" in text
    assert "3 unique failures, the last 0:02 ago" in text
    assert f"slowest: {USERS} (0:01)" in text


def test_time_limit_shows_what_is_left() -> None:
    assert "0:28 left" in drawn(followed(max_time_s=100.0))


def test_an_operation_is_done_once_for_each_phase() -> None:
    progress = RunProgress(started=0.0, tasks=4)
    for task, phase, is_over in (("t1", "examples", True), ("t2", "coverage", False), ("t2", "coverage", True)):
        progress.follow(1, sample(task=task, phase=phase, finished=is_over), 1.0)
    assert (progress.left(30.0), progress.busy()) == ("50%, about 0:30 left", {})


def test_tasks_of_an_earlier_process_count_for_no_rate_and_do_not_run() -> None:
    progress = RunProgress(started=0.0, began_at=100.0)
    for at, task in ((90.0, "t1"), (110.0, "t2")):
        progress.follow(1, sample(task=task, requests=10, finished=False, at=at), 1.0)
    assert (progress.rate(2.0), list(progress.view.tasks)) == (5.0, ["t2"])


def test_what_is_left_is_not_guessed_at_the_beginning() -> None:
    progress = RunProgress(started=0.0, tasks=100)
    progress.follow(1, sample(), 1.0)
    assert progress.left(1.0) == "1%"
    assert RunProgress(started=0.0).left(1.0) == ""


def test_running_operations_are_named() -> None:
    progress = RunProgress(started=0.0)
    for record in (opened(), sample(task="t1", finished=False), sample(task="t2", labels=(ORDERS,))):
        progress.follow(1, record, 1.0)
    assert f"  fuzzing: {USERS}\n" in drawn(progress)


def test_workers_are_those_that_live() -> None:
    progress = RunProgress(started=0.0)
    assert "requests/s  starting workers" in drawn(progress)
    for incarnation in (1, 2, 3):
        progress.follow(incarnation, opened(), 1.0)
    assert "requests/s  3 workers" in drawn(progress)
    progress.follow(9, WorkerGone(2, "killed by SIGKILL"), 2.0)
    assert "requests/s  2 workers" in drawn(progress)


def test_what_is_read_is_shown_until_it_is_there() -> None:
    text = drawn(RunProgress(started=0.0), loading="  Fetching http://a/openapi.json")
    clock, line = text.splitlines()
    assert clock.split()[1:] == ["1:12"]
    assert line.rstrip() == "  Fetching http://a/openapi.json"


def test_live_lines_fit_a_stream_without_unicode() -> None:
    assert "[fail]" in drawn(followed(), encoding="ascii")


def test_finding_counts_once() -> None:
    progress = RunProgress(started=0.0)
    assert progress.follow(1, finding(stage="found"), 1.0)
    assert not progress.follow(1, finding(), 2.0)
    assert not progress.follow(2, changed(finding(), task="t9"), 3.0)
    assert progress.last_found == 1.0


def test_rate_forgets_what_is_long_ago() -> None:
    progress = followed()
    assert progress.rate(72.0) > 0
    assert progress.rate(80.0) == 0


@pytest.mark.parametrize(("seconds", "text"), [(-1, "0:00"), (7.9, "0:07"), (750, "12:30"), (3723, "1:02:03")])
def test_clock_text_is_short(seconds: float, text: str) -> None:
    assert clock_text(seconds) == text
