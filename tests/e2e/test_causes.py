"""One mistake is told once, with all its places, whoever finds it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.apps.serving import App, serving
from tests.apps.sloppy import DOCUMENT, NAMES, answer
from tests.e2e.runner import Command, Ran

RUNS = ((1, 1), (2, 4))
"""(seed, workers)."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Ran]]:
    with serving(answer, DOCUMENT) as app:
        yield [sloppy_run(app, tmp_path_factory.mktemp("run"), seed=seed, workers=workers) for seed, workers in RUNS]


def sloppy_run(app: App, folder: Path, *, seed: int, workers: int) -> Ran:
    """A run that sends every listed case, each operation all of its own."""
    return Command(folder).run(
        *(app.document_url, "--phases", "coverage", "--mode", "all", "--no-shrink"),
        *("--report", "json,markdown", "--report-dir", "out"),
        *("--continue-on-failure", "--exclude-checks", "positive_data_acceptance"),
        seed=seed,
        workers=workers,
    )


def verdict(ran: Ran) -> dict[str, Any]:
    (path,) = (ran.directory / "out").glob("*.json")
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def places(told: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """(fingerprint, fingerprints of its places) of each cause, in the order of the report."""
    return [(one["fingerprint"], [place["fingerprint"] for place in one["places"]]) for one in told["causes"]]


def test_each_of_twelve_mistakes_is_one_cause(runs: list[Ran]) -> None:
    told = verdict(runs[0])
    causes = [(one["code"], len(one["places"])) for one in told["causes"]]
    everywhere, most = len(NAMES), len(NAMES) - 1
    assert sorted(causes) == [
        ("ST101", 1),
        ("ST101", everywhere),
        ("ST103", everywhere),
        ("ST105", everywhere),
        ("ST106", everywhere),
        ("ST107", most),
        ("ST108", most),
        ("ST108", most),
        ("ST201", 1),
        ("ST204", everywhere),
        ("ST204", everywhere),
        ("ST205", 1),
    ]
    assert sum(count for _, count in causes) == 144
    assert causes[-1][0] == "ST103", "what is not described comes after what is broken"


def test_each_place_keeps_its_failure(runs: list[Ran]) -> None:
    told = verdict(runs[0])
    shown = {
        (cause["fingerprint"], place["operation"], place["fingerprint"], place["case_id"])
        for cause in told["causes"]
        for place in cause["places"]
    }
    assert shown == {(one["cause"], one["operation"], one["fingerprint"], one["case_id"]) for one in told["failures"]}
    assert len(shown) == len(told["failures"])


def test_causes_are_the_same_for_all_seeds_and_workers(runs: list[Ran]) -> None:
    found = [places(verdict(ran)) for ran in runs]
    assert all(one == found[0] for one in found)


def test_people_are_shown_each_cause_once(runs: list[Ran]) -> None:
    text = runs[0].stdout
    # One answer shows three of them: they share a command.
    assert text.count("1. Test Case ID: ") == 10
    assert text.count("Reproduce with:") == 10
    assert f"GET /birches and {len(NAMES) - 2} more operations" in text
    assert "12 distinct causes" in text
    last = text.index("- Undocumented HTTP status code")
    assert all(text.index(f"- {one['title']}") <= last for one in verdict(runs[0])["causes"])


def test_reports_for_people_list_the_places(runs: list[Ran]) -> None:
    (path,) = (runs[0].directory / "out").glob("*.md")
    text = path.read_text()
    assert text.count("<details>") == 12
    assert text.count(f"In {len(NAMES)} operations:") == 6
