"""Workers on other machines, as the supervisor sees them: their records are appended to the corpus, and orders are sent one by one."""

import pickle
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

from msgspec.structs import replace

from checker.config.settings import RunSettings
from checker.core.errors import UsageError
from checker.core.request import host_of
from checker.core.system import Clock
from checker.corpus import files
from checker.corpus.codec import FrameEncoder, pack
from checker.corpus.journal import JournalReader
from checker.corpus.layout import RunLayout
from checker.fleet.agent import Start, versions
from checker.fleet.luggage import (
    CORPUS,
    EXAMPLES,
    SHARED,
    Luggage,
    News,
    Order,
    Piece,
    apply,
    below,
    corpus_pieces,
    read,
)
from checker.supervisor.handle import Departure
from checker.supervisor.lock import Ownership
from checker.supervisor.state import WorkerSnapshot
from checker.workers.messages import PEER_RECORDS, Down, Drain, Leaving, LeavingKind, Opened, PeerJournals, Up
from checker.workers.queues import decode, encode

NEWS_S: Final = 0.5  # The longest time between two news of a worker.
_PEERS_S: Final = 1.0  # Seconds between two reads of the records of others by a worker of `fuzz`.
_LAST_S: Final = 5.0  # Seconds that a killed worker may take to send its last news.
_NOTHING: Final = WorkerSnapshot(None, None, 0.0, (), {})


class LostAgent(Exception):
    """An agent whose process or machine is gone, with the reason as a phrase."""


class Cluster(Protocol):
    """Machines that run agents."""

    def agent(self) -> Any:
        """Start an agent on some machine; its calls wait until it exists."""
        ...

    def put(self, data: bytes) -> Any:
        """Return a value that stands for bytes in calls, so that they are sent to each machine once."""
        ...

    def call(self, agent: Any, method: str, *given: Any) -> Any:
        """Begin a call of a method of an agent."""
        ...

    def ready(self, calls: Sequence[Any], timeout_s: float) -> list[Any]:
        """Return the finished calls as soon as there is one, or after `timeout_s`."""
        ...

    def result(self, call: Any) -> Any:
        """Return the result of a finished call. Raises `LostAgent`."""
        ...

    def kill(self, agent: Any) -> None:
        """End an agent and its worker. Never waits."""
        ...

    def processors(self) -> int:
        """Return the number of processors of all machines."""
        ...

    def has_other_hosts(self) -> bool:
        """Whether there is another machine than this one."""
        ...

    def close(self) -> None:
        """Leave the cluster."""
        ...


class Shared:
    """The data that workers have for each other: records of peers, and lines about created resources."""

    def __init__(self) -> None:
        self.journals: set[str] = set()
        """Paths of the journals whose records are known."""
        self._frames: list[bytes] = []
        self._made: list[tuple[int, bytes]] = []
        """(worker, its lines)."""
        self._taken: dict[int, tuple[int, int]] = {}
        """Worker -> numbers of frames and of lines that it has got."""

    def add(self, incarnation: int, frames: bytes, made: bytes = b"") -> None:
        if frames:
            self._frames.append(frames)
        if made:
            self._made.append((incarnation, made))

    def add_journal(self, path: str) -> None:
        """Add the records of a worker of an earlier supervisor of the run."""
        if path not in self.journals:
            self.journals.add(path)
            wanted = [pack(record) for record in JournalReader(Path(path), kinds=PEER_RECORDS).read_new()]
            self.add(0, FrameEncoder().frame(wanted) if wanted else b"")

    def has_news(self, incarnation: int) -> bool:
        return self._taken.get(incarnation, (0, 0)) != (len(self._frames), len(self._made))

    def pieces(self, incarnation: int) -> list[Piece]:
        """Return the news since the last call: all records, its own included, and the lines of others."""
        first, first_made = self._taken.get(incarnation, (0, 0))
        made = b"".join(lines for origin, lines in self._made[first_made:] if origin != incarnation)
        wanted = ((SHARED, b"".join(self._frames[first:])), (f"{CORPUS}/{RunLayout(Path()).made.name}", made))
        self._taken[incarnation] = len(self._frames), len(self._made)
        return [Piece(place, data, is_appended=True) for place, data in wanted if data]


class DistantWorker:
    """A worker on another machine. It is lost when its agent is lost."""

    def __init__(self, launcher: "DistantLauncher", incarnation: int, start: Start, luggage: Any) -> None:
        self.incarnation = incarnation
        self._launcher = launcher
        self._cluster = launcher.cluster
        self._agent = self._cluster.agent()
        self._calls: dict[Any, str] = {}
        self._outbox: list[bytes] = []
        self._pieces: list[Piece] = []
        self._messages: list[Up] = []
        self._snapshot = _NOTHING
        self._heard_at = self._told_at = launcher.clock()
        self._is_begun = self._follows_peers = False
        self.departure: Departure | None = None
        self.is_reaped = False
        self._call("start", luggage, pack(start))

    @property
    def pid(self) -> int | None:
        """Return None: its process is on another machine."""
        return None

    def tell(self, message: Down) -> None:
        if isinstance(message, PeerJournals):
            for journal in message.journals:
                self._launcher.shared.add_journal(journal)
            if self._follows_peers:
                return
            # The agent of the worker has one journal with the records of all other workers.
            self._follows_peers = True
            message = PeerJournals((), signals=message.signals)
        if isinstance(message, Drain) and message.concludes and not message.only_cleans:
            for number, path in self._launcher.layout.journal_paths():
                if number > message.first and number != self.incarnation:
                    self._pieces.append(Piece(f"{CORPUS}/journals/{path.name}", path.read_bytes()))
        if self.departure is None:
            self._outbox.append(encode(message))
            self._give()

    def hear(self) -> tuple[list[Up], bool]:
        """Return the messages since the last call, and whether they were the last."""
        messages, self._messages = self._messages, []
        return messages, self.departure is not None

    def snapshot(self) -> WorkerSnapshot:
        """Return the state of the worker at its last news, older by the time since then."""
        found = self._snapshot
        if found.silent_s is None or self.departure is not None:
            return found
        since_s = self._launcher.clock() - self._heard_at
        return replace(found, silent_s=found.silent_s + since_s, acting_s=found.acting_s + since_s)

    def kill(self) -> None:
        """Kill the worker. The agent of the worker still sends the last news."""
        if self.departure is None and self._is_begun:
            self._call("kill")
        elif self.departure is None:
            self._depart(Departure("not needed any more"))

    def reap(self) -> Departure:
        self.kill()
        deadline = self._launcher.clock() + _LAST_S
        while self.departure is None and (left := deadline - self._launcher.clock()) > 0:
            self.note(self._cluster.ready(self.calls(), left))
        self.is_reaped = True
        self._cluster.kill(self._agent)
        return self.departure or Departure("unkillable")

    def forget(self) -> None:
        """Do nothing, because its slots are not files of this machine."""

    def calls(self) -> list[Any]:
        return list(self._calls)

    def refresh(self) -> None:
        if self._launcher.clock() - self._told_at >= _PEERS_S and self._launcher.shared.has_news(self.incarnation):
            self._give(is_due=True)

    def note(self, over: Iterable[Any]) -> None:
        """Process the results of finished calls. Raises `StorageError`."""
        for call in over:
            method = self._calls.pop(call, None)
            if method is None or self.departure is not None:
                continue
            try:
                result = self._cluster.result(call)
            except LostAgent as lost:
                self._depart(Departure(str(lost), is_from_outside=True))
                continue
            if method == "take":
                news = read(result, News)
                made = b""
                for piece in news.pieces:
                    if piece.place == f"{CORPUS}/{self._launcher.layout.made.name}":
                        made = piece.data or b""
                    apply(piece, self._launcher.path_of(piece.place))
                self._launcher.shared.add(self.incarnation, news.peers, made)
                self._messages += (
                    self._local(message) for one in news.messages if isinstance(message := decode(one), Up)
                )
                self._snapshot = news.snapshot or self._snapshot
                self._heard_at = self._launcher.clock()
                if news.departure is not None:
                    self._depart(news.departure)
                else:
                    self._call("take", NEWS_S)
            elif method == "start" and result:
                self._messages.append(Leaving(LeavingKind.USAGE, result))
                self._depart(Departure(result))
            elif method == "start":
                self._is_begun = True
                self._call("take", NEWS_S)
                self._give()
            elif method == "give":
                self._give()

    def _local(self, message: Up) -> Up:
        """Return a message with the paths of this machine."""
        if not isinstance(message, Opened):
            return message
        journal = self._launcher.layout.journals / Path(message.journal).name
        self._launcher.shared.journals.add(str(journal))
        refused = self._launcher.refused(message.base_url)
        return Leaving(LeavingKind.USAGE, refused) if refused else replace(message, journal=str(journal))

    def _give(self, *, is_due: bool = False) -> None:
        """Send an order if messages wait, or if one `is_due`; only one at a time, because orders must not overtake each other."""
        if not self._is_begun or "give" in self._calls.values() or not (self._outbox or is_due):
            return
        pieces = (*self._pieces, *self._launcher.shared.pieces(self.incarnation))
        order = Order(pieces, tuple(self._outbox))
        self._outbox, self._pieces = [], []
        self._told_at = self._launcher.clock()
        self._call("give", pack(order))

    def _call(self, method: str, *given: Any) -> None:
        self._calls[self._cluster.call(self._agent, method, *given)] = method

    def _depart(self, departure: Departure) -> None:
        self.departure = departure
        self._calls.clear()


class DistantLauncher:
    """Starts workers on the machines of a cluster."""

    def __init__(
        self, cluster: Cluster, settings: RunSettings, *, allows_loopback: bool = False, clock: Clock = time.monotonic
    ) -> None:
        """Raises `UsageError` if the files are too large, or if a URL of the run is another target on other machines."""
        self.cluster = cluster
        self.clock = clock
        self.layout = RunLayout(Path(settings.corpus.folder))
        self.is_fuzz = settings.kind == "fuzz"
        self.shared = Shared()
        self._allows_loopback = allows_loopback
        self._follows = settings.processes.follows_cluster
        self._luggage = Luggage(settings)
        self._database = Path(settings.sources.database)
        self._packed: tuple[str | None, Any] | None = None
        self._earlier: list[Piece] | None = None
        self._workers: list[DistantWorker] = []
        target = settings.target
        for url in (settings.location, target.base_url, target.origin):
            if refused := self.refused(url):
                raise UsageError(refused)

    def start(self, incarnation: int, settings: RunSettings, ownership: Ownership) -> DistantWorker:
        """Start a worker somewhere. Raises `OSError` if files of the run cannot be read."""
        version, python = versions()
        there = self._luggage.settings(settings).with_changes(processes={"sharers": settings.processes.workers})
        start = Start(version, python, incarnation, self.clock(), pickle.dumps(there))
        if self._packed is None or self._packed[0] != settings.document:
            if self._earlier is None:
                self._earlier = [*self._luggage.pieces(), *corpus_pieces(settings, self.layout)]
            pieces = list(self._earlier)
            if settings.document is not None:
                path = self.layout.document(settings.document)
                pieces.append(Piece(f"{CORPUS}/documents/{path.name}", files.read_file(path) or b""))
            self._packed = settings.document, self.cluster.put(pack(Order(tuple(pieces))))
        worker = DistantWorker(self, incarnation, start, self._packed[1])
        self._workers.append(worker)
        return worker

    def wait(self, timeout_s: float) -> None:
        self._workers = [one for one in self._workers if not one.is_reaped]
        owners = {call: one for one in self._workers for call in one.calls()}
        if any(one.departure is not None for one in self._workers):
            timeout_s = 0.0
        if not owners:
            time.sleep(timeout_s)
            return
        for call in self.cluster.ready(list(owners), timeout_s):
            owners[call].note([call])
        for worker in self._workers if self.is_fuzz else ():
            worker.refresh()

    def capacity(self) -> int:
        """Return the number of processors if the workers follow the cluster."""
        return max(1, self.cluster.processors()) if self._follows else sys.maxsize

    def close(self) -> None:
        self.cluster.close()

    def path_of(self, place: str) -> Path:
        """Return the path of a file of an agent on this machine. Raises `StorageError`."""
        folder, _, rest = place.partition("/")
        return below({CORPUS: self.layout.root, EXAMPLES: self._database}.get(folder, self.layout.root), rest)

    def refused(self, url: str | None) -> str:
        """Return why requests to a URL are not sent from other machines; empty if they are."""
        host = "" if url is None else urlsplit(url).hostname or ""
        is_here = host_of(host) == "localhost" or host.startswith("%2f")
        if self._allows_loopback or not is_here or not self.cluster.has_other_hosts():
            return ""
        return (
            f"{host} is another target on each machine of the cluster; give a base URL that all of them reach, "
            "or `cluster-allow-loopback = true` if each of them serves the API itself"
        )
