import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.core.errors import LoaderError
from checker.kinds.sources import FetchOptions
from checker.openapi.documents.parsing import parse
from checker.openapi.loaders import from_bytes, from_dict, from_path, from_url, open_normalised

DOCUMENT = b'{"openapi": "3.0.3", "servers": [{"url": "/v1"}], "paths": {}}'
MISSING = "Unable to determine the Open API version as it's not specified in the document."
ANSWERS = {
    "/ok.json": (200, "application/json", DOCUMENT),
    "/ok.txt": (200, "text/html", b"openapi: 3.0.3\npaths: {}"),
    "/page": (200, "text/html", b"<!DOCTYPE html><html><body>hi</body></html>"),
    "/broken": (503, "text/plain", b"later"),
    "/empty": (200, "application/json", b""),
}


class _Answers(BaseHTTPRequestHandler):
    seen: ClassVar[list[Any]] = []

    def do_GET(self) -> None:
        type(self).seen.append(dict(self.headers))
        status, kind, body = ANSWERS.get(self.path, (404, "text/plain", b"no"))
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def host() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_url_gives_the_base_of_relative_servers(host: str) -> None:
    schema = from_url(f"{host}/ok.json", headers={"X-Key": "1"})
    assert schema.base_url == f"{host}/v1"
    assert schema.base_path == "/v1/"
    assert _Answers.seen[-1]["X-Key"] == "1"
    assert from_url(f"{host}/ok.txt").base_url == f"{host}/"


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/none", "client error (HTTP 404 Not Found)"),
        ("/broken", "server error (HTTP 503 Service Unavailable)"),
        ("/page", "is HTML, not an API description"),
        ("/empty", "is empty"),
    ],
)
def test_wrong_answers_are_refused(host: str, path: str, words: str) -> None:
    with pytest.raises(LoaderError) as caught:
        from_url(host + path)
    assert words in caught.value.message
    assert path in caught.value.message


def test_only_what_may_be_starting_is_asked_again(host: str) -> None:
    before = len(_Answers.seen)
    with pytest.raises(LoaderError, match="404"):
        from_url(f"{host}/none", wait_for_schema=60.0)
    assert len(_Answers.seen) == before + 1
    with pytest.raises(LoaderError, match="503"):
        from_url(f"{host}/broken", wait_for_schema=0.8)
    assert len(_Answers.seen) > before + 1


def test_certificates_that_are_none_are_one_sentence(host: str, tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.pem"
    for text in ("", "hello"):
        bundle.write_text(text)
        with pytest.raises(LoaderError, match=r"cannot be used: .*give a CA bundle in PEM form"):
            from_url(f"{host}/ok.json", way=FetchOptions(verify=str(bundle)))


def test_refused_connection_is_one_sentence() -> None:
    with pytest.raises(LoaderError, match="refused the connection; check that the API is running"):
        from_url("http://127.0.0.1:9/openapi.json", wait_for_schema=0.8)


@pytest.mark.parametrize("url", ["petstore", "ftp://a/b", "http://", "http://[::1", "http://a:b/"])
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(LoaderError):
        from_url(url)


def test_file_is_read_whatever_it_is_called(tmp_path: Path) -> None:
    place = tmp_path / "api.yaml"
    place.write_bytes(b"\xef\xbb\xbf" + DOCUMENT)
    assert from_path(place).base_path == "/v1/"
    assert from_path(str(place)).base_url is None
    place.write_bytes("openapi: 3.0.3\ninfo: {title: é}".encode("latin-1"))
    assert from_path(place, encoding="latin-1").title == "é"


def test_missing_file_and_directory_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LoaderError, match="does not exist"):
        from_path(tmp_path / "none.json")
    with pytest.raises(LoaderError, match="is a directory"):
        from_path(tmp_path)


BAD = [
    (b"", "n is empty"),
    (b" \n ", "n is empty"),
    (b"<?xml version='1.0'?><a/>", "not an API description"),
    (b'{"a":\n1,,}', "n is not valid JSON at line 2, column 3"),
    (b"a: b: c", "n is neither valid JSON nor valid YAML at line 1, column 5"),
    (b"a:\n\t- b", "at line 2, column 1"),
    (b"[1]", "an object was expected, a list was found"),
    (b"just text", "an object was expected, text was found"),
    (b"\x00\x01", "control characters"),
    (b"a: &a [*a]", "an alias contains itself"),
    (b"? [a]\n: b", "a key must be text"),
    (b"- " * 9000, "nested too deeply"),
    (b"[" * 100_000, "nested too deeply"),
    (b"{}", MISSING),
    (b'{"openapi": null}', MISSING),
    (b'{"openapi": "4.0.0"}', "uses Open API 4.0.0, which is currently not supported"),
    (b'{"swagger": 1.2}', "uses Open API 1.2, which is currently not supported"),
]


@pytest.mark.parametrize(("data", "words"), BAD)
def test_bad_input_is_one_sentence(data: bytes, words: str) -> None:
    with pytest.raises(LoaderError) as caught:
        from_bytes(data, name="n")
    assert words in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    "text",
    [
        '// first\n{"openapi": "3.0.3", "x": [1, "//y"]}',
        '/* first */ {"openapi": "3.0.3", "x": [1, "//y"]}',
        '{\n// first\n"openapi": "3.0.3", "x": [1 // one\n, "//y"]}',
        '{"openapi": "3.0.3" /* "a": */, "x": [1, "//y", // last\n], } // end',
    ],
)
def test_comments_are_no_part_of_a_json_document(text: str) -> None:
    assert parse(text.encode(), name="n") == {"openapi": "3.0.3", "x": [1, "//y"]}


def test_slashes_of_yaml_are_no_comments() -> None:
    assert parse(b"{a: http://b/*c, d: 1}", name="n") == {"a": "http://b/*c", "d": 1}


def test_a_fault_beside_comments_is_told_where_it_is() -> None:
    with pytest.raises(LoaderError, match="n is not valid JSON at line 3, column 1"):
        parse(b'// first\n{"a": // b\n}', name="n")


def test_aliases_that_stand_for_too_much_are_refused() -> None:
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    with pytest.raises(LoaderError, match="expand to too many values"):
        from_bytes("\n".join(lines).encode(), name="n")


def test_long_texts_that_aliases_repeat_are_refused() -> None:
    text = f"a: &a '{'x' * 1_000_000}'\n" + "b: [" + "*a, " * 400 + "*a]"
    with pytest.raises(LoaderError, match="expand to too many values"):
        from_bytes(text.encode(), name="n")


@pytest.mark.parametrize("mark", [True, False])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", [DOCUMENT.decode(), "openapi: 3.0.3\nservers: [{url: /v1}]"])
def test_any_unicode_encoding_is_read(text: str, encoding: str, mark: bool) -> None:
    data = ("\ufeff" * mark + text).encode(encoding)
    assert from_bytes(data, name="n", content_type="application/json").base_path == "/v1/"


def test_lines_of_tabs_are_blank_and_the_last_of_equal_keys_counts() -> None:
    schema = from_bytes(b"openapi: 3.0.0\n\t\ninfo:\n  title: a\n \t \n  title: b\t# c", name="n")
    assert schema.title == "b"


@pytest.mark.parametrize("version", ["3.1.0-custom", "3.2.0", 3.0, 2.0])
def test_versions_are_read_as_they_are_written(version: str | float) -> None:
    key = "swagger" if version == 2.0 else "openapi"
    assert from_dict({key: version}).specification == f"Open API {version}"


@pytest.mark.parametrize("paths", [None, {}, [], {"x-a": {}}, {"/a": None}, {"/a": {"get": None}}])
def test_document_without_operations_opens(paths: Any) -> None:
    found = list(from_dict({"openapi": "3.0.0", "paths": paths}).get_all_operations())
    assert all(hasattr(operation, "error") for operation in found)


def test_keys_and_dates_of_a_dictionary_become_text() -> None:
    schema = from_dict({"openapi": "3.0.0", "paths": {"/a": {"get": {"responses": {200: {}}}}}})
    assert list(schema.raw_schema["paths"]["/a"]["get"]["responses"]) == ["200"]
    same = {"openapi": "3.0.0"}
    assert from_dict(same).raw_schema is same


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=8,
)


@given(JSON)
def test_normalised_opens_again_as_an_equal_schema(extra: Any) -> None:
    schema = from_dict({"openapi": "3.1.0", "x-a": extra}, base_url="http://h/x")
    again = open_normalised(schema.normalised())
    assert again.raw_schema == schema.raw_schema
    assert (again.base_url, again.location) == ("http://h/x", None)


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_bytes_open_or_are_refused(data: bytes) -> None:
    found: object = None
    with contextlib.suppress(LoaderError):
        found = from_bytes(data, name="n").raw_schema
    assert found is None or isinstance(found, dict)
