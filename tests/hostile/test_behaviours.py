"""A server may answer whatever it likes: each behaviour ends in its limit, with a sentence, and costs no other one."""

import json
import re
import subprocess
import threading
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest

from checker.workers.recording.unconfirmed import MOST_EVIDENCE
from tests.e2e.runner import Command, Ran, worker_pids
from tests.hostile.behaviours import Behaviour
from tests.hostile.contents import CODINGS, ESCAPES, REDIRECTS, STATUSES
from tests.hostile.framing import FLOODS, FRAMING
from tests.hostile.serving import described, hostile
from tests.hostile.sizes import BODIES, HEADS, JSON
from tests.hostile.timing import RESETS, SLOW

pytestmark = pytest.mark.timeout(240)
MOST_MEMORY = 300 << 20
ARGUMENTS = (*("--seed", "1", "--workers", "1", "-n", "2"), *("--phases", "fuzzing", "--mode", "positive"))
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What a terminal would do, or draw elsewhere."""
# Of documents of 20 operations and more the slow ones are not waited for: what takes time stands in shorter ones.
PROMPT = (*FRAMING, *STATUSES, *CODINGS, *REDIRECTS, *ESCAPES, *RESETS, *HEADS)


class Watched:
    """The memory of the workers of a command, looked at until it ends."""

    def __init__(self, directory: Path) -> None:
        self.command = Command(directory)
        self.most = 0

    def run(self, *arguments: str) -> Ran:
        with self.command.started(*arguments) as process:
            is_over = threading.Event()
            watching = threading.Thread(target=self._watch, args=(process, is_over))
            watching.start()
            try:
                return self.command.finished(process)
            finally:
                is_over.set()
                watching.join()

    def _watch(self, process: "subprocess.Popen[str]", is_over: threading.Event) -> None:
        pids: list[int] = []
        while not is_over.wait(0.02):
            try:
                pids = pids or worker_pids(process)
                self.most = max([self.most, *(psutil.Process(one).memory_info().rss for one in pids)])
            except psutil.Error:
                # One has left; another may take its place.
                pids = []


def said_of(ran: Ran) -> dict[str, list[str]]:
    """Titles of findings, and sentences of errors and notes, by operation."""
    found: dict[str, list[str]] = defaultdict(list)
    view = ran.view
    for finding in view.findings.values():
        found[finding.label].append(finding.title)
    for error in view.errors.values():
        found[error.label].append(error.message)
    for note in view.notes.get("unjudged", {}).values():
        found[note.label].append(note.text)
    return {label: sorted(texts) for label, texts in found.items()}


def check(behaviours: Sequence[Behaviour], tmp_path: Path, *options: str) -> None:
    watched = Watched(tmp_path)
    # In a file: to fetch it from here would be under the limits of the test.
    description = tmp_path / "hostile.json"
    description.write_text(json.dumps(described(behaviours)))
    with hostile(behaviours) as url:
        ran = watched.run("run", str(description), "--url", url, *ARGUMENTS, *options)
    assert ran.code == 1, ran.shown
    said = said_of(ran)
    wrong = {
        one.name: said.get(one.label, [])
        for one in behaviours
        if len(said.get(one.label, [])) != len(one.said)
        or not all(map(str.startswith, said.get(one.label, []), one.said))
    }
    assert not wrong
    assert "Traceback" not in ran.stdout + ran.stderr
    assert not OBEYED.search(ran.stdout + ran.stderr)
    assert max(map(len, ran.stdout.splitlines())) < 1000
    assert set(ran.view.statuses) == {one.label for one in behaviours}
    assert not ran.view.quarantined
    kept = [step.exchange for finding in ran.findings for step in finding.interactions]
    assert max([0, *(len(one.response_body) for one in kept)]) <= MOST_EVIDENCE
    assert watched.most < MOST_MEMORY


def test_prompt_answers_cost_themselves_only(tmp_path: Path) -> None:
    check(PROMPT, tmp_path)


@pytest.mark.thorough
def test_bodies_that_are_too_much_end_in_their_limits(tmp_path: Path) -> None:
    check((*BODIES, *FLOODS), tmp_path)


@pytest.mark.thorough
def test_json_that_is_too_much_ends_in_its_limits(tmp_path: Path) -> None:
    check(JSON, tmp_path)


@pytest.mark.thorough
def test_answers_that_do_not_come_end_in_the_limit_of_time(tmp_path: Path) -> None:
    check(SLOW, tmp_path, "--request-timeout", "0.3")


def test_slow_answers_stand_in_short_documents() -> None:
    assert max(len(BODIES) + len(FLOODS), len(JSON), len(SLOW)) < 20


def test_each_behaviour_has_a_name_of_its_own() -> None:
    names = [one.name for one in (*PROMPT, *BODIES, *FLOODS, *JSON, *SLOW)]
    assert len(names) == len(set(names)) >= 150
