import os
from dataclasses import dataclass, field, replace
from pathlib import Path

from checker.core.request import WireRequest
from checker.core.response import FailureKind, NetworkFailure, Outcome, Response
from checker.corpus.codec import RecordEncoder
from checker.corpus.exchange import exchange, exchange_fields
from checker.corpus.records import Exchange, Interaction
from checker.corpus.secrets import Secrets
from checker.corpus.traffic import InterestingAndLast, TrafficReader, TrafficWriter


def recorded(request: WireRequest, outcome: Outcome, secrets: Secrets | None = None) -> Exchange:
    return exchange(exchange_fields(request, outcome, secrets or Secrets()))


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

    @property
    def phase(self) -> str:
        return self.interaction.phase

    def __len__(self) -> int:
        return 100

    def encode(self) -> bytes:
        self.encoded.append(self.interaction.case)
        return RecordEncoder().encode(self.interaction)


def cases(path: Path) -> list[str]:
    return [found.case for found in TrafficReader(path).stream()]


class Unwritable(Sketch):
    def encode(self) -> bytes:
        raise ValueError("nobody thought of this")


def test_an_interaction_that_cannot_be_encoded_costs_itself(tmp_path: Path) -> None:
    writer = TrafficWriter(tmp_path / "t")
    broken = Unwritable()
    for draft in (Sketch(numbered(1)), broken, Sketch(numbered(2))):
        writer.offer(draft, interesting=True)
    writer.close()
    assert cases(tmp_path / "t") == ["c1", "c2"]
    ((unwritten, error),) = writer.faults
    assert (unwritten, str(error)) == (broken, "nobody thought of this")


def test_a_cassette_keeps_everything_in_order(tmp_path: Path) -> None:
    writer = TrafficWriter(tmp_path / "t")
    for number in range(1000):
        writer.offer(Sketch(numbered(number)), interesting=False)
    writer.close()
    assert cases(tmp_path / "t") == [f"c{number}" for number in range(1000)]


def test_a_night_keeps_what_is_interesting_and_the_last_of_each_operation(tmp_path: Path) -> None:
    writer = TrafficWriter(tmp_path / "t", InterestingAndLast(last=2))
    for number in range(100):
        draft = Sketch(numbered(number, f"GET /{number % 2}"))
        writer.offer(draft, interesting=number == 10)
    writer.close()
    assert sorted(cases(tmp_path / "t")) == ["c10", "c96", "c97", "c98", "c99"]


def test_of_many_dull_ones_some_of_the_last_are_kept(tmp_path: Path) -> None:
    writer = TrafficWriter(tmp_path / "t", InterestingAndLast(last=2))
    for number in range(1000):
        writer.offer(Sketch(numbered(number)), interesting=number == 500)
    writer.close()
    interesting, *last = (int(case[1:]) for case in cases(tmp_path / "t"))
    assert interesting == 500
    assert len(last) == 2
    assert min(last) >= 980


def test_a_draft_that_is_admitted_is_encoded_when_there_is_time_and_the_others_never(
    tmp_path: Path,
) -> None:
    writer, encoded = TrafficWriter(tmp_path / "t", InterestingAndLast(last=2)), list[str]()
    for number in range(50):
        writer.offer(Sketch(numbered(number), encoded), interesting=number == 10)
    assert encoded == []
    writer.catch_up()
    assert encoded == ["c10"]
    writer.close()
    assert encoded == ["c10", "c48", "c49"]
    assert cases(tmp_path / "t") == ["c10", "c48", "c49"]


def test_when_the_budget_is_spent_the_older_half_goes(tmp_path: Path) -> None:
    writer = TrafficWriter(tmp_path / "t", InterestingAndLast(budget_bytes=100_000))
    for number in range(40):
        writer.offer(Sketch(numbered(number, body=os.urandom(10_000))), interesting=True)
        writer.flush()
    writer.close()
    kept = cases(tmp_path / "t")
    assert kept == [f"c{number}" for number in range(40 - len(kept), 40)]
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 100_000
    assert len(kept) >= 5


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
