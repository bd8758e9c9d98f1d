"""The file of regression tests: run against a service with its defects, and against one without."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from checker.corpus.fold import fold
from checker.corpus.records import Component, Finding, ResourceMade
from checker.demo import Server
from checker.reporting.formats.pytest_file import write
from checker.reporting.report import report_of
from checker.reporting.shown import ReportContext
from tests.apps.http import Reply, Request
from tests.apps.serving import Dropping, json_reply, serving

from .samples import exchange, finding, interaction, settings

JSON = b"Content-Type: application/json\r\n"
ROOM = b'{"room_id":1,"nights":1,"discount_percent":100}'


def text_of(base_url: str, *found: Finding) -> str:
    report = report_of(fold((1, one) for one in found), settings(), "completed")
    return "".join(write(report, ReportContext("checker run", 1, base_url)))


def failing(number: int, label: str, **changes: Any) -> Finding:
    return finding(fingerprint=f"{number:016x}", label=label, **changes)


def sent(method: str, target: bytes, status: int, answer: bytes, body: bytes | None = None) -> Any:
    name = b"113bfe91-1c82-464b-99b6-d0b67445e5a6"
    headers = ((b"Content-Type", b"application/json"), (b"X-Request-ID", name)) if body else ()
    said = exchange(
        method=method, target=target, headers=headers, body=body, status=status,
        response_head=JSON, response_body=answer, response_size=len(answer),
    )  # fmt: skip
    return interaction(exchange=said, components=(Component("body", "positive", ()),))


QUOTE = failing(1, "POST /quotes", interactions=(sent("POST", b"/quotes", 500, b"{}", ROOM),))
FLOOR = failing(
    2, "GET /rooms/{room_id}",
    check="response_schema_conformance", unique_key="allOf/properties/floor/type",
    message='body.floor: null is not of type "integer"',
    interactions=(sent("GET", b"/rooms/24", 203, b'{"floor": null}'),),
)  # fmt: skip
REVIEW = failing(
    3, "POST /reviews", check="response_schema_conformance", unique_key="undecodable",
    interactions=(
        sent("POST", b"/reviews", 202, b"{", b'{"room_id":1,"rating":1,"text":"0","replies":[]}'),
    ),
)  # fmt: skip
BOOKING = (
    b'{"room_id":1,"arrival":"2030-06-01","nights":2,"guests":[{"name":"hM","age":16}],'
    b'"payment":{"method":"card","last_digits":"8525"}}'
)
FREED = failing(
    4, "DELETE /bookings/{code}", check="use_after_free", unique_key="",
    interactions=(
        sent("POST", b"/bookings", 201, b'{"reference": "BK-64F3BF2D"}', BOOKING),
        sent("DELETE", b"/bookings/BK-64F3BF2D", 204, b""),
        sent("GET", b"/bookings/BK-64F3BF2D", 200, b"{}"),
    ),
)  # fmt: skip


def outcomes(text: str) -> dict[str, str]:
    """What became of each test of a file."""
    names: dict[str, Any] = {}
    exec(compile(text, "report", "exec"), names)
    found = {}
    for name, test in names.items():
        if name.startswith("test_"):
            try:
                test()
            except AssertionError:
                found[name] = "failed"
            except pytest.fail.Exception as error:
                found[name] = str(error)
            except pytest.skip.Exception:
                found[name] = "skipped"
            else:
                found[name] = "passed"
    return found


@pytest.fixture(scope="module")
def broken() -> Iterator[Server]:
    server = Server()
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def fixed() -> Iterator[Server]:
    server = Server(fixed=True)
    server.start()
    yield server
    server.stop()


def test_they_pass_while_the_defects_are_there(broken: Server, fixed: Server) -> None:
    text = text_of(broken.url, QUOTE, FLOOR, REVIEW, FREED)
    assert set(outcomes(text).values()) == {"passed"}
    assert len(outcomes(text)) == 4
    assert set(outcomes(text_of(fixed.url, QUOTE, FLOOR, REVIEW, FREED)).values()) == {"failed"}


def test_the_other_way_round_they_fail_until_the_defects_are_gone(
    broken: Server, fixed: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHECKER_EXPECT", "fixed")
    text = text_of(broken.url, QUOTE, FLOOR, REVIEW, FREED)
    assert set(outcomes(text).values()) == {"failed"}
    monkeypatch.setenv("CHECKER_BASE_URL", fixed.url)
    assert set(outcomes(text).values()) == {"passed"}


def test_later_requests_take_what_earlier_answers_hold_now() -> None:
    text = text_of("http://h", FREED)
    assert "send('GET', '/bookings/' + in_url(plain(answer_0, 'reference')), [])" in text


def test_what_was_masked_comes_from_the_environment(broken: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = exchange(
        target=b"/rooms?api_key=secret&limit=1", headers=((b"Authorization", b"Bearer s3cret"),), status=400
    )
    one = failing(5, "GET /rooms", interactions=(interaction(exchange=secret, components=()),))
    text = text_of(broken.url, one)
    assert "s3cret" not in text
    assert outcomes(text) == {"test_get_rooms_0000000000000005": "skipped"}
    monkeypatch.setenv("CHECKER_AUTHORIZATION", "Bearer s3cret")
    monkeypatch.setenv("CHECKER_API_KEY", "secret")
    assert outcomes(text) == {"test_get_rooms_0000000000000005": "passed"}


ITEM = failing(
    6, "PUT /items/{item_id}", interactions=(sent("PUT", b"/items/71", 500, b"{}", b"{}"),),
    needs=(
        ResourceMade(
            "/items/71", "POST /items", "coverage", 0, 201,
            "curl -X POST -H 'Content-Type: application/json' -d '{}' http://h/items", pointer="/item_id",
        ),
    ),
)  # fmt: skip
ITEM_TEST = "test_put_items_item_id_0000000000000006"


@pytest.mark.parametrize(
    ("create", "change", "broken_way", "fixed_way"),
    [
        (201, 500, "passed", "failed"),
        (201, 200, "failed", "passed"),
        (201, 401, *["not reached: the request returned 401 (in the run: 500)"] * 2),
        (404, 500, *["not reached: the request that creates /items/71 returned 404 (in the run: 201)"] * 2),
        (503, 500, *["not reached: the request that creates /items/71 returned 503 (in the run: 201)"] * 2),
    ],
)  # fmt: skip
def test_a_test_whose_situation_is_not_reached_never_passes(
    create: int, change: int, broken_way: str, fixed_way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(request: Request) -> Reply:
        if request.method == "POST":
            return json_reply({"item_id": 902}, create)
        return json_reply({}, change if request.target == b"/items/902" else 404)

    with serving(answer, {}) as app:
        text = text_of(app.url, ITEM)
        assert outcomes(text) == {ITEM_TEST: broken_way}
        monkeypatch.setenv("CHECKER_EXPECT", "fixed")
        assert outcomes(text) == {ITEM_TEST: fixed_way}


def test_an_earlier_request_without_a_response_may_be_dropped_again(monkeypatch: pytest.MonkeyPatch) -> None:
    dropped = interaction(exchange=exchange(method="POST", target=b"/slow", status=None, response_head=b""))
    found = failing(7, "GET /items", interactions=(dropped, sent("GET", b"/items", 500, b"{}")))

    def answer(request: Request) -> Reply:
        if request.method == "POST":
            raise Dropping
        return json_reply({}, 500)

    with serving(answer, {}) as app:
        assert set(outcomes(text_of(app.url, found)).values()) == {"passed"}


@pytest.mark.parametrize(
    ("items", "outcome"),
    [
        (b'[{"n": "1"}]', "passed"),
        (b'[{"n": 1}]', "failed"),
        (b"[]", "not reached: the response does not have the list item"),
    ],
)
def test_an_empty_list_is_no_fix_of_its_item(items: bytes, outcome: str) -> None:
    found = failing(
        9, "GET /items", check="response_schema_conformance", unique_key="properties/n/type",
        message="body[0].n: is no integer", interactions=(sent("GET", b"/items", 200, b'[{"n": "1"}]'),),
    )  # fmt: skip
    with serving(partial(_always, Reply(200, "application/json", items)), {}) as app:
        assert set(outcomes(text_of(app.url, found)).values()) == {outcome}


def test_a_dropped_connection_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(request: Request) -> Reply:
        raise Dropping

    monkeypatch.setenv("CHECKER_EXPECT", "fixed")
    with serving(answer, {}) as app:
        text = text_of(app.url, QUOTE)
        assert set(outcomes(text).values()) == {"not reached: the server sent no response"}


@pytest.mark.parametrize("target", ["/wörter?q=a".encode(), b"/a\xff"])
def test_a_target_of_any_bytes_is_sent_as_it_was(target: bytes) -> None:
    def answer(request: Request) -> Reply:
        return json_reply({}, 500 if request.target == target else 400)

    with serving(answer, {}) as app:
        text = text_of(app.url, failing(7, "GET /words", interactions=(sent("GET", target, 500, b"{}"),)))
        assert set(outcomes(text).values()) == {"passed"}


def test_a_blank_in_a_target_reaches_the_server() -> None:
    with serving(lambda _: json_reply({}), {}) as app:
        outcomes(text_of(app.url, failing(7, "GET /words", interactions=(sent("GET", b"/a b", 500, b"{}"),))))
        assert len(app.broken) == 1


def _always(reply: Reply, _: Request) -> Reply:
    return reply


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"1.0"])
def test_a_number_that_python_cannot_write_is_judged(number: bytes) -> None:
    rated = sent("GET", b"/ratings", 200, b'{"rating": %s}' % number)
    found = failing(
        8, "GET /ratings", check="response_schema_conformance", unique_key="properties/rating/enum",
        message="body.rating: is not one of 1, 2", interactions=(rated,),
    )  # fmt: skip

    for body, outcome in ((b'{"rating": %s}' % number, "passed"), (b'{"rating": 2}', "failed")):
        reply = Reply(200, "application/json", body)
        with serving(partial(_always, reply), {}) as app:
            assert set(outcomes(text_of(app.url, found)).values()) == {outcome}
