from hypothesis import given
from hypothesis import strategies as st

from checker.generation.sources import alphabets
from checker.generation.sources.choices import RandomSource, Source
from checker.generation.sources.replay import ReplaySource
from tests.measuring.conjecture import replay_through_conjecture

from .making import cases, drawer, parts, program_of
from .test_values import COMPONENTS, SCHEMAS

CHOICES = st.lists(
    st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=20) | st.binary(max_size=20)
)
EVERYTHING = program_of(
    body={
        "type": "object",
        "required": [f"p{index}" for index in range(0, len(SCHEMAS), 2)],
        "properties": {
            f"p{index}": raw
            for index, (name, raw) in enumerate(SCHEMAS.items())
            if name not in ("long string", "not", "not enum")
        },
    },
    components=COMPONENTS,
)


def test_same_seed_same_case() -> None:
    first, second = (cases(EVERYTHING, 20) for _ in range(2))
    assert list(map(parts, first)) == list(map(parts, second))


def test_reset_is_a_new_source() -> None:
    source = RandomSource(1)
    drawer(EVERYTHING)(source)
    source.reset(7)
    case, kept = drawer(EVERYTHING)(source), source.choices
    fresh = RandomSource(7)
    assert parts(drawer(EVERYTHING)(fresh)) == parts(case)
    source.reset(8)
    assert kept == fresh.choices


@given(st.integers(0, 2**64))
def test_record_replays_exactly(seed: int) -> None:
    source = RandomSource(seed)
    case = drawer(EVERYTHING)(source)
    replay = ReplaySource(tuple(source.choices))
    assert parts(case) == parts(drawer(EVERYTHING)(replay))
    assert list(map(repr, source.choices)) == list(map(repr, replay.choices))


@given(CHOICES, st.integers(0, 2**32))
def test_replay_of_anything_gives_a_case_that_replays(choices: list[object], seed: int) -> None:
    source = ReplaySource(choices, seed)  # type: ignore[arg-type]
    case = drawer(EVERYTHING)(source)
    again = ReplaySource(source.choices)
    assert parts(case) == parts(drawer(EVERYTHING)(again))


@given(st.integers(0, 2**32), st.data())
def test_mutated_records_give_cases(seed: int, data: st.DataObject) -> None:
    source = RandomSource(seed)
    drawer(EVERYTHING)(source)
    choices = list(source.choices)
    replay = ReplaySource(choices)
    drawer(EVERYTHING)(replay)
    _, start, end = data.draw(st.sampled_from(replay.spans))
    mutated = choices[:start] + choices[end:]
    replay = ReplaySource(mutated, seed)
    case = drawer(EVERYTHING)(replay)
    value, status, is_exact = replay_through_conjecture(drawer(EVERYTHING), replay.choices)
    assert (status, is_exact) == ("VALID", True)
    assert value is not None
    assert parts(case) == parts(value)


def test_what_is_discarded_has_never_been_drawn() -> None:
    source = ReplaySource((), 3)
    _draw_and_discard(source)
    assert source.spans == []
    _draw_and_discard(RandomSource(3))


def _draw_and_discard(source: RandomSource | ReplaySource) -> None:
    source.integer(0, 10)
    kept = list(source.choices)
    source.start_span(1)
    source.string(alphabets.TEXT, 0, 10)
    source.start_span(2)
    source.boolean()
    source.stop_span()
    source.stop_span(discard=True)
    assert kept == source.choices


def _primitives(source: Source) -> list[object]:
    found: list[object] = []
    for low, high in ((0, 0), (-5, 5), (0, 10**30), (-(2**63), 2**63 - 1), (17, 400)):
        value = source.integer(low, high)
        assert low <= value <= high
        found.append(value)
    for least, most in ((0.0, 1.0), (-1e308, 1e308), (0.25, 0.5), (-7.5, 0.0)):
        number = source.floating(least, most)
        assert least <= number <= most
        found.append(number)
    for size, longest in ((0, 0), (3, 3), (0, 1000), (5, 9)):
        for alphabet in (alphabets.TEXT, alphabets.HEX, alphabets.VISIBLE):
            text = source.string(alphabet, size, longest)
            assert size <= len(text) <= longest
            assert alphabet.permits(text)
            found.append(text)
        octets = source.binary(size, longest)
        assert size <= len(octets) <= longest
        found.append(octets)
    found.append(source.choice(7))
    source.forced(True)
    return found


@given(st.integers(0, 2**64))
def test_primitives_keep_their_bounds_and_replay_in_hypothesis(seed: int) -> None:
    source = RandomSource(seed)
    found = _primitives(source)
    value, status, is_exact = replay_through_conjecture(_primitives, source.choices)
    assert (status, is_exact) == ("VALID", True)
    assert repr(found) == repr(value)


def test_cases_stay_below_what_hypothesis_takes() -> None:
    raw = {"type": "array", "items": {"type": "object", "additionalProperties": {"type": "string"}}, "minItems": 3}
    program = program_of(body=raw)
    source = RandomSource()
    for seed in range(300):
        source.reset(seed)
        drawer(program)(source)
        status = replay_through_conjecture(drawer(program), source.choices)[1]
        assert status == "VALID"
