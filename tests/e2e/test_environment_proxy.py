"""Requests go through the proxy that the environment names, as the request for the description does."""

import json

import pytest

import checker
from checker.core.request import BaseUrl
from checker.transport.settings import environment_proxy
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


def test_a_login_elsewhere_goes_by_its_own_proxy(command: Command) -> None:
    def answer(request: Request) -> Reply:
        if request.target.endswith(b"/token"):
            return json_reply({"token": "t0k3n"})
        return json_reply({}, 200 if request.headers.get("authorization") == "Bearer t0k3n" else 401)

    operation = {"security": [{"B": []}], "responses": {"200": {"description": ""}, "401": {"description": ""}}}
    document = DOCUMENT | {
        "paths": {"/a": {"get": operation}},
        "components": {"securitySchemes": {"B": {"type": "http", "scheme": "bearer"}}},
    }
    with serving(answer, document) as app, serving(answer, {}) as proxy:
        # The API is elsewhere and reached through the proxy, the login is on this machine and is not.
        (command.directory / "openapi.json").write_text(json.dumps(document))
        login = f"[auth.dynamic.openapi.B]\nurl = '{app.url}/token'\nextract_selector = '/token'\n"
        (command.directory / "checker.toml").write_text(f"base-url = 'http://api.test/v1'\n{login}")
        ran = run(command, "openapi.json", proxy.url)
        assert ran.code == 0, ran.shown
        assert {one.target for one in app.seen} == {b"/token"}
        assert {one.target.partition(b"?")[0] for one in proxy.seen} == {b"http://api.test/v1/a"}
        # And the other way round.
        proxy.seen.clear()
        (command.directory / "checker.toml").write_text(
            f"base-url = '{app.url}'\n" + login.replace(app.url, "http://login.test")
        )
        ran = run(command, "openapi.json", proxy.url)
    assert ran.code == 0, ran.shown
    assert {one.target for one in proxy.seen} == {b"http://login.test/token"}


@pytest.mark.parametrize(
    ("listed", "url", "is_direct"),
    [
        ("*", "http://a.test", True),
        ("a.test", "http://a.test", True),
        ("a.test", "http://b.a.test", True),
        ("a.test", "http://ba.test", False),
        ("x, .a.test", "http://b.a.test", True),
        ("*.a.test", "http://b.a.test", True),
        ("A.Test", "http://a.test:81", True),
        ("a.test:80", "http://a.test", True),
        ("a.test:81", "http://a.test", False),
        ("10.0.0.0/8", "http://10.1.2.3", True),
        ("10.0.0.0/8", "http://11.1.2.3", False),
        ("10.1.2.3", "http://10.1.2.3:99", True),
        ("10.1.2.3:80", "http://10.1.2.3:99", False),
        ("[fd00::1]", "http://[fd00::1]", True),
        ("[fd00::1]:80", "http://[fd00::1]", True),
        ("[fd00::1]:81", "http://[fd00::1]", False),
        ("fd00::1", "http://[fd00:0::1]", True),
        ("fd00::/8", "http://[fd00::1]", True),
        ("0.0.0.0/0", "http://[fd00::1]", False),
        ("", "http://a.test", False),
        (",. *.", "http://a.test", False),
    ],
)
def test_no_proxy_lists_hosts_addresses_and_ranges(
    monkeypatch: pytest.MonkeyPatch, listed: str, url: str, is_direct: bool
) -> None:
    for name in ("HTTP_PROXY", "ALL_PROXY", "http_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.test")
    monkeypatch.setenv("NO_PROXY", listed)
    assert (environment_proxy(BaseUrl.from_url(url)) is None) == is_direct


def test_a_proxy_that_is_down_is_named(command: Command) -> None:
    (command.directory / "openapi.json").write_text(json.dumps(DOCUMENT))
    ran = run(command, "openapi.json", "http://127.0.0.1:9")
    assert ran.code == 1
    assert "the proxy at http://127.0.0.1:9 cannot be reached" in " ".join(ran.stdout.split())
    assert "(`HTTP_PROXY`, `NO_PROXY`)" in " ".join(ran.stdout.split())


def test_calls_of_python_go_through_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(served, {}) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        case = checker.openapi.from_dict(DOCUMENT)["/a"]["GET"].Case()
        assert case.call().status_code == 200
    assert {one.target for one in proxy.seen} == {b"http://api.test/v1/a"}
