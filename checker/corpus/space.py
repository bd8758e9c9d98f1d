"""The disk space of a corpus. Above the limit traffic is deleted: plain interactions before notable ones, oldest first."""

import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from checker.corpus import files
from checker.corpus.layout import RunLayout
from checker.corpus.records import Note
from checker.corpus.traffic import DULL, SEGMENT_BYTES

TRIMMED = "trimmed"
"""Kind of the note on traffic that was removed before a report could show it."""
_PARTS = 16
"""A segment is removed as a whole: of what may be kept, this part is the most that is lost too much."""
_LEAST = 64 << 10


def segment_bytes(max_bytes: int, workers: int) -> int:
    """From which size on a segment of traffic is followed by another, when the corpus may take `max_bytes`."""
    return min(SEGMENT_BYTES, max(_LEAST, max_bytes // (_PARTS * workers)))


def trim(layout: RunLayout, max_bytes: int, alive: Collection[int] = ()) -> int:
    """Bytes of traffic that were removed, so that the corpus takes at most `max_bytes`, if that is enough.

    Only the holder of the lock does so. What a worker of the incarnations `alive` may still write to stays. Raises
    `StorageError`.
    """
    segments = {path: found for _, path in layout.traffic_paths() if (found := _stat(path))}
    whole = sum(found.st_size for found in segments.values()) + _rest(layout)
    if whole <= max_bytes:
        return 0
    open_now = _last_of(layout, alive)
    ranked = sorted(
        (path for path in segments if path not in open_now),
        key=lambda path: (DULL not in path.name, segments[path].st_mtime_ns, path.name),
    )
    removed = 0
    for path in ranked:
        if whole - removed <= max_bytes:
            break
        files.remove_file(path)
        removed += segments[path].st_size
    return removed


def trimmed_note(max_bytes: int) -> Note:
    """One sentence, however often it happened."""
    text = (
        f"the corpus reached {max_bytes:,} bytes (`corpus.max-size`), so the oldest traffic was removed: "
        "what no report had read yet is missing in them"
    )
    return Note(TRIMMED, "", "", text)


def _last_of(layout: RunLayout, alive: Collection[int]) -> set[Path]:
    """The last segment of each kind of these incarnations."""
    last: dict[tuple[int, bool], Path] = {}
    for incarnation, path in sorted(layout.traffic_paths()):
        if incarnation in alive:
            last[incarnation, DULL in path.name] = path
    return set(last.values())


def _rest(layout: RunLayout) -> int:
    """Bytes of all that is no traffic and grows."""
    paths = [layout.snapshot]
    for directory in (layout.journals, layout.documents, layout.inflights):
        paths += files.list_directory(directory)
    return sum(found.st_size for path in paths if (found := _stat(path)))


def _stat(path: Path) -> os.stat_result | None:
    with suppress(FileNotFoundError):
        return path.stat()
    return None
