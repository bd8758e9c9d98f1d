"""A finding about something that another request made says which request that was."""

import json

import pytest
from msgspec.structs import replace

from checker.core.meta import Binding, Drawn, Step
from checker.core.operation import Label, Location
from checker.corpus.fold import RunView
from checker.corpus.needs import is_surely_needed, name_in, taken_names
from checker.corpus.records import Finding, Interaction, Record, ResourceMade
from tests.corpus.generated import finding
from tests.reporting import samples
from tests.reporting.samples import changed

BOX = ResourceMade("/v1/boxes/0", "PUT /boxes/{box}", "coverage", 3, 201, "curl box")
ITEM = ResourceMade("/v1/boxes/0/items/1", "POST /boxes/{box}/items", "coverage", 5, 201, "item")


def asking(target: bytes, *, method: str = "GET", status: int = 200, body: bytes = b"") -> Finding:
    sent = samples.interaction()
    exchange = replace(sent.exchange, method=method, target=target, status=status, body=body)
    shot: Interaction = replace(sent, exchange=exchange)
    return replace(finding(), label="GET /boxes/{box}/items/{item}", interactions=(shot,))


def needs(one: Finding, *records: ResourceMade) -> list[str]:
    view = RunView()
    everything: tuple[Record, ...] = (one, *records)
    for record in everything:
        view.absorb(1, record)
    (told,) = view.findings.values()
    return [made.command for made in told.needs]


def test_all_above_a_path_is_needed_outermost_first() -> None:
    one = asking(b"/v1/boxes/0/items/1?full=1")
    assert needs(one, ITEM, BOX) == ["curl box", "item"]
    assert needs(asking(b"/v1/boxes/00/items/1"), ITEM, BOX) == []


@pytest.mark.parametrize(
    ("path", "wanted"),
    [("/v1/admin/boxes/4", ["made"]), ("/v1/shops/2/boxes/4", []), ("/v1/admin/jars/4", []), ("4", [])],
)
def test_a_resource_is_known_at_a_path_that_differs_in_words(path: str, wanted: list[str]) -> None:
    made = ResourceMade(path, "POST /admin/boxes", "coverage", 5, 201, "made")
    assert needs(asking(b"/v1/boxes/4/price"), made) == wanted


@pytest.mark.parametrize(
    ("target", "wanted"),
    [
        (b"/v1/boxes/9/items/b9199853-0eef", ["curl box", "item"]),
        (b"/v1/boxes/9/items/b9199853-0eef/count", ["curl box", "item"]),
        (b"/v1/boxes/9/items/by-id/b9199853-0eef", ["curl box", "item"]),
        (b"/v1/boxes/9/parts/b9199853-0eef", []),
        (b"/v1/boxes/9/items/1", []),
    ],
)
def test_an_unmistakable_name_below_other_parents_is_needed(target: bytes, wanted: list[str]) -> None:
    command = "curl -X POST -d '{}' http://127.0.0.1/v1/boxes/0/items"
    item = replace(ITEM, path="/v1/boxes/0/items/b9199853-0eef", command=command)
    changed = replace(
        item, path="/v1/boxes/7/items/b9199853-0eef", label="PUT /boxes/{box}/items/{item}", at=0, status=200
    )
    told = [one.replace(command, "item") for one in needs(asking(target), item, changed, ITEM, BOX)]
    assert told == wanted


def test_what_a_look_may_have_created_is_not_surely_needed() -> None:
    look = replace(BOX, label="GET /box", status=200, command="curl look")
    one = asking(b"/v1/boxes/0/items/1")
    assert needs(one, look) == ["curl look"]
    assert not is_surely_needed(one, look)
    # A PUT after the look only updated what the look showed.
    for at, wanted in ((2, "curl box"), (9, "curl look")):
        assert needs(one, look, replace(BOX, at=at, status=200)) == [wanted]


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_what_was_not_there_needs_nothing(status: int) -> None:
    assert needs(asking(b"/v1/boxes/0", status=status), BOX) == []


@pytest.mark.parametrize(("method", "expected"), [("OPTIONS", []), ("GET", ["curl box"])])
def test_whoever_refuses_a_method_has_looked_for_nothing(method: str, expected: list[str]) -> None:
    assert needs(asking(b"/v1/boxes/0", method=method, status=405), BOX) == expected


@pytest.mark.parametrize(
    ("status", "reproduced", "is_sure"), [(400, None, False), (400, True, True), (409, None, True), (500, None, True)]
)
def test_an_untried_refusal_may_need_nothing(status: int, reproduced: bool | None, *, is_sure: bool) -> None:
    one = changed(asking(b"/v1/boxes/0", status=status), reproduced=reproduced)
    assert is_surely_needed(one, BOX) is is_sure


def test_what_surely_created_it_first_is_told() -> None:
    one = asking(b"/v1/boxes/0")
    replaced = replace(BOX, status=200, at=0, command="replaced")
    later = replace(BOX, at=9, command="later")
    assert needs(one, replaced, later, BOX) == ["curl box"]
    assert needs(one, BOX, later, replaced) == ["curl box"]


@pytest.mark.parametrize("phase", ["coverage", "fuzzing", "stateful"])
def test_what_another_phase_made_is_needed_if_it_was_made_before(phase: str) -> None:
    one = asking(b"/v1/boxes/0")
    made = replace(BOX, phase=phase, at=one.interactions[0].at)
    assert needs(one, made) == ["curl box"]
    # Responses of one phase may be judged in another order.
    later = replace(made, at=made.at + 1)
    assert needs(one, later) == (["curl box"] if phase == one.phase else [])
    gone = replace(made, command="gone", is_gone=True, label="DELETE /boxes/{box}")
    absent = asking(b"/v1/boxes/0", status=404)
    assert needs(absent, gone) == ["gone"]
    assert needs(absent, replace(gone, at=later.at)) == (["gone"] if phase == one.phase else [])


def test_what_makes_the_thing_itself_needs_nothing_before() -> None:
    one = replace(asking(b"/v1/boxes/0", method="PUT", status=201), label=BOX.label)
    assert needs(one, BOX) == []
    (sent,) = one.interactions
    broken = replace(sent, exchange=replace(sent.exchange, status=500))
    assert needs(replace(one, interactions=(broken,)), BOX) == ["curl box"]


def test_what_is_put_once_more_names_the_first_time_if_that_had_another_status() -> None:
    one = replace(asking(b"/v1/boxes/0", method="PUT", status=200), label=BOX.label)
    view = RunView()
    view.absorb(1, one)
    view.absorb(1, BOX)
    (told,) = view.findings.values()
    assert told.needs == (BOX,)
    assert not is_surely_needed(told, BOX)


def test_a_server_error_may_have_made_what_nobody_else_made() -> None:
    perhaps = replace(BOX, path="/v1/boxes/*", label="POST /boxes", status=500, command="perhaps")
    steps = (Step(Label("GET /boxes/{box}/items"), Drawn(())),)
    one = replace(asking(b"/v1/boxes/7/items"), steps=steps)
    assert needs(one, perhaps, BOX) == ["perhaps"]
    assert needs(asking(b"/v1/boxes/0/items"), perhaps, BOX) == ["curl box"]
    for status in (400, 404, 422):
        assert needs(asking(b"/v1/boxes/7", status=status), perhaps) == []
    view = RunView()
    view.absorb(1, one)
    view.absorb(1, perhaps)
    (told,) = view.findings.values()
    assert told.needs == (replace(perhaps, path="/v1/boxes/7"),)
    assert not is_surely_needed(told, told.needs[0])
    # A list showed the box: it was there from the start.
    bound = Binding(Location.PATH, "box", Label("GET /boxes"), "/*/id", 0, 7)
    assert needs(replace(one, steps=(replace(steps[0], bindings=(bound,)),)), perhaps) == []
    counted = replace(asking(b"/v1/boxes/count"), steps=(Step(Label("GET /boxes/count"), Drawn(())),))
    assert needs(counted, perhaps) == []


def test_a_sequence_that_makes_it_needs_nothing_before() -> None:
    steps = (Step(Label(BOX.label), Drawn(())), Step(Label("GET /boxes/{box}"), Drawn(())))
    (last,) = asking(b"/v1/boxes/0").interactions
    for own, wanted in ((b"/v1/boxes/0", []), (b"/v1/boxes/1", ["curl box"])):
        interactions = (*asking(own, method="PUT", status=201).interactions, last)
        assert needs(replace(asking(own), steps=steps, interactions=interactions), BOX) == wanted


def test_a_body_of_any_step_needs_what_it_names() -> None:
    name = replace(BOX, label="POST /boxes/{box}")
    steps = tuple(Step(Label(one), Drawn(())) for one in ("POST /boxes/{box}", "POST /moves", "GET /moves/{move}"))
    sent = [
        *asking(b"/v1/boxes/7", method="POST", status=201).interactions,
        *asking(b"/v1/moves", method="POST", status=201, body=b'{"from_box": "7", "to_box": "0"}').interactions,
        *asking(b"/v1/moves/1").interactions,
    ]
    one = replace(asking(b"/v1/moves/1"), steps=steps, interactions=tuple(sent))
    made = replace(name, path="/v1/boxes/7", command="own")
    assert needs(one, name, made) == ["curl box"]


@pytest.mark.parametrize(
    ("place", "wanted"),
    [
        ("body.data[1].size", ["curl box"]),
        ("body.data[0].size", []),
        ("body", []),
        ("body.names[1]", ["curl box"]),
        ("body.names[0]", []),
    ],
)
def test_an_invalid_item_of_a_list_needs_its_resource(place: str, wanted: list[str]) -> None:
    one = asking(b"/v1/boxes?limit=5")
    body = rb'{"data": [{"size": 1}, {"size": "a\ud800b", "id": 0}], "names": ["a\ud800b", "0"]}'
    said = replace(one.interactions[0].exchange, response_body=body)
    one = replace(one, check="response_schema_conformance", message=f"{place}: is wrong")
    assert needs(replace(one, interactions=(replace(one.interactions[0], exchange=said),)), BOX) == wanted


def test_a_server_error_made_no_item_that_another_request_made() -> None:
    perhaps = replace(BOX, path="/v1/boxes/*", label="POST /boxes", status=500, command="perhaps")
    one = asking(b"/v1/boxes")
    said = replace(one.interactions[0].exchange, response_body=b'[{"shelf_id": 7, "id": 0, "size": "a"}]')
    one = replace(one, check="response_schema_conformance", message="body[0].size: is wrong")
    one = replace(one, interactions=(replace(one.interactions[0], exchange=said),))
    assert needs(one, perhaps, BOX) == ["curl box"]
    assert "perhaps" in needs(one, perhaps)


def test_what_was_there_from_the_start_and_was_removed_needs_its_removal() -> None:
    gone = replace(BOX, label="DELETE /boxes/{box}", status=204, command="gone", is_gone=True)
    one = asking(b"/v1/boxes/0/items/1", status=404)
    assert needs(one, gone) == ["gone"]
    # What the run had made itself is not there on a fresh target either.
    assert needs(one, gone, BOX) == []
    assert needs(one, gone, replace(BOX, status=204)) == ["gone"]
    # A refusal for another reason may have come before the removal.
    assert needs(asking(b"/v1/boxes/0/items/1", status=400), gone) == []
    assert needs(replace(one, label=gone.label), gone) == []
    assert needs(asking(b"/v1/boxes/0"), gone) == []


def test_a_conflict_needs_what_is_there_already() -> None:
    name = replace(BOX, label="POST /boxes")
    one = asking(b"/v1/boxes", method="POST", status=409, body=b'{"name": "0"}')
    assert needs(one, name) == ["curl box"]
    assert needs(replace(one, interactions=()), name) == []


@pytest.mark.parametrize("status", [400, 409, 500])
def test_a_name_that_is_taken_needs_what_took_it(status: int) -> None:
    taken = replace(BOX, path="/v1/boxes with name 0", label="POST /boxes", command="takes it")
    one = asking(b"/v1/boxes", method="POST", status=status, body=b'{"id": 7, "name": "0"}')
    (sent,) = one.interactions
    said = replace(sent.exchange, response_body=b'{"error": "UNIQUE constraint failed: box.name"}')
    one = replace(one, label=taken.label, interactions=(replace(sent, exchange=said),))
    assert needs(one, taken) == ["takes it"]
    assert is_surely_needed(one, taken)
    refused = replace(taken, status=422, command="refused")
    assert needs(one, refused) == ["refused"]
    assert not is_surely_needed(one, refused)
    assert needs(one, refused, taken) == ["takes it"]
    # The name was taken again after it was removed.
    removal = replace(BOX, path="/v1/boxes/7", label="DELETE /boxes/{box}", is_gone=True)
    assert needs(one, taken, removal) == ["takes it"]
    # What is the same request under two names is told once.
    assert needs(one, taken, replace(taken, path="/v1/boxes/7")) == ["takes it"]
    other = replace(said, body=b'{"id": 7, "name": "1"}')
    assert needs(replace(one, interactions=(replace(sent, exchange=other),)), taken) == []


def test_a_server_error_that_speaks_of_no_name_needs_none() -> None:
    taken = replace(BOX, path="/v1/boxes with name 0", label="POST /boxes")
    one = asking(b"/v1/boxes", method="POST", status=500, body=b'{"name": "0"}')
    assert needs(replace(one, label=taken.label), taken) == []


def test_names_are_quoted_where_they_are_told() -> None:
    body = {"x\nid": "a b", "age": 3, "name": True, "email": "", "userName": 5}
    assert list(taken_names("/boxes", body)) == ["/boxes with x%0Aid a%20b", "/boxes with userName 5"]
    assert [name_in(one) for one in taken_names("/boxes", body)] == ["a b", "5"]
    assert name_in("/boxes/a%20b") == "a b"


def test_a_lone_surrogate_may_be_a_name() -> None:
    body = rb'{"id": "\ud800"}'
    assert list(taken_names("/boxes", json.loads(body))) == ["/boxes with id %ED%A0%80"]
    made = replace(BOX, path="/v1/boxes/%ED%A0%80", label="POST /boxes")
    assert needs(asking(b"/v1/boxes", method="POST", status=409, body=body), made) == ["curl box"]
