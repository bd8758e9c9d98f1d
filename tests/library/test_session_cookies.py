"""Clients of users keep cookies, and cases have some: both are sent."""

import warnings
from collections.abc import Callable, Iterator
from http.cookies import SimpleCookie
from typing import Any

import flask
import httpx
import pytest
import requests
import werkzeug.test
from django.http import HttpRequest, JsonResponse
from django.test import Client as DjangoClient
from django.test import override_settings
from django.urls import path as django_path

import checker
from tests.apps.django_settings import configure

with warnings.catch_warnings():
    # It wants a successor of httpx, which it does without as well.
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

GIVEN = {"kept": "1", "own": "session"}
"""What each client keeps before the call."""


def _cookies(request: HttpRequest) -> JsonResponse:
    return JsonResponse(request.COOKIES)


urlpatterns = [django_path("items/7", _cookies)]


@pytest.fixture(autouse=True)
def routes_of_django() -> Iterator[None]:
    configure()
    with override_settings(ROOT_URLCONF=__name__):
        yield


def application() -> flask.Flask:
    app = flask.Flask(__name__)

    @app.get("/items/7")
    def cookies() -> Any:
        answer = flask.jsonify(dict(flask.request.cookies))
        if "renewed" in flask.request.cookies:
            answer.set_cookie("renewed", "by the server")
        return answer

    return app


async def starlette_application(scope: Any, receive: Any, send: Any) -> None:
    text = dict(scope["headers"]).get(b"cookie", b"").decode()
    found = {one.key: one.value for one in SimpleCookie(text).values()}
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": flask.json.dumps(found).encode()})


def of_werkzeug() -> Any:
    session = werkzeug.test.Client(application())
    for name, value in GIVEN.items():
        session.set_cookie(name, value)
    return session


def of_flask() -> Any:
    session = application().test_client()
    for name, value in GIVEN.items():
        session.set_cookie(name, value)
    return session


def of_starlette() -> Any:
    return TestClient(starlette_application, cookies=GIVEN)


def of_django() -> Any:
    session = DjangoClient()
    session.cookies.load(GIVEN)
    return session


IN_PROCESS = [of_werkzeug, of_flask, of_starlette, of_django]


def case_of(document: dict[str, Any], **cookies: str) -> Any:
    operation = checker.openapi.from_dict(document)["/items/{id}"]["GET"]
    return operation.Case(path_parameters={"id": 7}, cookies=cookies)


@pytest.mark.parametrize("made", IN_PROCESS, ids=lambda made: made.__name__)
def test_cookies_of_test_clients_and_of_cases_are_sent_together(document, made: Callable[[], Any]) -> None:
    session = made()
    answer = case_of(document, own="case", more='a "b"').call(session=session).json()
    assert (answer["kept"], answer["own"]) == ("1", "case")
    assert "more" in answer
    # What belongs to the case alone is not kept.
    assert case_of(document).call(session=session).json() == GIVEN


def in_header(text: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in text.split("; "))


def test_cookies_of_a_session_of_requests_are_sent_beside_those_of_the_case(document, api) -> None:
    with requests.Session() as session:
        session.cookies.update(GIVEN)
        case_of(document, own="case").call(base_url=api.url, session=session)
    assert in_header(api.requests[0][2]["cookie"]) == {"kept": "1", "own": "case"}


def test_cookies_of_a_session_of_httpx_are_sent_beside_those_of_the_case(document, api) -> None:
    with httpx.Client(cookies=GIVEN) as session:
        case_of(document, own="case").call(base_url=api.url, session=session)
    assert in_header(api.requests[0][2]["cookie"]) == {"kept": "1", "own": "case"}


def test_cookies_for_other_places_stay_at_home(document, api) -> None:
    with requests.Session() as session:
        session.cookies.set("kept", "1", domain="another.example")
        session.cookies.set("below", "1", domain="127.0.0.1", path="/below")
        case_of(document, own="case").call(base_url=api.url, session=session)
    assert api.requests[0][2]["cookie"] == "own=case"


def test_what_an_answer_sets_stays_with_the_client(document) -> None:
    session = of_werkzeug()
    case_of(document, renewed="case").call(session=session)
    assert session.get_cookie("renewed").value == '"by the server"'


def test_a_client_that_keeps_no_cookies_sends_those_of_the_case(document) -> None:
    session = werkzeug.test.Client(application(), use_cookies=False)
    assert case_of(document, own="case").call(session=session).json() == {"own": "case"}
