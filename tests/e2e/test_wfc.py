"""Authentication documents of the Web Fuzzing Commons: users log in, and each operation has whom it lets in."""

import json
import os
import signal
import threading
from collections.abc import Sequence
from itertools import count
from pathlib import Path

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import App, json_reply, serving
from tests.e2e.runner import Command
from tests.e2e.test_canaries import left_in_files
from tests.waiting import wait_until

USERS = {"anna": "pw-C4n4ry-a", "bert": "pw-C4n4ry-b"}
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Wfc", "version": "1"},
    "paths": {
        path: {"get": {"responses": {"200": {"description": ""}}}}
        for path in ("/all", "/bert", "/nobody", "/closed", "/cookie", "/query")
    },
}


class Bank:
    def __init__(self) -> None:
        self.logins: list[str] = []

    def answer(self, request: Request) -> Reply:
        path, _, query = request.target.decode().partition("?")
        if path == "/login":
            given = json.loads(request.body)
            name = given["user"]
            if USERS.get(name) != given["pass"]:
                return json_reply({}, 401)
            self.logins.append(name)
            cookie = (("Set-Cookie", f"sid=c-C4n4ry-{name}; HttpOnly; Path=/"),)
            body = json.dumps({"t": {"token": f"t-C4n4ry-{name}"}}).encode()
            return Reply(200, "application/json", body, cookie)
        proof = request.headers.get("authorization", "")
        who = proof.rpartition("-")[2] if proof.startswith("Bearer t-C4n4ry-") else ""
        if path == "/cookie":
            is_in = "sid=c-C4n4ry-" in request.headers.get("cookie", "")
        elif path == "/query":
            is_in = "key=t-C4n4ry-" in query
        else:
            is_in = {"/all": bool(who), "/bert": who == "bert", "/nobody": not who}.get(path, False)
        return json_reply({}) if is_in else json_reply({}, 403 if who == "bert" else 401)


def login(name: str, token: dict[str, str] | None, endpoint: str = "/login") -> dict[str, object]:
    key = "externalEndpointURL" if endpoint.startswith("http") else "endpoint"
    found: dict[str, object] = {
        "verb": "POST",
        key: endpoint,
        "contentType": "application/json",
        "payloadUserPwd": {
            "username": name, "usernameField": "user", "password": USERS[name], "passwordField": "pass",
        },
    }  # fmt: skip
    found |= {"expectCookies": True} if token is None else {"token": token}
    return {"name": name, "loginEndpointAuth": found}


HEADER = {
    "extractFrom": "body",
    "extractSelector": "/t/token",
    "sendIn": "header",
    "sendName": "Authorization",
    "sendTemplate": "Bearer {token}",
}


def run(
    command: Command,
    bank: Bank,
    users: list[dict[str, object]],
    *options: str,
    document: Sequence[str] = ("--auth-wfc", "users.json"),
) -> App:
    path = command.directory / "users.json"
    path.write_text(json.dumps({"auth": users}))
    with serving(bank.answer, DOCUMENT) as app:
        ran = command.run(
            app.document_url, "--url", app.url, *document, "-n", "4",
            "--phases", "fuzzing", "--report", "vcr", "--checks", "not_a_server_error",
            *options, inline=True,
        )  # fmt: skip
    assert ran.code == 0, ran.shown
    assert "C4n4ry" not in ran.stdout + ran.stderr
    path.unlink()
    assert not list(left_in_files(command.directory))
    return app


def test_a_login_without_the_promised_cookie_is_an_error_that_says_so(command: Command) -> None:
    path = command.directory / "users.json"
    path.write_text(json.dumps({"auth": [login("anna", None)]}))
    without = Bank()

    def answer(request: Request) -> Reply:
        reply = without.answer(request)
        return Reply(reply.status, reply.media_type, reply.body) if reply.headers else reply

    with serving(answer, DOCUMENT) as app:
        ran = command.run(app.document_url, "--auth-wfc", "users.json", "--phases", "fuzzing", "-n", "1", inline=True)
    assert ran.code == 1
    assert "the login of 'anna' sets no cookie, which 'expectCookies' promises" in " ".join(ran.stdout.split())


def callers(app: App, path: str) -> list[str]:
    sent = [one for one in app.seen if one.target.partition(b"?")[0] == path.encode()]
    return [one.headers.get("authorization", "-").rpartition("-")[2] for one in sent]


def test_each_operation_has_whom_it_lets_in(command: Command) -> None:
    bank = Bank()
    app = run(command, bank, [login("anna", HEADER), login("bert", HEADER)])
    assert bank.logins == ["anna", "bert"]
    assert set(callers(app, "/all")) == {"anna"}
    # The first user, then nobody, then the others; and from then on who was let in.
    bert, nobody, closed = (callers(app, path) for path in ("/bert", "/nobody", "/closed"))
    assert (bert[:3], set(bert[2:])) == (["anna", "", "bert"], {"bert"})
    assert (nobody[:2], set(nobody[1:])) == (["anna", ""], {""})
    # Nobody is let in: whoever is known and not allowed came furthest.
    assert (closed[:3], set(closed[2:])) == (["anna", "", "bert"], {"bert"})


def test_the_user_that_is_named_calls_everything(command: Command) -> None:
    bank = Bank()
    app = run(command, bank, [login("anna", HEADER), login("bert", HEADER)], "--auth-wfc-user", "bert")
    assert bank.logins[0] == "bert"
    assert set(bank.logins) == {"bert"}
    assert set(callers(app, "/nobody")) == {"bert"}


def test_a_user_is_named_on_the_command_line_and_the_document_in_the_file(command: Command) -> None:
    bank = Bank()
    (command.directory / "checker.toml").write_text("[auth.wfc]\npath = 'users.json'\nuser = 'anna'\n")
    app = run(command, bank, [login("anna", HEADER), login("bert", HEADER)], "--auth-wfc-user", "bert", document=())
    assert set(bank.logins) == {"bert"}
    assert set(callers(app, "/nobody")) == {"bert"}


def test_logins_give_cookies_and_tokens_for_the_query(command: Command) -> None:
    for token, path in (
        (None, "/cookie"),
        (HEADER | {"sendIn": "query", "sendName": "key", "sendTemplate": "{token}"}, "/query"),
    ):
        bank = Bank()
        app = run(command, bank, [login("anna", token)], "--include-path", path)
        assert bank.logins == ["anna"]
        sent = [one for one in app.seen if one.target.startswith(path.encode())]
        assert sent
        assert all(
            "sid=c-C4n4ry-anna" in one.headers.get("cookie", "") or b"key=t-C4n4ry-anna" in one.target for one in sent
        )


def test_a_login_elsewhere_is_called_as_written(command: Command) -> None:
    bank, other = Bank(), Bank()
    with serving(other.answer, {}) as place:
        app = run(command, bank, [login("anna", HEADER, f"{place.url}/login")], "--include-path", "/all")
    assert (bank.logins, other.logins) == ([], ["anna"])
    assert set(callers(app, "/all")) == {"anna"}


def test_fixed_headers_and_a_template_need_no_login(command: Command) -> None:
    users: list[dict[str, object]] = [
        {"name": "bert", "fixedHeaders": [{"name": "Authorization", "value": "Bearer t-C4n4ry-bert"}]}
    ]
    app = run(command, Bank(), users, "--include-path", "/bert")
    assert set(callers(app, "/bert")) == {"bert"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", "'auth' must be a list of users that is not empty"),
        ("auth: [{name: a}]", "auth[0] (a) has neither 'fixedHeaders' nor 'loginEndpointAuth'"),
        ("auth: [{name: a, loginEndpointAuth: {verb: POST}}]", "auth[0] (a).loginEndpointAuth: 'endpoint' is missing"),
        ("auth: [}", "it is neither JSON nor YAML (line 1)"),
    ],
)
def test_a_document_that_means_nothing_is_one_sentence(command: Command, text: str, expected: str) -> None:
    Path(command.directory / "users.yaml").write_text(text)
    ran = command.here("run", "http://127.0.0.1:9/openapi.json", "--auth-wfc", "users.yaml")
    assert (ran.code, ran.stderr) == (2, f"Error: auth.wfc: {expected}\n")


def test_a_user_that_is_not_there_is_one_sentence(command: Command) -> None:
    (command.directory / "users.json").write_text(json.dumps({"auth": [login("anna", HEADER)]}))
    ran = command.here("run", "http://127.0.0.1:9/a", "--auth-wfc", "users.json", "--auth-wfc-user", "zoe")
    assert ran.code == 2
    assert ran.stderr == "Error: auth.wfc: there is no user 'zoe' in the document; there are 'anna'\n"


@pytest.mark.thorough
def test_a_killed_run_leaves_no_password_and_no_token_that_answers_echo(command: Command) -> None:
    bank, served, is_enough = Bank(), count(1), threading.Event()

    def echoing(request: Request) -> Reply:
        proof = request.headers.get("authorization", "")
        if next(served) == 60:
            is_enough.set()
        if request.target.startswith(b"/bert"):
            return json_reply({"you": proof, "token": proof[7:]}, 500)
        return bank.answer(request)

    folder = command.directory
    document = folder.parent / "users.json"
    document.write_text(json.dumps({"auth": [login("anna", HEADER)]}))
    command.environment["CERTAIN"] = "env-C4n4ry"
    (folder / "checker.toml").write_text("headers = { X-Certain-Key = '${CERTAIN}' }")
    options = ("--auth-wfc", str(document), "-w", "2", "-n", "2000", "--continue-on-failure")
    with (
        serving(echoing, DOCUMENT) as app,
        command.started("run", app.document_url, *options, "--report", "vcr,ndjson,har") as process,
    ):
        wait_until(lambda: is_enough.is_set() or process.poll() is not None)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert is_enough.is_set()
    assert any(b"C4n4ry" in one.headers.get("authorization", "").encode() for one in app.seen)
    assert (folder / ".checker").is_dir()
    assert not list(left_in_files(folder))
