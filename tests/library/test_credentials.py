"""Sources of credentials in the Python library: calls carry what they give, and nothing shown holds it."""

from collections.abc import Iterator

import pytest

import checker
from checker.core.credentials import CREDENTIAL_SOURCES
from checker.credentials import Credentials, CredentialSource, register
from checker.demo.http import Reply, Request
from tests.apps.serving import json_reply, serving

DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "T", "version": "1"},
    "paths": {"/a": {"get": {"responses": {"200": {"description": ""}}}}},
}


class Counted(CredentialSource):
    name = "counted"

    def __init__(self) -> None:
        self.fetched = 0

    def fetch(self, case: checker.Case) -> Credentials:
        self.fetched += 1
        return Credentials({"X-Ticket": f"number-{self.fetched}-of-many"})

    def carried(self, held: Credentials, case: checker.Case) -> Credentials | None:
        return held

    def is_refused(self, response: checker.Response) -> bool:
        return bool(response.status_code == 401)


@pytest.fixture
def source() -> Iterator[Counted]:
    made = register(Counted())
    yield made
    del CREDENTIAL_SOURCES[made.name]


def second_only(request: Request) -> Reply:
    is_second = request.headers.get("x-ticket") == "number-2-of-many"
    return json_reply({}, 500 if is_second else 401)


def test_a_call_is_sent_again_with_newer_credentials_and_shows_none(source: Counted) -> None:
    with serving(second_only, DOCUMENT) as app:
        schema = checker.openapi.from_url(app.document_url)
        with pytest.raises(checker.errors.FailureGroup) as caught:
            schema["/a"]["GET"].Case().call_and_validate()
    assert (source.fetched, len(app.seen)) == (2, 2)
    assert "X-Ticket: [Filtered]" in str(caught.value)
    assert "of-many" not in str(caught.value)


def test_credentials_go_to_no_server_that_the_description_alone_names(source: Counted) -> None:
    schema = checker.openapi.from_dict({**DOCUMENT, "servers": [{"url": "http://127.0.0.1:9"}]})
    with pytest.raises(checker.errors.UsageError, match="source counted"):
        schema["/a"]["GET"].Case().call()
    assert source.fetched == 0


def test_a_name_is_taken_once(source: Counted) -> None:
    assert register(source) is source
    with pytest.raises(checker.errors.IncorrectUsage, match="'counted' is already registered"):
        register(Counted())
