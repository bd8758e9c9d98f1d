"""Single choices of a failing record made simple by bisection: a dozen tries where a shrinker step by step takes a hundred."""

from collections.abc import Callable
from functools import partial

from checker.core.sequence import Choice

Fails = Callable[[Choice], bool]
"""Whether it still fails with this choice in the place of the recorded one. Then the choice stays."""

_PLAIN = "0aA-"
_FEW = 32
"""Characters of a text that are looked at one by one."""


def lower(choice: Choice, fails: Fails) -> None:
    """Try simpler choices in its place: nearer to zero, shorter, of the plainest character."""
    if isinstance(choice, bool):
        return
    if isinstance(choice, int):
        _lower_integer(choice, fails)
    elif isinstance(choice, str):
        _lower_text(choice, fails)


def _lower_integer(value: int, fails: Fails) -> None:
    if value == 0 or fails(0):
        return
    sign = 1 if value > 0 else -1
    if sign < 0 and fails(-value):
        sign = 1
    _bisect(0, abs(value), lambda size: fails(sign * size))


def _lower_text(text: str, fails: Fails) -> None:
    if not text or fails(""):
        return
    for plain in _PLAIN:
        filled = plain * len(text)
        if filled == text or fails(filled):
            _bisect(0, len(text), partial(_fails_filled, plain, fails))
            return
    text = _without_chunks(text, fails)
    _with_plain_chunks(text, fails)


def _fails_filled(character: str, fails: Fails, size: int) -> bool:
    return fails(character * size)


def _bisect(low: int, high: int, fails: Callable[[int], bool]) -> None:
    """The least size between one that passes and one that fails, if all above it fail."""
    while high - low > 1:
        middle = (low + high) // 2
        if fails(middle):
            high = middle
        else:
            low = middle


def _without_chunks(text: str, fails: Fails) -> str:
    """What is left when halves are dropped, then quarters, then eighths ..."""
    size = len(text) // 2
    while size and (size > 1 or len(text) <= _FEW):
        start = 0
        while start < len(text):
            shorter = text[:start] + text[start + size :]
            if shorter and fails(shorter):
                text = shorter
            else:
                start += size
        size //= 2
    return text


def _with_plain_chunks(text: str, fails: Fails) -> str:
    """What is left when as many characters as possible are plain ones."""
    size = len(text) // 2
    while size and (size > 1 or len(text) <= _FEW):
        for start in range(0, len(text), size):
            filling = _PLAIN[0] * len(text[start : start + size])
            plainer = text[:start] + filling + text[start + size :]
            if plainer != text and fails(plainer):
                text = plainer
        size //= 2
    return text
