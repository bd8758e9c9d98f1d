"""The records of a run: the supervisor writes its own, reads the workers', and folds both into a view."""

import json
import os
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from operator import attrgetter
from typing import Any

from msgspec import to_builtins

from checker import __version__
from checker.config.settings import RunSettings
from checker.core.digests import digest
from checker.core.errors import StorageError
from checker.core.system import Clock
from checker.corpus import inflight
from checker.corpus.files import remove_file
from checker.corpus.fold import RunView, fold
from checker.corpus.journal import JournalReader, Journals, JournalWriter, LastRun, last_run
from checker.corpus.layout import RunLayout
from checker.corpus.records import (
    CorpusEntry,
    Finding,
    Note,
    OpenFindings,
    OperationsSelected,
    Record,
    RunFinished,
    RunStarted,
    SchemaOpened,
    SignalsSeen,
    TaskProgress,
)
from checker.corpus.secrets import secrets_of
from checker.corpus.snapshot import compact, known_before
from checker.corpus.traffic import trim, trimmed_note
from checker.workers.messages import Opened

Listener = Callable[[int, Record], None]  # Called with (incarnation, record) for each record of the run, once.

# Task ids depend only on seed, phase and operation. With other settings, an index stands for another case, and the rest
# of a task would not continue what was tested.
_EQUAL_TO_RESUME = ("kind", "phases", "selection", "hooks")
_EQUAL_OF_OPERATIONS = attrgetter(
    "cases.mode",
    "phases",
    "checks",
    "check_settings",
    "cases.allow_x00",
    "cases.graphql_allow_null",
    "cases.codec",
    "cases.exclude_header_characters",
)
_LOOSE_JOURNALS = 100
_LOOSE_BYTES = 16 << 20
_LOOSE_SHARE = 4
"""Share of the corpus size (1/4) that journals of finished runs may take before they are compacted; they reduce the room for traffic."""


class RunLifecycle:
    """One run: begun or resumed, followed, finished."""

    def __init__(
        self,
        layout: RunLayout,
        settings: RunSettings,
        listener: Listener,
        clock: Clock = time.monotonic,
        age_s: float = 0.0,
    ) -> None:
        """`age_s`: seconds that this process spent on the run before."""
        self._layout = layout
        self._settings = settings
        self._listener = listener
        self._unfinished = unfinished_run(layout)
        self._damage = self._tidy()
        """Notes on damaged files of earlier runs."""
        self._last = layout.next_incarnation() - 1
        self.incarnation = self.next_incarnation()
        """Incarnation of the supervisor."""
        self._first = self.incarnation
        self.secrets = secrets_of(settings)
        """Secrets to be masked in the records of the supervisor."""
        self._own = JournalWriter(layout.journal(self.incarnation, os.getpid()), secrets=self.secrets)
        self._journals = Journals(layout, above=self.incarnation - 1)
        self._clock = clock
        self._began_at = clock() - age_s
        self._started: RunStarted | None = None
        self._is_open = False
        """Whether the description was read. Before that, the listener gets no records, and a run that ends leaves no journal."""
        self.view = RunView()
        self.signals: set[int] = set()
        """Ids of the signals that workers of this run have recorded, in `fuzz`. A worker that starts would otherwise read all journals."""
        self.earlier: tuple[Finding, ...] = ()
        """The open findings of earlier runs, in `fuzz`."""
        self.entries: Sequence[CorpusEntry] = ()
        """The sequences of earlier runs that this run sends again, best first."""
        self._has_trimmed = False

    @property
    def seed(self) -> int:
        """Return the seed of the run. An earlier process may have begun it."""
        return self._settings.seed if self._started is None else self._started.seed

    @property
    def first(self) -> int:
        """Return the incarnation of the supervisor that began the run, the lowest one of the run."""
        return self._first

    @property
    def number(self) -> int:
        """Return 0 in the process that began the run, a higher number in each later one."""
        return self.incarnation - self._first

    @property
    def elapsed_s(self) -> float:
        return self._clock() - self._began_at

    @property
    def earlier_journals(self) -> list[str]:
        """Return the journals of workers of this run that an earlier process started."""
        return [
            str(path)
            for incarnation, path in self._layout.journal_paths()
            if self._first <= incarnation < self.incarnation
        ]

    def next_incarnation(self) -> int:
        """Return a number that no process had before."""
        self._last += 1
        return self._last

    def start(self) -> None:
        """Write the beginning before any worker sends a request, so that a killed run has a report. Raises `StorageError`.

        If an unfinished run may be resumed, nothing is written yet: `begin` decides, and until then reports show that run.
        """
        if not self._may_go_on:
            self._write_beginning(self._settings.seed, self._new_name())

    def begin(self, opened: Opened) -> None:
        """Begin the run, or resume the last one if it is unfinished and has the same settings and API."""
        self._is_open = True
        last = self._unfinished
        if last is not None and self._may_go_on:
            seed, name = self._settings.seed, self._new_name()
            journals = Journals(self._layout, above=last.first - 1, kinds=(SchemaOpened,))
            # The worker that opened the description has written records by now.
            before = fold(pair for pair in journals.read_new() if pair[0] < self.incarnation).opened
            if before is not None and before.document == opened.document and before.base_url == opened.base_url:
                seed, name = last.started.seed, last.started.run
                self._first = last.first
                self._journals = Journals(self._layout, above=last.first - 1)
            self._damage += journals.notes()
            self._write_beginning(seed, name)
        for incarnation, path in self._layout.traffic_paths():
            if incarnation < self._first:
                # Findings hold their own interactions. The traffic of a run is only needed for its reports.
                remove_file(path)
        for incarnation, path in self._layout.inflight_paths():
            if incarnation < self._first:
                inflight.remove(path)
        # The processes of the previous run are dead, so their journals are not needed again.
        for incarnation in range(self._first, self.incarnation):
            self._fold(self._journals.finish(incarnation))
        # The tasks of these processes do not continue.
        self.view.tasks.clear()
        self.write(OperationsSelected(tuple(card.label for card in opened.operations if not card.is_helper)))
        for note in self._damage:
            self.write(note)
        is_fuzz, recalls = self._settings.kind == "fuzz", self._settings.corpus.is_recalled
        known = known_before(self._layout, self._first) if is_fuzz or recalls else None
        # A run of `fuzz` always begins with the findings of earlier nights; the first night has none.
        if recalls and not is_fuzz and not (known and known.entries):
            text = f"`{self._layout.root}` holds none, so all cases are new"
            self.write(Note("nothing_recalled", "", "", text))
        if known is not None:
            self.entries = known.entries
            if is_fuzz and not self._settings.is_dry:
                self.earlier = tuple(known.findings)
                self.write(OpenFindings(tuple((one.fingerprint, one.label, one.title) for one in known.findings)))

    @property
    def _may_go_on(self) -> bool:
        """Whether the last run is unfinished and has the same settings. Only `fuzz` is resumed, because `run` is short."""
        last = self._unfinished
        is_same = last is not None and last.started.settings == settings_digest(self._settings)
        return is_same and self._settings.kind == "fuzz"

    def _new_name(self) -> str:
        # The seed does not identify a run: two runs may have the same one.
        return digest(str(time.time_ns()), str(os.getpid()))

    def _write_beginning(self, seed: int, name: str) -> None:
        self._started = RunStarted(
            run=name,
            kind=self._settings.kind,
            at=time.time(),
            version=__version__,
            location=self._settings.location,
            seed=seed,
            settings=settings_digest(self._settings),
            command=self._settings.command,
            workers=self._settings.processes.workers,
            app=self._settings.target.app or "",
        )
        self.write(self._started)

    def write_all(self, records: Iterable[Record]) -> None:
        """Write records of the supervisor. Raises `StorageError`."""
        for record in records:
            self.write(record)

    def write(self, record: Record) -> None:
        """Write a record of the supervisor. It is folded when it is read back. Raises `StorageError`."""
        self._own.write(record)
        self._own.flush()

    def read(self, *, known_only: bool = False) -> None:
        """Fold the records written since the last call. `known_only`: read only journals that were found before, and do not search for new ones."""
        if self._is_open:
            self._fold(self._journals.read_new(known_only=known_only))

    def read_last(self, incarnation: int) -> None:
        """Fold the last records of a dead worker."""
        if self._is_open:
            self._fold(self._journals.finish(incarnation))

    def finish(self, outcome: str) -> None:
        """Write the end of a run that has begun, after all records of the workers."""
        self.read()
        self.trim()
        if self._is_open and self._started is not None:
            for note in self._journals.notes():
                self.write(note)
            ledger = self.view.ledger
            self.write(
                RunFinished(
                    run=self._started.run,
                    at=time.time(),
                    outcome=outcome,
                    elapsed_s=self.elapsed_s,
                    ledger=(ledger[0], ledger[1], ledger[2], ledger[3], ledger[4]),
                )
            )
            self.read_rest()

    def read_rest(self) -> None:
        """Fold all remaining records, when no worker lives any more."""
        if self._is_open:
            self._fold(self._journals.finish_all())

    def trim(self, alive: Collection[int] = ()) -> None:
        """Keep the corpus within its size. The incarnations `alive` still write. Raises `StorageError`."""
        most = self._settings.corpus.max_bytes
        if not self._is_open or not trim(self._layout, most, alive) or self._has_trimmed:
            return
        self._has_trimmed = True
        # Without reported traffic nothing is lost, because findings contain their interactions.
        if self._settings.report.keeps_traffic:
            self.write(trimmed_note(most))

    def close(self) -> None:
        with suppress(StorageError):
            # Each record was flushed when it was written.
            self._own.close()
        if not self._is_open:
            # A run without a description leaves no file, so that `checker report` still finds the run before.
            remove_file(self._own.path)

    def _tidy(self) -> list[Note]:
        """Compact the journals of finished runs if there are many: rewriting the snapshot after each small run would cost more.

        Return a note for each damaged file, because compaction removes the damage.
        """
        last = self._unfinished.first if self._unfinished is not None else None
        closed = [
            (incarnation, path.stat().st_size)
            for incarnation, path in self._layout.journal_paths()
            if last is None or incarnation < last
        ]
        most = min(_LOOSE_BYTES, self._settings.corpus.max_bytes // _LOOSE_SHARE)
        if len(closed) > _LOOSE_JOURNALS or sum(size for _, size in closed) > most:
            return list(compact(self._layout, {incarnation for incarnation, _ in closed}).notes)
        return []

    def _fold(self, records: Iterable[tuple[int, Record]]) -> None:
        for incarnation, record in records:
            self.view.absorb(incarnation, record)
            if self._settings.kind == "fuzz":
                match record:
                    case TaskProgress():
                        self.view.forget_finished(record.task)
                    case SignalsSeen():
                        self.signals.update(number for number, _ in record.ids)
                    case _:
                        pass
            self._listener(incarnation, record)


def settings_digest(settings: RunSettings) -> str:
    """Return a digest of all settings that must be equal to resume a run: generation, checks and selection."""
    wanted: dict[str, Any] = {name: getattr(settings, name) for name in _EQUAL_TO_RESUME}
    wanted["blocks"] = [block.filters for block in settings.operations.blocks]
    wanted["operations"] = list(map(_EQUAL_OF_OPERATIONS, settings.operations.everywhere()))
    return digest(json.dumps(to_builtins(wanted), sort_keys=True))


def unfinished_run(layout: RunLayout) -> LastRun | None:
    """Return the last run if it has no end."""
    last = last_run(layout)
    if last is None:
        return None
    records = JournalReader(last.journal).read_new()
    return None if any(isinstance(record, RunFinished) for record in records) else last
