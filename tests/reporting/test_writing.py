from collections.abc import Callable
from pathlib import Path
from typing import Any

from checker.reporting.context import ReportContext
from checker.reporting.formats.vcr import Cassette
from checker.reporting.ordered import LATENESS_S
from checker.reporting.writing import OpenReport, RunEvents, WrittenReports, write
from tests import cassettes

from .samples import AT
from .traffic import Workers

CONTEXT = ReportContext("c", 1, "")


class Script:
    """Orders by events: what happens at each wait, and when the time is over."""

    def __init__(self, *waits: Callable[[], None], late_after: int | None = None) -> None:
        self.is_over = not waits
        self._waits = list(waits)
        self._late_after = late_after
        self.looks = 0
        self.written = 0

    def wait(self) -> None:
        self._waits.pop(0)()
        self.is_over = not self._waits

    def tell(self, written: int) -> None:
        self.written = written

    def is_late(self, beyond_s: float = 0.0) -> bool:
        self.looks += 1
        return self._late_after is not None and self.looks > self._late_after and not beyond_s


def entries(path: Path) -> list[Any]:
    return cassettes.read(path.read_text())["http_interactions"] or []


def written(path: Path, workers: Workers, orders: Any, now: Callable[[], float]) -> WrittenReports:
    report = OpenReport(path, lambda: Cassette(CONTEXT))
    return write([report], [(CONTEXT, RunEvents(workers.layout, 1, now))], orders)


def test_a_cassette_is_written_while_its_run_goes_on_and_appears_whole(tmp_path: Path) -> None:
    workers, path = Workers(tmp_path / "corpus"), tmp_path / "new" / "cassette.yaml"
    now, sizes = AT, list[int]()

    def tell(first: int) -> None:
        nonlocal now
        for number in range(first, first + 50):
            workers.tell(1, f"c{number}", now + number)
        now += first + 50 + LATENESS_S

    def look() -> None:
        (partial,) = path.parent.iterdir()
        assert partial != path
        sizes.append(partial.stat().st_size)

    orders = Script(lambda: tell(0), look, lambda: tell(50), look, lambda: tell(100))
    assert written(path, workers, orders, lambda: now) == WrittenReports(150)
    # Most of it was on disk before the run was over.
    assert 10_000 < sizes[0] < sizes[1]
    assert [entry.name for entry in path.parent.iterdir()] == ["cassette.yaml"]
    assert [one["id"] for one in entries(path)] == [str(number + 1) for number in range(150)]
    assert entries(path)[149]["correlation_id"] == "c149"


def test_what_there_is_no_time_for_is_counted(tmp_path: Path) -> None:
    workers, path = Workers(tmp_path / "corpus"), tmp_path / "cassette.yaml"
    for number in range(20):
        workers.tell(1, f"c{number:02}", AT + number)
    found = written(path, workers, Script(late_after=10), lambda: AT)
    assert 0 < found.count < 10
    assert found == WrittenReports(found.count, left_out=20 - found.count)
    told = [f"c{n:02}" for n in range(found.count)]
    assert [one["correlation_id"] for one in entries(path)] == told


def test_nothing_to_write_is_a_whole_cassette(tmp_path: Path) -> None:
    path = tmp_path / "cassette.yaml"
    assert written(path, Workers(tmp_path / "corpus"), Script(), lambda: AT) == WrittenReports()
    assert entries(path) == []


def test_damaged_traffic_is_told_and_the_rest_is_written(tmp_path: Path) -> None:
    workers, path = Workers(tmp_path / "corpus"), tmp_path / "cassette.yaml"
    workers.tell(1, "a", AT)
    workers.tell(2, "b", AT)
    with workers.path(1).open("ab") as file:
        file.write(b"\xff" * 64)
    found = written(path, workers, Script(), lambda: AT)
    assert found.count == 2
    ((kind, _, _, text),) = found.notes
    assert kind == "damaged_file"
    assert str(workers.path(1)) in text
    assert WrittenReports.from_bytes(found.to_bytes()) == found


def test_a_place_that_cannot_be_written_is_one_reason(tmp_path: Path) -> None:
    workers = Workers(tmp_path / "corpus")
    (tmp_path / "place").mkdir()
    found = written(tmp_path / "place", workers, Script(), lambda: AT)
    assert found.problems == ((str(tmp_path / "place"), "Is a directory"),)
    assert list((tmp_path / "place").iterdir()) == []
