import asyncio
import io
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.applications import Starlette

import checker
from checker.transport.applications import AsgiApplication


def test_every_loader_gives_a_schema_with_an_engine(document, api, tmp_path) -> None:
    text = json.dumps(document)
    (tmp_path / "a.json").write_text(text)
    api.body = document
    schemas = [
        checker.openapi.from_dict(document),
        checker.openapi.from_path(tmp_path / "a.json"),
        checker.openapi.from_file(text),
        checker.openapi.from_file(io.StringIO(text)),
        checker.openapi.from_file(io.BytesIO(text.encode())),
        checker.openapi.from_file(text.encode()),
        checker.openapi.from_url(f"{api.url}/openapi.json"),
    ]
    assert [schema.title for schema in schemas] == ["Items"] * 7
    assert all(schema["/items"]["POST"].Case().engine for schema in schemas)


def test_an_encoding_that_there_is_not_is_refused(document, tmp_path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(document))
    with pytest.raises(checker.errors.IncorrectUsage, match="one that Python knows, got 'utf-9'"):
        checker.openapi.from_path(tmp_path / "a.json", encoding="utf-9")


def test_loaders_take_a_configuration(document) -> None:
    config = checker.Config.from_str("seed = 3\n[[project]]\ntitle = 'Items'\nproxy = 'http://a:1'")
    schema = checker.openapi.from_dict(document, config=config)
    assert (schema.config.seed, schema.config.proxy) == (3, "http://a:1")


def test_configuration_is_discovered(document, tmp_path) -> None:
    (tmp_path / "checker.toml").write_text("seed = 4")
    assert checker.openapi.from_dict(document).config.seed == 4


def test_configured_headers_go_out_with_the_fetch(document, api) -> None:
    api.body = document
    config = checker.Config.from_dict({"headers": {"X-Key": "a", "X-B": "b"}})
    checker.openapi.from_url(f"{api.url}/openapi.json", config=config, headers={"X-B": "c"})
    assert (api.requests[0][2]["x-key"], api.requests[0][2]["x-b"]) == ("a", "c")


@pytest.mark.parametrize("is_argument", [False, True])
def test_the_fetch_goes_through_the_proxy(document, api, is_argument: bool) -> None:
    api.body = document
    config = checker.Config.from_dict({"proxy": "http://127.0.0.1:1" if is_argument else api.url})
    arguments = {"proxy": api.url} if is_argument else {}
    checker.openapi.from_url("http://api.example/openapi.json", config=config, **arguments)
    assert api.requests[0][1] == "http://api.example/openapi.json"


def test_neighbours_are_fetched_through_the_proxy_too(document, api) -> None:
    document["paths"]["/broken"]["get"]["parameters"] = [{"$ref": "http://other.example/parameter.json"}]
    api.body = {"name": "q", "in": "query", "schema": {"type": "string"}}
    config = checker.Config.from_dict({"proxy": api.url})
    for schema in (
        checker.openapi.from_dict(document, config=config),
        checker.openapi.from_file(json.dumps(document), config=config),
    ):
        assert [one.name for one in schema["/broken"]["GET"].parameters] == ["q"]
    assert {one[1] for one in api.requests} == {"http://other.example/parameter.json"}


def test_hooks_of_the_configuration_are_loaded(document, tmp_path) -> None:
    (tmp_path / "my.py").write_text("import checker\n@checker.hook\ndef map_query(ctx, query):\n    return query\n")
    checker.openapi.from_dict(document, config=checker.Config.from_dict({"hooks": "my.py"}))
    assert len(checker.hooks.named("map_query")) == 1


def test_hooks_of_a_project_are_loaded_in_place_of_those_of_all(document, tmp_path) -> None:
    (tmp_path / "own.py").write_text("import checker\n@checker.hook\ndef map_query(ctx, query):\n    return query\n")
    text = "hooks = 'none.py'\n[[project]]\ntitle = 'Items'\nhooks = 'own.py'"
    checker.openapi.from_dict(document, config=checker.Config.from_str(text))
    assert len(checker.hooks.named("map_query")) == 1


def test_configured_server_variables_replace_their_defaults(document) -> None:
    variables = {"stage": {"default": "live"}, "port": {"default": "80"}}
    document["servers"] = [{"url": "http://{stage}.example:{port}/v1", "variables": variables}]
    config = checker.Config.from_dict({"servers": {"variables": {"stage": "test"}}})
    assert checker.openapi.from_dict(document, config=config).base_url == "http://test.example:80/v1"


def wsgi(document):
    def app(environ, start):
        path, method = environ["PATH_INFO"], environ["REQUEST_METHOD"]
        if path == "/api.json":
            start("200 OK", [("Content-Type", "application/json")])
            return [json.dumps(document).encode()]
        if "boom" in environ["QUERY_STRING"]:
            raise ValueError("a defect")
        if "exit" in environ["QUERY_STRING"]:
            sys.exit("a defect")
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        start("201 Created", [("X-Seen", f"{method} {path} {environ['HTTP_HOST']}")])
        return [body]

    return app


def asgi(document):
    async def ending():
        sys.exit("a defect")

    async def app(scope, receive, send):
        if scope["type"] == "lifespan":
            await receive()
            scope["state"]["started"] = True
            await send({"type": "lifespan.startup.complete"})
            await receive()
            return
        assert scope["state"]["started"]
        if b"boom" in scope["query_string"]:
            raise ValueError("a defect")
        if b"exit" in scope["query_string"]:
            # As the middleware of frameworks does, in a task of its own.
            await asyncio.create_task(ending())
        body = (await receive())["body"]
        if scope["path"] == "/api.json":
            body = json.dumps(document).encode()
        seen = f"{scope['method']} {scope['path']} {dict(scope['headers'])[b'host'].decode()}"
        status = 200 if scope["path"] == "/api.json" else 201
        headers = [(b"x-seen", seen.encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body[:2], "more_body": True})
        await send({"type": "http.response.body", "body": body[2:]})

    return app


@pytest.mark.parametrize("kind", ["wsgi", "asgi"])
def test_applications_are_asked_without_a_socket(document, kind) -> None:
    loader, app, host = {
        "wsgi": (checker.openapi.from_wsgi, wsgi(document), "localhost"),
        "asgi": (checker.openapi.from_asgi, asgi(document), "testserver"),
    }[kind]
    document["servers"] = [{"url": "https://example.com/v1"}]
    schema = loader("/api.json", app, raise_server_exceptions=False)
    assert schema.app is app
    operation = schema["/items"]["POST"]
    response = operation.Case(body={"é": 1}, media_type="application/json").call()
    assert (response.status_code, json.loads(response.content)) == (201, {"é": 1})
    assert response.headers["x-seen"] == [f"POST /v1/items {host}"]
    failed = operation.Case(body={}, media_type="application/json").call(params={"boom": 1})
    assert failed.status_code == 500
    assert b"ValueError: a defect" in failed.content
    # The first costs only its request, so the second gets a response.
    for _ in range(2):
        ended = operation.Case(body={}, media_type="application/json").call(params={"exit": 1})
        assert (ended.status_code, b"SystemExit: a defect" in ended.content) == (500, True)
    with pytest.raises(checker.errors.LoaderError, match=r"answers with HTTP 201 Created"):
        loader("/none.json", app)


def test_a_description_of_an_application_may_need_a_cookie_and_a_query(document) -> None:
    asked: list[tuple[str, str]] = []

    def app(environment, start_response):
        asked.append((environment["QUERY_STRING"], environment.get("HTTP_COOKIE", "")))
        start_response("200 OK", [("Content-Type", "application/json")])
        return [json.dumps(document).encode()]

    for query in ("version=2&beta=", b"version=2&beta=", {"version": 2, "beta": [""]}):
        checker.openapi.from_wsgi("/api.json", app, cookies={"session": "s1", "lang": "en"}, query_string=query)
    assert asked == [("version=2&beta=", "session=s1; lang=en")] * 3
    checker.openapi.from_wsgi("/api.json?a=1", app, headers={"cookie": "x=y"}, cookies={"z": "1"}, query_string="b=2")
    assert asked[-1] == ("a=1&b=2", "x=y; z=1")
    with pytest.raises(checker.errors.IncorrectUsage, match="query_string"):
        checker.openapi.from_wsgi("/api.json", app, query_string=5)  # type: ignore[arg-type]
    with pytest.raises(checker.errors.IncorrectUsage, match="cookies"):
        checker.openapi.from_wsgi("/api.json", app, cookies="session=s1")  # type: ignore[arg-type]


def test_an_application_that_fails_to_start_is_one_error() -> None:
    databases: list[str] = []

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        if not databases:
            raise ValueError("no database at db:5432")
        yield

    started = r"^the ASGI application failed to start: ValueError: no database at db:5432; correct"
    with pytest.raises(checker.errors.LoaderError, match=started) as told:
        checker.openapi.from_asgi("/api.json", Starlette(lifespan=lifespan))
    assert told.value.extras[0] == "Traceback (most recent call last):"


def test_an_application_may_know_no_lifespan(document) -> None:
    app = asgi(document)

    async def without(scope, receive, send):
        assert scope["type"] == "http"
        await app({**scope, "state": {"started": True}}, receive, send)

    assert checker.openapi.from_asgi("/api.json", without).title == "Items"


def test_an_application_that_never_starts_is_one_error() -> None:
    async def app(scope, receive, send):
        await asyncio.Event().wait()

    with pytest.raises(checker.errors.LoaderError, match=r"did not start within 0\.01 seconds"):
        AsgiApplication(app, startup_s=0.01)


def test_an_application_of_the_other_protocol_is_told() -> None:
    def wsgi(environ, start_response): ...

    async def asgi(scope, receive, send): ...

    with pytest.raises(checker.errors.IncorrectUsage, match="is a WSGI application: use `from_wsgi`"):
        checker.openapi.from_asgi("/openapi.json", wsgi)
    with pytest.raises(checker.errors.IncorrectUsage, match="is an ASGI application: use `from_asgi`"):
        checker.openapi.from_wsgi("/openapi.json", asgi)
    with pytest.raises(checker.errors.IncorrectUsage, match="must be callable, got 'app:app'"):
        checker.openapi.from_asgi("/openapi.json", "app:app")


def test_what_is_no_application_is_told(document) -> None:
    class Server:
        """Callable without arguments, as an application of aiohttp."""

        def __call__(self): ...

    async def handler(request): ...

    schema = checker.openapi.from_dict(document)
    for given in (Server(), Server, handler):
        with pytest.raises(checker.errors.IncorrectUsage, match="is no application: ASGI calls one with"):
            checker.openapi.from_asgi("/openapi.json", given)
        with pytest.raises(checker.errors.IncorrectUsage, match="is no application: ASGI calls one with"):
            schema.app = given


def test_what_an_application_raises_stands_before_its_traceback(document) -> None:
    """Reports show the beginning of a body: with frameworks that was their frames alone."""

    def deep(depth: int):
        if depth:
            deep(depth - 1)
        raise LookupError("no such row")

    def app(environ, start):
        if environ["PATH_INFO"] == "/openapi.json":
            start("200 OK", [("Content-Type", "application/json")])
            return [json.dumps(document).encode()]
        return deep(50)

    schema = checker.openapi.from_wsgi("/openapi.json", app, raise_server_exceptions=False)
    response = schema["/items"]["POST"].Case(body={"name": "a"}).call()
    assert response.status_code == 500
    first, empty, title, *frames = response.text.splitlines()
    assert (first, empty) == ("LookupError: no such row", "")
    assert title == "Traceback (most recent call last):"
    assert 'raise LookupError("no such row")' in frames[-2]
    # As many lines as a report shows.
    assert len(response.text.splitlines()) <= 10


@pytest.mark.parametrize("module", [checker.openapi, checker.graphql])
def test_the_path_of_a_file_is_no_text_of_a_description(module, tmp_path) -> None:
    path = tmp_path / "api"
    path.write_text("{}")
    with pytest.raises(checker.errors.IncorrectUsage) as told:
        module.from_file(str(path))
    assert str(told.value) == (
        f"`from_file` takes an open file or its text, and {str(path)!r} is the path of a file: use `from_path`"
    )


@pytest.mark.parametrize(
    ("load", "sentence"),
    [
        (lambda: checker.openapi.from_file(None), "takes an open file or its text, got None"),  # type: ignore[arg-type]
        (lambda: checker.openapi.from_url(None), "`url` must be a text .* got None"),  # type: ignore[arg-type]
        (lambda: checker.openapi.from_dict({}, config={}), "`config` must be a `checker.Config`"),  # type: ignore[arg-type]
    ],
)
def test_what_a_loader_cannot_take_is_one_sentence(load, sentence: str) -> None:
    with pytest.raises(checker.errors.IncorrectUsage, match=sentence):
        load()


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("404 Not Found", "due to client error (HTTP 404 Not Found)"),
        ("503 Busy", "due to server error (HTTP 503 Service Unavailable)"),
    ],
)
@pytest.mark.parametrize("loader", [checker.openapi.from_wsgi, checker.graphql.from_wsgi])
def test_refusals_of_applications_are_told_as_those_of_servers(loader, status, said) -> None:
    def app(environ, start):
        start(status, [("Content-Type", "text/plain")])
        return [b"first\nlast"]

    with pytest.raises(checker.errors.LoaderError) as caught:
        loader("/api", app)
    assert f"Failed to load /api of the application {said}; give the path of its" in str(caught.value)
    assert caught.value.extras[1:] == ["first", "last"]
    assert caught.value.extras[0] in said


@pytest.mark.parametrize(
    ("loader", "given", "options", "told"),
    [
        ("from_path", [3], {}, "`path` must be the path of a file, got 3"),
        ("from_wsgi", [print, "/a"], {}, "the path of the description comes first"),
        ("from_asgi", [None, print], {}, "got None as the path"),
        ("from_wsgi", ["/a", None], {"headers": 3}, "an application must be callable"),
        ("from_wsgi", ["/a", lambda e, s: []], {"headers": 3}, "`headers` must be a mapping"),
        ("from_url", ["http://a"], {"headers": "x"}, "`headers` must be a mapping"),
        ("from_url", ["http://a"], {"wait_for_schema": "x"}, "`wait_for_schema` must be a number"),
    ],
)
def test_arguments_that_cannot_be_used_are_named(
    loader: str, given: list[Any], options: dict[str, Any], told: str
) -> None:
    with pytest.raises(checker.errors.IncorrectUsage, match=told):
        getattr(checker.openapi, loader)(*given, **options)
