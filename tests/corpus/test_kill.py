import os
import resource
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from checker.core.errors import StorageError
from checker.corpus.files import Lock, take_lock
from checker.corpus.fold import fold
from checker.corpus.journal import JournalReader, Journals
from checker.corpus.layout import RunLayout
from checker.corpus.records import Finding

HERE = Path(__file__).parents[1]
CHILD = textwrap.dedent(
    """
    import os, sys
    from msgspec.structs import replace
    from pathlib import Path
    sys.path.insert(0, sys.argv[2])
    from corpus.generated import finding
    from checker.core.errors import StorageError
    from checker.corpus.journal import JournalWriter
    from checker.corpus.records import Note
    writer = JournalWriter(Path(sys.argv[1]))
    print("ready", flush=True)
    number = 0
    try:
        while True:
            for _ in range(number % 5):
                writer.append(Note("slow", "GET /a", "", str(number)))
            writer.commit(replace(finding(f"f{number}"), message=os.urandom(300).hex()))
            print(f"f{number}", flush=True)
            number += 1
    except StorageError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    """
)


def child(path: Path, before: Callable[[], object] | None = None) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-B", "-c", CHILD, str(path), str(HERE)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=before,
    )


def found_in(path: Path) -> list[str]:
    return [r.fingerprint for r in JournalReader(path).read_new() if isinstance(r, Finding)]


@pytest.mark.parametrize("seed", range(4))
def test_kill_9_at_any_time_loses_no_acknowledged_finding(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "j"
    process = child(path)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    live = JournalReader(path)
    seen: list[str] = []
    for _ in range(Random(seed).randrange(1, 60)):
        process.stdout.readline()
        seen += [r.fingerprint for r in live.read_new() if isinstance(r, Finding)]
    process.send_signal(signal.SIGKILL)
    rest, _ = process.communicate()
    acknowledged = rest.split()
    kept = found_in(path)
    assert kept == [f"f{number}" for number in range(len(kept))]
    assert set(seen) | set(acknowledged) <= set(kept)


def test_a_file_size_limit_ends_with_one_sentence_and_keeps_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "j"
    limit = 20_000
    process = child(path, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    output, errors = process.communicate()
    acknowledged = output.split()[1:]
    assert process.returncode == 2
    assert errors.strip() == (
        f"the corpus cannot be written: File too large at {path}; free space and run again: "
        "everything acknowledged before is kept"
    )
    assert len(acknowledged) > 10
    assert found_in(path) == acknowledged


def test_all_journals_are_one_stream(tmp_path: Path) -> None:
    layout = RunLayout(tmp_path)
    layout.create()
    first = child(layout.journal(1, 11))
    second = child(layout.journal(2, 12))
    for process in (first, second):
        assert process.stdout is not None
        for _ in range(5):
            process.stdout.readline()
    journals = Journals(layout)
    records = list(journals.read_new())
    for process in (first, second):
        process.send_signal(signal.SIGKILL)
        process.communicate()
    records += journals.finish(1)
    records += journals.finish_all()
    assert {number for number, _ in records} == {1, 2}
    assert set(found_in(layout.journal(1, 11))) <= set(fold(records).findings)
    assert list(journals.read_new()) == []
    assert layout.next_incarnation() == 3
    assert list(Journals(layout, above=1).finish_all()) == [r for r in records if r[0] == 2]


def test_one_process_owns_a_corpus_at_a_time(tmp_path: Path) -> None:
    lock = take_lock(tmp_path / "lock")
    assert isinstance(lock, Lock)
    assert take_lock(tmp_path / "lock") == os.getpid()
    lock.release()
    again = take_lock(tmp_path / "lock")
    assert isinstance(again, Lock)
    again.release()


def test_a_directory_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match=r"Not a directory at .*; check the disk"):
        RunLayout(tmp_path / "file" / "corpus").create()
