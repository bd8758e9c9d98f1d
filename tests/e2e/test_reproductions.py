"""The printed text of each failure shows it on a fresh server, and no longer once the defect is mended."""

import json
import urllib.request
from pathlib import Path

import pytest

from tests.apps.depot import ALL, DEFECTS, DOCUMENT, serving_depot
from tests.e2e.reproducing import LOGIN, by_bash, by_printed_text, by_pytest, environment, printed, recorded, texts_of
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
    (tmp_path / "openapi.json").write_text(json.dumps(DOCUMENT))
    (tmp_path / "checker.toml").write_text(LOGIN)
    with serving_depot() as depot:
        given = ("openapi.json", "--url", depot.url)
        printed = Command(tmp_path).here("auth", "token", "Bearer", *given)
        asked = urllib.request.Request(
            f"{depot.url}/sites", headers={"Authorization": f"Bearer {printed.stdout.strip()}"}
        )
        with urllib.request.urlopen(asked) as answer:
            assert answer.status == 200
        unknown = Command(tmp_path).here("auth", "token", "Other", *given)
    assert (unknown.code, "it declares: Bearer" in unknown.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "least"), [(SMALL, 5), pytest.param(("-n", "40"), 20, marks=pytest.mark.thorough)]
)
def test_printed_failures_reproduce_on_a_fresh_server(arguments: tuple[str, ...], least: int, tmp_path: Path) -> None:
    with serving_depot() as depot:
        ran = recorded(tmp_path, depot, *arguments)
        defects = {(one.label, one.check) for one in DEFECTS}
        assert set(ran.defects) <= defects, ran.shown
        assert len(ran.defects) >= least, ran.shown
        for name, text in texts_of(tmp_path, ran).items():
            assert all(one in text for one in printed(tmp_path).values()), name
        shown = dict(by_printed_text(tmp_path, depot, ran, depot.url))
        tests, scripts = dict(by_pytest(tmp_path, depot)), dict(by_bash(tmp_path, depot))
        assert len(tests) == len(scripts) == len(shown) == len(ran.defects)
        for outcomes, wanted in ((tests, ("passed", "failed")), (scripts, (1, 0)), (shown, (True, False))):
            others = {name: outcome for name, outcome in outcomes.items() if outcome != wanted}
            assert len(others) <= len(outcomes) // 10, others
        # After a restart.
        environment(depot, ALL)
        again = Command(tmp_path).here("replay", "all", "--url", depot.url)
        assert (again.code, "FIXED" in again.stdout) == (1, False), again.shown
        environment(depot, frozenset())
        mended = Command(tmp_path).here("replay", "all", "--url", depot.url)
        assert "FAILED" not in mended.stdout, mended.shown
        assert mended.stdout.count("FIXED") >= 0.9 * len(ran.defects), mended.shown
