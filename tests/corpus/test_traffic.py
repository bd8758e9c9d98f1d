import os
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from checker.core.request import WireRequest
from checker.core.response import FailureKind, NetworkFailure, Outcome, Response
from checker.corpus.codec import pack
from checker.corpus.records import Exchange, Interaction
from checker.corpus.secrets import Secrets, exchange, lighter
from checker.corpus.traffic import DULL, InterestingAndLast, Keep, TrafficReader, TrafficWriter


def recorded(request: WireRequest, outcome: Outcome, secrets: Secrets | None = None) -> Exchange:
    return exchange(request, outcome, secrets or Secrets())


INTERACTION = Interaction(
    "c0",
    "GET /a",
    "fuzzing",
    (),
    "positive",
    (),
    "SUCCESS",
    1.0,
    0.0,
    recorded(WireRequest("GET", b"/a", []), Response(200, [], b"{}")),
    (),
    1,
)


def numbered(number: int, label: str = "GET /a", body: bytes = b"") -> Interaction:
    exchange = replace(INTERACTION.exchange, response_body=body)
    return replace(INTERACTION, case=f"c{number}", label=label, exchange=exchange)


@dataclass(slots=True)
class Sketch:
    interaction: Interaction = INTERACTION
    encoded: list[str] = field(default_factory=list)

    @property
    def label(self) -> str:
        return self.interaction.label

    def __len__(self) -> int:
        return 100

    def encode(self, keep: Keep) -> bytes:
        self.encoded.append(self.interaction.case)
        one = self.interaction
        return pack(replace(one, exchange=lighter(one.exchange, 0, keep)))


def segments(folder: Path) -> list[Path]:
    """Notable ones first."""
    return sorted(folder.iterdir(), key=lambda path: (DULL in path.name, path.name))


def interactions(folder: Path) -> list[Interaction]:
    return [found for path in segments(folder) for found in read(path)]


def read(path: Path) -> list[Interaction]:
    reader = TrafficReader(path)
    return list(reader.stream())


def _kept(bodies: list[bytes], body: bytes) -> int:
    bodies.append(body)
    return len(bodies)


def cases(folder: Path) -> list[str]:
    return [found.case for found in interactions(folder)]


def test_a_cassette_keeps_everything_in_order(tmp_path: Path) -> None:
    writer = TrafficWriter(tmp_path / "t")
    for number in range(1000):
        writer.offer(Sketch(numbered(number)), interesting=False)
    writer.close()
    assert cases(tmp_path) == [f"c{number}" for number in range(1000)]


def test_a_night_keeps_what_is_interesting_and_the_last_of_each_operation(tmp_path: Path) -> None:
    writer = TrafficWriter(tmp_path / "t", InterestingAndLast(last=2))
    for number in range(100):
        draft = Sketch(numbered(number, f"GET /{number % 2}"))
        writer.offer(draft, interesting=number == 10)
    writer.close()
    assert sorted(cases(tmp_path)) == ["c10", "c96", "c97", "c98", "c99"]


def test_of_many_dull_ones_some_of_the_last_are_kept(tmp_path: Path) -> None:
    writer = TrafficWriter(tmp_path / "t", InterestingAndLast(last=2))
    for number in range(1000):
        writer.offer(Sketch(numbered(number)), interesting=number == 500)
    writer.close()
    interesting, *last = (int(case[1:]) for case in cases(tmp_path))
    assert interesting == 500
    assert len(last) == 2
    assert min(last) >= 980


def test_a_draft_that_is_admitted_is_encoded_when_there_is_time_and_the_others_never(tmp_path: Path) -> None:
    writer, encoded = TrafficWriter(tmp_path / "t", InterestingAndLast(last=2)), list[str]()
    for number in range(50):
        writer.offer(Sketch(numbered(number), encoded), interesting=number == 10)
    assert encoded == []
    writer.catch_up()
    assert encoded == ["c10"]
    writer.close()
    assert encoded == ["c10", "c48", "c49"]
    assert cases(tmp_path) == ["c10", "c48", "c49"]


def test_a_body_is_written_once_however_often_it_came(tmp_path: Path) -> None:
    bodies = [os.urandom(20_000), os.urandom(30_000)]
    writer = TrafficWriter(tmp_path / "t")
    for number in range(500):
        writer.offer(Sketch(numbered(number, body=bodies[number % 2])), interesting=False)
    writer.close()
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 100_000
    found = [(one.case, one.exchange.response_body) for one in interactions(tmp_path)]
    assert found == [(f"c{number}", bodies[number % 2]) for number in range(500)]


def test_bodies_of_requests_are_kept_like_those_of_answers(tmp_path: Path) -> None:
    body = os.urandom(20_000)
    whole = replace(INTERACTION.exchange, body=body, response_body=body, response_size=len(body))
    writer = TrafficWriter(tmp_path / "t")
    for _ in range(9):
        writer.offer(Sketch(replace(INTERACTION, exchange=whole)), interesting=True)
    writer.close()
    assert [one.exchange for one in interactions(tmp_path)] == [whole] * 9
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 25_000


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=40), st.integers(1, 60_000))
@pytest.mark.thorough
def test_every_segment_can_be_read_without_the_others(offered: list[tuple[int, bool]], segment_bytes: int) -> None:
    bodies = [Random(number).randbytes(5_000 * number) for number in range(6)]
    with TemporaryDirectory() as folder:
        writer = TrafficWriter(Path(folder) / "t", segment_bytes=segment_bytes)
        for number, (body, interesting) in enumerate(offered):
            writer.offer(Sketch(numbered(number, body=bodies[body])), interesting=interesting)
            writer.flush()
        writer.close()
        found: dict[str, tuple[int, bool]] = {}
        for path in Path(folder).iterdir():
            alone = path.rename(path.with_suffix(".alone"))
            for one in read(alone):
                body = bodies.index(one.exchange.response_body)
                found[one.case] = body, DULL not in path.name
    assert found == {f"c{number}": one for number, one in enumerate(offered)}


def test_what_a_killed_writer_had_written_can_be_read_whole(tmp_path: Path) -> None:
    body = os.urandom(20_000)
    writer = TrafficWriter(tmp_path / "t")
    for number in range(300):
        writer.offer(Sketch(numbered(number, body=body)), interesting=False)
        writer.catch_up()
    # Never flushed, never closed.
    found = interactions(tmp_path)
    assert len(found) >= 256
    assert {one.exchange.response_body for one in found} == {body}


def test_long_bodies_are_cut_and_their_size_is_told(tmp_path: Path) -> None:
    request = WireRequest("POST", b"/a", [], b"r" * 9_000)
    whole = exchange(request, Response(200, [], b"a" * 8_000), Secrets())
    for most, sent, received in ((0, 9_000, 8_000), (8_500, 8_500, 8_000), (10, 10, 10)):
        kept: list[bytes] = []
        found = lighter(whole, most, partial(_kept, kept))
        bodies = [found.response_body or b"", found.body or b"", *kept]
        assert sorted(map(len, filter(None, bodies))) == sorted([sent, received])
        assert (found.body_size, found.response_size) == (9_000 if sent < 9_000 else None, 8_000)


def test_what_is_held_back_is_bounded_by_bytes() -> None:
    policy = InterestingAndLast(last=1000, held_bytes=1000)
    for number in range(100):
        policy.admit("GET /a", Sketch(), interesting=False)
        policy.admit(f"GET /{number}", Sketch(), interesting=False)
    assert sum(map(len, policy.rest())) <= 1000


def test_secrets_are_written_as_references_wherever_they_stand() -> None:
    secrets = Secrets([("Authorization", "Bearer abcdefgh1"), ("X-Id", "7"), ("Accept", "a/b")])
    request = WireRequest(
        "POST",
        b"/a?t=abcdefgh1",
        [(b"authorization", b"Bearer abcdefgh1"), (b"x-id", b"7"), (b"Accept", b"a/b")],
        b"17 abcdefgh1",
    )
    response = Response(200, [("X-Echo", "abcdefgh1")], b'"Bearer abcdefgh1"')
    found = recorded(request, response, secrets)
    assert found.headers == (
        (b"authorization", b"secret:header:Authorization"),
        (b"x-id", b"secret:header:X-Id"),
        (b"Accept", b"a/b"),
    )
    assert b"abcdefgh1" not in repr(found).encode()
    masked = WireRequest(found.method, found.target, list(found.headers), found.body)
    assert secrets.store.resolve_request(masked) == request


def test_a_failed_send_keeps_what_arrived() -> None:
    partial = Response(200, [], b"x", content_size=9)
    failure = NetworkFailure(FailureKind.TIMEOUT, "after 1 s", 1.0, partial)
    found = recorded(WireRequest("GET", b"/", []), failure)
    assert (found.failure, found.status, found.response_size) == ("timed out: after 1 s", 200, 9)
    assert found.elapsed_s == 1.0
