"""Checks from the command line to the report: what is planted is found, and nothing else."""

from collections.abc import Iterator

import pytest

from tests.apps.refusing import DOCUMENT, Shop
from tests.apps.serving import App, serving
from tests.e2e.runner import Command

ENOUGH = ("--phases", "fuzzing", "-n", "200")
REFUSED = ("POST /orders", "positive_data_acceptance")


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.fixture
def app(shop: Shop) -> Iterator[App]:
    with serving(shop, DOCUMENT) as running:
        yield running


def test_valid_data_that_is_refused_is_found_and_nothing_else(command: Command, app: App, shop: Shop) -> None:
    ran = command.run(app.document_url, *ENOUGH, inline=True)
    assert (ran.code, ran.defects) == (1, [REFUSED]), ran.shown
    (finding,) = ran.findings
    assert finding.title == "API rejected schema-compliant request"
    assert finding.unique_key == "400"
    assert (finding.investigation.stage, finding.investigation.reproduced) == ("minimised", True)
    assert '{"amount":901}' in finding.investigation.reproduction
    # Parameters that nobody declared were sent, and refused.
    assert shop.refused_extras > 0


@pytest.mark.thorough
def test_nothing_is_found_in_the_fixed_twin(command: Command, shop: Shop, app: App) -> None:
    shop.is_planted = False
    ran = command.run(app.document_url, *ENOUGH, inline=True)
    assert (ran.code, ran.defects) == (0, []), ran.shown
    assert "unjudged" not in ran.view.notes


@pytest.mark.parametrize("switched", ["enabled = false", "expected-statuses = ['2XX', 400]"])
@pytest.mark.thorough_beyond(1)
def test_what_the_configuration_says_of_a_check_counts(command: Command, app: App, switched: str) -> None:
    text = f"[checks.positive_data_acceptance]\n{switched}\n"
    (command.directory / "checker.toml").write_text(text)
    ran = command.run(app.document_url, *ENOUGH, inline=True)
    assert (ran.code, ran.defects) == (0, []), ran.shown


def test_what_nobody_can_prove_is_counted_and_not_reported(command: Command, app: App) -> None:
    chosen = ("--include-path", "/levels", "-H", "X-Level: none")
    ran = command.run(app.document_url, "--phases", "fuzzing", *chosen, inline=True)
    assert (ran.code, ran.defects) == (0, []), ran.shown
    (note,) = ran.view.notes["unjudged"].values()
    assert note.text == ("a request was refused with 400, and header X-Level is not valid as sent (type)")
    assert "could not be judged" in ran.stdout


ANONYMOUS = """
import checker

@checker.check(statuses=["2XX"])
def needs_credentials(context, response, case):
    answer = yield context.make(case, with_credentials=False)
    assert answer.status_code in (401, 403), f"{case.path} answers anybody"
"""


def test_a_check_may_ask_without_the_credentials_of_the_user(command: Command, app: App) -> None:
    (command.directory / "hooks.py").write_text(ANONYMOUS)
    (command.directory / "checker.toml").write_text('hooks = "hooks.py"\n')
    headers = ("-H", "Authorization: Bearer mine", "-H", "X-Tenant: 7")
    ran = command.run(app.document_url, "--include-path", "/items", "-n", "5", *headers)
    assert ran.defects == [("GET /items", "needs_credentials")], ran.shown
    assert {request.headers.get("authorization") for request in app.seen} == {None, "Bearer mine"}
    assert {request.headers.get("x-tenant") for request in app.seen} == {"7"}


@pytest.mark.parametrize(("limit", "count"), [("0.000001", 2), ("1000", 0)])
def test_an_answer_that_takes_longer_than_it_may_is_found(command: Command, app: App, limit: str, count: int) -> None:
    names = ("--include-path", "/items", "--include-path", "/levels", "-n", "5")
    ran = command.run(app.document_url, *names, "--max-response-time", limit, inline=True)
    found = [finding for finding in ran.findings if finding.check == "max_response_time"]
    assert len(found) == len(ran.findings) == count, ran.shown
    for finding in found:
        assert (finding.title, finding.severity) == ("Response time limit exceeded", "low")
        assert finding.message.endswith("ms\nLimit: 0.00ms")
