"""The agent of one worker on its machine: it starts the worker in a folder of its own and mirrors files both ways."""

import os
import pickle
import platform
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from checker import __version__
from checker.config.settings import RunSettings
from checker.corpus import files
from checker.corpus.codec import FrameEncoder, pack, unpack
from checker.corpus.journal import JournalReader
from checker.corpus.layout import RunLayout
from checker.fleet.luggage import CORPUS, EXAMPLES, SHARED, News, Order, Piece, apply, below, read
from checker.supervisor.launchers import ProcessLauncher, ProcessWorker
from checker.supervisor.lock import Ownership
from checker.workers.entry import Work
from checker.workers.messages import PEER_RECORDS, Down, PeerJournals
from checker.workers.queues import decode, encode

_STEADY = 10
"""Most attempts to read all sizes and the slots without a write in between. A worker writes its journal five times a second."""


class Start(Struct, frozen=True):
    """The data for the start of a worker."""

    version: str  # Of checker.
    python: str
    incarnation: int
    now: float  # Time of the supervisor's monotonic clock.
    settings: bytes  # Pickled: only equal versions of checker read each other's settings.


def versions() -> tuple[str, str]:
    """Return the versions of checker and of Python (major and minor) that this process runs."""
    return __version__, ".".join(platform.python_version_tuple()[:2])


class Agent:
    """Starts one worker, takes orders for the worker, and returns its news. `take` may wait while another thread calls `give`."""

    def __init__(self, folder: Path, work: Work | None = None) -> None:
        self._folder = folder
        self._work = work
        self._lock = threading.Lock()
        self._sent: dict[str, int] = {}
        """Bytes of each growing file that were sent, by place."""
        self._examples: set[str] = set()
        self._foreign: Counter[bytes] = Counter()
        """Lines of other workers about created resources."""
        self._frames = FrameEncoder()
        self._own: JournalReader | None = None
        self._worker: ProcessWorker | None = None
        self._is_killed = False

    def start(self, luggage: bytes, start: bytes) -> str:
        """Start the worker; return why that is impossible, in one sentence. `luggage` is an order with the files of the run."""
        given = unpack(start, lambda value: Start(**value))
        here, there = versions(), (given.version, given.python)
        if here != there:
            return (
                f"the machine {socket.gethostname()} has checker {here[0]} and Python {here[1]}, this one has checker "
                f"{there[0]} and Python {there[1]}: a cluster needs equal versions; install them on all of its machines"
            )
        # The folder of a killed agent is removed, and a file that is written later would create it again.
        with self._lock:
            if self._is_killed:
                return "not needed any more"
            for piece in read(luggage, Order).pieces:
                apply(piece, below(self._folder, piece.place))
            settings: RunSettings = pickle.loads(given.settings)
            ahead_s = time.monotonic() - given.now
            began, until = settings.processes.started_at, settings.documents.until
            corpus = {
                "folder": str(self._folder / CORPUS),
                "cache": settings.corpus.cache and str(self._folder / settings.corpus.cache),
            }
            database = settings.sources.database
            settings = settings.with_changes(
                corpus=corpus,
                sources={"database": database if database in ("none", ":memory:") else str(self._folder / EXAMPLES)},
                processes={"started_at": None if began is None else began + ahead_s},
                documents={"until": None if until is None else until + ahead_s},
            )
            self._layout = RunLayout(Path(settings.corpus.folder))
            self._incarnation = given.incarnation
            self._launcher = ProcessLauncher(self._work)
            try:
                ownership = Ownership(self._layout).__enter__()
                self._sent[self._place(self._layout.made)] = _size(self._layout.made)
                self._examples = set(self._example_places())
                self._worker = self._launcher.start(given.incarnation, settings, ownership)
            except (OSError, EOFError) as error:
                return f"no worker can be started on {socket.gethostname()}: {error}"
        return ""

    def give(self, data: bytes) -> None:
        order = read(data, Order)
        with self._lock:
            if self._is_killed:
                return
            for piece in order.pieces:
                if piece.place == self._place(self._layout.made):
                    self._foreign.update((piece.data or b"").splitlines())
                apply(piece, below(self._folder, piece.place))
            for encoded in order.messages:
                message = decode(encoded)
                if isinstance(message, PeerJournals):
                    message = PeerJournals((str(self._folder / SHARED),), signals=message.signals)
                if self._worker is not None and isinstance(message, Down):
                    self._worker.tell(message)

    def take(self, timeout_s: float) -> bytes:
        self._launcher.wait(timeout_s)
        worker = self._worker
        assert worker is not None
        with self._lock:
            messages, is_over = worker.hear()
            departure = worker.reap() if is_over else None
            # The slots and the sizes of the growing files, as a death at this moment would leave them.
            sizes = self._sizes()
            for _ in range(_STEADY):
                snapshot, before = worker.snapshot(), sizes
                sizes = self._sizes()
                if sizes == before:
                    break
            examples = self._changed_examples() if messages or is_over else ()
            pieces = (*self._grown(sizes), *self._documents(), *examples)
            return pack(News(tuple(map(encode, messages)), pieces, self._peers(), snapshot, departure))

    def kill(self) -> None:
        with self._lock:
            self._is_killed = True
            if self._worker is not None and not self._worker.is_reaped:
                self._worker.kill()

    def _sizes(self) -> dict[str, int]:
        paths = [path for number, path in self._layout.journal_paths() if number == self._incarnation]
        paths += [path for _, path in self._layout.traffic_paths()]
        return {self._place(path): _size(path) for path in (*paths, self._layout.made)}

    def _grown(self, sizes: dict[str, int]) -> Iterator[Piece]:
        """Yield the data that was appended to files."""
        made = self._place(self._layout.made)
        for place, size in sizes.items():
            sent = self._sent.get(place, 0)
            if size <= sent:
                continue
            data = files.read_piece(self._folder / place, sent, size - sent)
            if place == made:
                data = data[: data.rfind(b"\n") + 1]
                size = sent + len(data)
                data = b"".join(line + b"\n" for line in data.splitlines() if not self._is_foreign(line))
            self._sent[place] = size
            if data:
                yield Piece(place, data, is_appended=True)

    def _is_foreign(self, line: bytes) -> bool:
        is_foreign = self._foreign[line] > 0
        self._foreign[line] -= is_foreign
        return is_foreign

    def _documents(self) -> Iterator[Piece]:
        """Yield descriptions that were not here at the start."""
        for path in files.list_directory(self._layout.documents):
            place = self._place(path)
            if path.suffix == ".json" and place not in self._sent and (data := files.read_file(path)) is not None:
                self._sent[place] = len(data)
                yield Piece(place, data)

    def _changed_examples(self) -> Iterator[Piece]:
        """Yield saved examples that were added or removed."""
        there = set(self._example_places())
        for place in sorted(there - self._examples):
            yield Piece(place, files.read_file(self._folder / place) or b"")
        for place in sorted(self._examples - there):
            yield Piece(place, None)
        self._examples = there

    def _example_places(self) -> Iterator[str]:
        for folder, _, names in os.walk(self._folder / EXAMPLES):
            yield from (self._place(Path(folder) / name) for name in names)

    def _peers(self) -> bytes:
        if self._own is None:
            own = next((path for number, path in self._layout.journal_paths() if number == self._incarnation), None)
            if own is None:
                return b""
            self._own = JournalReader(own, kinds=PEER_RECORDS)
        wanted = [pack(record) for record in self._own.read_new()]
        return self._frames.frame(wanted) if wanted else b""

    def _place(self, path: Path) -> str:
        return path.relative_to(self._folder).as_posix()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
