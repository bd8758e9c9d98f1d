import os
from pathlib import Path

from checker.corpus.layout import RunLayout
from checker.corpus.traffic import segment_bytes, trim


def layout_with(folder: Path, *names: str, size: int = 1000) -> RunLayout:
    """Segments of these names, the oldest first."""
    layout = RunLayout(folder)
    layout.create()
    for age, name in enumerate(names):
        path = layout.traffics / f"{name}.traffic"
        path.write_bytes(bytes(size))
        os.utime(path, ns=(age, age))
    return layout


def left(layout: RunLayout) -> list[str]:
    return sorted(path.stem for path in layout.traffics.iterdir())


NAMES = (
    "00000002-7-notable-000000",
    "00000002-7-dull-000000",
    "00000003-8-dull-000000",
    "00000002-7-dull-000001",
    "00000003-8-notable-000000",
)


def test_nothing_goes_while_there_is_room(tmp_path: Path) -> None:
    layout = layout_with(tmp_path, *NAMES)
    assert trim(layout, 5000) == 0
    assert left(layout) == sorted(NAMES)


def test_the_oldest_dull_traffic_goes_first_and_no_more_than_has_to(tmp_path: Path) -> None:
    layout = layout_with(tmp_path, *NAMES)
    assert trim(layout, 3500) == 2000
    assert left(layout) == sorted((NAMES[0], NAMES[3], NAMES[4]))


def test_then_goes_the_oldest_that_is_notable(tmp_path: Path) -> None:
    layout = layout_with(tmp_path, *NAMES)
    assert trim(layout, 1000) == 4000
    assert left(layout) == [NAMES[4]]


def test_journals_count_and_stay(tmp_path: Path) -> None:
    layout = layout_with(tmp_path, *NAMES)
    (layout.journals / "00000002-7.journal").write_bytes(bytes(4000))
    assert trim(layout, 5000) == 4000
    assert left(layout) == [NAMES[4]]
    assert trim(layout, 10) == 1000
    assert [path.stat().st_size for path in layout.journals.iterdir()] == [4000]


def test_what_a_living_worker_may_write_to_stays(tmp_path: Path) -> None:
    layout = layout_with(tmp_path, *NAMES)
    assert trim(layout, 10, alive=[2]) == 3000
    assert left(layout) == sorted((NAMES[0], NAMES[3]))


def test_open_segments_are_a_small_part_of_the_whole() -> None:
    for workers in (1, 2, 64):
        assert 2 * workers * segment_bytes(1 << 30, workers) <= (1 << 30) // 8
