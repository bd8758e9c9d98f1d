"""A stand-in for the token endpoint of Keycloak (26): its paths, errors and lifetimes; and an API that takes its tokens."""

from base64 import b64decode
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply

TOKEN_PATH = "/realms/demo/protocol/openid-connect/token"
CLIENT, SECRET = "ci", "s/c C4n4ry"
USER, PASSWORD = "anna", "pw-C4n4ry"


@dataclass
class TokenEndpoint:
    """Gives tokens, and remembers what it was asked for."""

    expires_in: int = 300
    uses: int = 1 << 30
    """Requests that a token is good for."""
    url: str = TOKEN_PATH
    """The declared tokenUrl."""
    grants: list[dict[str, str]] = field(default_factory=list)
    """Fields of each successful request, without secrets."""
    refresh_token: str = "refresh-C4n4ry-0"
    """The one that is valid: each use replaces it."""
    failures: int = 0
    """Requests that are answered with 503 before the first token."""
    most_grants: int = 1 << 30
    """Grants after which a request is refused with a text that repeats its refresh token."""
    refused: int = 0
    scopes: dict[str, str] = field(default_factory=dict)
    """Token -> its scopes."""
    left: dict[str, int] = field(default_factory=dict)
    """Token -> requests."""

    def description(self) -> dict[str, Any]:
        def secured(*scopes: str) -> dict[str, Any]:
            limit = {"name": "limit", "in": "query", "schema": {"type": "integer"}}
            answers = {"200": {"description": ""}}
            return {"get": {"security": [{"Keycloak": list(scopes)}], "parameters": [limit], "responses": answers}}

        flow = {"tokenUrl": self.url, "scopes": {"read": "", "write": ""}}
        flows = {"clientCredentials": flow, "password": flow}
        return {
            "openapi": "3.0.3",
            "info": {"title": "Guarded", "version": "1"},
            "components": {"securitySchemes": {"Keycloak": {"type": "oauth2", "flows": flows}}},
            "paths": {"/read": secured("read"), "/both": secured("write", "read"), "/any": secured()},
        }

    def answer(self, request: Request) -> Reply:
        path = request.target.decode().partition("?")[0]
        if path == TOKEN_PATH:
            return self._token(request)
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        needed = {"/read": {"read"}, "/both": {"read", "write"}}.get(path, set())
        if not self.left.get(token):
            self.refused += 1
            return json_reply({"error": "HTTP 401 Unauthorized"}, 401)
        if not needed <= set(self.scopes[token].split()):
            return json_reply({"error": "insufficient_scope"}, 403)
        self.left[token] -= 1
        return json_reply({"echo": token})

    def _token(self, request: Request) -> Reply:
        fields = dict(parse_qsl(request.body.decode()))
        if self.failures:
            self.failures -= 1
            return json_reply({"error": "temporarily_unavailable"}, 503)
        kind, _, proof = request.headers.get("authorization", "").partition(" ")
        client = (fields.pop("client_id", ""), fields.pop("client_secret", ""))
        if kind == "Basic":
            user, _, secret = b64decode(proof).decode().partition(":")
            client = unquote(user), unquote(secret)
        if client != (CLIENT, SECRET):
            description = "Invalid client or Invalid client credentials"
            return json_reply({"error": "unauthorized_client", "error_description": description}, 401)
        grant = fields.get("grant_type")
        if len(self.grants) >= self.most_grants:
            text = f"{fields.get('refresh_token', '')} of {fields.get('assertion', '')} was revoked"
            return json_reply({"error": "invalid_grant", "error_description": text}, 400)
        if grant == "password" and (fields.pop("username"), fields.pop("password")) != (USER, PASSWORD):
            return json_reply({"error": "invalid_grant", "error_description": "Invalid user credentials"}, 401)
        found: dict[str, Any] = {"token_type": "Bearer", "expires_in": self.expires_in}
        if grant == "refresh_token":
            if fields.pop("refresh_token") != self.refresh_token:
                return json_reply({"error": "invalid_grant", "error_description": "Token is not active"}, 400)
            self.refresh_token = f"refresh-C4n4ry-{len(self.grants) + 1}"
            found["refresh_token"] = self.refresh_token
        token = f"tok-C4n4ry-{len(self.grants):04d}"
        self.scopes[token] = fields.get("scope", "read write" if grant == "refresh_token" else "")
        self.left[token] = self.uses
        self.grants.append(fields | {"by": "basic" if kind else "body"})
        return json_reply(found | {"access_token": token})
