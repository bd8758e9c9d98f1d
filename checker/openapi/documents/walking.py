"""Ways through a document: all of it, or along a JSON pointer, and what to say when that leads nowhere."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from checker.core.json_pointers import tokens_of
from checker.core.schema import UnresolvableReference
from checker.validation.pointers import pointer_child

Found = tuple[object, str]
"""A value and its place."""
_NOWHERE = "points at nothing"


def walk(
    root: object, at: str, fragment: str, follow: Callable[[object, str], Found] | None = None
) -> Found:
    """What a decoded fragment names below `root`, whose place is `at`; `follow` dereferences what stands on the way.

    Raises `UnresolvableReference`: the reason alone.
    """
    if fragment and not fragment.startswith("/"):
        raise UnresolvableReference("it is not a JSON pointer; write it as `#/components/...`")
    value = root
    for token in tokens_of(fragment):
        if follow is not None and isinstance(value, dict) and token not in value:
            # By the letter there is nothing (RFC 6901, 4), but whoever writes this means what the object refers to.
            value, at = follow(value, at)
        if isinstance(value, dict) and token in value:
            value = value[token]
        elif isinstance(value, list) and token.isdecimal() and int(token) < len(value):
            value = value[int(token)]
        else:
            raise UnresolvableReference(_miss(token, value))
        at = pointer_child(at, token)
    return value, at


def objects(
    root: object, at: str, is_left: Callable[[str, str], bool] = lambda key, at: False
) -> Iterator[tuple[dict[str, Any], str]]:
    """Every object in a value, with its place; nothing below a key of an object at a place that `is_left`."""
    todo: list[Found] = [(root, at)]
    while todo:
        value, at = todo.pop()
        if isinstance(value, list):
            todo += [(item, pointer_child(at, str(index))) for index, item in enumerate(value)]
        elif isinstance(value, dict):
            yield value, at
            for key, item in value.items():
                if isinstance(item, dict | list) and not is_left(key, at):
                    todo.append((item, pointer_child(at, key)))


def circle_in(edges: Mapping[str, Sequence[str]]) -> str | None:
    """A place from which the edges lead back to it; None when all of them come to an end."""
    seen: set[str] = set()
    for start in edges:
        way = {start: iter(edges[start])} if start not in seen else {}
        while way:
            place, ahead = next(reversed(way.items()))
            following = next(ahead, None)
            if following in way:
                return following
            if following is None:
                seen.add(place)
                del way[place]
            elif following in edges and following not in seen:
                way[following] = iter(edges[following])
    return None


def lost(reference: str, at: str, root: object, reason: object) -> UnresolvableReference:
    """The error for a reference: where it stands, why it leads nowhere, and the nearest name that exists."""
    said = str(reason)
    if "did you mean" not in said:
        elsewhere = _component(root, reference)
        if elsewhere is not None:
            said = f"{said.partition(';')[0]}; did you mean `{elsewhere}`?"
    return UnresolvableReference(f"`{reference}` at {at} {_NOWHERE}: {said}")


def is_lost(sentence: str) -> bool:
    """True for the sentence of an error that `lost` made, even inside of another one."""
    return _NOWHERE in sentence


def _miss(token: str, parent: object) -> str:
    names = [name for name in parent if isinstance(name, str)] if isinstance(parent, dict) else []
    near = get_close_matches(token, names, n=1)
    return f"did you mean `{near[0]}`?" if near else f"there is no `{token}`; add it"


def _component(root: object, reference: str) -> str | None:
    """Place of a component that has the last name of a reference, or nearly."""
    name = reference.rpartition("/")[2].rpartition("#")[2]
    if not isinstance(root, dict) or not name:
        return None
    components = root.get("components")
    groups = {"#/definitions": root.get("definitions")}
    if isinstance(components, dict):
        groups |= {
            pointer_child("#/components", str(key)): group for key, group in components.items()
        }
    places = {
        str(found): pointer_child(at, str(found))
        for at, group in groups.items()
        if isinstance(group, dict)
        for found in group
    }
    near = get_close_matches(name, places, n=1, cutoff=0.8)
    return places[near[0]] if near else None
