"""The files that workers of a run need on other machines, and settings that name them there."""

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import unquote, urlsplit

from msgspec import Struct, convert
from msgspec.structs import replace

import checker
from checker.config.settings import RunSettings, UploadSettings
from checker.core.errors import StorageError, UsageError
from checker.core.system import read_local, shown_size
from checker.corpus import discoveries, files
from checker.corpus.codec import FrameEncoder, pack, unpack
from checker.corpus.files import AppendFile
from checker.corpus.journal import FRAME_RECORDS, Journals
from checker.corpus.layout import RunLayout
from checker.corpus.records import Record, SignalsSeen, ValueGone, ValueSeen
from checker.corpus.snapshot import read_snapshot
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
    """An order of the supervisor to an agent."""

    pieces: tuple[Piece, ...] = ()  # The pieces are written before the messages are passed on.
    messages: tuple[bytes, ...] = ()


class News(Struct, frozen=True):
    """A message to the supervisor: the unsent part of everything that the worker would leave behind if it were killed now."""

    messages: tuple[bytes, ...] = ()
    pieces: tuple[Piece, ...] = ()  # All that the worker wrote before it sent the messages.
    peers: bytes = b""  # Frames of the new records that other workers need.
    snapshot: WorkerSnapshot | None = None
    departure: Departure | None = None  # The worker has ended, and there are no more news.


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


CACHE: Final = "cache"
_OUTSIDE: Final = "outside"  # The folder of files that are not below the working directory.
_MOST_BYTES: Final = 256 << 20
_REFERENCE: Final = re.compile(rb"""(?:\$ref|externalValue)["']?\s*:\s*["']?([^\s"'#{}\[\],]+)""")
_NAME: Final = re.compile(r"[\w.-]+")  # Name at the beginning of a requirement (PEP 508).
_DOCUMENTS: Final = frozenset((".json", ".yaml", ".yml"))
_KNOWLEDGE: Final = (SignalsSeen, ValueSeen, ValueGone)  # Records of earlier nights that workers remember.


class Luggage:
    """The files of the user that a run needs, with their places below the folder of an agent, which is the working directory there."""

    def __init__(self, settings: RunSettings) -> None:
        """Raises `UsageError` if the files are too large."""
        self._here = Path.cwd().resolve()
        self._limits = settings.documents
        self._places: dict[Path, str] = {}
        self._outside: dict[Path, str] = {}
        self._named: Mapping[str, Callable[[str], str]] = {
            **dict.fromkeys(("location", "changed_since"), self._description),
            "hooks": self._hooks,
            "app": self._module,
            "transport": self._module,
            **dict.fromkeys(("tls-verify", "request-cert", "request-cert-key"), self._certificates),
        }
        """Field or key that names files -> function that adds them and returns their name on the other machine."""
        self.settings(settings)
        size = sum(path.stat().st_size for path in self._places)
        if size > _MOST_BYTES:
            raise UsageError(
                f"hooks, descriptions and certificates have {shown_size(size)}; at most {shown_size(_MOST_BYTES)} "
                "are sent to the machines of a cluster; keep other files out of the folders of the hooks"
            )

    def pieces(self) -> Iterator[Piece]:
        for path, place in self._places.items():
            yield Piece(place, path.read_bytes())

    def settings(self, settings: RunSettings) -> RunSettings:
        """Return settings with the names of the files below the folder of an agent."""
        named: RunSettings = self._renamed(settings)
        # Only the supervisor uploads.
        return named.with_changes(
            corpus={"cache": settings.corpus.cache and CACHE}, report={"upload": UploadSettings()}
        )

    def _renamed(self, value: Any, key: object = "") -> Any:
        """Return a value of the settings with new names of files."""
        if type(value) is str and isinstance(key, str) and key in self._named:
            return self._named[key](value)
        if isinstance(value, Mapping):
            return {name: self._renamed(one, name) for name, one in value.items()}
        if type(value) is tuple:
            return tuple(self._renamed(one, key) for one in value)
        if isinstance(value, Struct):
            fields = ((name, getattr(value, name)) for name in value.__struct_fields__)
            return replace(value, **{name: new for name, one in fields if (new := self._renamed(one, name)) is not one})
        return value

    def _add(self, spec: str, paths: Iterable[Path]) -> str:
        """Add a file or folder with the files that go with it; return its name on the other machine."""
        first, every = Path(spec).resolve(), [path.resolve() for path in paths]
        root, folder = self._here, ""
        if not all(path.is_relative_to(root) for path in (first, *every)):
            root = Path(os.path.commonpath([path.parent for path in every] or [first.parent]))
            folder = self._outside.setdefault(root, f"{_OUTSIDE}/{len(self._outside)}/")
        for path in every:
            self._places.setdefault(path, f"{folder}{path.relative_to(root).as_posix()}")
        return f"{folder}{first.relative_to(root).as_posix()}"

    def _description(self, text: str) -> str:
        if urlsplit(text).netloc or not os.path.isfile(text):
            return text
        most = self._limits.max_count + 1
        found: dict[Path, None] = {Path(text).resolve(): None}
        waiting = list(found)
        while waiting and len(found) <= most:
            path = waiting.pop()
            for reference in _REFERENCE.findall(read_local(path, "a description", most_bytes=self._limits.max_size)):
                link = unquote(reference.decode("utf-8", "replace"))
                other = (path.parent / link).resolve()
                # Prose may name any file of this machine.
                is_document = not urlsplit(link).scheme and other.suffix.lower() in _DOCUMENTS
                if is_document and other.is_file() and other not in found:
                    found[other] = None
                    waiting.append(other)
        return self._add(text, list(found))

    def _certificates(self, text: str) -> str:
        path = Path(text)
        return self._add(text, [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()])

    def _hooks(self, text: str) -> str:
        if not text.endswith(".py"):
            return self._module(text)
        # The module may import modules beside it.
        return self._add(text, sorted(Path(text).parent.glob("*.py"))) if os.path.isfile(text) else text

    def _module(self, text: str) -> str:
        """Add a module of the working directory. Installed modules must also be installed on the other machine."""
        top = self._here / text.partition(":")[0].partition(".")[0]
        paths = top.rglob("*") if top.is_dir() else self._here.glob("*.py") if top.with_suffix(".py").is_file() else ()
        for path in sorted(one for one in paths if one.is_file() and one.suffix != ".pyc"):
            self._places.setdefault(path.resolve(), path.relative_to(self._here).as_posix())
        return text


def copy_packages(folder: Path) -> None:
    """Copy checker and the packages that it needs into a folder, for machines that have Python alone."""
    names, known = ["checker-api"], set[str]()
    while names:
        name = names.pop()
        # Packages that are required only for other versions of Python are missing here.
        with suppress(PackageNotFoundError):
            package = distribution(name)
            needed = {head[0] for one in package.requires or () if "extra ==" not in one and (head := _NAME.match(one))}
            names += needed - known
            known |= needed
            for path in package.files or ():
                source = Path(str(path.locate()))
                # Scripts are outside of the folder of packages.
                if ".." not in path.parts and path.suffix != ".pyc" and source.is_file():
                    (folder / path).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(source, folder / path)
    # An editable installation has no files of its own.
    shutil.copytree(Path(checker.__file__).parent, folder / checker.__name__, dirs_exist_ok=True)


def corpus_pieces(settings: RunSettings, layout: RunLayout) -> Iterator[Piece]:
    """Yield the files that earlier runs left for workers: created resources, discoveries, examples; in `fuzz` also signals and values."""
    if (made := files.read_file(layout.made)) is not None:
        yield Piece(f"{CORPUS}/{layout.made.name}", made)
    cache = settings.corpus.cache
    if cache is not None and (known := files.read_file(Path(cache) / discoveries.NAME)) is not None:
        yield Piece(f"{CACHE}/{discoveries.NAME}", known)
    database = settings.sources.database
    if database not in ("none", ":memory:"):
        for path in sorted(Path(database).rglob("*")):
            if path.is_file():
                yield Piece(f"{EXAMPLES}/{path.relative_to(database).as_posix()}", path.read_bytes())
    if settings.kind == "fuzz":
        records: list[Record] = [*read_snapshot(layout).records, *(record for _, record in Journals(layout).read_new())]
        wanted = [pack(record) for record in records if isinstance(record, _KNOWLEDGE)]
        encoder = FrameEncoder()
        frames = [encoder.frame(wanted[at : at + FRAME_RECORDS]) for at in range(0, len(wanted), FRAME_RECORDS)]
        # No worker has the number 0.
        yield Piece(f"{CORPUS}/journals/{RunLayout(Path()).journal(0, 0).name}", b"".join(frames))
