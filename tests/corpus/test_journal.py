import errno
import os
import tempfile
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.core.errors import StorageError
from checker.corpus import files, journal
from checker.corpus.codec import FrameEncoder, ScanEnding, pack, scan
from checker.corpus.journal import FRAME_RECORDS, JournalReader, Journals, JournalWriter, Loss, damage_note
from checker.corpus.layout import RunLayout
from checker.corpus.records import CaseFared, Note, Record, ValueSeen

from .generated import RECORDS, exact, finding

SEGMENTS = st.lists(st.lists(RECORDS, min_size=1, max_size=3), min_size=1, max_size=4)


def segment(frames: list[list[Record]]) -> bytes:
    encode, frame = pack, FrameEncoder().frame
    return b"".join(frame([encode(record) for record in records]) for records in frames)


def note(number: int) -> Note:
    return Note("opaque", "GET /a", "/x", str(number))


@given(SEGMENTS, st.data())
@pytest.mark.thorough
def test_scan_of_a_cut_segment_is_a_prefix(frames: list[list[Record]], data: st.DataObject) -> None:
    whole = segment(frames)
    cut = data.draw(st.integers(0, len(whole)))
    found = scan(whole[:cut])
    wanted = [record for frame in frames for record in frame]
    assert exact(found.records) == exact(wanted[: len(found.records)])
    assert found.ending is (ScanEnding.CLEAN if found.consumed == cut else ScanEnding.SHORT)
    assert cut < len(whole) or len(found.records) == len(wanted)


@given(SEGMENTS, st.data())
@pytest.mark.thorough
def test_damage_never_raises_and_never_yields_a_wrong_record(frames: list[list[Record]], data: st.DataObject) -> None:
    whole = bytearray(segment(frames))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at] ^= data.draw(st.integers(1, 255))
    found = scan(bytes(whole))
    wanted = [record for frame in frames for record in frame]
    assert exact(found.records) == exact(wanted[: len(found.records)])


@given(st.binary(max_size=200))
def test_noise_is_no_record(noise: bytes) -> None:
    assert scan(noise).records == []


def test_a_hole_of_zeros_is_damage() -> None:
    found = scan(segment([[note(1)]]) + bytes(64))
    assert ([note(1)], ScanEnding.DAMAGED) == (found.records, found.ending)


@given(st.lists(st.integers(0, 40), max_size=6))
def test_a_reader_that_follows_sees_every_record_once(sizes: list[int]) -> None:
    found: list[Record] = []
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "j"
        writer, reader = JournalWriter(path), JournalReader(path)
        for size in sizes:
            for _ in range(size):
                writer.append(note(len(found)))
            writer.flush()
            new = reader.read_new()
            assert len(new) == size
            found += new
        writer.close()
        assert (reader.read_new(), reader.notes()) == ([], [])


def test_a_reader_returns_only_the_kinds_that_it_names(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path / "1.journal")
    note = Note("kind", "GET /a", "", "text")
    for record in (finding("f1"), note, finding("f2"), note):
        writer.append(record)
    writer.close()
    reader = JournalReader(tmp_path / "1.journal", kinds=(Note,))
    assert reader.read_new() == [note, note]
    assert reader.damage is None


def test_no_journal_stays_open(tmp_path: Path) -> None:
    layout = RunLayout(tmp_path)
    files.make_directory(layout.journals)
    for incarnation in range(1, 41):
        writer = JournalWriter(layout.journal(incarnation, 1))
        writer.commit(note(incarnation))
        writer.close()
    before, journals = psutil.Process().num_fds(), Journals(layout)
    streams = [stream for _, stream in journals.new_of_each()]
    assert [next(stream) for stream in streams] == [note(incarnation) for incarnation in range(1, 41)]
    assert psutil.Process().num_fds() == before


def test_a_frame_longer_than_a_read_is_found_whole(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path / "j")
    wanted = [Note("opaque", "", "", os.urandom(2 << 20).hex()), note(2)]
    for record in wanted:
        writer.commit(record)
    assert JournalReader(tmp_path / "j").read_new() == wanted


def test_nothing_is_read_before_its_frame_is_whole_and_a_torn_tail_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "00000001-1.journal"
    whole = segment([[note(1)], [note(2)]])
    first = len(segment([[note(1)]]))
    reader = JournalReader(path)
    assert reader.read_new() == []
    path.write_bytes(whole[: first + 9])
    assert reader.read_new() == [note(1)]
    path.write_bytes(whole[:-1])
    assert (reader.read_new(), reader.notes()) == ([], [])


def test_damage_ends_the_reading_of_a_file_with_a_note(tmp_path: Path) -> None:
    path = tmp_path / "j"
    good = segment([[note(1)]])
    path.write_bytes(good + b"\x05\0\0\0aaaabbbbb" + good)
    reader = JournalReader(path)
    assert reader.read_new() == [note(1)]
    assert reader.notes() == [damage_note(path, f"wrong checksum at byte {len(good)}", Loss.JOURNAL)]
    assert reader.read_new() == []


def test_a_full_frame_is_written_by_itself_and_a_rest_after_200_ms(tmp_path: Path) -> None:
    writer, reader = JournalWriter(tmp_path / "j"), JournalReader(tmp_path / "j")
    for number in range(FRAME_RECORDS + 1):
        writer.append(note(number), now=10.0)
    assert len(reader.read_new()) == FRAME_RECORDS
    writer.tick(10.1)
    assert reader.read_new() == []
    writer.tick(10.25)
    assert reader.read_new() == [note(FRAME_RECORDS)]


def test_findings_are_committed_with_everything_before_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(files, "_sync_data", synced.append)
    writer, reader = JournalWriter(tmp_path / "j"), JournalReader(tmp_path / "j")
    writer.write(note(1))
    assert (reader.read_new(), synced) == ([], [])
    writer.write(finding())
    assert reader.read_new() == [note(1), finding()]
    assert len(synced) == 1


def test_later_versions_wait_for_no_disk_until_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(files, "_sync_data", synced.append)
    writer, reader = JournalWriter(tmp_path / "j"), JournalReader(tmp_path / "j")
    writer.commit(finding())
    writer.hand_over(finding(stage="minimised"))
    assert reader.read_new() == [finding(), finding(stage="minimised")]
    assert len(synced) == 1
    writer.close()
    assert len(synced) == 2
    # What is on the disk already is not waited for.
    other = JournalWriter(tmp_path / "other")
    other.commit(finding())
    other.close()
    assert len(synced) == 3


def test_findings_that_are_handed_over_are_synced_once_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(files, "_sync_data", synced.append)
    writer, reader = JournalWriter(tmp_path / "j"), JournalReader(tmp_path / "j")
    for tenth in range(30):
        writer.hand_over(finding(f"f{tenth}"))
        assert len(reader.read_new()) == 1
        writer.tick(10.0 + tenth / 10)
    assert len(synced) == 3


def test_what_is_committed_together_is_there_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    path, together = tmp_path / "j", [finding(f"f{number}") for number in range(FRAME_RECORDS + 1)]
    writer = JournalWriter(path)
    writer.commit(finding("before"))
    begin = path.stat().st_size
    writer.commit(*together)
    whole = path.read_bytes()
    for size in range(begin, len(whole)):
        path.write_bytes(whole[:size])
        assert JournalReader(path).read_new() == [finding("before")]
    path.write_bytes(whole)
    assert JournalReader(path).read_new() == [finding("before"), *together]


def test_learned_values_give_way_to_findings_when_the_budget_is_spent(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path / "j", budget_bytes=20_000)
    value = ValueSeen("GET /a", "/id", os.urandom(20_000).hex(), "c")
    writer.append(value)
    writer.flush()
    writer.write(value)
    writer.write(finding())
    assert JournalReader(tmp_path / "j").read_new() == [value, finding()]


@given(st.lists(st.lists(RECORDS, max_size=5), max_size=4))
def test_a_writer_recalls_what_a_reader_of_its_file_would_return(batches: list[list[Record]]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "j"
        writer, reader = JournalWriter(path, recalls=(ValueSeen, CaseFared)), JournalReader(path)
        kept = JournalReader(path, kinds=(ValueSeen, CaseFared))
        for batch in batches:
            for record in batch:
                writer.append(record)
            assert exact(writer.news(reader)) == exact(kept.read_new())
            assert reader.read_new() == []


def test_more_than_a_writer_recalls_is_read_from_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "RECENT_RECORDS", 2)
    writer = JournalWriter(tmp_path / "j", recalls=(Note,))
    for number in range(3):
        writer.append(note(number))
    reader = JournalReader(tmp_path / "j")
    assert writer.news(reader) == [note(0), note(1), note(2)]
    writer.append(note(3))
    assert writer.news(reader) == [note(3)]
    assert reader.read_new() == []


def test_a_disk_that_fails_midway_keeps_what_was_acknowledged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "j"
    writer = JournalWriter(path)
    writer.commit(finding("f1"))
    real_write = os.write

    def half_then_full(fd: int, data: bytes) -> int:
        if len(data) > 20:
            return real_write(fd, bytes(data[:20]))
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", lambda fd, data: half_then_full(fd, data[:40]))
    with pytest.raises(StorageError) as caught:
        writer.commit(finding("f2"))
    monkeypatch.undo()
    assert str(caught.value) == (
        f"the corpus cannot be written: No space left on device at {path}; free space and run again: "
        "everything acknowledged before is kept"
    )
    with pytest.raises(StorageError):
        writer.commit(finding("f3"))
    reader = JournalReader(path)
    assert (reader.read_new(), reader.notes()) == ([finding("f1")], [])


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="the disk that is full is /dev/full, which this system does not have"
)
def test_a_full_device_is_one_sentence() -> None:
    writer = JournalWriter(Path("/dev/full"))
    with pytest.raises(StorageError, match=r"No space left on device at /dev/full; free space"):
        writer.commit(finding())
