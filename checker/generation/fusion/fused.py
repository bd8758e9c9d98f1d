"""Draws that ask chance without detours."""

from typing import Any, Final

from checker.generation.fusion.writing import Function
from checker.generation.sources.recipes import Draw, recipe_of

_FILE: Final = "<fused draw>"


def fused(draw: Draw) -> Draw:
    """The same draw for a `RandomSource`, and for no other source: about twice as fast, a few milliseconds to make.

    Draws that have no recipe come back as they are.
    """
    if recipe_of(draw) is None:
        return draw
    function = Function(draw)
    names: dict[str, Any] = function.names
    exec(compile(function.text, _FILE, "exec"), names)
    made: Draw = names["fused"]
    return made
