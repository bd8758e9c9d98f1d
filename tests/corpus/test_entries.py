from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.core.digests import shard_of
from checker.corpus.records import CorpusEntry
from checker.corpus.snapshot import favoured
from checker.workers.observers.saved_examples import Shards, secondary_key

ENTRIES = st.builds(
    CorpusEntry,
    st.sampled_from(["GET /a", "GET /b"]),
    st.just(()),
    st.lists(st.integers(0, 9), max_size=5).map(tuple),
    st.floats(0, 1),
)


@given(st.lists(ENTRIES, max_size=12), st.randoms(use_true_random=False))
@pytest.mark.thorough
def test_the_favoured_show_everything_in_any_order(entries: list[CorpusEntry], rng: object) -> None:
    kept = favoured(entries)
    assert {n for one in kept for n in one.ids} == {n for one in entries for n in one.ids}
    assert favoured(reversed(entries)) == kept
    assert len(kept) <= len({n for one in entries for n in one.ids})


@pytest.mark.parametrize(("cost_s", "is_first"), [(0.2, True), (2.0, False)])
def test_the_load_of_the_machine_does_not_decide_what_is_recalled_first(cost_s: float, *, is_first: bool) -> None:
    rare = CorpusEntry("GET /a", (), (1, 2), cost_s)
    usual = CorpusEntry("GET /a", (), (3,), 0.001)
    assert favoured([usual, rare]) == ([rare, usual] if is_first else [usual, rare])


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
