"""What a worker may hold and send, whatever the target does."""

import os
import random
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from checker.core.operation import Label
from checker.core.response import Outcome, Response
from checker.corpus.journal import JournalWriter
from checker.corpus.records import Finding, ValueSeen
from checker.workers.messages import Task
from checker.workers.recording.investigation_budget import FLOOR
from tests.asking import saying
from tests.workers.harness import GETS, Ran, run, workplace

LABELS = [Label(f"GET /{number}") for number in range(30)]
QUERY = {"name": "n", "in": "query", "required": True, "schema": {"type": "integer"}}
CASES = 40
SHARE = 0.2
WORDS = ("lock", "row", "shard", "queue", "index", "cache", "token", "page", "field", "cursor")


def fails_at_random(answer: Response, chance: random.Random) -> Outcome:
    """Return one of 1,000 errors for most requests: hardly a failure shows again."""
    status = chance.choice((200, 298, 299, 404, 418, 500, 501, 505))
    text = " ".join(chance.choices(WORDS, k=3)).encode()
    headers = [("Content-Type", "application/json")]
    body = b'{"error": "' + text + b'"}'
    return Response(status, headers, body, elapsed=0.001, request=answer.request)


def against_chance(folder: Path, cases: int = CASES, **changes: Any) -> Ran:
    paths = {
        label.removeprefix("GET "): {"get": {"parameters": [QUERY], "responses": {"200": {"description": ""}}}}
        for label in LABELS
    }
    document = {"openapi": "3.0.3", "info": {"title": "Chance", "version": "1"}, "paths": paths}
    tasks = [replace(GETS, id=f"{number:016}", labels=(label,), stop=cases) for number, label in enumerate(LABELS)]
    if changes.get("kind") != "run":
        tasks = [Task("0" * 16, "exploration", tuple(LABELS), 11, 0, cases * len(LABELS), 60.0)]
    operations = saying({"continue-on-failure": True}, generation={"mode": "positive"})
    chance = random.Random(1)
    with workplace(folder, document=document, operations=operations, **changes) as context:
        return run(context, *tasks, spoil=lambda answer: fails_at_random(answer, chance), is_patient=True)


def investigations(ran: Ran) -> tuple[int, int]:
    """Return the number of requests that investigated failures, and that of all others."""
    looked = sum(kind == "looked into" for kind, _ in ran.memory.events)
    return looked, sum(kind == "sent" for kind, _ in ran.memory.events)


@pytest.mark.parametrize(
    "changes",
    [{"kind": "run"}, {"kind": "run", "max_time_s": 3600.0}, {"kind": "fuzz"}],
    ids=["run", "timed run", "fuzz"],
)
@pytest.mark.thorough
def test_investigations_of_hundreds_of_causes_are_a_fifth_of_the_requests(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    ran = against_chance(tmp_path, **changes)
    looked, others = investigations(ran)
    # `fuzz` leaves out reads whose responses it knows.
    assert others >= CASES * len(LABELS) * 0.8
    # Nothing is lost: each failure is on disk, most of them unconfirmed.
    findings = [one for one in ran.records if isinstance(one, Finding)]
    assert len({one.fingerprint for one in findings}) > 300
    assert 0 < looked <= SHARE * (looked + others)
    untried = [
        one for one in findings if one.investigation.stage == "minimised" and one.investigation.reproduced is None
    ]
    assert all(
        one.investigation.reproduction and one.investigation.stopped and not one.investigation.withdrawn
        for one in untried
    )
    assert untried


def test_a_short_run_has_a_fixed_allowance(tmp_path: Path) -> None:
    looked, _ = investigations(against_chance(tmp_path, 2, kind="run", max_time_s=3600.0))
    assert 10 < looked <= FLOOR


def test_journals_of_earlier_workers_stay_closed(tmp_path: Path) -> None:
    with workplace(tmp_path) as context:
        context.knowledge.follow([_journal_of(tmp_path, number) for number in range(20)])
        before = len(os.listdir("/dev/fd"))
        context.knowledge.tick(10.0)
        assert len(os.listdir("/dev/fd")) == before


def _journal_of(folder: Path, number: int) -> str:
    journal = JournalWriter(folder / f"{number}.journal")
    journal.append(ValueSeen("GET /things", "id", "1", ""))
    journal.close()
    return str(journal.path)
