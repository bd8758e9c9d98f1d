"""Workers that do the work of a worker without its tools: they count, and die or hang where they are told to."""

import os
import signal
import time
from pathlib import Path

from checker.config.settings import RunSettings
from checker.core.digests import case_id
from checker.core.meta import Drawn, Step
from checker.core.operation import Label
from checker.core.resource_names import resource_of
from checker.corpus.codec import pack
from checker.corpus.inflight import InflightWriter, Stage
from checker.corpus.journal import JournalReader, JournalWriter
from checker.corpus.layout import RunLayout
from checker.corpus.records import (
    CorpusEntry,
    Finding,
    Investigation,
    Note,
    SchemaOpened,
    SignalsSeen,
    TaskProgress,
    ValueSeen,
)
from checker.workers.messages import (
    EXTRA_INDEX,
    Assign,
    Drain,
    LeaseReport,
    Leaving,
    LeavingKind,
    Opened,
    OperationCard,
    PeerJournals,
    Task,
    TasksEnded,
)
from checker.workers.queues import Receiver, Sender

LABELS = tuple(map(Label, ("GET /users", "POST /users", "GET /orders/{id}", "DELETE /orders/{id}")))
LEDGER = (0.0, 0.0, 0.0, 0.0, 0.0)


class Toy:
    """`header` values of the settings steer it: `kill=LABEL:INDEX`, `starve=...`, `hang=...`, `find=...`, `slow=seconds`, ..."""

    def __init__(self, incarnation: int, settings: RunSettings, down: Receiver, up: Sender) -> None:
        self.down, self.up, self.incarnation = down, up, incarnation
        self.orders = dict(settings.common.headers)
        self.settings = settings
        layout = RunLayout(Path(settings.corpus.folder))
        layout.create()
        self.journal = JournalWriter(layout.journal(incarnation, os.getpid()))
        self.slots = InflightWriter(layout.inflight(incarnation), 2)
        self.leaving = self.grown = False
        self.peers = self.signals = 0
        self.ended: set[str] = set()

    def live(self) -> None:
        if "cannot" in self.orders:
            self.up.send(Leaving(LeavingKind.CANNOT_OPEN, str(self.orders["cannot"])))
            return
        self.meet("opening")
        labels = () if "empty" in self.orders else LABELS
        self.journal.append(SchemaOpened("toy", "3.0", "http://toy", "d0", len(labels), len(labels)))
        self.journal.flush()
        cards = tuple(
            OperationCard(label, method, resource_of(path)) for label in labels for method, path in [label.split(" ")]
        )
        self.up.send(Opened(str(self.journal.path), "d0", "http://toy", cards, False))
        while not self.leaving:
            self.slots.heartbeat()
            self.down.wait(0.2)
            self.listen()
        self.slots.close()
        self.journal.close()
        self.up.send(Leaving(LeavingKind.MEMORY if self.grown else LeavingKind.DRAINED))

    def listen(self) -> None:
        while (message := self.down.get_nowait()) is not None:
            match message:
                case Assign(tasks):
                    for task in tasks:
                        self.do(task)
                case Drain(is_replaced):
                    self.leaving, self.grown = True, is_replaced
                case PeerJournals(journals, ended, signals):
                    self.peers += len(journals)
                    self.ended |= set(ended)
                    self.signals += len(signals)
                case _:
                    pass
        self.leaving = self.leaving or self.down.closed

    def do(self, task: Task) -> None:
        if self.incarnation <= int(self.orders.get("generations", "0")):
            self.journal.append(Note("ended", "", "", str(len(self.ended))))
            self.journal.append(Note("peers", "", "", str(self.peers)))
            self.journal.append(Note("signals", "", "", str(self.signals)))
            self.journal.append(SignalsSeen("GET /users", ((self.incarnation, "status"),)))
            self.journal.flush()
            self.leaving = self.grown = True
        if task.replay is not None:
            self.meet("replay")
        self.journal.append(TaskProgress(task.id, task.phase, task.labels, task.start, False, 0, 0, 0, (), LEDGER))
        done, reached, ends = 0, task.start, time.monotonic() + task.slice_s
        todo = [*task.redo, *range(task.start, task.stop)]
        for index in todo:
            if index in task.skipped:
                reached = max(reached, index + 1)
                continue
            if time.monotonic() > ends or self.down.closed or self.leaving:
                break
            self.case(task, index)
            reached = max(reached, index + 1)
            done += 1
            if task.phase == "exploration":
                self.hear_drain()
        label = task.labels[0]
        finished = reached >= task.stop
        self.journal.append(
            TaskProgress(
                task.id, task.phase, task.labels, reached, finished, done, done, 0,
                ((label, 200, done),), LEDGER,
            )
        )  # fmt: skip
        self.journal.flush()
        self.up.send(TasksEnded(((task.id, reached, finished),), (LeaseReport(),)))
        if task.replay is not None:
            self.meet("end of a replay")

    def hear_drain(self) -> None:
        message = self.down.get_nowait()
        self.grown = self.grown or (isinstance(message, Drain) and message.is_replaced)
        self.leaving = self.leaving or isinstance(message, Drain) or self.down.closed

    def case(self, task: Task, index: int) -> None:
        label = Label(task.labels[index % len(task.labels)])
        self.slots.heartbeat()
        self.slots.begin(0, task.id, index, max(index + 1, task.start))
        step = Step(label, Drawn((index,)))
        self.slots.recipe(0, pack(CorpusEntry(label, (step,), (), 0.0)))
        self.slots.enter(0, Stage.HOOK, task.id, index)
        self.meet(f"{label}:{index}")
        if self.incarnation <= int(self.orders.get("sequences", "0")):
            # The further steps of the case, until an operator kills the worker.
            for step_number in range(5):
                self.slots.send()
                self.slots.enter(1, Stage.SEND, task.id, EXTRA_INDEX + step_number)
            os.kill(os.getpid(), signal.SIGKILL)
        # What a real worker would send: told apart by the case alone.
        self.journal.append(ValueSeen(label, str(index), index, case_id(task.seed, index)))
        if self.orders.get("find") == f"{label}:{index}":
            self.journal.commit(self.finding(task, index, label))
        if "together" in self.orders:
            self.wait_for_others(int(self.orders["together"]))
        if "slow" in self.orders:
            time.sleep(float(self.orders["slow"]))
        self.journal.flush()
        self.slots.leave(0)
        self.slots.clear_acting()

    def wait_for_others(self, wanted: int) -> None:
        """Until so many workers made a case, ourselves included: whoever only began may find nothing left to do."""
        self.journal.flush()
        layout = RunLayout(Path(self.settings.corpus.folder))
        while sum(_has_case(path) for _, path in layout.journal_paths()) < wanted:
            time.sleep(0.01)

    def meet(self, what: str) -> None:
        general = "everything" if what == "opening" else "every case"
        everybody = (what, what.split(":")[0] + ":*", general)
        if self.orders.get("kill") in everybody:
            os.kill(os.getpid(), signal.SIGSEGV)
        # Every second worker dies at once, the others later.
        is_mortal = self.orders.get("mortal") == what or ("mortal" in self.orders and what == "opening")
        if is_mortal and (what != "opening" or self.incarnation % 2):
            os.kill(os.getpid(), signal.SIGKILL)
        if self.orders.get("starve") in everybody:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.orders.get("once") == what:
            marker = Path(self.settings.corpus.folder) / "died"
            if not marker.exists():
                marker.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        while self.orders.get("hang") == what:
            time.sleep(0.05)
        if self.orders.get("hold") == what:
            # One native call that neither ends nor lets go of the interpreter.
            sum(range(10**12))
        if self.orders.get("memory") == what:
            marker = Path(self.settings.corpus.folder) / "grown"
            self.grown = self.leaving = not marker.exists()
            marker.touch()

    def finding(self, task: Task, index: int, label: Label) -> Finding:
        return Finding(
            fingerprint=f"{label}-found", label=label, check="not_a_server_error", title="Server error",
            message="", severity="critical", unique_key="", phase=task.phase,
            case=case_id(task.seed, index), task=task.id, index=index,
            steps=(Step(label, Drawn((index,))),), interactions=(), investigation=Investigation("minimised", reproduced=True),
            at=time.time(),
        )  # fmt: skip


def toy_work(incarnation: int, settings: RunSettings, down: Receiver, up: Sender) -> None:
    Toy(incarnation, settings, down, up).live()


def _has_case(journal: Path) -> bool:
    return any(isinstance(record, ValueSeen) for record in JournalReader(journal).read_new())
