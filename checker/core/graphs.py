"""Groups of values, and directed graphs of them."""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
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
    circles = list(_circles(list(nodes), needs))
    number = {node: place for place, circle in enumerate(circles) for node in circle}
    depth: list[int] = []
    # Components come in topological order, so the layers of the nodes that a circle needs are known here.
    for place, circle in enumerate(circles):
        below = {number[other] for node in circle for other in needs(node) if other in number}
        depth.append(max((depth[other] + 1 for other in below if other != place), default=0))
    return {node: depth[place] for node, place in number.items()}


def _circles(nodes: list[Node], needs: Callable[[Node], Collection[Node]]) -> Iterator[list[Node]]:
    """Yield the strongly connected components, each after those that it needs (Kosaraju, 1978)."""
    users = grouped((other, node) for node in nodes for other in needs(node))
    rest = set(nodes)
    for node in reversed(_left(nodes, lambda node: users.get(node, ()), set(nodes))):
        if node in rest:
            yield _left([node], needs, rest)


def _left(nodes: Iterable[Node], further: Callable[[Node], Collection[Node]], rest: set[Node]) -> list[Node]:
    """Remove the reachable nodes from `rest`, and return them in the order in which a depth-first search leaves them."""
    found: list[Node] = []
    for start in nodes:
        way = [(start, iter(further(start)))] if start in rest else []
        rest.discard(start)
        while way:
            following = next((one for one in way[-1][1] if one in rest), None)
            if following is None:
                found.append(way.pop()[0])
            else:
                rest.remove(following)
                way.append((following, iter(further(following))))
    return found
