"""What each operation has to do in each phase of `run`, and in which order. Pure."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from checker.core.digests import digest, digest_int
from checker.core.operation import Label
from checker.core.phases import MOST_LISTED, CaseSource, Phase
from checker.core.resources import method_rank
from checker.supervisor.time_shares import SLICE_S
from checker.workers.messages import OperationCard, Task


def stages_of(
    cards: Sequence[OperationCard],
    rows: Iterable[Phase],
    orders: Mapping[str, Sequence[str] | None],
) -> deque[tuple[str, list[str]]]:
    """(phase, operations that may be worked on at once) in order.

    `orders`: phases whose operations come in the order of users, or with None of the document, all at once.
    """
    return deque(
        stage
        for row in rows
        for stage in _stages(
            row, _as_wanted(cards, orders.get(row.name)), ordered=row.name not in orders
        )
    )


def _is_tested(card: OperationCard, row: Phase) -> bool:
    """Whether an operation has cases of its own in a phase."""
    if card.phases and row.name not in card.phases:
        return False
    return card.begins or row.source is not CaseSource.CHAINED


def weights_of(stages: Iterable[tuple[str, list[str]]]) -> dict[str, float]:
    """Phase -> the share of its time that one of its operations has."""
    sizes = Counter[str]()
    for phase, labels in stages:
        sizes[phase] += len(labels)
    return {phase: 1 / max(1, size) for phase, size in sizes.items()}


def _as_wanted(
    cards: Sequence[OperationCard], order: Sequence[str] | None
) -> Sequence[OperationCard]:
    """Operations in the order that users want; those that it leaves out are left out."""
    if order is None:
        return cards
    known = {card.label: card for card in cards}
    return [known[label] for label in order if label in known]


def _stages(
    row: Phase, cards: Sequence[OperationCard], *, ordered: bool
) -> Iterator[tuple[str, list[str]]]:
    """(phase, operations that may be worked on at once) in order; sequences find their order by themselves."""
    tested = [card for card in cards if _is_tested(card, row)]
    if not ordered or row.source is CaseSource.CHAINED:
        yield row.name, [card.label for card in tested]
        return
    for layer in sorted({card.layer for card in tested}):
        among = [card for card in tested if card.layer == layer]
        among.sort(key=lambda card: method_rank(card.method))
        yield row.name, [card.label for card in among]


def _count_of(card: OperationCard, row: Phase, usual: int) -> int:
    """Return the number of cases of an operation in a phase that draws them, or of sequences."""
    return dict(card.max_examples).get(row.name, usual)


def _drawn_in(card: OperationCard, phases: Iterable[Phase], usual: int) -> int:
    """Cases of an operation in phases that say in advance how many there are."""
    drawn = (row for row in phases if row.source is not CaseSource.LISTED)
    return sum(_count_of(card, row, usual) for row in drawn if _is_tested(card, row))


def tasks_of(
    cards: Sequence[OperationCard], rows: Sequence[Phase], seed: int, max_examples: int
) -> dict[tuple[str, str], Task]:
    """(operation, phase) -> what it has to do there."""
    retry = next((row for row in rows if row.tries_saved), None)
    return {
        (card.label, row.name): replace(
            _bounded_task(card.label, row, seed, _count_of(card, row, max_examples)),
            tries_saved=row is retry or (row.tries_saved and row.source is CaseSource.CHAINED),
            drawn=_drawn_in(card, rows[:number], max_examples),
            to_draw=_drawn_in(card, rows[number + 1 :], max_examples),
            sends_smallest=not any(_is_tested(card, earlier) for earlier in rows[:number]),
            ends_at_failure=row.ends_at_failure and card.continue_on_failure is False,
        )
        for number, row in enumerate(rows)
        for card in cards
        if _is_tested(card, row)
    }


def _bounded_task(label: str, phase: Phase, seed: int, max_examples: int) -> Task:
    identity = (str(seed), phase.name, label)
    return Task(
        id=digest(*identity),
        phase=phase.name,
        labels=(Label(label),),
        seed=digest_int(*identity),
        start=0,
        stop=MOST_LISTED if phase.source is CaseSource.LISTED else max_examples,
        slice_s=SLICE_S,
    )
