"""`--changed-since OLD`: runs that test the operations that differ from an earlier version of the description."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.apps import stores
from tests.apps.serving import serving
from tests.e2e.runner import Command, Ran

STORE = stores.store(1)
POST, GET, DELETE = f"POST {STORE}", f"GET {STORE}/{{id}}", f"DELETE {STORE}/{{id}}"


def _old(folder: Path, *path: str, **changes: Any) -> None:
    """Write an earlier version, which differs from the served one in the object at a path."""
    document = stores.document(3)
    where: Any = document["paths"]
    for key in path:
        where = where[key]
    where |= changes
    (folder / "old.json").write_text(json.dumps(document))


def _run(folder: Path, *options: str, command: str = "run", since: str = "old.json") -> Ran:
    with serving(stores.answering(3), stores.document(3)) as app:
        return Command(folder).here(command, app.document_url, "--seed", "1", "--changed-since", since, *options)


def test_changed_operations_are_tested_with_resources_of_others(tmp_path: Path) -> None:
    _old(tmp_path, f"{STORE}/{{id}}", "get", description="The old text")
    # The second worker reads the description, and which operations have changed, from the first one.
    ran = _run(tmp_path, "-n", "20", "--workers", "2", "--phases", "coverage,fuzzing")
    assert ran.code == 0, ran.shown
    assert "1 selected / 12 total" in ran.stdout
    assert "Changed since:    old.json" in ran.stdout
    assert list(ran.view.labels) == [GET]
    assert set(ran.view.statuses) == {GET, POST}
    assert ran.view.statuses[GET][200], "the resources of the other operation are used"
    assert sum(ran.view.statuses[POST].values()) <= 10


def test_fuzz_tests_changed_operations(tmp_path: Path) -> None:
    [broken] = stores.broken(3)
    _old(tmp_path, broken.partition(" ")[2], "get", description="The old text")
    # Without a time limit it ends at its first failure.
    ran = _run(tmp_path, "--workers", "1", command="fuzz")
    assert (ran.code, list(ran.view.labels)) == (1, [broken]), ran.shown
    assert set(ran.view.statuses) <= {broken, f"POST {stores.store(0)}", f"GET {stores.store(0)}"}


def _listed(folder: Path, *options: str) -> list[str]:
    ran = _run(folder, "--format", "json", *options, command="list")
    assert ran.code == 0, ran.shown
    return [one["label"] for one in json.loads(ran.stdout)["operations"]]


def test_dependents_are_tested_where_they_are_wanted(tmp_path: Path) -> None:
    _old(tmp_path, STORE, "post", description="The old text")
    assert _listed(tmp_path) == [POST]
    assert _listed(tmp_path, "--with-dependents") == [POST, GET, DELETE]
    assert _listed(tmp_path, "--with-dependents", "--exclude-method", "DELETE") == [POST, GET]
    refused = Command(tmp_path).here("run", "old.json", "--with-dependents")
    assert (refused.code, "--with-dependents needs --changed-since" in refused.stderr) == (2, True), refused.shown


def test_shards_share_the_changed_operations(tmp_path: Path) -> None:
    document = stores.document(3)
    for number in range(2):
        document["paths"][stores.store(number)]["post"]["description"] = "The old text"
    (tmp_path / "old.json").write_text(json.dumps(document))
    shards = [_listed(tmp_path, "--shard", f"{number}/2") for number in (1, 2)]
    assert sorted(shards) == [[f"POST {stores.store(0)}"], [POST]]


def test_a_run_without_changed_operations_passes(tmp_path: Path) -> None:
    _old(tmp_path)
    ran = _run(tmp_path)
    assert (ran.code, ran.view.counts.requests) == (0, 0), ran.shown
    assert "No selected operation has changed since old.json" in ran.stdout
    assert Command(tmp_path).here("report").code == 0


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "old.json does not exist"),
        ("{", "old.json"),
        ('{"a": 1}', "old.json"),
        ("type Query { a: Int }", "old.json"),
    ],
)
def test_an_unreadable_earlier_version_is_refused(text: str | None, sentence: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "old.json").write_text(text)
    for command in ("run", "list"):
        ran = _run(tmp_path, command=command)
        assert ran.code == 2, ran.shown
        assert sentence in ran.stdout + ran.stderr


def test_headers_are_not_sent_to_the_server_of_the_earlier_version(tmp_path: Path) -> None:
    with serving(stores.answering(3), stores.document(3)) as other:
        ran = _run(tmp_path, "-H", "X-Token: secret", since=other.document_url)
    assert ran.code == 0, ran.shown
    assert "secret" not in str(other.wire())
