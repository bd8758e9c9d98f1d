"""A client that is logged in sends drawn cases as itself: made-up credentials do not replace its own."""

import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import flask
import httpx
import hypothesis
import pytest
import requests
import werkzeug.test
from django.http import HttpRequest, JsonResponse
from django.test import Client as DjangoClient
from django.test import override_settings
from django.urls import path as django_path

import checker
from tests.apps.django_settings import configure
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving

with warnings.catch_warnings():
    # It wants a successor of httpx, which it does without as well.
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

BASIC = "Basic dTpw"
SCHEMES = {
    "basic": {"type": "http", "scheme": "basic"},
    "bearer": {"type": "http", "scheme": "bearer"},
    "header": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "query": {"type": "apiKey", "in": "query", "name": "key"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": "login"},
}
ANSWERS = {"200": {"description": ""}, "401": {"description": ""}}
NUMBER = {"name": "n", "in": "query", "schema": {"type": "integer"}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Guarded", "version": "1"},
    "components": {"securitySchemes": SCHEMES},
    "paths": {
        f"/{name}": {"get": {"security": [{name: []}], "parameters": [NUMBER], "responses": ANSWERS}}
        for name in SCHEMES
    },
}  # fmt: skip


def guarded(request: Request) -> Reply:
    """Let in whatever carries the credentials of its path, or the session of a user, and no others."""
    path, _, query = request.target.decode().partition("?")
    headers = request.headers
    found = {
        "/basic": headers.get("authorization") == BASIC,
        "/header": headers.get("x-key") == "k",
        "/query": [one for one in query.split("&") if one.startswith("key=")] == ["key=k"],
        "/cookie": headers.get("cookie") == "login=me",
        "/bearer": headers.get("cookie") == "session=me" and "authorization" not in headers,
    }
    return json_reply({}, 200 if found[path] else 401)


def of_requests(**given: Any) -> Any:
    session = requests.Session()
    for name, value in given.items():
        setattr(session, name, value)
    return session


def jar(**cookies: str) -> Any:
    return requests.cookies.cookiejar_from_dict(cookies)


CLIENTS: dict[str, tuple[str, Callable[[], Any]]] = {
    "requests.auth": ("/basic", lambda: of_requests(auth=("u", "p"))),
    "requests.headers": ("/header", lambda: of_requests(headers={"x-key": "k"})),
    "requests.params": ("/query", lambda: of_requests(params={"key": "k"})),
    "requests.cookies": ("/cookie", lambda: of_requests(cookies=jar(login="me"))),
    "requests.headers.cookie": ("/cookie", lambda: of_requests(headers={"Cookie": "login=me"})),
    "another.scheme": ("/bearer", lambda: of_requests(cookies=jar(session="me"))),
    "httpx.auth": ("/basic", lambda: httpx.Client(auth=("u", "p"))),
    "httpx.headers": ("/header", lambda: httpx.Client(headers={"X-Key": "k"})),
    "httpx.params": ("/query", lambda: httpx.Client(params={"key": "k"})),
    "httpx.cookies": ("/cookie", lambda: httpx.Client(cookies={"login": "me"})),
}


def operation_of(path: str) -> Any:
    return checker.openapi.from_dict(DOCUMENT)[path]["GET"]


def statuses(operation: Any, **options: Any) -> set[int]:
    """Statuses of responses to drawn cases, all of which pass the checks."""
    found = set()

    @hypothesis.settings(max_examples=25, database=None, deadline=None)
    @hypothesis.given(operation.as_strategy())
    def test(case: Any) -> None:
        found.add(case.call_and_validate(**options).status_code)

    test()
    return found


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize("name", CLIENTS)
def test_drawn_cases_carry_the_credentials_of_the_client(name: str) -> None:
    path, make = CLIENTS[name]
    with serving(guarded, DOCUMENT) as app, make() as session:
        assert statuses(operation_of(path), base_url=app.url, session=session) == {200}


def test_a_client_that_is_not_logged_in_sends_made_up_credentials() -> None:
    with serving(guarded, DOCUMENT) as app, httpx.Client() as session:
        assert statuses(operation_of("/header"), base_url=app.url, session=session) == {401}
    assert all("x-key" in request.headers for request in app.seen)


def test_what_the_caller_says_of_a_case_is_sent_by_any_client() -> None:
    sent: list[str] = []

    @hypothesis.settings(max_examples=1, database=None, deadline=None)
    @hypothesis.given(operation_of("/cookie").as_strategy())
    def test(case: Any) -> None:
        case.call(base_url=app.url, session=session, cookies={"login": "of the call"})
        case.cookies["login"] = "of the test"
        case.call(base_url=app.url, session=session)
        sent.extend(request.headers["cookie"] for request in app.seen)

    with serving(guarded, DOCUMENT) as app, httpx.Client(cookies={"login": "me"}) as session:
        test()
    assert [one.partition("=")[2].replace("%20", " ") for one in sent] == ["of the call", "of the test"]


@pytest.fixture
def routes_of_django() -> Iterator[None]:
    configure()
    with override_settings(ROOT_URLCONF=__name__):
        yield


def _of_django(request: HttpRequest) -> JsonResponse:
    is_forced = getattr(request, "_force_auth_user", None) == "me"
    is_in = is_forced or request.headers.get("Cookie") == "login=me"
    return JsonResponse({}, status=200 if is_in else 401)


urlpatterns = [django_path("cookie", _of_django)]


def application() -> flask.Flask:
    app = flask.Flask(__name__)

    @app.get("/cookie")
    def cookie() -> Any:
        return flask.jsonify({}), 200 if flask.request.headers.get("Cookie") == "login=me" else 401

    @app.get("/header")
    def header() -> Any:
        return flask.jsonify({}), 200 if flask.request.headers.get("X-Key") == "k" else 401

    return app


async def starlette_application(scope: Any, receive: Any, send: Any) -> None:
    is_in = dict(scope["headers"]).get(b"cookie") == b"login=me"
    start = {"type": "http.response.start", "status": 200 if is_in else 401}
    await send(start | {"headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": b"{}"})


def of_werkzeug() -> Any:
    session = werkzeug.test.Client(application())
    session.set_cookie("login", "me")
    return session


def of_flask() -> Any:
    session = application().test_client()
    session.set_cookie("login", "me")
    return session


def of_starlette() -> Any:
    return TestClient(starlette_application, cookies={"login": "me"})


def of_django() -> Any:
    session = DjangoClient()
    session.cookies.load({"login": "me"})
    return session


def of_a_forced_login() -> Any:
    # It reads the settings of Django when it is imported.
    session = import_module("rest_framework.test").APIClient()
    session.force_authenticate("me")
    return session


IN_PROCESS = [of_werkzeug, of_flask, of_starlette, of_django, of_a_forced_login]


@pytest.mark.thorough_beyond(2)
@pytest.mark.usefixtures("routes_of_django")
@pytest.mark.parametrize("made", IN_PROCESS, ids=lambda made: made.__name__)
def test_drawn_cases_carry_the_login_of_a_test_client(made: Callable[[], Any]) -> None:
    assert statuses(operation_of("/cookie"), session=made()) == {200}


@pytest.mark.usefixtures("routes_of_django")
@pytest.mark.parametrize("made", IN_PROCESS, ids=lambda made: made.__name__)
def test_an_operation_does_not_ignore_the_login_that_a_client_adds(made: Callable[[], Any]) -> None:
    case = operation_of("/cookie").Case()
    assert case.call_and_validate(session=made(), checks=["ignored_auth"]).status_code == 200


def test_headers_of_a_flask_client_are_its_own() -> None:
    session = application().test_client()
    session.environ_base["HTTP_X_KEY"] = "k"
    assert statuses(operation_of("/header"), session=session) == {200}


def test_without_security_parameters_no_credentials_are_made_up() -> None:
    schema = checker.openapi.from_dict(DOCUMENT)
    schema.config.generation.update(with_security_parameters=False)
    with serving(guarded, DOCUMENT) as app:
        assert statuses(schema["/header"]["GET"], base_url=app.url) == {401}
        assert not [request for request in app.seen if "x-key" in request.headers]


def test_settings_of_the_coverage_phase_act_on_listed_cases() -> None:
    schema = checker.openapi.from_dict(DOCUMENT)
    listed = list(schema.engine.listed_cases(schema["/cookie"]["GET"]))
    assert any(case.method != "GET" for case in listed)
    schema.config.phases.coverage.update(unexpected_methods=[])
    listed = list(schema.engine.listed_cases(schema["/cookie"]["GET"]))
    assert listed
    assert all(case.method == "GET" for case in listed)
