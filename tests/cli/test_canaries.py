"""What is wrong with an option is said without what is secret in it."""

from pathlib import Path

import pytest

BEGIN, END = "C4n4ry", "T41l77"
CANARY = f"{BEGIN}-0f-th3-{END}"
AT = f"user:{CANARY}@"
REFUSED = "127.0.0.1:9"

WRONG_LINES = {
    "location of another scheme": [f"ftp://{AT}h/a"],
    "location without a scheme": [f"//{AT}h/a"],
    "location with port 0": [f"http://{AT}h:0/a?token={CANARY}"],
    "location with too high a port": [f"http://{AT}h:99999/a"],
    "location with no host": [f"http://{AT}/a"],
    "location with a bracket": [f"http://{AT}[::1/a"],
    "location with two signs": [f"http://u:{CANARY}@{CANARY}@h:0/a"],
    "location that refuses": [f"http://{AT}{REFUSED}/a?api_key={CANARY}"],
    "base URL of another scheme": ["openapi.json", "--url", f"ftp://{AT}h"],
    "base URL with port 0": ["openapi.json", "--url", f"http://{AT}h:0/?token={CANARY}"],
    "base URL in one word": ["openapi.json", f"--url=ws://{AT}h"],
    "proxy of another scheme": ["openapi.json", "--proxy", f"socks://{AT}h:1"],
    "proxy that refuses": ["http://127.0.0.1:8/a", "--proxy", f"http://{AT}{REFUSED}"],
    "header without a colon": ["openapi.json", "-H", f"Authorization={CANARY}"],
    "header with a line": ["openapi.json", "-H", f"Authorization: {CANARY}\r\nA: b"],
    "header with a strange name": ["openapi.json", "-H", f"X Y: {CANARY}"],
    "header beyond Latin-1": ["openapi.json", "-H", f"X-Key: {CANARY}\u20ac"],
    "credentials without a colon": ["openapi.json", "--auth", CANARY],
    "credentials without a user": ["openapi.json", "--auth", f":{CANARY}"],
    "credentials beside a header": ["openapi.json", "--auth", f"user:{CANARY}", "-H", f"Authorization: {CANARY}"],
}


@pytest.mark.parametrize("name", WRONG_LINES)
def test_a_wrong_command_line_shows_no_canary(invoke, name: str) -> None:
    result = invoke("run", *WRONG_LINES[name], "--inline")
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit | None), result.exception
    assert BEGIN not in result.output
    assert END not in result.output


WRONG_FILES = {
    "base URL of another scheme": f"base-url = 'ftp://{AT}h'",
    "base URL from the environment": "base-url = '${SECRET_URL}'",
    "list of base URLs": f"base-url = ['http://{AT}h']",
    "proxy of another scheme": f"proxy = 'ftp://{AT}h'",
    "headers that are no table": f"headers = 'Authorization: {CANARY}'",
    "header that is no text": f"headers = {{ X-Key = ['{CANARY}'] }}",
    "header with a line": f'headers = {{ X-Key = "{CANARY}\\n" }}',
    "variable that is not set": f"headers = {{ X-Key = '{CANARY} ${{NO_SUCH_VARIABLE}}' }}",
    "malformed placeholder": f"headers = {{ X-Key = '{CANARY} ${{NO SUCH}} {CANARY}' }}",
    "authentication that is no table": f"auth = '{CANARY}'",
    "password without a user": f"[auth.basic]\npassword = '{CANARY}'",
    "password that is no text": f"[auth.basic]\nusername = 'u'\npassword = ['{CANARY}']",
    "two kinds of credentials": f"[auth.openapi]\nK = {{ api_key = '{CANARY}', bearer = '{CANARY}' }}",
    "credential that cannot be sent": f'[auth.openapi]\nK = {{ bearer = "{CANARY}\\n" }}',
    "login without a path": f"[auth.dynamic.openapi]\nK = {{ payload = {{ p = '{CANARY}' }} }}",
    "login that is no table": f"[auth.dynamic.openapi]\nK = '{CANARY}'",
    "several methods": f"[auth.basic]\nusername = 'u'\npassword = '{CANARY}'\n[auth.openapi]\nK = {{ bearer = '{CANARY}' }}",
    "parameters that are no table": f"parameters = '{CANARY}'",
    "server variables that are no texts": f"[servers.variables]\ntoken = ['{CANARY}']",
    "no TOML": f"headers = {{ X-Key = '{CANARY}",
}


def test_a_client_key_that_cannot_be_used_shows_nothing_of_it(invoke, folder: Path) -> None:
    (folder / "client.pem").write_text(f"-----BEGIN PRIVATE KEY-----\n{CANARY}\n")
    pair = ("--request-cert", "client.pem", "--request-cert-key", "client.pem")
    result = invoke("run", "https://127.0.0.1:9/openapi.json", *pair, "--inline")
    assert result.exit_code == 2, result.output
    assert BEGIN not in result.output


@pytest.mark.parametrize("name", WRONG_FILES)
def test_a_wrong_file_shows_no_canary(invoke, folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("SECRET_URL", f"ws://{AT}h")
    (folder / "checker.toml").write_text(WRONG_FILES[name])
    result = invoke("run", "openapi.json", "--inline")
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit | None), result.exception
    assert BEGIN not in result.output
    assert END not in result.output
