"""FastAPI with accounts: whoever signs up can log in, and only who is logged in may see anything."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Form, HTTPException, Request
from fastapi.security import OAuth2PasswordBearer
from pydantic import BaseModel, Field

from tests.apps.uvicorn_server import served


class Role(StrEnum):
    guest = "guest"
    site_admin = "site_admin"


class NewUser(BaseModel):
    username: Annotated[str, Field(min_length=3, max_length=40)]
    password: Annotated[str, Field(min_length=8, json_schema_extra={"writeOnly": True})]
    full_name: str | None = None
    role: Role = Role.guest


@dataclass
class Accounts:
    """What a server was told."""

    sign_up_status: int = 201
    login_status: int = 200
    url: str = ""
    made: dict[str, dict[str, Any]] = field(default_factory=dict)
    logins: Counter[bool] = field(default_factory=Counter)
    """Whether somebody was let in -> how often."""
    served: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)


def account_app(accounts: Accounts) -> FastAPI:
    app = FastAPI(title="Accounts")
    bearer = OAuth2PasswordBearer(tokenUrl="auth/token", auto_error=False)

    @app.post("/auth/register", status_code=201)
    def register(user: NewUser) -> dict[str, str]:
        if accounts.sign_up_status != 201:
            raise HTTPException(accounts.sign_up_status, "closed for today")
        if user.username in accounts.made:
            raise HTTPException(409)
        accounts.made[user.username] = user.model_dump()
        return {}

    class Token(BaseModel):
        access_token: str
        token_type: str = "bearer"

    @app.post("/auth/token")
    def log_in(
        username: Annotated[str, Form()],
        password: Annotated[str, Form()],
        grant_type: Annotated[str, Form(pattern="^password$")] = "password",
    ) -> Token:
        if accounts.login_status != 200:
            raise HTTPException(accounts.login_status, "no logins")
        known = accounts.made.get(username)
        is_right = known is not None and known["password"] == password
        accounts.logins[is_right] += 1
        if not is_right:
            raise HTTPException(401)
        return Token(access_token=f"tok-{username}")

    def let_in(name: str, token: str | None) -> dict[str, Any]:
        if token is None or token.removeprefix("tok-") not in accounts.made:
            accounts.refused[name] += 1
            raise HTTPException(401)
        accounts.served[name] += 1
        return {}

    @app.get("/items")
    def items(token: Annotated[str | None, Depends(bearer)], limit: int = 1) -> dict[str, Any]:
        return let_in("items", token)

    # Their description says nothing of credentials.
    @app.get("/notes")
    def notes(request: Request, limit: int = 1) -> dict[str, Any]:
        said = request.headers.get("authorization", "")
        return let_in("notes", said.removeprefix("Bearer ") or None)

    @app.get("/closed")
    def closed(limit: int = 1) -> dict[str, Any]:
        return let_in("closed", None)

    return app


@contextmanager
def serving_accounts(accounts: Accounts) -> Iterator[Accounts]:
    """The application on loopback until left."""
    with served(account_app(accounts)) as accounts.url:
        yield accounts
