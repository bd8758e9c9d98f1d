from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result

from checker.cli import checker as command_line
from checker.config.settings import RunSettings


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty working directory with a repository's root in it, and no CHECKER_ variables."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "openapi.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    for name in ("CHECKER_HOOKS", "CHECKER_BASE_URL", "CHECKER_WAIT_FOR_SCHEMA"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def invoke() -> Callable[..., Result]:
    """Run the command line in this process; it never gets as far as a supervisor in a test of errors."""

    def call(*arguments: str) -> Result:
        return CliRunner().invoke(command_line, arguments, prog_name="checker")

    return call


@pytest.fixture
def settings_of(monkeypatch, invoke) -> Callable[..., RunSettings]:
    """Settings that a command line stands for."""
    seen: list[RunSettings] = []

    def execute(found: RunSettings, began_at: float, handlers: object = None) -> int:
        seen.append(found)
        return 0

    monkeypatch.setattr("checker.commands.run.execution.execute_run", execute)

    def read(*arguments: str) -> RunSettings:
        result = invoke(*arguments)
        assert result.exit_code == 0, result.output
        return seen.pop()

    return read
