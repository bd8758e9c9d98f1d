from hypothesis import given
from hypothesis import strategies as st

from checker.core.resource_names import resource_of
from checker.supervisor.fuzz_plan import LARGEST, clusters, clusters_with_producers
from checker.workers.messages import OperationCard

SEGMENTS = st.sampled_from(["users", "orders", "items", "{id}", "v1", "api", "admin", ""])
PATHS = st.lists(SEGMENTS, max_size=5).map(lambda parts: "/" + "/".join(parts))


def cards(*paths: str) -> list[OperationCard]:
    return [OperationCard(f"GET {path} {n}", "GET", resource_of(path)) for n, path in enumerate(paths)]


@given(st.lists(PATHS, max_size=60))
def test_every_operation_is_in_exactly_one_cluster_of_bounded_size(paths: list[str]) -> None:
    made = cards(*paths)
    grouped = clusters(made)
    assert sorted(label for group in grouped for label in group) == sorted(c.label for c in made)
    assert all(1 <= len(group) <= LARGEST for group in grouped)


def test_operations_of_one_resource_stay_together() -> None:
    grouped = clusters(cards("/v1/users", "/v1/orders", "/v1/users/{id}", "/v1/orders/{id}/lines"))
    assert [len(group) for group in grouped] == [2, 2]


def test_a_large_root_is_split_by_what_is_below() -> None:
    paths = [f"/shop/{name}{tail}" for name in ("a", "b", "c") for tail in ("", "/{id}", "/{id}/x")]
    grouped = clusters(cards(*paths))
    assert [[label.split("/")[2][0] for label in group] for group in grouped] == [
        ["a", "a", "a", "b", "b", "b"],
        ["c", "c", "c"],
    ]


def test_a_large_flat_resource_is_split_evenly() -> None:
    assert [len(group) for group in clusters(cards(*["/x"] * 20))] == [7, 7, 6]


def test_an_operation_that_others_need_is_a_producer_of_its_cluster() -> None:
    found = [
        OperationCard("POST /users", "POST", ("users",), is_producer=True),
        OperationCard("GET /users/{id}", "GET", ("users",)),
    ]
    assert clusters_with_producers(found) == {("POST /users", "GET /users/{id}"): ("POST /users",)}
