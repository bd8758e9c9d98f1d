"""The printed commands of failures that several requests of a check show together: on a fresh service they show what the message says."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from checker.corpus.known import failure_id
from checker.corpus.records import Finding
from tests.apps.http import Reply, Request
from tests.apps.serving import serving
from tests.apps.versioned import DOCUMENT, Versioned
from tests.e2e.runner import Command
from tests.fork_server import plain_environment

_CASES = [
    ("adds", "update_conformance", "PUT adds in place of replacing"),
    ("keeps", "update_conformance", "PUT keeps what it left out"),
    ("loses", "update_conformance", "Written value is not stored"),
    ("304", "update_conformance", "Condition is ignored"),
    ("412", "update_conformance", "Condition is ignored"),
    ("counts", "safe_methods", "Read changes the resource"),
    ("logout", "session_ends", "Token is accepted after logout"),
    ("key", "races", "Idempotency key is ignored"),
    ("spends", "races", "Spent twice, paid once"),
]

_FUZZED = {"logout": "^/(sessions|me|logout)", "key": "^/payments", "spends": "^/purses"}
"""Mistakes that `fuzz` looks for, and the operations that show them: among others it may take its time."""


@pytest.fixture(autouse=True)
def prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    """The service shows a write at once: readings need not wait, which each attempt of the shrinker would do."""
    for name in ("updates", "writes"):
        monkeypatch.setattr(f"checker.checks.{name}.LATE_S", 0.01)


@pytest.mark.parametrize(("mistake", "check", "title"), _CASES, ids=[one[0] for one in _CASES])
def test_printed_commands_show_what_a_check_saw(tmp_path: Path, mistake: str, check: str, title: str) -> None:
    finding, found, base_url = _found(tmp_path, mistake, check, title, "--max-failures", "1")
    replies: list[Reply] = []
    service = Versioned(mistake)

    def answer(request: Request) -> Reply:
        replies.append(service(request))
        return replies[-1]

    text = "\n".join(found["reproduce"])
    # curl sends the last request twice at once.
    recorded = [one.exchange for one in (*finding.sent, *finding.sent[-1:] * ("--parallel" in text))]
    with serving(answer, DOCUMENT) as fresh:
        words = ["bash", "-c", text.replace(base_url, fresh.url)]
        pasted = subprocess.run(words, env=plain_environment(), capture_output=True, check=False)
    assert pasted.returncode == 0, pasted.stderr
    assert [(one.method, *_plain(one.target)) for one in fresh.seen] == [
        (one.method, *_plain(one.target)) for one in recorded
    ], text
    assert [(one.status, *_plain(one.body, mistake)) for one in replies] == [
        (one.status, *_plain(one.response_body, mistake)) for one in recorded
    ], text

    with serving(Versioned(mistake), DOCUMENT) as fresh:
        assert _replayed(tmp_path, found["id"], fresh.url).startswith("FAILED")
    with serving(Versioned(""), DOCUMENT) as fresh:
        assert _replayed(tmp_path, found["id"], fresh.url).startswith("FIXED")


def test_a_server_error_in_response_to_a_repetition_is_a_step(tmp_path: Path) -> None:
    checks = "update_conformance,not_a_server_error,status_code_conformance"
    finding, found, _ = _found(tmp_path, "twice", checks, "Server error")
    all_failures = json.loads((tmp_path / "found.json").read_text())["failures"]
    assert {one["check"] for one in all_failures} == {"not_a_server_error"}
    first, second = (one.exchange for one in finding.sent[-2:])
    assert (first.method, first.target, first.body) == (second.method, second.target, second.body)
    assert (first.status, second.status, finding.investigation.reproduced) == (200, 500, True)
    with serving(Versioned("twice"), DOCUMENT) as fresh:
        assert _replayed(tmp_path, found["id"], fresh.url).startswith("FAILED")
    with serving(Versioned(""), DOCUMENT) as fresh:
        assert _replayed(tmp_path, found["id"], fresh.url).startswith("FIXED")


def _replayed(directory: Path, name: str, url: str) -> str:
    done = Command(directory).here("replay", name, "--url", url)
    return f"{done.stdout}{done.stderr}"


def _found(directory: Path, mistake: str, check: str, title: str, *options: str) -> tuple[Finding, dict[str, Any], str]:
    """Return the finding of a service with a mistake, as it is on disk and in the JSON report, and the URL of the service."""
    (directory / "openapi.json").write_text(json.dumps(DOCUMENT))
    only = ("--checks", check, "--seed", "1", "--inline", "--report-json-path", "found.json", *options)
    how = (
        ("fuzz", "--max-time", "30", "--include-path-regex", _FUZZED[mistake])
        if mistake in _FUZZED
        else ("run", "--phases", "stateful", "-n", "150")
    )
    with serving(Versioned(mistake), DOCUMENT) as app:
        ran = Command(directory).here(how[0], "openapi.json", "--url", app.url, *how[1:], *only)
    failures = [one for one in json.loads((directory / "found.json").read_text())["failures"] if one["title"] == title]
    assert failures, ran.shown
    finding = next(one for one in ran.findings if failure_id(one) == failures[0]["id"])
    return finding, failures[0], app.url


def _plain(text: bytes, mistake: str = "") -> list[bytes]:
    """Return a text without the names that the service makes."""
    # The commands leave out updates that the check has tried before, and each of them counts.
    others = rb'|"version": [0-9]+' if mistake == "keeps" else b""
    return re.split(rb"[0-9a-f]{32}" + others, text)
