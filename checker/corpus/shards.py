"""Hypothesis example databases: a shard for each of 64 parts of the operations, the same for ever.

Shards are addresses, not locks: examples survive a change of the number of workers. Values are bytes; what they mean is
for `checker.generation` to say.
"""

from pathlib import Path

from hypothesis.database import DirectoryBasedExampleDatabase, ExampleDatabase

from checker.core.digests import digest, shard_of

_SECONDARY = b".secondary"


class Shards:
    """The example database below one directory."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._databases: dict[int, ExampleDatabase] = {}

    def database(self, label: str) -> ExampleDatabase:
        """The shard of an operation, as Hypothesis knows it."""
        shard = shard_of(label)
        database = self._databases.get(shard)
        if database is None:
            database = DirectoryBasedExampleDatabase(self._root / f"{shard:02d}")
            self._databases[shard] = database
        return database

    def save(self, label: str, choices: bytes) -> None:
        """Keep a failing example. Under the secondary key: under the primary one Hypothesis would think it shrunk."""
        self.database(label).save(secondary_key(label), choices)

    def load(self, label: str) -> list[bytes]:
        """Examples of an operation, shrunk ones first, shortest first."""
        database = self.database(label)
        found: dict[bytes, None] = {}
        for where in (key(label), secondary_key(label)):
            found.update(dict.fromkeys(sorted(database.fetch(where), key=_shortlex)))
        return list(found)

    def forget(self, label: str, choices: bytes) -> None:
        """Drop an example that does not fail any more."""
        for where in (key(label), secondary_key(label)):
            self.database(label).delete(where, choices)


def key(label: str) -> bytes:
    """Primary key of an operation: what Hypothesis itself has shrunk."""
    return digest(label).encode()


def secondary_key(label: str) -> bytes:
    """Key of what failed and is not shrunk."""
    return key(label) + _SECONDARY


def _shortlex(choices: bytes) -> tuple[int, bytes]:
    return len(choices), choices
