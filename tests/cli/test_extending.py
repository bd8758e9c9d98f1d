"""Modules of users extend the command line: options, handlers of events, lines of the summary, reports."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checker.commands.extending import GROUPS, HANDLERS
from tests.apps.http import Reply, Request
from tests.apps.serving import App, json_reply, serving

OPERATION = {"get": {"responses": {"200": {"description": ""}}}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "T", "version": "1"},
    "paths": {"/fine": OPERATION, "/broken": OPERATION},
}
MODULE = """
from checker import cli, reports

team = cli.add_group("Of our team")
team.add_option("--team", default="nobody", help="Who wants to know.")
team.add_option("--loud", is_flag=True)


@cli.handler()
class Counter(cli.EventHandler):
    def __init__(self, *args, **params):
        self.team, self.mode = params["team"], params["mode"]
        self.sent = []

    def start(self, ctx):
        ctx.add_initialization_line(f"Counting for {self.team}")

    def handle_event(self, ctx, event):
        if isinstance(event, reports.Interaction):
            self.sent.append(event.label)
        assert ctx.exit_code is None
        assert ctx.statistics is not None

    def shutdown(self, ctx):
        with open("counts.txt", "w") as file:
            file.write("\\n".join(self.sent))
        ctx.add_summary_line(f"{self.team} saw {len(set(self.sent))} operations, seed {ctx.config.seed}")
        ctx.add_summary_line(f"line {number}" for number in (1, 2))
        ctx.add_summary_line(f"exit code {ctx.exit_code}, {len(ctx.statistics.findings)} finding")
        ctx.add_report("Counts", "counts.txt")
"""


def answer(request: Request) -> Reply:
    return json_reply({}, 500 if request.target.startswith(b"/broken") else 200)


@pytest.fixture
def target() -> Iterator[App]:
    kept = list(GROUPS), list(HANDLERS)
    with serving(answer, DOCUMENT) as app:
        yield app
    GROUPS[:], HANDLERS[:] = kept


@pytest.fixture
def extended(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    def write(text: str) -> None:
        # A file of its own for each test: the same one is loaded once.
        path = folder / "extension.py"
        path.write_text(text)
        monkeypatch.setenv("CHECKER_HOOKS", str(path))

    return write


def options(app: App) -> tuple[str, ...]:
    return (app.document_url, "-u", app.url, "--inline", "--phases", "coverage", "-c", "not_a_server_error")


def test_a_module_adds_options_and_sees_each_event(invoke: Any, target: App, extended: Any) -> None:
    extended(MODULE)
    result = invoke("run", *options(target), "--seed", "7", "--team", "blue", "--loud")
    assert result.exit_code == 1, result.output
    lines = result.stdout.splitlines()
    assert "     Counting for blue" in lines[:6]
    summary = lines[lines.index(next(one for one in lines if " SUMMARY " in one)) :]
    first = summary.index("blue saw 2 operations, seed 7")
    assert summary[first : first + 4] == [
        "blue saw 2 operations, seed 7", "line 1", "line 2", "exit code 1, 1 finding",
    ]  # fmt: skip
    assert "  - Counts: counts.txt" in summary
    labels = Path("counts.txt").read_text().split("\n")
    sent = [one for one in target.seen if one.target != b"/openapi.json"]
    # What looks for signs of life is not recorded.
    assert 4 < len(labels) <= len(sent)
    assert set(labels) == {"GET /fine", "GET /broken"}


def test_fuzz_has_the_options_and_help_shows_their_group(invoke: Any, target: App, extended: Any) -> None:
    extended(MODULE)
    page = invoke("fuzz", "--help-all").stdout
    assert "Of our team:" in page
    assert "Who wants to know." in page
    assert "team, loud" in invoke("run", "--help").stdout
    ended = ("--max-failures", "1", "--inline", "-c", "not_a_server_error", "--team", "red")
    result = invoke("fuzz", target.document_url, "-u", target.url, *ended)
    assert "red saw " in result.stdout, result.output


@pytest.mark.parametrize(
    ("method", "code", "sentence"),
    [
        ("start(self, ctx)", 2, "Error: the handler Bad cannot start: ValueError: no way"),
        ("handle_event(self, ctx, event)", 1, "Error: the handler Bad failed: ValueError: no way"),
        ("shutdown(self, ctx)", 1, "Error: the handler Bad failed: ValueError: no way"),
    ],
)
def test_a_handler_that_fails_is_one_sentence(
    invoke: Any, target: App, extended: Any, method: str, code: int, sentence: str
) -> None:
    text = f"@cli.handler()\nclass Bad(cli.EventHandler):\n    def {method}:\n        raise ValueError('no way')\n"
    extended(f"from checker import cli\n{text}")
    result = invoke("run", *options(target), "--include-path", "/fine")
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (code, sentence)
    assert ("No issues found" in result.stdout) is (code == 1)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("cli.add_group('x').add_option('--seed')", "the option '--seed' exists already"),
        ("cli.handler()(int)", "a handler is a subclass of checker.cli.EventHandler, not <class 'int'>"),
        ("1 / 0", "ZeroDivisionError"),
    ],
)
def test_a_module_that_extends_wrongly_is_one_sentence(
    invoke: Any, target: App, extended: Any, text: str, sentence: str
) -> None:
    extended(f"from checker import cli\n{text}\n")
    result = invoke("run", *options(target))
    assert result.exit_code == 2
    assert "cannot load hooks from" in result.stderr
    assert sentence in result.stderr
    assert "Traceback" not in result.output


def test_other_hooks_run_in_workers_alone(settings_of: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "hooks.py").write_text("import os\nos._exit(3)  # must not happen here\n")
    monkeypatch.setenv("CHECKER_HOOKS", "hooks.py")
    assert settings_of("run", "openapi.json", "-u", "http://127.0.0.1:1").hooks == ("hooks.py",)
