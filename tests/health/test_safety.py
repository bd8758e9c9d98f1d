"""What a run may do to its target, by `safety`."""

import json
import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from checker.core.operation import BrokenOperation
from checker.core.request import WireRequest
from checker.core.response import Response
from checker.core.system import Interrupts
from checker.corpus.layout import RunLayout
from checker.health import MadeResources, Safety, ends_access, leaves_out, looks_dangerous, made_paths, switches_access
from checker.kinds.sources import FetchOptions, TextSource
from checker.kinds.table import open_description
from checker.workers.cleaning import MadeLedger
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply
from tests.health.running import run
from tests.health.services import COMMON, LOGIN, Service, operation, thing_in


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/auth/logout", None),
        ("/session", "signOut"),
        ("/cache/flush", None),
        ("/admin/factory-reset", None),
        ("/users/{id}/log-off", None),
        ("/system/shutDown", None),
        ("/x", "server_shut_down"),
        ("/orders/bulk_delete", None),
        ("/orders", "deleteAllOrders"),
    ],
)
def test_what_sounds_like_the_end_is_dangerous(path: str, name: str | None) -> None:
    assert looks_dangerous(path, name)


@pytest.mark.parametrize(
    ("path", "is_ending"),
    [
        ("/auth/logout", True),
        ("/users/{id}/deactivate", True),
        ("/api-keys/{id}/rotate", True),
        ("/orders/{id}/suspend", False),
        ("/orders/reset", True),
        ("/orders/bulk_delete", False),
        ("/sessions/bulk-delete", True),
        ("/orders/{id}", False),
    ],
)
def test_an_action_on_one_resource_ends_no_access(path: str, *, is_ending: bool) -> None:
    assert ends_access(path) is is_ending


@pytest.mark.parametrize(
    ("method", "path", "is_switch"),
    [
        ("POST", "/settings/access", True),
        ("PATCH", "/api/jwt/settings", True),
        ("PUT", "/auth/config", True),
        ("DELETE", "/security/policies", True),
        ("GET", "/settings/access", False),
        ("POST", "/access/{id}/settings", False),
        ("PUT", "/users/settings", False),
        ("POST", "/tokens", False),
        ("POST", "/settings", False),
    ],
)
def test_a_change_of_the_settings_of_access_is_a_switch(method: str, path: str, *, is_switch: bool) -> None:
    assert switches_access(method, path) is is_switch


@pytest.mark.parametrize("path", ["/things", "/blog/out", "/presets", "/login", "/logout/{id}/things/all"])
def test_what_only_looks_alike_is_not(path: str) -> None:
    assert not looks_dangerous(path)


@dataclass(frozen=True)
class Entry:
    resource_method: str
    path: str
    operation_id: str | None = None
    resource: str = ""

    @property
    def resource_path(self) -> str:
        return self.resource or self.path


@pytest.mark.parametrize(
    ("entry", "left_out"),
    [
        (Entry("GET", "/a"), ()),
        (Entry("POST", "/a"), ("read-only",)),
        (Entry("DELETE", "/a/{b}"), ("read-only",)),
        (Entry("GET", "/logout"), ("read-only", "create-own")),
        (Entry("GET", "/api", "user", "/User/{id}"), ()),
        (Entry("POST", "/api", "createUser", "/User"), ("read-only",)),
        (Entry("PATCH", "/api", "updateUser", "/User/{id}"), ("read-only", "create-own")),
        (Entry("DELETE", "/api", "deleteUser", "/User/{id}"), ("read-only", "create-own")),
        (Entry("POST", "/api", "logout", "/User"), ("read-only", "create-own")),
    ],
)
def test_levels_leave_operations_out(entry: Entry, left_out: tuple[str, ...]) -> None:
    assert tuple(level.value for level in Safety if leaves_out(level, entry)) == left_out


SDL = """
type Query { user(id: ID!): User }
type Mutation { createUser(name: String!): User, renameUser(id: ID!, name: String!): User, deleteUser(id: ID!): Boolean, logout: Boolean }
type User { id: ID!, name: String! }
"""


def test_what_queries_and_mutations_do_decides_whether_they_take_part() -> None:
    schema = open_description(TextSource(SDL.encode(), "users.graphql"), FetchOptions())
    left = {
        level.value: [
            entry.label
            for entry in schema.entries()
            if not isinstance(entry, BrokenOperation) and not leaves_out(level, entry)
        ]
        for level in Safety
    }
    assert left["read-only"] == ["Query.user"]
    assert left["create-own"] == ["Query.user", "Mutation.createUser"]
    assert len(left["full"]) == 5


def answer(value: Any, *headers: tuple[str, str]) -> Response:
    request = WireRequest("POST", b"/v1/things", [])
    content = json.dumps(value).encode()
    return Response(201, [("Content-Type", "application/json"), *headers], content, request=request)


@pytest.mark.parametrize(
    ("found", "names", "paths"),
    [
        (answer({"id": 7}), ("id",), ["/v1/things/7"]),
        (answer({"thing_id": "a/b", "id": 1}), ("thing_id",), ["/v1/things/a%2Fb"]),
        (answer({"data": {"uuid": "u"}}), ("id",), ["/v1/things/u"]),
        (answer({}, ("Location", "http://h/v1/things/9?x=1")), (), ["/v1/things/9"]),
        (answer({}, ("Location", "http://[::1")), (), []),
        (answer({"id": 7}, ("Location", "/v1/things/")), ("id",), ["/v1/things/7"]),
        (answer({}, ("Location", "/v1/things")), (), ["/v1/things"]),
        (answer({}, ("Location", "/")), ("id",), []),
        (answer({"id": 7}), (), []),
        (answer([1]), ("id",), []),
        (answer({"id": True}), ("id",), []),
    ],
)
def test_answers_tell_what_was_made(found: Response, names: tuple[str, ...], paths: list[str]) -> None:
    assert list(made_paths("/v1/things", found, names)) == paths


def test_what_stands_below_something_made_is_own() -> None:
    made = MadeResources()
    made.paths["/things/5"] = "POST /things"
    assert [made.owns(path) for path in ("/things/5", "/things/5/parts/1")] == [True, True]
    assert [made.owns(path) for path in ("/things/55", "/things", "/things/4")] == [False] * 3


@dataclass
class Shop(Service):
    """Things of others are there before anybody makes one."""

    when: Any = None
    """Called at each request."""
    harm: list[str] = field(default_factory=list)
    """Requests that changed what the run had not made."""
    is_closed: bool = False
    """Whether it wants the token that `POST /login` gives."""
    status: int = 201
    """Of the answer to what makes something."""

    @classmethod
    def new(cls) -> "Shop":
        put = operation(200, 400, 404, body={"type": "object"})
        paths = {
            "/cache/flush": {"post": operation(204)},
            "/settings": {"put": operation(200)},
            "/things/{id}": {**COMMON["/things/{id}"], "put": put},
        }
        shop = cls(paths, 403, made=100)
        shop.things = {number: {"name": "x"} for number in range(-2, 101)}
        return shop

    @property
    def document(self) -> dict[str, Any]:
        found = super().document
        found["paths"] = COMMON | self.paths
        if self.is_closed:
            schemes = {"Bearer": {"type": "http", "scheme": "bearer"}}
            found |= {"components": {"securitySchemes": schemes}, "security": [{"Bearer": []}]}
        return found

    def own(self, method: str, path: str, request: Request) -> Reply | None:
        if self.when is not None:
            self.when()
        if path == "/login":
            return json_reply({"token": "t1"})
        if self.is_closed and request.headers.get("authorization") != "Bearer t1":
            return json_reply({}, 401)
        found = re.fullmatch("/things/(-?[0-9]+)", path)
        is_foreign = found is not None and int(found[1]) <= 100
        if method in ("PUT", "PATCH", "DELETE") and (found is None or is_foreign):
            self.harm.append(f"{method} {path}")
        if path == "/cache/flush":
            self.harm.append(path)
            return Reply(204)
        if method == "PUT" and found is not None and int(found[1]) in self.things:
            return json_reply({})
        if method == "POST" and path == "/things" and thing_in(request) is not None:
            self.made += 1
            self.things[self.made] = thing_in(request)
            return json_reply({"id": self.made}, self.status)
        return None

    @property
    def left(self) -> list[int]:
        """Things of the run that are still there."""
        return [number for number in self.things if number > 100]


def test_read_only_sends_nothing_that_changes_anything(tmp_path: Path) -> None:
    shop = Shop.new()
    run(tmp_path, shop, {"safety": "read-only"})
    methods = {what.split()[0] for what, _ in shop.seen}
    assert "GET" in methods
    assert methods <= {"GET", "HEAD", "OPTIONS", "QUERY", "TRACE"}


def test_create_own_touches_only_what_it_made_and_removes_it(tmp_path: Path) -> None:
    shop = Shop.new()
    ran = run(tmp_path, shop, {"safety": "create-own"})
    assert shop.harm == []
    assert shop.made > 110
    assert any(what.startswith("PUT /things/1") and status == 200 for what, status in shop.seen)
    assert shop.left == []
    assert not ran.notes("left_behind")


def test_what_looking_into_failures_made_is_removed(tmp_path: Path) -> None:
    shop = Shop.new()
    shop.status = 202
    ran = run(tmp_path, shop, {"safety": "create-own"})
    assert ("POST /things", "Undocumented HTTP status code") in ran.findings
    assert shop.left == []


class Unique(Shop):
    """A shop that refuses a second thing like another one, but looks and acts in two steps."""

    def own(self, method: str, path: str, request: Request) -> Reply | None:
        if method == "POST" and path == "/things":
            if thing_in(request) in [*self.things.values()]:
                return json_reply({}, 409)
            time.sleep(0.005)
        return super().own(method, path, request)


def test_what_two_requests_at_once_made_is_removed(tmp_path: Path) -> None:
    shop = Unique.new()
    checks = {"enabled": False, "races": {"enabled": True, "in-run": True}}
    run(tmp_path, shop, {"safety": "create-own", "checks": checks, "generation": {"max-examples": 40}})
    statuses = [status for what, status in shop.seen if what == "POST /things"]
    assert 409 in statuses, "a repetition was refused, and so two were sent at once"
    assert shop.left == []


def test_what_nothing_removes_is_told_once(tmp_path: Path) -> None:
    shop = Shop.new()
    del shop.paths["/things/{id}"]["delete"]
    ran = run(tmp_path, shop, {"safety": "create-own"})
    assert len(shop.left) > 10
    ((label, text),) = ran.notes("left_behind")
    assert label == "POST /things"
    assert f", and {len(shop.left) - 1} more like it: no operation that is tested removes it" in text


def test_what_was_made_with_a_token_is_removed_with_one(tmp_path: Path) -> None:
    shop = Shop.new()
    shop.is_closed = True
    run(tmp_path, shop, {"safety": "create-own", **LOGIN})
    assert shop.made > 110
    assert shop.left == []


def test_full_does_anything(tmp_path: Path) -> None:
    shop = Shop.new()
    run(tmp_path, shop, {"safety": "full"})
    assert "/cache/flush" in shop.harm
    # What sounds dangerous comes last.
    first = next(n for n, (what, _) in enumerate(shop.seen) if what.endswith("/cache/flush"))
    assert all(what.endswith("/cache/flush") for what, _ in shop.seen[first:])


def test_what_an_interrupted_run_made_is_removed(tmp_path: Path) -> None:
    shop = Shop.new()
    interrupts = Interrupts()

    def stop() -> None:
        interrupts.count = int(shop.made >= 110)

    shop.when = stop
    ran = run(tmp_path, shop, {"safety": "create-own"}, interrupts=interrupts)
    assert ran.outcome.exit_code == 130
    assert shop.made >= 110
    assert shop.left == []


def test_what_a_killed_run_made_is_removed_by_the_next_one(tmp_path: Path) -> None:
    shop = Shop.new()
    shop.things[101] = {"name": "left"}
    shop.made = 101

    def left_behind(url: str) -> None:
        layout = RunLayout(tmp_path / "corpus")
        layout.create()
        ledger = MadeLedger(layout.made, url)
        ledger.write("/things/101", "POST /things")
        ledger.write("/things/50", "POST /things")
        ledger.write("/things/50", "")
        ledger.close()
        with layout.made.open("ab") as torn:
            torn.write(b'["http')

    run(tmp_path, shop, {"safety": "create-own"}, before=left_behind, phases=("examples",))
    assert ("DELETE /things/101", 204) in shop.seen
    assert shop.harm == []
