"""Coverage of the description: what was tried at each place, and which documented answers came."""

from typing import Any

import pytest

from checker.corpus.fold import fold
from checker.corpus.records import OperationDescribed, OperationsSelected, Record
from checker.reporting.described import OutcomeCounts, Share, covered, operation_coverage, shortfalls
from checker.reporting.report import report_of

from .samples import USERS, opened, progress, settings, started

TRIED = {
    ("query limit", "edge", 2): 3,
    ("query limit", "edge", 4): 1,
    ("query limit", "valid", 2): 5,
    ("query limit", "maximum", 4): 2,
    ("query limit", "maximum", 2): 1,
    ("query limit", "= 10", 2): 2,
    ("query", "type", 5): 1,
    ("body", "as text/xml", 4): 2,
    ("answer 200", "as application/json", 2): 8,
}


def described(parameters: tuple[str, ...] = (), statuses: tuple[str, ...] = (), **listed: Any) -> OperationDescribed:
    """What a description says of an operation."""
    return OperationDescribed(USERS, (), statuses, parameters, False, **listed)


def test_places_tell_valid_cases_edges_and_broken_keywords() -> None:
    found = operation_coverage(USERS, described(("query limit", "path id")), {200: 4}, TRIED)
    limit, path, unnamed = found.places
    assert (limit.edges.cases, limit.edges.accepted, limit.edges.refused) == (4, 3, 1)
    assert limit.valid == OutcomeCounts(((2, 5),))
    assert limit.broken == (("maximum", OutcomeCounts(((2, 1), (4, 2)))),)
    assert not path.is_tried
    assert unnamed.broken == (("type", OutcomeCounts(((5, 1),))),)
    assert found.parameters == Share(1, 2)


def test_listed_values_and_media_types_tell_which_of_them_were_sent_and_came() -> None:
    said = described(
        members=(("query limit", "10"), ("query limit", "20")),
        media_types=(("body", "application/json"), ("body", "text/xml"), ("answer 200", "application/json")),
    )
    found = operation_coverage(USERS, said, {200: 8}, TRIED)
    (limits,) = found.enumerations
    assert limits.listed == (("10", OutcomeCounts(((2, 2),))), ("20", OutcomeCounts()))
    sent, came = found.media_types
    assert [(name, one.refused) for name, one in sent.listed] == [("application/json", 0), ("text/xml", 2)]
    assert came.share == Share(1, 1)
    assert (sent.is_sent, came.is_sent) == (True, False)
    shares = covered((found,)).shares
    assert (shares["enum_values"], shares["media_types"]) == (Share(1, 2), Share(1, 3))
    assert sent.missing == ["application/json", "text/xml"], "all requests with the second were refused"
    assert [place.place for place in found.places] == ["query", "query limit"]


def test_an_answer_counts_for_the_nearest_that_is_documented() -> None:
    statuses = {200: 5, 404: 1, 500: 2, 0: 9, 302: 1}
    found = operation_coverage(USERS, described((), ("200", "4XX", "503")), statuses, {})
    assert found.documented == (("200", 5), ("4XX", 1), ("503", 0))
    assert found.undocumented == (302, 500)
    assert found.responses == Share(2, 3)


def test_a_share_below_its_limit_is_told() -> None:
    found = covered(
        (
            operation_coverage("GET /a", described((), ("200",)), {200: 1}, {}),
            operation_coverage("GET /b", described((), ("200",)), {500: 1}, {}),
        )
    )
    assert list(shortfalls(found, {"operations": 50, "parameters": 100})) == []
    (sentence,) = shortfalls(found, {"operations": 90})
    assert sentence == "operations: 50.0 % of 2 are covered, and 90 % must be; missing: GET /b"


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("responses", "GET /1 (404)"),
        ("parameters", "GET /1 (path id)"),
        ("enum_values", "GET /1 (query limit 20)"),
        ("media_types", "GET /1 (answer 404 text/xml)"),
    ],
)
def test_what_lacks_of_a_share_is_named(name: str, missing: str) -> None:
    said = described(
        ("query limit", "path id"),
        ("200", "404"),
        members=(("query limit", "10"), ("query limit", "20")),
        media_types=(("answer 404", "text/xml"),),
    )
    labels = [f"GET /{number}" for number in range(1, 9)]
    found = covered(tuple(operation_coverage(label, said, {200: 8}, TRIED) for label in labels))
    (sentence,) = shortfalls(found, {name: 90})
    told = sentence.partition("missing: ")[2].split("; ")
    assert told[0] == missing
    assert told[5:] == ["and of 3 more operations"]


def test_records_of_workers_add_up() -> None:
    tried = ((USERS, "query limit", "maximum", 4, 2),)
    said = described(("query limit",), ("200", "404"))
    records: list[Record] = [started(), OperationsSelected((USERS,)), opened(1, 1), said]
    records += [progress(tried=tried), progress(task="t2", tried=tried)]
    view = fold((1, record) for record in records)
    report = report_of(view, settings(fail_under={"responses": 80.0}), "completed")
    (one,) = report.coverage.operations
    assert one.places[0].broken == (("maximum", OutcomeCounts(((4, 4),))),)
    assert len(report.coverage.shortfalls) == 1
