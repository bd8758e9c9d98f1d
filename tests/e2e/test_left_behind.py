"""What a run leaves in the folder of its user."""

import pytest

from checker.demo import Server
from tests.e2e.runner import Command, run_arguments

HOOKS = """
import checker
from hypothesis import strategies as st

checker.openapi.format("date", st.dates().map(str))
"""


def test_a_run_leaves_what_it_is_meant_to_leave(command: Command) -> None:
    (command.directory / "hooks.py").write_text(HOOKS)
    (command.directory / "checker.toml").write_text('hooks = "hooks.py"\n')
    # Python keeps what it compiled of users' modules beside them.
    given = {"hooks.py", "checker.toml", "__pycache__"}
    with Server() as demo:
        ran = command.run(demo.document_url, "-n", "40", "--report", "vcr")
    assert any(finding.investigation.shrink_executions for finding in ran.findings), ran.shown
    left = {path.name for path in command.directory.iterdir()}
    assert left - given == {".checker", ".proptest", "checker-report"}


@pytest.mark.thorough
@pytest.mark.parametrize("table", ['[[project]]\ntitle = "Harbour Inn"\nhooks = "hooks.py"', 'transport = "hooks:own"'])
def test_hypothesis_leaves_nothing_wherever_the_code_of_users_is_named(command: Command, table: str) -> None:
    (command.directory / "hooks.py").write_text(f"{HOOKS}\nfrom checker.transport.factories import NETWORK as own\n")
    (command.directory / "checker.toml").write_text(f"{table}\n")
    with Server() as demo:
        # Another program: Hypothesis is among the modules of this one.
        ran = command(*run_arguments(demo.document_url, "-n", "5"))
    assert ran.view.counts.cases, ran.shown
    assert not (command.directory / ".hypothesis").exists()
