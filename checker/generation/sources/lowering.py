"""Single choices of a failing record made simple by bisection: a dozen tries where a shrinker step by step takes a hundred."""

from collections.abc import Callable
from functools import partial

from checker.core.sequence import Choice

Fails = Callable[[Choice], bool]
"""Whether it still fails with this choice in the place of the recorded one. Then the choice stays."""

_PLAIN = "0aA-"
_FEW = 32
"""Characters of a text that are looked at one by one."""
_MANY = 64
"""Below that halving is as quick as anything."""
_ROUND_BITS = 6
"""From this power of two on they are bounds."""


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
    _bisect_roundly(abs(value), lambda size: fails(sign * size))


def _lower_text(text: str, fails: Fails) -> None:
    if not text or fails(""):
        return
    for plain in _PLAIN:
        filled = plain * len(text)
        if filled == text or fails(filled):
            _bisect_roundly(len(text), partial(_fails_filled, plain, fails))
            return
    text = _without_chunks(text, fails)
    _with_plain_chunks(text, fails)


def _fails_filled(character: str, fails: Fails, size: int) -> bool:
    return fails(character * size)


def _bisect_roundly(high: int, fails: Callable[[int], bool]) -> None:
    """The least size up to one that fails; bounds that people choose are looked at first, for most are round."""
    low = 0
    rungs = [size for size in _round_sizes(high) if size < high]
    first, last = -1, len(rungs)
    while last - first > 1:
        middle = (first + last) // 2
        if fails(rungs[middle]):
            high, last = rungs[middle], middle
        else:
            low, first = rungs[middle], middle
    _bisect(low, high, fails)


def _round_sizes(high: int) -> list[int]:
    """Round numbers below one that is not small, in order, each with its neighbours: it may be allowed or not."""
    if high < _MANY:
        return []
    digits, bits = range(1, len(str(high))), range(_ROUND_BITS, high.bit_length())
    rounds = {times * 10**power for power in digits for times in (1, 2, 5)}
    rounds |= {1 << power for power in bits}
    return sorted({near for one in rounds for near in (one - 1, one, one + 1)})


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
