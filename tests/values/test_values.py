import tracemalloc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import permutations
from random import Random
from typing import Any

import orjson
import pytest

from checker.core.case import Case
from checker.core.credentials import Credentials
from checker.core.meta import Binding, CaseMetadata, GenerationMode, PhaseInfo
from checker.core.operation import Body, Label, Location, Parameter, Place, UnusableBody
from checker.core.resource_names import affinity, owner_of, resource_of
from checker.core.resources import ResourceModel, ResourceUse
from checker.core.response import Response
from checker.core.schema import Dialect, Schema
from checker.corpus.records import ValueGone, ValueSeen
from checker.corpus.secrets import Secrets
from checker.values.harvest import value_at
from checker.values.pool import ValuePool


@dataclass(frozen=True, slots=True)
class Document:
    root: object = None
    facts: dict[object, Any] = field(default_factory=dict)

    def resolve(self, reference: str, *, at: str) -> tuple[object, str]:
        raise AssertionError


@dataclass(frozen=True)
class Route:
    method: str
    path: str
    types: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    operation_id: str | None = None
    deprecated: bool = False
    bodies: tuple[Body, ...] = ()
    unusable_bodies: tuple[UnusableBody, ...] = ()
    unusable_parameters: Mapping[str, str] = field(default_factory=dict)
    body_required: bool = False
    has_skipped_required_body: bool = False
    contract: Any = None
    definition: Mapping[str, Any] = field(default_factory=dict)
    read_answer: Callable[[Response], Any] | None = None
    resource_places: Mapping[str, Place] = field(default_factory=dict)
    has_status_in_body: bool = False

    def status_of(self, response: Response) -> int:
        return response.status_code

    @property
    def resource_path(self) -> str:
        return self.path

    @property
    def resource_method(self) -> str:
        return self.method

    @property
    def label(self) -> Label:
        return Label(f"{self.method} {self.path}")

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return tuple(
            Parameter(
                name,
                Location.PATH if "{" + name + "}" in self.path else Location.QUERY,
                True,
                Schema({"type": kind}, "#", Dialect.OPENAPI30, Document()),
                "simple",
                False,
            )
            for name, kind in self.types.items()
        )


CREATE: Any = Route("POST", "/bookings")
READ: Any = Route("GET", "/bookings/{code}", {"code": "string"})
DELETE: Any = Route("DELETE", "/bookings/{which}", {"which": "string"})
SEARCH: Any = Route("GET", "/search", {"bookingId": "string", "limit": "integer"})
ROUTES = {route.label: route for route in (CREATE, READ, DELETE, SEARCH)}


def pool_of() -> ValuePool:
    uses = (ResourceUse.of(route.label, route.method, route.path) for route in ROUTES.values())
    return ValuePool(ResourceModel(uses), lambda label: ROUTES[label].types)


def answer(body: object, status: int = 200, headers: list[tuple[str, str]] | None = None) -> Response:
    return Response(status, headers or [], orjson.dumps(body))


def sent(route: Any, bindings: tuple[Binding, ...] = (), **parts: Any) -> Case:
    mode = GenerationMode.POSITIVE
    meta = CaseMetadata(mode, {}, PhaseInfo("fuzzing"), bindings)
    return Case(route, "c1", meta=meta, **parts)


def picked(pool: ValuePool, route: Any, name: str, index: int = 0) -> object:
    place = Location.PATH if "{" + name + "}" in route.path else Location.QUERY
    found = pool.view(route).pick(place, name, index)
    return None if found is None else found.literal


def test_a_parameter_takes_what_its_collection_answered_whatever_that_is_called() -> None:
    pool = pool_of()
    body = {"guest": "Ann", "nights": 3}
    found = pool.observe(sent(CREATE, body=body), answer({"reference": "B-7", **body}, 201))
    assert ValueSeen("POST /bookings", "/reference", "B-7", "c1") in found
    assert picked(pool, READ, "code") == "B-7"
    taken = pool.view(READ).pick(Location.PATH, "code", 0)
    assert taken is not None
    assert (taken.producer, taken.pointer, taken.index) == ("POST /bookings", "/reference", 0)


def test_credentials_that_an_answer_echoes_are_no_values() -> None:
    secrets = Secrets()
    uses = (ResourceUse.of(route.label, route.method, route.path) for route in ROUTES.values())
    pool = ValuePool(ResourceModel(uses), lambda label: ROUTES[label].types, secrets)
    # Another worker logs in between the two answers: what it was given is told before anything carries it.
    first = pool.observe(sent(CREATE), answer({"reference": "B-7"}, 201))
    secrets.add_credentials(Credentials({"Authorization": "Bearer tok-C4n4ry-0001"}))
    second = pool.observe(sent(CREATE), answer({"reference": "tok-C4n4ry-0001"}, 201))
    assert [one.value for one in first if isinstance(one, ValueSeen)] == ["B-7"]
    assert second == []
    assert {picked(pool, READ, "code", index) for index in range(5)} == {"B-7"}


def test_credentials_in_the_path_of_a_request_are_no_context() -> None:
    secrets = Secrets()
    secrets.add_credentials(Credentials({"Authorization": "Bearer tok-C4n4ry-0001"}))
    routes: Any = [Route(method, "/teams/{team}/carts/{cart}", {}) for method in ("PUT", "DELETE")]
    uses = (ResourceUse.of(route.label, route.method, route.path) for route in routes)
    pool = ValuePool(ResourceModel(uses), lambda label: (), secrets)
    for team, above in (("t1", (("teams", "t1"),)), ("tok-C4n4ry-0001", ())):
        shown = Binding(Location.PATH, "cart", Label("GET /carts"), "/id", 0, "c1")
        cases = [sent(route, (shown,), path_parameters={"team": team, "cart": "c1"}) for route in routes]
        found = [one for case in cases for one in pool.observe(case, answer({}))]
        assert [one.above for one in found] == [above, above]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({"id": "b1", "state": {"id": "s1", "details": {"id": "d1"}}}, {"b1"}),
        ([{"id": "b1", "state": {"id": "s1"}}], {"b1"}),
        ({"state": {"id": "s1"}}, {"s1"}),
        ({"id": "call", "result": {"id": "b1"}}, {"call", "b1"}),
        ({"id": "page", "bookings": [{"id": "b1"}]}, {"page", "b1"}),
    ],
)
def test_a_part_of_a_resource_does_not_identify_it(body: object, found: set[str]) -> None:
    pool, peer = pool_of(), pool_of()
    for record in pool.observe(sent(CREATE), answer(body, 201)):
        peer.absorb(record)
    for each in (pool, peer):
        assert {picked(each, READ, "code", index) for index in range(5)} == found


def test_each_response_alone_decides_whether_a_part_identifies_a_resource() -> None:
    # Each worker sees other responses, in another order, and all must learn the same.
    for bodies in permutations(({"state": {"id": "s1"}}, {"id": "b2", "state": {"id": "s2"}})):
        pool = pool_of()
        for body in bodies:
            pool.observe(sent(CREATE), answer(body, 201))
        assert {picked(pool, READ, "code", index) for index in range(5)} == {"s1", "b2"}


def test_other_parameters_take_values_by_name_alone() -> None:
    pool = pool_of()
    pool.observe(sent(CREATE), answer({"booking_id": "x1", "limit": 5, "name": "n"}, 201))
    assert picked(pool, SEARCH, "bookingId") == "x1"
    assert picked(pool, SEARCH, "limit") == 5
    pool = pool_of()
    pool.observe(sent(CREATE), answer({"id": "x2", "other": 5}, 201))
    assert picked(pool, SEARCH, "bookingId") == "x2"
    assert picked(pool, SEARCH, "limit") is None


def test_a_part_of_a_body_takes_values_by_the_end_of_its_pointer() -> None:
    pool = pool_of()
    pool.observe(sent(CREATE), answer({"id": "x2", "other": 5}, 201))
    taken = pool.view(CREATE).pick(Location.BODY, "/bookings/0/id", 0)
    assert taken is not None
    assert taken.literal == "x2"
    assert pool.view(CREATE).pick(Location.BODY, "/guest", 0) is None


def test_integers_are_given_as_text_where_text_is_asked_for() -> None:
    pool = pool_of()
    pool.observe(sent(CREATE), answer({"number": 41}, 201))
    assert picked(pool, READ, "code") == "41"


def test_the_location_header_names_what_was_created() -> None:
    pool = pool_of()
    response = Response(201, [("Location", "http://h/bookings/a%20b")], b"")
    pool.observe(sent(CREATE), response)
    assert picked(pool, READ, "code") == "a b"
    assert value_at(response, "header:Location") == "a b"


def test_a_deleted_value_is_gone_here_and_at_peers() -> None:
    pool, peer = pool_of(), pool_of()
    for record in pool.observe(sent(CREATE), answer({"reference": "B-7"}, 201)):
        peer.absorb(record)
    assert picked(peer, READ, "code") == "B-7"
    found = pool.observe(sent(DELETE, path_parameters={"which": "B-7"}), Response(204, [], b""))
    assert found == [ValueGone("B-7", "c1", "DELETE /bookings/{which}")]
    peer.absorb(found[0])
    assert picked(pool, READ, "code") is picked(peer, READ, "code") is None


@pytest.mark.parametrize(
    ("seen", "gone", "is_left"),
    [("B7", "B7", False), (41, "41", False), (41, 41, False), (41, 41.0, False), (41, "041", True), ("41", 41, True)],
)
def test_a_deleted_value_is_gone_in_all_its_spellings(seen: object, gone: object, is_left: bool) -> None:
    pool = pool_of()
    pool.observe(sent(CREATE), answer({"code": seen}, 201))
    pool.observe(sent(DELETE, path_parameters={"which": gone}), Response(204, [], b""))
    assert picked(pool, READ, "code") == (str(seen) if is_left else None)


def test_a_field_whose_values_are_never_found_sinks() -> None:
    pool = pool_of()
    for number in range(30):
        pool.observe(sent(CREATE), answer({"code": f"no{number}", "zz": f"yes{number}"}, 201))
    for _ in range(20):
        taken = pool.view(READ).pick(Location.PATH, "code", 0)
        assert taken is not None
        status = 200 if str(taken.literal).startswith("yes") else 404
        pool.observe(sent(READ, (taken,)), answer({}, status))
    assert str(picked(pool, READ, "code")).startswith("yes")


def test_indices_reach_every_ring_and_start_again_beyond_the_last() -> None:
    pool = pool_of()
    for number in range(3):
        body = {"a": f"a{number}", "b": f"b{number}", "c": True}
        pool.observe(sent(CREATE), answer(body, 201))
    wanted = {f"{ring}{number}" for ring in "ab" for number in range(3)}
    assert {picked(pool, READ, "code", index) for index in range(6)} == wanted
    assert picked(pool, READ, "code", 6) == picked(pool, READ, "code", 0)


@pytest.mark.parametrize("seed", range(5))
def test_a_chain_with_foreign_names_is_reached_within_a_few_hundred_draws(seed: int) -> None:
    rng, pool, alive = Random(seed), pool_of(), dict[str, dict[str, object]]()
    for draw in range(300):
        route = rng.choice(list(ROUTES.values()))
        if route is CREATE:
            body = {"guest": f"g{draw}", "nights": rng.randrange(9), "note": "n" * rng.randrange(5)}
            shown = {"total": 9.5, "state": "open", **body, "confirmation": f"C{draw:05}"}
            alive[f"C{draw:05}"] = shown
            pool.observe(sent(CREATE, body=body), answer(shown, 201))
            continue
        (name, *_) = route.types
        place = Location.QUERY if route is SEARCH else Location.PATH
        taken = pool.view(route).pick(place, name, min(int(rng.expovariate(0.7)), 20))
        if taken is None or route is SEARCH:
            continue
        known = str(taken.literal) in alive
        if route is DELETE and known:
            return
        reply = answer(alive[str(taken.literal)]) if known else answer({"detail": "?"}, 404)
        pool.observe(sent(route, (taken,), path_parameters={name: taken.literal}), reply)
    pytest.fail("never deleted what it created")


def test_what_was_just_created_is_the_newest_however_much_was_seen_before() -> None:
    pool = pool_of()
    for number in range(300):
        pool.observe(sent(CREATE), answer({"data": {"code": f"n{number}"}}, 201))
        assert picked(pool, READ, "code") == f"n{number}"


@pytest.mark.parametrize(("name", "is_name"), [("code", True), ("pnr", False)])
def test_once_an_operation_shows_nothing_new_only_names_are_read_if_it_has_any(name: str, is_name: bool) -> None:
    pool = pool_of()
    for number in range(100):
        pool.observe(sent(CREATE), answer({name: f"n{number}", "guest": f"g{number}"}, 201))
    seen = {picked(pool, READ, "code", index) for index in range(64)}
    assert "n99" in seen
    assert ("g99" not in seen) is is_name


@pytest.mark.thorough
def test_memory_is_bounded_whatever_servers_say() -> None:
    pool = pool_of()
    for number in range(200):
        body = [{f"k{number}_{key}": "x" * 150 for key in range(100)} for _ in range(20)]
        pool.observe(sent(CREATE), answer(body, 201))
    assert len(pool._rings) <= 2000
    pool.observe(sent(CREATE), Response(200, [], b"[" * 100_000))
    pool.observe(sent(CREATE), answer("x" * 10_000))


@pytest.mark.parametrize(
    ("body", "pointer", "wanted"),
    [
        ({"a": [{"b/c": 1}, {"b/c": 2}]}, "/a/*/b~1c", 1),
        ({"a": {"b": True}}, "/a/b", True),
        ({"a": []}, "/a/*", None),
        ({"a": {}}, "/a", None),
        ({"a": 1}, "/a/b", None),
        ("text", "", "text"),
    ],
)
def test_a_recorded_pointer_is_found_again(body: object, pointer: str, wanted: object) -> None:
    assert value_at(answer(body), pointer) == wanted


def test_paths_belong_to_collections() -> None:
    assert resource_of("/bookings") == resource_of("/bookings/{code}") == ("bookings",)
    assert owner_of("/users/{id}/pets/{pet}", "id") == ("users",)
    assert owner_of("/users/{id}/pets/{pet}", "pet") == ("users", "{}", "pets")


def test_the_name_itself_fits_best_and_strangers_not_at_all() -> None:
    bookings, users = ("bookings",), ("users",)
    ranked = [
        affinity("bookingId", bookings, "bookingid", users),
        affinity("bookingId", bookings, "uuid", bookings),
        affinity("bookingId", bookings, "guest", bookings),
        affinity("bookingId", bookings, "uuid", ("v2", "booking")),
        affinity("bookingId", bookings, "uuid", users),
    ]
    assert ranked == sorted(ranked, reverse=True)
    assert len(set(ranked)) == 5
    assert ranked[-1] == 0
    assert affinity("id", bookings, "id", users) == 0
    assert affinity("username", bookings, "username", users) > 0 == affinity("code", bookings, "code", users)


def test_made_up_names_do_not_fill_the_memory() -> None:
    view = pool_of().view(CREATE)
    for number in range(2_000):
        view.pick(Location.BODY, f"/{'x' * number}", 0)
    assert 1 < len(view._consumers) <= 512


def test_long_names_of_a_server_do_not_fill_the_memory() -> None:
    pool = pool_of()
    hostile = answer({"n" * 200_000: {f"k{number}": number for number in range(400)}}, 201)
    tracemalloc.start()
    pool.observe(sent(CREATE), hostile)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 10 << 20


@pytest.mark.parametrize("location", ["http://[::1", "//\u2100.example"])
def test_a_location_that_is_no_url_names_nothing(location: str) -> None:
    pool = pool_of()
    pool.observe(sent(CREATE), answer({"number": 41}, 201, [("Location", location)]))
    assert picked(pool, READ, "code") == "41"
    assert value_at(Response(201, [("Location", location)], b""), "header:Location") == ""


def test_an_operation_says_how_its_answers_are_read() -> None:
    """Values of answers that are no JSON are found, bound and found again."""

    def read(response: Response) -> Any:
        return dict(pair.split("=") for pair in response.content.decode().split("&"))

    create = replace(CREATE, read_answer=read)
    pool, response = pool_of(), Response(201, [], b"code=B-7&state=new")
    pool.observe(sent(create), response)
    binding = pool.view(READ).pick(Location.PATH, "code", 0)
    assert binding is not None
    assert binding.literal == "B-7"
    assert value_at(response, binding.pointer, read) == "B-7"
    assert value_at(response, binding.pointer) is None
