"""The files that workers of a run need on other machines, and settings that name them there."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from msgspec.structs import replace

from checker.config.operation_settings import OperationLayers
from checker.config.reading import Layer
from checker.config.settings import RunSettings, UploadSettings
from checker.core.errors import UsageError
from checker.core.system import read_local, shown_size
from checker.corpus import discoveries, files
from checker.corpus.codec import FrameEncoder
from checker.corpus.journal import FRAME_RECORDS, Journals
from checker.corpus.layout import RunLayout
from checker.corpus.packing import pack
from checker.corpus.records import Record, SignalsSeen, ValueGone, ValueSeen
from checker.corpus.snapshot import read_snapshot
from checker.fleet.wire import CORPUS, EXAMPLES, Piece

CACHE: Final = "cache"
_OUTSIDE: Final = "outside"
"""The folder of files that are not below the working directory."""
_MOST_BYTES: Final = 256 << 20
_CERTIFICATES: Final = frozenset(("tls-verify", "request-cert", "request-cert-key"))
_REFERENCE: Final = re.compile(rb"""(?:\$ref|externalValue)["']?\s*:\s*["']?([^\s"'#{}\[\],]+)""")
_KNOWLEDGE: Final = (SignalsSeen, ValueSeen, ValueGone)
"""Records of earlier nights that workers remember."""


class Luggage:
    """The files of the user that a run needs, with their places below the folder of an agent, which is the working directory there."""

    def __init__(self, settings: RunSettings, here: Path | None = None) -> None:
        """Raises `UsageError` if the files are too large."""
        self._here = (here or Path.cwd()).resolve()
        self._places: dict[Path, str] = {}
        self._outside: dict[Path, str] = {}
        self._specs: dict[str, str] = {}
        """Path as the settings name it -> path on the other machine, where that is another one."""
        if not urlsplit(settings.location).netloc and os.path.isfile(settings.location):
            limits = settings.documents
            self._add(settings.location, _referred_to(Path(settings.location), limits.max_count + 1, limits.max_size))
        modules = (settings.target.app, settings.target.transport)
        for name in (one.partition(":")[0] for one in modules if one):
            self._add_module(name)
        for changes in ({"hooks": settings.hooks}, *(changes for _, changes in settings.projects)):
            for hook in changes.get("hooks", ()):
                self._add_hooks(hook)
        for path in _certificates(
            settings.operations, *(changes.get("operations") for _, changes in settings.projects)
        ):
            self._add(path, [one for one in Path(path).rglob("*") if one.is_file()] if os.path.isdir(path) else ())
        size = sum(path.stat().st_size for path in self._places)
        if size > _MOST_BYTES:
            raise UsageError(
                f"hooks, descriptions and certificates have {shown_size(size)}; at most {shown_size(_MOST_BYTES)} "
                "are sent to the machines of a cluster; keep other files out of the folders of the hooks"
            )

    def pieces(self) -> Iterator[Piece]:
        """Yield the files."""
        for path, place in self._places.items():
            yield Piece(place, path.read_bytes())

    def settings(self, settings: RunSettings) -> RunSettings:
        """Return settings that name the files as they are named below the folder of an agent."""
        specs = self._specs
        projects = tuple((title, self._changed(changes)) for title, changes in settings.projects)
        return settings.with_changes(
            location=specs.get(settings.location, settings.location),
            hooks=tuple(specs.get(one, one) for one in settings.hooks),
            operations=self._layers(settings.operations),
            projects=projects,
            corpus={"cache": settings.corpus.cache and CACHE},
            # Only the supervisor uploads.
            report={"upload": UploadSettings()},
        )

    def _changed(self, changes: Mapping[str, Any]) -> Mapping[str, Any]:
        found = dict(changes)
        if "hooks" in found:
            found["hooks"] = tuple(self._specs.get(one, one) for one in found["hooks"])
        if "operations" in found:
            found["operations"] = self._layers(found["operations"])
        return found

    def _layers(self, layers: OperationLayers) -> OperationLayers:
        return OperationLayers(
            self._layer(layers.command),
            tuple(replace(block, values=self._layer(block.values)) for block in layers.blocks),
            tuple(map(self._layer, layers.wide)),
        )

    def _layer(self, layer: Layer) -> Layer:
        def named(key: str, value: Any) -> Any:
            return self._specs.get(value, value) if key in _CERTIFICATES and isinstance(value, str) else value

        return {place: {key: named(key, value) for key, value in values.items()} for place, values in layer.items()}

    def _add(self, spec: str, paths: Iterable[Path]) -> None:
        """Add a file or folder that settings name, with the files that go with it."""
        first = Path(spec).resolve()
        every = [first, *(path.resolve() for path in paths)] if first.is_file() else [path.resolve() for path in paths]
        if all(path.is_relative_to(self._here) for path in (first, *every)):
            root, folder = self._here, ""
        else:
            root = Path(os.path.commonpath([path.parent for path in every] or [first]))
            folder = self._outside.setdefault(root, f"{_OUTSIDE}/{len(self._outside)}/")
        for path in every:
            self._places.setdefault(path, f"{folder}{path.relative_to(root).as_posix()}")
        there = f"{folder}{first.relative_to(root).as_posix()}"
        if there != spec:
            self._specs[spec] = there

    def _add_hooks(self, spec: str) -> None:
        if spec.endswith(".py") and os.path.isfile(spec):
            # It may import what lies beside it.
            self._add(spec, sorted(Path(spec).parent.glob("*.py")))
        elif not spec.endswith(".py"):
            self._add_module(spec)

    def _add_module(self, name: str) -> None:
        """Add a module of the working directory. Installed ones have to be installed on the other machine as well."""
        top = self._here / name.partition(".")[0]
        if top.is_dir():
            paths = [path for path in sorted(top.rglob("*")) if path.is_file() and path.suffix != ".pyc"]
        else:
            paths = sorted(self._here.glob("*.py")) if top.with_suffix(".py").is_file() else []
        for path in paths:
            self._places.setdefault(path.resolve(), path.relative_to(self._here).as_posix())


def _referred_to(first: Path, most: int, most_bytes: int) -> list[Path]:
    """Return the local files that a description refers to, at any depth."""
    found: dict[Path, None] = {first.resolve(): None}
    waiting = list(found)
    while waiting and len(found) <= most:
        path = waiting.pop()
        for reference in _REFERENCE.findall(read_local(path, "a description", most_bytes=most_bytes)):
            text = unquote(reference.decode("utf-8", "replace"))
            other = (path.parent / text).resolve()
            if not urlsplit(text).scheme and other.is_file() and other not in found:
                found[other] = None
                waiting.append(other)
    return list(found)


def _certificates(*every: OperationLayers | None) -> Iterator[str]:
    """Yield the paths of certificates, keys and authorities."""
    for layers in every:
        blocks = () if layers is None else (block.values for block in layers.blocks)
        for layer in () if layers is None else (layers.command, *blocks, *layers.wide):
            for values in layer.values():
                yield from (one for key, one in values.items() if key in _CERTIFICATES and isinstance(one, str))


def corpus_pieces(settings: RunSettings, layout: RunLayout) -> Iterator[Piece]:
    """Yield what earlier runs left for workers: created resources, discoveries, examples; in `fuzz`, signals and values."""
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
        with closing(Journals(layout)) as journals:
            records: list[Record] = [*read_snapshot(layout).records, *(record for _, record in journals.read_new())]
        wanted = [pack(record) for record in records if isinstance(record, _KNOWLEDGE)]
        encoder = FrameEncoder()
        frames = [encoder.frame(wanted[at : at + FRAME_RECORDS]) for at in range(0, len(wanted), FRAME_RECORDS)]
        # No worker has the number 0.
        yield Piece(f"{CORPUS}/journals/{RunLayout(Path()).journal(0, 0).name}", b"".join(frames))
