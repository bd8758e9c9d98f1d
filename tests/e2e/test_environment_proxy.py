"""Requests go through the proxy that the environment names, as the request for the description does."""

import json

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command, Ran

DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "T", "version": "1"},
    "servers": [{"url": "http://api.test/v1"}],
    "paths": {"/a": {"get": {"responses": {"200": {"description": ""}}}}},
}


def served(request: Request) -> Reply:
    return json_reply({})


def run(command: Command, location: str, proxy: str, **environment: str) -> Ran:
    command.environment |= {"http_proxy": proxy} | environment
    return command.here("run", location, "--inline", "-n", "2", "--seed", "1", "-c", "not_a_server_error")


@pytest.mark.parametrize("is_url", [True, False])
def test_a_host_elsewhere_is_reached_through_it(command: Command, is_url: bool) -> None:
    (command.directory / "openapi.json").write_text(json.dumps(DOCUMENT))
    with serving(served, {}) as proxy:
        ran = run(command, "openapi.json", proxy.url if is_url else proxy.url.removeprefix("http://"))
    assert ran.code == 0, ran.shown
    assert {one.target.partition(b"?")[0] for one in proxy.seen} == {b"http://api.test/v1/a"}


def test_this_machine_is_reached_without_it(command: Command) -> None:
    document = {name: value for name, value in DOCUMENT.items() if name != "servers"}
    with serving(served, {}) as proxy, serving(served, document) as app:
        ran = run(command, app.document_url, proxy.url)
    assert ran.code == 0, ran.shown
    assert app.seen
    assert not proxy.seen


def test_hosts_that_need_none_are_reached_without_it(command: Command) -> None:
    (command.directory / "openapi.json").write_text(json.dumps(DOCUMENT))
    with serving(served, {}) as proxy:
        ran = run(command, "openapi.json", proxy.url, no_proxy=".test")
    assert ran.code == 1
    assert "the API at http://api.test/v1 cannot be reached" in " ".join(ran.stdout.split())
    assert not proxy.seen


def test_a_proxy_that_is_down_is_named(command: Command) -> None:
    (command.directory / "openapi.json").write_text(json.dumps(DOCUMENT))
    ran = run(command, "openapi.json", "http://127.0.0.1:9")
    assert ran.code == 1
    assert "the proxy at http://127.0.0.1:9 cannot be reached" in " ".join(ran.stdout.split())
    assert "(`HTTP_PROXY`, `NO_PROXY`)" in " ".join(ran.stdout.split())
