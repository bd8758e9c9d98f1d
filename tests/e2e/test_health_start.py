"""What is wrong with a target from the start is told in one sentence, before anything is generated."""

import json
import socket
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

OK = {"responses": {"200": {"description": ""}}}
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "T", "version": "1"},
    "paths": {"/a": {"get": OK, "post": OK}, "/b": {"get": OK}},
}


@pytest.fixture
def closed_port() -> int:
    """A port of loopback on which nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        return port


def test_a_target_that_nobody_reaches_is_one_sentence(tmp_path: Path, closed_port: int) -> None:
    (tmp_path / "api.json").write_text(json.dumps(DOCUMENT))
    url = f"http://127.0.0.1:{closed_port}"
    ran = Command(tmp_path).here(
        "run", "--inline", "api.json", "--url", url, "--report", "junit", "--report-junit-path", "j.xml"
    )
    sentence = (
        f"nothing was tested: the API at {url} cannot be reached (connection refused); "
        "check that it runs there, or give its address with `--url`"
    )
    assert ran.code == 1, ran.shown
    assert ran.stdout.count("cannot be reached") == 1
    assert sentence in ran.stdout
    assert "3 operations" in ran.stdout
    assert (ran.view.counts.requests, ran.view.counts.cases) == (0, 0)
    assert {error.label for error in ran.view.errors.values()} == {"GET /a", "POST /a", "GET /b"}
    report = (tmp_path / "j.xml").read_text()
    assert 'errors="3"' in report


def test_a_target_that_restarts_after_its_description_was_read_is_waited_for(tmp_path: Path, closed_port: int) -> None:
    with ExitStack() as serving_too:

        def describe(_: Request) -> Reply:
            # The API accepts connections a while after the run has tried its first one.
            api = serving(lambda _: json_reply({}), DOCUMENT, port=closed_port)
            threading.Timer(0.5, lambda: serving_too.enter_context(api)).start()
            return json_reply(DOCUMENT)

        location = serving_too.enter_context(serving(describe, {})).url + "/described.json"
        asked = ("run", "--inline", location, "--url", f"http://127.0.0.1:{closed_port}", "-n", "1")
        ran = Command(tmp_path).here(*asked, "--wait-for-schema", "60")
    assert ran.view.counts.requests > 0, ran.shown
    assert "cannot be reached" not in ran.stdout


def test_a_proxy_that_nobody_reaches_is_one_sentence_unless_operations_have_others(
    tmp_path: Path, closed_port: int
) -> None:
    (tmp_path / "api.json").write_text(json.dumps(DOCUMENT))
    proxy = f"http://127.0.0.1:{closed_port}"
    asked = ("run", "--inline", "api.json", "--url", "http://api.example", "--proxy", proxy, "-n", "1")
    ran = Command(tmp_path).here(*asked)
    assert ran.code == 1, ran.shown
    assert ran.stdout.count(f"the proxy at {proxy} cannot be reached (connection refused)") == 1
    assert ran.view.counts.requests == 0
    (tmp_path / "other").mkdir()
    block = '[[operations]]\ninclude-path = "/b"\nproxy = "http://127.0.0.1:1"\n'
    (tmp_path / "other" / "checker.toml").write_text(f'proxy = "{proxy}"\n{block}')
    other = Command(tmp_path / "other").here("run", "--inline", "-n", "1", "../api.json", "--url", "http://api.example")
    assert other.view.counts.requests > 0, other.shown
