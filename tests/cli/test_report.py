"""`checker report`: reports of runs that are over, and of runs that were killed."""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from junitparser import JUnitXml

from checker.core.reports import REPORT_FORMATS
from checker.corpus.journal import JournalWriter
from checker.corpus.layout import RunLayout
from checker.corpus.records import OperationsSelected, RunFinished
from tests import cassettes
from tests.reporting.samples import AT, ORDERS, USERS, changed, records, started
from tests.reporting.traffic import Workers

KEPT = 3


def _journal(layout: RunLayout, incarnation: int, found: Iterable[Any]) -> Path:
    path = layout.journal(incarnation, 1000 + incarnation)
    writer = JournalWriter(path)
    for record in found:
        writer.write(record)
        writer.flush()
    writer.close()
    return path


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunLayout:
    """A corpus with an earlier run, and one that nobody finished: its last frame is torn."""
    monkeypatch.chdir(tmp_path)
    workers = Workers(tmp_path / ".checker" / "shop")
    _journal(workers.layout, 1, [changed(started(), run="r0", seed=9)])
    _journal(workers.layout, 2, [records()[0], OperationsSelected((USERS, ORDERS))])
    path = _journal(workers.layout, 3, [one for one in records()[1:] if not _is_end(one)])
    with path.open("ab") as file:
        file.write(b"\x00\x00\x01")
    for number in range(KEPT):
        workers.tell(3, f"c{number}", AT + number)
    workers.close()
    return workers.layout


def _is_end(record: Any) -> bool:
    return isinstance(record, RunFinished)


def test_a_killed_run_has_every_report(invoke, corpus: RunLayout) -> None:
    ran = invoke("report", "shop", "--format", "junit,vcr,json,ndjson,sarif,html", "--report-dir", "out")
    assert ran.exit_code == 0, ran.output
    found = {path.name.partition("-")[0]: path for path in Path("out").iterdir()}
    assert found.keys() == {"junit", "vcr", "json", "ndjson", "sarif", "html"}
    verdict = json.loads(found["json"].read_text())
    assert (verdict["complete"], verdict["stop_reason"], verdict["seed"]) == (False, "killed", 1)
    assert len(verdict["failures"]) == 3
    (suite,) = JUnitXml.fromfile(str(found["junit"]))
    assert {case.name for case in suite} == {USERS, ORDERS, "GET /health"}
    interactions = cassettes.read(found["vcr"].read_text())["http_interactions"]
    assert [one["correlation_id"] for one in interactions] == ["c0", "c1", "c2"]
    events = [json.loads(line) for line in found["ndjson"].read_text().splitlines()]
    assert not any("EngineFinished" in event for event in events)


def test_it_says_how_many_requests_were_kept(invoke, corpus: RunLayout) -> None:
    ran = invoke("report", "shop", "--format", "har", "-o", "a.har")
    assert f"Note: {KEPT} of 135 requests were kept" in ran.stderr
    assert len(json.loads(Path("a.har").read_text())["log"]["entries"]) == KEPT


def test_without_a_format_it_prints_what_the_console_would_have(invoke, corpus: RunLayout) -> None:
    ran = invoke("report")
    assert ran.exit_code == 0
    assert "= FAILURES =" in ran.output
    assert ", not finished after" in ran.output.splitlines()[-1]


def test_a_finished_run_is_told_as_it_ended(invoke, corpus: RunLayout) -> None:
    _journal(corpus, 4, [started(), RunFinished("r1", AT + 2, "completed", 2.0, (0.0,) * 5)])
    ran = invoke("report", str(corpus.root))
    assert ran.output.splitlines()[-1].strip("= ").endswith("in 2.00s")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("other",), "other holds no run; give the folder of one, or its name below .checker"),
        (("shop", "--format", "jnit"), "--format: unknown name 'jnit'. Did you mean 'junit'?"),
        (("shop", "--format", "har,vcr", "-o", "x"), "--output is the path of one report"),
    ],
)
def test_what_is_wrong_is_one_sentence(invoke, corpus: RunLayout, arguments: tuple[str, ...], sentence: str) -> None:
    ran = invoke("report", *arguments)
    assert ran.exit_code == 2
    assert sentence in ran.stderr


def test_of_several_corpora_the_last_one_is_meant(invoke, corpus: RunLayout) -> None:
    RunLayout(corpus.root.parent / "other").create()
    ran = invoke("report")
    assert (ran.exit_code, " SUMMARY " in ran.stdout) == (0, True), ran.output


def modes(folder: Path) -> dict[str, int]:
    """Permissions of each file in a folder and below it, by name."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.stat().st_mode & 0o777 for path in files}


@pytest.fixture
def written(invoke, corpus: RunLayout) -> Iterator[Callable[[str], set[int]]]:
    """The permissions of reports in every format, for the text of a configuration."""
    umask = os.umask(0o022)

    def write(toml: str) -> set[int]:
        Path("checker.toml").write_text(toml)
        formats = ",".join(row.name for row in REPORT_FORMATS.values())
        ran = invoke("report", "shop", "--format", formats, "--report-dir", "out")
        assert ran.exit_code == 0, ran.output
        found = modes(Path("out"))
        assert len(found) > len(REPORT_FORMATS), "Allure writes several files"
        return set(found.values())

    yield write
    os.umask(umask)


def test_masked_reports_follow_the_umask(written: Callable[[str], set[int]]) -> None:
    assert written("") == {0o644}


@pytest.mark.parametrize("toml", ["[output.sanitization]\nenabled = false", "[reports]\npreserve-bytes = true"])
def test_reports_that_may_hold_secrets_are_for_their_owner(written: Callable[[str], set[int]], toml: str) -> None:
    assert written(toml) == {0o600}


@pytest.mark.parametrize("toml", ["", "preserve-bytes = true\n"])
def test_a_key_decides_on_the_permissions(written: Callable[[str], set[int]], toml: str) -> None:
    assert written(f"[reports]\n{toml}mode = '660'") == {0o660}
