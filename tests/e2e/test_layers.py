"""Values of earlier layers are reused, and who saw them first decides nothing."""

import json
from collections import Counter
from pathlib import Path

import pytest

from checker.core.digests import digest
from tests.apps.http import Reply, Request
from tests.apps.library import DOCUMENT
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

Wire = Counter[tuple[str, bytes, tuple[tuple[str, str], ...], bytes]]

EVERYTHING = ("--phases", "examples,coverage,fuzzing,stateful", "-n", "30")


def same(request: Request) -> Reply:
    """What is answered depends on the request alone: made things are named after what was sent."""
    path = request.target.decode("latin-1").partition("?")[0]
    name = digest(request.method, path, request.body.decode("latin-1"))[:8]
    shelf = {"id": name, "title": "t"}
    if request.method == "DELETE":
        return Reply(204)
    if path == "/jobs":
        return Reply(202, "", b"", (("Location", f"/jobs/{name}"),))
    if path == "/shelves":
        return json_reply([shelf]) if request.method == "GET" else json_reply({"data": shelf}, 201)
    if path == "/orders":
        return json_reply({"receipt": {"no": name}}, 201)
    if path.endswith("/books"):
        return json_reply({"isbn": name, "title": "t"}, 201)
    if path == "/readers":
        return json_reply({"id": name}, 201)
    if path == "/loans":
        return json_reply({"state": "lent"}, 201)
    if path.startswith("/receipts/"):
        return json_reply({"total": 1})
    if path.startswith("/jobs/"):
        return json_reply({"state": "waiting"})
    return json_reply({"isbn": name, "title": "t"} if "/books/" in path else shelf)


@pytest.mark.thorough
def test_equal_answers_give_equal_requests_for_any_number_of_workers(tmp_path: Path) -> None:
    found = []
    with serving(same, DOCUMENT) as app:
        for workers in (1, 4):
            directory = tmp_path / f"{workers}"
            directory.mkdir()
            arguments = (*EVERYTHING, "--checks", "not_a_server_error")
            ran = Command(directory).run(app.document_url, *arguments, workers=workers)
            assert ran.code == 0, ran.shown
            found.append(Counter(app.wire()))
            app.seen.clear()
    one, four = found
    assert (one - four, four - one) == (Counter(), Counter())


def names_in(requests: Wire) -> set[str]:
    """Names that the application gave."""
    return {
        digest(method, target.decode(), body.decode("latin-1"))[:8]
        for method, target, _, body in requests
        if method == "POST" and b"?" not in target
    }


def uses(requests: Wire, names: set[str]) -> int:
    return sum(any(part in names for part in target.decode("latin-1").split("/")) for _, target, _, _ in requests)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("reuses", [True, False])
def test_what_was_made_is_used_unless_it_is_switched_off(tmp_path: Path, reuses: bool) -> None:
    (tmp_path / "run").mkdir()
    with serving(same, DOCUMENT) as app:
        text = f"[phases.fuzzing.extra-data-sources]\nresponses = {json.dumps(reuses)}\n"
        (tmp_path / "run" / "checker.toml").write_text(text)
        ran = Command(tmp_path / "run").run(
            *(app.document_url, "-n", "30", "--checks", "not_a_server_error"), inline=True
        )
        assert ran.code == 0, ran.shown
        found = Counter(app.wire())
    assert (uses(found, names_in(found)) > 0) is reuses
