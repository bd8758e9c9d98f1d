"""The open ends of a pattern: it is searched for, so anything may stand before and after what is not anchored."""

from collections.abc import Iterator

from msgspec import Struct

from checker.generation.patterns.regexes import (
    EMPTY,
    Alternation,
    Anchor,
    Concatenation,
    Expression,
    Group,
    Lookahead,
    Repetition,
)

_MOST = 64
"""Branches that anchors inside of groups are looked for in."""


class Branch(Struct, frozen=True):
    """One way to match."""

    parts: tuple[Expression, ...]
    """In a row, without the anchors at the ends."""
    is_open_before: bool
    is_open_after: bool

    @property
    def expression(self) -> Expression:
        """The parts as one."""
        return self.parts[0] if len(self.parts) == 1 else Concatenation(self.parts)


def branches(tree: Expression) -> list[Branch]:
    """The alternatives of a pattern, each with the ends at which it is open.

    Where an anchor stands in the middle of one, nothing is said to be open.
    """
    return [_branch(row) for row in _rows(tree, _MOST)]


def _rows(tree: Expression, most: int) -> Iterator[tuple[Expression, ...]]:
    """Parts in a row of each alternative: groups with anchors at an end are one for each of theirs."""
    if isinstance(tree, Alternation):
        for option in tree.options:
            yield from _rows(option, most)
        return
    parts = tree.parts if isinstance(tree, Concatenation) else (tree,)
    index = _split_at(parts)
    options = [] if index is None else _options(parts[index])
    if index is None or len(options) > most:
        yield parts
        return
    for option in options:
        inside = option.parts if isinstance(option, Concatenation) else (option,)
        row = Concatenation((*parts[:index], *inside, *parts[index + 1 :]))
        yield from _rows(row, most // len(options))


def _split_at(parts: tuple[Expression, ...]) -> int | None:
    """Index of the first or last part, conditions aside, if it has alternatives with anchors in it."""
    solid = [index for index, part in enumerate(parts) if not isinstance(part, Anchor | Lookahead)]
    for index in (solid[0], solid[-1]) if solid else ():
        if _has_anchors(parts[index]) and _options(parts[index]):
            return index
    return None


def _options(part: Expression) -> list[Expression]:
    """Return the alternatives of a part; nothing where it is only itself."""
    match part:
        case Alternation(options):
            return list(options)
        case Repetition(inner, 0, 1):
            return [inner, EMPTY]
        case Repetition(inner, 1, 1) | Concatenation((inner,)):
            return [inner]
        case Concatenation():
            return [part]
        case _:
            return []


def _has_anchors(tree: Expression) -> bool:
    match tree:
        case Anchor():
            return True
        case Repetition(part) | Group(_, part):
            return _has_anchors(part)
        case Alternation(parts) | Concatenation(parts):
            return any(map(_has_anchors, parts))
        case _:
            return False


def _branch(parts: tuple[Expression, ...]) -> Branch:
    first, last = 0, len(parts)
    while first < last and isinstance(parts[first], Anchor | Lookahead):
        first += 1
    while first < last and isinstance(parts[last - 1], Anchor | Lookahead):
        last -= 1
    before = [part for part in parts[:first] if isinstance(part, Anchor)]
    after = [part for part in parts[last:] if isinstance(part, Anchor)]
    # Nothing but anchors and conditions: both ends are in the first run.
    ends = [part.is_end for part in (*before, *after)]
    is_odd = any(map(_has_anchors, parts[first:last])) or (
        first < last and (Anchor(is_end=True) in before or Anchor(is_end=False) in after)
    )
    return Branch(
        tuple(part for part in parts if not isinstance(part, Anchor)),
        is_open_before=not is_odd and False not in ends,
        is_open_after=not is_odd and True not in ends,
    )
