"""What clients of users put into requests counts for what is judged: credentials, cookies, parameters."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
import requests

import checker
from tests.apps.guarded import PASSWORD, USER, Guarded, guarded_app
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving

BASIC = "Basic dTpw"
SCHEMES = {
    "basic": {"type": "http", "scheme": "basic"},
    "key": {"type": "apiKey", "in": "query", "name": "key"},
    "login": {"type": "apiKey", "in": "cookie", "name": "login"},
}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Guarded", "version": "1"},
    "components": {"securitySchemes": SCHEMES},
    "paths": {
        f"/{name}": {"get": {"security": [{name: []}], "responses": {"200": {"description": ""}}}} for name in SCHEMES
    },
}


def guarded(request: Request) -> Reply:
    said = {
        "/basic": request.headers.get("authorization") == BASIC,
        "/key": request.target.endswith(b"?key=k"),
        "/login": "login=me" in request.headers.get("cookie", ""),
    }
    path = request.target.decode().partition("?")[0]
    return json_reply({}, 200 if said[path] else 401)


def never(ctx: checker.CheckContext, response: checker.Response, case: checker.Case) -> None:
    raise AssertionError("never right")


def of_requests(**given: Any) -> Any:
    session = requests.Session()
    for name, value in given.items():
        setattr(session, name, value)
    return session


SESSIONS: dict[str, tuple[str, Callable[[], Any]]] = {
    "requests.auth": ("/basic", lambda: of_requests(auth=("u", "p"))),
    "requests.headers": ("/basic", lambda: of_requests(headers={"authorization": BASIC})),
    "requests.params": ("/key", lambda: of_requests(params={"key": "k"})),
    "requests.cookies": ("/login", lambda: of_requests(cookies=requests.cookies.cookiejar_from_dict({"login": "me"}))),
    "httpx.auth": ("/basic", lambda: httpx.Client(auth=("u", "p"))),
    "httpx.headers": ("/basic", lambda: httpx.Client(headers={"Authorization": BASIC})),
    "httpx.cookies": ("/login", lambda: httpx.Client(cookies={"login": "me"})),
}  # fmt: skip
OBJECTS = [requests.auth.HTTPBasicAuth("u", "p"), httpx.BasicAuth("u", "p")]


def judged(path: str, **options: Any) -> None:
    """Who gave credentials is not told of as if there were none, and the command that is told does not show them."""
    with serving(guarded, DOCUMENT) as app:
        case = checker.openapi.from_url(app.document_url)[path]["GET"].Case()
        assert case.call_and_validate(**options).status_code == 200
        with pytest.raises(checker.errors.FailureGroup, match="never right") as told:
            case.call_and_validate(additional_checks=[never], **options)
    assert [one.check for one in told.value.exceptions] == ["never"]
    assert "Filtered" in str(told.value)
    assert not [one for one in (BASIC, "login=me", "key=k") if one in str(told.value)]


@pytest.mark.parametrize("name", SESSIONS)
def test_credentials_of_a_session_are_credentials(name: str) -> None:
    path, make = SESSIONS[name]
    with make() as session:
        judged(path, session=session)


@pytest.mark.parametrize("auth", OBJECTS, ids=lambda auth: type(auth).__module__)
def test_what_objects_of_clients_put_into_requests_are_credentials(auth: Any) -> None:
    judged("/basic", auth=auth)


def application(environ: Any, start: Any) -> list[bytes]:
    """Moves from `/old` to `/basic`, which tells who calls."""
    path = environ["PATH_INFO"]
    if path == "/old":
        start("302 Found", [("Location", "/basic")])
        return [b""]
    start("200 OK", [("Content-Type", "application/json"), ("Set-Cookie", "a=1")])
    is_document = path == "/openapi.json"
    found = DOCUMENT if is_document else {"from": environ.get("HTTP_AUTHORIZATION", "nobody")}
    return [json.dumps(found).encode()]


@pytest.mark.parametrize(
    ("options", "caller"),
    [
        ({"auth": requests.auth.HTTPBasicAuth("u", "p")}, BASIC),
        ({"auth": httpx.BasicAuth("u", "p")}, BASIC),
        ({"stream": True, "auth": ("u", "p")}, BASIC),
        ({"allow_redirects": False}, "nobody"),
    ],
    ids=["requests", "httpx", "stream", "no redirects"],
)
def test_options_of_clients_leave_an_application_in_this_process(options: dict[str, Any], caller: str) -> None:
    schema = checker.openapi.from_wsgi("/openapi.json", application)
    response = schema["/basic"]["GET"].Case().call(**options)
    assert response.json() == {"from": caller}
    assert response.headers["set-cookie"] == ["a=1"]


def test_cases_made_by_hand_are_sent_without_their_credentials() -> None:
    case = checker.openapi.from_wsgi("/openapi.json", application)["/basic"]["GET"].Case()
    with pytest.raises(checker.errors.FailureGroup, match="accepts requests without authentic"):
        case.call_and_validate(headers={"Authorization": BASIC})


def test_digest_of_requests_signs_requests() -> None:
    document = {**DOCUMENT, "paths": {"/digest": {"get": {"responses": {"200": {"description": ""}}}}}}  # fmt: skip
    schema = checker.openapi.from_wsgi("/openapi.json", guarded_app(Guarded(), document))
    schema.auth.set_from_requests(requests.auth.HTTPDigestAuth(USER, PASSWORD))
    assert schema["/digest"]["GET"].Case().call().status_code == 200


@pytest.mark.parametrize("cert", ["nowhere.pem", ("nowhere.pem", "key.pem")])
def test_a_client_certificate_that_is_not_there_is_named(cert: Any) -> None:
    case = checker.openapi.from_wsgi("/openapi.json", application)["/basic"]["GET"].Case()
    with pytest.raises(checker.errors.IncorrectUsage, match=r"`cert`: .* got 'nowhere\.pem'"):
        case.call(cert=cert)
