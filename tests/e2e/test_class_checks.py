"""Class checks: one state over all workers, and the last word when the run is over."""

from collections.abc import Iterator

import pytest

from tests.apps.refusing import DOCUMENT, Shop
from tests.apps.serving import App, serving
from tests.e2e.runner import Command, Ran

CHOSEN = ("--phases", "fuzzing", "--include-path", "/items", "--include-path", "/levels")
TOTAL = 2 * 100

MERGED = """
import checker

@checker.check
class Counted:
    def __init__(self, *, most: int = 10):
        self.most = most
        self.seen = {}

    def after_response(self, context, response, case):
        self.seen[case.path] = self.seen.get(case.path, 0) + 1

    def state(self):
        return self.seen

    def merge(self, state):
        for path, count in state.items():
            self.seen[path] = self.seen.get(path, 0) + count

    def after_run(self, context):
        assert context.config == {"most": self.most}
        total = sum(self.seen.values())
        if total > self.most:
            raise checker.errors.Failure(
                f"{sorted(self.seen)}: {total}", title="Too many", unique_key="many"
            )
"""
ALONE = """
import checker

@checker.check
class Alone:
    def __init__(self):
        self.count = 0

    def after_response(self, context, response, case):
        self.count += 1

    def after_run(self, context):
        assert self.count == 0, f"seen: {self.count}"
"""


SETS = """
import checker

@checker.check
class EveryOperationWorks:
    def __init__(self):
        self.asked, self.worked = set(), set()

    def after_response(self, context, response, case):
        self.asked.add(case.operation.label)
        if response.status_code < 300:
            self.worked.add(case.operation.label)

    def after_run(self, context):
        assert not self.asked - self.worked - {"none"}, "left"
        raise AssertionError(f"worked: {sorted(self.worked & self.asked)}")
"""


@pytest.fixture
def app() -> Iterator[App]:
    with serving(Shop(), DOCUMENT) as running:
        yield running


def ran_with(command: Command, app: App, module: str, table: str = "", *options: str) -> Ran:
    (command.directory / "hooks.py").write_text(module)
    (command.directory / "checker.toml").write_text(f'hooks = "hooks.py"\n{table}')
    return command.run(app.document_url, *CHOSEN, *options, workers=4)


def test_what_all_workers_saw_is_put_together(command: Command, app: App) -> None:
    ran = ran_with(command, app, MERGED, "[checks.Counted]\nmost = 150\n")
    assert (ran.code, ran.defects) == (1, [("Run checks", "Counted")]), ran.shown
    (finding,) = ran.findings
    assert (finding.title, finding.message) == ("Too many", f"['/items', '/levels']: {TOTAL}")
    block = f"1. Whole run\n\n- Too many\n\n    ['/items', '/levels']: {TOTAL}\n"
    assert block in ran.stdout
    assert "[no response]" not in ran.stdout
    assert {label for phase in ran.view.phases.values() for label in phase.tested} == {"GET /items", "GET /levels"}
    again = command.here("replay")
    assert again.code == 2
    assert "it is about the whole run, not about one request; run the tests again" in again.stdout, again.shown


@pytest.mark.thorough
def test_a_run_that_gives_no_reason_passes(command: Command, app: App) -> None:
    ran = ran_with(command, app, MERGED, f"[checks.Counted]\nmost = {TOTAL}\n")
    assert (ran.code, ran.defects) == (0, []), ran.shown


@pytest.mark.thorough
def test_a_check_that_cannot_be_merged_sees_all_in_one_worker(command: Command, app: App) -> None:
    ran = ran_with(command, app, ALONE)
    assert (ran.code, ran.defects) == (1, [("Run checks", "Alone")]), ran.shown
    assert ran.findings[0].message.startswith(f"seen: {TOTAL}")
    assert "limiting the run to one worker" in ran.stdout


WRONG = {
    "[checks.Counted]\nleast = 1\n": "[checks.Counted] has no option 'least'; it has 'enabled', 'most'",
    "[checks.small]\nmost = 1\n": "[checks.small] has no option 'most'; it has 'enabled'",
}
SMALL = MERGED + "\n@checker.check\ndef small(context, response, case): pass\n"


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("table", WRONG)
def test_settings_that_nothing_takes_are_refused(command: Command, app: App, table: str) -> None:
    ran = ran_with(command, app, SMALL, table)
    assert ran.code == 2
    assert WRONG[table] in ran.stderr, ran.shown


@pytest.mark.thorough
def test_a_state_that_is_too_large_is_an_error_of_the_run(command: Command, app: App) -> None:
    large = MERGED.replace("return self.seen", "return 'x' * 100_000")
    ran = ran_with(command, app, large)
    assert ran.code == 1
    (error,) = ran.view.errors.values()
    assert (error.label, error.title) == ("Run checks", "Check Error")
    assert "its state is lost, so `after_run` was not called" in error.message
    assert "100005 bytes; at most 65536 are kept" in error.message


@pytest.mark.thorough
def test_a_class_that_kills_its_worker_at_the_end_costs_its_own_word_only(command: Command, app: App) -> None:
    deadly = MERGED.replace("total = sum", "import os; os._exit(7); total = sum")
    ran = ran_with(command, app, deadly, "[checks.Counted]\nmost = 1\n")
    assert ran.code == 1, ran.shown
    (error,) = ran.view.errors.values()
    assert "`after_run` of the checks did not finish" in error.message
    assert ran.view.counts.cases == TOTAL


@pytest.mark.thorough
def test_fuzz_has_a_last_word_too_when_it_ends_by_itself(command: Command, app: App) -> None:
    (command.directory / "hooks.py").write_text(MERGED)
    text = 'hooks = "hooks.py"\n[checks.Counted]\nmost = 0\n'
    (command.directory / "checker.toml").write_text(text)
    ran = command.here("fuzz", app.document_url, "--mode", "positive", "--seed", "1", "--workers", "2")
    found = [("POST /orders", "positive_data_acceptance"), ("Run checks", "Counted")]
    assert (ran.code, ran.defects) == (1, found), ran.shown


def test_an_interrupted_run_has_none(command: Command, app: App) -> None:
    (command.directory / "hooks.py").write_text(MERGED)
    (command.directory / "checker.toml").write_text('hooks = "hooks.py"\n')
    arguments = ("fuzz", app.document_url, "--mode", "positive", "--include-path", "/levels", "--workers", "2")
    ran = command.until(lambda: len(app.seen) > 20, *arguments)
    assert (ran.code, ran.defects) == (130, []), ran.shown
    assert "Run checks" not in ran.stdout


@pytest.mark.thorough
def test_a_state_of_sets_reaches_the_end_of_the_run(command: Command, app: App) -> None:
    (command.directory / "mine.py").write_text(SETS)
    (command.directory / "checker.toml").write_text('hooks = "mine.py"\n')
    ran = command.run(app.document_url, "--checks", "EveryOperationWorks", *CHOSEN)
    (finding,) = ran.findings
    assert finding.label == "Run checks", ran.shown
    assert finding.message.startswith(("worked: ['GET /items", "left")), ran.shown
