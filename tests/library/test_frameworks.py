"""Three lines find a planted defect in applications of real frameworks, in process, and none in the mended ones."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import flask
import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest, JsonResponse
from django.test import Client as DjangoClient
from django.test import override_settings
from django.urls import path as django_path
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings

import checker
from tests.apps.django_settings import configure

with warnings.catch_warnings():
    # It wants a successor of httpx, which it does without as well.
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

QUICK = settings(
    max_examples=100, database=None, deadline=None, suppress_health_check=list(HealthCheck)
)
LIMIT = {"name": "limit", "in": "query", "required": True, "schema": {"type": "integer"}}
ITEMS = {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]}
OK = {"200": {"description": "", "content": {"application/json": {"schema": ITEMS}}}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Shop", "version": "1"},
    "paths": {"/items": {"get": {"parameters": [LIMIT], "responses": OK}}},
}


def of_fastapi(is_mended: bool) -> Any:
    app = FastAPI()

    @app.get("/items")
    def items(limit: int) -> dict[str, int]:
        return {"total": 100 // limit if limit or not is_mended else 0}

    return checker.openapi.from_asgi("/openapi.json", app)


def of_flask(is_mended: bool) -> Any:
    app = flask.Flask(__name__)

    @app.get("/openapi.json")
    def document() -> Any:
        return DOCUMENT

    @app.get("/items")
    def items() -> Any:
        limit = int(flask.request.args["limit"])
        return {"total": 100 // limit if limit or not is_mended else 0}

    return checker.openapi.from_wsgi("/openapi.json", app)


MENDED = [False]


@pytest.fixture(autouse=True)
def routes_of_django() -> Iterator[None]:
    configure()
    with override_settings(ROOT_URLCONF=__name__):
        yield


def _document(request: HttpRequest) -> JsonResponse:
    return JsonResponse(DOCUMENT)


def _items(request: HttpRequest) -> JsonResponse:
    limit = int(request.GET["limit"])
    return JsonResponse({"total": 100 // limit if limit or not MENDED[0] else 0})


urlpatterns = [django_path("openapi.json", _document), django_path("items", _items)]


def of_django(is_mended: bool) -> Any:
    MENDED[0] = is_mended
    return checker.openapi.from_wsgi("/openapi.json", WSGIHandler())


@pytest.mark.parametrize("made", [of_fastapi, of_flask, of_django])
def test_the_planted_defect_is_found_and_nothing_else(made: Callable[[bool], Any]) -> None:
    for is_mended in (False, True):
        schema = made(is_mended)
        schema.config.generation.update(mode="positive")

        @QUICK
        @given(schema["/items"]["GET"].as_strategy())
        def test(case: Any) -> None:
            case.call_and_validate()

        if is_mended:
            test()
        else:
            with pytest.raises(checker.errors.FailureGroup, match="Server error"):
                test()


def test_the_test_client_of_starlette_sends() -> None:
    schema = of_fastapi(True)
    case = schema["/items"]["GET"].Case(query={"limit": 4})
    with TestClient(schema.app) as session:
        response = case.call_and_validate(session=session)
    assert response.json() == {"total": 25}


def test_the_test_client_of_werkzeug_sends() -> None:
    schema = of_flask(True)
    case = schema["/items"]["GET"].Case(query={"limit": 4})
    response = case.call_and_validate(session=schema.app.test_client())
    assert response.json() == {"total": 25}


def test_the_test_client_of_django_sends() -> None:
    schema = of_django(True)
    case = schema["/items"]["GET"].Case(query={"limit": 4})
    response = case.call_and_validate(session=DjangoClient())
    assert response.json() == {"total": 25}


def test_responses_of_test_clients_are_judged() -> None:
    schema = of_django(True)
    case = schema["/items"]["GET"].Case(query={"limit": 4})
    for client in (DjangoClient(), of_flask(True).app.test_client()):
        case.validate_response(client.get("/items?limit=4"))
        with pytest.raises(checker.errors.FailureGroup, match="Undocumented HTTP status code"):
            case.validate_response(client.get("/nowhere"))
