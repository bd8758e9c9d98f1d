"""The text of a Python function while it is written, and what it speaks of."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

_PLAIN: Final = (bool, int, str, type(None))


class Text:
    """Lines, and names for all that is no literal."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}
        """What the text speaks of."""
        self.lines: list[str] = []
        self.depth = 1
        """Blocks inside each other, the function included."""
        self.loops = 0
        self.steps = 0
        self._known: dict[int, str] = {}

    @property
    def text(self) -> str:
        """The whole function, `fused(source)`."""
        return "\n".join(self.lines)

    def line(self, text: str) -> None:
        """Write a line."""
        self.lines.append("    " * self.depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Write what stands under a head."""
        self.line(head)
        self.depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.line("pass")
        self.depth -= 1

    @contextmanager
    def loop(self, head: str) -> Iterator[None]:
        """The same under the head of a loop."""
        self.loops += 1
        with self.block(head):
            yield
        self.loops -= 1

    def new(self) -> str:
        """A variable that is not used yet."""
        self.steps += 1
        return f"v{self.steps}"

    def name(self, thing: Any, prefix: str = "k") -> str:
        """A name for something that is no literal."""
        known = self._known.get(id(thing))
        if known is None:
            known = self._known[id(thing)] = f"{prefix}{len(self._known)}"
            self.names[known] = thing
        return known

    def literal(self, value: Any) -> str:
        """A value as an expression."""
        return repr(value) if value.__class__ in _PLAIN else self.name(value)
