"""The plan of `fuzz`: clusters of operations, and the order in which workers get them. Pure: times are arguments, in seconds since the run began."""

import math
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct, field
from msgspec.structs import replace

from checker.core import curl
from checker.core.digests import digest, digest_int
from checker.core.failures import Severity
from checker.core.graphs import grouped
from checker.core.meta import Step
from checker.core.operation import Label
from checker.core.phases import EXPLORATION
from checker.core.request import BaseUrl
from checker.corpus.fold import RunView
from checker.corpus.known import shows_surely
from checker.corpus.records import GONE, Finding, FindingReplayed
from checker.supervisor.plans import NOTHING_DONE, Plan
from checker.workers.messages import FirstCases, LeaseReport, OperationCard, Replay, Task

FIRST_SLICE_S = 10.0
SHORTEST_SLICE_S = 0.2
FIRST_ROUND_S = 60.0
LATER_SLICE_S = 30.0  # Length of a later turn of a cluster of `LARGEST` operations; fewer operations get a part of it.
MOST_TURNS = 12  # Turns that have to fit into the time limit of a run.
# Measured with 4,000 requests to each service: 60 -> 78 of 111 planted defects reached.
FIRST_CASES = 8
"""Cases of each operation in the first turn of its cluster. Each further turn has twice as many, up to `USUAL_CASES`.

When turns were limited by seconds, the first minute of tests depended on the order of the clusters instead of on new behaviour.
"""
USUAL_CASES = 32
LONGER_EACH = 8
"""Number of turns after which a cluster gets `USUAL_CASES` more cases per operation and turn, up to `MOST_CASES`.

Each turn leaves a record. With 32 cases, a night against a fast service had one turn for every seven requests, because quiet
operations pause, and a supervisor that resumes the night reads all records.
"""
MOST_CASES = 1_024
LONGEST_REST_S = 60.0  # Longest rest of a cluster with almost nothing to send.
LARGEST = 8  # Most operations of a cluster.
LOYALTY = 2
"""A cluster stays with its worker until its charged time is this many times that of the others.

A factor of 1 would move clusters between workers for ever if their numbers do not divide evenly, such as seven clusters for
two workers.
"""
QUIET_CASES = 64
"""Cases of an operation without new behaviour after which it has half of its turns; after twice as many, a quarter."""
# Only `--stop-when-saturated` ends a run because of this.
SATURATED_CASES = 1_000  # Cases without new behaviour after which an operation counts as saturated.
LONGEST_PAUSE = 8
"""Most rounds between two turns of an operation that shows nothing new. The share of the time of such an operation falls to an eighth."""
QUIET_REFUSALS = 32
"""Cases without new behaviour after which an operation that has refused all cases counts as saturated."""
LONGEST_REFUSED = 32
"""Most rounds between two turns of an operation that has refused all cases. With fewer rounds it would get as many cases as
others once no operation shows anything new.
"""
MOST_FOR_THE_END = 0.2  # Largest share of a time limit that is kept for operations that may end the access of the run.
LAST_SLICE_S = 0.5  # Seconds that are reserved for each of these operations.
MOST_FOR_REPLAYS = 0.1  # Largest share of a time limit for replaying findings of earlier runs before new cases.
LONGEST_REPLAYS_S = 120.0
# In second nights they raised the planted defects reached from 143 to 153 (12 pairs on four services), mainly because
# known depths are reached sooner.
MOST_RECALLED = 32  # Most sequences of earlier runs for each operation of a cluster.
# Without this limit, an API for which no case could be made was cycled through for ever.
DEAD_TURNS = 3  # Turns in a row without a case after which an operation is left out.


class _Cluster(Struct):
    """Operations that take turns together."""

    labels: tuple[str, ...]
    producers: tuple[Label, ...]
    weight: float = 1.0  # Weight of its share of the time.
    turns: int = 0
    charged_s: float = 0.0  # Cost of its turns so far.
    at_work: int = 0  # Number of workers that have a turn of it now.
    home: int | None = None  # The worker that had its last turn.
    rests_until_s: float = 0.0
    rest_s: float = 0.0
    dead: Counter[str] = field(default_factory=Counter)  # Operation -> turns in a row without a case.
    quiet: Counter[Label] = field(default_factory=Counter)  # Operation -> cases since its last new behaviour.
    accepted: set[Label] = field(default_factory=set)  # Operations that accepted at least one case.
    alive: tuple[Label, ...] = ()  # Operations that have cases, or may have some.
    recalled: tuple[tuple[Step, ...], ...] = ()  # Sequences of earlier runs, with which its first turn begins.
    size: float = 0.0  # Number of its operations; an operation that shows nothing new counts less than one.

    def __post_init__(self) -> None:
        self.refresh()

    def refresh(self) -> None:
        """Compute the fields that depend on `dead` and `quiet`. Every lease reads them for all clusters."""
        self.alive = tuple(Label(label) for label in self.labels if self.dead[label] < DEAD_TURNS)
        self.size = sum(1 / self.pause(Label(label)) for label in self.labels)

    def pause(self, label: Label) -> int:
        """Return the number of rounds between two turns of an operation."""
        is_accepted = label in self.accepted
        cases, longest = (QUIET_CASES, LONGEST_PAUSE) if is_accepted else (QUIET_REFUSALS, LONGEST_REFUSED)
        return min(longest, 1 << (self.quiet[label] // cases).bit_length())

    @property
    def slice_s(self) -> float:
        """Return the length of a turn after the first."""
        return max(SHORTEST_SLICE_S, LATER_SLICE_S * self.size / LARGEST)

    @property
    def cost(self) -> float:
        """Return the cost of a second. The cost is higher if fewer operations share the time. An operation that shows nothing new counts less."""
        return 1 / (self.weight * self.size)

    def learn(self, report: LeaseReport) -> None:
        for one in report.operations:
            if self.dead[one.label] < DEAD_TURNS:
                self.dead[one.label] = self.dead[one.label] + 1 if one.is_dead else 0
            label = Label(one.label)
            self.quiet[label] = 0 if one.has_news else self.quiet[label] + one.cases
            if one.is_accepted:
                self.accepted.add(label)
        self.refresh()


class _Lease(Struct):
    cluster: _Cluster | None  # None for the replay of a finding.
    worker: int
    at_s: float
    slice_s: float


class FuzzPlan(Plan):
    """Endless turns of clusters (`fuzz`). Every cluster gets a turn before any gets a second.

    Afterwards the cluster with the lowest cost is next. A cluster continues while its slow operations wait for responses. A
    cluster that shows nothing new, for example because it refuses everything, keeps a small share: its server may change.
    """

    # Without a second turn, the lanes of a worker wait for the last responses of its turn and for the next lease.
    most_leases = 2

    def __init__(
        self,
        clusters: Mapping[tuple[str, ...], Collection[str]],
        *,
        seed: int,
        workers: int,
        time_s: float | None = None,
        first_round: int = 0,
        last: Sequence[str] = (),
        ends_s: float = math.inf,
        replays: Iterable[Task] = (),
    ) -> None:
        """`clusters`: the operations of each cluster -> its producers.

        `last`: operations that may end the access of the run. Each is sent once, alone, before the run ends at `ends_s`.
        `replays`: tasks for findings of earlier runs, which come first.

        `first_round`: 0, or in a resumed run a number above all rounds of the earlier processes, because an equal task would
        repeat the same cases.
        """
        self._clusters = [_Cluster(labels, tuple(map(Label, producers))) for labels, producers in clusters.items()]
        self._seed = seed
        self._first = first_round
        # A short run also tests every cluster once. With first turns of 10 s, a run of 6 s reached 7 of 13 demo operations.
        round_s = FIRST_ROUND_S if time_s is None else min(FIRST_ROUND_S, time_s / 3)
        self._first_s = round_s * workers / max(1, sum(map(len, clusters)))
        """Seconds of each operation in the first turn of its cluster."""
        self._longest_s = math.inf if time_s is None else time_s / MOST_TURNS
        self._replays = deque(replays)
        self._replays_for_s = min(LONGEST_REPLAYS_S, MOST_FOR_REPLAYS * (time_s or math.inf))
        self._replays_until_s: float | None = None
        """The time from which on replays take turns with clusters; None before the first lease."""
        self._is_turn_of_replay = False
        self._lost: deque[tuple[Task, _Cluster]] = deque()
        self._leased: dict[str, _Lease] = {}  # By task id.
        self._last = deque(_Cluster((label,), ()) for label in last)
        kept_s = min(MOST_FOR_THE_END * (time_s or 0.0), LAST_SLICE_S * (1 + len(last)))
        self._last_from_s = ends_s - kept_s if last else math.inf

    def weigh(self, weights: Mapping[str, float]) -> None:
        """Set the relative weights of operations, above 0. The weight of a cluster is their mean."""
        for cluster in self._clusters:
            cluster.weight = sum(weights[label] for label in cluster.labels) / len(cluster.labels)

    def recall(self, sequences: Sequence[tuple[Step, ...]]) -> None:
        """Let the first turn of each cluster begin with those of these sequences of earlier runs that belong to it. The best come first."""
        for cluster in self._clusters:
            mine = (steps for steps in sequences if steps[0].label in cluster.labels)
            cluster.recalled = tuple(islice(mine, MOST_RECALLED * len(cluster.labels)))

    @property
    def held_back(self) -> tuple[Label, ...]:
        """Return the operations that may end the access of the run and have not been sent."""
        return tuple(label for cluster in self._last for label in cluster.alive)

    @property
    def waiting(self) -> int:
        return len(self._replays) + len(self._lost) + sum(bool(cluster.alive) for cluster in self._clusters)

    @property
    def is_saturated(self) -> bool:
        """Return whether all operations with cases are saturated."""
        # A cluster with the longest rest has nothing left to send: an operation without parameters has one case.
        resting = LONGEST_REST_S
        return not (self._replays or self._is_replaying) and all(
            one.rest_s >= resting or all(one.quiet[label] >= SATURATED_CASES for label in one.alive)
            for one in self._clusters
        )

    @property
    def saturated(self) -> tuple[Label, ...]:
        """Return the operations with cases that have shown no new behaviour in their last cases."""
        return tuple(label for one in self._clusters for label in one.alive if one.quiet[label] >= SATURATED_CASES)

    @property
    def is_over(self) -> bool:
        return not self._leased and not self.waiting

    def lease(self, elapsed_s: float, worker: int = 0) -> Task | None:
        """Return the rest of a dead worker's task, else a turn of the next cluster. Clusters without a worker come first.

        No cluster gets a turn while findings of earlier runs are replayed. When the time for replays is over, the
        remaining replays take turns with the clusters.

        A worker keeps the clusters that it has compiled while their cost is below `LOYALTY` times that of the others.
        """
        mine = [one for one in self._leased.values() if one.worker == worker]
        if any(one.cluster is None for one in mine):
            # Requests of a turn could change what the replay finds.
            return None
        # When they were mixed with the others, logouts, token resets and maintenance switches ended the access within a
        # minute on four of four services.
        if elapsed_s >= self._last_from_s:
            # The target may refuse requests that are sent beside them or after them.
            if self._leased or not self._last:
                return None
            # One case each, because the first one may end the access.
            cluster = self._last.popleft()
            task = _exploration_task(cluster, self._seed, 0, LAST_SLICE_S)
            task = replace(task, stop=1, is_last=True, first=replace(task.first, tries_saved=False))
        elif self._replays_come_first(elapsed_s):
            if not self._replays or mine:
                return None
            self._is_turn_of_replay = False
            again = self._replays.popleft()
            self._leased[again.id] = _Lease(None, worker, elapsed_s, again.slice_s)
            return again
        elif self._lost:
            task, cluster = self._lost.popleft()
        else:
            rested = [one for one in self._clusters if one.alive and one.rests_until_s <= elapsed_s]
            free = [one for one in rested if not one.at_work]
            # A second worker on a cluster would compile its operations, too, and memory must not grow with the number
            # of workers. Only clusters that are due compete; `rested` is used if each of them has a worker.
            place = [(_place_in_line(one, worker), one) for one in free or rested]
            left_s = self._last_from_s - elapsed_s - sum(one.slice_s for one in mine)
            if not place or left_s <= 0:
                return None
            _, cluster = min(place, key=lambda pair: pair[0])
            first_s = min(FIRST_SLICE_S, max(SHORTEST_SLICE_S, self._first_s * len(cluster.labels)))
            slice_s = min(cluster.slice_s, self._longest_s) if cluster.turns else first_s
            slice_s = min(slice_s, left_s)
            task = _exploration_task(cluster, self._seed, self._first + cluster.turns, slice_s)
            cluster.turns += 1
            cluster.home = worker
        self._is_turn_of_replay = True
        cluster.at_work += 1
        self._leased[task.id] = _Lease(cluster, worker, elapsed_s, task.slice_s)
        return task

    def come_back(
        self, task: Task, next_index: int, *, finished: bool, spent_s: float, report: LeaseReport = NOTHING_DONE
    ) -> None:
        """Charge the turn. A cluster that finished at once rests, each time twice as long."""
        leased = self._leased.get(task.id)
        cluster = self._given_back(task.id)
        if leased is None or cluster is None:
            return
        if next_index == task.start and not finished:
            # The worker of the turn was replaced before the turn began.
            self._lost.append((task, cluster))
            return
        # Computed before the report is evaluated. The report changes the size of the cluster, but the turn was planned
        # with the old size.
        expected = (task.stop - task.start) * cluster.size / len(cluster.labels)
        cluster.learn(report)
        # A turn that ends at once costs something, because a cluster without cases would otherwise always be the cheapest.
        cluster.charged_s += max(spent_s, SHORTEST_SLICE_S) * cluster.cost
        # Operations that pause within a turn still make at least an eighth of their cases.
        has_few = report.requests < expected / (2 * LONGEST_PAUSE)
        if finished and has_few and spent_s < 1.0:
            # An operation without parameters has one case. Without a pause it would be leased a thousand times a second.
            cluster.rest_s = min(LONGEST_REST_S, 2 * (cluster.rest_s or 0.5))
            cluster.rests_until_s = leased.at_s + spent_s + cluster.rest_s
        else:
            cluster.rest_s = 0.0

    def lose(self, task: Task, spent_s: float = 0.0) -> None:
        """Lease the rest of the task next: repeating the case in flight soon shows whether it kills workers.

        The rest gets the time that remains of its slice; after that, only the cases in flight are made again. Otherwise an
        operation that kills its workers would take the turns of all others. A replay that killed its worker is not repeated.
        """
        cluster = self._given_back(task.id)
        if cluster is None:
            return
        cluster.charged_s += spent_s
        rest_s = task.slice_s - spent_s
        if rest_s > 0:
            self._lost.append((replace(task, slice_s=rest_s), cluster))
        elif task.redo:
            # There are no new cases. Only the cases in flight are made again, so that a deadly case is found and quarantined.
            last = replace(task, stop=task.start, slice_s=LATER_SLICE_S)
            self._lost.append((last, cluster))

    def _replays_come_first(self, elapsed_s: float) -> bool:
        """Whether replays must come before any case of a cluster."""
        # A short nightly run then shows at least which earlier findings are fixed.
        if self._replays_until_s is None:
            self._replays_until_s = elapsed_s + self._replays_for_s
        is_early = elapsed_s < self._replays_until_s and bool(self._replays or self._is_replaying)
        return is_early or bool(self._replays and self._is_turn_of_replay)

    def defer(self, label: Label) -> None:
        """Leave an operation out of all later turns: `fuzz` has no end to which it could be deferred."""
        self._replays = deque(task for task in self._replays if label not in task.labels)
        for cluster in self._clusters:
            # `learn` never lowers a count that has reached `DEAD_TURNS`.
            cluster.dead[label] = DEAD_TURNS
            cluster.refresh()

    def drop(self, task: str) -> None:
        """Never lease a task again; later turns have its operations in other tasks."""
        self._given_back(task)
        self._lost = deque(lost for lost in self._lost if lost[0].id != task)

    @property
    def _is_replaying(self) -> bool:
        return any(one.cluster is None for one in self._leased.values())

    def _given_back(self, task: str) -> _Cluster | None:
        """End a lease. Return its cluster; None for a replay, or without a lease."""
        leased = self._leased.pop(task, None)
        if leased is None or leased.cluster is None:
            return None
        leased.cluster.at_work -= 1
        return leased.cluster


def _place_in_line(cluster: _Cluster, worker: int) -> tuple[bool, float]:
    """Return the key by which clusters are leased, smallest first. A turn under way counts as finished."""
    # The cost of a turn is charged when it ends. Until then another worker would see this cluster as the cheapest.
    charged_s = cluster.charged_s + cluster.at_work * cluster.slice_s * cluster.cost
    if cluster.home not in (None, worker):
        charged_s = LOYALTY * (charged_s + cluster.slice_s * cluster.cost)
    return cluster.turns > 0, charged_s


def _exploration_task(cluster: _Cluster, seed: int, round_: int, slice_s: float) -> Task:
    # Of all operations of the cluster, because leaving one out must not change the cases of the others.
    identity = (str(seed), EXPLORATION.name, str(round_), *cluster.labels)
    # A resumed run begins with a later round, and has sent them before.
    recalled = cluster.recalled if round_ == 0 else ()
    return Task(
        digest(*identity),
        EXPLORATION.name,
        cluster.alive,
        digest_int(*identity),
        0,
        len(cluster.alive) * _cases(cluster.turns) + len(recalled),
        slice_s,
        producers=cluster.producers,
        first=FirstCases(tries_saved=round_ == 0, sends_smallest=round_ == 0, recalled=recalled),
        pauses=tuple((label, pause) for label in cluster.alive if (pause := cluster.pause(label)) > 1),
    )


def _cases(turns: int) -> int:
    """Return the number of cases of each operation in the next turn of a cluster, after this number of turns."""
    longer = USUAL_CASES * (1 + turns // LONGER_EACH)
    return min(FIRST_CASES << min(turns, 9), longer, MOST_CASES)


def replay_tasks(findings: Iterable[Finding], labels: Collection[str], view: RunView, seed: int) -> list[Task]:
    """Return tasks for those findings of earlier runs that these operations can show again and that this run has not replayed.

    The most severe findings come first.
    """
    base_url = "" if view.opened is None else view.opened.base_url
    found = [
        one
        for one in findings
        if one.steps
        and one.interactions
        and one.fingerprint not in view.replayed
        and all(step.label in labels for step in one.steps)
    ]
    # The time for replays may end before all are sent.
    found.sort(key=lambda one: (list(Severity).index(Severity(one.severity)), one.at))
    return [_replay_task(one, seed, base_url) for one in found]


def gone_with_operations(findings: Iterable[Finding], labels: Collection[str], at: float) -> Iterator[FindingReplayed]:
    """Yield a record of each finding of earlier runs whose operation is not described any more."""
    return (FindingReplayed(one.fingerprint, GONE, at) for one in findings if one.steps and one.label not in labels)


def _is_at(finding: Finding, base_url: str) -> bool:
    """Whether the commands of a finding go to this server. A failure that is fixed on one server may still be on another."""
    try:
        # Otherwise a night against a fixed server would close the finding for the server that still has the defect.
        _, url = curl.parse(finding.investigation.reproduction.partition("\n")[0])
        return BaseUrl.from_url(url.partition("?")[0]).site == BaseUrl.from_url(base_url).site
    except ValueError:
        return False


def _replay_task(finding: Finding, seed: int, base_url: str) -> Task:
    statuses = tuple(one.exchange.status for one in finding.interactions)
    # The investigation is repeated for a finding whose shrink ended early: there may be time for a smaller case now.
    is_minimal = finding.investigation.stage == "minimised" and not (
        finding.investigation.wants_more or finding.investigation.stopped
    )
    exchange, (*before, step) = finding.interactions[-1].exchange, finding.steps
    # Only the beginning of a long body is recorded.
    is_cut = exchange.body_size is not None
    # Bindings, generated names and multipart boundaries differ between runs, so the bytes of such requests cannot be compared.
    is_equal_each_time = not (
        before or step.bindings or step.names or is_cut or any(b"boundary=" in value for _, value in exchange.headers)
    )
    sent = (exchange.target, exchange.body) if is_equal_each_time else None
    known = finding.fingerprint, finding.check, finding.steps, statuses, is_minimal, sent
    replay = Replay(*known, shows_surely(finding.investigation) and _is_at(finding, base_url))
    name, labels = digest("replay", finding.fingerprint), (finding.steps[-1].label,)
    return Task(name, EXPLORATION.name, labels, seed, 0, 0, LATER_SLICE_S, replay=replay)


def clusters(cards: Sequence[OperationCard]) -> list[tuple[str, ...]]:
    """Return the operations of each cluster: those of one resource root, at most `LARGEST`, in document order."""
    rooted = [(card.label, tuple(name for name in card.resource if name != "{}")) for card in cards]
    return [tuple(label for label, _ in group) for group in _split(rooted, 0)]


def clusters_with_producers(cards: Sequence[OperationCard]) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return the operations of each cluster -> its producers, whose responses other operations need."""
    makers = {card.label for card in cards if card.is_producer}
    return {labels: tuple(label for label in labels if label in makers) for labels in clusters(cards)}


_Rooted = tuple[str, tuple[str, ...]]


def _split(members: list[_Rooted], depth: int) -> Iterator[list[_Rooted]]:
    """Yield groups by the resource at `depth`. A group that is too large is split by the next resource, then into equal parts."""
    # Sequences never leave their cluster, so operations of one resource belong together. A cluster is bounded because one worker
    # compiles all of it.
    groups = grouped((names[depth] if depth < len(names) else "", (label, names)) for label, names in members)
    small: list[_Rooted] = []
    for group in groups.values():
        if len(group) > LARGEST:
            if any(len(names) > depth + 1 for _, names in group):
                yield from _split(group, depth + 1)
            else:
                # Pieces of equal size: 9 operations become 5 and 4, because a cluster of one has no sequences.
                pieces = -(-len(group) // LARGEST)
                size = -(-len(group) // pieces)
                for start in range(0, len(group), size):
                    yield group[start : start + size]
        elif depth == 0:
            yield group
        elif len(small) + len(group) <= LARGEST:
            # Small siblings below one root share a cluster, because sequences never leave their cluster.
            small += group
        else:
            yield small
            small = group
    if small:
        yield small
