"""FastAPI with the OAuth2 password flow of its documentation: a token that is good for so many requests."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Form, HTTPException, Response
from fastapi.security import APIKeyCookie, APIKeyHeader, OAuth2PasswordBearer

from tests.apps.uvicorn_server import served

USER, PASSWORD = "anna", "pw-C4n4ry-5"


@dataclass
class Tokens:
    """What a server gave and took."""

    uses: int = 500
    """Requests that a token is good for."""
    is_down: bool = False
    """Whether nobody can log in."""
    url: str = ""
    given: list[str] = field(default_factory=list)
    left: int = 0
    wasted: int = 0
    """Logins while the last token was still good."""
    logins: int = 0
    served: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def log_in(self, user: str, password: str) -> str:
        with self._lock:
            self.logins += 1
            if self.is_down:
                raise HTTPException(503)
            if (user, password) != (USER, PASSWORD):
                raise HTTPException(401)
            self.wasted += self.left > 0
            self.left = self.uses
            self.given.append(f"tok-C4n4ry-{len(self.given):04d}")
            return self.given[-1]

    def use(self, path: str, token: str | None) -> dict[str, Any]:
        with self._lock:
            if not self.left or token != self.given[-1]:
                self.refused += 1
                raise HTTPException(401)
            self.left -= 1
            self.served[path] += 1
            # Echoed, as careless servers do.
            return {"token": token}


def token_app(tokens: Tokens, operations: int) -> FastAPI:
    app = FastAPI(title="Tokens")
    bearer = OAuth2PasswordBearer(tokenUrl="login", scheme_name="Password")
    session = APIKeyCookie(name="sid", scheme_name="Session")
    ticket = APIKeyHeader(name="X-Ticket", scheme_name="Ticket")

    @app.post("/login")
    def log_in(username: Annotated[str, Form()], password: Annotated[str, Form()], answer: Response) -> dict[str, str]:
        token = tokens.log_in(username, password)
        answer.set_cookie("session", token, httponly=True)
        answer.headers["X-Token"] = token
        return {"access_token": token, "token_type": "bearer"}

    def add(number: int) -> None:
        @app.get(f"/item{number}/{{key}}", operation_id=f"item{number}")
        def item(key: int, token: Annotated[str, Depends(bearer)]) -> dict[str, Any]:
            return tokens.use(f"item{number}", token)

    for number in range(operations):
        add(number)

    @app.get("/session")
    def with_session(token: Annotated[str, Depends(session)]) -> dict[str, Any]:
        return tokens.use("session", token)

    @app.get("/ticket")
    def with_ticket(token: Annotated[str, Depends(ticket)]) -> dict[str, Any]:
        return tokens.use("ticket", token)

    @app.get("/public")
    def public() -> dict[str, str]:
        return {}

    return app


@contextmanager
def serving_tokens(tokens: Tokens, operations: int = 4) -> Iterator[Tokens]:
    """The application on loopback until left."""
    with served(token_app(tokens, operations)) as tokens.url:
        yield tokens
