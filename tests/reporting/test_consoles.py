"""What each kind of end looks like on a screen: golden files, narrow and wide, with and without colours."""

import io
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from checker.commands.runs_on_disk import PastRun
from checker.config.config import Config
from checker.corpus.journal import JournalWriter
from checker.corpus.layout import RunLayout
from checker.reporting.console import Console
from checker.reporting.live import RunProgress, Screen
from checker.reporting.live_lines import LiveLines
from tests.asking import changed

from .golden import assert_golden
from .samples import AT, opened, progress, records, settings
from .scenarios import SCENARIOS, Scenario

_LAST_WRITTEN = AT + 3.0
_SPINNER = re.compile("[\u2800-\u28ff]")
"""Turns with the clock of the terminal library."""
_COLOR = re.compile(r"\x1b\[[0-9;]*m")
"""Of bars: the library keeps those that it chose for the first terminal of a process."""


_WIDTHS = (80, 160)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Makes the terminal, which has 256 colours, so wide."""
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "COLORTERM", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return lambda columns: monkeypatch.setenv("COLUMNS", str(columns))


def past_of(scenario: Scenario, folder: Path) -> PastRun:
    """The run as `checker report` reads it from its journals."""
    layout = RunLayout(folder)
    layout.create()
    for incarnation, found in enumerate(scenario.journals, 1):
        path = layout.journal(incarnation, 1000 + incarnation)
        writer = JournalWriter(path)
        for record in found:
            writer.write(record)
        writer.flush()
        writer.close()
        os.utime(path, (_LAST_WRITTEN, _LAST_WRITTEN))
    past = PastRun.of(folder, Config())
    return replace(past, settings=settings(folder=str(folder), **scenario.settings))


def shown(past: PastRun, *, color: bool) -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="utf-8", newline="\n")
    console = Console(changed(past.settings, color=color), stream, clock=lambda: 100.0)
    console.title()
    console.header_of(past.view)
    console.finish(past.report)
    stream.flush()
    return raw.getvalue().decode()


@pytest.mark.parametrize("name", SCENARIOS)
def test_console_reads_as_kept(name: str, tmp_path: Path, terminal: Callable[[int], None]) -> None:
    past = past_of(SCENARIOS[name], tmp_path)
    for columns in _WIDTHS:
        terminal(columns)
        # One file for both: rules are as wide as people read, and commands are never wrapped.
        assert_golden(f"console/{name}", shown(past, color=False))
        assert_golden(f"console/{name}-color", shown(past, color=True))


@pytest.mark.parametrize("columns", _WIDTHS)
def test_moving_lines_read_as_kept(columns: int, terminal: Callable[[int], None]) -> None:
    terminal(columns)
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="utf-8", newline="\n")
    at, screen = RunProgress(98.0, tasks=12), Screen(stream, color=True)
    label = f"GET /{'/'.join(['organisations', '{organisation}'] * 4)}"
    busy = progress(task="t9", labels=(label,), finished=False)
    for record in (opened(), *records()[:-1], busy):
        at.follow(1, record, 99.0)
    lines = LiveLines(screen, at, clock=lambda: 100.0)
    lines.opened()
    screen.rich.print(lines.renderable())
    stream.flush()
    text = _COLOR.sub("", raw.getvalue().decode())
    assert_golden(f"console/live-{columns}", _SPINNER.sub("*", text))
