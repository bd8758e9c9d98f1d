"""The worker: one thread around a set of lanes; makes, sends, judges and writes down."""

import time
from collections import deque
from collections.abc import Iterable

from checker.core.digests import digest
from checker.core.errors import CheckerError
from checker.core.operation import Label
from checker.core.response import NetworkFailure, Outcome
from checker.core.send import Send
from checker.corpus.inflight import Stage
from checker.phases.attempt import attempt
from checker.phases.making import Made
from checker.workers.accused import is_accused, leave_drawn, leave_made
from checker.workers.flight import EXTRA_INDEX, SAVED_INDEX, Flight, Running
from checker.workers.investigation import Shot
from checker.workers.ledger import Part
from checker.workers.limits import Limits
from checker.workers.messages import Assign, Drain, Idle, Known, Leaving, Peers, Task
from checker.workers.opening import Workplace
from checker.workers.queues import Receiver, Sender
from checker.workers.settling import Settling

_ROUND_S = 0.05
_IDLE_S = 0.2
_HOUSEKEEPING_S = 0.2
_ORDERS_S = 0.02
"""How long orders may lie in the pipe: looking each round costs a system call."""
_REPORT_S = 1.0


class Worker:
    """One incarnation at work."""

    def __init__(self, place: Workplace, down: Receiver, up: Sender) -> None:
        self._place = place
        self._http = place.http
        self._slots = place.slots
        self._ledger = place.ledger
        self._recorder = place.recorder
        self._down = down
        self._up = up
        self._limits = Limits(place.settings.memory_limit_mib << 20)
        self._tasks: deque[Running] = deque()
        self._flights: dict[int, Flight] = {}
        self._parked: deque[tuple[Flight, Send]] = deque()
        self._followers: deque[tuple[Running, int, Made, tuple[Shot, ...]]] = deque()
        self._settling = Settling(place, up, self._breathe, self._release)
        self._reserved: set[int] = set()
        self._free_slots = list(range(place.slot_count))
        self._leaving: str | None = None
        self._hasten = False
        self._orders_at = 0.0
        self._housekept_at = 0.0
        self._reported_at = 0.0
        self._last: Running | None = None

    def run(self) -> None:
        """Work until drained, until memory grew too far, or until the supervisor is gone."""
        while True:
            self._look_up()
            if self._leaving is not None and (self._hasten or not self._busy()):
                break
            self._fill()
            if self._settling and self._settle():
                continue
            if not self._flights:
                self._finish_tasks()
                continue
            self._ledger.enter(Part.WAIT)
            self._slots.acting(None)
            self._round(self._http.poll(_ROUND_S))
            self._finish_tasks()
        self._last_words()
        self._up.send(Leaving(self._leaving, 0))

    def _last_words(self) -> None:
        """Cases and time since the last report count, too: whoever is hurried leaves tasks behind."""
        self._report(self._tasks)
        if self._last is not None:
            self._recorder.progress(self._last, self._ledger.take())
        self._recorder.close()

    # Orders

    def _busy(self) -> bool:
        return bool(self._flights or self._parked or self._settling)

    def _look_up(self) -> None:
        """See to orders and to the house, if there is nothing else to do or enough time has passed."""
        nothing_to_do = not (self._tasks or self._followers or self._busy())
        now = time.monotonic()
        if not nothing_to_do and now - self._orders_at < _ORDERS_S:
            return
        self._orders_at = now
        if nothing_to_do and self._leaving is None:
            self._ledger.enter(Part.IDLE)
            self._down.wait(_IDLE_S)
        self._read_orders()
        self._keep_house()

    def _read_orders(self) -> None:
        while (message := self._down.get_nowait()) is not None:
            match message:
                case Assign(tasks):
                    for task in tasks:
                        self._accept(task)
                case Known(fingerprints):
                    self._recorder.known.update(fingerprints)
                case Peers(journals):
                    self._recorder.follow(journals)
                case Drain(hasten):
                    self._leave("drained")
                    self._hasten = self._hasten or hasten
                case _:
                    raise AssertionError(f"not an order: {message!r}")
        if self._down.closed:
            self._leave("the supervisor is gone")
            self._hasten = True

    def _breathe(self) -> bool:
        """Between two requests of a long piece of work: live, listen, and say whether to hurry."""
        self._keep_house()
        self._read_orders()
        return self._hasten

    def _accept(self, task: Task) -> None:
        """Queue a task; if it begins, what failed in earlier runs comes first."""
        running = Running.of(task)
        self._tasks.append(running)
        if task.start or task.redo or task.skipped:
            return
        saved = [step for label in task.labels for step in self._place.saved.load(Label(label))]
        for number, step in enumerate(saved):
            name = digest("saved", task.id, str(number))[:12]
            try:
                made = self._place.factory.remake(step, name=name, phase=running.phase)
            except CheckerError:
                # It was made from another description; the operation's own turn says what is wrong with this one.
                self._place.saved.forget(step)
                continue
            running.flying += 1
            self._followers.append((running, SAVED_INDEX + number, made, ()))

    def _leave(self, reason: str) -> None:
        self._leaving = self._leaving or reason
        while self._followers:
            self._followers.popleft()[0].flying -= 1
        for running in self._tasks:
            running.stop_now()

    def _keep_house(self) -> None:
        now = time.monotonic()
        if now - self._housekept_at < _HOUSEKEEPING_S:
            return
        self._housekept_at = now
        self._slots.heartbeat()
        if now - self._reported_at >= _REPORT_S:
            self._reported_at = now
            self._report(self._tasks)
        self._recorder.tick(now)
        if self._limits.exceeded(now) and self._leaving is None:
            self._leave("memory")

    # Making and sending

    def _idle_lanes(self) -> list[int]:
        """Lanes that can be given away."""
        taken, reserved = self._flights, self._reserved
        return [
            lane
            for lane in range(self._place.pacing.lanes)
            if lane not in taken and lane not in reserved
        ]

    def _fill(self) -> None:
        """Start what can be started, then really send it: one `perform` for all.

        Cases are made one after the other, then begun: the same code runs several times in a row.
        """
        lanes = self._idle_lanes()
        if not lanes:
            return
        made: list[Flight] = []
        for lane in lanes:
            if self._parked:
                flight, wanted = self._parked.popleft()
                flight.lane = lane
                self._launch(flight, wanted)
            elif self._settling or (following := self._next(lane)) is None:
                break
            else:
                made.append(following)
        for flight in made:
            self._begin(flight)
        self._http.flush()

    def _next(self, lane: int) -> Flight | None:
        """What should fly next on a lane, if there is anything."""
        if self._followers:
            running, index, made, chain = self._followers.popleft()
            running.flying -= 1
            self._ledger.enter(Part.MAKE)
            self._act(self._free_slots[-1], self._place.making_stage, running, index)
            return self._boarded(lane, running, index, made, chain)
        for running in self._tasks:
            if self._leaving is None and running.wants_more(time.monotonic()):
                return self._make(lane, running)
        return None

    def _make(self, lane: int, running: Running) -> Flight | None:
        """The next case of a task; None when the task has ended instead."""
        while (index := running.take_index()) is not None:
            label = running.label_of(index)
            if label in running.dead_labels:
                continue
            self._ledger.enter(Part.MAKE)
            slot = self._free_slots[-1]
            # Forgets the recipe of the case before, whatever stage follows.
            self._act(slot, Stage.MAKE, running, index)
            self._slots.done(running.task.id, running.next_index)
            if self._place.making_stage is not Stage.MAKE:
                if is_accused(running, index):
                    leave_drawn(self._place, slot, running, index)
                self._act(slot, self._place.making_stage, running, index)
            try:
                made = self._place.factory.make(label, running.task.seed, index, running.phase)
            except Exception as error:  # noqa: BLE001 - the wall: it costs this operation only
                self._slots.leave(slot)
                self._give_up(running, label, error)
                continue
            if not made.step.choices:
                running.exhausted(label)
            return self._boarded(lane, running, index, made, ())
        return None

    def _boarded(
        self, lane: int, running: Running, index: int, made: Made, chain: tuple[Shot, ...]
    ) -> Flight:
        """A case in the slot that it was made in."""
        slot = self._free_slots.pop()
        work = attempt(self._place.tools, made.case)
        flight = Flight(lane, slot, running, index, made, work, chain)
        flight.closed = running.task.phase == "fuzzing"
        running.flying += 1
        return flight

    def _begin(self, flight: Flight) -> None:
        """Let it say what is to be sent; one that sends nothing is over."""
        if self._place.calling_stage is self._place.making_stage:
            self._slots.acting(flight.slot)
        else:
            self._act(flight.slot, self._place.calling_stage, flight.running, flight.index)
        self._slots.recipe(flight.slot, self._recorder.recipe(flight.made.step))
        if flight.running.task.redo or flight.index >= EXTRA_INDEX:
            leave_made(self._place, flight)
        try:
            wanted = next(flight.work)
        except StopIteration:
            self._release(flight)
        except Exception as error:  # noqa: BLE001 - the wall: it costs this operation only
            self._release(flight)
            self._give_up(flight.running, flight.made.step.label, error)
        else:
            self._launch(flight, wanted)

    def _launch(self, flight: Flight, wanted: Send) -> None:
        self._flights[flight.lane] = flight
        self._slots.advance(flight.slot, Stage.SEND)
        self._http.start(
            flight.lane,
            wanted.request,
            fresh=wanted.fresh,
            patience_s=flight.running.task.patience_s,
        )
        flight.requests += 1

    def _act(self, slot: int, stage: Stage, running: Running, index: int) -> None:
        """Say whose code runs from here on: if it kills or hangs us, this case is to blame."""
        self._slots.enter(slot, stage, running.task.id, index)
        self._slots.acting(slot)

    def _release(self, flight: Flight) -> None:
        self._slots.leave(flight.slot)
        self._free_slots.append(flight.slot)
        flight.running.flying -= 1

    def _give_up(self, running: Running, label: Label, error: BaseException) -> None:
        """An operation that cannot be tested further costs only itself."""
        running.dead_labels.add(label)
        self._recorder.gave_up(label, running.task.phase, error)

    # Judging

    def _round(self, finished: Iterable[tuple[int, Outcome]]) -> None:
        """Give the finished lanes new work first, then judge: the target works while we do.

        With one lane a case is judged and recorded before the next is sent: a kill repeats one case, not two.
        """
        answered = [(self._flights.pop(lane), outcome) for lane, outcome in finished]
        if self._place.pacing.lanes > 1:
            self._reserved = {flight.lane for flight, _ in answered if not flight.closed}
            self._fill()
            self._reserved = set()
        for flight, outcome in answered:
            self._land(flight, outcome)

    def _land(self, flight: Flight, outcome: Outcome) -> None:
        self._ledger.enter(Part.JUDGE)
        self._slots.advance(flight.slot, self._place.judging_stage)
        self._slots.acting(flight.slot)
        try:
            wanted = flight.work.send(outcome)
        except StopIteration as end:
            self._conclude(flight, Shot(flight.made, end.value))
            return
        except Exception as error:  # noqa: BLE001 - the wall: it costs this operation only
            self._release(flight)
            self._give_up(flight.running, flight.made.step.label, error)
            return
        self._parked.append((flight, wanted))

    def _conclude(self, flight: Flight, shot: Shot) -> None:
        self._ledger.enter(Part.RECORD)
        self._slots.advance(flight.slot, Stage.RECORD)
        outcome = shot.verdict.outcome
        if outcome is None:
            self._release(flight)
            return
        status = None if isinstance(outcome, NetworkFailure) else outcome.status_code
        self._place.pacing.observe(status, outcome.elapsed)
        flight.running.waited_s += outcome.elapsed
        if not flight.is_saved:
            flight.running.count(flight.made.step.label, status, flight.requests)
        elif not shot.verdict.judgement.failures:
            self._place.saved.forget(flight.made.step)
        suspicions = self._recorder.shot(flight, shot)
        if suspicions:
            self._settling.add(flight, suspicions)
            return
        if self._leaving is None and not flight.closed:
            self._extend(flight, shot)
        self._release(flight)

    def _extend(self, flight: Flight, shot: Shot) -> None:
        running = flight.running
        index = running.extra_index()
        follower = self._place.explorer.follow(
            flight.made.step.label,
            shot.verdict,
            steps=len(flight.chain) + 1,
            recipe=(running.task.seed, index, running.phase),
        )
        if follower is not None:
            running.flying += 1  # until it is begun, so that its task does not end before
            self._followers.append((running, index, follower, (*flight.chain, shot)))

    def _settle(self) -> bool:
        """Settle one suspicion if there is a lane for it."""
        lanes = self._idle_lanes()
        if not lanes:
            return False
        flying = [*self._flights.values(), *(flight for flight, _ in self._parked)]
        return self._settling.settle_next(lanes[0], flying, hasten=self._hasten)

    # The end of tasks

    def _finish_tasks(self) -> None:
        landed = [running for running in self._tasks if not running.flying]
        if not landed:
            return
        now = time.monotonic()
        over = [running for running in landed if running.is_over(now, self._leaving is not None)]
        if not over:
            return
        self._ledger.enter(Part.RECORD)
        for running in over:
            self._tasks.remove(running)
        self._report(over)
        self._recorder.flush()
        self._up.send(
            Idle(
                tuple((r.task.id, r.next_index, r.finished) for r in over),
                sum(r.waited_s for r in over),
            )
        )

    def _report(self, tasks: Iterable[Running]) -> None:
        """Counts since the last report; the ledger goes with the first of them."""
        for running in tasks:
            if running.cases or running.is_over(0.0, leaving=False):
                self._recorder.progress(running, self._ledger.take())
                running.counted()
                self._last = running
