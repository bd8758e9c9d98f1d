"""Users' modules in a run: hooks, formats, checks."""

import pytest

from checker.checks.custom import CUSTOM_CHECKS
from checker.core.hooks import GLOBAL_HOOKS
from checker.core.registry import FORMATS
from checker.demo import Server, document

ROOMS = ("--include-path", "/rooms")

HOOKS = """
import checker
from hypothesis import strategies as st

@checker.hook
def before_call(ctx, case, kwargs):
    kwargs["headers"] = {"X-Hook": "1"}

@checker.check
def has_no_rooms(ctx, response, case):
    if case.path == "/rooms" and case.method == "GET":
        assert response.request.header(b"x-hook") != b"1", "the hook ran"
"""


@pytest.fixture(autouse=True)
def clean():
    yield
    GLOBAL_HOOKS.unregister_all()
    CUSTOM_CHECKS.clear()
    FORMATS.clear()


def test_hooks_of_a_project_work_in_its_runs(invoke, folder) -> None:
    (folder / "of_all.py").write_text("raise ValueError('not for this project')")
    (folder / "of_project.py").write_text(HOOKS)
    title = document()["info"]["title"]
    (folder / "checker.toml").write_text(
        f'hooks = "of_all.py"\n[[project]]\ntitle = "{title}"\nhooks = "of_project.py"\n'
    )
    with Server(fixed=True) as server:
        result = invoke("run", server.document_url, "-n", "2", "--inline", *ROOMS)
    assert result.exit_code == 1, result.output
    assert "- Custom check failed: `has_no_rooms`\n\n    the hook ran" in result.output


@pytest.mark.parametrize("chosen", [(), ("-c", "has_no_rooms")])
def test_hooks_and_checks_of_a_file_work_in_a_run(invoke, folder, monkeypatch, chosen) -> None:
    (folder / f"my_hooks_{len(chosen)}.py").write_text(HOOKS)
    monkeypatch.setenv("CHECKER_HOOKS", f"my_hooks_{len(chosen)}.py")
    with Server(fixed=True) as server:
        result = invoke("run", server.document_url, "-n", "2", "--inline", *ROOMS, *chosen)
    assert result.exit_code == 1, result.output
    assert "- Custom check failed: `has_no_rooms`\n\n    the hook ran" in result.output
