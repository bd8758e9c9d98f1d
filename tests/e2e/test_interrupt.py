"""Ctrl-C: what was found is shown, nothing stays behind."""

import os
import signal

import psutil

from checker.demo import Server
from checker.demo.description import document as demo_document
from tests.apps.planted import Hold, inn
from tests.apps.serving import serving
from tests.e2e.runner import Command, Ran, run_arguments, wait_until

ROOMS = ("-n", "10000", "--continue-on-failure", "--include-path-regex", "^/(rooms/|quotes)")


def _shows_what_was_found(ran: Ran) -> None:
    assert ran.code == 130, ran.shown
    assert "Traceback" not in ran.shown
    assert ran.findings != []
    for finding in ran.findings:
        assert f"- {finding.title}" in ran.stdout


def test_an_interrupted_run_shows_what_it_found(command: Command) -> None:
    hold = Hold(inn(), after=800)
    with (
        serving(hold, demo_document()) as app,
        command.started(*run_arguments(app.document_url, *ROOMS)) as process,
    ):
        assert hold.reached.wait(30)
        # As a terminal does it: to everything in the foreground.
        os.killpg(process.pid, signal.SIGINT)
        hold.released.set()
        ran = command.finished(process)
    _shows_what_was_found(ran)


def test_no_process_outlives_an_interrupted_run(command: Command) -> None:
    with (
        Server() as server,
        command.started(*run_arguments(server.document_url, *ROOMS)) as process,
    ):
        wait_until(lambda: server.requests > 800, timeout_s=30)
        children = psutil.Process(process.pid).children(recursive=True)
        assert children != []
        process.send_signal(signal.SIGINT)
        ran = command.finished(process)
    _shows_what_was_found(ran)
    wait_until(lambda: not any(child.is_running() for child in children), timeout_s=5)


def test_an_interrupt_before_the_document_is_there_ends_at_once(command: Command) -> None:
    hold = Hold(inn(), after=1)
    with (
        serving(hold, demo_document()) as app,
        command.started(*run_arguments(f"{app.url}/rooms")) as process,
    ):
        assert hold.reached.wait(30)
        os.killpg(process.pid, signal.SIGINT)
        ran = command.finished(process)
        hold.released.set()
    assert ran.code == 130, ran.shown
    assert "Traceback" not in ran.shown
