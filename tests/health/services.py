"""Small services after one of whose requests nobody is served any more."""

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply

LOGIN = {"auth": {"dynamic": {"openapi": {"Bearer": {"path": "/login", "extract_selector": "/token"}}}}}
"""Configuration: the token of `POST /login`, for the scheme `Bearer`."""
OBJECT = {"type": "object"}
_NAME = {"type": "string", "minLength": 1, "maxLength": 8}


def operation(*statuses: int, body: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = {
        "responses": {
            str(status): {"description": "", "content": {"application/json": {"schema": OBJECT}}} for status in statuses
        },
        **more,
    }
    if body is not None:
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    return found


THING = {"type": "object", "properties": {"name": _NAME}, "required": ["name"]}
COMMON: dict[str, Any] = {
    "/things": {"get": operation(200), "post": operation(201, 400, body=THING)},
    "/things/{id}": {
        "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
        "get": operation(200, 404, 400),
        "delete": operation(204, 404, 400),
    },
    "/users": {"get": operation(200)},
    "/orders": {"get": operation(200)},
}

FURTHER: dict[str, Any] = {f"/{name}": {"get": operation(200)} for name in ("groups", "labels", "reports")}
LISTS = frozenset(path for path in COMMON | FURTHER if "{" not in path)


def thing_in(request: Request) -> dict[str, Any] | None:
    """The thing that a request brings, if it is one."""
    if request.headers.get("content-type") != "application/json":
        return None
    try:
        body = json.loads(request.body)
    except ValueError:
        return None
    name = body.get("name") if isinstance(body, dict) else None
    return body if isinstance(name, str) and 1 <= len(name) <= 8 else None


@dataclass
class Service:
    """Serves things, users and orders, until one of its requests `ends` that."""

    paths: dict[str, Any]
    """Its own, beside the common ones."""
    refusal: int
    seen: list[tuple[str, int]] = field(default_factory=list)
    """(method and path, status) in order."""
    things: dict[int, Any] = field(default_factory=dict)
    made: int = 0
    is_ended: bool = False

    @property
    def document(self) -> dict[str, Any]:
        return {
            "openapi": "3.0.3",
            "info": {"title": type(self).__name__, "version": "1"},
            "paths": self.paths | COMMON,
        }

    def __call__(self, request: Request) -> Reply:
        path = request.target.partition(b"?")[0].decode("latin-1")
        own = self.own(request.method, path, request)
        if own is None:
            own = self.refused() if self.is_ended else self._things(request.method, path, request)
        if self.is_known(request):
            self.seen.append((f"{request.method} {path}", own.status))
        return own

    def is_known(self, request: Request) -> bool:
        """Whether a request has the credentials that it could have: checks leave them out on purpose."""
        return True

    def own(self, method: str, path: str, request: Request) -> Reply | None:
        """The answer of what the common paths do not have."""
        return None

    def refused(self) -> Reply:
        return json_reply({"detail": "no"}, self.refusal)

    def _things(self, method: str, path: str, request: Request) -> Reply:
        if path in LISTS:
            if method == "POST" and path == "/things":
                body = thing_in(request)
                if body is None:
                    return json_reply({}, 400)
                self.made += 1
                self.things[self.made] = body
                return json_reply({"id": self.made}, 201)
            return self._allowed(method, ("GET", "POST") if path == "/things" else ("GET",))
        found = re.fullmatch("/things/(-?[0-9]+)", path)
        if found is None:
            return json_reply({}, 400 if path.startswith("/things/") else 404)
        if method not in ("GET", "DELETE"):
            return self._allowed(method, ("GET", "DELETE"))
        if int(found[1]) not in self.things:
            return json_reply({}, 404)
        if method == "DELETE":
            del self.things[int(found[1])]
            return Reply(204)
        return json_reply({})

    def _allowed(self, method: str, methods: tuple[str, ...]) -> Reply:
        if method in methods:
            return json_reply({})
        return Reply(405, "application/json", b"{}", (("Allow", ", ".join(methods)),))

    def statuses_after(self, event: int) -> Counter[int]:
        """Of all that came after request number `event`."""
        return Counter(status for _, status in self.seen[event:])


@dataclass
class Leaving(Service):
    """A session that one request ends; `POST /login` begins another one, where that is known."""

    method: str = "GET"
    path: str = "/session/leave"
    status: int = 200
    token: int = 1
    logins: int = 0

    @classmethod
    def by(cls, method: str, path: str, status: int = 200, *, refusal: int = 401) -> "Leaving":
        body = THING if method in ("POST", "PUT", "PATCH") else None
        return cls(
            {path: {method.lower(): operation(status, 400, refusal, body=body)}},
            refusal,
            method=method,
            path=path,
            status=status,
        )

    @property
    def document(self) -> dict[str, Any]:
        found = super().document
        found["components"] = {"securitySchemes": {"Bearer": {"type": "http", "scheme": "bearer"}}}
        found["security"] = [{"Bearer": []}]
        return found

    def is_known(self, request: Request) -> bool:
        return re.fullmatch("Bearer t[0-9]+", request.headers.get("authorization", "")) is not None

    def own(self, method: str, path: str, request: Request) -> Reply | None:
        if path == "/login":
            self.logins += 1
            self.token += 1
            return json_reply({"token": f"t{self.token}"})
        self.is_ended = request.headers.get("authorization") != f"Bearer t{self.token}"
        if path != self.path or self.is_ended:
            return None
        if method != self.method:
            return self._allowed(method, (self.method,))
        if method == "POST" and thing_in(request) is None:
            return json_reply({}, 400)
        self.token += 1
        return json_reply({}, self.status) if self.status != 204 else Reply(204)


@dataclass
class Removing(Leaving):
    """The removal of the account of the run fails with a server error, after the account is gone."""

    accounts: set[int] = field(default_factory=lambda: {1, 2, 3})

    @classmethod
    def new(cls) -> "Removing":
        account = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
        listed = operation(200)
        listed["responses"]["200"]["content"]["application/json"]["schema"] = {"type": "array", "items": account}
        member = {
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
            "get": operation(200, 404, 400),
            "delete": operation(204, 404, 400),
        }
        return cls({"/accounts": {"get": listed}, "/accounts/{id}": member}, 401, path="")

    def own(self, method: str, path: str, request: Request) -> Reply | None:
        left = super().own(method, path, request)
        found = re.fullmatch("/accounts/(-?[0-9]+)", path)
        if left is not None or self.is_ended or not (found or path == "/accounts"):
            return left
        if found is None:
            return (
                json_reply([{"id": one} for one in sorted(self.accounts)])
                if method == "GET"
                else self._allowed(method, ("GET",))
            )
        if method not in ("GET", "DELETE"):
            return self._allowed(method, ("GET", "DELETE"))
        account = int(found[1])
        if account not in self.accounts:
            return json_reply({}, 404)
        if method == "GET":
            return json_reply({"id": account})
        self.accounts.remove(account)
        self.token += account == 1
        return json_reply({}, 500) if account == 1 else Reply(204)


@dataclass
class Expiring(Leaving):
    """Its first token has expired when somebody signs in with what is made up, and is refused for that."""

    has_expired: bool = False

    @classmethod
    def new(cls) -> "Expiring":
        sign_in = operation(200, 401, body=OBJECT) | {"security": []}
        return cls({"/sign-in": {"post": sign_in}}, 401, path="/sign-in")

    def own(self, method: str, path: str, request: Request) -> Reply | None:
        if path == "/sign-in":
            if self.made and not self.has_expired:
                self.has_expired = True
                self.token += 1
            return self.refused() if method == "POST" else self._allowed(method, ("POST",))
        return super().own(method, path, request)


@dataclass
class Maintenance(Service):
    """Serves nobody while it is switched off."""

    @classmethod
    def new(cls) -> "Maintenance":
        modes = {"type": "string", "enum": ["off", "drained", "on"]}
        switch = {"type": "object", "properties": {"mode": modes}, "required": ["mode"]}
        return cls({"/admin/mode": {"put": operation(200, 400, body=switch)}}, 503)

    def own(self, method: str, path: str, request: Request) -> Reply | None:
        if path != "/admin/mode":
            return None
        if method != "PUT":
            return self._allowed(method, ("PUT",))
        try:
            mode = json.loads(request.body)["mode"]
            assert mode in ("off", "drained", "on")
        except (ValueError, TypeError, KeyError, AssertionError):
            return json_reply({}, 400)
        self.is_ended = mode != "on"
        return json_reply({})


@dataclass
class Busy(Service):
    """A watcher that watches everything also sees what it does itself, and leaves no turn for other changes while it exists."""

    watchers: dict[int, bool] = field(default_factory=dict)
    """Id -> whether it watches everything."""
    blocks: bool = True
    """Whether changes are refused while there is a watcher."""
    begins: int = 0
    """Number of requests before which a new watcher watches nothing."""
    attempts: int = 0

    @classmethod
    def new(cls, *, blocks: bool = True, begins: int = 0) -> "Busy":
        paths: dict[str, Any] = {
            f"/{name}": {"get": operation(200), "post": operation(201, 400, body=THING)}
            for name in ("groups", "labels", "reports", "notes")
        }
        member = {
            "parameters": COMMON["/things/{id}"]["parameters"],
            "get": operation(200, 404, 400),
            "delete": operation(204, 404, 400),
        }
        return cls(paths | {"/watchers": paths["/groups"], "/watchers/{id}": member}, 503, blocks=blocks, begins=begins)

    def own(self, method: str, path: str, request: Request) -> Reply | None:
        if any(self.watchers.values()) and self.blocks and method not in ("GET", "HEAD", "OPTIONS", "TRACE"):
            self.attempts += 1
            if path.partition("/watchers/")[0] or self.attempts % 5:
                return self.refused()
        if not self.blocks and method == "POST" and path in ("/groups", "/labels", "/reports", "/notes"):
            return self.refused()
        found = re.fullmatch("/watchers/(-?[0-9]+)", path)
        if found is not None and method in ("GET", "DELETE"):
            if int(found[1]) not in self.watchers:
                return json_reply({}, 404)
            if method == "GET":
                return json_reply({})
            del self.watchers[int(found[1])]
            return Reply(204)
        if path.strip("/") not in ("groups", "labels", "reports", "notes", "watchers"):
            return None if found is None else self._allowed(method, ("GET", "DELETE"))
        if method != "POST":
            return self._allowed(method, ("GET", "POST"))
        if thing_in(request) is None:
            return json_reply({}, 400)
        self.made += 1
        if path == "/watchers":
            self.watchers[self.made] = len(self.seen) >= self.begins
        return json_reply({"id": self.made}, 201)


@dataclass
class LockOut(Service):
    """Locks everybody out for a while after five attempts in a row."""

    attempts: int = 0
    left: int = 0
    """Requests that are refused before it serves again."""

    @classmethod
    def new(cls) -> "LockOut":
        return cls({"/attempts": {"post": operation(200, 400, body=THING)}}, 429)

    def own(self, method: str, path: str, request: Request) -> Reply | None:
        if self.left:
            self.left -= 1
            return self.refused()
        if (method, path) != ("POST", "/attempts"):
            self.attempts = 0
            return self._allowed(method, ("POST",)) if path == "/attempts" else None
        if thing_in(request) is None:
            return json_reply({}, 400)
        self.attempts += 1
        if self.attempts == 5:
            self.attempts, self.left = 0, 8
        return json_reply({})


@dataclass
class Limited(Service):
    """Serves ten requests, whatever they are, and refuses the next five; after `quota` it refuses all."""

    quota: int = 10**6
    served: int = 10
    """Of fifteen requests."""
    asked: int = 0

    is_alone: bool = False
    """Whether there is nothing but `POST /things`."""

    @classmethod
    def new(cls, quota: int = 10**6, *, is_alone: bool = False) -> "Limited":
        return cls({}, 429, quota=quota, is_alone=is_alone)

    @property
    def document(self) -> dict[str, Any]:
        found = super().document
        if self.is_alone:
            found["paths"] = {"/things": {"post": COMMON["/things"]["post"]}}
        return found

    def own(self, method: str, path: str, request: Request) -> Reply | None:
        self.asked += 1
        is_too_much = self.asked % 15 >= self.served or self.asked > self.quota
        return self.refused() if is_too_much else None
