import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Barrier, Thread
from typing import Any

import pytest

import checker
from checker.checks.custom import CUSTOM_CHECKS
from checker.core.hooks import GLOBAL_HOOKS
from checker.core.registry import FORMATS


class Api:
    """A server that remembers what it was asked and answers as it is told."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        self.status = 200
        self.content_type = "application/json"
        self.body: Any = {"id": 1}
        self.content: bytes | None = None
        """In place of `body`, as it is."""
        self.location = ""
        self.statuses: dict[str, int] = {}
        """Of a method, in place of `status`."""
        self.url = ""
        self.together: Barrier | None = None
        """Where requests wait for each other."""


@pytest.fixture
def api() -> Iterator[Api]:
    told = Api()

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            told.requests.append((self.command, self.path, headers, self.rfile.read(length)))
            if told.together is not None:
                told.together.wait()
            content = json.dumps(told.body).encode() if told.content is None else told.content
            self.send_response(told.statuses.get(self.command, told.status))
            self.send_header("Content-Type", told.content_type)
            if told.location:
                self.send_header("Location", told.location)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_DELETE = _answer

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    told.url = f"http://127.0.0.1:{server.server_port}"
    yield told
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def document() -> dict[str, Any]:
    item = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
    ok = {"200": {"description": "", "content": {"application/json": {"schema": item}}}}
    path_id = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
    query = {"name": "q", "in": "query", "schema": {"type": "string"}}
    json_body = {"content": {"application/json": {"schema": {"type": "object"}}}}
    two = {"content": {**json_body["content"], "application/x-www-form-urlencoded": {}}}
    return {
        "openapi": "3.0.3",
        "info": {"title": "Items", "version": "1"},
        "paths": {
            "/items/{id}": {"get": {"parameters": [path_id, query], "responses": ok}},
            "/items": {"post": {"requestBody": json_body, "responses": ok}},
            "/both": {"post": {"requestBody": two, "responses": ok}},
            "/broken": {"get": {"parameters": [{"$ref": "#/no"}], "responses": ok}},
        },
    }


@pytest.fixture(autouse=True)
def clean(tmp_path, monkeypatch) -> Iterator[None]:
    """No configuration of the surroundings, no hooks of other tests."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CHECKER_HOOKS", raising=False)
    yield
    GLOBAL_HOOKS.unregister_all()
    CUSTOM_CHECKS.clear()
    FORMATS.clear()


Loader = Callable[..., Any]


@pytest.fixture
def schema(document, api):
    found = checker.openapi.from_dict(document)
    found.config.update(base_url=api.url)
    found.config.phases.update(phases=["fuzzing"])
    return found


@pytest.fixture
def operation(schema):
    return schema["/items/{id}"]["GET"]


@pytest.fixture
def case(operation):
    return operation.Case(path_parameters={"id": 7}, query={"q": "a b"}, headers={"X-A": "1"})
