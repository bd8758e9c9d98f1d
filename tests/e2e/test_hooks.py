"""Hooks that fail cost what they touch, also while a failure is looked into."""

from checker.demo import Server
from tests.e2e.runner import Command

PICKY = """
import checker

@checker.hook
def map_body(context, body):
    if body["discount_percent"] == 100 and body["nights"] == 1:
        raise ValueError("no discount for a single night")
    return body
"""
FORGETFUL = """
import checker

answers = []

@checker.hook
def after_call(context, case, response):
    answers.append(response.status_code)

@checker.hook
def map_body(context, body):
    if 500 in answers:
        raise ValueError("no more")
    return body
"""


def test_a_candidate_that_a_hook_cannot_bear_is_not_taken(command: Command) -> None:
    (command.directory / "hooks.py").write_text(PICKY)
    (command.directory / "checker.toml").write_text('hooks = "hooks.py"\n')
    with Server() as demo:
        ran = command.run(demo.document_url, *("--phases", "fuzzing", "--include-name", "POST /quotes"), workers=1)
    (finding,) = ran.findings
    assert (ran.code, finding.stage, finding.reproduced) == (1, "minimised", True), ran.shown
    assert finding.shrink_executions > 0
    assert '"nights":2' in finding.reproduction


def test_a_hook_that_fails_when_a_failure_is_confirmed_costs_its_operation_only(command: Command) -> None:
    (command.directory / "hooks.py").write_text(FORGETFUL)
    (command.directory / "checker.toml").write_text('hooks = "hooks.py"\n')
    names = ("--include-name", "POST /quotes", "--include-name", "GET /rooms")
    with Server() as demo:
        ran = command.run(demo.document_url, *names, workers=1)
    assert [finding.label for finding in ran.findings] == ["POST /quotes"], ran.shown
    assert ran.code == 1
    assert "hook map_body raised ValueError: no more" in ran.stdout
    assert {label for phase in ran.view.phases.values() for label in phase.tested} == {"GET /rooms", "POST /quotes"}


def test_an_error_in_a_check_of_a_user_is_told_once_with_the_lines_of_the_user(command: Command) -> None:
    (command.directory / "hooks.py").write_text(
        "import checker\n\n@checker.check\ndef mine(ctx, response, case):\n    return {}['nothing']\n"
    )
    (command.directory / "checker.toml").write_text('hooks = "hooks.py"\n')
    names = ("--include-name", "GET /rooms", "--include-name", "GET /bookings")
    with Server(fixed=True) as demo:
        ran = command.run(demo.document_url, *names, "-n", "5", workers=1)
    assert ran.code == 1, ran.shown
    errors = ran.stdout.partition("ERRORS")[2].partition("SUMMARY")[0]
    assert errors.count("check mine raised KeyError: 'nothing'") == 1, errors
    assert "In 2 operations:\n    - GET /bookings\n    - GET /rooms\n" in errors
    assert "return {}['nothing']" in errors
    assert "custom.py" not in errors


def test_a_check_of_a_user_that_raises_hides_nothing_that_others_found(command: Command) -> None:
    (command.directory / "checker.toml").write_text('hooks = "hooks.py"\n')
    code = "import checker\n\n@checker.check\ndef mine(ctx, response, case):\n    return {}['nothing']\n"
    (command.directory / "hooks.py").write_text(code)
    chosen = ("--include-name", "POST /quotes", "-n", "20", "--seed", "1")
    with Server() as demo:
        ran = command.run(demo.document_url, *chosen, workers=1)
    assert "Server error" in {one.title for one in ran.findings}, ran.shown
    assert "check mine raised KeyError: 'nothing'" in ran.stdout
