"""Sessions with CSRF protection as frameworks make them: a login page, a login, and a list of posts."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from urllib.parse import parse_qsl, quote, unquote

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply

USER, PASSWORD = "anna", "pw-C4n4ry"
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Sessions", "version": "1"},
    "components": {"securitySchemes": {"session": {"type": "apiKey", "in": "cookie", "name": "sid"}}},
    "security": [{"session": []}],
    "paths": {
        "/posts": {
            "get": {"responses": {"200": {"description": ""}}},
            "post": {
                "parameters": [{"name": "limit", "in": "query", "schema": {"type": "integer"}}],
                "responses": {"201": {"description": ""}},
            },
        }
    },
}


@dataclass(frozen=True)
class Framework:
    """Names and statuses of one framework."""

    name: str
    status: int
    """Of a request without its token."""
    cookie: str
    """Cookie with the token; empty: the token is in pages and belongs to the session."""
    field: str
    header: str


FRAMEWORKS = (
    Framework("django", 403, "csrftoken", "csrfmiddlewaretoken", "x-csrftoken"),
    Framework("laravel", 419, "XSRF-TOKEN", "_token", "x-xsrf-token"),
    Framework("rails", 422, "", "authenticity_token", "x-csrf-token"),
    Framework("flask", 400, "", "csrf_token", "x-csrf-token"),
)


@dataclass
class Sessions:
    """A server of a framework."""

    framework: Framework
    tokens: dict[str, str] = field(default_factory=dict)
    """Identifier of a session -> its token, of the frameworks without a cookie for it."""
    users: set[str] = field(default_factory=set)
    """Sessions that are logged in."""
    passwords: list[str] = field(default_factory=list)
    """Passwords that were compared."""
    refused: int = 0
    password: str = PASSWORD
    login: str = "/login"
    _numbers: "count[int]" = field(default_factory=count)

    def answer(self, request: Request) -> Reply:
        path = request.target.decode().partition("?")[0]
        pairs = (part.partition("=") for part in request.headers.get("cookie", "").split("; "))
        cookies = {name: value for name, _, value in pairs}
        answers: dict[tuple[str, str], Callable[..., Reply]] = {
            ("GET", self.login): self._page, ("GET", "/home"): self._page, ("POST", self.login): self._login,
        }  # fmt: skip
        found = answers.get((request.method, path))
        if found is not None:
            return found(request, cookies)
        if cookies.get("sid") not in self.users:
            return json_reply({"detail": "log in"}, 401)
        if request.method == "POST":
            if not self._is_guarded(request, cookies, {}):
                self.refused += 1
                return json_reply({"detail": "CSRF Failed"}, self.framework.status)
            return json_reply({}, 201)
        return json_reply([])

    def _is_guarded(self, request: Request, cookies: dict[str, str], fields: dict[str, str]) -> bool:
        given = request.headers.get(self.framework.header) or fields.get(self.framework.field)
        name = self.framework.cookie
        wanted = unquote(cookies.get(name, "")) if name else self.tokens.get(cookies.get("sid", ""), "")
        return bool(wanted) and given == wanted

    def _page(self, request: Request, cookies: dict[str, str]) -> Reply:
        session = cookies.get("sid") if cookies.get("sid") in self.users else None
        return self._with_token(session or f"guest-{next(self._numbers)}", 200)

    def _with_token(self, session: str, status: int) -> Reply:
        token = f"csrf=C4n4ry{next(self._numbers)}"
        headers = [("Set-Cookie", f"sid={session}; HttpOnly; Path=/"), ("Location", "/home")]
        if self.framework.cookie:
            headers.append(("Set-Cookie", f"{self.framework.cookie}={quote(token)}; Path=/"))
        else:
            self.tokens[session] = token
        meta = f'<meta name="csrf-token" content="{token}">' if self.framework.name == "rails" else ""
        page = f'<html><head><title>Log in</title>{meta}</head><form><input type="hidden" name="{self.framework.field}" value="{token}"></form></html>'
        return Reply(status, "text/html", page.encode() if status == 200 else b"", tuple(headers))

    def _login(self, request: Request, cookies: dict[str, str]) -> Reply:
        fields = dict(parse_qsl(request.body.decode()))
        if not self._is_guarded(request, cookies, fields):
            return Reply(self.framework.status, "text/html", b"<title>CSRF verification failed</title>")
        self.passwords.append(fields["password"])
        if (fields["username"], fields["password"]) != (USER, self.password):
            return Reply(200, "text/html", b"<form>Wrong</form>")
        session = f"session-C4n4ry-{next(self._numbers)}"
        self.users.add(session)
        return self._with_token(session, 302)
