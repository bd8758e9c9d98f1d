"""What the model says of who makes what, who asks for it, and in which order they come."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from checker.checks.resources import concerns
from checker.core.case import Case
from checker.core.operation import Label
from checker.core.request import Location
from checker.core.resource_names import resource_of
from checker.core.resources import ResourceModel, ResourceUse, TakenValue, Transition
from tests.generation.making import PlainOperation

SEGMENTS = st.sampled_from(["a", "b", "{x}", "{y}", "c{z}"])
PATHS = st.lists(st.lists(SEGMENTS, max_size=4).map(lambda parts: "/" + "/".join(parts)))


def model_of(*labels: str, transitions: tuple[Transition, ...] = ()) -> ResourceModel:
    uses = (ResourceUse.of(Label(label), *label.split(" ")) for label in labels)
    return ResourceModel(uses, transitions)


def is_below(collection: tuple[str, ...], path: str) -> bool:
    """Whether some variable of a path chooses from a collection."""
    segments = ["{}" if "{" in one else one for one in path.split("/") if one]
    return any(
        segment == "{}" and _without_variables(segments[:place]) == collection for place, segment in enumerate(segments)
    )


def _without_variables(segments: list[str]) -> tuple[str, ...]:
    while segments and segments[-1] == "{}":
        segments = segments[:-1]
    return tuple(segments)


@given(PATHS)
def test_followers_are_the_members_of_a_collection_and_what_lies_below(paths: list[str]) -> None:
    # Variables of one name cannot stand in one path twice.
    labels = {
        Label(f"{number} {path}"): path
        for number, path in enumerate(paths)
        if all(path.count(f"{{{name}}}") < 2 for name in "xyz")
    }
    model = model_of(*labels)
    for label, path in labels.items():
        assert list(model.followers(label)) == [
            other for other, one in labels.items() if is_below(resource_of(path), one)
        ]


SHOP = model_of(
    "DELETE /v1/owners/{owner}",
    "GET /v1/owners/{owner}/pets/{pet}",
    "GET /v1/owners",
    "POST /v1/owners/{owner}/pets",
    "POST /v1/owners",
    "GET /v1/weather",
)


def test_versions_and_prefixes_name_no_resource() -> None:
    assert SHOP.uses[Label("POST /v1/owners")].resource == ("owners",)


def test_each_layer_needs_what_earlier_ones_make_and_removing_comes_last() -> None:
    assert SHOP.layers == {
        "GET /v1/owners": 0,
        "POST /v1/owners": 0,
        "GET /v1/weather": 0,
        "POST /v1/owners/{owner}/pets": 1,
        "GET /v1/owners/{owner}/pets/{pet}": 2,
        "DELETE /v1/owners/{owner}": 3,
    }
    assert SHOP.ordered[:2] == ["POST /v1/owners", "GET /v1/owners"]


def test_links_that_lead_in_a_circle_share_a_layer() -> None:
    def link(source: str, target: str) -> Transition:
        return Transition("on", Label(source), "200", Label(target), (), is_inferred=False)

    labels = ("GET /a", "GET /b", "GET /c")
    circle = (link("GET /a", "GET /b"), link("GET /b", "GET /a"), link("GET /b", "GET /c"))
    assert model_of(*labels, transitions=circle).layers == {"GET /a": 0, "GET /b": 0, "GET /c": 1}


def test_who_creates_what_others_name_is_a_producer() -> None:
    model = model_of(
        "GET /api/users",
        "POST /api/users",
        "GET /api/users/{id}",
        "PUT /api/users/{id}",
        "POST /api/users/{id}/notes",
        "GET /api/teams",
        "GET /api/teams/{id}",
        "POST /api/login",
    )
    assert model.producers == {"POST /api/users", "PUT /api/users/{id}", "GET /api/teams"}


def test_a_model_is_read_as_it_was_written() -> None:
    value = TakenValue(Location.PATH, "owner", "$response.body#/id")
    link = Transition("more", Label("POST /v1/owners"), "201", Label("DELETE /v1/owners/{owner}"), (value,), False)
    model = ResourceModel(SHOP.uses.values(), (link,))
    again = ResourceModel.of_plain(json.loads(json.dumps(model.plain())))
    assert (again.uses, again.transitions) == (model.uses, model.transitions)


def test_operations_that_are_left_out_are_in_nobodys_way() -> None:
    some = SHOP.restricted([Label("GET /v1/owners/{owner}/pets/{pet}")])
    assert some.layers == {"GET /v1/owners/{owner}/pets/{pet}": 0}
    assert not some.producers


def test_operations_of_nested_and_linked_resources_are_one_group() -> None:
    paths = ("/owners", "/owners/{owner}", "/owners/{owner}/pets", "/teams", "/teams/{team}", "/news")
    uses = [ResourceUse.of(Label(f"{verb} {path}"), verb, path) for path in paths for verb in ("GET", "POST")]
    link = Transition("news", Label("POST /teams"), "201", Label("GET /news"), (), False)
    model = ResourceModel(uses, (link,))
    groups = [{label.split("/")[1] for label in group} for group in model.groups]
    assert groups == [{"owners"}, {"teams", "news"}]
    assert model.families == model.groups
    assert model.needed_by([Label("GET /owners/{owner}/pets")]) == {"POST /owners"}
    assert set(model.creating_near[Label("GET /news")]) <= {"POST /teams", "POST /news"}
    assert "POST /owners" in model.creating_near[Label("GET /owners/{owner}/pets")]


def case(path: str, **parameters: Any) -> Case:
    return Case(PlainOperation(path=path), "c", path_parameters=parameters)


def test_a_request_is_about_a_resource_and_what_is_below() -> None:
    deleted = case("/users/{id}", id=5)
    assert concerns(case("/users/{user}/orders", user="5"), deleted)
    assert concerns(case("/user/{id}", id=5), deleted)
    assert concerns(case("/users/{id}:archive", id=5), deleted)
    assert not concerns(case("/users/{id}", id=55), deleted)
    assert not concerns(case("/users"), deleted)
    assert not concerns(case("/teams/{id}", id=5), deleted)


def test_the_status_of_a_transition_is_the_nearest_key() -> None:
    def on(status: str) -> Transition:
        return Transition("on", Label("GET /a"), status, Label("GET /b"), ())

    keys = ("201", "4XX", "default")
    assert on("201").is_for(201, keys)
    assert on("4XX").is_for(404, keys)
    assert on("default").is_for(500, keys)
    assert not on("default").is_for(404, keys)
    assert not on("2XX").is_for(201, keys)


def giving(source: str, target: str, *names: str) -> Transition:
    values = tuple(TakenValue(Location.BODY, name, f"$response.body#{name}") for name in names)
    return Transition("Given", Label(source), "200", Label(target), values)


def test_bodies_wait_for_whoever_names_what_he_makes_and_not_the_other_way_round() -> None:
    put, order = "PUT /products/{sku}", "POST /orders"
    model = model_of(
        *(order, put, "GET /products/{sku}"),
        transitions=(giving(put, order, "/lines/*/sku"), giving(order, put, "/sku")),
    )
    assert model.layers[Label(put)] < model.layers[Label(order)]


def test_what_is_made_waits_for_nothing_that_stands_below_it() -> None:
    order, pay = "POST /orders", "POST /orders/{id}/pay"
    model = model_of(pay, order, transitions=(giving(pay, order, "/note"),))
    assert model.layers[Label(order)] < model.layers[Label(pay)]
