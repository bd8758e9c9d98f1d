"""Where people read: rules, glyphs and styles on any stream, 80 characters wide."""

from collections.abc import Iterable
from typing import IO, Final

from rich.console import Console as Rich
from rich.text import Text

from checker.core.terminal import encodable, one_line, printable

WIDTH: Final = 80

GLYPHS: Final = {
    "success": ("✅", "[ok]"),
    "failure": ("❌", "[fail]"),
    "known": ("☑ ", "[known]"),
    "error": ("🚫", "[error]"),
    "skip": ("⏭ ", "[skip]"),
    "interrupted": ("⚡", "[cut]"),
    "warning": ("⚠ ", "[warn]"),
    "rule": ("━", "-"),
}
"""Name -> glyph where the stream can hold it, and what stands in for it elsewhere."""


class Screen:
    """A stream that takes any text: what it cannot encode is replaced, what would drive a terminal is shown."""

    def __init__(self, stream: IO[str] | None = None, *, color: bool | None = None) -> None:
        self.rich = Rich(
            file=stream,
            force_terminal=True if color else None,
            # Where nobody chose, NO_COLOR does (https://no-color.org): that of the environment, which rich reads.
            no_color=None if color is None else not color,
            highlight=False,
            markup=False,
            emoji=False,
        )
        self._encoding = getattr(self.rich.file, "encoding", None) or "utf-8"
        self._pretty = _encodes(self._encoding, "".join(pair[0] for pair in GLYPHS.values()))

    @property
    def is_terminal(self) -> bool:
        """Whether somebody watches: lines may be redrawn."""
        return self.rich.is_terminal and not self.rich.is_dumb_terminal

    def glyph(self, name: str) -> str:
        """Glyph of `GLYPHS` as this stream can show it."""
        return GLYPHS[name][not self._pretty]

    def line(self, text: str = "", style: str = "") -> None:
        r"""Print one line, never wrapped; a line feed in it is shown as `\n`."""
        self.block(one_line(text), style)

    def block(self, text: str, style: str = "") -> None:
        """Print text of one or more lines, never wrapped."""
        self.rich.print(Text(self.encodable(text), style=style), soft_wrap=True)

    def lines(self, texts: Iterable[str]) -> None:
        """Print each text on a line of its own."""
        for text in texts:
            self.line(text)

    @property
    def width(self) -> int:
        """Characters of a ruled line: as wide as people read, or as their terminal is."""
        return min(WIDTH, self.rich.width) if self.is_terminal else WIDTH

    def section(self, title: str, style: str = "bold") -> None:
        """`===== TITLE =====`, a line of its own."""
        self.line(ruled(title, "=", self.width), style)

    def heading(self, label: str) -> None:
        """`_____ GET /users _____`: what follows belongs to this operation."""
        self.line(ruled(label, "_", self.width), "bold")

    def encodable(self, text: str) -> str:
        """Return text that the stream can hold, and that drives neither a terminal nor a CI runner."""
        return encodable(printable(text), self._encoding)


def ruled(title: str, rule: str, width: int = WIDTH) -> str:
    """Title in the middle of a line of `rule`; a title that is too long keeps three of them on each side."""
    rest = max(width - len(title) - 2, 6)
    left = rest // 2
    return f"{rule * left} {title} {rule * (rest - left)}"


def _encodes(encoding: str, text: str) -> bool:
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
