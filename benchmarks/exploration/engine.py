"""A service that counts its own defects: routes with schemas, exact validation, and a description made of both.

The service knows which of its planted defects a request triggered, and by which request, so a defect that was reached and not
reported differs from one that was never reached. Without defects the same handlers are the fixed twin.
"""

import asyncio
import contextlib
import importlib
import json
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import jsonschema_rs

from tests.apps.http import Broken, Parser, Reply, Request, render

COUNTS = "/-/counts"
"""Path of the counters. The description does not name it."""
Json = dict[str, Any]


class Problem(Exception):
    """Ends a handler with a documented error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Open(Exception):
    """Ends a request with the response of an operation that forgot to ask for credentials."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class Crash(Exception):
    """Ends a handler with status 500: a planted defect."""


@dataclass(frozen=True)
class Defect:
    """One planted defect."""

    id: str
    kind: str
    """chain, state, pair, id, page, semantics, access, race, injection or leak."""
    steps: int
    """Length of the shortest sequence that triggers it."""
    label: str
    """The operation whose response is wrong."""
    checks: tuple[str, ...] = ("not_a_server_error",)
    """Checks that report it, at this operation or at the one that reveals it."""
    shown_by: tuple[str, ...] = ()
    """Further operations at which a report counts."""


@dataclass
class Ask:
    """A validated request."""

    path: dict[str, str]
    query: dict[str, Any]
    body: Any
    headers: Mapping[str, str]
    method: str = "GET"
    """As it was sent: a handler of GET receives HEAD as well."""


@dataclass
class Answer:
    """What a handler responds."""

    value: Any = None
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


Handler = Callable[[Ask], Answer]


@dataclass(frozen=True)
class Route:
    """One operation."""

    method: str
    template: str
    pattern: re.Pattern[str]
    query: Mapping[str, Json]
    headers: Mapping[str, Json]
    body: Any
    is_open: bool
    """The operation needs no credentials."""
    handler: Handler


@dataclass
class Service:
    """Routes, schemas and defects."""

    name: str
    defects: tuple[Defect, ...]
    schemas: Json
    is_fixed: bool = False
    tokens: Mapping[str, str] = field(default_factory=dict)
    """Bearer token -> user. Empty: the service asks for no credentials."""
    unguarded: dict[str, tuple[str, Json]] = field(default_factory=dict)
    """Operation -> a defect that answers without credentials, and what it answers."""
    fetches: list[str] = field(default_factory=list)
    """URLs on loopback that the service was made to fetch, not fetched yet."""
    routes: list[Route] = field(default_factory=list)
    paths: Json = field(default_factory=dict)
    requests: int = 0
    first: dict[str, int] = field(default_factory=dict)
    """Defect -> number of the first request that triggered it."""
    statuses: dict[str, int] = field(default_factory=dict)
    """`GET /x 200` -> number of responses."""

    def bug(self, name: str) -> bool:
        """Whether this defect acts on the current request. Ask only where all its conditions hold: it counts as triggered."""
        assert any(defect.id == name for defect in self.defects), name
        if self.is_fixed:
            return False
        self.first.setdefault(name, self.requests)
        return True

    def crash(self, name: str) -> None:
        """Fail with status 500, unless the service is the fixed twin."""
        if self.bug(name):
            raise Crash(name)

    def route(
        self,
        label: str,
        responses: Mapping[int, Any],
        *,
        query: Mapping[str, Json] | None = None,
        headers: Mapping[str, Json] | None = None,
        body: Any = None,
        is_open: bool = False,
        summary: str = "",
        links: Json | None = None,
    ) -> Callable[[Handler], Handler]:
        """Register an operation. `responses`: status -> name of a schema, a schema, or None for no body."""
        method, _, template = label.partition(" ")
        names = re.findall(r"\{(\w+)\}", template)
        parameters = [
            {
                "name": name,
                "in": "path",
                "required": True,
                "schema": {"type": "string", "minLength": 1, "maxLength": 40},
            }
            for name in names
        ]
        for place, group in (("query", query or {}), ("header", headers or {})):
            for name, schema in group.items():
                plain = {key: value for key, value in schema.items() if key not in ("required", "description")}
                more = {"description": schema["description"]} if "description" in schema else {}
                is_required = bool(schema.get("required"))
                parameters.append({"name": name, "in": place, "required": is_required, "schema": plain, **more})
        statuses = dict(responses)
        statuses.setdefault(422, "Error")
        if names:
            statuses.setdefault(404, "Error")
        if body is not None:
            statuses.setdefault(400, "Error")
            statuses.setdefault(415, "Error")
        if self.tokens and not is_open:
            statuses.setdefault(401, "Error")
        described: Json = {"responses": {str(status): _response(schema) for status, schema in sorted(statuses.items())}}
        if summary:
            described["summary"] = summary
        if parameters:
            described["parameters"] = parameters
        if body is not None:
            content = {"application/json": {"schema": _schema(body)}}
            described["requestBody"] = {"required": True, "content": content}
        if self.tokens and not is_open:
            described["security"] = [{"bearer": []}]
        for status, found in (links or {}).items():
            described["responses"][status]["links"] = found
        self.paths.setdefault(template, {})[method.lower()] = described
        pattern = re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(template)))
        validator = None
        if body is not None:
            validator = jsonschema_rs.Draft202012Validator(
                {**_schema(body), "components": {"schemas": self.schemas}}, validate_formats=True
            )

        def register(handler: Handler) -> Handler:
            route = Route(method, template, pattern, query or {}, headers or {}, validator, is_open, handler)
            self.routes.append(route)
            return handler

        return register

    @property
    def document(self) -> Json:
        """The OpenAPI description."""
        error = {"type": "object", "required": ["message"], "properties": {"message": {"type": "string"}}}
        components: Json = {"schemas": {**self.schemas, "Error": error}}
        if self.tokens:
            components["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
        return {
            "openapi": "3.1.0",
            "info": {"title": self.name, "version": "1"},
            "paths": self.paths,
            "components": components,
        }

    def respond(self, request: Request) -> Reply:
        """Answer one request."""
        target, _, query = request.target.decode("latin-1").partition("?")
        if target == "/openapi.json":
            return _json(self.document, 200)
        if target == COUNTS:
            return _json({"requests": self.requests, "first": self.first, "statuses": self.statuses}, 200)
        self.requests += 1
        method = "GET" if request.method == "HEAD" else request.method
        matches = [(route, found) for route in self.routes if (found := route.pattern.fullmatch(target))]
        if not matches:
            return _json({"message": "no such path"}, 404)
        # A template without variables wins over one with variables.
        matches.sort(key=lambda pair: pair[0].template.count("{"))
        fitting = [pair for pair in matches if pair[0].method == method]
        if not fitting:
            allowed = sorted({route.method for route, _ in matches})
            return _json({"message": "method not allowed"}, 405, (("Allow", ", ".join(allowed)),))
        route, found = fitting[0]
        try:
            ask = self._read(route, {key: unquote(value) for key, value in found.groupdict().items()}, query, request)
            answer = route.handler(ask)
            reply = _json(answer.value, answer.status, answer.headers)
        except Problem as problem:
            headers = (("WWW-Authenticate", "Bearer"),) if problem.status == 401 else ()
            reply = _json({"message": str(problem)}, problem.status, headers)
        except Open as answer:
            reply = _json(answer.value, 200)
        except Crash:
            reply = _json({"message": "internal error"}, 500)
        key = f"{route.method} {route.template} {reply.status}"
        self.statuses[key] = self.statuses.get(key, 0) + 1
        return reply

    def _read(self, route: Route, path: dict[str, str], query: str, request: Request) -> Ask:
        if self.tokens and not route.is_open:
            scheme, _, token = request.headers.get("authorization", "").partition(" ")
            if scheme.lower() != "bearer" or token not in self.tokens:
                defect, value = self.unguarded.get(f"{route.method} {route.template}", ("", {}))
                if not (defect and not scheme and self.bug(defect)):
                    raise Problem(401, "log in first")
                raise Open(value)
        try:
            pairs = parse_qsl(query, keep_blank_values=True, errors="strict")
        except ValueError:
            raise Problem(422, "the query string is not UTF-8") from None
        values = {
            name: _read_text(name, schema, [v for k, v in pairs if k == name]) for name, schema in route.query.items()
        }
        headers = {
            name: _read_text(name, schema, [v] if (v := request.headers.get(name.lower())) is not None else [])
            for name, schema in route.headers.items()
        }
        body = None
        if route.body is not None:
            if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
                raise Problem(415, "send application/json")
            try:
                body = json.loads(request.body)
            except ValueError:
                raise Problem(400, "the body is not JSON") from None
            error = next(route.body.iter_errors(body), None)
            if error is not None:
                place = "/".join(map(str, error.instance_path))
                raise Problem(422, f"{place or 'body'}: {error.message}")
        return Ask(
            path,
            {k: v for k, v in values.items() if v is not None},
            body,
            {**request.headers, **headers},
            request.method,
        )


def _read_text(name: str, schema: Json, texts: list[str]) -> Any:
    if not texts:
        if schema.get("required"):
            raise Problem(422, f"{name} is required")
        return schema.get("default")
    if len(texts) > 1:
        raise Problem(422, f"{name} is given twice")
    text: Any = texts[0]
    kind = schema.get("type", "string")
    if kind == "integer":
        if not re.fullmatch(r"-?(0|[1-9][0-9]{0,999})", text):
            raise Problem(422, f"{name} must be an integer")
        text = int(text)
    elif kind == "boolean":
        if text not in ("true", "false"):
            raise Problem(422, f"{name} must be true or false")
        text = text == "true"
    plain = {key: value for key, value in schema.items() if key not in ("required", "description", "default")}
    if not jsonschema_rs.Draft202012Validator(plain, validate_formats=True).is_valid(text):
        raise Problem(422, f"{name} is out of range")
    return text


def _schema(named: Any) -> Json:
    return {"$ref": f"#/components/schemas/{named}"} if isinstance(named, str) else dict(named)


def _response(schema: Any) -> Json:
    if schema is None:
        return {"description": "no content"}
    return {"description": "response", "content": {"application/json": {"schema": _schema(schema)}}}


def _json(value: Any, status: int, headers: tuple[tuple[str, str], ...] = ()) -> Reply:
    if value is None:
        return Reply(status, "", b"", headers)
    return Reply(status, "application/json", json.dumps(value).encode(), headers)


class _Protocol(asyncio.Protocol):
    def __init__(self, service: Service) -> None:
        self._service = service
        self._parser = Parser()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        assert self._transport is not None
        self._parser.feed(data)
        self._transport.write(self._parser.take_continue())
        while (request := self._parser.next()) is not None:
            if isinstance(request, Broken):
                self._transport.write(render(_json({"message": request.message}, request.status), keep_alive=False))
                self._transport.close()
                return
            reply = self._service.respond(request)
            while self._service.fetches:
                _FETCHING.add(task := asyncio.ensure_future(_fetch(self._service.fetches.pop())))
                task.add_done_callback(_FETCHING.discard)
            has_body = request.method != "HEAD"
            self._transport.write(render(reply, keep_alive=request.keep_alive, has_body=has_body))
            if not request.keep_alive:
                self._transport.close()
                return


_FETCHING: set[asyncio.Future[None]] = set()
_FETCH_S = 2.0


async def _fetch(url: str) -> None:
    """Request a URL on loopback and drop the response: what a forged request from the server's side does."""
    parts = urlsplit(url)
    if parts.hostname is None or parts.port is None:
        return
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(_FETCH_S):
            reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
            writer.write(f"GET {quote(parts.path or '/', safe='/%')} HTTP/1.0\r\nHost: {parts.netloc}\r\n\r\n".encode())
            await reader.read(1024)
            writer.close()


async def serve(service: Service) -> None:
    """Serve on loopback until cancelled. Prints the port."""
    server = await asyncio.get_running_loop().create_server(lambda: _Protocol(service), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


def main(arguments: list[str]) -> None:
    """Serve `NAME` or `NAME --fixed` until the process is ended."""
    module = importlib.import_module(f"benchmarks.exploration.{arguments[0]}")
    asyncio.run(serve(module.build(is_fixed="--fixed" in arguments)))


if __name__ == "__main__":
    main(sys.argv[1:])
