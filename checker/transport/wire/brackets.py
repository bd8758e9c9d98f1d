"""Names with brackets: objects among the pairs of a query or a form, as the style `deepObject` writes them."""

import re

from checker.transport.wire.readings import Repeated, Tree
from checker.transport.wire.styles import Pairs
from checker.transport.wire.unstyled import plain

_BRACKET = re.compile(r"\[([^\[\]]*)\]")


def deep_tree(pairs: Pairs, name: str) -> Tree:
    """`name[a][b]=c`: objects in objects, lists where a key stands several times or is empty.

    Raises `ValueError` when it is not of the style.
    """
    found: dict[str, Tree] = {}
    for key, value in pairs:
        inner = plain(key).removeprefix(name)
        tokens = _BRACKET.findall(inner)
        if "".join(f"[{token}]" for token in tokens) != inner or not tokens:
            raise ValueError(f"{plain(key)!r} is not of the style deepObject")
        _put(found, tokens, plain(value))
    return found


def _put(found: dict[str, Tree], tokens: list[str], text: str) -> None:
    tokens = tokens[:-1] if tokens[-1] == "" and len(tokens) > 1 else tokens
    for token in tokens[:-1]:
        inner = found.setdefault(token, {})
        if not isinstance(inner, dict):
            raise ValueError(f"{token!r} is a text and an object at once")
        found = inner
    present = found.get(tokens[-1], Repeated(()))
    if not isinstance(present, Repeated):
        raise ValueError(f"{tokens[-1]!r} is a text and an object at once")
    found[tokens[-1]] = Repeated((*present.texts, text))
