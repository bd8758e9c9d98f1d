"""Collections whose query parameters do nothing, or too little, and collections that are right in unusual ways."""

import json
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, parse_qsl

import pytest

from checker.core.meta import Binding
from checker.core.operation import Label, Location
from checker.core.request import WireRequest
from checker.core.response import Response
from tests.apps.serving import serving
from tests.apps.stock import DOCUMENT, Stock
from tests.checks.asked import POSITIVE, Exchanges, Sent, operations_of
from tests.e2e.runner import Command, Ran

NAME = "collection_conformance"


def ran(directory: Path, *planted: str) -> Ran:
    with serving(Stock(*planted), DOCUMENT) as app:
        chosen = ("--checks", NAME, "--include-path", "/items", "--continue-on-failure", "-n", "40")
        return Command(directory).run_as_usual(app.document_url, *chosen, inline=True)


FILTERS = ("status", "is_fragile", "owner_id")


@pytest.mark.parametrize(
    ("planted", "told"),
    [
        (
            ("limit", "sort", *(f"filter {name}" for name in FILTERS)),
            {
                ("Items are not sorted", "sort"),
                ("Limit is exceeded", "limit"),
                *(("Filter is ignored", name) for name in FILTERS),
            },
        ),
        (("page ignored",), {("Pages overlap", "page")}),
        (("page overlap",), {("Pages overlap", "page")}),
        # What is right.
        ((), set()),
        (("page clamped",), set()),
    ],
    ids=["all", "page ignored", "page overlap", "none", "page clamped"],
)
def test_query_parameters_without_their_effect_are_found(
    tmp_path: Path, planted: tuple[str, ...], told: set[tuple[str, str]]
) -> None:
    done = ran(tmp_path, *planted)
    assert {(one.title, one.unique_key) for one in done.findings} == told, done.shown
    assert {one.label for one in done.findings} <= {"GET /items"}


def _parameter(name: str, schema: dict[str, Any], about: str = "") -> dict[str, Any]:
    return {"name": name, "in": "query", "description": about, "schema": schema}


_NUMBER: Final = {"type": "integer"}
_LEVELS: Final = {"type": "string", "enum": ["debug", "info", "error"]}
_ITEM: Final = {
    "type": "object",
    "properties": {
        "id": _NUMBER,
        "level": {"enum": _LEVELS["enum"]},
        "price": _NUMBER,
        "at": {"type": "string"},
        "rating": _NUMBER,
    },
}
_LIST: Final = {"description": "", "content": {"application/json": {"schema": {"type": "array", "items": _ITEM}}}}
_JSON: Final = (("Content-Type", "application/json"),)
PATHS: Final[dict[str, Any]] = {
    "/logs": {
        "get": {
            "parameters": [
                _parameter("level", _LEVELS),
                _parameter("rating", _NUMBER),
                _parameter("limit", _NUMBER),
                _parameter("page_size", _NUMBER, "At least 10 items are returned."),
                _parameter("offset", _NUMBER),
                _parameter("all", {"type": "boolean"}),
                _parameter("sort", {"type": "string"}),
                _parameter("order", {"type": "string"}),
            ],
            "responses": {"200": _LIST},
        }
    }
}


@pytest.fixture
def exchanges() -> Exchanges:
    return Exchanges(operations_of(PATHS))


def keys(exchanges: Exchanges, query: dict[str, Any], items: Any, answer: Any = None) -> list[str]:
    """Keys of the failures of a list; `answer` returns the items for the query of a further request."""
    sent = exchanges.sent(
        "GET /logs", 200, _JSON, answer=json.dumps(items).encode(), mode=POSITIVE, phase="fuzzing", query=query
    )

    def answered(request: WireRequest) -> Response:
        asked = dict(parse_qsl(request.target.partition(b"?")[2].decode()))
        return Response(200, list(_JSON), json.dumps(answer(asked) if answer else items).encode())

    return [one.unique_key for one in exchanges.verdict(NAME, sent, answers=answered).failures]


def items_with(name: str, *values: Any) -> list[dict[str, Any]]:
    return [{"id": number, name: value} for number, value in enumerate(values)]


def test_a_filter_that_also_selects_higher_levels_is_no_failure(exchanges: Exchanges) -> None:
    levels = ["debug", "info", "error"]

    def answer(asked: dict[str, str]) -> Any:
        return items_with("level", *levels[levels.index(asked["level"]) :])

    assert keys(exchanges, {"level": "info"}, answer({"level": "info"}), answer) == []
    assert keys(exchanges, {"level": "info"}, items_with("level", *levels)) == ["level"]


@pytest.mark.parametrize(("is_ignored", "told"), [(True, ["level"]), (False, [])])
def test_a_filter_without_an_item_of_its_value_is_judged_by_two_others(
    exchanges: Exchanges, told: list[str], *, is_ignored: bool
) -> None:
    def answer(asked: dict[str, str]) -> Any:
        wanted = asked["level"]
        return items_with(
            "level", *(one for one in ("info", "error") if wanted in (one, "debug" if is_ignored else ""))
        )

    first = {"level": "debug"}
    assert keys(exchanges, first, items_with("level", "info", "error"), answer) == told


@pytest.mark.parametrize(("ignored", "told"), [("debug", ["level"]), ("error", ["level"]), ("", [])])
def test_a_filter_may_be_ignored_for_one_value(exchanges: Exchanges, ignored: str, told: list[str]) -> None:
    levels = ["debug", "info", "error", "info"]

    def answer(asked: dict[str, str]) -> Any:
        return items_with("level", *(one for one in levels if asked["level"] in (one, ignored)))

    assert keys(exchanges, {"level": ignored or "info"}, answer({"level": ignored or "info"}), answer) == told


@pytest.mark.parametrize(
    ("name", "value", "told"), [("level", "info", "level"), ("limit", 2, "limit"), ("sort", "price", "sort")]
)
@pytest.mark.parametrize("is_broken", [True, False])
def test_another_optional_parameter_may_be_stronger(
    exchanges: Exchanges, name: str, value: Any, told: str, *, is_broken: bool
) -> None:
    everything: list[dict[str, Any]] = [
        {"id": one, "level": level, "price": -one % 3} for one, level in enumerate(["debug", "info", "info"])
    ]

    def answer(asked: dict[str, str]) -> Any:
        chosen = [one for one in everything if one["level"] == asked.get("level", one["level"])][
            : int(asked.get("limit", 9))
        ]
        right = sorted(chosen, key=lambda one: one["price"]) if "sort" in asked else chosen
        return everything if is_broken or "all" in asked else right

    found = keys(exchanges, {name: value, "all": True}, everything, answer)
    assert found == ([told] if is_broken else [])


def test_a_number_may_be_a_bound_and_no_value(exchanges: Exchanges) -> None:
    assert keys(exchanges, {"rating": 3}, items_with("rating", 3, 4, 5)) == []


def test_a_limit_may_have_a_described_minimum(exchanges: Exchanges) -> None:
    items = items_with("price", 1, 2, 3)
    assert keys(exchanges, {"page_size": 2}, items) == []
    assert keys(exchanges, {"limit": 2}, items) == ["limit"]
    assert keys(exchanges, {"limit": 2}, {"total": 3, "data": {"rows": items}}) == ["limit"]
    # Zero often means no limit; of two lists it is unknown which one is limited.
    assert keys(exchanges, {"limit": 0}, items) == []
    assert keys(exchanges, {"limit": 2}, {"users": items, "groups": items}) == []


@pytest.mark.parametrize(
    ("query", "name", "values", "is_told"),
    [
        ({"sort": "price"}, "price", (1, 3, 2), True),
        ({"sort": "price"}, "price", (3, 2, None, 1), False),
        ({"sort": "price:desc"}, "price", (1, 2, 3), True),
        ({"sort": "price_desc"}, "price", (3, 2, 2, 1), False),
        ({"sort": "price", "order": "desc"}, "price", (1, 2, 3), True),
        ({"sort": "-price"}, "price", (3, 2.5, 1), False),
        ({"sort": "at"}, "at", ("2026-01-03T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"), True),
        # The order of texts depends on a locale.
        ({"sort": "level"}, "level", ("b", "C", "a"), False),
        ({"sort": "relevance"}, "price", (1, 3, 2), False),
        ({"sort": "price"}, "price", (2, 1), False),
    ],
)
def test_sorted_items_stand_in_their_order(
    exchanges: Exchanges, query: dict[str, Any], name: str, values: tuple[Any, ...], *, is_told: bool
) -> None:
    assert keys(exchanges, query, items_with(name, *values)) == (["sort"] if is_told else [])


def test_pinned_items_may_stand_before_sorted_ones(exchanges: Exchanges) -> None:
    items = [{"price": 3, "pinned": True}, {"price": 1, "pinned": False}, {"price": 2, "pinned": False}]
    assert keys(exchanges, {"sort": "price"}, items) == []


@pytest.mark.parametrize(("step", "is_told"), [(0, True), (1, False)])
def test_an_offset_skips_items(exchanges: Exchanges, step: int, *, is_told: bool) -> None:
    everything = items_with("price", *range(9))

    def answer(asked: dict[str, str]) -> Any:
        begin = int(asked["offset"]) * step
        return everything[begin : begin + int(asked["limit"])]

    query = {"offset": 3, "limit": 4}
    told = keys(exchanges, query, answer({name: str(value) for name, value in query.items()}), answer)
    assert told == (["offset"] if is_told else [])


def test_a_page_that_changes_meanwhile_proves_nothing(exchanges: Exchanges) -> None:
    shown = iter([items_with("price", 1, 2, 3), items_with("price", 2)])
    query = {"offset": 3, "limit": 4}
    assert keys(exchanges, query, items_with("price", 1, 2, 3), lambda asked: next(shown)) == []


_PAGED: Final[dict[str, Any]] = {
    "/books": {
        "get": {
            "parameters": [
                _parameter("page", _NUMBER),
                _parameter("size", {**_NUMBER, "default": 10}),
                _parameter("author", {"type": "string"}),
            ],
            "responses": {"200": {"description": ""}},
        }
    }
}


@pytest.mark.parametrize(
    ("query", "total", "behind", "told"),
    [
        ({"size": 5}, 4, 0, ["total"]),
        ({"size": 5, "page": 1}, 4, 0, ["total"]),
        # The default of the limit.
        ({"page": 1}, 4, 0, ["total"]),
        # The rest is on the next page, or the total is right, or counts what a filter leaves out.
        ({"size": 5}, 4, 1, []),
        ({"size": 3}, 4, 0, []),
        ({"size": 5}, 3, 0, []),
        ({"size": 5, "author": "a"}, 4, 0, []),
        ({"size": 5, "page": 2}, 4, 0, []),
    ],
)
def test_a_total_counts_what_the_pages_show(query: dict[str, Any], total: int, behind: int, told: list[str]) -> None:
    def body(asked: dict[str, str]) -> bytes:
        size = behind if asked.get("page") == "2" and query.get("page") != 2 else 3
        return json.dumps({"items": items_with("price", *range(size)), "total": total}).encode()

    def answered(request: WireRequest) -> Response:
        asked = dict(parse_qsl(request.target.partition(b"?")[2].decode()))
        return Response(200, list(_JSON), body(asked))

    them = Exchanges(operations_of(_PAGED))
    answer = body({name: str(value) for name, value in query.items()})
    sent = them.sent("GET /books", 200, _JSON, answer=answer, mode=POSITIVE, phase="fuzzing", query=query)
    assert [one.unique_key for one in them.verdict(NAME, sent, answers=answered).failures] == told


@pytest.mark.parametrize(
    ("skipped", "is_moving", "told"),
    [(1, False, ["after"]), (0, False, []), (1, True, [])],
    ids=["skip", "right", "moving"],
)
def test_a_page_begins_behind_the_page_before(skipped: int, told: list[str], *, is_moving: bool) -> None:
    limit = {"name": "limit", "in": "query", "schema": {"type": "integer", "maximum": 50}}
    after = {"name": "after", "in": "query", "schema": {"type": "string"}}
    ok = {"200": {"description": ""}}
    them = Exchanges(operations_of({"/notes": {"get": {"parameters": [limit, after], "responses": ok}}}))
    names, asked = [f"n{number}" for number in range(6)], 0

    def answer(request: WireRequest) -> Response:
        nonlocal asked
        asked += 1
        query = parse_qs(request.target.partition(b"?")[2].decode())
        start = names.index(query["after"][0]) + 1 + skipped if "after" in query else 0
        page = names[start : start + int(query["limit"][0])]
        if is_moving and asked > 1:
            page = page[1:]
        return Response(200, [], json.dumps({"items": [{"id": one} for one in page], "next": page[-1]}).encode())

    def sent(query: dict[str, Any], *bindings: Binding) -> Sent:
        one = them.sent("GET /notes", 200, mode=POSITIVE, query=query, bindings=bindings)
        assert one.request is not None
        one.outcome = answer(one.request)
        one.outcome.request = one.request
        return one

    first = sent({"limit": 2})
    bound = Binding(Location.QUERY, "after", Label("GET /notes"), "/next", 0, "n1", "$response.body#/next", 0)
    second = sent({"limit": 2, "after": "n1"}, bound)
    asked = 0
    found = them.verdict(NAME, second, [first], answers=answer).failures
    assert [one.unique_key for one in found] == told
