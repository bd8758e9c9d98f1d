"""What looking into failures costs, counted: a share of the requests, and one for each failure."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from checker.core.operation import Label
from checker.core.response import Outcome, Response
from checker.corpus.journal import JournalReader
from checker.corpus.records import Finding
from checker.workers.messages import KNOWN_PLACES
from checker.workers.recording.investigation_budget import OF_KNOWN_CAUSE
from tests.asking import saying

from .harness import DOCUMENT, GETS, POSTS, TASK, Ran, run, workplace

SHRINKS = saying({"continue-on-failure": True}, generation={"mode": "positive"})
SHARE = 0.2
NO_MORE = "before it began (`generation.shrink-share` of the requests was spent)"


def broken(answer: Response) -> Outcome:
    return Response(418, [], b"", elapsed=0.001, request=answer.request)


def looked_into(ran: Ran) -> int:
    return sum(kind == "looked into" for kind, _ in ran.memory.events)


def versions(ran: Ran) -> dict[str, list[Finding]]:
    """Last versions of each finding, oldest first."""
    found: dict[str, list[Finding]] = {}
    for one in ran.records:
        if isinstance(one, Finding) and one.investigation.stage == "minimised":
            found.setdefault(one.fingerprint, []).append(one)
    return found


def ran(folder: Path, *tasks: Any, **changes: Any) -> Ran:
    with workplace(folder, operations=SHRINKS, **changes) as place:
        return run(place, *tasks, spoil=broken, is_patient=True)


def test_where_little_was_sent_each_failure_is_sent_once_as_printed(tmp_path: Path) -> None:
    short = ran(tmp_path, replace(TASK, stop=6))
    found = versions(short)
    assert found
    assert looked_into(short) <= len(found)
    for (only,) in found.values():
        assert (only.investigation.reproduced, only.investigation.hits, only.investigation.tries) == (True, 2, 2)
        assert (only.investigation.stopped, only.investigation.wants_more) == (NO_MORE, True)


def test_what_was_sent_once_is_looked_into_when_more_was_earned(tmp_path: Path) -> None:
    turns = [replace(TASK, id=f"{turn:016}", seed=turn) for turn in range(8)]
    long = ran(tmp_path, *turns)
    found = versions(long)
    cases = sum(kind == "sent" for kind, _ in long.memory.events)
    assert looked_into(long) <= SHARE / (1 - SHARE) * cases + len(found)
    assert any(one[0].investigation.stopped == NO_MORE for one in found.values())
    # Any input shows them.
    assert {(one[-1].investigation.stopped, one[-1].investigation.reproduced) for one in found.values()} == {("", True)}


def test_what_one_case_showed_is_settled_at_once_so_that_no_death_leaves_a_part(tmp_path: Path) -> None:
    with workplace(tmp_path, operations=SHRINKS, kind="run") as place:
        run(place, replace(GETS, stop=40), spoil=broken, is_patient=True)
        frames = JournalReader(Path(place.opened.journal), read_bytes=1)
    together: list[tuple[int, list[str]]] = []
    while records := frames.read_some():
        found = [one for one in records if isinstance(one, Finding) and one.investigation.stage == "minimised"]
        together += [(one.index, [of.check for of in found]) for one in found[:1]]
    (settled,) = together
    assert settled == (0, ["positive_data_acceptance", "status_code_conformance"])


def test_with_a_limit_of_time_the_share_is_that_of_what_was_sent(tmp_path: Path) -> None:
    tasks = [replace(one, stop=40) for one in (POSTS, GETS)]
    timed = ran(tmp_path, *tasks, kind="run", max_time_s=3600.0)
    found = versions(timed)
    assert found
    assert looked_into(timed) <= SHARE / (1 - SHARE) * 80 + len(found)


@pytest.mark.parametrize(("text", "reproduced"), [(b"Internal Server Error", True), (b"index out of range", None)])
def test_an_error_without_a_reason_is_sent_again_although_nothing_is_left(
    tmp_path: Path, text: bytes, reproduced: bool | None
) -> None:
    """Nothing else tells a defect from a moment of load."""

    def fallen(answer: Response) -> Outcome:
        return Response(500, [], text, elapsed=0.001, request=answer.request)

    document = {**DOCUMENT, "paths": {"/alone": {"get": {"responses": {"200": {"description": ""}}}}}}
    task = replace(TASK, labels=(Label("GET /alone"),), stop=1)
    with workplace(tmp_path, document=document, operations=SHRINKS) as place:
        place.investigation_budget.floor = 0
        found = versions(run(place, task, spoil=fallen, is_patient=True))
    assert found
    assert {one[-1].investigation.reproduced for one in found.values() if one[-1].check == "not_a_server_error"} == {
        reproduced
    }


def test_in_a_run_an_operation_has_the_share_of_its_own_cases(tmp_path: Path) -> None:
    bounded = ran(tmp_path, *(replace(one, stop=40) for one in (POSTS, GETS)), kind="run")
    found = versions(bounded)
    for label in ("POST /things", "GET /things/{thing_id}"):
        spent = [last.investigation.requests for *_, last in found.values() if last.label == label]
        assert 0 < sum(spent) <= 10 + len(spent)


def test_what_ends_its_run_may_cost_more_than_was_earned(tmp_path: Path) -> None:
    ends = saying({"continue-on-failure": False}, generation={"mode": "positive"})
    with workplace(tmp_path, operations=ends) as place:
        ended = run(place, replace(TASK, stop=1), spoil=broken, is_patient=True)
    first = min(versions(ended).values(), key=lambda all_of_it: all_of_it[0].at)
    assert first[0].investigation.stopped == ""


def test_with_little_time_many_places_of_one_cause_are_sent_once_as_printed(tmp_path: Path) -> None:
    labels = [Label(f"GET /{number}") for number in range(12)]
    turns = [replace(GETS, id=f"{n:016}", labels=(label,)) for n, label in enumerate(labels)]
    paths = {label.removeprefix("GET "): {"get": {"responses": {"200": {"description": ""}}}} for label in labels}
    document = {**DOCUMENT, "paths": paths}
    costs: list[int] = []
    for name, limit_s in (("short", 3600.0), ("long", None)):
        folder = tmp_path / name
        folder.mkdir()
        with workplace(folder, document=document, operations=SHRINKS, kind="run", max_time_s=limit_s) as place:
            found = versions(run(place, *turns, spoil=moved, is_patient=True))
        assert len(found) == len(labels)
        assert {one[-1].investigation.reproduced for one in found.values()} == {True}
        costs.append(sum(one[-1].investigation.requests for one in found.values()))
        spared = [one for one in found.values() if one[-1].investigation.stopped == OF_KNOWN_CAUSE]
        assert len(spared) == (len(labels) - KNOWN_PLACES if limit_s else 0)
    assert costs[0] < costs[1]


def moved(answer: Response) -> Outcome:
    return Response(299, [], b"", elapsed=0.001, request=answer.request)
