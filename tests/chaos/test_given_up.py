"""A run whose workers die again and again ends with a report."""

import json

from tests.apps.serving import json_reply, serving
from tests.chaos import target
from tests.e2e.runner import Command

DEATH = """
import os, signal
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_run_none_of_whose_workers_begins_ends_with_a_report(command: Command) -> None:
    (command.directory / "hooks.py").write_text(DEATH)
    (command.directory / "checker.toml").write_text('hooks = "hooks.py"\n')
    with serving(lambda _: json_reply({}), target.document(1)) as api:
        ran = command("run", api.document_url, "--report", "json", "--report-json-path", "r.json")
    assert ran.code == 2, ran.shown
    assert "the run was given up" in ran.stderr
    assert "Nothing was tested, ended by an error" in ran.stdout
    report = json.loads((command.directory / "r.json").read_text())
    assert (report["complete"], report["failures"]) == (False, [])
