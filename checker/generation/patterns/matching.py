"""Whether a text matches a pattern, for every reader of it."""

import re
import warnings
from collections.abc import Callable
from functools import lru_cache

import jsonschema_rs

from checker.generation.patterns.regexes import (
    Alternation,
    Anchor,
    Characters,
    Concatenation,
    Expression,
    Group,
    Lookahead,
    Reference,
    Repetition,
    UnsupportedPattern,
    parse,
)
from checker.validation.ecma import LONGEST_PATTERN

_FEW = 4
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
    """True for what both Python and ECMA-262 match, as far as each can read the pattern.

    Texts written from a plain tree match anyway: `trusts` them, and asks only one.
    """
    if len(pattern) > LONGEST_PATTERN:
        # No validator reads it either.
        return lambda text: True
    search = _python_search(pattern)
    try:
        strict = jsonschema_rs.Draft202012Validator({"pattern": pattern}).is_valid
    except ValueError:
        strict = None
    if search is None:
        return strict or (lambda text: True)
    if strict is None or trusts:
        return lambda text: search(text) is not None
    return lambda text: strict(text) and search(text) is not None


@lru_cache(maxsize=64)
def strict_format(name: str) -> Callable[[str], bool]:
    """True for texts of a format as the stricter of the validators reads it."""
    return jsonschema_rs.Draft202012Validator({"format": name}, validate_formats=True).is_valid


def _python_search(pattern: str) -> Callable[[str], object] | None:
    """None for what Python cannot read, and for what could keep it busy for ever."""
    try:
        if _may_explode(parse(pattern)):
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(pattern).search
    except (UnsupportedPattern, re.error, OverflowError, RecursionError):
        return None


def _may_explode(tree: Expression, *, is_repeated: bool = False) -> bool:
    """True when something that varies in length is repeated: a text can then be cut in exponentially many ways."""
    match tree:
        case Characters() | Reference() | Anchor():
            return False
        case Repetition(part, low, high):
            if is_repeated and high > low:
                return True
            return _may_explode(part, is_repeated=is_repeated or high > _FEW)
        case Alternation(parts) | Concatenation(parts):
            return any(_may_explode(part, is_repeated=is_repeated) for part in parts)
        case Group(_, part) | Lookahead(part):
            return _may_explode(part, is_repeated=is_repeated)
