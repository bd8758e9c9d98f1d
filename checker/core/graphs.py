"""Groups of values, and directed graphs of them."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)
Member = TypeVar("Member")


def grouped(pairs: Iterable[tuple[Node, Member]]) -> dict[Node, list[Member]]:
    """Return key -> its values, both in their original order."""
    found: dict[Node, list[Member]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def reached(nodes: Iterable[Node], further: Mapping[Node, Collection[Node]]) -> set[Node]:
    """Return the other nodes that can be reached from these in any number of steps."""
    given = set(nodes)
    seen, latest = set(given), given
    while latest:
        latest = set[Node]().union(*(further.get(node, ()) for node in latest)) - seen
        seen |= latest
    return seen - given


def layers_of(nodes: Iterable[Node], needs: Callable[[Node], Collection[Node]]) -> Mapping[Node, int]:
    """Return node -> length of the longest path to it. Nodes in a circle share a layer."""
    circles = _circles(list(nodes), needs)
    number = {node: place for place, circle in enumerate(circles) for node in circle}
    depth: list[int] = []
    # Components come in topological order, so the layers of the nodes that a circle needs are known here.
    for place, circle in enumerate(circles):
        below = {number[other] for node in circle for other in needs(node) if other in number}
        depth.append(max((depth[other] + 1 for other in below if other != place), default=0))
    return {node: depth[place] for node, place in number.items()}


def _circles(nodes: list[Node], needs: Callable[[Node], Collection[Node]]) -> list[list[Node]]:
    """Return the strongly connected components, each after those that it needs (Tarjan, 1972), without recursion."""
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
            for following in rest:
                if following not in known:
                    continue
                if following not in found:
                    found[following] = lowest[following] = len(found)
                    open_.append(following)
                    is_open.add(following)
                    way.append((following, iter(needs(following))))
                    break
                if following in is_open:
                    lowest[node] = min(lowest[node], found[following])
            else:
                way.pop()
                if way:
                    above = way[-1][0]
                    lowest[above] = min(lowest[above], lowest[node])
                # No node of the component reaches an earlier one: `node` is its first, and all above it on the stack belong to it.
                if lowest[node] == found[node]:
                    cut = open_.index(node)
                    circles.append(open_[cut:])
                    is_open.difference_update(open_[cut:])
                    del open_[cut:]
    return circles
