"""Documents of the network that a description refers to: each asked for once, and what to do when one does not come."""

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import httpx
import pytest

from checker.config.settings import FetchLimits
from checker.core.errors import LoaderError
from checker.kinds.sources import FetchOptions
from checker.kinds.web import Web
from checker.openapi.documents.neighbours import reader
from checker.openapi.loaders import from_path, from_url

from .described import USER, assert_both, document, written


class _Shelf(BaseHTTPRequestHandler):
    pages: ClassVar[dict[str, bytes]] = {}
    seen: ClassVar[list[tuple[str, str | None]]] = []

    def do_GET(self) -> None:
        type(self).seen.append((self.path, self.headers.get("X-Key")))
        body = self.pages.get(self.path)
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def shelf() -> Iterator[str]:
    _Shelf.seen.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Shelf)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_urls_are_read_relative_to_the_document_and_once(shelf: str) -> None:
    refs = [
        {"$ref": "../common/u.json"},
        {"$ref": f"//{shelf}/common/u.json"},
        {"$ref": f"http://{shelf}/common/u.json#"},
    ]
    lost = [{"$ref": "gone.json"}, {"$ref": "gone.json#/x"}]
    _Shelf.pages = {
        "/api/openapi.json": json.dumps(
            document({"allOf": refs}, components={"schemas": {"L": {"allOf": lost}}})
        ).encode(),
        "/common/u.json": json.dumps(USER).encode(),
    }
    schema = from_url(f"http://{shelf}/api/openapi.json", headers={"X-Key": "1"})
    assert_both(schema, {"id": 1}, {"id": "x"})
    asked = sorted(path for path, _ in _Shelf.seen)
    assert asked == ["/api/gone.json", "/api/openapi.json", "/common/u.json"]
    assert {key for _, key in _Shelf.seen} == {"1"}


def test_references_in_extensions_and_example_values_are_not_followed(tmp_path: Path) -> None:
    def to(name: str) -> dict[str, str]:
        return {"$ref": f"{name}.json"}

    names = {"x-a": to("property"), "example": to("property")}
    schema = {
        "properties": names,
        "x-more": to("no"),
        "example": to("no"),
        "enum": [to("no")],
        "default": {"a": to("no")},
    }
    responses = {
        "default": to("response"),
        "200": {"headers": {"x-b": to("header")}, "description": "", "x-c": [to("no")]},
    }
    content = {"application/json": {"schema": schema, "examples": {"default": to("example"), "b": {"value": to("no")}}}}
    operation = {"requestBody": {"content": content}, "responses": responses}
    files: dict[str, Any] = {
        "openapi.json": {"openapi": "3.0.3", "paths": {"/a": {"post": operation}, "x-d": to("no")}},
        "property.json": {"x-more": to("no")},
        **{f"{name}.json": {} for name in ("response", "example", "header")},
    }
    opened = from_path(written(tmp_path, files))
    opened.normalised()
    neighbours = opened.document.neighbours
    assert sorted(neighbours.known) == ["", "example.json", "header.json", "property.json", "response.json"]
    assert neighbours.lost == {}


def test_ten_files_count_as_one_document_of_the_limit(tmp_path: Path) -> None:
    def read(count: int) -> None:
        schemas = {str(number): {"$ref": f"{number}.json"} for number in range(count)}
        files: dict[str, Any] = {"openapi.json": document({}, components={"schemas": schemas})}
        path = written(tmp_path, files | {f"{number}.json": {} for number in range(count)})
        from_path(path, way=FetchOptions(limits=FetchLimits(max_count=2))).normalised()

    read(20)
    with pytest.raises(LoaderError, match=r"more than 2 other documents, .*; ten local files count as one document"):
        read(21)


def test_other_hosts_are_not_shown_the_credentials_and_silent_ones_are_asked_once(shelf: str) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        silent = f"http://127.0.0.1:{closed.getsockname()[1]}"
        _Shelf.pages = {"/u.json": json.dumps(USER).encode()}
        web = Web({"headers": {"X-Key": "secret"}}, location=silent)
        read = reader(web, "", url=f"{silent}/openapi.json")
        assert read(f"http://{shelf}/u.json") == USER
        assert _Shelf.seen == [("/u.json", None)]
        with pytest.raises(LoaderError, match=r"/a\.json refused the connection"):
            read("a.json")
        # Each is named by its own address, never by the one that was asked for first.
        with pytest.raises(LoaderError, match=r"/b\.json is not requested: .* did not respond before"):
            read("b.json")


def test_network_documents_never_name_local_files(tmp_path: Path) -> None:
    secret = written(tmp_path, {"secret.json": USER})
    read = reader(Web({}), "", url="http://127.0.0.1:9/openapi.json")
    with pytest.raises(LoaderError, match="use an http"):
        read(secret.as_uri())


@pytest.fixture
def nobody() -> Iterator[str]:
    """An address where connections are refused."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{closed.getsockname()[1]}"


def test_advice_is_about_the_document_that_does_not_come(shelf: str, nobody: str) -> None:
    _Shelf.pages = {}
    copy = "refer to a copy beside the description"
    read = reader(Web({}), "openapi.json", folder=Path())
    with pytest.raises(LoaderError, match=f"refused the connection; make it reachable .*{copy}"):
        read(f"http://{nobody}/a.json")
    with pytest.raises(LoaderError, match=f"did not respond before; make it reachable .*{copy}"):
        read(f"http://{nobody}/b.json")
    with pytest.raises(LoaderError, match=rf"HTTP 404 Not Found\); correct the reference, .*{copy}"):
        read(f"http://{shelf}/a.json")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        asked = Web({"timeout": 0.05})
        with pytest.raises(LoaderError, match=f"did not answer in time; make it .*{copy}"):
            asked.document(f"http://127.0.0.1:{silent.getsockname()[1]}/a.json")


def test_a_description_may_be_made_for_as_long_as_documents_have(monkeypatch: pytest.MonkeyPatch, nobody: str) -> None:
    waited: list[float | None] = []

    class Recorded(httpx.Client):
        def __init__(self, **options: Any) -> None:
            waited.append(options["timeout"].read)
            super().__init__(**options)

    monkeypatch.setattr(httpx, "Client", Recorded)
    url = f"http://{nobody}/openapi.json"
    for options in ({}, {"timeout": 3.0}):
        web = Web(options, FetchOptions(limits=FetchLimits(timeout_s=60.0)), location=url)
        for asked in (url, "http://127.0.0.1:1/other.json"):
            with pytest.raises(LoaderError):
                web.document(asked)
    own, other, *given = waited
    assert own is not None
    assert own > 20
    assert (other, given) == (10.0, [3.0, 3.0])


def test_the_proxy_is_asked_for_a_description_and_for_what_it_refers_to(shelf: str, nobody: str) -> None:
    api, other = "http://127.0.0.1:1/openapi.json", "http://127.0.0.1:2/u.json"
    _Shelf.pages = {api: json.dumps(document({"$ref": other})).encode(), other: json.dumps(USER).encode()}
    assert_both(from_url(api, way=FetchOptions(proxy=f"http://{shelf}")), {"id": 1}, {"id": "x"})
    assert [path for path, _ in _Shelf.seen] == [api, other]
    with pytest.raises(LoaderError, match=rf"{api} through the proxy refused the connection"):
        from_url(api, way=FetchOptions(proxy=f"http://{nobody}"))


def test_files_refer_to_urls_by_the_certificates_that_are_given(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.pem"
    bundle.write_text("hello")
    with pytest.raises(LoaderError, match="give a CA bundle in PEM form"):
        Web({}, FetchOptions(verify=str(bundle)))
