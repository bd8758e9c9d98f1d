"""The printed text of each failure shows it on a fresh server, and no longer once the defect is mended."""

import urllib.request
from pathlib import Path

import pytest

from tests.apps.bank import bank
from tests.apps.depot import depot
from tests.apps.restartable import Restartable
from tests.e2e.reproducing import by_bash, by_printed_text, by_pytest, environment, prepare, printed, recorded, texts_of
from tests.e2e.runner import Command

SMALL = (
    "-n",
    "20",
    "--include-path-regex",
    "^/(suppliers|orders|sites|sites/.site_id.)$",
    "--phases",
    "coverage,stateful",
)


def test_the_token_of_a_scheme_is_printed(tmp_path: Path) -> None:
    with depot().serving() as service:
        prepare(tmp_path, service)
        given = ("openapi.json", "--url", service.url)
        printed = Command(tmp_path).here("auth", "token", "Bearer", *given)
        asked = urllib.request.Request(
            f"{service.url}/sites", headers={"Authorization": f"Bearer {printed.stdout.strip()}"}
        )
        with urllib.request.urlopen(asked) as answer:
            assert answer.status == 200
        unknown = Command(tmp_path).here("auth", "token", "Other", *given)
    assert (unknown.code, "it declares: Bearer" in unknown.stderr) == (2, True)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("service", "arguments", "least"),
    [
        (depot(), SMALL, 5),
        (
            bank(),
            (
                "-n",
                "20",
                "--phases",
                "coverage,stateful",
                "--include-path-regex",
                "^/(accounts|branches)(?!.*transfers)",
            ),
            8,
        ),
        (depot(), ("-n", "40", "--seed", "2"), 20),
        (bank(), ("-n", "40"), 17),
    ],
    ids=["some of the depot", "some of the bank", "depot", "bank"],
)
def test_printed_failures_reproduce_on_a_fresh_server(
    service: Restartable, arguments: tuple[str, ...], least: int, tmp_path: Path
) -> None:
    with service.serving():
        ran = recorded(tmp_path, service, *arguments)
        assert set(ran.defects) <= {(one.label, one.check) for one in service.defects}, ran.shown
        assert len(ran.defects) >= least, ran.shown
        for name, text in texts_of(tmp_path, ran).items():
            told = [one in text for one in printed(tmp_path).values()]
            # Markdown prints the text of one place of each cause.
            assert all(told) or (name == "markdown" and sum(told) >= text.count("<details><summary>")), name
        shown = dict(by_printed_text(tmp_path, service, ran, service.url))
        tests, scripts = dict(by_pytest(tmp_path, service)), dict(by_bash(tmp_path, service))
        assert len(tests) == len(scripts) == len(shown) == len(ran.defects)
        for outcomes, wanted in ((tests, ("passed", "failed")), (scripts, (1, 0)), (shown, (True, False))):
            others = {name: outcome for name, outcome in outcomes.items() if outcome != wanted}
            assert len(others) <= len(outcomes) // 10, others
        # After a restart.
        environment(service, service.all)
        again = Command(tmp_path).here("replay", "all", "--url", service.url)
        assert (again.code, "FIXED" in again.stdout) == (1, False), again.shown
        environment(service, frozenset())
        mended = Command(tmp_path).here("replay", "all", "--url", service.url)
        assert "FAILED" not in mended.stdout, mended.shown
        # What new resources never showed cannot be proved fixed.
        unproved = mended.stdout.count("it did not show on new resources")
        assert unproved <= 1, mended.shown
        assert mended.stdout.count("FIXED") >= 0.9 * (len(ran.defects) - unproved), mended.shown
