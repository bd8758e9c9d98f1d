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
