from pathlib import Path

import pytest
import yaml

from checker.core.errors import UsageError
from checker.corpus.fold import fold
from checker.corpus.layout import RunLayout
from checker.corpus.traffic import TrafficWriter
from checker.reporting.cassette import Cassette

from .samples import AT, interaction, records, settings


def traffic(layout: RunLayout, incarnation: int, *cases: str) -> None:
    writer = TrafficWriter(layout.traffic(incarnation, 1))
    for position, case in enumerate(cases):
        writer.append(interaction(case=case, at=AT + position, status="SUCCESS"))
    writer.close()


def test_cassette_merges_the_traffic_of_this_run_only(tmp_path: Path) -> None:
    layout = RunLayout(tmp_path / "corpus")
    layout.create()
    traffic(layout, 4, "of an earlier run")
    traffic(layout, 6, "a", "c")
    traffic(layout, 7, "b", "d")
    path = tmp_path / "reports" / "cassette.yaml"
    cassette = Cassette(settings(corpus_dir=str(layout.root)), path)
    for record in records():
        cassette.on_record(5, record)
    view = fold((5, record) for record in records())
    assert cassette.finish(view) == ("VCR", str(path))
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    found = document["http_interactions"]
    # The fourth and fifth are of findings; they began at the same time as the first two.
    assert [one["correlation_id"] for one in found if one["status"] == "SUCCESS"] == list("abcd")
    assert [one["status"] for one in found].count("FAILURE") == 2
    assert {one["request"]["uri"].split("?")[0] for one in found} == {
        "http://127.0.0.1:8080/api/users"
    }
    assert document["command"] == "checker run http://127.0.0.1:8080/openapi.json"


def test_run_that_never_began_leaves_an_empty_cassette(tmp_path: Path) -> None:
    path = tmp_path / "cassette.yaml"
    Cassette(settings(corpus_dir=str(tmp_path / "none")), path).finish(fold([]))
    assert yaml.safe_load(path.read_text())["http_interactions"] is None


def test_unwritable_cassette_is_refused_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        Cassette(settings(), tmp_path)
