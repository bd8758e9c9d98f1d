"""The referee against itself: valid requests with one thing spoiled must be judged invalid, and at that place."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.core.contract import Outcome, RequestVerdict

from .requests import MEDIA_TYPES, Sketch, sketched, the_operation
from .spoiling import EACH, KINDS, Expected

OPERATION = the_operation()


def verdict_on(it: Sketch) -> RequestVerdict:
    return OPERATION.judge_request(it.wire(), base_path="/base")


def is_there(verdict: RequestVerdict, expected: Expected) -> bool:
    return expected in {(part.location, part.name, part.keyword) for part in verdict.invalid}


@settings(max_examples=200, derandomize=True)
@given(st.integers(0, 9), st.sampled_from(MEDIA_TYPES), st.data())
@pytest.mark.thorough
def test_whatever_arrives_there_is_a_verdict(seed: int, media_type: str, data: st.DataObject) -> None:
    request = sketched(Random(seed), media_type).wire()
    parts = [request.target, request.body or b"", *(value for _, value in request.headers)]
    changed = data.draw(st.integers(0, len(parts) - 1))
    at = data.draw(st.integers(0, len(parts[changed])))
    parts[changed] = parts[changed][:at] + data.draw(st.binary(max_size=8)) + parts[changed][at + 2 :]
    request.target, request.body, *values = parts
    request.headers = [(name, value) for (name, _), value in zip(request.headers, values, strict=True)]
    verdict = OPERATION.judge_request(request, base_path="/base")
    assert verdict.outcome in Outcome
    assert all(part.reason for part in verdict.invalid + verdict.ambiguous)


@pytest.mark.parametrize("media_type", MEDIA_TYPES)
def test_what_is_not_spoiled_is_valid(media_type: str) -> None:
    for seed in range(40):
        verdict = verdict_on(sketched(Random(seed), media_type))
        assert verdict.outcome is Outcome.VALID, verdict.invalid + verdict.ambiguous


def test_what_is_spoiled_is_found_where_it_is() -> None:
    hits: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    outcomes: Counter[Outcome] = Counter()
    for name, media_type, spoil, expected in KINDS:
        for seed in range(EACH):
            random = Random(seed)
            it = sketched(random, media_type)
            spoil(it, random)
            verdict = verdict_on(it)
            outcomes[verdict.outcome] += 1
            hits[name] += is_there(verdict, expected)
            alone[name] += len({(part.location, part.name) for part in verdict.invalid}) == 1
    total = EACH * len(KINDS)
    table = "\n".join(f"{hits[name]:3} of {EACH}  {name}" for name, *_ in KINDS)
    assert len(KINDS) >= 20
    assert total >= 500
    assert outcomes[Outcome.VALID] == 0, table
    assert sum(hits.values()) >= 0.95 * total, table
    assert min(hits[name] for name, *_ in KINDS) > 0, table
    # A spoiled part spoils no other one.
    assert sum(alone.values()) >= 0.95 * total
