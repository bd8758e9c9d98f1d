from collections.abc import Callable, Iterator

# httpx imports httpcore with its first request, and keeps a table of its errors.
import httpcore  # noqa: F401
import pytest
from hypothesis import core, settings

# Each run in process would import all of it anew, and leave classes behind that are not those of other tests.
import checker.library.loaders
import checker.library.runs
import checker.library.state_machine
import checker.openapi.loaders
import checker.openapi.operation
import checker.openapi.warnings
import checker.pytest.expansion
import checker.pytest.session
import checker.workers.loop  # noqa: F401
from checker.checks.custom import CUSTOM_CHECKS

SHOP = '''
import json
import pytest
import checker
from hypothesis import settings, strategies as st

ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
OK = {"200": {"description": ""}}
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Shop", "version": "1"},
    "paths": {
        "/users": {"get": {"operationId": "listUsers", "tags": ["users"], "responses": OK}},
        "/users/{id}": {
            "get": {"operationId": "getUser", "tags": ["users"], "parameters": [ID], "responses": OK},
            "delete": {"deprecated": True, "parameters": [ID], "responses": OK},
        },
        "/orders": {"post": {"tags": ["orders"], "responses": OK}},
    },
}
SEEN = []

def app(environ, start):
    """Answers with 500 to DELETE, and with 200 to everything else."""
    method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
    if path == "/openapi.json":
        start("200 OK", [("Content-Type", "application/json")])
        return [json.dumps(DOCUMENT).encode()]
    SEEN.append((method, path, environ["QUERY_STRING"]))
    if method == "DELETE":
        start("500 Internal Server Error", [("Content-Type", "text/plain")])
        return [b"boom"]
    start("200 OK", [("Content-Type", "text/plain")])
    return [b"fine"]

schema = checker.openapi.from_wsgi("/openapi.json", app)
schema.config.phases.update(phases=["fuzzing"])
schema.config.generation.update(max_examples=3, database="none", mode="positive")
'''
"""A module for tests: a schema of four operations, and the application that serves it."""

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester) -> Iterator[Run]:
    """Runs tests written below the shop; further modules by name."""
    (pytester.path / ".git").mkdir()
    pytester.makepyfile(shop=SHOP)

    def run(text: str, *options: str, conftest: str = "", in_process: bool = True) -> pytest.RunResult:
        pytester.makepyfile("from shop import *\n" + text)
        if conftest:
            pytester.makeconftest(conftest)
        usual = ["-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:timeout"]
        arguments = [*(() if "--no-usual" in options else usual), *options]
        arguments = [one for one in arguments if one != "--no-usual"]
        # As the option `--hypothesis-seed` of a run in this process leaves it.
        core.global_force_seed = None
        if in_process:
            return pytester.runpytest_inprocess(*arguments)
        return pytester.runpytest_subprocess(*arguments)

    yield run
    CUSTOM_CHECKS.clear()
    core.global_force_seed = None
    # A test may have chosen another one, in this process.
    settings.load_profile("house")


@pytest.fixture
def names(pytester: pytest.Pytester, run: Run) -> Callable[..., list[str]]:
    """Names of the items that tests are collected as."""

    def names(text: str, *options: str) -> list[str]:
        lines = run(text, "--collect-only", "-q", *options).outlines
        return [line.partition("::")[2] for line in lines if "::" in line]

    return names
