"""Services on Node servers: what is planted is found with defaults, nothing else; their clean twins stay clean. `make test-servers` runs it.

GraphQL Yoga masks what its resolvers throw, and also null where it cannot be: both are errors of the server. Apollo Server gives
each error a code, and answers 400 to wrong queries. `notes` gives its refusals codes; `rules` refuses in 20 wordings without any, limits
the depth of queries, and has a `@oneOf` input.
"""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.runner import Command

PLANTED = {
    ("Query.notes", "not_a_server_error"): "a negative number of notes to skip",
    ("Query.note", "not_a_server_error"): "a note that was made and deleted",
    ("Query.search", "not_a_server_error"): "a text that is no regular expression",
    ("Query.moods", "not_a_server_error"): "a mood that is not in the enum",
    ("Query.count", "negative_data_rejection"): "a day that is none",
    ("Mutation.addNote", "not_a_server_error"): "an empty list of tags",
    ("Mutation.createLabel", "ensure_resource_availability"): "a label is not there after it was made",
    ("Mutation.deleteBoard", "use_after_free"): "a board is still there after its deletion",
    ("Mutation.rename", "not_a_server_error"): "a name that is null",
}
NULLS = {"Query.author": "an author without a name", "Query.latest": "null for the latest note"}
NULL_IS = {"yoga": "not_a_server_error", "apollo": "response_schema_conformance"}
"""Server -> the check that tells of null where it cannot be."""


UNRULY = {
    ("Query.pick", "not_a_server_error"): "a negative number in a @oneOf input",
    ("Query.between", "not_a_server_error"): "an empty range",
    ("Query.audit", "not_a_server_error"): "a crash for every caller",
    ("Mutation.closePoll", "not_a_server_error"): "a poll that is closed twice",
}
SERVICES = [(server, service) for server in NULL_IS for service in ("notes", "rules")]


def planted(server: str, service: str) -> set[tuple[str, str]]:
    """Return (operation, check) of what is wrong with a service."""
    return {*UNRULY} if service == "rules" else {*PLANTED, *((label, NULL_IS[server]) for label in NULLS)}


@contextmanager
def served(server: str, twin: str, service: str) -> Iterator[str]:
    """Yield the URL of a server with a service: `planted` or `clean`. It ends with its input."""
    program = str(Path(__file__).with_name(f"{server}.mjs"))
    with subprocess.Popen(
        ["node", program, twin, service], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


@pytest.mark.parametrize(("server", "service"), SERVICES)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_is_planted_is_found_and_nothing_else(server: str, service: str, seed: int, tmp_path: Path) -> None:
    with served(server, "planted", service) as url:
        ran = Command(tmp_path).run_as_usual(url, seed=seed)
    assert set(ran.defects) == planted(server, service), ran.shown


@pytest.mark.parametrize(("server", "service"), SERVICES)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_clean_twin_stays_clean(server: str, service: str, seed: int, tmp_path: Path) -> None:
    with served(server, "clean", service) as url:
        ran = Command(tmp_path).run_as_usual(url, seed=seed)
    assert ran.defects == [], ran.shown
    assert ran.code == 0, ran.shown
