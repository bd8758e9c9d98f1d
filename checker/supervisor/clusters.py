"""Operations that work on the same resources, kept together. Pure."""

import re
from collections.abc import Iterator, Sequence

from checker.workers.messages import OperationCard

LARGEST = 8
"""Operations in a cluster."""

_CREATING = frozenset(("POST", "PUT"))
_READING = frozenset(("GET", "QUERY"))

_IGNORED = re.compile(r"v\d+(\.\d+)*|api|\{.*\}|", re.IGNORECASE)


def clusters(cards: Sequence[OperationCard]) -> list[tuple[str, ...]]:
    """Labels by shared resource root, at most 8 together; every operation in exactly one, in document order."""
    rooted = [(card.label, resource_path(card.resource_path)) for card in cards]
    return [tuple(label for label, _ in group) for group in _split(rooted, 0)]


def clusters_with_producers(
    cards: Sequence[OperationCard],
) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Clusters, each with those of its operations whose answers others need."""
    makers = producers(cards)
    return {
        labels: tuple(label for label in labels if label in makers) for labels in clusters(cards)
    }


def resource_path(path: str) -> tuple[str, ...]:
    """Names of resources in a path template: `/api/v2/users/{id}/orders` gives `users`, `orders`."""
    return tuple(segment.lower() for segment in path.split("/") if not _IGNORED.fullmatch(segment))


_Rooted = tuple[str, tuple[str, ...]]


def _split(members: list[_Rooted], depth: int) -> Iterator[list[_Rooted]]:
    """Groups by the resource at `depth`; what is too large is split by the next one, then by count."""
    groups: dict[str, list[_Rooted]] = {}
    for label, names in members:
        groups.setdefault(names[depth] if depth < len(names) else "", []).append((label, names))
    small: list[_Rooted] = []
    for group in groups.values():
        if len(group) > LARGEST:
            yield from _split_large(group, depth)
        elif depth == 0:
            yield group
        elif len(small) + len(group) <= LARGEST:
            # Siblings below one root share it: fewer, fuller clusters keep their sequences local.
            small += group
        else:
            yield small
            small = group
    if small:
        yield small


def _split_large(group: list[_Rooted], depth: int) -> Iterator[list[_Rooted]]:
    if any(len(names) > depth + 1 for _, names in group):
        yield from _split(group, depth + 1)
        return
    pieces = -(-len(group) // LARGEST)
    size = -(-len(group) // pieces)
    for start in range(0, len(group), size):
        yield group[start : start + size]


def producers(cards: Sequence[OperationCard]) -> frozenset[str]:
    """Operations whose answers others need: what creates members of a collection, or lists them if nothing creates any."""
    rooted = {card.label: _segments(card.resource_path) for card in cards}
    needed = {
        segments[:place]
        for segments in rooted.values()
        for place, segment in enumerate(segments)
        if segment.startswith("{")
    }
    creators: dict[tuple[str, ...], list[str]] = {}
    lists: dict[tuple[str, ...], list[str]] = {}
    for card in cards:
        segments = rooted[card.label]
        collection = _collection(segments)
        if collection in needed and card.method in _CREATING:
            creators.setdefault(collection, []).append(card.label)
        elif segments in needed and card.method in _READING:
            lists.setdefault(segments, []).append(card.label)
    found = [label for labels in creators.values() for label in labels]
    found += [label for one, labels in lists.items() if one not in creators for label in labels]
    return frozenset(found)


def _segments(path: str) -> tuple[str, ...]:
    return tuple(segment for segment in path.split("/") if segment)


def _collection(segments: tuple[str, ...]) -> tuple[str, ...]:
    """Variables at the end name a member."""
    while segments and segments[-1].startswith("{"):
        segments = segments[:-1]
    return segments
