"""Ctrl-C and its kin: what was found is shown, nothing stays behind."""

import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from checker.demo import Server
from checker.demo import document as demo_document
from tests.apps.planted import Hold, inn
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command, Ran, run_arguments
from tests.waiting import wait_until

ROOMS = ("-n", "10000", "--continue-on-failure", "--include-path-regex", "^/(rooms/|quotes)")
# What hears them is one for all commands: each of them is tried with two commands or more, each command with one or more.
STOPS = pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name
)
INTERRUPTING = str(Path(__file__).with_name("interrupting.py"))


@pytest.fixture(autouse=True)
def _begun_as_by_a_terminal() -> Iterator[None]:
    """Commands do not inherit that SIGHUP is ignored from tests that `nohup` runs."""
    inherited = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, inherited)


def _untold(ran: Ran) -> list[str]:
    """Titles of findings that an interrupted run does not show; it found something, and ended without a word of its own."""
    assert ran.code == 130, ran.shown
    assert "Traceback" not in ran.shown
    assert ran.stderr == ""
    assert ran.findings != []
    return [one.title for one in ran.findings if f"- {one.title}" not in ran.stdout]


def _stopped(command: Command, number: signal.Signals, arguments: list[str], after: int) -> Ran:
    """A command whose group was told to stop at the `after`-th request, as terminals and `timeout` do it."""
    hold = Hold(inn(), after=after)
    with serving(hold, demo_document()) as app:
        arguments = [app.url + one if one.startswith("/") else one for one in arguments]
        with command.started(*arguments) as process:
            assert hold.reached.wait(command.timeout_s)
            os.killpg(process.pid, number)
            hold.released.set()
            return command.finished(process)


@pytest.mark.parametrize(
    ("number", "inline"),
    [(signal.SIGINT, False), (signal.SIGTERM, False), (signal.SIGHUP, False), (signal.SIGTERM, True)],
    ids=["SIGINT", "SIGTERM", "SIGHUP", "SIGTERM-inline"],
)
@pytest.mark.thorough_beyond(1)
def test_a_stopped_run_shows_what_it_found(command: Command, number: signal.Signals, inline: bool) -> None:
    arguments = run_arguments("/openapi.json", *ROOMS, inline=inline)
    ran = _stopped(command, number, arguments, after=400)
    assert _untold(ran) == []
    # Nobody but the supervisor heard it: whoever did not leave by itself was too slow, as a busy machine makes it.
    assert not [reason for reason in ran.view.gone.values() if "SIG" in reason]


@pytest.mark.thorough
def test_a_stopped_fuzz_shows_what_it_found(command: Command) -> None:
    arguments = [
        "fuzz",
        "/openapi.json",
        "--mode",
        "positive",
        "--continue-on-failure",
        "--seed",
        "1",
        "--workers",
        "2",
    ]
    assert _untold(_stopped(command, signal.SIGHUP, arguments, after=400)) == []


@pytest.mark.thorough
def test_a_stop_before_the_document_is_there_ends_at_once(command: Command) -> None:
    hold = Hold(inn(), after=1)
    with serving(hold, demo_document()) as app, command.started(*run_arguments(f"{app.url}/rooms")) as process:
        assert hold.reached.wait(command.timeout_s)
        os.killpg(process.pid, signal.SIGTERM)
        ran = command.finished(process)
        hold.released.set()
    assert ran.code == 130, ran.shown
    assert "Loading interrupted after" in ran.stdout
    assert ran.stderr == ""


@pytest.mark.thorough
def test_no_process_outlives_an_interrupted_run(command: Command) -> None:
    with Server() as server, command.started(*run_arguments(server.document_url, *ROOMS)) as process:
        wait_until(lambda: server.requests > 800)
        children = psutil.Process(process.pid).children(recursive=True)
        assert children != []
        process.send_signal(signal.SIGINT)
        ran = command.finished(process)
    assert _untold(ran) == []
    wait_until(lambda: not any(child.is_running() for child in children))


@pytest.mark.thorough
def test_nohup_is_obeyed(command: Command) -> None:
    nohup = ("sh", "-c", 'trap "" HUP; exec "$@"', "sh", *command.program)
    hold = Hold(inn(), after=50)
    with (
        serving(hold, demo_document()) as app,
        replace(command, program=nohup).started(*run_arguments(app.document_url, "-n", "10")) as process,
    ):
        assert hold.reached.wait(command.timeout_s)
        os.killpg(process.pid, signal.SIGHUP)
        hold.released.set()
        ran = command.finished(process)
    assert ran.code == 1, ran.shown
    assert "= SUMMARY =" in ran.stdout


@pytest.mark.thorough
def test_a_terminal_that_goes_away_costs_no_report(command: Command) -> None:
    ours, theirs = os.openpty()
    hold = Hold(inn(), after=400)
    take_it = (
        "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
    )
    program = (sys.executable, "-c", take_it, *command.program)
    with serving(hold, demo_document()) as app:
        run = run_arguments(app.document_url, *ROOMS, "--report-vcr-path", "cassette.yaml")
        on_terminal = replace(command, program=program, streams=theirs)
        with on_terminal.started(*run) as process:
            os.close(theirs)
            assert hold.reached.wait(command.timeout_s)
            os.close(ours)
            hold.released.set()
            ran = command.finished(process)
    assert ran.code == 130
    assert ran.findings != []
    assert "http_interactions:" in (command.directory / "cassette.yaml").read_text()


@pytest.mark.parametrize(("times", "shown"), [(1, True), (2, False)])
@pytest.mark.thorough
def test_a_cassette_that_is_interrupted_leaves_nothing_half(command: Command, times: int, shown: bool) -> None:
    interrupting = replace(command, program=(sys.executable, INTERRUPTING, str(times)))
    with serving(lambda _: json_reply({}, 500), demo_document()) as app:
        ran = interrupting.run(app.document_url, "-n", "3", "--report-vcr-path", "reports/cassette.yaml")
    assert ran.code == 130, ran.shown
    assert os.listdir(command.directory / "reports") == []
    assert ("= SUMMARY =" in ran.stdout) == shown
    (corpus,) = (command.directory / ".checker").iterdir()
    told = [
        "Error: reports/cassette.yaml: the vcr report was not written: interrupted",
        f"`checker report .checker/{corpus.name} --format vcr` writes what is missing.",
    ]
    assert ran.stderr.strip().splitlines() == (told if shown else [])


@STOPS
def test_a_replay_stops_where_it_is(command: Command, number: signal.Signals) -> None:
    hold = Hold(lambda _: json_reply({}), after=2)
    with serving(hold, {}) as app:
        request = f"{{uri: '{app.url}/a', method: GET, headers: {{}}}}"
        entry = f"- {{id: '1', status: SUCCESS, request: {request}, response: null}}\n"
        text = f"http_interactions:\n{entry * 3}"
        (command.directory / "cassette.yaml").write_text(text)
        with command.started("replay", "cassette.yaml") as process:
            assert hold.reached.wait(command.timeout_s)
            process.send_signal(number)
            ran = command.finished(process)
            hold.released.set()
    assert ran.code == 130, ran.shown
    assert ran.stdout.endswith("Interrupted\n")
    assert ran.stderr == ""


@STOPS
def test_a_served_demo_ends_quietly(command: Command, number: signal.Signals) -> None:
    with command.started("demo", "--serve") as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]
        assert lines[2] == "Press Ctrl-C to stop.\n"
        process.send_signal(number)
        ran = command.finished(process)
    assert (ran.code, ran.stderr) == (0, "")


@pytest.mark.thorough
def test_a_stopped_demo_shows_what_it_found(command: Command) -> None:
    with command.started("demo", "-n", "10000", "--continue-on-failure") as process:
        wait_until(lambda: process.poll() is not None or command.found)
        process.send_signal(signal.SIGINT)
        ran = command.finished(process)
    assert _untold(ran) == []
