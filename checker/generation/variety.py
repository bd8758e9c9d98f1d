"""How different the values of a schema are: a schema that hardly says anything is drawn more freely."""

from enum import Enum
from typing import Final

from checker.generation.containers import identity
from checker.generation.sources import RandomSource
from checker.generation.turn import Draw, Rejected, Turn

ENOUGH: Final = 12
"""Different values of twenty."""
_TRIED = 20


class Variety(Enum):
    """How freely values are drawn."""

    USUAL = "what is meant, and little else"
    NAMES = "many properties that the schema does not name"
    TYPES = "all types of which an untyped schema says nothing as well"


def different(draw: Draw, turn: Turn) -> int:
    """How many different values come from a few draws; stops counting when there are enough."""
    # Somebody may be drawing already: schemas are compiled when they are needed.
    with turn.aside():
        return _counted(draw, turn)


def _counted(draw: Draw, turn: Turn) -> int:
    source = RandomSource()
    seen: set[bytes] = set()
    for seed in range(_TRIED):
        source.reset(seed)
        turn.begin(None)
        try:
            seen.add(identity(draw(source)))
        except Rejected:
            continue
        if len(seen) >= ENOUGH:
            break
    return len(seen)
