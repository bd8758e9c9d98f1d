"""The two ways of data between a supervisor and the agents of its workers."""

from pathlib import Path
from typing import Final, TypeVar

from msgspec import Struct, convert

from checker.core.errors import StorageError
from checker.corpus import files
from checker.corpus.codec import unpack
from checker.corpus.files import AppendFile
from checker.supervisor.handle import Departure
from checker.supervisor.state import WorkerSnapshot

CORPUS: Final = "corpus"  # The folder in the folder of an agent that mirrors the corpus of the run.
EXAMPLES: Final = "examples"  # The folder that mirrors the example database.
SHARED: Final = f"{CORPUS}/peers.journal"  # The journal of all records that workers have for each other.


class Piece(Struct, frozen=True):
    """A change of one file."""

    place: str  # Path below the folder of the agent.
    data: bytes | None  # None: the file is removed.
    is_appended: bool = False  # Whether the file had other content before.


class Order(Struct, frozen=True):
    """The way down."""

    pieces: tuple[Piece, ...] = ()  # They are written before the messages are passed on.
    messages: tuple[bytes, ...] = ()


class News(Struct, frozen=True):
    """The way up: what a worker would leave behind if it were killed now, as far as it has not arrived yet."""

    messages: tuple[bytes, ...] = ()
    pieces: tuple[Piece, ...] = ()  # All that the worker wrote before it sent the messages.
    peers: bytes = b""  # Frames of the new records that other workers need.
    snapshot: WorkerSnapshot | None = None
    departure: Departure | None = None  # The end of the worker. Then there are no more news.


Way = TypeVar("Way", Order, News)


def read(data: bytes, kind: type[Way]) -> Way:
    """Return an order or news from bytes. Raises `Undecodable`."""
    found: Way = unpack(data, lambda value: convert(value, kind))
    return found


def apply(piece: Piece, path: Path) -> None:
    """Change a file. Raises `StorageError`."""
    if piece.data is None:
        files.remove_file(path)
    elif piece.is_appended:
        file = AppendFile(path)
        try:
            file.append(piece.data)
        finally:
            file.close()
    else:
        files.make_directory(path.parent)
        files.write_file(path, piece.data)


def below(root: Path, place: str) -> Path:
    """Return a path below a folder. Raises `StorageError` for a place that leads out of it."""
    if place.startswith("/") or ".." in place.split("/"):
        raise StorageError(f"{place!r} is not below the folder of the run")
    return root / place
