"""Applications of this process: they answer calls, and their exceptions reach the test as they are."""

import gc
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fastapi import FastAPI
from flask import Flask

import checker
from checker.corpus.records import Finding
from tests.waiting import wait_until

BROKEN = "the shelf is broken"
"""Of an exception that calls also raise themselves, without frames."""


def fastapi() -> Any:
    app = FastAPI()

    @app.get("/v1/items")
    def items() -> list[int]:
        return []

    @app.get("/v1/broken")
    async def broken() -> None:
        raise TimeoutError(BROKEN)  # the line of the application

    return app


def flask() -> Any:
    app = Flask("shop")

    @app.get("/v1/items")
    def items() -> list[int]:
        return []

    @app.get("/v1/broken")
    def broken() -> list[int]:
        raise TimeoutError(BROKEN)  # the line of the application

    app.testing = True
    return app


APPLICATIONS: list[Callable[[], Any]] = [fastapi, flask]


@pytest.fixture(params=APPLICATIONS)
def app(request) -> Any:
    return request.param()


@pytest.fixture
def described() -> Any:
    """A schema of a document, whose server is not in this process."""
    ok = {"200": {"description": ""}}
    paths = {path: {"get": {"responses": ok}} for path in ("/items", "/broken")}
    servers = [{"url": "https://shop.invalid/v1"}]
    return checker.openapi.from_dict(
        {"openapi": "3.0.3", "info": {"title": "Shop", "version": "1"}, "servers": servers, "paths": paths}
    )


def loaded(app: Any, **options: Any) -> Any:
    if isinstance(app, FastAPI):
        return checker.openapi.from_asgi("/openapi.json", app, **options)
    paths = {"/v1/broken": {"get": {"responses": {"200": {"description": ""}}}}}
    document = {"openapi": "3.0.3", "info": {"title": "Shop", "version": "1"}, "paths": paths}
    app.get("/openapi.json")(lambda: document)
    return checker.openapi.from_wsgi("/openapi.json", app, **options)


@pytest.mark.parametrize("method", ["call", "call_and_validate"])
def test_an_exception_of_the_application_passes_through_calls(app, method: str) -> None:
    case = loaded(app)["/v1/broken"]["GET"].Case()
    with pytest.raises(TimeoutError, match=BROKEN) as caught:
        getattr(case, method)()
    innermost = traceback.extract_tb(caught.tb)[-1]
    assert innermost.filename == __file__
    assert innermost.line == "raise TimeoutError(BROKEN)  # the line of the application"


def test_an_exception_can_be_a_response(app) -> None:
    response = loaded(app, raise_server_exceptions=False)["/v1/broken"]["GET"].Case().call()
    assert response.status_code == 500


def test_an_exception_is_a_server_error_in_runs() -> None:
    schema = loaded(fastapi())
    schema.config.phases.update(phases=["fuzzing"])
    schema.config.checks.update(included_check_names=["not_a_server_error"])
    records = checker.engine.from_schema(schema).execute()
    bodies = [one.interactions[-1].exchange.response_body for one in records if isinstance(one, Finding)]
    assert bodies
    assert all(BROKEN.encode() in body and __file__.encode() in body for body in bodies)


@pytest.mark.parametrize("method", ["call", "call_and_validate"])
def test_the_application_of_a_call_answers(described, app, method: str) -> None:
    call = getattr(described["/items"]["GET"].Case(), method)
    assert call(app=app).json() == []
    assert call(app=app, base_url="http://elsewhere.invalid/v1").json() == []
    with pytest.raises(TimeoutError, match=BROKEN):
        described["/broken"]["GET"].Case().call(app=app)


def test_the_application_of_a_schema_answers(described, app) -> None:
    operation = described["/items"]["GET"]
    described.app = app
    for one in (operation, described["/items"]["GET"], described.include(path="/items")["/items"]["GET"]):
        assert one.app is app
        assert one.Case().call_and_validate().json() == []
    described.config.update(base_url="http://elsewhere.invalid/v1")
    assert operation.Case().call().json() == []


def test_applications_are_callable(described) -> None:
    with pytest.raises(checker.errors.IncorrectUsage, match="`app` must be an application"):
        described.app = "main:app"
    with pytest.raises(checker.errors.IncorrectUsage, match="`app` must be an application"):
        described["/items"]["GET"].Case().call(app="main:app")


def test_each_application_starts_once_and_ends_with_its_schemas(described) -> None:
    lives: list[str] = []

    def living(name: str) -> FastAPI:
        @asynccontextmanager
        async def lifespan(app: FastAPI) -> AsyncIterator[None]:
            lives.append(f"{name} starts")
            yield
            lives.append(f"{name} ends")

        app = FastAPI(lifespan=lifespan)

        @app.get("/v1/items")
        def items() -> list[int]:
            return []

        return app

    case, apps = described["/items"]["GET"].Case(), [living("a"), living("b")]
    for app in (*apps, *apps):
        assert case.call(app=app).status_code == 200
    schema = checker.openapi.from_asgi("/openapi.json", living("c"))
    assert lives == ["a starts", "b starts", "c starts"]
    assert schema["/v1/items"]["GET"].Case().call().status_code == 200
    del schema
    gc.collect()
    wait_until(lambda: "c ends" in lives)
    assert lives[3:] == ["c ends"]
