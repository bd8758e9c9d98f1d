"""`http://localhost:PORT` is where most people's servers are, on IPv4 alone."""

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Near", "version": "1"},
    "paths": {"/things": {"get": {"responses": {"200": {"description": ""}}}}},
}


def answer(request: Request) -> Reply:
    return json_reply({})


def test_a_server_on_ipv4_only_is_tested_by_name(command: Command) -> None:
    with serving(answer, DOCUMENT) as app:
        ran = command.run(app.document_url.replace("127.0.0.1", "localhost"), "-n", "5", inline=True)
    assert ran.code == 0, ran.shown
    assert app.seen
    assert {request.headers["host"] for request in app.seen} == {app.url.replace("http://127.0.0.1", "localhost")}
