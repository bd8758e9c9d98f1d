"""Values remember what they stood in, and what a case takes for one path belongs together."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from checker.core.operation import Label, Operation
from checker.core.request import Location
from checker.core.resources import ResourceModel, ResourceUse
from checker.core.response import Response
from checker.corpus.records import CaseFared, ValueGone, ValueSeen
from checker.corpus.snapshot import condense
from checker.values.pool import LayeredPool, ValuePool, ValueRecord
from tests.values.test_values import Route, answer, sent

OWNERS = "/owners/{owner}"
PETS = "/owners/{owner}/pets"
VISITS = "/owners/{owner}/pets/{pet}/visits"
CREATE_OWNER: Any = Route("POST", "/owners")
CREATE_PET: Any = Route("POST", PETS, {"owner": "integer"})
LIST_PETS: Any = Route("GET", "/pets")
CREATE_VISIT: Any = Route("POST", VISITS, {"owner": "integer", "pet": "integer"})
READ_PET: Any = Route("GET", PETS + "/{pet}", {"owner": "integer", "pet": "integer"})
REMOVE_PETS: Any = Route("DELETE", PETS, {"owner": "integer"})
REMOVE_PET: Any = Route("DELETE", PETS + "/{pet}", {"owner": "integer", "pet": "integer"})
READ_OWNER: Any = Route("GET", OWNERS, {"owner": "integer"})
REMOVE_OWNER: Any = Route("DELETE", OWNERS, {"owner": "integer"})
READ_VISIT: Any = Route("GET", VISITS + "/{visit}", {"owner": "integer", "pet": "integer", "visit": "integer"})
ROUTES = {
    route.label: route
    for route in (
        *(CREATE_OWNER, CREATE_PET, LIST_PETS, CREATE_VISIT, READ_PET, REMOVE_PET, REMOVE_PETS),
        *(READ_OWNER, REMOVE_OWNER, READ_VISIT),
    )
}
MODEL = ResourceModel(ResourceUse.of(one.label, one.method, one.path) for one in ROUTES.values())
_GONE = Response(204, [], b"")


def names(label: str) -> Any:
    return ROUTES[Label(label)].types


def pool_of() -> ValuePool:
    return ValuePool(MODEL, names)


def path_of(pool: ValuePool, route: Any, index: int = 0) -> tuple[Any, ...]:
    """What a case takes for its path, in the order in which it is drawn."""
    view = pool.view(route)
    found = [view.pick(Location.PATH, name, index + place) for place, name in enumerate(route.types)]
    return tuple(None if one is None else one.literal for one in found)


def create(pool: ValuePool, route: Any, name: int, **path: int) -> list[ValueRecord]:
    return pool.observe(sent(route, path_parameters=path), answer({"id": name}, 201))


def filled() -> ValuePool:
    """Three owners with two pets each, and two visits of each pet; all numbered on their own."""
    pool = pool_of()
    for owner in (1, 2, 3):
        create(pool, CREATE_OWNER, owner)
        for pet in (10 * owner, 10 * owner + 1):
            create(pool, CREATE_PET, pet, owner=owner)
            for visit in (1, 2):
                create(pool, CREATE_VISIT, 10 * pet + visit, owner=owner, pet=pet)
    return pool


def test_a_deep_path_is_of_one_instance() -> None:
    for index in range(64):
        owner, pet, visit = path_of(filled(), READ_VISIT, index)
        assert (owner, pet) == (visit // 100, visit // 10)


def test_each_instance_has_its_turn() -> None:
    pool = filled()
    assert len({path_of(pool, READ_VISIT, index) for index in range(64)}) == 12


def test_where_the_deepest_is_unknown_the_others_still_belong_together() -> None:
    pool = pool_of()
    for owner in (1, 2):
        create(pool, CREATE_OWNER, owner)
        create(pool, CREATE_PET, 10 * owner, owner=owner)
    for index in range(8):
        owner, pet, visit = path_of(pool, READ_VISIT, index)
        assert (pet, visit) == (10 * owner, None)


def test_things_of_one_name_in_two_places_are_two() -> None:
    pool = pool_of()
    for owner in (1, 2):
        create(pool, CREATE_PET, 5, owner=owner)
    assert {path_of(pool, READ_PET, index) for index in range(8)} == {(1, 5), (2, 5)}
    pool.observe(sent(REMOVE_PET, path_parameters={"owner": 1, "pet": 5}), _GONE)
    assert {path_of(pool, READ_PET, index) for index in range(8)} == {(2, 5)}


@pytest.mark.parametrize("field", ["ownerId", "owner_id", "owner"])
def test_foreign_keys_in_a_list_say_what_its_items_stand_in(field: str) -> None:
    pool = pool_of()
    items = [{"id": 10 * owner, field: owner} for owner in (1, 2)]
    pool.observe(sent(LIST_PETS), answer([*items, {"id": 30}]))
    found = {path_of(pool, READ_PET, index)[::-1] for index in range(8)}
    assert {(10, 1), (20, 2)} <= found
    assert not {(10, 2), (20, 1)} & found


def test_what_a_request_sends_says_it_where_its_answer_does_not() -> None:
    create_pet: Any = Route("POST", "/pets")
    uses = (*MODEL.uses.values(), ResourceUse.of(create_pet.label, "POST", "/pets"))
    pool = ValuePool(ResourceModel(uses), lambda label: {})
    pool.observe(sent(create_pet, body={"ownerId": 4}), answer({"id": 9}, 201))
    assert path_of(pool, READ_PET) == (4, 9)


def test_what_stood_in_a_removed_thing_is_gone_with_it() -> None:
    pool = filled()
    pool.observe(sent(REMOVE_OWNER, path_parameters={"owner": 3}), _GONE)
    found = {path_of(pool, READ_VISIT, index) for index in range(64)}
    assert {owner for owner, _, _ in found} == {1, 2}


def test_a_peer_learns_what_values_stand_in() -> None:
    pool, peer = pool_of(), pool_of()
    for record in (*create(pool, CREATE_PET, 5, owner=1), *create(pool, CREATE_PET, 6, owner=2)):
        peer.absorb(record)
    assert {path_of(peer, READ_PET, index) for index in range(8)} == {(1, 5), (2, 6)}


def test_a_path_that_leads_nowhere_is_blamed_on_its_deepest_part() -> None:
    pool = pool_of()
    create(pool, CREATE_OWNER, 1)
    create(pool, CREATE_PET, 5, owner=1)
    for _ in range(3):
        view = pool.view(READ_PET)
        taken = [view.pick(Location.PATH, name, 0) for name in ("owner", "pet")]
        bindings = tuple(one for one in taken if one is not None)
        path = {one.name: one.literal for one in bindings}
        pool.observe(sent(READ_PET, bindings, path_parameters=path), answer({}, 404))
    assert path_of(pool, READ_PET) == (1, None)


def shares(pool: ValuePool, route: Operation, name: str) -> Counter[object]:
    found = (pool.view(route).pick(Location.PATH, name, index) for index in range(64))
    return Counter(one.literal for one in found if one is not None)


def test_newer_things_are_taken_more_often() -> None:
    pool = pool_of()
    for owner in range(10):
        create(pool, CREATE_OWNER, owner)
    found = shares(pool, CREATE_PET, "owner")
    assert set(found) == set(range(10))
    assert found[9] > found[7] > found[4] >= found[0] >= 1


def test_who_removes_things_takes_all_of_them_alike() -> None:
    pool = pool_of()
    for owner in range(10):
        create(pool, CREATE_OWNER, owner)
    found = shares(pool, REMOVE_OWNER, "owner")
    assert len(found) == 10
    assert max(found.values()) - min(found.values()) <= 1


def test_attempts_to_remove_a_thing_make_it_rarer() -> None:
    pool = pool_of()
    for owner in (1, 2):
        create(pool, CREATE_OWNER, owner)
    before = shares(pool, CREATE_PET, "owner")[2]
    for _ in range(3):
        pool.observe(sent(REMOVE_OWNER, path_parameters={"owner": 2}), answer({}, 409))
    pool.forget_rankings()
    after = shares(pool, CREATE_PET, "owner")
    assert before > 32 > after[2] >= 1


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_what_was_removed_and_is_shown_again_is_rare_unless_it_was_made_again(method: str) -> None:
    remove: Any = Route("DELETE", "/pets/{pet}", {"pet": "integer"})
    read: Any = Route("GET", "/pets/{pet}", {"pet": "integer"})
    again: Any = Route(method, "/pets")
    routes = (remove, read, again)
    uses = (ResourceUse.of(route.label, route.method, route.path) for route in routes)
    pool = ValuePool(ResourceModel(uses), lambda label: {})
    pool.observe(sent(again), answer([{"id": 7}, {"id": 8}]))
    pool.observe(sent(remove, path_parameters={"pet": 8}), _GONE)
    assert set(shares(pool, read, "pet")) == {7}
    pool.observe(sent(again), answer([{"id": 8}]))
    pool.forget_rankings()
    found = shares(pool, read, "pet")
    assert found[8] < found[7] if method == "GET" else found[8] > found[7]


def test_contexts_are_bounded() -> None:
    pool = pool_of()
    for owner in range(40):
        for pet in range(100 if owner > 30 else 3):
            create(pool, CREATE_PET, pet, owner=owner)
    (ring,) = pool._rings.values()
    assert len(ring.contexts) <= 20
    assert max(ring.contexts.values()) == 64
    assert sum(ring.contexts.values()) == len(ring.values) <= 500


def test_a_restart_knows_what_values_stood_in() -> None:
    """Of what was written, and of what is left of it when journals are condensed."""
    pool = pool_of()
    records = [*create(pool, CREATE_PET, 5, owner=1), *create(pool, CREATE_PET, 5, owner=2)]
    gone = pool.observe(sent(REMOVE_PET, path_parameters={"owner": 2, "pet": 5}), _GONE)
    found = []
    for kept in ([*records, *gone], condense([(1, one) for one in (*records, *gone)])):
        other = pool_of()
        for record in kept:
            if isinstance(record, ValueSeen | ValueGone):
                other.absorb(record)
        found.append({path_of(other, READ_PET, index) for index in range(4)})
    assert found == [{(1, 5)}, {(1, 5)}]


@pytest.mark.parametrize(
    ("response", "query", "left"),
    [
        (_GONE, {}, {(2, 8)}),
        (_GONE, {"name": "Rex"}, {(1, 6), (1, 7), (2, 8)}),
        (Response(403, [], b""), {}, {(1, 6), (1, 7), (2, 8)}),
    ],
    ids=["all", "some", "refused"],
)
def test_the_removal_of_a_collection_removes_its_members(
    response: Response, query: dict[str, str], left: set[tuple[int, int]]
) -> None:
    pool, late = pool_of(), layered()
    records: list[Any] = []
    for owner, pet in ((1, 6), (1, 7), (2, 8)):
        create(pool, CREATE_PET, pet, owner=owner)
        made = sent(CREATE_PET, path_parameters={"owner": owner})
        records += late.observe(made, answer({"id": pet}, 201), "examples", pet)
    late.begin("coverage", REMOVE_PETS.label, records)
    case = sent(REMOVE_PETS, path_parameters={"owner": 1}, query=query)
    pool.observe(case, response)
    assert {path_of(pool, READ_PET, index) for index in range(8)} == left
    gone = late.observe(case, response, "coverage", 0)
    late.begin("fuzzing", READ_PET.label, gone)
    assert {path_of(late, READ_PET, index) for index in range(8)} == left


def layered() -> LayeredPool:
    return LayeredPool(MODEL, names)


@pytest.mark.parametrize("mixes_phases", [True, False])
@pytest.mark.parametrize("phase", ["examples", "coverage", "stateful"])
def test_a_phase_that_goes_on_later_takes_what_came_late(phase: str, *, mixes_phases: bool) -> None:
    pool = LayeredPool(MODEL, names, mixes_phases=mixes_phases)
    pool.begin("stateful", CREATE_PET.label, ())
    case = sent(CREATE_PET, path_parameters={"owner": 1})
    records = layered().observe(case, answer({"id": 5}, 201), phase, 0)
    pool.begin("coverage", READ_PET.label, records)
    assert path_of(pool, READ_PET, 0) == ((1, 5) if mixes_phases else (None, None))
    # A sequence removes it before the next task of the phase.
    gone = layered().observe(sent(REMOVE_PET, path_parameters={"owner": 1, "pet": 5}), _GONE, "stateful", 0)
    pool.begin("coverage", READ_PET.label, gone)
    assert path_of(pool, READ_PET, 0) == (None, None)


def test_in_a_run_later_layers_take_the_field_that_named_something_however_often_a_case_was_sent() -> None:
    seen = layered().observe(sent(CREATE_OWNER), answer({"id": 5, "number": 77}, 201), "coverage", 0)

    def taken(*fared: CaseFared) -> list[Any]:
        pool = layered()
        pool.begin("fuzzing", READ_OWNER.label, [*seen, *fared])
        return [path_of(pool, READ_OWNER, index) for index in range(64)]

    def met(index: int, field: str, status: int) -> CaseFared:
        return CaseFared(READ_OWNER.label, "coverage", index, "", 0, status, ("owner", field))

    missing = [met(index, "id", 404) for index in range(4)]
    found = [met(index, "number", 200) for index in range(4, 6)]
    usual = taken(*missing, *found)
    assert taken()[0] == (5,)
    assert usual[0] == (77,)
    # A case that a dead worker had sent is sent again.
    assert taken(*found[:1] * 9, *missing, *found) == usual
    assert taken(*missing, *found, *missing[:1] * 9) == usual


@pytest.mark.parametrize("is_slow", [True, False])
def test_a_task_behind_later_layers_takes_none_of_their_values(*, is_slow: bool) -> None:
    create = sent(CREATE_PET, path_parameters={"owner": 1})
    early = layered().observe(create, answer({"id": 5}, 201), "examples", 0)
    late = layered().observe(create, answer({"id": 6}, 201), "fuzzing", 0)
    pool = layered()
    if is_slow:
        pool.begin("coverage", READ_PET.label, early, is_slow=True)
    pool.begin("stateful", REMOVE_PET.label, late if is_slow else [*early, *late])
    if not is_slow:
        pool.begin("coverage", READ_PET.label, (), is_resumed=True)
    assert {path_of(pool, READ_PET, index) for index in range(8)} == {(1, 5)}
    assert {path_of(pool, REMOVE_PET, index) for index in range(8)} == {(1, 5), (1, 6)}
    pool.begin("stateful", READ_PET.label, ())
    assert {path_of(pool, READ_PET, index) for index in range(8)} == {(1, 5), (1, 6)}


@pytest.mark.parametrize("order", [list, reversed])
def test_in_a_run_it_does_not_matter_who_was_first(order: Callable[..., Any]) -> None:
    """Values are taken in by recipe, with what they stand in."""
    first, second = layered(), layered()
    records = []
    for index, pet in enumerate((5, 6, 5, 7)):
        case = sent(CREATE_PET, path_parameters={"owner": 1 + index % 3})
        worker = (first, second)[index % 2]
        records += worker.observe(case, answer({"id": pet}, 201), "coverage", index)
    remove = sent(REMOVE_PET, path_parameters={"owner": 2, "pet": 6})
    records += first.observe(remove, answer({}, 409), "coverage", 3)
    later = layered()
    later.begin("fuzzing", READ_PET.label, order(records))
    view = later.view(READ_PET)
    found = []
    for index in range(64):
        view.begin()
        taken = [view.pick(Location.PATH, name, index) for name in ("owner", "pet")]
        found.append(tuple(one.literal for one in taken if one is not None))
    counted = Counter(found)
    assert set(counted) == {(1, 5), (2, 6), (3, 5), (1, 7)}
    assert counted[2, 6] == min(counted.values())
