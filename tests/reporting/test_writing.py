"""Reports that are made event by event, from what a run has on disk."""

import json
from pathlib import Path
from typing import Any

import pytest

from checker.reporting.formats.vcr import Cassette
from checker.reporting.writing import RunOnDisk, WrittenReports, write_streams
from tests import cassettes

from .samples import AT, changed, opened, settings, started
from .traffic import Workers


def run_of(workers: Workers, **limits: Any) -> RunOnDisk:
    asked = settings(folder=str(workers.layout.root), **limits)
    return RunOnDisk(asked, 1, changed(started(), seed=7), opened())


def written(path: Path, workers: Workers, **limits: Any) -> WrittenReports:
    return write_streams([run_of(workers, **limits)], [("vcr", str(path))])


def entries(path: Path) -> list[Any]:
    document = cassettes.read(path.read_text())
    assert document["seed"] == 7
    return document["http_interactions"] or []


@pytest.fixture
def workers(tmp_path: Path) -> Workers:
    return Workers(tmp_path / "corpus")


def test_a_cassette_has_all_interactions_by_time_and_stands_alone(workers: Workers, tmp_path: Path) -> None:
    path = tmp_path / "new" / "cassette.yaml"
    for number in range(150):
        workers.tell(1 + number % 3, f"c{number}", AT + number)
    assert written(path, workers) == WrittenReports(150)
    assert [entry.name for entry in path.parent.iterdir()] == ["cassette.yaml"]
    assert [one["id"] for one in entries(path)] == [str(number + 1) for number in range(150)]
    assert [one["correlation_id"] for one in entries(path)] == [f"c{n}" for n in range(150)]


def test_nothing_to_write_is_a_whole_cassette(workers: Workers, tmp_path: Path) -> None:
    assert written(tmp_path / "cassette.yaml", workers) == WrittenReports()
    assert entries(tmp_path / "cassette.yaml") == []


def test_damaged_traffic_is_told_and_the_rest_is_written(workers: Workers, tmp_path: Path) -> None:
    workers.tell(1, "a", AT)
    workers.tell(2, "b", AT)
    with workers.path(1).open("ab") as file:
        file.write(b"\xff" * 64)
    found = written(tmp_path / "cassette.yaml", workers)
    assert found.count == 2
    (note,) = found.notes
    assert note.kind == "damaged_file"
    assert str(workers.path(1)) in note.text


def test_a_place_that_cannot_be_written_is_one_sentence(workers: Workers, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    told = f"{place}: the vcr report cannot be written: Is a directory"
    assert written(place, workers).problems == {str(place): told}
    assert list(place.iterdir()) == []


def test_reports_that_are_given_up_leave_nothing(workers: Workers, tmp_path: Path) -> None:
    for number in range(10):
        workers.tell(1, f"c{number}", AT + number)
    paths = {name: tmp_path / "reports" / name for name in ("vcr", "har")}
    asked = iter([False] * 5 + [True])
    found = write_streams([run_of(workers)], [(name, str(path)) for name, path in paths.items()], lambda: next(asked))
    assert found.problems == {
        str(path): f"{path}: the {name} report was not written: interrupted" for name, path in paths.items()
    }
    assert list((tmp_path / "reports").iterdir()) == []


def test_a_writer_that_fails_costs_no_other_report(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers.tell(1, "a", AT)
    monkeypatch.setattr(Cassette, "event", lambda *_: 1 // 0)
    har, vcr = tmp_path / "har", tmp_path / "vcr"
    found = write_streams([run_of(workers)], [("vcr", str(vcr)), ("har", str(har))])
    assert list(found.problems) == [str(vcr)]
    assert "ZeroDivisionError" in found.problems[str(vcr)]
    assert not vcr.exists()
    assert len(json.loads(har.read_text())["log"]["entries"]) == 1


READERS = {
    "vcr": entries,
    "har": lambda path: json.loads(path.read_text())["log"]["entries"],
    "ndjson": lambda path: [one for one in map(json.loads, path.read_text().splitlines()) if "ScenarioFinished" in one],
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("size", [1, 2_000, 20_000])
def test_a_report_that_would_be_too_large_ends_with_a_whole_entry_and_says_so(
    workers: Workers, tmp_path: Path, name: str, size: int
) -> None:
    for number in range(100):
        workers.tell(1, f"c{number}", AT + number)
    path = tmp_path / name
    found = write_streams([run_of(workers, max_file_bytes=size)], [(name, str(path))])
    kept = len(READERS[name](path))
    assert found.count == 100
    assert kept < 100
    assert kept > 0 or size < 20_000
    assert path.stat().st_size < size + 2_000
    (note,) = found.notes
    assert note.kind == "incomplete_report"
    told = f"{100 - kept} entries at the end are left out, because the report would be larger than {size:,} bytes"
    assert told in note.text
    assert told in path.read_text()
