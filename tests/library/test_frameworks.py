"""Three lines find a planted defect in applications of real frameworks, in process, and none in the mended ones."""

import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import falcon
import falcon.asgi
import flask
import pytest
from aiohttp import web
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest, JsonResponse
from django.test import Client as DjangoClient
from django.test import override_settings
from django.urls import path as django_path
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from litestar import Litestar, get
from litestar.params import FromQuery
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

import checker
from tests.apps.django_settings import configure
from tests.defects.serving import serving_aiohttp

with warnings.catch_warnings():
    # It wants a successor of httpx, which it does without as well.
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

QUICK = settings(max_examples=100, database=None, deadline=None, suppress_health_check=list(HealthCheck))
LIMIT = {"name": "limit", "in": "query", "required": True, "schema": {"type": "integer"}}
ITEMS = {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]}
OK = {"200": {"description": "", "content": {"application/json": {"schema": ITEMS}}}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Shop", "version": "1"},
    "paths": {"/items": {"get": {"parameters": [LIMIT], "responses": OK}}},
}


def total(limit: int, is_mended: bool) -> dict[str, int]:
    """What every application answers: nobody thought of no items at all."""
    return {"total": 100 // limit if limit or not is_mended else 0}


def of_fastapi(is_mended: bool) -> Any:
    app = FastAPI()

    @app.get("/items")
    def items(limit: int) -> dict[str, int]:
        return total(limit, is_mended)

    return checker.openapi.from_asgi("/openapi.json", app)


def of_litestar(is_mended: bool) -> Any:
    @get("/items")
    async def items(limit: FromQuery[int]) -> dict[str, int]:
        return total(limit, is_mended)

    app = Litestar([items])
    return checker.openapi.from_asgi("/schema/openapi.json", app)


def of_starlette(is_mended: bool) -> Any:
    def document(request: Request) -> JSONResponse:
        return JSONResponse(DOCUMENT)

    async def items(request: Request) -> JSONResponse:
        return JSONResponse(total(int(request.query_params["limit"]), is_mended))

    app = Starlette(routes=[Route("/openapi.json", document), Route("/items", items)])
    return checker.openapi.from_asgi("/openapi.json", app)


class FalconItems:
    """The resource of Falcon, on WSGI."""

    def __init__(self, is_mended: bool) -> None:
        self.is_mended = is_mended

    def on_get(self, request: Any, response: Any) -> None:
        response.media = total(request.get_param_as_int("limit"), self.is_mended)

    def on_get_document(self, request: Any, response: Any) -> None:
        response.media = DOCUMENT


class AsynchronousFalconItems:
    """The resource of Falcon, on ASGI."""

    def __init__(self, is_mended: bool) -> None:
        self.same = FalconItems(is_mended)

    async def on_get(self, request: Any, response: Any) -> None:
        self.same.on_get(request, response)

    async def on_get_document(self, request: Any, response: Any) -> None:
        self.same.on_get_document(request, response)


def of_falcon(is_mended: bool) -> Any:
    app, items = falcon.App(), FalconItems(is_mended)
    app.add_route("/openapi.json", items, suffix="document")
    app.add_route("/items", items)
    return checker.openapi.from_wsgi("/openapi.json", app)


def of_asynchronous_falcon(is_mended: bool) -> Any:
    app, items = falcon.asgi.App(), AsynchronousFalconItems(is_mended)
    app.add_route("/openapi.json", items, suffix="document")
    app.add_route("/items", items)
    return checker.openapi.from_asgi("/openapi.json", app)


def of_flask(is_mended: bool) -> Any:
    app = flask.Flask(__name__)

    @app.get("/openapi.json")
    def document() -> Any:
        return DOCUMENT

    @app.get("/items")
    def items() -> Any:
        return total(int(flask.request.args["limit"]), is_mended)

    return checker.openapi.from_wsgi("/openapi.json", app)


def aiohttp_app(is_mended: bool) -> web.Application:
    async def document(request: web.Request) -> web.Response:
        return web.json_response(DOCUMENT)

    async def items(request: web.Request) -> web.Response:
        try:
            return web.json_response(total(int(request.query["limit"]), is_mended))
        except ZeroDivisionError:
            # It would write the traceback to stderr.
            return web.Response(status=500)

    app = web.Application()
    app.add_routes([web.get("/openapi.json", document), web.get("/items", items)])
    return app


MENDED = [False]


@pytest.fixture(autouse=True)
def routes_of_django() -> Iterator[None]:
    configure()
    with override_settings(ROOT_URLCONF=__name__):
        yield


def _document(request: HttpRequest) -> JsonResponse:
    return JsonResponse(DOCUMENT)


def _items(request: HttpRequest) -> JsonResponse:
    return JsonResponse(total(int(request.GET["limit"]), MENDED[0]))


urlpatterns = [django_path("openapi.json", _document), django_path("items", _items)]


def of_django(is_mended: bool) -> Any:
    MENDED[0] = is_mended
    return checker.openapi.from_wsgi("/openapi.json", WSGIHandler())


def of_asynchronous_django(is_mended: bool) -> Any:
    MENDED[0] = is_mended
    return checker.openapi.from_asgi("/openapi.json", ASGIHandler())


IN_PROCESS = [
    of_fastapi, of_litestar, of_starlette, of_asynchronous_falcon, of_asynchronous_django,
    of_flask, of_falcon, of_django,
]  # fmt: skip


def three_lines(schema: Any, passed: list[int] | None = None) -> Any:
    """The test that a newcomer writes, for Hypothesis alone; `passed` gets the limit of each case that did."""
    schema.config.generation.update(mode="positive")

    @QUICK
    @given(schema["/items"]["GET"].as_strategy())
    def test(case: Any) -> None:
        case.call_and_validate()
        if passed is not None:
            passed.append(case.query["limit"])

    return test


def judged(schema: Any) -> list[int]:
    """Limits of the cases that passed."""
    limits: list[int] = []
    three_lines(schema, limits)()
    return limits


@pytest.mark.thorough_beyond(4)
@pytest.mark.parametrize("made", IN_PROCESS, ids=lambda made: made.__name__)
def test_the_planted_defect_is_found(made: Callable[[bool], Any]) -> None:
    """Some frameworks let the exception of a handler through, others answer with status 500."""
    with pytest.raises((ZeroDivisionError, checker.errors.FailureGroup)) as found:
        three_lines(made(False))()
    if isinstance(found.value, ZeroDivisionError):
        assert traceback.extract_tb(found.tb)[-1].name == "total"
        assert "query={'limit': 0}" in "".join(found.value.__notes__)
        return
    assert isinstance(found.value, checker.errors.FailureGroup)
    assert isinstance(found.value.exceptions[0], checker.errors.ServerError)
    assert "limit=0" in str(found.value)


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("made", IN_PROCESS, ids=lambda made: made.__name__)
def test_nothing_is_found_in_the_mended_twin(made: Callable[[bool], Any]) -> None:
    limits = judged(made(True))
    assert len(limits) == 100
    # The case that shows the planted defect is among them.
    assert 0 in limits


def test_the_planted_defect_is_found_over_a_socket() -> None:
    with serving_aiohttp(aiohttp_app(False)) as url, pytest.raises(checker.errors.FailureGroup, match="Server error"):
        three_lines(checker.openapi.from_url(f"{url}/openapi.json"))()


def test_nothing_is_found_in_the_mended_twin_over_a_socket() -> None:
    with serving_aiohttp(aiohttp_app(True)) as url:
        limits = judged(checker.openapi.from_url(f"{url}/openapi.json"))
    assert len(limits) == 100
    assert 0 in limits


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
