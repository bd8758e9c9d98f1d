"""Input that cannot be tested: one sentence, exit code 2, no traceback, from the program as it is installed."""

import json
import socket
from pathlib import Path

import pytest

from tests.apps.http import Reply
from tests.apps.serving import serving
from tests.e2e.runner import Command, Ran, run_arguments

FILES = {
    "page.json": "<!doctype html><html><body>Hello</body></html>",
    "broken.yaml": "openapi: 3.0.0\npaths: {\n  /a: [",
    "old.json": json.dumps({"openapi": "1.2", "info": {}, "paths": {}}),
    "none.json": json.dumps({"openapi": "3.0.3", "info": {"title": "", "version": ""}, "paths": {}}),
    "versionless.yaml": "info: {title: a}\npaths: {}\n",
    "list.json": "[1, 2]",
    "empty.yaml": "",
}


def test_broken_hooks_are_told_before_anything_is_fetched(command: Command) -> None:
    (command.directory / "hooks.py").write_text("1 / 0\n")
    (command.directory / "checker.toml").write_text('hooks = "hooks.py"\n')
    with serving(lambda request: Reply(200), {}) as app:
        ran = command.run(f"{app.url}/description")
        assert app.seen == []
    _refused(ran, "cannot load hooks from 'hooks.py': ZeroDivisionError")


def _refused(ran: Ran, *said: str) -> None:
    assert ran.code == 2, ran.shown
    assert "Traceback" not in ran.shown
    for words in said:
        assert words.lower() in " ".join(ran.shown.lower().split()), ran.shown
    assert not list(ran.directory.rglob("core*"))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("page.json", "is HTML, not an API description"),
        ("broken.yaml", "neither valid JSON nor valid YAML"),
        ("old.json", "Open API 1.2, which is currently not supported"),
        ("none.json", "no operation"),
        ("versionless.yaml", "Unable to determine the Open API version"),
        ("list.json", "an object was expected, a list was found"),
        ("empty.yaml", "is empty"),
    ],
)
def test_a_document_that_is_none(name: str, said: str, command: Command, tmp_path: Path) -> None:
    (tmp_path / name).write_text(FILES[name])
    _refused(command.run(name, "--url", "http://127.0.0.1:9", inline=True), said)


def test_a_file_that_is_not_there(command: Command) -> None:
    _refused(command.run("nowhere.yaml", inline=True), "'nowhere.yaml' does not exist")


def test_a_url_that_refuses(command: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    _refused(command.run(f"http://127.0.0.1:{port}/openapi.json", inline=True), "refused")


def test_a_url_with_a_page(command: Command) -> None:
    with serving(lambda _: Reply(200, "text/html", b"<html></html>"), {}) as app:
        _refused(command.run(f"{app.url}/page", inline=True), "is HTML, not an API description")


def test_a_url_that_says_no(command: Command) -> None:
    with serving(lambda _: Reply(404), {}) as app:
        _refused(command.run(f"{app.url}/nothing", inline=True), "404")
        _refused(command.run(app.url, inline=True), "many APIs serve their description at /openapi.json")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--workers", "none"], "--workers"),
        (["--checks", "not_a_sever_error"], "not_a_server_error"),
        (["--max-failures", "0"], "--max-failures"),
        (["--report", "pdf"], "pdf"),
        (["--include-path-regex", "("], "regular expression"),
        (["--mode", "negativ"], "Did you mean 'negative'"),
        (["-H", "nothing"], "KEY:VALUE"),
        (["--no-such-option"], "no such option"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_option_value_that_is_unknown(arguments: list[str], said: str, command: Command) -> None:
    given = run_arguments("http://127.0.0.1:9/openapi.json")[:2]
    _refused(command.here(*given, *arguments), said)
