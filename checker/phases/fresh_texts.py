"""Other texts for the body of a case, so that a server that takes each name once takes the case again."""

from collections.abc import Iterable, Iterator
from copy import copy
from random import Random
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any, Final

from checker.core.case import Case, copied
from checker.core.schema import tokens_of
from checker.schema.pointers import pointer_child

Texts = tuple[tuple[str, str], ...]
"""(JSON pointer in the body, text)."""

_MOST: Final = 16
"""Texts of one body that are changed."""
_DEPTH: Final = 4
_SHORT: Final = 4
"""Texts with fewer letters and digits are made longer: there are too few others."""
_LONGER: Final = 12
_ALPHABETS: Final = ("abcdef", ascii_lowercase, ascii_uppercase, digits)


def texts_in(body: Any) -> list[tuple[str, str]]:
    """Return the texts of a body with their JSON pointers, outermost first, as far as they have letters or digits."""
    found: list[tuple[str, str]] = []
    level = [("", body)]
    for _ in range(_DEPTH):
        inside: list[tuple[str, Any]] = []
        for pointer, value in level:
            if isinstance(value, dict):
                inside += ((pointer_child(pointer, str(name)), item) for name, item in value.items())
            elif isinstance(value, list):
                inside += ((pointer_child(pointer, str(at)), item) for at, item in enumerate(value))
        found += (one for one in inside if isinstance(one[1], str) and any(map(str.isalnum, one[1])))
        level = inside
    return found[:_MOST]


def others_like(text: str, random: Random) -> Iterator[str]:
    """Yield texts with the look of a text: each letter and digit in place of one of its own kind; then others."""
    count = sum(map(str.isalnum, text))
    if count < _SHORT:
        yield "".join(_other(one, text, random) for one in (text * _LONGER)[:_LONGER])
    yield "".join(_other(one, text, random) for one in text)
    yield text + "".join(random.choices(digits, k=8))


def _other(one: str, text: str, random: Random) -> str:
    kinds = [kind for kind in _ALPHABETS if one in kind]
    if len(kinds) > 1 and any(letter in ascii_lowercase and letter not in "abcdef" for letter in text):
        # Only where all letters are hexadecimal digits the others have to be, too.
        kinds = kinds[1:]
    return random.choice(kinds[0]) if kinds else one


def with_texts(case: Case, texts: Iterable[tuple[str, str]]) -> Case:
    """Return a case with these texts in its body; what is at none of the places is left out."""
    changed = copy(case)
    for pointer, text in texts:
        body = copied(changed.body)
        if _is_set(body, tokens_of(pointer), text):
            changed.body = body
    return changed


def _is_set(body: Any, tokens: tuple[str, ...], text: str) -> bool:
    holder = body
    for number, token in enumerate(tokens):
        key: Any = int(token) if isinstance(holder, list) and token.isdecimal() else token
        try:
            if number == len(tokens) - 1 and isinstance(holder[key], str):
                holder[key] = text
                return True
            holder = holder[key]
        except (KeyError, IndexError, TypeError):
            return False
    return False
