"""Both versions of the demo service, running, with a connection to each."""

from collections.abc import Iterator

import pytest

from checker.demo import Server, document

from .client import Client, Judge


@pytest.fixture(scope="session")
def judge() -> Judge:
    return Judge(document())


@pytest.fixture(scope="module")
def fixed() -> Iterator[Client]:
    yield from _client(fixed=True)


@pytest.fixture(scope="module")
def buggy() -> Iterator[Client]:
    yield from _client(fixed=False)


def _client(*, fixed: bool) -> Iterator[Client]:
    with Server(fixed=fixed) as server:
        client = Client(server.url)
        yield client
        client.connection.close()
