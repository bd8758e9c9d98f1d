"""A transport made outside the package carries a whole run, and nobody behind it can tell."""

import json
from pathlib import Path
from typing import Any

import pytest

import checker
from checker.corpus.records import Finding
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command, Ran
from tests.seams.memory_transport import MOST, answer

HERE = Path(__file__).parent
LONGEST = 80
CASES = "400"
NOWHERE = "http://shop.invalid"


def promising(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"description": "", "content": {"application/json": {"schema": schema}}}


INTEGER = {"type": "integer", "minimum": 0}
ORDER = {"type": "object", "properties": {"amount": INTEGER}, "required": ["amount"]}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Shop", "version": "1"},
    "paths": {
        "/orders": {
            "post": {
                "requestBody": {"required": True, "content": {"application/json": {"schema": ORDER}}},
                "responses": {"200": promising({"amount": INTEGER}, "amount"), "default": {"description": ""}},
            }
        },
        "/items": {"get": {"responses": {"200": promising({"total": INTEGER}, "total")}}},
    },
}
PLANTED = [("GET /items", "response_schema_conformance"), ("POST /orders", "not_a_server_error")]


@pytest.fixture
def command(tmp_path: Path) -> Command:
    (tmp_path / "openapi.json").write_text(json.dumps(DOCUMENT))
    for name in ("memory_transport.py", "asgi_shop.py"):
        (tmp_path / name).write_text((HERE / name).read_text())
    return Command(tmp_path)


def ran(command: Command, transport: str, *, workers: int, lanes: int = 4) -> Ran:
    (command.directory / "checker.toml").write_text(
        f'transport = "{transport}"\nbase-url = "{NOWHERE}"\nlanes = {lanes}\n'
    )
    return command.run("openapi.json", "-n", CASES, workers=workers)


def told(finding: Finding, url: str) -> tuple[Any, ...]:
    """All that a finding says, wherever it was sent."""
    exchange = finding.interactions[-1].exchange
    reproduction = finding.investigation.reproduction.replace(url, "")
    sent = (exchange.method, exchange.target, exchange.body)
    answered = (exchange.status, exchange.response_body, exchange.failure)
    shown = (
        finding.fingerprint,
        finding.title,
        finding.message,
        finding.investigation.stage,
        finding.investigation.reproduced,
    )
    return (*shown, reproduction, finding.case, finding.steps, sent, answered)


@pytest.fixture(scope="module")
def over_the_network(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, ...]]:
    """What findings say where the same shop is asked over HTTP."""
    directory = tmp_path_factory.mktemp("network")

    def served(request: Request) -> Reply:
        status, value = answer(request.method, request.target.decode(), request.body)
        return json_reply(value, status)

    command = Command(directory)
    with serving(served, DOCUMENT) as app:
        done = command.run(app.document_url, "-n", CASES, "--url", app.url, workers=1)
        return sorted(told(finding, app.url) for finding in done.findings)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("transport", ["memory_transport:shop", "asgi_shop:shop"])
def test_a_whole_run_goes_over_it(
    command: Command, transport: str, workers: int, over_the_network: list[tuple[Any, ...]]
) -> None:
    done = ran(command, transport, workers=workers)
    assert done.code == 1, done.shown
    assert done.defects == PLANTED
    found = sorted(told(finding, NOWHERE) for finding in done.findings)
    assert found == over_the_network
    assert f'{{"amount":{MOST + 1}}}' in done.stdout


def test_a_request_without_a_response_is_a_finding_while_others_have_one(command: Command) -> None:
    silent = {"openapi": "3.1.0", "info": {"title": "S", "version": "1"}}
    silent["paths"] = {"/silent": {"get": {"responses": {"200": {"description": ""}}}}}
    (command.directory / "openapi.json").write_text(json.dumps(silent))
    done = ran(command, "memory_transport:shop", workers=1)
    assert done.defects == [("GET /silent", "not_a_server_error")]
    assert "The server sends no response" in done.stdout


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        ("gone:shop", "cannot load the transport 'gone:shop': ModuleNotFoundError"),
        ("memory_transport:bazaar", "has no attribute 'bazaar'"),
        ("memory_transport:MOST", "the transport 'memory_transport:MOST' is int"),
        ("shop", "Must be 'module:attribute', but got 'shop'"),
    ],
)
def test_a_transport_that_is_none_is_told(command: Command, named: str, sentence: str) -> None:
    done = ran(command, named, workers=1)
    assert done.code == 2
    assert sentence in " ".join((done.stdout + done.stderr).split())


def test_the_proof_is_small() -> None:
    text = (HERE / "memory_transport.py").read_text()
    assert len(text.splitlines()) <= LONGEST
    assert text.count("checker") == 1


def test_it_carries_the_calls_of_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "memory_of_calls.py").write_text((HERE / "memory_transport.py").read_text())
    monkeypatch.syspath_prepend(str(tmp_path))
    schema = checker.openapi.from_dict(DOCUMENT)
    schema.config.update(transport="memory_of_calls:shop", base_url=NOWHERE)
    assert schema["/items"]["GET"].Case().call().status_code == 200


def test_logins_of_calls_at_another_host_go_over_the_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "memory_beside_logins.py").write_text((HERE / "memory_transport.py").read_text())
    monkeypatch.syspath_prepend(str(tmp_path))
    scheme = {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "/token", "scopes": {}}}}
    document = DOCUMENT | {"security": [{"Login": []}], "components": {"securitySchemes": {"Login": scheme}}}
    with serving(lambda request: json_reply({"access_token": "t", "token_type": "bearer"}), {}) as app:
        client = {"client_id": "c", "client_secret": "s", "token_url": f"{app.url}/token"}
        values = {
            "transport": "memory_beside_logins:shop",
            "base-url": NOWHERE,
            "auth": {"oauth2": {"openapi": {"Login": client}}},
        }
        schema = checker.openapi.from_dict(document, config=checker.Config.from_dict(values))
        response = schema["/items"]["GET"].Case().call()
    assert [one.target for one in app.seen] == [b"/token"]
    assert response.request is not None
    assert response.request.headers["Authorization"] == "Bearer t"
