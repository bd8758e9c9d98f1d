"""Where in a body the value stands that is being written out: known while it is written, but for numbers and made-up names."""

from collections.abc import Iterator
from contextlib import contextmanager


class Path:
    """Parts of a JSON pointer, as expressions when somebody asks."""

    def __init__(self) -> None:
        self._tokens: list[tuple[str, bool]] = []
        """A text, or the variable that has it; and whether it is the text."""

    def __bool__(self) -> bool:
        """False at the root."""
        return bool(self._tokens)

    @contextmanager
    def inside(self, token: str, *, is_known: bool) -> Iterator[None]:
        """What is written meanwhile stands one step deeper: under a text, or under what a variable says."""
        self._tokens.append((token, is_known))
        yield
        self._tokens.pop()

    @property
    def tokens(self) -> str:
        """An expression for the list of the parts."""
        parts = (repr(text) if is_known else f"str({text})" for text, is_known in self._tokens)
        return f"[{', '.join(parts)}]"

    @property
    def pointer(self) -> str:
        """An expression for the pointer: a constant where all of it is known."""
        pieces, known = [], ""
        for text, is_known in self._tokens:
            known += "/"
            if is_known:
                known += text
            else:
                pieces += [repr(known), f"str({text})"]
                known = ""
        if known or not pieces:
            pieces.append(repr(known))
        return " + ".join(pieces)
