"""Input that cannot be tested: one clear sentence, exit code 2, no traceback."""

import json
import socket
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from checker.core.phases import RUN_PHASES

PAGES = {
    "/page": ("text/html", "<html><body>Hello</body></html>"),
    "/broken.yaml": ("application/yaml", "openapi: [3.0.3\ninfo: {"),
    "/v4.json": ("application/json", json.dumps({"openapi": "4.0.0", "paths": {}})),
    "/no-version.json": ("application/json", json.dumps({"paths": {}})),
    "/no-operations.json": (
        "application/json",
        json.dumps({"openapi": "3.0.3", "info": {"title": "a", "version": "1"}, "paths": {}}),
    ),
    "/relative.json": (
        "application/json",
        json.dumps(
            {
                "openapi": "3.0.3",
                "info": {"title": "a", "version": "1"},
                "paths": {"/a": {"get": {"responses": {"200": {"description": ""}}}}},
            }
        ),
    ),
}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        content_type, text = PAGES.get(self.path, ("text/plain", "no"))
        self.send_response(200 if self.path in PAGES else 404)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def pages() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def ends_with_one_sentence(invoke) -> Callable[..., str]:
    """What the program says before it ends with 2."""

    def call(*arguments: str) -> str:
        result = invoke(*arguments, "--inline")
        assert isinstance(result.exception, SystemExit | None), result.exception
        assert result.exit_code == 2, result.output
        assert "Traceback" not in result.output
        return str(result.output)

    return call


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/page", "is HTML, not an API description"),
        ("/broken.yaml", "neither valid JSON nor valid YAML"),
        ("/v4.json", "uses Open API 4.0.0, which is currently not supported"),
        ("/no-version.json", "Unable to determine the Open API version as it's not specified in the document."),
        ("/no-operations.json", "Empty test suite"),
        ("/missing", "404 Not Found"),
    ],
)
def test_documents_that_are_none(ends_with_one_sentence, pages: str, path: str, sentence: str) -> None:
    assert sentence.lower() in ends_with_one_sentence("run", pages + path).lower()


def test_url_that_refuses(ends_with_one_sentence) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert "refused the connection" in ends_with_one_sentence("run", f"http://127.0.0.1:{port}/openapi.json")


def test_file_without_a_base_url(ends_with_one_sentence, folder) -> None:
    (folder / "openapi.json").write_text(PAGES["/relative.json"][1])
    said = ends_with_one_sentence("run", "openapi.json")
    assert "Usage: checker run [OPTIONS] LOCATION\nTry 'checker run --help' for help." in said
    assert "Error: the description names no absolute server" in said
    assert "`--url`" in said


def test_hooks_that_cannot_be_loaded(ends_with_one_sentence, folder, pages: str) -> None:
    (folder / "checker.toml").write_text('hooks = "no_such_module"')
    said = ends_with_one_sentence("run", f"{pages}/relative.json")
    assert "\nError: cannot load hooks from 'no_such_module'" in said


def test_report_that_cannot_be_written(ends_with_one_sentence, pages: str) -> None:
    said = ends_with_one_sentence("run", f"{pages}/relative.json", "--report-vcr-path", "/dev/null/a")
    assert "the report cannot be written" in said


def test_nothing_selected(ends_with_one_sentence, pages: str) -> None:
    said = ends_with_one_sentence("run", f"{pages}/relative.json", "--include-path", "/b")
    assert "nothing was tested: no operation is selected" in said


@pytest.mark.parametrize("sections", [("phases",), tuple(f"phases.{one.name}" for one in RUN_PHASES)])
def test_no_phase(ends_with_one_sentence, folder, pages: str, sections: tuple[str, ...]) -> None:
    (folder / "checker.toml").write_text("\n".join(f"[{section}]\nenabled = false" for section in sections))
    said = ends_with_one_sentence("run", f"{pages}/relative.json")
    assert "Error: nothing would be tested: every phase is disabled" in said
