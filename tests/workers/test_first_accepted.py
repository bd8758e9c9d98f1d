"""The case of an operation that `ignored_auth` probes."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from zlib import crc32

import pytest
from msgspec.structs import replace

from checker.core.digests import case_id
from checker.core.response import Outcome, Response
from tests.asking import saying
from tests.workers.harness import GETS, SECURED, TASK, run, workplace

ASKED = saying(
    {"checks": {"enabled": False, "ignored_auth": {"enabled": True}}},
    generation={"mode": "positive", "no-shrink": True},
    headers={"Authorization": "Bearer right"},
)


def _accepts_few(response: Response) -> Outcome:
    """401 without the token; otherwise one of ten requests is accepted, by its bytes."""
    request = response.request
    assert request is not None
    if request.header(b"authorization") != b"Bearer right":
        return Response(401, [], b"", elapsed=0.001, request=request)
    if crc32(request.target) % 10:
        return Response(404, [], b"", elapsed=0.001, request=request)
    return response


def _probed(events: Iterable[tuple[str, str]]) -> list[str]:
    """Return the cases whose request was sent more than once."""
    return [case for case, count in Counter(c for kind, c in events if kind == "sent").items() if count > 1]


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize("lanes", [2, 3, 8])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_accepted_case_with_the_lowest_index_is_probed_with_any_number_of_lanes(
    tmp_path: Path, lanes: int, seed: int
) -> None:
    probed = []
    for width in (1, lanes):
        (folder := tmp_path / str(width)).mkdir()
        with workplace(folder, document=SECURED, kind="run", lanes=width, operations=ASKED) as place:
            ran = run(place, replace(GETS, seed=seed, stop=100), spoil=_accepts_few)
        probed.append(_probed(ran.memory.events))
    alone, together = probed
    assert len(alone) == 1
    assert alone == together


def test_a_resumed_task_probes_again_only_for_the_same_case(tmp_path: Path) -> None:
    with workplace(tmp_path, document=SECURED, kind="run", operations=ASKED) as place:
        whole = run(place, replace(GETS, stop=100), spoil=_accepts_few)
        journal = place.opened.journal
    (folder := tmp_path / "resumed").mkdir()
    with workplace(folder, document=SECURED, kind="run", operations=ASKED) as place:
        place.knowledge.follow((journal,))
        rest = run(place, replace(GETS, start=50, stop=100), spoil=_accepts_few)
        assert _probed(rest.memory.events) == []
    (probed,) = _probed(whole.memory.events)
    (folder := tmp_path / "redone").mkdir()
    with workplace(folder, document=SECURED, kind="run", operations=ASKED) as place:
        place.knowledge.follow((journal,))
        # Ten digits of the seed, then the index.
        task = replace(GETS, start=100, stop=100, redo=(int(probed[10:]),))
        redone = run(place, task, spoil=_accepts_few)
    # Its worker may have died before it looked into what the probe showed.
    assert _probed(redone.memory.events) == [probed]


@pytest.mark.parametrize(("status", "is_probed"), [(401, False), (404, True)])
def test_a_later_phase_probes_what_got_no_verdict(tmp_path: Path, status: int, *, is_probed: bool) -> None:
    def hides(response: Response) -> Outcome:
        request = response.request
        assert request is not None
        if request.header(b"authorization") == b"Bearer right":
            return response
        return Response(status, [], b"", elapsed=0.001, request=request)

    later = replace(GETS, id="00000000000000a3", phase="stateful", seed=12, stop=10)
    with workplace(tmp_path, document=SECURED, kind="run", operations=ASKED) as place:
        ran = run(place, replace(GETS, stop=10), later, spoil=hides)
    probed = _probed(ran.memory.events)
    assert case_id(GETS.seed, 0) in probed
    assert (case_id(later.seed, 0) in probed) is is_probed


def test_fuzz_probes_an_operation_in_its_first_turn_alone(tmp_path: Path) -> None:
    def refuses_strangers(response: Response) -> Outcome:
        request = response.request
        assert request is not None
        if request.header(b"authorization") == b"Bearer right":
            return response
        return Response(401, [], b"", elapsed=0.001, request=request)

    turns = [replace(TASK, id=f"00000000000000b{number}", seed=number, stop=60) for number in (1, 2)]
    with workplace(tmp_path, document=SECURED, operations=ASKED) as place:
        ran = run(place, *turns, spoil=refuses_strangers)
    assert len(_probed(ran.memory.events)) == len(TASK.labels)
    later = {case for _, case in ran.memory.events if case.startswith(case_id(2, 0)[:10])}
    assert len(later) >= 60
