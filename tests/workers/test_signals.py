import tracemalloc
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from checker.checks.judge import CLEAN, Judgement
from checker.checks.server_error import ServerError
from checker.core.meta import Binding
from checker.core.operation import Body, Label, Location
from checker.core.resources import ResourceModel
from checker.core.response import Response
from checker.core.schema import Dialect, Schema
from checker.corpus.journal import JournalWriter
from checker.corpus.layout import RunLayout
from checker.corpus.records import RunStarted, SignalsSeen
from checker.values.pool import ValuePool
from checker.workers.observers.knowledge import Knowledge
from checker.workers.observers.signals import CAPS, SignalSet
from checker.workers.starting.opening import remember
from tests.values.test_values import CREATE, READ, Document, Route, answer, sent

SCHEMA = {
    "properties": {
        "nights": {"type": "integer", "minimum": 1, "maximum": 30},
        "guest": {"type": "string", "minLength": 1},
        "state": {"enum": ["open", "paid"]},
    }
}
BOOK = replace(CREATE, bodies=(Body("application/json", Schema(SCHEMA, "#", Dialect.OPENAPI30, Document()), "#", {}),))
JSON = [("Content-Type", "application/json")]


def kinds(found: tuple[tuple[int, str], ...]) -> list[str]:
    return sorted({kind for _, kind in found})


def book(**body: object) -> object:
    return sent(BOOK, body=body, media_type="application/json")


def test_a_first_answer_shows_every_class_and_a_second_one_nothing() -> None:
    signals = SignalSet()
    binding = Binding(Location.PATH, "code", CREATE.label, "/id", 0, "7")
    failure = ServerError(unique_key="k")
    failure.check = "not_a_server_error"
    case = sent(READ, (binding,), path_parameters={"code": "7"})
    response = Response(500, JSON, b'{"error": "it broke"}', elapsed=0.5)
    found = signals.observe(case, response, Judgement((failure,), (), ()), CREATE.label)
    assert kinds(found) == sorted(CAPS)
    assert len({number for number, _ in found}) == len(found)
    assert signals.observe(case, response, Judgement((failure,), (), ()), CREATE.label) == ()


def test_ids_are_the_same_for_ever() -> None:
    found = SignalSet().observe(sent(CREATE), Response(204, [], b""), CLEAN)
    assert [number for number, kind in found if kind == "status"] == [11960399209986923241]


def test_what_an_earlier_night_saw_is_not_new() -> None:
    case, response = sent(CREATE, body={"a": 1}), answer({"id": 1})
    first = SignalSet().observe(case, response, CLEAN)
    again = SignalSet(number for number, _ in first)
    assert again.observe(case, response, CLEAN) == ()


def test_what_an_earlier_night_saw_guides_the_next_one_once() -> None:
    case, response = sent(READ), answer({"id": 1})
    signals = SignalSet()
    signals.learn((number for number, _ in SignalSet().observe(case, response, CLEAN)), is_earlier=True)
    assert signals.observe(case, response, CLEAN) == ()
    assert signals.has_news
    assert signals.observe(case, response, CLEAN) == ()
    assert not signals.has_news


def test_a_worker_that_starts_again_takes_what_earlier_nights_saw_for_news(tmp_path: Path) -> None:
    layout, response = RunLayout(tmp_path), answer({"id": 1})
    layout.create()
    nights = sent(READ), sent(CREATE, body={"a": 1})
    for number, case in enumerate(nights, start=1):
        with closing(JournalWriter(layout.journal(number, 1))) as journal:
            journal.append(RunStarted(f"r{number}", "fuzz", 1.0, "0", "api.json", 1, "s", "checker fuzz", 1))
            journal.append(SignalsSeen(case.operation.label, SignalSet().observe(case, response, CLEAN)))
    signals, values = SignalSet(), ValuePool(ResourceModel(()), lambda label: ())
    remember(layout, signals, values)
    _, of_this_run = (SignalSet().observe(case, response, CLEAN) for case in nights)
    Knowledge(values, signals).follow((), signals=(number for number, _ in of_this_run))
    found = [(signals.observe(case, response, CLEAN), signals.has_news) for case in nights]
    assert found == [((), True), ((), False)]


def test_each_boundary_of_an_input_is_a_signal_of_its_own_by_outcome() -> None:
    signals, response = SignalSet(), Response(200, [], b"")
    values = [0, 1, 2, 15, 29, 30, 31, -4]
    for nights in values:
        found = signals.observe(book(nights=nights), response, CLEAN)  # type: ignore[arg-type]
        assert "input" in kinds(found) or nights == -4
    assert signals.observe(book(nights=16), response, CLEAN) == ()  # type: ignore[arg-type]
    assert kinds(signals.observe(book(state="paid", nights=2), response, CLEAN)) == ["input"]  # type: ignore[arg-type]
    refused = signals.observe(book(nights=30), Response(422, [], b""), CLEAN)  # type: ignore[arg-type]
    assert "input" in kinds(refused)


def test_what_is_new_among_dull_answers_is_seen_before_long() -> None:
    signals, usual, odd = SignalSet(), answer({"id": 1}), answer({"ix": 1})
    for _ in range(5_000):
        signals.observe(sent(READ), usual, CLEAN)
    seen = [signals.observe(sent(READ), odd, CLEAN) for _ in range(64)]
    assert [kinds(found) for found in seen if found] == [["leaf"]]


def test_numbers_ids_and_quoted_parts_do_not_make_an_error_new() -> None:
    signals = SignalSet()
    first = {"detail": "no booking 17 for 'Ann'"}
    second = {"detail": "no booking 99 for 'Bob'"}
    third = {"detail": "booking already paid"}
    signals.observe(sent(READ), answer(first, 404), CLEAN)
    assert signals.observe(sent(READ), answer(second, 404), CLEAN) == ()
    assert kinds(signals.observe(sent(READ), answer(third, 409), CLEAN)) >= ["error"]


def test_names_that_a_server_makes_up_are_capped() -> None:
    signals, total = SignalSet(), 0
    for number in range(2000):
        found = signals.observe(sent(READ), answer({f"k{number}": 1}), CLEAN)
        total += sum(kind == "leaf" for _, kind in found)
    assert total == CAPS["leaf"]


def test_any_body_is_looked_at_without_raising() -> None:
    signals = SignalSet()
    for content in (b"", b"{", b"null", b"[" * 9999, b'"\xff"', b"1e999", b"[[[[[[[[[1]]]]]]]]]"):
        signals.observe(sent(Route("GET", "/x")), Response(400, JSON, content), CLEAN)
    assert Label("GET /x") == Route("GET", "/x").label


def test_long_names_take_no_more_memory_than_short_ones() -> None:
    # A pointer for each of the inner names, written out, would be 400 MB.
    hostile = answer({"n" * 200_000: {f"k{number}": number for number in range(2000)}})
    signals = SignalSet()
    tracemalloc.start()
    assert signals.observe(sent(READ), hostile, CLEAN)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 10 << 20


class ReadResponse(Response):
    """A response that counts close looks: they read its headers."""

    looks = 0

    @property
    def headers(self) -> object:  # type: ignore[override]
        type(self).looks += 1
        return {}


def looks_at(latencies_s: tuple[float, ...]) -> int:
    signals, before = SignalSet(), ReadResponse.looks
    for number in range(600):
        elapsed = latencies_s[number % len(latencies_s)]
        signals.observe(sent(READ), ReadResponse(200, [], b"", elapsed=elapsed), CLEAN)
    return ReadResponse.looks - before


def test_responses_of_changing_latency_are_looked_at_as_rarely_as_those_of_a_steady_one() -> None:
    steady = looks_at((0.0,))
    assert looks_at((0.0, 0.02, 0.05, 0.1, 0.2, 0.5)) <= 1.5 * steady
