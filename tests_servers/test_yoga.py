"""GraphQL Yoga on Node: what is planted is found with defaults, nothing else; its clean twin stays clean. `make test-servers` runs it.

Yoga masks what its resolvers throw, and also null where it cannot be: both are errors of the server.
"""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.runner import Command

PROGRAM = Path(__file__).with_name("yoga.mjs")
PLANTED = {
    ("Query.notes", "not_a_server_error"): "a negative number of notes to skip",
    ("Query.note", "not_a_server_error"): "a note that was made and deleted",
    ("Query.author", "not_a_server_error"): "an author without a name",
    ("Query.search", "not_a_server_error"): "a text that is no regular expression",
    ("Query.moods", "not_a_server_error"): "a mood that is not in the enum",
    ("Query.latest", "not_a_server_error"): "null for the latest note",
    ("Query.count", "negative_data_rejection"): "a day that is none",
    ("Mutation.addNote", "not_a_server_error"): "an empty list of tags",
    (
        "Mutation.createLabel",
        "ensure_resource_availability",
    ): "a label is not there after it was made",
    ("Mutation.deleteBoard", "use_after_free"): "a board is still there after its deletion",
    ("Mutation.rename", "not_a_server_error"): "a name that is null",
}


@contextmanager
def served(twin: str) -> Iterator[str]:
    """URL of the server: `planted` or `clean`. It ends with its input."""
    with subprocess.Popen(
        ["node", str(PROGRAM), twin], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_is_planted_is_found_and_nothing_else(seed: int, tmp_path: Path) -> None:
    with served("planted") as url:
        ran = Command(tmp_path).run_as_usual(url, seed=seed)
    assert set(ran.defects) == set(PLANTED), ran.shown


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_clean_twin_stays_clean(seed: int, tmp_path: Path) -> None:
    with served("clean") as url:
        ran = Command(tmp_path).run_as_usual(url, seed=seed)
    assert ran.defects == [], ran.shown
    assert ran.code == 0, ran.shown
