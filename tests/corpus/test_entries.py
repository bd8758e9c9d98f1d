from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from checker.core.digests import shard_of
from checker.core.operation import Label
from checker.core.sequence import Drawn, Step
from checker.corpus.entries import Shelf, favoured
from checker.corpus.records import CorpusEntry
from checker.corpus.shards import Shards, secondary_key

ENTRIES = st.builds(
    CorpusEntry,
    st.sampled_from(["GET /a", "GET /b"]),
    st.just(()),
    st.lists(st.integers(0, 9), max_size=5).map(tuple),
    st.floats(0, 1),
)


def entry(number: int, *ids: int, cost_s: float = 0.1, size: int = 1) -> CorpusEntry:
    step = Step(Label("GET /a"), Drawn((number, "x" * size)))
    return CorpusEntry("GET /a", (step,), ids, cost_s)


@given(st.lists(ENTRIES, max_size=12), st.randoms(use_true_random=False))
def test_the_favoured_show_everything_in_any_order(entries: list[CorpusEntry], rng: object) -> None:
    kept = favoured(entries)
    assert {n for one in kept for n in one.ids} == {n for one in entries for n in one.ids}
    assert favoured(reversed(entries)) == kept
    assert len(kept) <= len({n for one in entries for n in one.ids})


def test_an_entry_is_admitted_for_a_new_id_or_a_much_lower_cost() -> None:
    shelf = Shelf()
    assert shelf.admit(entry(1, 7, cost_s=1.0))
    assert not shelf.admit(entry(2, 7, cost_s=0.9))
    assert shelf.admit(entry(3, 7, cost_s=0.1))
    assert shelf.admit(entry(4, 7, 8))
    assert not shelf.admit(entry(4, 7, 8))


def test_a_shelf_is_bounded_by_bytes_and_keeps_what_covers_most() -> None:
    shelf = Shelf(limit_bytes=10_000)
    shelf.admit(best := entry(0, *range(100), cost_s=0.001))
    for number in range(100, 200):
        shelf.admit(entry(number, number, size=500))
        assert shelf.size <= 10_000
    assert best in list(shelf)
    assert len(shelf) > 3


def test_examples_live_in_the_shard_of_their_operation_for_ever(tmp_path: Path) -> None:
    shards = Shards(tmp_path)
    shards.save("GET /a", b"long example")
    shards.save("GET /a", b"b")
    shards.save("GET /b", b"other")
    assert shards.load("GET /a") == [b"b", b"long example"]
    assert (tmp_path / f"{shard_of('GET /a'):02d}").is_dir()
    assert Shards(tmp_path).load("GET /b") == [b"other"]
    shards.forget("GET /a", b"b")
    assert shards.load("GET /a") == [b"long example"]
    assert secondary_key("GET /a").endswith(b".secondary")
