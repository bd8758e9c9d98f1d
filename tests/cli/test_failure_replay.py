"""`checker replay ID`: failures of a run that is over, tried again against the service as it is today."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
from msgspec.structs import replace

from checker.commands.failure_replay import ReplayTarget, keep_results, replay_findings
from checker.commands.runs_on_disk import PastRun, folder_of
from checker.config.operation_settings import HttpSettings
from checker.core.errors import UsageError
from checker.core.meta import Binding, Drawn, Step
from checker.core.operation import Label
from checker.core.request import Location
from checker.corpus.fold import fold
from checker.corpus.journal import JournalWriter, LastRun
from checker.corpus.known import failure_id
from checker.corpus.layout import RunLayout
from checker.corpus.records import FIXED, Finding, FindingReplayed, ResourceMade
from checker.demo import Server
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.reporting.samples import changed, exchange, finding, interaction, settings, started
from tests.reporting.test_pytest_file import FLOOR, FREED, QUOTE, REVIEW


@pytest.fixture(scope="module", params=[False, True], ids=["broken", "fixed"])
def server(request: pytest.FixtureRequest) -> Iterator[tuple[Server, bool]]:
    one = Server(fixed=request.param)
    one.start()
    yield one, request.param
    one.stop()


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A replay writes its findings, and opens the description, below the current folder."""
    monkeypatch.chdir(tmp_path)


def replayed(url: str, *found: Finding, ids: tuple[str, ...] = ("all",)) -> tuple[int, list[str]]:
    view = fold((1, one) for one in found)
    past = PastRun(settings(), LastRun(started(), 1, Path("journal")), view, 1.0)
    lines: list[str] = []
    code, _ = replay_findings(past, ids, ReplayTarget(url, HttpSettings()), lines.append)
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
    ("reproduced", "hits", "tries", "word"),
    [
        (True, 8, 8, "FIXED"),
        (True, 6, 8, "FIXED"),
        (True, 5, 8, "NOT REPRODUCED"),
        (False, 1, 8, "NOT REPRODUCED"),
        (False, 0, 0, "NOT REPRODUCED"),
        (None, 0, 0, "FIXED"),
    ],
)
def test_one_that_showed_seldom_is_not_called_fixed(reproduced: bool | None, hits: int, tries: int, word: str) -> None:
    seldom = changed(finding(), reproduced=reproduced, hits=hits, tries=tries)
    with serving(lambda request: Reply(200, "application/json", b"{}"), {}) as app:
        code, (line,) = replayed(app.url, seldom)
    assert (code, line.startswith(word)) == (0 if word == "FIXED" else 3, True), line
    assert ("in the run it did not show each time, either" in line) == (code == 3)


def test_one_that_needs_the_state_of_its_resource_is_not_called_fixed() -> None:
    with serving(lambda request: Reply(200, "application/json", b"{}"), {}) as app:
        code, (line,) = replayed(app.url, changed(finding(), reproduced=True, hits=2, tries=2, needs_state=True))
    assert (code, line.startswith("NOT REPRODUCED")) == (3, True), line
    assert "in the run it did not show on new resources, either" in line


STATE = "perhaps because of existing resources"


@pytest.mark.parametrize(
    ("status", "body", "doubt"),
    [
        (409, b"{}", STATE),
        (400, b'{"error": "name is taken"}', STATE),
        (401, b"{}", "perhaps because of its credentials"),
        (403, b"{}", "perhaps because of its credentials"),
        *((status, b"{}", "which may be temporary") for status in (429, 502, 503, 504)),
        *((status, b"", "perhaps because of its credentials") for status in (302, 303)),
        (400, b"{}", ""),
        (404, b"{}", ""),
        (201, b"{}", ""),
    ],
)
def test_a_refusal_before_the_request_is_handled_is_no_fix(status: int, body: bytes, doubt: str) -> None:
    with serving(lambda request: Reply(status, "application/json", body), {}) as app:
        code, (line,) = replayed(app.url, finding())
        wanted, _ = replayed(app.url, finding(check="ignored_auth"))
        refused, _ = replayed(app.url, finding(check="negative_data_rejection"))
    word = "NOT REPRODUCED" if doubt else "FIXED"
    assert (code, line.startswith(word)) == (3 if doubt else 0, True)
    assert (f"returned {status} (in the run: 500), {doubt}" in line) == bool(doubt)
    # A refusal fixes these failures: of a request without credentials in the one, of invalid data in the other. It does not
    # if it is about a resource that the run has created.
    is_unhandled = "temporary" in doubt or doubt == STATE
    assert wanted == (3 if is_unhandled else 0)
    assert refused == (3 if is_unhandled or "credentials" in doubt else 0)


def test_a_server_error_is_no_fix_of_another_failure() -> None:
    shown = interaction(exchange=exchange(status=200))
    with serving(lambda request: Reply(500, "application/json", b"{}"), {}) as app:
        code, (line,) = replayed(app.url, finding(check="negative_data_rejection", interactions=(shown,)))
    assert (code, line.startswith("NOT REPRODUCED")) == (3, True)
    assert "returned 500 (in the run: 200), which is another failure" in line


@pytest.mark.parametrize(
    ("place", "code"),
    [
        ("parameter `X-API-Key` in header - ", 0),
        ("parameter `session` in cookie - ", 0),
        ("parameter `X-Page` in header - ", 3),
        ("parameter `Idempotency-Key` in header - ", 3),
        ("parameter `token` in path - ", 3),
        ("body at /token - ", 3),
    ],
)
@pytest.mark.parametrize("status", [401, 403])
def test_a_refusal_of_wrong_credentials_is_a_fix(status: int, place: str, code: int) -> None:
    message = f'Invalid data should have been rejected\nExpected: 400\nInvalid component: {place}"a" is too short'
    with serving(lambda request: Reply(status), {}) as app:
        assert replayed(app.url, finding(check="negative_data_rejection", message=message))[0] == code


@pytest.mark.parametrize(
    ("body", "code", "word"),
    [(b'[{"n": "1"}]', 1, "FAILED"), (b'[{"n": 1}]', 0, "FIXED"), (b"[{}]", 0, "FIXED"), (b"[]", 3, "NOT REPRODUCED")],
)
def test_an_empty_list_is_no_fix_of_its_item(body: bytes, code: int, word: str) -> None:
    said = exchange(response_body=b'[{"n": "1"}]', status=200, response_head=b"Content-Type: application/json\r\n")
    one = finding(
        check="response_schema_conformance", unique_key="properties/n/type", message="body[0].n: is no integer",
        interactions=(interaction(exchange=said),),
    )  # fmt: skip
    with serving(lambda request: Reply(200, "application/json", body), {}) as app:
        found, (line,) = replayed(app.url, one)
    assert (found, line.startswith(word)) == (code, True)


def _quoting(place: str, schema: dict[str, Any]) -> str:
    """Return a message as checks write it, with the schema."""
    quoted = indent(json.dumps(schema, indent=4), "    ")
    return f"{place}: is invalid\n\nSchema at #/components/schemas/One:\n\n{quoted}\n\nValue:\n\n    0"


EXTRA = b'{"rows": [{"id": 1, "sc": 2}]}'


@pytest.mark.parametrize(
    ("broken", "about", "key", "bodies"),
    [
        (EXTRA, 'body.rows[0]: "sc" is not a declared property', "items/additionalProperties",
         {b'{"rows": [{"id": 1, "sc": 3}]}': 1, b'{"rows": [{"id": 1}]}': 0, b'{"rows": []}': 3}),
        (EXTRA, "body.rows[0]: Unevaluated properties are not allowed ('sc' was unexpected)", "items/unevaluatedProperties",
         {EXTRA: 1, b'{"rows": [{"id": 1}]}': 0, b'{"rows": []}': 3}),
        (b'[{"n": 1}]', "body[0].n: 1 is less than the minimum of 5", "minimum", {b'[{"n": 1}]': 1, b'[{"n": 5}]': 0, b"[]": 3}),
        (b'["abc"]', 'body[0]: "abc" is longer than 2 characters', "maxLength", {b'["abc"]': 1, b'["ab"]': 0, b"[]": 3}),
        (b'{"n": "12:00"}', "body.n: is no time", "properties/n/format", {b'{"n": "12:01"}': 1, b"{}": 0}),
        (b'[{"a": 1}]', 'body[0]: fits the schema of "not"', "items/not", {b'[{"a": 2}]': 1, b"[]": 0}),
        (b'{"n": "12:00"}', _quoting("body.n", {"type": "string", "format": "date"}), "properties/n/format",
         {b'{"n": "12:01"}': 1, b'{"n": "2024-02-03"}': 0, b"{}": 0}),
        (b"[[1, 2, 3]]", _quoting("body[0]", {"maxItems": 2}), "items/maxItems", {b"[[1, 2, 3, 4]]": 1, b"[[1, 2]]": 0, b"[]": 0}),
        (b'[{"a": 1}]', _quoting("body[0]", {"not": {"required": ["a"]}}), "items/not", {b'[{"a": 2}]': 1, b'[{"b": 1}]': 0}),
        (b'{"n": [1, "a"]}', _quoting("body.n", {"contains": {"type": "integer"}, "minContains": 2}), "properties/n/minContains",
         {b'{"n": ["b", 2]}': 1, b'{"n": [1, 2]}': 0, b"{}": 0}),
        (b'{"n": [1, 2]}', _quoting("body.n", {"prefixItems": [{"type": "integer"}], "items": False}), "properties/n/items",
         {b'{"n": [3, "b"]}': 1, b'{"n": [1]}': 0}),
        (b'[{"n": 1}]', _quoting("body[0].n", {"minimum": 5}), "minimum", {b'[{"n": 2}]': 1, b'[{"n": 5}]': 0, b"[]": 3}),
        (b'[{"n": 5}]', _quoting("body[0].n", {"minimum": 5, "exclusiveMinimum": True}), "minimum", {b'[{"n": 5}]': 1, b'[{"n": 6}]': 0}),
    ],
)  # fmt: skip
def test_an_invalid_value_is_fixed_when_it_is_gone(
    broken: bytes, about: str, key: str, bodies: dict[bytes, int]
) -> None:
    said = exchange(response_body=broken, status=200)
    one = finding(
        check="response_schema_conformance", unique_key=key, message=about, interactions=(interaction(exchange=said),)
    )
    for body, code in bodies.items():
        with serving(lambda request, body=body: Reply(200, "application/json", body), {}) as app:  # type: ignore[misc]
            assert replayed(app.url, one)[0] == code, body


@pytest.mark.parametrize(("status", "code"), [(404, 0), (401, 3), (429, 3)])
def test_a_step_that_is_refused_unhandled_is_no_fix(status: int, code: int) -> None:
    first = interaction(label=Label("GET /rooms/1"), exchange=exchange(method="POST", status=404))
    one = finding(interactions=(first, interaction()))
    with serving(lambda request: Reply(status if request.method == "POST" else 200), {}) as app:
        found, (line,) = replayed(app.url, one)
    assert (found, f"request 1 returned {status} (in the run: 404)" in line) == (code, code == 3)


def made(**changes: Any) -> ResourceMade:
    """Return a record of `POST /items`, which made `/items/71`."""
    command = "curl -X POST -H 'Content-Type: application/json' -d '{\"name\":\"a\"}' http://127.0.0.1/items"
    values = {
        "path": "/items/71", "label": "POST /items", "phase": "coverage", "at": 0.0, "status": 201,
        "command": command, "pointer": "/item_id", **changes,
    }  # fmt: skip
    return ResourceMade(**values)


def broken_item(*needs: ResourceMade) -> Finding:
    """Return a finding of `PUT /items/71`, which answered 500."""
    put = interaction(
        label=Label("PUT /items/{item_id}"), exchange=exchange(method="PUT", target=b"/items/71", body=b"{}")
    )
    return finding(
        label="PUT /items/{item_id}", interactions=(put,), needs=needs,
        steps=(Step(Label("PUT /items/{item_id}"), Drawn(())),),
    )  # fmt: skip


class Items:
    """A server that was restarted: each creation gets a new id."""

    def __init__(self, *, create: int = 201, change: int = 500) -> None:
        self.create, self.change = create, change
        self.there: set[bytes] = set()
        self.sent: list[tuple[str, bytes]] = []

    def answer(self, request: Request) -> Reply:
        self.sent.append((request.method, request.target))
        if request.method == "POST":
            if self.create != 201:
                return json_reply({}, self.create)
            name = 900 + len(self.there)
            self.there.add(f"/items/{name}".encode())
            return json_reply({"name": "a", "item_id": name}, 201)
        return json_reply({}, self.change if request.target in self.there else 404)


def test_what_a_failure_needs_is_sent_first_and_its_new_name_is_used() -> None:
    items = Items()
    with serving(items.answer, {}) as app:
        code, (line,) = replayed(app.url, broken_item(made()))
    assert (code, line.split()[0]) == (1, "FAILED")
    assert items.sent[:2] == [("POST", b"/items"), ("PUT", b"/items/900")]
    assert len(items.sent) == 6


def test_a_defect_is_fixed_if_what_it_needs_was_made() -> None:
    with serving(Items(change=200).answer, {}) as app:
        code, (line,) = replayed(app.url, broken_item(made()))
    assert (code, line.split()[0]) == (0, "FIXED")


@pytest.mark.parametrize("create", [500, 400, 401])
def test_a_failure_whose_resource_cannot_be_made_is_not_reproduced(create: int) -> None:
    with serving(Items(create=create).answer, {}) as app:
        code, (line,) = replayed(app.url, broken_item(made()))
    assert (code, line.startswith("NOT REPRODUCED")) == (3, True)
    assert f"the request that creates /items/71 returned {create} (in the run: 201)" in line


def test_a_resource_of_other_requests_that_is_missing_is_no_fix() -> None:
    taken = Binding(Location.PATH, "item_id", Label("POST /items"), "/item_id", 0, 71)
    one = broken_item()
    one = replace(one, steps=(Step(Label(one.label), Drawn(()), (taken,)),))
    with serving(Items().answer, {}) as app:
        code, (line,) = replayed(app.url, one)
    assert (code, line.startswith("NOT REPRODUCED")) == (3, True)
    assert "returned 404 (in the run: 500), for a resource that other requests of the run created" in line


def test_a_step_of_a_sequence_that_fails_now_is_no_fix() -> None:
    first = interaction(label=Label("POST /rooms"), exchange=exchange(method="POST", status=201))
    one = finding(interactions=(first, interaction()))
    with serving(lambda request: Reply(503 if request.method == "POST" else 200), {}) as app:
        code, (line,) = replayed(app.url, one)
    assert (code, line.startswith("NOT REPRODUCED")) == (3, True)
    assert "request 1 returned 503 (in the run: 201)" in line


def test_a_failure_counts_more_than_one_that_cannot_be_sent_and_that_more_than_a_doubt() -> None:
    secret = exchange(headers=((b"X-Key", b"secret:header:X-Key"),))
    unsent = finding(fingerprint="f2", interactions=(interaction(exchange=secret),))
    doubted = broken_item(made())
    broken = finding(fingerprint="f3")

    def answer(request: Request) -> Reply:
        return Reply(500 if request.target.startswith(b"/api/users") else 401)

    with serving(answer, {}) as app:
        found = [replayed(app.url, *some)[0] for some in ((doubted, unsent, broken), (doubted, unsent), (doubted,))]
    assert found == [1, 2, 3]


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


@pytest.mark.parametrize(
    ("media_type", "shown", "sent", "wanted"),
    [
        (b"application/json", b"7", b'{"room_id": 3, "nights": 3}', b'{"room_id": 7, "nights": 3}'),
        (b"application/json", b"7", b'{"room_id": "3", "nights": 3}', b'{"room_id": "7", "nights": 3}'),
        (b"application/json", b'"7"', b'{"room_id": 3, "nights": 3}', b'{"room_id": 7, "nights": 3}'),
        (b"application/x-www-form-urlencoded", b"7", b"room_id=3&nights=3", b"room_id=7&nights=3"),
    ],
)
def test_values_in_bodies_are_those_of_the_answers_of_today_in_the_recorded_type(
    media_type: bytes, shown: bytes, sent: bytes, wanted: bytes
) -> None:
    posted: list[bytes] = []

    def answer(request: Request) -> Reply:
        if request.method == "GET":
            return Reply(200, "application/json", b'[{"id": %b, "name": "x"}]' % shown)
        posted.append(request.body)
        return Reply(500, "application/json", b"{}")

    rooms = interaction(
        label=Label("GET /rooms"),
        exchange=exchange(target=b"/rooms", status=200, response_body=b'[{"id": 3}]', response_size=11),
    )
    booked = interaction(
        label="POST /bookings",
        exchange=exchange(method="POST", target=b"/bookings", headers=((b"Content-Type", media_type),), body=sent),
    )
    taken = Binding(Location.BODY, "/room_id", Label("GET /rooms"), "/*/id", 0, 3)
    one = finding(
        steps=(Step(Label(rooms.label), Drawn(())), Step(Label(booked.label), Drawn(()), (taken,))),
        interactions=(rooms, booked),
    )
    with serving(answer, {}) as app:
        code, _ = replayed(app.url, one)
    assert code == 1
    assert posted == [wanted] * 3


def test_without_a_name_the_corpus_is_meant_that_was_written_to_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for written_at, name in ((2, "shop"), (3, "library"), (1, "old")):
        layout = RunLayout(Path(".checker", name))
        layout.create()
        file = layout.journal(1, 1000)
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
    older = RunLayout(Path(".checker", "old"))
    writer = JournalWriter(older.journal(2, 1002))
    writer.write(started())
    writer.close()
    os.utime(older.journal(2, 1002), (1, 1))
    keep_results(older, [FindingReplayed("f", FIXED, 4.0)])
    assert folder_of(None) == Path(".checker", "shop"), "results of replay make no corpus the last one"
    with pytest.raises(UsageError, match="name one of library, old, shop"):
        folder_of(".checker")
