"""The process that writes a cassette while its run goes on: it reads what the workers leave on disk, and nobody waits for it."""

import json
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from math import inf
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from checker.config.settings import RunSettings
from checker.core.stopping import STOP_SIGNALS
from checker.corpus.layout import RunLayout
from checker.corpus.records import Note
from checker.corpus.secrets import secrets_of
from checker.reporting.ordered import OrderedTraffic
from checker.reporting.vcr import Cassette, CassetteSettings
from checker.reporting.wall import walled
from checker.reporting.whole import discard, whole_file

_LOOK_S = 0.2
"""Between two looks at what is new."""
_COUNTING_S = 0.3
"""What counting may take of which there was no time to write it."""


@dataclass(frozen=True, slots=True)
class CassetteRun:
    """What a cassette says of its run."""

    seed: int
    base_url: str
    first: int
    """The lowest incarnation of the run."""
    credentials: tuple[str, ...] = ()
    """Places that the security schemes of the description name."""


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a cassette."""

    count: int = 0
    """Interactions in it."""
    left_out: int = 0
    """Interactions that there was no time for."""
    is_counted: bool = True
    """Whether `left_out` is all of them."""
    notes: tuple[tuple[str, str, str, str], ...] = ()
    """Of damaged files: the fields of `Note`."""
    problem: str = ""
    """Why there is none."""

    def to_bytes(self) -> bytes:
        """For a pipe."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> "Written":
        """Back from `to_bytes`."""
        plain = json.loads(data)
        return cls(**{**plain, "notes": tuple(map(tuple, plain["notes"]))})


class Orders:
    """What the process is told: that the run is over, and until when what is left is waited for.

    Nobody waits for a cassette of which nobody has the other end of the pipe: what there is of it is removed, and the
    process ends, whatever it is doing.
    """

    def __init__(self, down: Connection, path: Path) -> None:
        self.is_over = False
        """Whether the run is: what is on disk is all there is."""
        self._until = inf
        self._down = down
        self._path = path
        self._changed = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()

    def is_late(self, beyond_s: float = 0.0) -> bool:
        """Whether the time is over, or has been for so long."""
        return time.monotonic() > self._until + beyond_s

    def wait(self) -> None:
        """A moment, unless the run is over before."""
        self._changed.wait(_LOOK_S)

    def _listen(self) -> None:
        try:
            until = json.loads(self._down.recv_bytes())
            self._until = inf if until is None else until
            self.is_over = True
            self._changed.set()
            self._down.recv_bytes()
        except (EOFError, OSError):
            discard(self._path)
            os._exit(0)


def main(
    settings: Mapping[str, Any],
    run: tuple[int, str, int, tuple[str, ...]],
    down: Connection,
    up: Connection,
) -> None:
    """Write the cassette of a run. `settings` and `run` are plain forms of `RunSettings` and `CassetteRun`."""
    # What asks the run to end is for the supervisor alone: it wants the cassette.
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    asked = RunSettings.from_dict(settings)
    assert asked.vcr_path is not None
    path = Path(asked.vcr_path)
    orders = Orders(down, path)
    about = CassetteRun(*run)
    cassette = Cassette(_settings(asked, about))
    layout = RunLayout(Path(asked.corpus_dir))
    with closing(OrderedTraffic(layout, about.first, cassette.entry)) as traffic:
        written = walled(
            lambda: write(path, cassette, traffic, orders), lambda why: Written(problem=why)
        )
    up.send_bytes(written.to_bytes())


def write(path: Path, cassette: Cassette, traffic: OrderedTraffic, orders: Orders) -> Written:
    """Write a cassette to its end."""
    count = 0
    try:
        with whole_file(path) as file:
            file.write(cassette.head())
            for entry in _entries(traffic, orders):
                count += 1
                file.write(cassette.numbered(count, entry))
            file.write(cassette.end(count))
    except OSError as error:
        return Written(problem=error.strerror or str(error))
    written = Written(count, notes=tuple(map(_fields, traffic.notes())))
    if orders.is_late():
        left, is_counted = traffic.count_rest(lambda: orders.is_late(_COUNTING_S))
        written = replace(written, left_out=left, is_counted=is_counted)
    return written


def _entries(traffic: OrderedTraffic, orders: Orders) -> Iterator[str]:
    is_over = False
    while not is_over:
        # Asked before anything is read: what is written after the answer would be missed.
        is_over = orders.is_over
        yield from traffic.ready(is_over, orders.is_late)
        if not is_over:
            orders.wait()
    yield from traffic.held()


def _settings(settings: RunSettings, run: CassetteRun) -> CassetteSettings:
    return CassetteSettings(
        command=settings.command,
        seed=run.seed,
        base_url=run.base_url,
        preserve_bytes=settings.preserve_bytes,
        sanitization=settings.sanitization,
        secrets=secrets_of(settings),
        credentials=run.credentials,
    )


def _fields(note: Note) -> tuple[str, str, str, str]:
    return note.kind, note.label, note.pointer, note.text
