"""Standard streams that are closed, full, or read by nobody: the run is worth more than what it prints."""

import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.apps.serving import App, json_reply, serving
from tests.e2e.runner import Command, Ran

ENDS = pytest.mark.parametrize("inline", [False, True], ids=["processes", "inline"])
PRINTING = """
import checker

@checker.hook
def before_call(ctx, case, kwargs):
    print("x" * 100_000, flush=True)
"""
LOST = "Error: standard output cannot be written: No space left on device"


def redirected(command: Command, redirection: str) -> Command:
    """A command line with its streams led elsewhere by a shell; its exit code stands in `code`."""
    script = f'{{ "$@"; echo $? >code; }} {redirection}'
    return replace(command, program=("sh", "-c", script, "sh", sys.executable, "-m", "checker"))


def code_of(ran: Ran) -> int:
    return int((ran.directory / "code").read_text())


def _document() -> dict[str, object]:
    operation = {"responses": {"200": {"description": "ok"}}}
    paths = {f"/{name}": {"get": operation} for name in ("first", "second")}
    return {"openapi": "3.0.3", "info": {"title": "Streams", "version": "1"}, "paths": paths}


@pytest.fixture
def api() -> Iterator[App]:
    with serving(lambda _: json_reply({}, 500), _document()) as app:
        yield app


@pytest.mark.parametrize(
    ("redirection", "inline"),
    [
        *((one, False) for one in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-", "2>/dev/full", "| head -n 1")),
        # The streams of the command are the same; there are no others.
        *((one, True) for one in ("<&- >&- 2>&-", "| head -n 1")),
    ],
)
@pytest.mark.thorough_beyond(1)
def test_streams_that_lead_nowhere_change_no_exit_code(
    command: Command, api: App, redirection: str, inline: bool
) -> None:
    ran = redirected(command, redirection).run(api.document_url, "-n", "3", inline=inline)
    assert code_of(ran) == 1, ran.shown
    assert "Traceback" not in ran.shown
    assert {finding.label for finding in ran.findings} == {"GET /first", "GET /second"}
    if redirection in ("<&-", "2>&-", "2>/dev/full"):
        assert "= SUMMARY =" in ran.stdout
    if redirection.startswith("|"):
        assert len(ran.stdout.splitlines()) == 1


@ENDS
@pytest.mark.parametrize("redirection", [">/dev/full", "| true"])
@pytest.mark.thorough_beyond(1)
def test_a_hook_may_print_where_nobody_reads(command: Command, redirection: str, inline: bool) -> None:
    (command.directory / "hooks.py").write_text(PRINTING)
    (command.directory / "checker.toml").write_text('hooks = "hooks.py"\n')
    with serving(lambda _: json_reply({}), _document()) as api:
        ran = redirected(command, redirection).run(api.document_url, "-n", "3", inline=inline)
    assert ran.view.counts.cases == len(api.seen) > 0
    assert ran.view.errors == {}


@ENDS
@pytest.mark.thorough_beyond(1)
def test_a_report_that_cannot_be_printed_is_told_and_the_others_are_written(
    command: Command, api: App, inline: bool
) -> None:
    cassette = ("-n", "3", "--report-vcr-path", "cassette.yaml")
    ran = redirected(command, ">/dev/full").run(api.document_url, *cassette, inline=inline)
    assert code_of(ran) == 2
    assert ran.stderr.startswith(LOST)
    assert len(ran.stderr.splitlines()) == 1
    assert "http_interactions:" in (command.directory / "cassette.yaml").read_text()
    assert {finding.label for finding in ran.findings} == {"GET /first", "GET /second"}


@pytest.mark.thorough_beyond(4)
@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("run", "--help"), ("replay", "cassette.yaml")])
@pytest.mark.parametrize(("redirection", "code", "told"), [(">/dev/full", 2, LOST), ("| true", 0, ""), (">&-", 0, "")])
def test_whatever_is_printed_may_be_lost(
    command: Command, arguments: tuple[str, ...], redirection: str, code: int, told: str
) -> None:
    cassette = "command: a\nrecorded_with: Checker\nseed: 1\nhttp_interactions: null\n"
    (command.directory / "cassette.yaml").write_text(cassette)
    ran = redirected(command, redirection)(*arguments)
    assert (code_of(ran), ran.stderr[: len(told) or None]) == (code, told)


@pytest.mark.parametrize("redirection", ["2>/dev/full", "2>&-"])
def test_an_error_that_nobody_can_read_has_its_exit_code(command: Command, redirection: str) -> None:
    assert code_of(redirected(command, redirection)("run", "nowhere.yaml")) == 2
