"""Values of earlier responses in place of random ones: always asked for by a choice, so that records stay the same."""

import re
from collections.abc import Callable
from typing import Any

from checker.core.case import NOT_SET
from checker.core.constraints import ITEMS
from checker.core.operation import Location
from checker.generation.normalization import forms
from checker.generation.sources.choices import Source
from checker.generation.sources.context import Draw, DrawContext

SOMETIMES = 0.2
OFTEN = 0.8
"""Path parameters name things, as do some places in bodies: a random name leads to 404."""
TOGETHER = 0.97
"""A path of which one part is known leads somewhere with the others alone."""
_POOLED = 63
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,18})")


def reusing(draw: Draw, kind: str, is_valid: Callable[[Any], bool], context: DrawContext) -> Draw:
    """Draws a scalar of the body, or takes a value from the pool under its JSON pointer."""
    return pooled(draw, (Location.BODY, None), (kind,), is_valid, context)


def pooled(
    draw: Draw,
    target: tuple[Location, str | None],
    kinds: tuple[str, ...],
    is_valid: Callable[[Any], bool],
    context: DrawContext,
) -> Draw:
    """Draws a value, or takes one from the pool under the name of a parameter; without a name, under `context.path`."""
    location, name = target
    coerced = _coercion(kinds)
    # Python finds a member of an enumeration ten times slower than a name.
    is_path = location is Location.PATH
    share = OFTEN if is_path else SOMETIMES

    def take(at: str, index: int) -> Any:
        pool = context.pool
        found = None if pool is None else pool.pick(location, at, index)
        if found is None:
            return NOT_SET
        value = found.literal if coerced is None else coerced(found.literal)
        if not is_valid(value):
            return NOT_SET
        context.bindings.append(found)
        return value

    def drawn(source: Source) -> Any:
        likely = share
        if is_path and context.bindings and _is_begun(context):
            likely = TOGETHER
        if name is None and context.naming and _is_naming(context):
            likely = OFTEN
        if source.boolean(likely):
            index = source.integer(0, _POOLED)
            value = take(name if name is not None else _pointer(context.path), index)
            if value is not NOT_SET:
                return value
        return draw(source)

    return drawn


def _is_naming(context: DrawContext) -> bool:
    """Whether what is drawn next names a thing; in lists every item does."""
    path, naming = tuple(context.path), context.naming
    return path in naming or (tuple([ITEMS if token.isdigit() else token for token in path]) in naming)


def _is_begun(context: DrawContext) -> bool:
    return any(one.location is Location.PATH for one in context.bindings)


def _pointer(path: list[str]) -> str:
    return f"/{'/'.join(path)}" if path else ""


def _coercion(kinds: tuple[str, ...]) -> Callable[[Any], Any] | None:
    """Return a conversion of a value to one of the wanted types: 5 to "5", "5" to 5; None where both or neither will do."""
    is_text, is_numeric = forms.STRING in kinds, forms.INTEGER in kinds or forms.NUMBER in kinds
    if is_text is is_numeric:
        return None
    return _as_text if is_text else _as_number


def _as_text(value: Any) -> Any:
    return str(value) if value.__class__ is int else value


def _as_number(value: Any) -> Any:
    return int(value) if value.__class__ is str and _INTEGER.fullmatch(value) else value
