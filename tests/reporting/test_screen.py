import io
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.reporting.screen import Screen, ruled


def shown(text: str, encoding: str) -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    Screen(stream).line(text)
    stream.flush()
    return raw.getvalue().decode(encoding)


@given(st.text(st.characters(exclude_categories=())), st.sampled_from(["utf-8", "ascii", "cp1252"]))
def test_any_text_fits_any_stream(text: str, encoding: str) -> None:
    found = shown(text, encoding)
    assert not [char for char in found if (char < " " and char != "\n") or "\x7f" <= char <= "\x9f"]


def test_long_lines_are_not_wrapped() -> None:
    assert shown("x" * 500 + " " + "y" * 500, "utf-8") == "x" * 500 + " " + "y" * 500 + "\n"


def test_markup_is_only_text() -> None:
    assert shown("[bold]a[/bold] :smile: 1.5 'x'", "utf-8") == "[bold]a[/bold] :smile: 1.5 'x'\n"


@pytest.mark.parametrize("title", ["", "FAILURES", "odd", "x" * 79, "x" * 200])
def test_rules_fill_the_width_where_they_can(title: str) -> None:
    line = ruled(title, "=")
    assert f" {title} " in line
    assert len(line) == max(80, len(title) + 8)


class Full(io.StringIO):
    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")


def test_stream_that_is_full_is_left_alone() -> None:
    screen = Screen(Full())
    screen.line("a")
    screen.line("b")
    assert screen.rich.quiet


def test_reader_that_leaves_does_not_end_the_run() -> None:
    code = (
        "import sys\n"
        "from checker.reporting.screen import Screen\n"
        "screen = Screen()\n"
        "sys.stdin.readline()\n"
        "for _ in range(9999): screen.line('x' * 99)\n"
        "sys.exit(7)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.close()
    process.stdin.close()
    assert process.wait() == 7


@pytest.mark.parametrize(("columns", "width"), [("50", 50), ("200", 80)])
def test_rules_fit_a_narrow_terminal(
    columns: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERM", "xterm")
    stream = io.StringIO()
    Screen(stream, color=True).section("FAILURES", "")
    assert len(stream.getvalue().rstrip("\n")) == width
    assert Screen(io.StringIO()).width == 80
