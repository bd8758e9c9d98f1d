"""Whether a text matches a pattern, for every reader of it."""

import re
from collections.abc import Callable
from functools import lru_cache

import jsonschema_rs

from checker.validation.ecma import LONGEST_PATTERN, ecma_pattern

_BEYOND_TREES = re.compile(r"\(\?<?[=!]|\(\?[imsu-]|\\[bBpPAZzk1-9]|.\^|\$.", re.DOTALL)


@lru_cache(maxsize=4096)
def is_plain(pattern: str) -> bool:
    """True when every text written from the tree matches: no assertion inside, no flags."""
    return _BEYOND_TREES.search(pattern) is None


_ATOM = (
    r"(?:[A-Za-z0-9_ @:/#=%&;!~-]|\\[dw.+/@:_-]|\[(?:[A-Za-z0-9]-[A-Za-z0-9]|[A-Za-z0-9_ @:/#=%;!.+,]|\\[dw./+-])+-?\])"
)
CERTAIN = re.compile(rf"\^?(?:{_ATOM}(?:[*+?]|\{{[0-9]+(?:,[0-9]*)?\}})?)+\$?")


@lru_cache(maxsize=4096)
def is_certain(pattern: str) -> bool:
    """True for characters and classes in a row, each repeated or not, anchored or not.

    Such a pattern has one meaning, and what is written part by part matches: no reader has to be asked.
    """
    return len(pattern) <= LONGEST_PATTERN and CERTAIN.fullmatch(pattern) is not None


_EXACT = re.compile(r"(?:[^.\\(\[]|\((?!\?)|\(\?:|\\[dw./+*?|$^(){}\[\]-]|\[(?!\^)|\\\\)*")


@lru_cache(maxsize=4096)
def is_exact(pattern: str) -> bool:
    """True when its tree stands for all texts that match, not only for usual ones."""
    return is_plain(pattern) and _EXACT.fullmatch(pattern) is not None


@lru_cache(maxsize=4096)
def matcher(pattern: str, *, trusts: bool = False) -> Callable[[str], bool]:
    """Return a predicate: whether both validators find a pattern in a text, as far as each can read the pattern.

    Texts that are written from a plain tree match anyway: with `trusts`, one validator is asked.
    """
    if len(pattern) > LONGEST_PATTERN:
        # No validator reads it either.
        return lambda text: True
    own = ecma_pattern(pattern)
    try:
        strict = jsonschema_rs.Draft202012Validator({"pattern": pattern}).is_valid
    except ValueError:
        strict = None
    if own is None:
        return strict or (lambda text: True)
    if strict is None or trusts:
        return own.finds
    finds = own.finds
    return lambda text: strict(text) and finds(text)


@lru_cache(maxsize=64)
def strict_format(name: str) -> Callable[[str], bool]:
    """True for texts of a format as the stricter of the validators reads it."""
    return jsonschema_rs.Draft202012Validator({"format": name}, validate_formats=True).is_valid
