"""What a run leaves in the folder of its user."""

from checker.demo import Server
from tests.e2e.runner import Command

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
    assert any(finding.shrink_executions for finding in ran.findings), ran.shown
    left = {path.name for path in command.directory.iterdir()}
    assert left - given == {".checker", ".proptest", "checker-report"}
