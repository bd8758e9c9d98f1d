"""Lists whose delimiter has no raw form in a URL: a space, bar or tab may part two texts, or stand in one."""

from collections.abc import Sequence
from itertools import islice, product

from checker.transport.wire import ambiguity
from checker.transport.wire.outline import Outline
from checker.transport.wire.readings import Reading, Tree, doubted, readings
from checker.transport.wire.styles import DELIMITERS
from checker.transport.wire.unstyled import plain

_JOINED = 6
"""Texts of a list that are tried together: there are twice as many ways for each of them."""


def delimited_readings(tree: Tree, style: str, outline: Outline) -> list[Reading]:
    """Readings of a tree; of a list of listed texts that hold the delimiter of its style also those that do not part them."""
    delimiter = plain(DELIMITERS.get(style, ""))
    if not delimiter or not isinstance(tree, list):
        return readings(tree, outline)
    item = outline.item(0)
    # Lists in the list are JSON, which does not escape it either.
    if any(_lists(one, delimiter) for one in (item, item.item(0))):
        return joined_readings(tree, style, outline)
    return readings(tree, outline)


def parted_inside(tree: Tree, delimiters: Sequence[str]) -> Tree:
    """A list whose texts are lists, parted by what delimits them, outermost first; anything else as it is."""
    if not delimiters or not isinstance(tree, list):
        return tree
    return [
        parted_inside(one.split(delimiters[0]), delimiters[1:]) if isinstance(one, str) else one
        for one in tree
    ]


def _lists(outline: Outline, delimiter: str) -> bool:
    """True when a member of an `enum` holds a text."""
    listed = (one.raw.get("enum") for one in outline.facets() if isinstance(one.raw, dict))
    return any(
        isinstance(text, str) and delimiter in text
        for values in listed
        for text in (values if isinstance(values, list) else ())
    )


def joined_readings(tree: Tree, style: str, outline: Outline) -> list[Reading]:
    """Readings of a list as it stands, and in doubt those in which some delimiters stand in its texts."""
    found = readings(tree, outline)
    delimiter = plain(DELIMITERS.get(style, ""))
    texts = [one for one in tree if isinstance(one, str)] if isinstance(tree, list) else []
    if not delimiter or len(texts) > _JOINED:
        return [*found, Reading(texts, ambiguity.MANY)] if delimiter else found
    for cuts in islice(product((True, False), repeat=max(len(texts) - 1, 0)), 1, None):
        joined = texts[:1]
        for text, is_cut in zip(texts[1:], cuts, strict=True):
            if is_cut:
                joined.append(text)
            else:
                joined[-1] += delimiter + text
        found += doubted(readings(joined, outline), ambiguity.DELIMITER)
    return found
