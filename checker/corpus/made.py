"""The ledger of what runs have made at their target: a file of lines, since any process may be killed at any time."""

import json
from collections.abc import Iterator
from pathlib import Path

from checker.corpus.files import AppendFile, TailFile

_MOST_BYTES = 8 << 20


class MadeLedger:
    """Appends what was made or removed at one target, and reads what all processes have appended for it."""

    def __init__(self, path: Path, target: str) -> None:
        """`target`: URL without credentials; what was made elsewhere is passed over."""
        self._path = path
        self._target = target
        self._file: AppendFile | None = None
        self._at = 0

    def write(self, path: str, label: str) -> None:
        """Keep that an operation made a path; an empty label: it is gone. Raises `StorageError`."""
        if self._file is None:
            self._file = AppendFile(self._path)
        self._file.append(json.dumps([self._target, path, label]).encode() + b"\n")

    def news(self) -> Iterator[tuple[str, str]]:
        """(path, label) pairs since the last call, oldest first; torn and foreign lines are passed over."""
        if not self._path.exists():
            return
        tail = TailFile(self._path)
        data = tail.read_from(self._at, _MOST_BYTES)
        tail.close()
        whole, _, _ = data.rpartition(b"\n")
        self._at += len(whole) + 1 if whole else 0
        for line in whole.splitlines():
            try:
                target, path, label = json.loads(line)
            except ValueError:
                continue
            if target == self._target:
                yield str(path), str(label)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
