"""Which descriptions say how to sign up and log in."""

import tomllib
from typing import Any

import pytest

from checker.config.auth import Authentication
from checker.core.request import BaseUrl
from checker.openapi.loaders import from_dict
from checker.openapi.schema import OpenApiSchema
from checker.workers.authentication.schemes import SchemeCredentials

TEXT = {"type": "string"}
SECRET = {"type": "string", "writeOnly": True}
ACCOUNT = {"email": TEXT, "password": SECRET, "name": TEXT}
CREDENTIALS = {"email": TEXT, "password": SECRET}
TOKEN = {"access_token": TEXT}
BEARER = {"type": "http", "scheme": "bearer"}


def post(body: dict[str, Any], answer: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    def holds(properties: dict[str, Any]) -> dict[str, Any]:
        return {"application/json": {"schema": {"type": "object", "properties": properties}}}

    responses = {"200": {"description": "", "content": holds(answer or {})}}
    return {"post": {"requestBody": {"content": holds(body)}, "responses": responses, **more}}


def schema_of(paths: dict[str, Any], scheme: dict[str, Any] | None = None) -> OpenApiSchema:
    schemes = {"S": scheme or BEARER}
    return from_dict(
        {
            "openapi": "3.0.3",
            "info": {"title": "T", "version": "1"},
            "paths": paths,
            "components": {"securitySchemes": schemes},
        }
    )


def flow_of(paths: dict[str, Any], scheme: dict[str, Any] | None = None) -> Any:
    found = schema_of(paths, scheme).sign_up_flow()
    return found and (found.sign_up, found.login, found.shared, found.token)


@pytest.mark.parametrize("sign_up", ["/register", "/v1/sign-up", "/signup", "/users", "/create_account"])
@pytest.mark.parametrize("login", ["/login", "/auth/token", "/sessions", "/oauth"])
def test_paths_tell(sign_up: str, login: str) -> None:
    found = flow_of({login: post(CREDENTIALS, TOKEN), sign_up: post(ACCOUNT)})
    assert found == (f"POST {sign_up}", f"POST {login}", ("email", "password"), "/access_token")


def test_the_plainest_sign_up_is_taken() -> None:
    paths = {"/users": post(ACCOUNT), "/register": post(ACCOUNT), "/login": post(CREDENTIALS, TOKEN)}
    assert flow_of(paths)[0] == "POST /register"


@pytest.mark.parametrize(
    ("answer", "token"),
    [
        ({"token": TEXT, "accessToken": TEXT}, "/accessToken"),
        ({"data": {"type": "object", "properties": {"jwt": TEXT}}}, "/data/jwt"),
        ({"sessionToken": TEXT}, "/sessionToken"),
    ],
)
def test_the_token_is_found_at_any_depth(answer: dict[str, Any], token: str) -> None:
    paths = {"/register": post(ACCOUNT), "/login": post(CREDENTIALS, answer)}
    assert flow_of(paths)[3] == token


@pytest.mark.parametrize(
    ("paths", "scheme"),
    [
        ({"/register": post(ACCOUNT)}, BEARER),
        ({"/login": post(CREDENTIALS, TOKEN)}, BEARER),
        ({"/register": post(ACCOUNT), "/login": post(CREDENTIALS, {"id": TEXT})}, BEARER),
        ({"/register": post(ACCOUNT), "/login": post({"password": TEXT}, TOKEN)}, BEARER),
        ({"/register": post({"email": TEXT, "name": TEXT}), "/login": post(CREDENTIALS, TOKEN)}, BEARER),
        ({"/register": post(ACCOUNT), "/login": post(CREDENTIALS, TOKEN)}, {"type": "http", "scheme": "basic"}),
        ({"/teams/{id}/users": post(ACCOUNT), "/login": post(CREDENTIALS, TOKEN)}, BEARER),
        ({"/users": post(ACCOUNT, security=[{"S": []}]), "/login": post(CREDENTIALS, TOKEN)}, BEARER),
    ],
)  # fmt: skip
def test_what_lacks_a_part_is_no_flow(paths: dict[str, Any], scheme: dict[str, Any]) -> None:
    assert flow_of(paths, scheme) is None


GRANT = {"type": "object", "properties": {"grant_type": TEXT, "username": TEXT, "password": TEXT}}
FORM = {
    "post": {
        "requestBody": {
            "content": {"application/x-www-form-urlencoded": {"schema": GRANT | {"required": ["grant_type"]}}}
        },
        "responses": {"200": {"description": ""}},
    }
}
OAUTH = {"type": "oauth2", "flows": {"password": {"tokenUrl": "/auth/token", "scopes": {}}}}


@pytest.mark.parametrize(
    ("paths", "scheme", "expected"),
    [
        (
            {"/login": post(CREDENTIALS, TOKEN)},
            BEARER,
            {
                "path": "/login",
                "payload": {"email": "${S_USER}", "password": "${S_PASSWORD}"},
                "extract_selector": "/access_token",
            },
        ),
        (
            {"/auth/token": FORM},
            OAUTH,
            {
                "path": "/auth/token",
                "payload": {"username": "${S_USER}", "password": "${S_PASSWORD}", "grant_type": "password"},
                "payload_content_type": "application/x-www-form-urlencoded",
                "extract_selector": "/access_token",
            },
        ),
        # Without a word of where the token stands.
        ({"/login": post(CREDENTIALS)}, BEARER, None),
        ({"/login": post({"code": TEXT}, TOKEN)}, BEARER, None),
    ],
)
def test_what_would_be_configured_is_the_login_that_is_described(
    paths: dict[str, Any], scheme: dict[str, Any], expected: dict[str, Any] | None
) -> None:
    schema = schema_of(paths, scheme)
    asked = SchemeCredentials(schema.security_schemes, Authentication())
    (line,) = asked.examples(schema.described_login, BaseUrl.from_url("http://h"))
    dynamic = tomllib.loads(line)["auth"].get("dynamic")
    assert (dynamic and dynamic["openapi"]["S"]) == expected
