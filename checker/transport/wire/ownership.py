"""Owners of pairs in a query or in cookies: properties of an exploded object travel under their own names."""

from collections.abc import Sequence

from msgspec import Struct

from checker.core.operation import Parameter
from checker.transport.wire.outline import Outline
from checker.transport.wire.styles import Pairs
from checker.transport.wire.unstyled import plain

Declared = Sequence[tuple[Parameter, Outline]]
_NAMED = frozenset({"deepObject", "querystring"})
"""Styles whose objects do not fall apart into pairs of other names."""


class OwnedPairs(Struct, frozen=True):
    """The pairs that belong to one parameter."""

    parameter: Parameter
    outline: Outline
    own: Pairs
    """Pairs that can only be its own."""
    rest: Pairs
    """Pairs that nobody declares: properties of it, or nobody's."""
    is_contested: bool = False
    """True when pairs of its own are another one's, too: nobody can know what its value is."""


def shares(declared: Declared, pairs: Pairs) -> tuple[list[OwnedPairs], Pairs]:
    """Return the pairs of each parameter of a location, and the undeclared pairs."""
    names = {
        parameter.name for parameter, outline in declared if not _is_spread(parameter, outline)
    }
    own = [[pair for pair in pairs if _owns(*one, plain(pair[0]), names)] for one in declared]
    nobodys = [pair for pair in pairs if not any(pair in mine for mine in own)]
    found = [
        OwnedPairs(*one, mine, nobodys if _takes_rest(*one, mine) else [], _contested(mine, own))
        for one, mine in zip(declared, own, strict=True)
    ]
    return found, nobodys


def _contested(mine: Pairs, own: list[Pairs]) -> bool:
    return any(pair in other for other in own if other is not mine for pair in mine)


def may_spread(parameter: Parameter, outline: Outline) -> bool:
    """True when it may be an exploded object."""
    is_exploded = parameter.explode and parameter.style not in _NAMED
    return is_exploded and parameter.media_type is None and "object" in outline.types


def _is_spread(parameter: Parameter, outline: Outline) -> bool:
    """True when it is always one: its own name is never sent."""
    return may_spread(parameter, outline) and outline.types <= {"object", "null"}


def _owns(parameter: Parameter, outline: Outline, name: str, names: set[str]) -> bool:
    if _is_spread(parameter, outline):
        return name not in names and outline.declares(name)
    return name == parameter.name or (
        parameter.style == "deepObject" and name.startswith(f"{parameter.name}[")
    )


def _takes_rest(parameter: Parameter, outline: Outline, own: Pairs) -> bool:
    if _is_spread(parameter, outline):
        return not outline.is_closed
    return not own and may_spread(parameter, outline)
