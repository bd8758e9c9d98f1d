"""`checker replay ID`: failures of a run that is over, tried again against the service as it is today."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from checker.cli.failure_replay import ReplayTarget, replay_findings
from checker.cli.past import PastRun, folder_of
from checker.core.errors import UsageError
from checker.core.known import failure_id
from checker.core.locations import Location
from checker.core.meta import Binding
from checker.core.operation import Label
from checker.core.sequence import Drawn, Step
from checker.corpus.fold import fold
from checker.corpus.journal import JournalWriter
from checker.corpus.layout import RunLayout
from checker.corpus.records import Finding
from checker.corpus.runs import LastRun
from checker.demo import Server
from checker.demo.http import Reply, Request
from checker.transport.settings import HttpSettings
from tests.apps.serving import serving
from tests.reporting.samples import exchange, finding, interaction, settings, started
from tests.reporting.test_pytest_file import FLOOR, FREED, QUOTE, REVIEW


@pytest.fixture(scope="module", params=[False, True], ids=["broken", "fixed"])
def server(request: pytest.FixtureRequest) -> Iterator[tuple[Server, bool]]:
    one = Server(fixed=request.param)
    one.start()
    yield one, request.param
    one.stop()


def replayed(url: str, *found: Finding, ids: tuple[str, ...] = ("all",)) -> tuple[int, list[str]]:
    view = fold((1, one) for one in found)
    past = PastRun(settings(), LastRun(started(), 1, Path("journal")), view, 1.0)
    lines: list[str] = []
    code = replay_findings(past, ids, ReplayTarget(url, HttpSettings()), lines.append)
    return code, lines


def test_each_is_tried_three_times(server: tuple[Server, bool]) -> None:
    one, is_fixed = server
    code, lines = replayed(one.url, QUOTE, FLOOR, REVIEW, FREED)
    word, count = ("FIXED", 0) if is_fixed else ("FAILED", 3)
    assert code == int(not is_fixed)
    assert len(lines) == 4
    for line in lines:
        assert line.startswith(word)
        assert line.endswith(f"it showed in {count} of 3 tries")


def test_a_run_without_failures_is_told() -> None:
    code, (line,) = replayed("http://127.0.0.1:9")
    assert code == 0
    assert line.endswith("has no failures: nothing was sent.")


def test_one_that_shows_now_and_then_is_flaky() -> None:
    count = 0

    def answer(request: Request) -> Reply:
        nonlocal count
        count += 1
        return Reply(500 if count == 2 else 200, "application/json", b"{}")

    with serving(answer, {}) as app:
        code, (line,) = replayed(app.url, finding())
    assert (code, line.split()[0]) == (1, "FLAKY")
    assert "1 of 3" in line


@pytest.mark.parametrize(
    ("status", "body", "doubt"),
    [
        (409, b"{}", "answered 409 (then 500), perhaps for what is there now"),
        (
            400,
            b'{"error": "name is taken"}',
            "answered 400 (then 500), perhaps for what is there now",
        ),
        (400, b"{}", ""),
        (201, b"{}", ""),
    ],
)
def test_a_refusal_by_what_is_there_now_is_told(status: int, body: bytes, doubt: str) -> None:
    with serving(lambda request: Reply(status, "application/json", body), {}) as app:
        code, (line,) = replayed(app.url, finding())
        _, (wanted,) = replayed(app.url, finding(check="use_after_free"))
    assert (code, line.split()[0]) == (0, "FIXED")
    assert doubt in line
    assert ("; but" in line) == bool(doubt)
    assert "; but" not in wanted


@pytest.mark.parametrize("status", [401, 403])
def test_who_is_turned_away_today_can_say_nothing(status: int) -> None:
    with serving(lambda request: Reply(status), {}) as app:
        code, (line,) = replayed(app.url, finding())
        fixed, _ = replayed(app.url, finding(check="ignored_auth"))
    assert (code, fixed) == (2, 0)
    assert line.startswith("ERROR")
    assert f"answered {status} (then 500), perhaps for its credentials" in line


def test_what_cannot_be_sent_is_no_verdict() -> None:
    secret = exchange(headers=((b"Authorization", b"secret:header:Authorization"),))
    one = finding(interactions=(interaction(exchange=secret),))
    code, (line,) = replayed("http://127.0.0.1:9", one)
    assert code == 2
    assert line.startswith("ERROR")
    assert "Authorization" in line


def test_the_beginning_of_an_id_suffices() -> None:
    with pytest.raises(UsageError, match="is the id of no failure"):
        replayed("http://h", QUOTE, ids=("v1-ffff",))
    with pytest.raises(UsageError, match="is the id of 2 failures"):
        replayed("http://h", QUOTE, FLOOR, ids=("v1-0000",))
    closed = replace(QUOTE, interactions=())
    assert replayed("http://h", closed, FLOOR, ids=(failure_id(QUOTE),))[0] == 2


def test_values_in_bodies_are_those_of_the_answers_of_today() -> None:
    posted: list[bytes] = []

    def answer(request: Request) -> Reply:
        if request.method == "GET":
            return Reply(200, "application/json", b'[{"id": 7, "name": "x"}]')
        posted.append(request.body)
        return Reply(500, "application/json", b"{}")

    rooms = interaction(
        label=Label("GET /rooms"),
        exchange=exchange(
            target=b"/rooms", status=200, response_body=b'[{"id": 3}]', response_size=11
        ),
    )
    booked = interaction(
        label="POST /bookings",
        exchange=exchange(method="POST", target=b"/bookings", body=b'{"room_id": 3, "nights": 3}'),
    )
    taken = Binding(Location.BODY, "/room_id", Label("GET /rooms"), "/*/id", 0, 3)
    one = finding(
        steps=(Step(Label(rooms.label), Drawn(())), Step(Label(booked.label), Drawn(()), (taken,))),
        interactions=(rooms, booked),
    )
    with serving(answer, {}) as app:
        code, _ = replayed(app.url, one)
    assert code == 1
    assert posted == [b'{"room_id": 7, "nights": 3}'] * 3


def test_without_a_name_the_corpus_is_meant_that_was_written_to_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for written_at, name in ((2, "shop"), (3, "library"), (1, "old")):
        journals = Path(".checker", name, "journals")
        journals.mkdir(parents=True)
        file = journals / "1.journal"
        file.touch()
        os.utime(file, (written_at, written_at))
    assert folder_of(None) == Path(".checker", "library")
    assert folder_of("shop") == Path(".checker", "shop")
    # A mistyped location leaves a folder of later date, and no run in it.
    begun = RunLayout(Path(".checker", "shop")).journal(1, 1001)
    writer = JournalWriter(begun)
    writer.write(started())
    writer.close()
    os.utime(begun, (2, 2))
    assert folder_of(None) == Path(".checker", "shop")
    with pytest.raises(UsageError, match="name one of library, old, shop"):
        folder_of(".checker")
