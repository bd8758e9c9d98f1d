"""Values of earlier responses in place of random ones: always asked for by a choice, so that records stay the same."""

import re
from collections.abc import Callable
from typing import Any

from checker.core.case import NOT_SET
from checker.core.meta import Binding
from checker.core.operation import Location
from checker.generation.meaning import forms
from checker.generation.sources.choices import Source
from checker.generation.sources.recipes import Pooled, described
from checker.generation.sources.turn import Draw, Turn

SOMETIMES = 0.2
OFTEN = 0.8
"""Path parameters name things: a random name leads to 404."""
_POOLED = 63
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,18})")


def reusing(draw: Draw, kind: str, is_valid: Callable[[Any], bool], turn: Turn) -> Draw:
    """The same for a scalar of the body, or a value from the pool under its JSON pointer."""
    return pooled(draw, (Location.BODY, None), (kind,), is_valid, turn)


def pooled(
    draw: Draw,
    target: tuple[Location, str | None],
    kinds: tuple[str, ...],
    is_valid: Callable[[Any], bool],
    turn: Turn,
) -> Draw:
    """The same for a named parameter; without a name, for where `turn.path` says that we are."""
    location, name = target
    share = OFTEN if location is Location.PATH else SOMETIMES

    def take(at: str, index: int) -> Any:
        pool = turn.pool
        found = None if pool is None else pool.pick(location, at, index)
        if found is None:
            return NOT_SET
        value = coerced(found.value, kinds)
        if not is_valid(value):
            return NOT_SET
        turn.bindings.append(
            Binding(location, at, found.producer, found.pointer, found.index, found.value)
        )
        return value

    def drawn(source: Source) -> Any:
        if source.boolean(share):
            index = source.integer(0, _POOLED)
            at = name if name is not None else "".join(f"/{token}" for token in turn.path)
            value = take(at, index)
            if value is not NOT_SET:
                return value
        return draw(source)

    return described(drawn, Pooled(draw, share, _POOLED, name, take))


def coerced(value: Any, kinds: tuple[str, ...]) -> Any:
    """The value as one of the wanted types: 5 as "5", "5" as 5."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int) and forms.STRING in kinds and not _is_numeric(kinds):
        return str(value)
    if isinstance(value, str) and _is_numeric(kinds) and forms.STRING not in kinds:
        return int(value) if _INTEGER.fullmatch(value) else value
    return value


def _is_numeric(kinds: tuple[str, ...]) -> bool:
    return forms.INTEGER in kinds or forms.NUMBER in kinds
