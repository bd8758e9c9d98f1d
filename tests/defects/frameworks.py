"""Flask, Django, FastAPI and aiohttp in front of a service."""

import json
import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.urls import re_path
from fastapi import FastAPI
from flask import Flask, Response, request
from starlette.exceptions import HTTPException as StarletteError
from starlette.requests import Request as StarletteRequest
from starlette.responses import Response as StarletteResponse
from werkzeug.exceptions import HTTPException as WerkzeugError

from tests.apps.django_settings import configure
from tests.defects.book import Asked, Refusal
from tests.defects.service import Answer, Service, refused

_VARIABLE = re.compile(r"\{([^{}]+)\}")


def content_of(answer: Answer) -> bytes:
    """The bytes of an answer."""
    if answer.raw is not None:
        return answer.raw
    return b"" if answer.value is None else json.dumps(answer.value).encode()


def headers_of(answer: Answer) -> dict[str, str]:
    """All headers of an answer that it decides itself."""
    has_body = answer.raw is not None or answer.value is not None
    typed = {"Content-Type": answer.media_type} if has_body and answer.media_type else {}
    return {**typed, **answer.headers}


def _of_framework(status: int) -> Answer:
    return refused(Refusal(status, HTTPStatus(status).phrase))


def flask_app(service: Service) -> Flask:
    """A Flask application: one rule for each path and method, its own OPTIONS and 405."""
    app = Flask(service.book.document["info"]["title"])
    app.url_map.strict_slashes = True

    def given(answer: Answer) -> Response:
        response = Response(content_of(answer), status=answer.status)
        response.headers.pop("Content-Type", None)
        response.headers.update(headers_of(answer))
        return response

    def view(path: str) -> Callable[..., Response]:
        def called(**values: str) -> Response:
            query = tuple(request.args.items(multi=True))
            asked = Asked(
                values,
                query,
                {name.lower(): value for name, value in request.headers},
                request.cookies,
                request.get_data(),
            )
            answer = service.dispatch(path, request.method, asked)
            assert answer is not None
            return given(answer)

        return called

    for path, methods in service.book.methods.items():
        rule = _VARIABLE.sub(r"<string:\1>", path)
        special = path in service.undeclared
        allowed = [*methods, *(_OTHERS if special else ())]
        app.add_url_rule(
            rule,
            path,
            view(path),
            methods=sorted({*allowed} - ({"OPTIONS"} if path not in service.options else set())),
            provide_automatic_options=path not in service.options,
        )
        if path in service.options:
            app.add_url_rule(rule, f"options {path}", view(path), methods=["OPTIONS"])

    @app.errorhandler(WerkzeugError)
    def failed(error: WerkzeugError) -> Response:
        response = given(_of_framework(error.code or 500))
        for name, value in error.get_headers():
            if name == "Allow":
                response.headers[name] = value
        return response

    return app


_OTHERS = ("GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "QUERY")


def django_app(service: Service) -> WSGIHandler:
    """A Django application; its settings are the process's, its routes its own."""
    configure()

    def given(answer: Answer) -> HttpResponse:
        response = HttpResponse(content_of(answer), status=answer.status)
        del response["Content-Type"]
        for name, value in headers_of(answer).items():
            response[name] = value
        return response

    def view(path: str) -> Callable[..., HttpResponse]:
        def called(call: HttpRequest, **values: str) -> HttpResponse:
            query = tuple((key, one) for key, many in call.GET.lists() for one in many)
            headers = {name.lower(): str(value) for name, value in call.headers.items()}
            method = str(call.method)
            answer = service.dispatch(path, method, Asked(values, query, headers, call.COOKIES, call.body))
            if answer is not None:
                return given(answer)
            allowed = service.book.methods[path]
            if method == "OPTIONS":
                return given(Answer(status=200, headers={"Allow": ", ".join(allowed)}))
            refusal = given(_of_framework(405))
            refusal["Allow"] = HttpResponseNotAllowed(allowed)["Allow"]
            return refusal

        return called

    routes = []
    for path in service.book.methods:
        pattern = _VARIABLE.sub(r"(?P<\1>[^/]+)", re.escape(path).replace(r"\{", "{").replace(r"\}", "}"))
        routes.append(re_path(f"^{pattern[1:]}$", view(path)))

    def missing(call: HttpRequest, exception: Exception) -> HttpResponse:
        return given(_of_framework(404))

    urlconf = type(
        "Routes",
        (),
        {
            "urlpatterns": routes,
            "handler404": staticmethod(missing),
            "handler400": staticmethod(lambda call, exception: given(_of_framework(400))),
            "handler500": staticmethod(lambda call: given(_of_framework(500))),
        },
    )

    class Routed(WSGIHandler):  # type: ignore[misc]
        def get_response(self, call: HttpRequest) -> HttpResponse:
            call.urlconf = urlconf
            return super().get_response(call)

    return Routed()


def fastapi_app(service: Service) -> FastAPI:
    """A FastAPI application: one route for each path."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)

    def given(answer: Answer) -> StarletteResponse:
        return StarletteResponse(content_of(answer), answer.status, headers_of(answer))

    def endpoint(path: str) -> Callable[[StarletteRequest], Any]:
        async def called(call: StarletteRequest) -> StarletteResponse:
            asked = Asked(
                {key: str(value) for key, value in call.path_params.items()},
                tuple(call.query_params.multi_items()),
                {key.lower(): value for key, value in call.headers.items()},
                call.cookies,
                await call.body(),
            )
            answer = service.dispatch(path, call.method, asked)
            assert answer is not None
            return given(answer)

        return called

    for path, methods in service.book.methods.items():
        allowed = [*methods]
        if path in service.undeclared:
            allowed += [one for one in _OTHERS if one not in methods]
        if path in service.options:
            allowed.append("OPTIONS")
        app.add_route(path, endpoint(path), methods=allowed)

    @app.exception_handler(StarletteError)
    async def failed(call: StarletteRequest, error: StarletteError) -> StarletteResponse:
        response = given(_of_framework(error.status_code))
        response.headers.update(error.headers or {})
        return response

    return app


def aiohttp_app(service: Service) -> web.Application:
    """An aiohttp application: one route for each path and method, its own 405."""

    def given(answer: Answer) -> web.Response:
        response = web.Response(body=content_of(answer), status=answer.status)
        response.headers.popall("Content-Type", None)
        response.headers.update(headers_of(answer))
        return response

    def handler(path: str) -> Callable[[web.Request], Any]:
        async def called(call: web.Request) -> web.Response:
            asked = Asked(
                dict(call.match_info),
                tuple(call.query.items()),
                {key.lower(): value for key, value in call.headers.items()},
                dict(call.cookies),
                await call.read(),
            )
            answer = service.dispatch(path, call.method, asked)
            assert answer is not None
            return given(answer)

        return called

    @web.middleware
    async def errors(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            found = await handler(request)
        except web.HTTPException as error:
            found = given(_of_framework(error.status))
            if "Allow" in error.headers:
                found.headers["Allow"] = error.headers["Allow"]
        return found

    app = web.Application(middlewares=[errors])
    for path, methods in service.book.methods.items():
        resource = app.router.add_resource(path)
        allowed = set(methods)
        if path in service.undeclared:
            allowed |= set(_OTHERS)
        if path in service.options:
            allowed.add("OPTIONS")
        for method in sorted(allowed):
            resource.add_route(method, handler(path))
    return app
