"""Authentication that users write: in modules of hooks, shared by all workers."""

import pytest

from tests.apps.guarded import PASSWORD, USER, described, guarding
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.apps.tokens import Tokens, serving_tokens
from tests.e2e.runner import Command
from tests.e2e.test_canaries import left_in_files

HOOKS = """
import os
from urllib.request import Request, urlopen

import checker


@checker.auth(retry_on=[401]).apply_to(path_regex="item").skip_for(method="DELETE")
class Login:
    def get(self, case, ctx):
        body = f"username=anna&password={os.environ['PASSWORD']}".encode()
        with urlopen(Request(os.environ["LOGIN"], body, method="POST"), timeout=20) as answer:
            return (answer.headers["X-Token"], {"of": ctx.operation.label})

    def set(self, case, data, ctx):
        token, _ = data
        assert isinstance(data, tuple)
        case.headers["Authorization"] = f"Bearer {token}"
"""


@pytest.mark.thorough
def test_a_provider_is_asked_once_for_all_workers(command: Command) -> None:
    (command.directory / "hooks.py").write_text(HOOKS)
    with serving_tokens(Tokens(uses=50), 3) as tokens:
        command.environment |= {
            "CHECKER_HOOKS": "hooks.py", "LOGIN": f"{tokens.url}/login", "PASSWORD": "pw-C4n4ry-5",
        }  # fmt: skip
        ran = command.run(
            f"{tokens.url}/openapi.json", "-n", "60", "--phases", "fuzzing", "--report", "vcr",
            "--include-path-regex", "item|public",
        )  # fmt: skip
    served = sum(tokens.served.values())
    assert ran.code == 0, ran.shown
    assert served >= 180
    assert not tokens.wasted
    assert len(tokens.given) == -(-served // 50)
    assert "C4n4ry" not in ran.stdout + ran.stderr
    assert not list(left_in_files(command.directory))


@pytest.mark.thorough
def test_configured_authentication_stands_in_place_of_providers(command: Command) -> None:
    (command.directory / "hooks.py").write_text(
        "import checker\n@checker.auth\nclass Never:\n"
        "    def get(self, case, ctx): raise AssertionError\n"
        "    def set(self, case, data, ctx): raise AssertionError\n"
    )
    command.environment["CHECKER_HOOKS"] = "hooks.py"
    with guarding(described({"/basic": [], "/public": []})) as app:
        location = f"{app.url}/openapi.json"
        ran = command.run(location, "--auth", f"{USER}:{PASSWORD}", "-n", "3")
        headers = command.run(location, "-H", "X-Key: 1", "-n", "3")
    assert ran.code == 0, ran.shown
    # A header is no authentication: the provider is asked, and fails; as one error.
    assert headers.stdout.count("Never.get: AssertionError") == 1, headers.shown


@pytest.mark.thorough
def test_objects_of_http_clients_sign_each_request(command: Command) -> None:
    (command.directory / "hooks.py").write_text(
        "import os\nimport checker\n"
        "def sign(request):\n"
        "    request.headers['X-Signed'] = f'{request.method} {request.path_url}'\n"
        "    return request\n"
        "checker.auth.set_from_requests(sign).apply_to(path='/a')\n"
    )
    command.environment["CHECKER_HOOKS"] = "hooks.py"

    def answer(request: Request) -> Reply:
        return json_reply({})

    parameters = [{"name": "q", "in": "query", "schema": {"type": "integer"}}]
    operation = {"get": {"parameters": parameters, "responses": {"200": {"description": ""}}}}
    document = {"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": {"/a": operation, "/b": operation}}
    with serving(answer, document) as app:
        ran = command.run(app.document_url, "--url", app.url, "-n", "5", "--phases", "fuzzing")
    assert ran.code == 0, ran.shown
    signed = {one.target: one.headers.get("x-signed") for one in app.seen}
    assert len(signed) > 2
    for target, value in signed.items():
        expected = f"GET {target.decode()}" if target.startswith(b"/a") else None
        assert value == expected


@pytest.mark.thorough
def test_digest_signs_each_operation_and_asks_once(command: Command) -> None:
    with guarding(described({"/digest": [], "/public": []})) as app:
        ran = command.run(
            f"{app.url}/openapi.json", "--auth", f"{USER}:{PASSWORD}", "--auth-type", "digest",
            "-n", "10", "--phases", "fuzzing", "--report", "vcr", workers=1,
        )  # fmt: skip
    assert ran.code == 0, ran.shown
    assert app.served["/digest"] >= 10
    assert app.refused["/digest"] == 1
    assert "C4n4ry" not in ran.stdout + ran.stderr
    assert not list(left_in_files(command.directory))


@pytest.mark.thorough
def test_credentials_in_bodies_are_sent_and_written_nowhere(command: Command) -> None:
    (command.directory / "hooks.py").write_text(
        "import os\nimport checker\n@checker.auth\nclass Body:\n"
        "    def get(self, case, ctx): return os.environ['PASSWORD']\n"
        "    def set(self, case, data, ctx):\n"
        "        if isinstance(case.body, dict): case.body['token'] = data\n"
    )
    command.environment |= {"CHECKER_HOOKS": "hooks.py", "PASSWORD": "pw-C4n4ry-7"}
    content = {"application/json": {"schema": {"type": "object"}}}
    post = {"requestBody": {"content": content, "required": True}, "responses": {"200": {"description": ""}}}
    document = {"openapi": "3.0.3", "info": {"title": "B", "version": "1"}, "paths": {"/b": {"post": post}}}
    with serving(lambda _: json_reply({}, 500), document) as app:
        ran = command.run(
            app.document_url, "-n", "5", "--phases", "fuzzing", "--mode", "positive", "--report", "vcr,har",
        )  # fmt: skip
    assert ran.code == 1, ran.shown
    assert all(b'"token":"pw-C4n4ry-7"' in one.body for one in app.seen if one.method == "POST")
    assert "C4n4ry" not in ran.stdout + ran.stderr
    assert not list(left_in_files(command.directory))
