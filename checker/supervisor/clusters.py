"""Operations that work on the same resources, kept together. Pure."""

from collections.abc import Iterator, Sequence

from checker.core.resource_names import Resource
from checker.workers.messages import OperationCard

LARGEST = 8
"""Operations in a cluster."""


def clusters(cards: Sequence[OperationCard]) -> list[tuple[str, ...]]:
    """Labels by shared resource root, at most 8 together; every operation in exactly one, in document order."""
    rooted = [(card.label, nouns_in(card.resource)) for card in cards]
    return [tuple(label for label, _ in group) for group in _split(rooted, 0)]


def clusters_with_producers(
    cards: Sequence[OperationCard],
) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Clusters, each with those of its operations whose answers others need."""
    makers = producers(cards)
    return {
        labels: tuple(label for label in labels if label in makers) for labels in clusters(cards)
    }


def producers(cards: Sequence[OperationCard]) -> frozenset[str]:
    """Operations whose answers others need."""
    return frozenset(card.label for card in cards if card.is_producer)


def nouns_in(resource: Resource) -> tuple[str, ...]:
    """Names of a collection and of those around it: `users/{}/orders` gives `users`, `orders`."""
    return tuple(segment for segment in resource if segment != "{}")


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
