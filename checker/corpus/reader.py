"""All journals of a corpus as one stream."""

from collections.abc import Iterator
from pathlib import Path

from checker.corpus.journal import JournalReader
from checker.corpus.layout import RunLayout
from checker.corpus.records import Note, Record


class Journals:
    """Finds journals as they appear and follows them all. Order is kept within an incarnation only."""

    def __init__(self, layout: RunLayout, *, above: int = 0) -> None:
        self._layout = layout
        self._above = above
        self._readers: dict[int, list[JournalReader]] = {}
        self._known: set[Path] = set()
        self._finished: set[int] = set()

    def read_new(self, *, known_only: bool = False) -> Iterator[tuple[int, Record]]:
        """Yield (incarnation, record) of everything that was written since the last call, above incarnation `above`.

        `known_only` lists no directory: there can be no journal beside those that were found before.
        """
        if not known_only:
            self._discover()
        for incarnation in self._readers:
            for record in self._new(incarnation):
                yield incarnation, record

    def new_of_each(self) -> list[tuple[int, Iterator[Record]]]:
        """Return each incarnation with what was written of it since the last call, read a piece of the file at a time."""
        self._discover()
        return [(incarnation, self._new(incarnation)) for incarnation in self._readers]

    def finish(self, incarnation: int) -> Iterator[tuple[int, Record]]:
        """The last records of an incarnation that is dead: whatever is missing now will never come."""
        self._discover()
        if incarnation in self._finished:
            return
        self._finished.add(incarnation)
        for reader in self._readers.get(incarnation, ()):
            for record in reader.finish():
                yield incarnation, record

    def finish_all(self) -> Iterator[tuple[int, Record]]:
        """The last records of all: no writer is alive."""
        self._discover()
        for incarnation in list(self._readers):
            yield from self.finish(incarnation)

    def notes(self) -> list[Note]:
        """One for each file that is damaged."""
        return [note for readers in self._readers.values() for reader in readers for note in reader.notes()]

    def close(self) -> None:
        """Close all files."""
        for readers in self._readers.values():
            for reader in readers:
                reader.close()

    def _new(self, incarnation: int) -> Iterator[Record]:
        if incarnation not in self._finished:
            for reader in self._readers[incarnation]:
                while found := reader.read_some():
                    yield from found

    def _discover(self) -> None:
        found = [
            (incarnation, path)
            for incarnation, path in self._layout.journal_paths()
            if incarnation > self._above and path not in self._known
        ]
        # What the snapshot has taken in would count twice.
        covered = self._layout.head().covered if found else ()
        for incarnation, path in found:
            self._known.add(path)
            if incarnation not in covered:
                self._readers.setdefault(incarnation, []).append(JournalReader(path))
