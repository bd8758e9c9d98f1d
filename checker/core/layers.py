"""Things in the order in which they need each other."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def layers_of(
    nodes: Iterable[Node], needs: Callable[[Node], Collection[Node]]
) -> Mapping[Node, int]:
    """Node -> length of the longest way to it; those that need each other in a circle share a layer."""
    circles = _circles(list(nodes), needs)
    number = {node: place for place, circle in enumerate(circles) for node in circle}
    depth: list[int] = []
    # What a circle needs was found before it.
    for place, circle in enumerate(circles):
        below = {number[other] for node in circle for other in needs(node) if other in number}
        depth.append(max((depth[other] + 1 for other in below if other != place), default=0))
    return {node: depth[place] for node, place in number.items()}


def _circles(nodes: list[Node], needs: Callable[[Node], Collection[Node]]) -> list[list[Node]]:
    """Strongly connected components, each after those that it needs (Tarjan, 1972), without recursion."""
    known = set(nodes)
    found: dict[Node, int] = {}
    lowest: dict[Node, int] = {}
    open_: list[Node] = []
    is_open: set[Node] = set()
    circles: list[list[Node]] = []
    for start in nodes:
        if start in found:
            continue
        way = [(start, iter(needs(start)))]
        found[start] = lowest[start] = len(found)
        open_.append(start)
        is_open.add(start)
        while way:
            node, rest = way[-1]
            following = next((other for other in rest if other in known), None)
            if following is None:
                way.pop()
                if way:
                    above = way[-1][0]
                    lowest[above] = min(lowest[above], lowest[node])
                if lowest[node] == found[node]:
                    cut = open_.index(node)
                    circles.append(open_[cut:])
                    is_open.difference_update(open_[cut:])
                    del open_[cut:]
            elif following not in found:
                found[following] = lowest[following] = len(found)
                open_.append(following)
                is_open.add(following)
                way.append((following, iter(needs(following))))
            elif following in is_open:
                lowest[node] = min(lowest[node], found[following])
    return circles
