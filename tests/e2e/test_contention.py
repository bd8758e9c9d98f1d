"""A server error for which other requests at the same time may be the reason is stable only if it shows every time."""

from collections import Counter
from collections.abc import Callable
from itertools import count
from time import monotonic
from typing import Any

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Locks", "version": "1"},
    "paths": {"/things": {"get": {"responses": {"200": {"description": ""}, "503": {"description": ""}}}}},
}


class Locked:
    """A service that fails three times of four, or always."""

    def __init__(self, status: int, text: str, *, is_always: bool = False) -> None:
        self.status, self.text, self.is_always = status, text, is_always
        self._numbers = count()

    def __call__(self, request: Request) -> Reply:
        if request.method != "GET":
            return Reply(405, headers=(("Allow", "GET"),))
        is_served = not self.is_always and next(self._numbers) % 4 == 3
        return json_reply({}) if is_served else json_reply({"detail": self.text}, self.status)


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize(
    ("status", "text"),
    [
        (500, "database is locked"),
        (500, "deadlock detected"),
        (500, "Lock wait timeout exceeded; try restarting transaction"),
        (503, "no reason"),
    ],
)
def test_a_server_error_that_passes_is_intermittent(command: Command, status: int, text: str) -> None:
    with serving(Locked(status, text), DOCUMENT) as app:
        ran = command.run(app.document_url, "-n", "3", inline=True)
    (finding,) = ran.findings
    assert finding.investigation.reproduced is True
    assert finding.investigation.hits < finding.investigation.tries, ran.shown
    assert "intermittent (" in ran.stdout


def test_a_service_that_is_never_available_may_be_so_for_a_moment(command: Command) -> None:
    """Locks may outlast all repetitions, and 503 states that it passes."""
    with serving(Locked(503, "in maintenance", is_always=True), DOCUMENT) as app:
        ran = command.run(app.document_url, "-n", "3", inline=True)
    (finding,) = ran.findings
    assert finding.investigation.hits == finding.investigation.tries > 1, ran.shown
    assert "(temporary by its status)" in ran.stdout
    assert "intermittent" not in ran.stdout


def test_a_service_that_always_fails_is_sent_little_more(command: Command) -> None:
    """Each operation has a case, its repetition, its simplest case and its command, which all fail."""
    described = {"get": {"responses": {"200": {"description": ""}, "500": {"description": ""}}}}
    document = {**DOCUMENT, "paths": {f"/{number}": described for number in range(20)}}
    with serving(lambda _: Reply(500), document) as app:
        given = ("--checks", "not_a_server_error", "--phases", "fuzzing", "--mode", "positive")
        ran = command.run(app.document_url, "-n", "1", *given, inline=True)
        sent = Counter(request.target for request in app.seen if request.target != b"/openapi.json")
    assert len(ran.findings) == len(document["paths"]), ran.shown
    assert max(sent.values()) <= 5, sent


@pytest.mark.parametrize(("is_always", "causes"), [(False, 1), (True, 2)])
def test_errors_without_a_reason_that_pass_are_one_cause(command: Command, is_always: bool, causes: int) -> None:
    names = ("things", "others")
    answers = {f"/{name}": Locked(500, "Internal Server Error", is_always=is_always) for name in names}
    described = {"get": {"responses": {"200": {"description": ""}, "500": {"description": ""}}}}
    document = {**DOCUMENT, "paths": dict.fromkeys(answers, described)}
    with serving(lambda request: answers[request.target.decode()](request), document) as app:
        ran = command.run(app.document_url, "-n", "3", inline=True)
    assert len({one.cause for one in ran.findings}) == causes, ran.shown
    assert [one.investigation.hits < one.investigation.tries for one in ran.findings] == [not is_always] * 2, ran.shown


class Held:
    """A service that fails for half a second from its first request on, because another request holds a lock."""

    def __init__(self) -> None:
        self._since: float | None = None

    def __call__(self, request: Request) -> Reply:
        if request.method != "GET":
            return Reply(405, headers=(("Allow", "GET"),))
        self._since = self._since or monotonic()
        is_held = monotonic() - self._since < 0.5
        return json_reply({"detail": "Internal Server Error"}, 500) if is_held else json_reply({})


def test_a_lock_outlasts_the_first_repetitions(command: Command) -> None:
    answers: dict[str, Callable[[Request], Reply]] = {"/things": Locked(500, "Internal Server Error"), "/held": Held()}
    described = {"get": {"responses": {"200": {"description": ""}, "500": {"description": ""}}}}
    document = {**DOCUMENT, "paths": dict.fromkeys(answers, described)}
    with serving(lambda request: answers[request.target.decode()](request), document) as app:
        ran = command.run(app.document_url, "-n", "3", inline=True)
    things, held = sorted(ran.findings, key=lambda one: one.label, reverse=True)
    assert held.investigation.hits < held.investigation.tries, ran.shown
    assert held.cause == things.cause


_WERKZEUG = "Either the server is overloaded or there is an error in the application."


@pytest.mark.parametrize("text", ["index out of range", f"index out of range. {_WERKZEUG}"])
def test_any_other_server_error_is_confirmed_once(command: Command, text: str) -> None:
    with serving(Locked(500, text, is_always=True), DOCUMENT) as app:
        ran = command.run(app.document_url, "-n", "3", inline=True)
    (finding,) = ran.findings
    assert finding.investigation.tries == 2, ran.shown


def test_a_rare_error_is_counted_over_all_attempts(command: Command) -> None:
    """To end at the first hit would count it twice, however rare it is."""
    numbers = count()

    def answered(request: Request) -> Reply:
        if request.method != "GET":
            return Reply(405, headers=(("Allow", "GET"),))
        is_broken = next(numbers) % 4 == 0
        return json_reply({"detail": "index out of range"}, 500) if is_broken else json_reply({})

    with serving(answered, DOCUMENT) as app:
        ran = command.run(app.document_url, "-n", "3", "--checks", "not_a_server_error", inline=True)
    (finding,) = ran.findings
    assert (finding.investigation.hits, finding.investigation.tries) == (3, 8), ran.shown


@pytest.mark.parametrize(("errors", "found"), [(1, 0), (1_000, 1)])
def test_an_error_that_passes_tells_nothing_about_credentials(command: Command, errors: int, found: int) -> None:
    """The service fails without credentials this many times, and refuses the requests afterwards."""
    numbers = count()

    def answered(request: Request) -> Reply:
        if request.method != "GET":
            return Reply(405, headers=(("Allow", "GET"),))
        if request.headers.get("authorization") == "Bearer abc":
            return json_reply({})
        return Reply(500) if next(numbers) < errors else Reply(401)

    scheme = {"bearer": {"type": "http", "scheme": "bearer"}}
    document = {**DOCUMENT, "components": {"securitySchemes": scheme}, "security": [{"bearer": []}]}
    with serving(answered, document) as app:
        given = ("--checks", "ignored_auth", "-H", "Authorization: Bearer abc")
        ran = command.run(app.document_url, "-n", "3", *given, inline=True)
    assert [one.check for one in ran.findings if not one.investigation.withdrawn] == ["ignored_auth"] * found, ran.shown


def test_errors_without_credentials_are_only_repeated_once_their_cause_is_known(command: Command) -> None:
    refused: Counter[bytes] = Counter()

    def answered(request: Request) -> Reply:
        if request.method != "GET":
            return Reply(405, headers=(("Allow", "GET"),))
        if request.headers.get("authorization") == "Bearer abc":
            return json_reply({})
        refused[request.target.partition(b"?")[0]] += 1
        return Reply(500)

    scheme = {"bearer": {"type": "http", "scheme": "bearer"}}
    parameter = {"name": "q", "in": "query", "schema": {"type": "string"}}
    described = {"get": {"parameters": [parameter], "responses": {"200": {"description": ""}}}}
    paths = {f"/{number}": described for number in range(24)}
    document = {**DOCUMENT, "paths": paths, "components": {"securitySchemes": scheme}, "security": [{"bearer": []}]}
    with serving(answered, document) as app:
        given = ("--checks", "ignored_auth", "-H", "Authorization: Bearer abc", "--phases", "fuzzing")
        ran = command.run(app.document_url, "-n", "3", *given, inline=True)
    assert len([one for one in ran.findings if not one.investigation.withdrawn]) == len(paths), ran.shown
    assert sorted(refused.values())[len(paths) // 2] == 3, "the probe, and two repetitions"


@pytest.mark.parametrize(("place", "causes"), [("header", 1), ("query", 3)])
def test_errors_without_a_reason_that_need_one_header_are_one_cause(command: Command, place: str, causes: int) -> None:
    """One part of a server reads a header for all operations; a parameter of a query is read by each."""

    def answered(request: Request) -> Reply:
        if request.method != "GET":
            return Reply(405, headers=(("Allow", "GET"),))
        _, _, query = request.target.partition(b"X-Version=")
        value = request.headers.get("x-version", "") or query.partition(b"&")[0].decode()
        return Reply(500, "text/plain", b"Internal Server Error") if len(value) > 3 else json_reply({})

    parameters = [{"name": "X-Version", "in": place, "schema": {"type": "string"}}]
    described = {"get": {"parameters": parameters, "responses": {"200": {"description": ""}}}}
    document = {**DOCUMENT, "paths": {f"/{name}": described for name in "abc"}}
    with serving(answered, document) as app:
        ran = command.run(app.document_url, "-n", "40", "--checks", "not_a_server_error", inline=True)
    assert len(ran.findings) == 3, ran.shown
    assert len({one.cause for one in ran.findings}) == causes, ran.shown


def test_all_conditions_of_requests_are_one_header(command: Command) -> None:
    """One line of a service reads `If-Match` and `If-None-Match`; large numbers beside them are not to blame."""
    names = {"a": "If-Match", "b": "If-None-Match", "c": "If-Match"}

    def answered(request: Request) -> Reply:
        if request.method != "GET":
            return Reply(405, headers=(("Allow", "GET"),))
        given = request.headers.get("if-match", "") + request.headers.get("if-none-match", "")
        return (
            Reply(500, "text/plain", b"Internal Server Error")
            if given.startswith("*") and given != "*"
            else json_reply({})
        )

    def described(header: str) -> dict[str, Any]:
        parameters = [
            {"name": header, "in": "header", "schema": {"type": "string", "pattern": "^[*][a-z]$"}},
            {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 9 * 10**18}},
        ]
        return {"get": {"parameters": parameters, "responses": {"200": {"description": ""}}}}

    document = {**DOCUMENT, "paths": {f"/{name}": described(header) for name, header in names.items()}}
    with serving(answered, document) as app:
        ran = command.run(app.document_url, "-n", "40", "--checks", "not_a_server_error", inline=True)
    assert len(ran.findings) == len(names), ran.shown
    assert len({one.cause for one in ran.findings}) == 1, ran.shown
