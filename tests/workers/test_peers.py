"""What a worker reads of the journals of others."""

from contextlib import closing
from pathlib import Path

import pytest

from checker.core.operation import Label
from checker.core.resources import ResourceModel
from checker.corpus.files import read_piece
from checker.corpus.journal import JournalWriter
from checker.corpus.records import OperationProbed
from checker.values.pool import ValuePool
from checker.workers.observers.knowledge import Knowledge


def test_the_journal_of_a_dead_worker_is_read_once_more_and_never_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def counted(path: Path, offset: int, size: int) -> bytes:
        read.append(path.name)
        return read_piece(path, offset, size)

    monkeypatch.setattr("checker.corpus.journal.read_piece", counted)
    knowledge = Knowledge(ValuePool(ResourceModel(()), lambda label: ()))
    paths = [str(tmp_path / name) for name in ("a", "b", "c")]
    knowledge.follow(paths)
    knowledge.tick(10.0)
    assert set(read) == {"a", "b", "c"}
    for path in paths:
        with closing(JournalWriter(Path(path))) as peer:
            peer.commit(OperationProbed(f"GET /{Path(path).name}", "t", "fuzzing", 0, is_judged=True))
    knowledge.follow((), paths[:2])
    for now in (20.0, 30.0):
        read.clear()
        knowledge.tick(now)
    assert set(read) == {"c"}
    assert all(knowledge.probed.is_begun("t", Label(f"GET /{name}")) for name in "abc")
    # Others look into all journals of the run.
    assert list(knowledge.peers) == paths
