"""`fuzz` takes resources in all states that requests have brought them into, also those that few are in."""

from collections.abc import Sequence
from typing import Any

from checker.core.case import Case
from checker.core.meta import Binding
from checker.core.operation import Label, Location
from checker.core.resources import ResourceModel, ResourceUse
from checker.corpus.records import ResourceChanged
from checker.values.history import Taken
from checker.values.pool import ValuePool
from checker.values.states import ResourceStates

from .test_values import Route, answer, sent

CREATE: Any = Route("POST", "/carts")
ADD: Any = Route("POST", "/carts/{cart}/items", {"cart": "string"})
ORDER: Any = Route("POST", "/carts/{cart}/order", {"cart": "string"})
DELETE: Any = Route("DELETE", "/carts/{cart}", {"cart": "string"})
ROUTES = {route.label: route for route in (CREATE, ADD, ORDER, DELETE)}
CARTS = 100


def _pool(further: Sequence[Any] = ()) -> ValuePool:
    routes = {**ROUTES, **{route.label: route for route in further}}
    uses = (ResourceUse.of(route.label, route.method, route.path) for route in routes.values())
    pool = ValuePool(ResourceModel(uses), lambda label: routes[label].types)
    for number in range(CARTS):
        pool.observe(sent(CREATE), answer({"id": f"c{number}"}, 201))
    return pool


def _on(route: Any, name: str) -> Case:
    """A request on one cart, which an earlier response showed."""
    shown = Binding(Location.PATH, "cart", CREATE.label, "/id", 0, name)
    return sent(route, (shown,), path_parameters={"cart": name})


def _taken(pool: ValuePool, route: Any) -> set[object]:
    found = (pool.view(route).pick(Location.PATH, "cart", index) for index in range(64))
    return {one.literal for one in found if one is not None}


def test_each_operation_meets_the_rare_state_and_all_workers_learn_of_it() -> None:
    pool, peer = _pool(), _pool()
    filled = f"c{CARTS - 1}"
    (record,) = pool.observe(_on(ADD, filled), answer({}, 201))
    assert isinstance(record, ResourceChanged)
    peer.absorb(record)
    for number in range(CARTS, 3 * CARTS):
        # So many new ones that the filled cart is none of the values that are kept.
        for one in (pool, peer):
            one.observe(sent(CREATE), answer({"id": f"c{number}"}, 201))
    for one in (pool, peer):
        assert filled in _taken(one, ORDER)
    # Once the operation has met the state more often than new carts, it turns to new ones.
    for _ in range(3):
        pool.observe(_on(ORDER, filled), answer({}, 409))
    assert filled not in _taken(pool, ORDER)


def test_other_workers_learn_of_a_few_in_each_state() -> None:
    pool = _pool()
    found = [pool.observe(_on(ADD, f"c{number}"), answer({}, 201)) for number in range(CARTS)]
    assert 0 < sum(map(len, found)) < 10
    assert pool.observe(_on(ORDER, "c99"), answer({}, 201)) != []


def test_removals_spare_the_few_that_are_in_a_state() -> None:
    pool = _pool()
    for number in range(CARTS - 8, CARTS):
        pool.observe(_on(ADD, f"c{number}"), answer({}, 201))
    rare = f"c{CARTS - 1}"
    pool.observe(_on(ORDER, rare), answer({}, 201))
    taken = _taken(pool, DELETE)
    assert rare not in taken
    assert f"c{CARTS - 2}" in taken


def test_no_state_of_another_user_is_taken_where_the_run_created_users() -> None:
    create: Any = Route("POST", "/users")
    listed: Any = Route("GET", "/users")
    update: Any = Route("PUT", "/users/{user}", {"user": "string"})
    pool = _pool((create, listed, update))
    pool.observe(sent(listed), answer([{"id": "root"}]))
    shown = Binding(Location.PATH, "user", listed.label, "/*/id", 0, "root")
    pool.observe(sent(update, (shown,), path_parameters={"user": "root"}), answer({}))
    pool.observe(sent(create), answer({"id": "mine"}, 201))
    taken = (pool.view(update).pick(Location.PATH, "user", index) for index in range(64))
    assert {one.literal for one in taken if one is not None} == {"mine"}


def test_a_removed_resource_has_no_state() -> None:
    pool = _pool()
    filled = f"c{CARTS - 1}"
    pool.observe(_on(ADD, filled), answer({}, 201))
    pool.observe(_on(ADD, filled), answer({}, 404))
    for number in range(CARTS, 2 * CARTS):
        pool.observe(sent(CREATE), answer({"id": f"c{number}"}, 201))
    assert filled not in _taken(pool, ORDER)


def test_an_operation_turns_to_new_resources_after_any_number_of_states() -> None:
    states, filled = ResourceStates(), Taken("c1", (), (CREATE.label, "/id"))
    for number in range(5000):
        path = f"/carts/{{cart}}/{number}"
        use = ResourceUse.of(Label(f"POST {path}"), "POST", path)
        states.note(use, "carts", Taken("c0", (), (CREATE.label, "/id")), 409)
    states.changed(ADD.label, "carts", filled)
    order = ResourceUse.of(ORDER.label, ORDER.method, ORDER.path)
    assert states.least_met(order.label, "carts", 0) == filled
    states.note(order, "carts", filled, 409)
    assert states.least_met(order.label, "carts", 0) is None


def test_members_of_equal_names_in_two_collections_have_states_of_their_own() -> None:
    line: Any = "/carts/{cart}/lines/{line}"
    pack, remove = (Route(method, line, {"cart": "string", "line": "string"}) for method in ("PUT", "DELETE"))
    pool = _pool((pack, remove))

    def changed(route: Any, cart: str) -> list[Any]:
        shown = Binding(Location.PATH, "line", CREATE.label, "/lines/*/id", 0, "1")
        return pool.observe(sent(route, (shown,), path_parameters={"cart": cart, "line": "1"}), answer({}))

    assert [len(changed(pack, cart)) for cart in ("c1", "c1", "c2")] == [1, 0, 1]
    changed(remove, "c2")
    assert [len(changed(pack, cart)) for cart in ("c1", "c2")] == [0, 1]
