import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.corpus import files, snapshot
from checker.corpus.codec import FrameEncoder, pack
from checker.corpus.fold import RunView, fold
from checker.corpus.journal import Journals, JournalWriter, Loss, damage_note
from checker.corpus.layout import RunLayout
from checker.corpus.records import (
    FIXED,
    CorpusEntry,
    Finding,
    FindingReplayed,
    Note,
    Record,
    RefusalCounted,
    RunFinished,
    RunStarted,
    SignalsSeen,
    SnapshotHeader,
    TaskProgress,
    ValueGone,
    ValueSeen,
)
from checker.corpus.snapshot import Snapshot, compact, condense, read_snapshot

from .generated import RECORDS, exact, finding

NO_TIME = (0.0,) * 5


def start(run: str = "r1", at: float = 1.0) -> RunStarted:
    return RunStarted(run, "fuzz", at, "0", "api.json", 1, "s", "checker fuzz", 1)


def progress(cases: int) -> TaskProgress:
    statuses = (("GET /a", 200, cases),)
    ledger = (1.0, 0.0, 0.0, 0.0, 0.0)
    return TaskProgress("a1", "fuzzing", ("GET /a",), cases, False, cases, cases, 0, statuses, ledger)


def corpus(root: Path, journals: dict[int, list[Record]]) -> RunLayout:
    layout = RunLayout(root)
    layout.create()
    for number, records in journals.items():
        writer = JournalWriter(layout.journal(number, 1))
        for record in records:
            writer.append(record)
        writer.close()
    return layout


def everything(layout: RunLayout) -> RunView:
    pairs: list[tuple[int, Record]] = [(0, r) for r in read_snapshot(layout).records]
    return fold([*pairs, *Journals(layout).finish_all()])


def shown(view: RunView) -> str:
    return exact((list(view.findings.items()), sorted(view.quarantined.items(), key=exact)))


JOURNALS: dict[int, list[Record]] = {
    1: [start(), progress(3), finding("f1", at=5.0), RefusalCounted("POST /a", 422, "name is missing", 4)],
    2: [
        progress(4),
        RefusalCounted("POST /a", 422, "name is missing", 2),
        finding("f2", at=3.0),
        finding("f1", at=6.0, stage="minimised"),
    ],
    3: [ValueSeen("GET /a", "/id", 7, "c"), SignalsSeen("GET /a", ((1, "status"),))],
}


@given(st.lists(st.lists(RECORDS, max_size=6), min_size=1, max_size=3))
@pytest.mark.thorough
def test_findings_and_quarantined_cases_are_the_same_once_they_are_condensed(streams: list[list[Record]]) -> None:
    records = ((number, record) for number, stream in enumerate(streams, 1) for record in stream)
    # Findings that a replay closed are dropped, which has a test of its own.
    pairs = [(number, record) for number, record in records if not isinstance(record, FindingReplayed)]
    assert shown(fold((0, record) for record in condense(pairs))) == shown(fold(pairs))


def test_findings_that_are_fixed_are_dropped_unless_they_came_back() -> None:
    fixed, back = finding("f1", at=1.0), finding("f2", at=3.0)
    # Its first version is the best one, because nothing shrank the last one.
    best, last = finding("f3", at=1.0, stage="minimised"), finding("f3", at=3.0)
    replayed = (FindingReplayed(name, FIXED, 2.0) for name in ("f1", "f2", "f3"))
    records: list[Record] = [fixed, best, *replayed, back, last]
    assert condense([(1, one) for one in records]) == [best, back]


def test_of_a_run_only_what_was_learned_stays() -> None:
    end = RunFinished("r1", 9.0, "completed", 8.0, NO_TIME)
    value = ValueSeen("GET /a", "/id", 7, "c")
    entry = CorpusEntry("GET /a", (), (1, 2), 0.1)
    dull = CorpusEntry("GET /a", (), (2,), 0.2)
    records: list[Record] = [start(), progress(1), finding(), value, entry, dull, end]
    assert condense([(1, record) for record in records]) == [finding(), entry, value]


def test_deleted_values_do_not_come_back() -> None:
    seen = [ValueSeen("GET /a", "/id", value, "c") for value in (1, True, "1")]
    pairs: list[tuple[int, Record]] = [(1, value) for value in seen]
    assert condense([*pairs, (1, ValueGone(1, "c"))]) == seen[1:]


def test_compaction_leaves_one_file_that_tells_the_same(tmp_path: Path) -> None:
    layout = corpus(tmp_path, JOURNALS)
    before = shown(everything(layout))
    compact(layout)
    assert layout.journal_paths() == []
    assert shown(everything(layout)) == before
    assert layout.next_incarnation() == 4
    assert compact(layout).records == read_snapshot(layout).records


def test_journals_of_the_living_are_left_alone(tmp_path: Path) -> None:
    layout = corpus(tmp_path, JOURNALS)
    before = shown(everything(layout))
    compact(layout, closed=[1, 3])
    assert [number for number, _ in layout.journal_paths()] == [2]
    assert shown(everything(layout)) == before
    compact(layout)
    assert shown(everything(layout)) == before


class Killed(Exception):
    pass


@pytest.mark.parametrize("step", range(5))
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_kill_between_any_two_steps_loses_nothing_and_counts_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int, when: str
) -> None:
    layout = corpus(tmp_path, JOURNALS)
    before = shown(everything(layout))
    calls = 0

    def dying(name: str) -> None:
        real = getattr(files, name)

        def call(*arguments: object) -> object:
            nonlocal calls
            calls += 1
            if calls - 1 == step and when == "before":
                raise Killed
            result = real(*arguments)
            if calls - 1 == step:
                raise Killed
            return result

        monkeypatch.setattr(files, name, call)

    for name in ("write_temporary", "put_in_place", "remove_file"):
        dying(name)
    with pytest.raises(Killed):
        compact(layout)
    monkeypatch.undo()
    assert shown(everything(layout)) == before
    compact(layout)
    assert shown(everything(layout)) == before
    names = {path.name for path in tmp_path.iterdir() if path.is_file()}
    assert (names, layout.journal_paths()) == ({".gitignore", "snapshot"}, [])


@given(st.binary(min_size=1, max_size=80))
def test_noise_is_no_snapshot(tmp_path_factory: pytest.TempPathFactory, noise: bytes) -> None:
    layout = corpus(tmp_path_factory.getbasetemp() / "noise", {})
    layout.snapshot.write_bytes(noise)
    assert layout.head() == SnapshotHeader()
    found = read_snapshot(layout)
    assert (found.records, len(found.notes)) == ((), 1)


def test_what_a_damaged_snapshot_still_holds_is_read(tmp_path: Path) -> None:
    layout = corpus(tmp_path, JOURNALS)
    compact(layout)
    whole = layout.snapshot.read_bytes()
    layout.snapshot.write_bytes(whole + b"\x09")
    found = read_snapshot(layout)
    assert found.notes == (snapshot_note(layout, f"it breaks off at byte {len(whole)}"),)
    assert sum(isinstance(record, Finding) for record in found.records) == 3
    layout.snapshot.write_bytes(b"junk")
    unread = snapshot_note(layout, "it breaks off at byte 0")
    assert read_snapshot(layout) == Snapshot(notes=(unread,))


def test_files_of_another_format_are_one_warning_each(tmp_path: Path) -> None:
    layout = corpus(tmp_path, JOURNALS)
    path = layout.journal(7, 1)
    # A field was deleted behind the ledger, and a snapshot had a magic word.
    row = (4, "t", "fuzzing", ("GET /a",), 3, True, 3, 3, 0, (), (0.0,) * 5, "", 2)
    path.write_bytes(FrameEncoder().frame([pack(row)]))
    layout.snapshot.write_bytes(b"CHKSNAP1" + bytes(40))
    told, unread = (note.text for note in compact(layout).notes)
    assert told == snapshot_note(layout, "it has no frame of this version of checker at byte 0").text
    assert unread.startswith(f"{path} is damaged: another version of checker wrote the frame (ValidationError: ")
    assert unread.endswith(f" at byte 0; {Loss.JOURNAL}")


def snapshot_note(layout: RunLayout, reason: str) -> Note:
    return damage_note(layout.snapshot, reason, Loss.SNAPSHOT)


def test_damage_that_compaction_meets_is_told_before_it_is_gone(tmp_path: Path) -> None:
    layout = corpus(tmp_path, JOURNALS)
    compact(layout, closed=[3])
    layout.snapshot.write_bytes(layout.snapshot.read_bytes() + bytes(16))
    (_, damaged), (_, torn) = layout.journal_paths()
    damaged.write_bytes(damaged.read_bytes() + bytes(16))
    os.truncate(torn, torn.stat().st_size - 1)
    assert {note.text.partition(" is damaged")[0] for note in compact(layout).notes} == {
        str(layout.snapshot),
        str(damaged),
    }
    assert compact(layout).notes == ()


def test_a_large_corpus_gives_up_values_before_signals_and_findings_never(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "LIMIT_BYTES", 0)
    monkeypatch.setattr(snapshot, "_FRAME_BYTES", 1)
    layout = corpus(tmp_path, JOURNALS)
    kept = compact(layout).records
    assert not any(isinstance(record, ValueSeen | SignalsSeen) for record in kept)
    assert list(everything(layout).findings) == ["f2", "f1"]


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    layout = corpus(tmp_path / "corpus", JOURNALS)
    compact(layout)
    assert layout.root.stat().st_mode & 0o777 == layout.journals.stat().st_mode & 0o777 == 0o700
    assert layout.snapshot.stat().st_mode & 0o777 == 0o600
