import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.core.curl import quoted
from checker.reporting.live import Screen, ruled


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


@pytest.mark.parametrize(("columns", "width"), [("50", 50), ("200", 80)])
def test_rules_fit_a_narrow_terminal(columns: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERM", "xterm")
    stream = io.StringIO()
    Screen(stream, color=True).section("FAILURES", "")
    assert len(stream.getvalue().rstrip("\n")) == width
    assert Screen(io.StringIO()).width == 80


@pytest.mark.parametrize("mark", ["\u202e", "\u2066", "\u200f", "\u061c"])
def test_text_is_not_written_backwards(mark: str) -> None:
    assert shown(f"a{mark}b", "utf-8") == f"a\\u{ord(mark):04x}b\n"


@given(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\u200e\u061c\u202e\x1b")))
def test_a_command_is_shown_as_it_was_written(text: str) -> None:
    word = quoted(text.replace("\0", ""))
    assert Screen(io.StringIO()).encodable(word) == word


@pytest.mark.parametrize(("color", "is_coloured"), [(None, False), (True, True)])
def test_no_color_of_the_environment_counts_where_nobody_asked_for_colours(
    color: bool | None, is_coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("COLORTERM", raising=False)
    raw = io.StringIO()
    monkeypatch.setattr(raw, "isatty", lambda: True)
    screen = Screen(raw, color=color)
    assert screen.is_terminal
    screen.line("red", "bold red")
    assert ("31m" in raw.getvalue()) == is_coloured
