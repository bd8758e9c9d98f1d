"""The plan of `run`: its tasks, and the order in which workers get them. Pure: times are arguments, in seconds since the run began."""

from bisect import insort_left, insort_right
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from checker.core.digests import digest, digest_int
from checker.core.meta import Step
from checker.core.operation import Label
from checker.core.phases import FUZZING, MOST_LISTED, CaseSource, Phase, phase_named
from checker.core.resources import REMOVING, method_rank
from checker.corpus.records import CorpusEntry
from checker.health import may_change_caller
from checker.supervisor.plans import FIRST_TURNS, NOTHING_DONE, SLICE_S, Plan, TimeShares, TimeWindow, sendable
from checker.workers.messages import MOST_TIMEOUTS, FirstCases, LeaseReport, OperationCard, Task


def stages_of(
    cards: Sequence[OperationCard], rows: Iterable[Phase], orders: Mapping[str, Sequence[str] | None]
) -> deque[tuple[str, list[str]]]:
    """Return the stages of a run in order: (phase, operations that may be tested at the same time).

    `orders`: phase -> the user's order of operations, or None for document order. In a phase without an entry, operations
    are ordered by layers.
    """
    return deque(stage for row in rows for stage in _stages(row, cards, orders))


def _is_tested(card: OperationCard, row: Phase) -> bool:
    if card.phases and row.name not in card.phases:
        return False
    return card.begins or row.source is not CaseSource.CHAINED


def weights_of(stages: Iterable[tuple[str, list[str]]]) -> dict[str, float]:
    """Return phase -> the share of the phase's time that one operation gets."""
    # Counted by phase, because otherwise a phase with many layers would get the most time.
    sizes = Counter[str]()
    for phase, labels in stages:
        sizes[phase] += len(labels)
    return {phase: 1 / max(1, size) for phase, size in sizes.items()}


def _stages(
    row: Phase, cards: Sequence[OperationCard], orders: Mapping[str, Sequence[str] | None]
) -> Iterator[tuple[str, list[str]]]:
    """Yield the stages of one phase. Phases of sequences have one stage, because a sequence orders its own requests."""
    tested = [card for card in cards if _is_tested(card, row)]
    if row.name in orders or row.source is CaseSource.CHAINED:
        labels = [card.label for card in tested]
        order = orders.get(row.name)
        # A user's order leaves out the operations that it does not name.
        yield row.name, labels if order is None else [label for label in order if label in labels]
        return
    # The sort by method only orders the queue. Removals have their own layers.
    for layer in sorted({card.layer for card in tested}):
        among = [card for card in tested if card.layer == layer]
        among.sort(key=lambda card: method_rank(card.method))
        yield row.name, [card.label for card in among]


def _count_of(card: OperationCard, row: Phase, usual: int) -> int:
    """Return the number of cases, or sequences, of an operation in a phase that draws them."""
    return dict(card.max_examples).get(row.name, usual)


def _drawn_in(card: OperationCard, phases: Iterable[Phase], usual: int) -> int:
    """Return the number of cases of an operation in the phases that draw them."""
    drawn = (row for row in phases if row.source is not CaseSource.LISTED)
    return sum(_count_of(card, row, usual) for row in drawn if _is_tested(card, row))


def tasks_of(
    cards: Sequence[OperationCard], rows: Sequence[Phase], seed: int, max_examples: int
) -> dict[tuple[str, str], Task]:
    """Return (operation, phase) -> task."""
    retry = next((row for row in rows if row.tries_saved), None)
    return {
        (card.label, row.name): replace(
            _bounded_task(card.label, row, seed, _count_of(card, row, max_examples)),
            first=FirstCases(
                tries_saved=row is retry or (row.tries_saved and row.source is CaseSource.CHAINED),
                # The first task of an operation begins with its smallest case, because a list with invented filters shows no
                # members: 1 of 9 operations was reached if only a bare `GET /jobs` lists any, and 9 of 9 with this.
                sends_smallest=not any(_is_tested(card, earlier) for earlier in rows[:number]),
            ),
            drawn_elsewhere=_drawn_in(card, (*rows[:number], *rows[number + 1 :]), max_examples),
            known=frozenset() if row.ends_at_failure and card.continue_on_failure is False else None,
        )
        for number, row in enumerate(rows)
        for card in cards
        if _is_tested(card, row)
    }


# Recalled sequences replace cases, so that the number of cases and their indices stay. A separate phase would add
# requests and need its own layer for values. If they were sent like saved examples, they would not be counted, and
# would be lost when a worker dies.
MOST_RECALLED = 0.2  # Largest share of a task's cases that recalled sequences may replace.


def recalling(
    tasks: Mapping[tuple[str, str], Task], cards: Sequence[OperationCard], entries: Iterable[CorpusEntry]
) -> dict[tuple[str, str], Task]:
    """Return the tasks with sequences of earlier runs as their first cases, the best of `entries` first.

    Single requests replace cases of the first phase that draws them, longer sequences replace sequences of the first phase
    of sequences.
    """
    first: dict[tuple[str, CaseSource], tuple[str, str]] = {}
    for label, phase in tasks:
        first.setdefault((label, phase_named(phase).source), (label, phase))
    chosen: dict[tuple[str, str], list[tuple[Step, ...]]] = {}
    for steps in sendable(entries, cards):
        source = CaseSource.DRAWN if len(steps) == 1 else CaseSource.CHAINED
        place = first.get((steps[0].label, source))
        if place is not None:
            taken = chosen.setdefault(place, [])
            if len(taken) < int(tasks[place].stop * MOST_RECALLED):
                taken.append(steps)
    recalled = {
        place: replace(tasks[place], first=replace(tasks[place].first, recalled=tuple(taken)))
        for place, taken in chosen.items()
    }
    return {**tasks, **recalled}


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


_NO_LAYER = 1 << 30  # Sort key of deferred operations that may end the service: after all removals.
# A removal below `/users` removed the account of the run on Django Oscar, and all later requests were refused.
_OF_ACCESS = _NO_LAYER - 1  # Sort key of removals that may remove the account of the run. They come after all others.
NEAR = 64  # Number of waiting tasks among which a worker looks for an operation that it has compiled.
LEAST_FOR_THE_END = 0.05
"""Least share of a time limit that is reserved for deferred tasks. Unused time goes back to the others."""
# This does not limit the load of the target: slow requests have their own lanes (`workers/observers/pacing.py`).
MOST_SLOW = 4  # Slow tasks that a worker holds beside its other tasks.


class _Piece(Struct):
    task: Task
    is_producer: bool
    stage: int = 0  # Number of the stage of the task.
    is_begun: bool = False  # Whether the task had its first turn.


class RunPlan(Plan):
    """One task for each operation and phase, leased in turns until all its cases are made (`run`).

    Stages follow one another: phase by phase, and within a phase layer by layer of the dependencies between operations. A task
    uses only values of earlier stages, so that its requests are the same for any number of workers. Slow tasks come last in
    their stage, because they mostly wait. Slow producers run beside fast tasks, because later layers need their values.
    """

    def __init__(
        self,
        cards: Sequence[OperationCard],
        *,
        seed: int,
        max_examples: int,
        phases: Sequence[str] = (FUZZING.name,),
        orders: Mapping[str, Sequence[str] | None] | None = None,
        entries: Iterable[CorpusEntry] = (),
    ) -> None:
        """`orders` as in `stages_of`. `entries`: sequences of earlier runs, best first."""
        rows = [phase_named(name) for name in phases]
        # A piece is in one place at a time: in `_stages` as a label, then in `_waiting`, `_slow`, `_left` or `_last`, or
        # leased. A stage ends when its work or its time is used up. Unfinished pieces then move to `_left`, which is leased
        # after all stages. With a single priority queue, the speed of one layer would decide which values the next
        # layer may use.
        self._stages = stages_of(cards, rows, orders or {})
        self._shares = TimeShares()
        self._weights = weights_of(self._stages)
        """Phase -> share of the time of one operation in it. All phases have equal total shares."""
        self._has_first_turns = False
        """Whether the stage ends when each task has had one turn. With a time limit, all phases get first turns before any phase gets second turns."""
        self._stage = 0
        """Number of stages that have begun."""
        self._elapsed_s = 0.0
        """Time of the last request for a lease."""
        self._tasks = recalling(tasks_of(cards, rows, seed, max_examples), cards, entries)
        self._producers = frozenset(card.label for card in cards if card.is_producer)
        self._removing = {card.label for card in cards if card.method == REMOVING}
        self._removal_layers = {
            card.label: _OF_ACCESS if may_change_caller(card.method, card.resource) else card.layer
            for card in cards
            if card.method == REMOVING and not card.is_ending
        }
        self._given_up: set[str] = set()
        """Operations whose requests all time out. Later phases skip them."""
        self._count = len(cards)
        self._lagging: set[str] = set()
        """Slow operations for which no later stage waits. Timing decides when their failures are found."""
        self._ending = {card.label for card in cards if card.is_ending}
        self._culprits: set[str] = set()
        """Operations after which the target stopped serving."""
        self._left_out: dict[str, list[tuple[str, int]]] = {}
        """Operation -> (phase, index) at which its list ended with a failure. Phases that draw cases send the rest of the list."""
        self._drawing: set[str] = set()
        """Operations whose drawing phase has begun."""
        self._last: deque[_Piece] = deque()
        """Tasks that are deferred to the end of the run."""
        self.holds_last = False
        """Whether deferred tasks wait for `release_deferred`."""
        self._waiting: deque[_Piece] = deque()
        self._slow: deque[_Piece] = deque()
        self._left: list[_Piece] = []
        """Tasks that stages left unfinished when their time was over."""
        self._leased: dict[str, _Piece] = {}
        self._homes: dict[str, int] = {}
        """Operation -> the worker that had it last and has compiled it."""
        self.is_hopeless: Callable[[str], bool] = lambda label: False
        """Whether later phases skip an operation. Called when a stage begins, after all earlier phases."""
        self.grave_failures: Callable[[str], Mapping[str, frozenset[str]]] = lambda phase: {}
        """Return operation -> fingerprints of its grave failures in other phases. Called when a stage of the given phase
        begins.

        Operations in `_lagging` are left out.
        """
        self.tasks: Sequence[Task] = tuple(self._tasks.values())
        """All tasks in their initial state."""

    def limit(self, window: TimeWindow, workers: int) -> None:
        """Share the time of `workers` workers among the stages. Called before the first stage begins."""
        self._elapsed_s = window.begins_s
        self._shares = TimeShares(window, workers)
        # A first turn of DELETE would remove resources that second turns of other operations need.
        self._ending |= self._removing

    @property
    def waiting(self) -> int:
        self._begin_next_stage()
        if self._is_kept_for_last or self._may_end:
            return len(self._last) if self._may_go_beside else int(not self._is_busy)
        return len(self._waiting)

    @property
    def is_over(self) -> bool:
        self._begin_next_stage()
        return (self.holds_last or not self._last) and self._is_at_its_end

    def release_deferred(self) -> bool:
        self.holds_last = False
        return bool(self._last)

    def lease(self, elapsed_s: float, worker: int = 0) -> Task | None:
        """Return the next task for a worker, and a deferred one when nothing else is left."""
        self._elapsed_s = elapsed_s
        self._begin_next_stage()
        if self._is_kept_for_last or self._may_end:
            if self._is_busy and not self._may_go_beside:
                return None
            return self._lease(self._last.popleft(), worker)
        return self._lease(self._taken(worker), worker) if self._waiting else None

    @property
    def _is_at_its_end(self) -> bool:
        return not any((self._waiting, self._stages, self._slow, self._left, self._leased))

    @property
    def _may_end(self) -> bool:
        return bool(self._last) and self._is_at_its_end and not self.holds_last

    @property
    def _is_kept_for_last(self) -> bool:
        """Whether the remaining time is reserved for deferred tasks. They get half the share of as many other operations, at least `LEAST_FOR_THE_END`.

        Half is enough, because second turns of removals find nothing left after the first turns have removed the
        containing resources.

        Without the minimum, the share of a few operations would be shorter than the usual variation at the end of a run.
        """
        if not self._last or not self._shares.is_limited:
            return False
        weight = FIRST_TURNS * len(self._ending)
        mine = max(LEAST_FOR_THE_END, weight / max(1, self._count - len(self._ending) + weight))
        return self._shares.is_rest(self._elapsed_s, mine)

    @property
    def _may_go_beside(self) -> bool:
        """Whether the first deferred task may run beside others.

        A task that runs alone and stops the service is identified at once. A time limit leaves no time for that, so
        only operations that have stopped the service before run alone.
        """
        if not self._last or not self._shares.is_limited:
            return False
        tasks = (self._last[0].task, *(piece.task for piece in self._leased.values()))
        return all(self._culprits.isdisjoint(task.labels) for task in tasks)

    @property
    def _is_busy(self) -> bool:
        return any(not piece.task.is_slow for piece in self._leased.values())

    def defer(self, label: Label) -> None:
        """Defer the waiting tasks of an operation to the end of the run."""
        self._ending.add(label)
        self._culprits.add(label)
        # Pieces of `_last` are placed again, because their tasks have to become `is_last`: refusals after such a case
        # are excused.
        held: list[_Piece] = []
        for queue in (self._waiting, self._slow, self._left, self._last):
            mine = [one for one in queue if label in one.task.labels]
            held += mine
            for piece in mine:
                queue.remove(piece)
        for piece in held:
            self._wait_for_the_end(piece)

    def _wait_for_the_end(self, piece: _Piece, *, first: bool = False) -> None:
        label = piece.task.labels[0]
        piece.task = replace(piece.task, is_last=label in self._culprits)
        (insort_left if first else insort_right)(
            self._last,
            piece,
            key=lambda piece: (piece.is_begun, self._removal_layers.get(piece.task.labels[0], _NO_LAYER)),
        )

    def lease_slow(self, elapsed_s: float, held: int) -> Task | None:
        """Return a slow task: a producer, or any task if no fast task waits for a worker."""
        self._elapsed_s = elapsed_s
        if held >= MOST_SLOW or self._is_kept_for_last:
            return None
        for piece in self._slow:
            # Later layers wait for producers; the others come last in their stage.
            if piece.is_producer or not self._waiting:
                self._slow.remove(piece)
                return self._lease(piece)
        return None

    def come_back(
        self, task: Task, next_index: int, *, finished: bool, spent_s: float, report: LeaseReport = NOTHING_DONE
    ) -> None:
        """Take back a task. An unfinished task joins the end of its queue, or of the slow queue if its responses took long."""
        piece = self._leased.pop(task.id, None)
        if piece is None:
            # The task was dropped while it was leased.
            return
        if finished:
            # In each later phase its timeouts would cost three time limits.
            if report.timeouts >= MOST_TIMEOUTS:
                self._given_up.update(task.labels)
            whole = self._tasks[task.labels[0], task.phase]
            if report.ended_at_failure or task.stop < whole.stop:
                label = whole.labels[0]
                # A list that ended at its first failure has unsent cases. The phase that draws sends them among its
                # cases. If that phase has begun, the list itself is continued, because adding cases later would move
                # the indices of drawn cases.
                if label not in self._drawing:
                    later = phase_named(whole.phase).first_listed if whole.first.sends_smallest else 0
                    # If the smallest case precedes the list, the index in the task is one above the number in the list.
                    self._left_out.setdefault(label, []).append((whole.phase, max(0, next_index - later)))
                elif label not in self._given_up:
                    piece.task = replace(whole, start=next_index, known=None)
                    self._put_back(piece)
            return
        is_slow = report.long > 0 or report.timeouts > 0
        piece.task = replace(piece.task, start=next_index, redo=report.redo, is_slow=is_slow, timeouts=report.timeouts)
        # Later stages do not wait for it, so chance decides when its failures are known. Such failures must not end
        # lists (`_of_next_stage`).
        if is_slow and not self._is_needed(piece):
            self._lagging.update(task.labels)
        # If the worker exited before the first case, the task still gets its first turn.
        piece.is_begun = next_index > 0
        self._put_back(piece, first=not piece.is_begun)

    def lose(self, task: Task, spent_s: float = 0.0) -> None:
        """Lease the rest of the task next: repeating the case in flight soon shows whether it kills workers."""
        piece = self._leased.pop(task.id, None)
        if piece is not None:
            piece.task, piece.is_begun = task, task.start > 0
            # The worker that had compiled the operation is dead.
            self._homes.pop(task.labels[0], None)
            self._put_back(piece, first=True)

    def drop(self, task: str) -> None:
        """Never lease a task again. The operation continues with the next phase."""
        self._leased.pop(task, None)
        self._waiting = deque(piece for piece in self._waiting if piece.task.id != task)
        self._slow = deque(piece for piece in self._slow if piece.task.id != task)
        self._left = [piece for piece in self._left if piece.task.id != task]

    def _begin_next_stage(self) -> None:
        """Begin the next stage when no later task depends on this one, or when its time is over."""
        # A loop, because all operations of a stage may be given up or deferred; then the next stage is over at once.
        while (self._stages or self._left) and self._is_through():
            self._left += self._waiting
            self._stage += 1
            self._waiting = deque(self._of_next_stage() if self._stages else self._of_left())
            self._has_first_turns = self._shares.is_limited and any(not piece.is_begun for piece in self._waiting)
            # During first turns, the weight of all phases is reserved for later turns.
            mine = sum(self._weights[piece.task.phase] for piece in self._waiting)
            later = sum(self._weights[phase] * len(labels) for phase, labels in self._stages)
            later += sum(self._weights[piece.task.phase] for piece in self._left)
            rest = len(self._weights) if self._has_first_turns else 0
            self._shares.begin_next(self._elapsed_s, (mine / (mine + later + rest) if mine else 0.0))

    def _is_through(self) -> bool:
        if self._shares.is_over(self._elapsed_s):
            return True
        if self._waiting:
            return self._has_first_turns and all(piece.is_begun for piece in self._waiting)
        if self._is_busy:
            is_awaited = True
        else:
            is_awaited = any(self._is_needed(piece) for piece in (*self._leased.values(), *self._slow))
        return not is_awaited

    def _of_next_stage(self) -> Iterator[_Piece]:
        phase, labels = self._stages.popleft()
        known = self.grave_failures(phase)
        for label in labels:
            if label not in self._given_up and not self.is_hopeless(label):
                task = self._tasks[label, phase]
                if task.ends_at_failure and label not in self._lagging:
                    # Only a new grave failure ends a list. When any failure did, an undocumented status ended each list
                    # at its first case.
                    task = replace(task, known=known.get(label, frozenset()))
                piece = _Piece(task, label in self._producers, self._stage)
                if label not in self._ending:
                    yield piece
                else:
                    self._wait_for_the_end(piece)

    def _of_left(self) -> Iterator[_Piece]:
        """Yield unfinished tasks: those without a turn if there are any, otherwise those of the earliest stage."""
        left, self._left = self._left, []
        earliest = min(piece.stage for piece in left)
        has_new = not all(piece.is_begun for piece in left)
        for piece in left:
            if not piece.is_begun if has_new else piece.stage == earliest:
                piece.stage = self._stage
                yield piece
            else:
                self._left.append(piece)

    def _is_needed(self, piece: _Piece) -> bool:
        """Whether later stages wait for a task even if it is slow."""
        # Otherwise the speed of a removal would decide whether later requests find the resource.
        return piece.is_producer or piece.task.labels[0] in self._removing

    def _taken(self, worker: int) -> _Piece:
        """Return the first waiting task, or one near it whose operation was compiled by this worker or by no worker."""
        # Compiling an operation takes longer than many of its turns. The search is short, so that no task waits for
        # long. The choice does not change requests, because a task uses only values of earlier stages.
        for place, piece in enumerate(islice(self._waiting, NEAR)):
            if self._homes.get(piece.task.labels[0], worker) == worker:
                del self._waiting[place]
                return piece
        return self._waiting.popleft()

    def _lease(self, piece: _Piece, worker: int | None = None) -> Task:
        if worker is not None:
            self._homes[piece.task.labels[0]] = worker
        # Without a time limit, turns only prevent a slow task from keeping its worker. With a time limit, turns share
        # the time of the stage.
        slice_s = SLICE_S
        if self._shares.is_limited:
            is_last = piece.task.labels[0] in self._ending
            others = self._last if is_last else self._waiting
            slice_s = self._shares.slice_s(
                self._elapsed_s,
                1 + len(others) + len(self._leased),
                is_first=not (is_last or (piece.is_begun and all(one.is_begun for one in others))),
                is_last=is_last,
            )
        task = piece.task
        if phase_named(task.phase).source is CaseSource.DRAWN:
            self._drawing.add(task.labels[0])
            left_out = tuple(self._left_out.get(task.labels[0], ()))
            task = replace(task, first=replace(task.first, left_out=left_out))
        piece.task, piece.is_begun = replace(task, slice_s=slice_s), True
        self._leased[piece.task.id] = piece
        return piece.task

    def _put_back(self, piece: _Piece, *, first: bool = False) -> None:
        """Queue a task for its next turn, in its stage unless that is over."""
        if piece.task.labels[0] in self._ending:
            self._wait_for_the_end(piece, first=first)
            return
        if piece.stage != self._stage and not piece.task.is_slow:
            # The time of this stage is over. The rest of the task is leased after all stages.
            self._left.append(piece)
            return
        queue = self._slow if piece.task.is_slow else self._waiting
        if first:
            queue.appendleft(piece)
        else:
            queue.append(piece)
