"""Coverage of the description: what was tried at each place, and which documented answers came."""

from checker.corpus.fold import fold
from checker.corpus.records import OperationDescribed, OperationsSelected, Record
from checker.reporting.described import Share, covered, operation_coverage, shortfalls
from checker.reporting.views import report_of

from .samples import USERS, opened, progress, settings, started

TRIED = {
    ("query limit", "edge", 2): 3,
    ("query limit", "edge", 4): 1,
    ("query limit", "maximum", 4): 2,
    ("query limit", "maximum", 2): 1,
    ("query", "type", 5): 1,
}


def test_places_tell_edges_and_broken_keywords() -> None:
    found = operation_coverage(USERS, ("query limit", "path id"), (), {200: 4}, TRIED)
    limit, path, unnamed = found.places
    assert (limit.edges, limit.edges_accepted) == (4, 3)
    assert limit.keywords == (("maximum", 3, 2, 1),)
    assert not path.is_tried
    assert unnamed.keywords == (("type", 1, 0, 0),)
    assert found.parameters == Share(1, 2)


def test_an_answer_counts_for_the_nearest_that_is_documented() -> None:
    statuses = {200: 5, 404: 1, 500: 2, 0: 9, 302: 1}
    found = operation_coverage(USERS, (), ("200", "4XX", "503"), statuses, {})
    assert found.documented == (("200", 5), ("4XX", 1), ("503", 0))
    assert found.undocumented == (302, 500)
    assert found.responses == Share(2, 3)


def test_a_share_below_its_limit_is_told() -> None:
    found = covered(
        (
            operation_coverage("GET /a", (), ("200",), {200: 1}, {}),
            operation_coverage("GET /b", (), ("200",), {500: 1}, {}),
        )
    )
    assert list(shortfalls(found, {"operations": 50, "parameters": 100})) == []
    (sentence,) = shortfalls(found, {"operations": 90})
    assert sentence == "operations: 50.0 % of 2 are covered, and 90 % must be"


def test_records_of_workers_add_up() -> None:
    tried = ((USERS, "query limit", "maximum", 4, 2),)
    described = OperationDescribed(USERS, (), ("200", "404"), ("query limit",), False)
    records: list[Record] = [started(), OperationsSelected((USERS,)), opened(1, 1), described]
    records += [progress(tried=tried), progress(task="t2", tried=tried)]
    view = fold((1, record) for record in records)
    report = report_of(view, settings(fail_under={"responses": 80.0}), "completed")
    (one,) = report.coverage.operations
    assert one.places[0].keywords == (("maximum", 4, 4, 0),)
    assert len(report.shortfalls) == 1
