"""A run from beginning to end: its lock, its workers, and the loop that waits for messages and handles them.

Decisions are pure functions in other modules.
"""

import math
import random
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import assert_never

from msgspec import Struct, field
from msgspec.structs import replace

from checker.config.settings import RunSettings
from checker.core.errors import StorageError
from checker.core.system import Clock, Interrupts, likely_limit, limit_reached
from checker.corpus import discoveries
from checker.corpus.fold import RunView
from checker.corpus.inflight import Slot, Stage
from checker.corpus.layout import RunLayout
from checker.corpus.records import CorpusEntry, Finding, Note, OperationError, WorkerGone
from checker.health import RUN_CHECKS
from checker.supervisor import deaths, endings
from checker.supervisor.credentials import CredentialExchange
from checker.supervisor.endings import CANNOT, RunFault, exit_code, nothing_tested
from checker.supervisor.fuzz_plan import FuzzPlan, clusters_with_producers, gone_with_operations, replay_tasks
from checker.supervisor.handle import Departure, Launcher, LiveWorker, WorkerPool
from checker.supervisor.launchers import InlineLauncher, ProcessLauncher
from checker.supervisor.lifecycle import Listener, RunLifecycle
from checker.supervisor.lock import Ownership
from checker.supervisor.memory import MemoryBudget, memory_of_tree
from checker.supervisor.outages import Outages
from checker.supervisor.plans import Plan, TimeWindow, left, sendable, without
from checker.supervisor.run_plan import MOST_SLOW, RunPlan
from checker.supervisor.shrink_plan import ShrinkPlan, next_plan
from checker.supervisor.state import MOST_STALLS, Deadlines, WorkerSnapshot, WorkerState, is_stuck, overdue
from checker.transport.policies import forget_rates
from checker.workers import messages


class SettledNews(Struct):
    """The settled findings of a run so far."""

    known: dict[str, Finding] = field(default_factory=dict)  # Keyed by fingerprint.
    _read: int = 0  # Number of changes of findings that were read.

    def read(self, view: RunView) -> tuple[Finding, ...]:
        """Return the findings that were settled since the last call, without withdrawn ones."""
        changed = view.sights.changes[self._read :]
        self._read += len(changed)
        news = {}
        for name in sorted(set(changed) - self.known.keys()):
            finding = view.sights.version(name)
            if finding.investigation.stage == "minimised" and not finding.investigation.withdrawn:
                news[name] = finding.brief
        self.known |= news
        return tuple(news.values())


def make_plan(
    opened: messages.Opened,
    settings: RunSettings,
    seed: int,
    view: RunView,
    window: TimeWindow | None,
    earlier: Iterable[Finding] = (),
    entries: Iterable[CorpusEntry] = (),
    *,
    first_round: int = 0,
) -> Plan:
    """Return the plan of a run; `window` is None without a time limit.

    `earlier`: open findings of earlier runs, for `fuzz`. `entries`: sequences of earlier runs. `first_round` as in `FuzzPlan`.
    """
    if settings.kind == "fuzz":
        weighed = [card for card in opened.operations if card.weight > 0] or opened.operations
        # If only operations that may end the access are selected, they are tested like others.
        cards = [card for card in weighed if not card.is_ending] or weighed
        exploration = FuzzPlan(
            clusters_with_producers(cards),
            seed=seed,
            workers=settings.processes.workers,
            time_s=None if window is None else window.length_s,
            first_round=first_round,
            last=[card.label for card in weighed if card not in cards],
            ends_s=window.ends_s if window is not None and opened.renews else math.inf,
            replays=replay_tasks(earlier, {card.label for card in cards}, view, seed),
        )
        exploration.weigh({card.label: card.weight or 1.0 for card in cards})
        exploration.recall(tuple(sendable(entries, cards)))
        return exploration
    usual = settings.common.continue_on_failure
    plan = RunPlan(
        [
            card if card.continue_on_failure is not None else replace(card, continue_on_failure=usual)
            for card in opened.operations
        ],
        seed=seed,
        max_examples=settings.common.cases.max_examples,
        phases=settings.phases,
        orders={**dict.fromkeys(settings.sources.unordered_phases), **dict(opened.orders)},
        entries=entries,
    )
    # Functions instead of copies: they are called when a stage begins, and the view then contains more.
    plan.is_hopeless = view.is_never_allowed
    known = settings.verdict.baseline.fingerprints()
    plan.grave_failures = lambda phase: {
        label: names | known.get(label, frozenset()) for label, names in {**known, **view.grave_failures(phase)}.items()
    }
    # Failures are shrunk before deferred operations may end the service. A time limit leaves no time for this order.
    plan.holds_last = window is None
    if window is not None:
        plan.limit(window, settings.processes.workers)
    return plan


class RunEnvironment(Struct, frozen=True):
    """The environment of a run. Tests replace its parts."""

    launcher: Launcher | None = None  # Starts the workers; None: the launcher of the settings.
    deadlines: Deadlines | None = None  # None: the deadlines of the settings.
    interrupts: Interrupts = field(default_factory=Interrupts)
    """Counts interrupts. The first ends the run, the second kills it."""
    clock: Clock = time.monotonic  # Clock for the seconds of the run; deadlines of workers use `time.monotonic`.
    age_s: float = 0.0  # Seconds since the beginning of the process, which count as time of the run.
    memory: Callable[[], Mapping[int, int]] = memory_of_tree
    """Returns process id -> bytes of all processes of the run on this machine."""


# Longest wait for messages. An interrupt is only counted, and deadlines have to be checked even if workers are silent.
_TICK_S = 0.2
# Deadlines are seconds long, so the slots of all workers need not be read every time.
_LOOK_S = 1.0
MOST_PEERS = 256
"""Most journals that a new worker of `fuzz` reads, the latest ones. Without a limit, the start of a worker took longer with each
worker that had died, and journals of hours ago name resources that have changed since.
"""


class Supervisor:
    """Leases tasks, detects deaths, reads journals, and ends the run."""

    def __init__(
        self, settings: RunSettings, lifecycle: RunLifecycle, pool: WorkerPool, around: RunEnvironment
    ) -> None:
        self._around = around
        self._lifecycle = lifecycle
        self._pool = pool
        self.ending = endings.Ending(settings)
        self._go_by(settings)
        # Used only for jitter. Test cases never depend on it.
        self._restarts = deaths.Restarts(self._settings.processes.workers, random.SystemRandom().random)
        self._plan: Plan | None = None
        self._has_shrunk = False
        self._opened: messages.Opened | None = None
        # In `run`, values of all earlier layers decide which requests are sent.
        self._journals = deque[str](maxlen=MOST_PEERS if settings.kind == "fuzz" else None)
        self._has_new_journal = False
        """Whether a worker opened a journal since the last search. Each turn reads journals, and listing a folder takes longer
        than reading them.
        """
        self._settled = SettledNews()
        self._unreported = deaths.Unreported()
        self._stalls = 0
        self._starts: list[float] = [0.0]
        """When missing workers may be started."""
        self._looks_at = 0.0
        self._credentials = CredentialExchange()
        self._outages = Outages()
        most_bytes = settings.processes.max_memory_bytes
        self._memory = None if most_bytes is None else MemoryBudget(most_bytes)

    def _go_by(self, settings: RunSettings) -> None:
        """Apply the settings: first those of the run, later those of its project, whose name only the description contains."""
        self._settings = settings.with_changes(processes={"workers": 1}) if settings.processes.inline else settings
        self._deadlines = self._around.deadlines or Deadlines.of_run(settings)
        self._has_rate = any(one.http.rate is not None for one in settings.operations.everywhere())
        if self._has_rate:
            # A rate is divided among the workers, and workers that are started later would have no part of it.
            self._settings = self._settings.with_changes(processes={"workers": self._most})
        self.ending.go_by(settings)

    def run(self) -> None:
        """Work until every worker has exited. Raises `StorageError`."""
        self._lifecycle.start()
        # Messages come before deaths, so that the last messages of a lost worker are known. Reading comes before
        # leasing, so that a worker that continues a task knows its settled findings.
        while self._pool.workers or not self.ending.began:
            now = time.monotonic()
            self._start_missing(now)
            received, gone = self._pool.listen(max(0.0, min([_TICK_S, *(at - now for at in self._starts)])))
            for worker, message in received:
                self._hear(worker, message)
            for worker in gone:
                self._lose(worker, "")
            self._look_after_workers()
            self._read()
            self._assign()
            self._end_in_time()
        self._lifecycle.read()
        if self.ending.outcome == endings.TIME_LIMIT and self._plan is not None:
            self._lifecycle.write_all(endings.untried(self._lifecycle.view, self._plan.tasks))
        if isinstance(self._plan, FuzzPlan):
            text = "not sent: its name says that it may revoke the credentials of the run"
            self._lifecycle.write_all(Note("held_back", label, "", text) for label in self._plan.held_back)
            self._lifecycle.write_all(Note("saturated", label, "", "") for label in self._plan.saturated)
        if self._opened is not None:
            cards, gone_at = self._opened.operations, self._outages.gone_at
            lost = tuple(endings.lost_service(self._lifecycle.view, cards, gone_at))
            credentials = () if self._settings.auth.allow_refused else self._opened.credentials
            # If access was lost during the run, access was not refused from the start.
            self._lifecycle.write_all(lost or endings.shut_out(self._lifecycle.view, credentials))
            self._conclude(self._opened)
        self._lifecycle.finish(self.ending.outcome)

    # Workers come

    @property
    def _most(self) -> int:
        """Return the number of workers that the user wants, limited by the room for them."""
        return min(self._settings.processes.workers, self._pool.launcher.capacity())

    @property
    def _missing(self) -> int:
        """Return the number of workers that should be started; below 0 if there are too many."""
        wanted = self._most
        if self._opened is not None and self._settings.kind == "run":
            wanted = min(wanted, len(self._opened.operations))
        return wanted - len(self._pool.workers) - len(self._starts)

    def _start_missing(self, now: float) -> None:
        if self.ending.began:
            self._starts.clear()
        due = [at for at in self._starts if at <= now]
        for at in due:
            self._starts.remove(at)
            incarnation = self._lifecycle.next_incarnation()
            # The ledger of a first worker starts with the run, that of a replacement with its own start.
            since = at or now - self._lifecycle.elapsed_s
            limits = self.ending.fetch_limits(now, self._lifecycle.elapsed_s)
            settings = replace(self._settings.with_changes(processes={"started_at": since}), documents=limits)
            started = self._pool.start(incarnation, settings, now)
            if isinstance(started, Departure):
                # If the launcher cannot start one worker, it will hardly start the next.
                ruling = self._restarts.died(None, progressed=False, weight=deaths.OPENING)
                self._replace(ruling, started)

    def _hear(self, worker: LiveWorker, message: messages.Up) -> None:
        match message:
            case messages.Opened():
                self._open(worker, message)
            case messages.TasksEnded():
                assert self._plan is not None
                for deferred in message.deferred:
                    worker.state.wait(deferred)
                reports = {name: report for (name, *_), report in zip(message.tasks, message.reports, strict=True)}
                back = worker.state.give_back(message.tasks, time.monotonic())
                for task, reached, finished, spent_s in back:
                    self._plan.come_back(task, reached, finished=finished, spent_s=spent_s, report=reports[task.id])
                    self._unreported.come_back(task)
                    # A replay of a finding has no case index.
                    if reached > task.start or (finished and task.replay is not None):
                        self._restarts.progress()
            case messages.FindingsWritten():
                pass  # This is only a hint to read journals, and every turn reads them.
            case messages.CredentialMessage():
                self._hear_of_credentials(worker.state.incarnation, message)
            case messages.OutageReport():
                # Defer the operation that caused an outage. If the target does not come back, the run ends.
                self._pool.tell_each(self._outages.hear(worker.state.incarnation, message, self._pool.ready))
                if message.event is messages.OutageEvent.EXAMINED:
                    if message.culprit is not None and self._plan is not None:
                        self._plan.defer(message.culprit)
                    if not message.serves and message.trouble is messages.Trouble.GONE:
                        self.ending.begin(endings.UNAVAILABLE)
            case messages.Leaving(kind):
                worker.state.last_word = message
                if kind.ends_run:
                    said = message
                    fault = endings.RunFault(said.sentence, kind, said.details, said.loading, said.url)
                    self.ending.fail(fault)
            case _:
                assert_never(message)

    def _hear_of_credentials(self, incarnation: int, message: messages.CredentialMessage) -> None:
        if message.action is messages.CredentialAction.FETCHED:
            self._lifecycle.secrets.add_credentials(message.credentials)
        following = self._credentials.hear(incarnation, message, self._pool.workers)
        self._pool.tell_each(following)

    def _open(self, worker: LiveWorker, opened: messages.Opened) -> None:
        worker.state.opened = True
        self._pool.tell_each(self._credentials.join(worker.state.incarnation))
        self._pool.tell_each(self._outages.join(worker.state.incarnation))
        if self._opened is None:
            self._begin(opened)
        self._journals.append(opened.journal)
        self._has_new_journal = True
        worker.state.journal = opened.journal
        living = {one.state.journal for one in self._pool.workers.values()}
        ended = tuple(one for one in self._journals if one not in living)
        signals = tuple(self._lifecycle.signals)
        worker.handle.tell(messages.PeerJournals(tuple(self._journals), ended, signals))
        self._pool.tell_all(messages.PeerJournals((opened.journal,)))
        if self._settled.known:
            worker.handle.tell(messages.SettledFindings(tuple(self._settled.known.values())))

    def _begin(self, opened: messages.Opened) -> None:
        """Begin the run after the first worker has opened the description. Later workers read it from disk."""
        self._opened = opened
        self._lifecycle.begin(opened)
        self._lifecycle.read()
        if self._lifecycle.view.opened is not None and self._lifecycle.view.opened.is_whole:
            labels = {card.label for card in opened.operations}
            self._lifecycle.write_all(gone_with_operations(self._lifecycle.earlier, labels, time.time()))
        if self._settings.kind == "fuzz":
            # Only `fuzz` learns from earlier workers of the run: two equal runs of `run` must send equal requests.
            self._journals += self._lifecycle.earlier_journals
        if self._lifecycle.view.opened is not None:
            self._go_by(self._settings.for_project(self._lifecycle.view.opened.title))
        self.ending.know(opened.operations)
        if opened.works_alone:
            self._settings = self._settings.with_changes(processes={"workers": 1})
        seed, view = self._lifecycle.seed, self._lifecycle.view
        window = self.ending.window(self._lifecycle.elapsed_s)
        self._plan = make_plan(
            opened,
            self._settings.with_changes(processes={"workers": self._most}),
            seed,
            view,
            window,
            self._lifecycle.earlier,
            self._lifecycle.entries,
            first_round=self._lifecycle.number << 32,
        )
        # A corpus may have tens of MiB of sequences, and the plan has taken those that it needs.
        self._lifecycle.entries = ()
        if not opened.operations:
            self.ending.complete(self._lifecycle.view)
            return
        if opened.unreachable:
            self._lifecycle.write_all(deaths.unreachable_errors(opened, self._settings.phases[0]))
            self.ending.begin(endings.UNAVAILABLE)
            return
        self._settings = self._settings.with_changes(
            document=opened.document, auth={"needs": opened.auth_needs}, selection={"changed": opened.changed}
        )
        self._starts += [0.0] * self._missing

    # Work goes out and comes back

    def _assign(self) -> None:
        if self._plan is None or self.ending.began or self._outages.is_open:
            return
        now, elapsed_s = time.monotonic(), self._lifecycle.elapsed_s
        ready = [self._pool.workers[one] for one in self._pool.ready]
        # While there are enough tasks for all workers, they are leased ahead, to the idlest workers first.
        fewest = max(0, min((one.state.busy for one in ready), default=self._plan.most_leases))
        for ahead in range(fewest, self._plan.most_leases):
            wanting = [one for one in ready if one.state.wants(ahead)]
            for worker in wanting:
                state = worker.state
                if self._plan.waiting <= ahead * len(ready):
                    continue
                task = self._plan.lease(elapsed_s, state.incarnation)
                self._hand_over(worker, task, now)
        for _ in range(MOST_SLOW):
            # One per worker in turn, so that slow tasks are spread evenly.
            for worker in ready:
                task = self._plan.lease_slow(elapsed_s, worker.state.slow)
                self._hand_over(worker, task, now)
        if self._plan.is_over and not self._shrinks_again():
            self.ending.complete(self._lifecycle.view)
        elif self._settings.stops_when_saturated and isinstance(self._plan, FuzzPlan) and self._plan.is_saturated:
            self.ending.begin(endings.SATURATED)

    def _hand_over(self, worker: LiveWorker, task: messages.Task | None, now: float) -> None:
        if task is None:
            return
        self._unreported.lease(task, self._lifecycle.view)
        worker.state.take(task, now)
        worker.handle.tell(messages.Assign((task,)))

    def _shrinks_again(self) -> bool:
        """Whether more work follows: further shrinks, or deferred operations that may end the service."""
        plan, view = self._plan, self._lifecycle.view
        if plan is None or self._settings.kind != "run" or self._has_shrunk:
            return False
        # Shrinking a finding of such an operation would end the session again.
        kept = [one for one in view.settled.values() if one.label not in self._outages.held_back]
        self._plan = next_plan(plan, kept, cases=view.counts.cases, share=self._settings.sources.shrink_share)
        self._has_shrunk = not isinstance(self._plan, ShrinkPlan)
        return not self._has_shrunk or self._plan.release_deferred()

    def _read(self) -> None:
        """Read the journals, and send newly settled findings to all workers."""
        self._lifecycle.read(known_only=not self._has_new_journal)
        self._has_new_journal = False
        news = self._settled.read(self._lifecycle.view)
        if news:
            self._pool.tell_all(messages.SettledFindings(news))

    # Workers go

    def _look_after_workers(self) -> None:
        now = time.monotonic()
        if now < self._looks_at:
            return
        self._looks_at = now + _LOOK_S
        if self._plan is not None and not self.ending.began:
            # Only a cluster may have room for more workers than before.
            self._starts += [now] * self._missing
        for worker in list(self._pool.workers.values()):
            snapshot = worker.handle.snapshot()
            self._note_stall(worker.state, snapshot, now)
            reason = overdue(worker.state, snapshot, self._deadlines, now)
            if reason is not None:
                if not worker.state.opened:
                    self.ending.fail(endings.RunFault(f"the worker {reason}", messages.LeavingKind.CANNOT_OPEN))
                self._lose(worker, reason)
        self._lifecycle.trim([one.state.incarnation for one in self._pool.workers.values()])
        self._keep_memory()

    def _keep_memory(self) -> None:
        """If the run takes too much memory, replace the worker that grew most; end the run if that would not help."""
        if self._memory is None or self._plan is None or self.ending.began:
            return
        sizes = self._around.memory()
        workers = {one: self._pool.workers[one] for one in self._pool.ready}
        known = {one: sizes[pid] for one, worker in workers.items() if (pid := worker.handle.pid or 0) in sizes}
        replaced = self._memory.look(sum(sizes.values()), known, is_opening=len(workers) < len(self._pool.workers))
        if replaced is not None:
            workers[replaced].handle.tell(messages.Drain(is_replaced=True))
        elif sentence := self._memory.fault:
            self.ending.fail(endings.RunFault(sentence, keeps_verdict=True))

    def _note_stall(self, state: WorkerState, snapshot: WorkerSnapshot, now: float, *, is_gone: bool = False) -> None:
        began = now - self._lifecycle.elapsed_s
        note = state.stall(snapshot, now, began, is_gone=is_gone, has_rate=self._has_rate)
        if note is not None and self._stalls < MOST_STALLS:
            # The view holds the notes of this turn only after the next read.
            self._stalls += 1
            self._lifecycle.write(note)

    def _lose(self, worker: LiveWorker, reason: str) -> None:
        """Remove a dead or hanging worker: give its tasks back to the plan, and count the death against the case whose code ran."""
        # The order matters: the worker must be dead when its slots are read for the last time, and its journal must be
        # read before it is compared with the slots.
        if reason:
            worker.handle.kill()
        ended = self._pool.remove(worker)
        state, snapshot = worker.state, worker.handle.snapshot()
        self._note_stall(state, snapshot, time.monotonic(), is_gone=True)
        worker.handle.forget()
        self._pool.tell_each(self._credentials.lose(state.incarnation))
        self._pool.tell_each(self._outages.lose(state.incarnation))
        self._lifecycle.read_last(state.incarnation)
        if state.journal:
            self._pool.tell_all(messages.PeerJournals((), (state.journal,)))
        word = state.last_word
        if reason_given := reason or (word.reason if word is not None else ""):
            ended = Departure(reason_given)
        self._lifecycle.write(WorkerGone(state.incarnation, ended.reason))
        rests = {name: snapshot.rest_of(task) for name, task in state.leases.items()}
        view = self._lifecycle.view
        leases = state.leases.values()
        unreported = self._unreported.of_dead(state.incarnation, leases, snapshot, view)
        self._lifecycle.write_all(unreported)
        # Slots decide and not the journal, which may lack the last second.
        progressed = any(left(rests[one]) < left(task) for one, task in state.leases.items())
        # With more requests than cases in flight, a case has finished. Further steps of a sequence have no index.
        if snapshot.sent > sum(slot.stage is not Stage.IDLE for slot in snapshot.slots):
            self._restarts.progress()
        # If a worker announced its end, the case in its slot did not kill it.
        acting = None if word is not None else snapshot.acting
        if not self.ending.began:
            is_limited = word is not None and word.kind is messages.LeavingKind.LIMIT
            # A kill from outside will hardly hit the next worker again.
            is_met_again = is_limited or (self._opened is None and not ended.is_from_outside)
            weight = deaths.HANG if reason else deaths.OPENING if is_met_again else 1
            if any(task.replay is not None for task in leases):
                # The finding is not replayed again in this run.
                weight = 0
            self._rule(acting, rests, ended, progressed=progressed, weight=weight)
        elif acting is not None and acting.task in rests and is_stuck(snapshot):
            # The run ends before a second try, so the case is recorded after the first.
            self._lifecycle.write(deaths.quarantined_case(rests[acting.task], acting, 1, ended.reason))
        spent_s = time.monotonic() - state.leased_at
        # Last, because a quarantine above removes its case, or the whole task, from `rests`.
        for rest in map(snapshot.without_end, rests.values()):
            assert self._plan is not None
            if left(rest):
                self._plan.lose(rest, spent_s)
                # The leases after the first one had not begun.
                spent_s = 0.0
            else:
                self._plan.come_back(rest, rest.stop, finished=True, spent_s=0.0)

    def _rule(
        self, acting: Slot | None, rests: dict[str, messages.Task], ended: Departure, *, progressed: bool, weight: int
    ) -> None:
        """Count a death against a case, quarantine the case or its task if due, and replace the worker."""
        # A task that was returned before the death is not in `rests`; then no case is blamed.
        task = rests.get(acting.task) if acting is not None else None
        case = None
        if task is not None and acting is not None:
            case = (task.id, None if deaths.is_extra(acting) else acting.index)
        ruling = self._restarts.died(
            case,
            progressed=progressed,
            weight=weight,
            guilt=deaths.DOUBTFUL if ended.is_from_outside else deaths.CERTAIN,
        )
        if task is not None and acting is not None and deaths.is_quarantined(acting, ruling, ended):
            strikes = max(1, ruling.strikes)
            self._lifecycle.write(deaths.left_out(task, acting, strikes, ended))
            rests[task.id] = without(task, acting.index)
        if task is not None and ruling.quarantines_task:
            assert self._plan is not None
            self._lifecycle.write(deaths.quarantined_task(task, ended.reason))
            self._plan.drop(task.id)
            del rests[task.id]
        self._replace(ruling, ended)

    def _replace(self, ruling: deaths.RestartDecision, ended: Departure) -> None:
        if ruling.ends_run:
            # A worker that dies while it imports modules cannot name the limit itself.
            limit = "" if ended.is_from_outside else likely_limit()
            if limit and limit not in ended.reason:
                ended = replace(ended, reason=f"{ended.reason}: {limit}")
            self.ending.fail(endings.RunFault(deaths.given_up(ended), keeps_verdict=True))
        if self._missing > 0:
            self._starts.append(time.monotonic() + ruling.pause_s)

    # The end

    def _end_in_time(self) -> None:
        """Send the order of the end that is due: drain, hasten, kill."""
        known, now = self._lifecycle, time.monotonic()
        order = self.ending.next_order(known.view, now, known.elapsed_s, self._around.interrupts.count)
        if order is not None:
            self._pool.tell_all(order)
        workers = list(self._pool.workers.values())
        # All are killed before any is waited for.
        for worker in workers if self.ending.kills else ():
            worker.handle.kill()
        for worker in workers:
            if self.ending.kills:
                self._lose(worker, "killed: it did not exit in time")
            elif not worker.state.opened and self.ending.drops_openings:
                self._lose(worker, "not needed any more")
        if workers and not self._pool.workers and self._opened is None and self.ending.is_late:
            self.ending.fail_to_open()

    def _conclude(self, opened: messages.Opened) -> None:
        """Start a worker that calls `after_run` of checks and removes created resources; record an error if it fails.

        After an interrupt or an error of the run, the worker only removes resources.
        """
        only_cleans = self.ending.outcome in (endings.INTERRUPTED, endings.FAILED) or not opened.concludes
        if only_cleans and not opened.cleans:
            return
        lifecycle = self._lifecycle
        incarnation = lifecycle.next_incarnation()
        worker = self._pool.start(incarnation, self._settings, time.monotonic())
        is_done = False
        if isinstance(worker, Departure):
            reason = worker.reason
        else:
            reason = self._wait_for_conclusion(
                worker, messages.Drain(concludes=True, first=lifecycle.first, only_cleans=only_cleans)
            )
            lifecycle.read_last(incarnation)
            word = worker.state.last_word
            is_done = word is not None and word.kind is messages.LeavingKind.CONCLUDED
            lifecycle.write(WorkerGone(incarnation, reason))
        if not is_done and only_cleans:
            text = f"resources of the run were not removed; the next run tries again: the worker {reason}"
            lifecycle.write(Note("left_behind", "", "", text))
        elif not is_done:
            text = f"`after_run` of the checks did not finish: the worker {reason}"
            lifecycle.write(OperationError(RUN_CHECKS, "", "Check Error", text))
        lifecycle.read()

    def _wait_for_conclusion(self, worker: LiveWorker, wanted: messages.Drain) -> str:
        """Return how a worker that only concludes ended."""
        state, count = worker.state, self._around.interrupts.count
        while True:
            received, gone = self._pool.listen(_TICK_S)
            for _, message in received:
                if isinstance(message, messages.Opened):
                    state.opened = True
                    worker.handle.tell(wanted)
                elif isinstance(message, messages.CredentialMessage):
                    # The worker may have to log in before it removes resources.
                    self._hear_of_credentials(state.incarnation, message)
                elif isinstance(message, messages.Leaving):
                    state.last_word = message
            late = overdue(state, worker.handle.snapshot(), self._deadlines, time.monotonic())
            if self._around.interrupts.count > count:
                late = late or "was interrupted"
            if gone or late:
                if late:
                    worker.handle.kill()
                ended = self._pool.remove(worker)
                worker.handle.forget()
                return late or (ended if state.last_word is None else state.last_word).reason


class RunOutcome(Struct, frozen=True):
    """The outcome of a run."""

    exit_code: int
    """0: nothing failed; 1: something failed; 2: the run was impossible or tested nothing; 130: interrupted."""
    view: RunView
    outcome: str  # As in `RunFinished`.
    error: RunFault | None = None  # Set for exit code 2, and if the run was given up after it found failures.


def keep_discoveries(settings: RunSettings, view: RunView) -> None:
    """Save the discoveries about the target for the next run. Operations that this run did not test keep their earlier discoveries."""
    if settings.corpus.cache is None:
        return
    directory = Path(settings.corpus.cache)
    known = discoveries.load(directory)
    tested = view.statuses.keys()
    untried = tuple(one for one in known.demands if one.label not in tested)
    shut = {one for one in known.never_allowed if one not in tested}
    shut |= {label for label in tested if view.is_never_allowed(label)}
    needs = {label: scheme for label, scheme in known.auth_needs if label not in tested}
    needs |= view.undeclared_needs()
    kept = discoveries.Discoveries(untried, tuple(shut), tuple(needs.items()))
    heard = view.demands.values() if settings.sources.learns else ()
    if not settings.sources.learns:
        kept = replace(kept, demands=known.demands)
    if not kept.is_empty or heard or not known.is_empty:
        discoveries.save(directory, heard, kept)


def execute(settings: RunSettings, listener: Listener, environment: RunEnvironment | None = None) -> RunOutcome:
    """Run with these settings. The listener is called once with each record, after it is on disk.

    Raises `UsageError` when another supervisor holds the corpus, `StorageError` when it cannot be created.
    """
    around = environment or RunEnvironment()
    layout = RunLayout(Path(settings.corpus.folder))
    launcher = around.launcher or (InlineLauncher() if settings.processes.inline else ProcessLauncher())
    with Ownership(layout) as ownership:
        forget_rates(layout.rates)
        lifecycle = RunLifecycle(layout, settings, listener, around.clock, around.age_s)
        pool = WorkerPool(launcher, ownership)
        supervisor = Supervisor(settings, lifecycle, pool, around)
        try:
            supervisor.run()
        except Exception as stopped:
            sentence = str(stopped) if isinstance(stopped, StorageError) else limit_reached(stopped)
            if not sentence:
                raise
            supervisor.ending.fail(RunFault(sentence))
            pool.close()
            lifecycle.read_rest()
        finally:
            pool.close()
            lifecycle.close()
        view, ending = lifecycle.view, supervisor.ending
        keep_discoveries(settings, view)
        code = exit_code(view, ending)
        error = ending.error
        if error is None and code == CANNOT:
            error = RunFault(nothing_tested(view, ending))
        return RunOutcome(code, view, ending.outcome, error)
