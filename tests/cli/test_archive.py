"""The archive of a run: where it is written, and the one request that sends it to a receiver."""

import io
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from checker.config.settings import UploadSettings
from checker.reporting.formats.archive import upload
from tests.apps.http import Reply, Request
from tests.apps.serving import App, json_reply, serving

RUN = ("run", "api.json", "--inline", "-n", "2", "--phases", "fuzzing", "--mode", "positive")
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Shop", "version": "1"},
    "paths": {"/a": {"get": {"responses": {"200": {"description": ""}}}}},
}
TOKEN = "t0p-s3cret"


def metadata_in(archive: bytes) -> Any:
    with tarfile.open(fileobj=io.BytesIO(archive)) as found:
        inside = found.extractfile("metadata.json")
        assert inside is not None
        return json.loads(inside.read())


@pytest.fixture
def api(folder: Path) -> Iterator[App]:
    """An API that fails, described in `api.json`."""
    with serving(lambda _: json_reply({}, 500), DOCUMENT) as app:
        (folder / "api.json").write_text(json.dumps(DOCUMENT))
        yield app


class Receiver:
    """Takes archives for one token, at one place."""

    def __init__(self) -> None:
        self.archives: list[tuple[str, bytes]] = []
        """(name of the API, archive)."""

    def answer(self, request: Request) -> Reply:
        headers = {name.lower(): value for name, value in request.headers.items()}
        if (request.method, request.target) != ("POST", b"/in"):
            return json_reply({"error": f"there is nothing at {request.target!r}"}, 404)
        if headers.get("authorization") != f"Bearer {TOKEN}":
            return json_reply({"error": "unknown token"}, 401)
        assert headers["content-type"] == "application/gzip"
        self.archives.append((unquote(headers.get("checker-api-name", "")), request.body))
        return json_reply({}, 201)


@pytest.fixture
def receiver() -> Iterator[tuple[Receiver, str]]:
    """A running receiver, and the URL that archives are posted to."""
    found = Receiver()
    with serving(found.answer, {}) as app:
        yield found, f"{app.url}/in"


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (("--report",), "checker-report/archive-*.tar.gz"),
        (("--report", "--report-dir", "out"), "out/archive-*.tar.gz"),
        (("--report=run.tar.gz",), "run.tar.gz"),
        (("--report", "kept/run.tgz"), "kept/run.tgz"),
        (("--report", "junit,kept/run.tar.gz"), "kept/run.tar.gz"),
        (("--report-archive-path", "mine"), "mine"),
    ],
)
def test_it_is_written_where_the_option_says(
    invoke, folder: Path, api: App, arguments: tuple[str, ...], place: str
) -> None:
    # Options before LOCATION: what follows a bare `--report` is no value of it.
    result = invoke(*RUN, "-u", api.url, *arguments)
    assert result.exit_code == 1, result.output
    (path,) = folder.glob(place)
    assert f"- Archive: {path.relative_to(folder)}" in result.output
    found = metadata_in(path.read_bytes())
    assert (found["api"]["title"], found["run"]["outcome"]) == ("Shop", "completed")


def test_a_variable_of_the_environment_asks_for_it(invoke, folder: Path, api: App, monkeypatch) -> None:
    monkeypatch.setenv("CHECKER_REPORT", "with space/run.tar.gz")
    assert invoke(*RUN, "-u", api.url).exit_code == 1
    assert metadata_in((folder / "with space/run.tar.gz").read_bytes())["format_version"] == 1


def test_it_is_sent_to_the_receiver_that_is_named(invoke, folder: Path, api: App, receiver) -> None:
    taken, url = receiver
    result = invoke(*RUN, "Läden", "-u", api.url, "--checker-io-url", url, "--checker-io-token", TOKEN)
    assert result.exit_code == 1, result.output
    assert f"Uploaded the report archive to {url}" in result.output
    ((name, archive),) = taken.archives
    assert (name, metadata_in(archive)["api"]["name"]) == ("Läden", "Läden")
    written = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    assert TOKEN not in result.output
    assert not any(TOKEN.encode() in one for one in (archive, *written))


def test_a_receiver_that_refuses_is_told_of_and_the_exit_code_is_2(invoke, api: App, receiver) -> None:
    taken, url = receiver
    result = invoke(*RUN, "-u", api.url, "--upload-url", url, "--upload-token", "wrong")
    assert result.exit_code == 2
    assert 'it returned 401: {"error": "unknown token"}' in result.stderr
    assert "Server error: 1" in result.stdout
    assert taken.archives == []


def test_a_receiver_that_is_not_there_is_told_of() -> None:
    told = upload(b"", UploadSettings("http://user:pass@127.0.0.1:1/in"))
    assert told.startswith("the report archive was not accepted by http://[Filtered]@127.0.0.1:1/in: ")


def test_a_redirect_is_not_followed_with_the_token() -> None:
    def away(request: Request) -> Reply:
        return Reply(307, "text/plain", b"", (("Location", "/elsewhere"),))

    with serving(away, {}) as app:
        assert "it returned 307" in upload(b"x", UploadSettings(f"{app.url}/in", TOKEN))
    assert [one.target for one in app.seen] == [b"/in"]


def test_nothing_is_sent_by_default(invoke, api: App, receiver) -> None:
    taken, _ = receiver
    assert invoke(*RUN, "-u", api.url, "--upload-token", TOKEN).exit_code == 1
    assert taken.archives == []


@pytest.mark.parametrize(("second", "said"), [("api.json", "one LOCATION at a time"), ("shop", "unexpected argument")])
def test_a_second_argument_without_an_archive_is_a_slip(invoke, api: App, second: str, said: str) -> None:
    result = invoke("run", "api.json", second, "-u", api.url)
    assert result.exit_code == 2
    assert said in result.stderr
