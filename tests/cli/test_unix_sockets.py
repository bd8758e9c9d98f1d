"""An API behind a unix socket: described, tested, fuzzed and replayed there, and what is printed leads there."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import checker
from checker.core.errors import LoaderError
from tests.apps.http import Reply, Request
from tests.apps.serving import App, json_reply, serving
from tests.cassettes import interactions_of

RUN = ("--seed", "1", "-c", "not_a_server_error", "--no-color", "--inline", "-n", "3")
OPERATION = {"responses": {"200": {"description": "Yes"}}}
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Behind a socket", "version": "1"},
    "paths": {"/broken": {"get": OPERATION}, "/moved": {"get": OPERATION}},
}
"""Without servers: they are where the document is."""


def answer(request: Request) -> Reply:
    path = request.target.decode().removeprefix("/api")
    if path == "/moved":
        place = f"http://{request.headers['host']}/there"
        return Reply(307, "text/plain", b"", (("Location", place),))
    return json_reply({"path": path}, 500 if path == "/broken" else 200)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    socket = tmp_path_factory.mktemp("unix") / "App 1.sock"
    with serving(answer, DOCUMENT, socket=str(socket)) as app:
        yield app


@pytest.fixture(autouse=True)
def _nothing_seen(served: App) -> None:
    served.seen.clear()


def targets(served: App) -> set[str]:
    return {one.target.decode() for one in served.seen}


def test_commands_cassettes_and_tests_of_a_run_lead_to_the_socket(invoke: Any, served: App, folder: Path) -> None:
    result = invoke("run", served.document_url, *RUN, "--report", "vcr,pytest")
    assert result.exit_code == 1, result.output
    assert served.url.removesuffix(":") in result.output
    assert {one.headers["host"] for one in served.seen} == {"localhost"}
    # A redirect to the name that the server was called by stays behind the socket.
    assert targets(served) == {"/broken", "/moved", "/there"}

    lines = map(str.strip, result.output.splitlines())
    command = next(line for line in lines if line.startswith("curl"))
    assert "--unix-socket" in command

    done = subprocess.run(["bash", "-c", command], capture_output=True, check=True, timeout=60)
    assert json.loads(done.stdout) == {"path": "/broken"}

    (cassette,) = folder.rglob("vcr*.yaml")
    recorded = interactions_of(cassette)
    place = f"http://{quote(served.url.removeprefix('unix:').removesuffix(':'), safe='')}"
    assert {one["request"]["uri"] for one in recorded} >= {f"{place}/broken", f"{place}/moved"}
    served.seen.clear()

    again = invoke("replay", str(cassette))
    assert again.exit_code == 0, again.output
    assert targets(served) >= {"/broken", "/moved"}
    served.seen.clear()
    # As users write it, with another path of the API.
    again = invoke("replay", str(cassette), "--url", f"{served.url}/api")
    assert targets(served) >= {"/api/broken", "/api/moved"}, again.output

    served.seen.clear()
    (file,) = folder.rglob("*.py")
    done = subprocess.run(
        ["python3", "-c", f"import sys; sys.modules['pytest'] = sys; {RUN_TESTS}", str(file)],
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert targets(served) == {"/broken"}, done.stdout


RUN_TESTS = (
    "import runpy; found = runpy.run_path(sys.argv[1]); "
    "[test() for name, test in found.items() if name.startswith('test_')]"
)


def test_a_path_below_the_socket_stands_before_all_paths(invoke: Any, served: App) -> None:
    base = f"{served.url}/api"
    result = invoke("run", served.document_url, "-u", base, *RUN, "--code-sample-style", "python")
    assert targets(served) == {"/api/broken", "/api/moved", "/there"}
    program = [line.strip() for line in result.output.splitlines()]
    begin, end = program.index("import http.client"), program.index("connection.close()")
    served.seen.clear()
    lines = "\n".join(program[begin : end + 1])
    subprocess.run(["python3", "-c", lines], capture_output=True, check=True, timeout=60)
    assert targets(served) == {"/api/broken"}


def test_fuzz_stays_behind_the_socket(invoke: Any, served: App, folder: Path) -> None:
    (folder / "checker.toml").write_text(f'base-url = "{served.url}/api"\n')
    result = invoke("fuzz", served.document_url, "--seed", "1", "--inline")
    assert result.exit_code == 1, result.output
    assert targets(served) <= {"/api/broken", "/api/moved", "/there"}
    assert "/api/broken" in targets(served)


def test_python_calls_arrive(served: App) -> None:
    schema = checker.openapi.from_url(served.document_url)
    case = schema["/moved"]["GET"].Case()
    assert case.call().status_code == 200
    response = case.call(base_url=f"{served.url}/api")
    assert response.status_code == 200
    assert targets(served) == {"/moved", "/there", "/api/moved"}
    assert "--unix-socket" in case.as_curl_command()
    assert case.as_transport_kwargs()["url"] == "http://localhost/moved"


def test_nobody_behind_the_socket_is_one_sentence(invoke: Any, folder: Path) -> None:
    (folder / "openapi.json").write_text(json.dumps(DOCUMENT))
    result = invoke("run", "openapi.json", "-u", f"unix:{folder}/none.sock:/api", *RUN)
    assert result.exit_code == 1
    assert f"the API at unix:{folder}/none.sock:/api cannot be reached" in result.output


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("unix:run/app.sock", "names no socket by an absolute path"),
        ("unix:", "names no socket by an absolute path"),
        (f"unix:/{'x' * 120}", "its path may have 107 octets"),
    ],
)
def test_an_address_of_no_socket_is_one_sentence(invoke: Any, url: str, text: str) -> None:
    for arguments in (("run", "openapi.json", "-u", url), ("run", url)):
        result = invoke(*arguments)
        assert result.exit_code == 2
        assert text in result.output
    with pytest.raises(LoaderError, match=text):
        checker.openapi.from_url(url)


@pytest.mark.parametrize("option", ["--proxy", "--upload-url"])
def test_what_is_no_target_is_behind_no_socket(invoke: Any, option: str) -> None:
    result = invoke("run", "openapi.json", option, "unix:/run/app.sock")
    assert result.exit_code == 2
    assert "absolute http(s) URL" in result.output
