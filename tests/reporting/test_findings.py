"""Which findings share a block."""

from typing import Any

import pytest
from msgspec.structs import replace

from checker.core.blocks import Truncation
from checker.core.meta import Binding, Drawn, Step
from checker.core.operation import Label, Location
from checker.corpus.records import Component, Finding, ResourceMade
from checker.reporting.findings import failures_by_cause, failures_by_label, marks_of, sources_of
from checker.reporting.masking import ShownCommand
from tests.corpus.generated import finding
from tests.reporting.samples import changed

from . import samples


def candidate(name: str, choice: int, **changes: object) -> Any:
    step = Step(Label("GET /a"), Drawn((choice,)), ())
    return changed(finding(name), steps=(step,), **changes)


def blocks(*findings: Finding) -> int:
    ((_, text),) = failures_by_label(findings, Truncation())
    return text.count("Test Case ID")


def test_candidates_of_one_shrink_are_told_apart_by_what_they_are() -> None:
    assert blocks(candidate("f1", 1), candidate("f2", 2)) == 2
    assert blocks(candidate("f1", 1), candidate("f2", 1)) == 1


def test_what_one_command_shows_is_one_block() -> None:
    command = {"reproduction": "curl -X GET http://127.0.0.1/a"}
    assert blocks(candidate("f1", 1, **command), candidate("f2", 1, **command)) == 1


BINDING = Binding(Location.PATH, "id", Label("POST /a"), "/id", 0, 1)
ALONE = Step(Label("GET /a"), Drawn((1,)))
MAKER = Step(Label("POST /a"), Drawn((1,)))
BOUND = Step(Label("GET /a"), Drawn((1,)), (BINDING,))
SHOWN = Step(Label("GET /a"), Drawn((1,)), (replace(BINDING, producer=Label("GET /b"), pointer="/*/id"),))


@pytest.mark.parametrize(("outside", "is_dependent"), [(("id",), True), (("*",), True), ((), False), (("a",), False)])
def test_values_that_a_smaller_case_has_no_more_count_for_nothing(outside: tuple[str, ...], is_dependent: bool) -> None:
    parts = (Component("path", "positive", outside),)
    sent = samples.interaction(components=parts)
    one = samples.finding(steps=(BOUND,), interactions=(sent,))
    assert marks_of(one) == (("dependent on earlier requests",) if is_dependent else ())


def test_an_answer_to_another_method_depends_on_no_earlier_request() -> None:
    sent = samples.interaction(exchange=samples.exchange(method="OPTIONS", status=405))
    refused = samples.finding(steps=(BOUND,), interactions=(sent,))
    assert marks_of(refused) == sources_of(refused) == ()


@pytest.mark.parametrize(("status", "is_dependent"), [(404, False), (410, False), (400, True), (500, True)])
def test_a_resource_that_is_not_there_is_not_there_on_a_fresh_server(status: int, is_dependent: bool) -> None:
    sent = samples.interaction(
        exchange=samples.exchange(status=status), components=(Component("path", "positive", ("*",)),)
    )
    one = samples.finding(steps=(BOUND,), interactions=(sent,))
    assert marks_of(one) == (("dependent on earlier requests",) if is_dependent else ())
    # The refusal may come before the resource is looked for.
    untried = marks_of(changed(one, reproduced=None))
    assert untried == (("not tried again", *marks_of(one)) if status == 500 else ("not tried again",))


@pytest.mark.parametrize("literal", [0, "0"])
def test_a_value_that_the_simplest_case_has_too_is_from_nowhere(literal: object) -> None:
    bound = replace(BOUND, bindings=(replace(BINDING, literal=literal),))
    alone = samples.finding(steps=(bound,), interactions=())
    assert marks_of(alone) == sources_of(alone) == ()
    # The step that gave it stands there.
    both = samples.finding(steps=(MAKER, bound), interactions=())
    assert sources_of(both) == ("path id of request 2: /id of the response to request 1",)


@pytest.mark.parametrize("steps", [(), (MAKER,)])
@pytest.mark.parametrize("pointer", ["$request.header.X-Tenant", "$request.query.tenant"])
def test_what_a_request_made_up_is_from_nowhere(steps: tuple[Step, ...], pointer: str) -> None:
    tenant = replace(BINDING, location=Location.HEADER, name="X-Tenant", pointer=pointer)
    one = samples.finding(steps=(*steps, replace(BOUND, bindings=(tenant,))), interactions=())
    assert sources_of(one) == ()
    assert "dependent on earlier requests" not in marks_of(one)


@pytest.mark.parametrize(
    ("pointers", "origin"),
    [
        (("/id",), "/id of the response to request 1"),
        (("",), "the response to request 1"),
        (("request:/name",), "/name of the body of request 1"),
        (("request:box",), "box of the path of request 1"),
        (("$request.path.box",), "box of the path of request 1"),
        # The value that was set last is the one that is sent.
        (("request:/name", "$request.body#/name"), "/name of the body of request 1"),
        (("/id", "$response.header.Location"), "$response.header.Location of the response to request 1"),
    ],
)
def test_it_is_told_where_values_are_from(pointers: tuple[str, ...], origin: str) -> None:
    bound = replace(BOUND, bindings=tuple(replace(BINDING, pointer=one) for one in pointers))
    one = samples.finding(steps=(MAKER, bound), interactions=())
    assert sources_of(one) == (f"path id of request 2: {origin}",)


@pytest.mark.parametrize(
    ("reproduced", "steps", "marks"),
    [
        (True, (ALONE,), ()),
        (False, (ALONE,), ("intermittent",)),
        (None, (ALONE,), ("not tried again",)),
        (True, (ALONE, ALONE), ("needs its sequence",)),
        (True, (BOUND,), ("dependent on earlier requests",)),
        (False, (BOUND,), ("intermittent", "dependent on earlier requests")),
        # The thing that a sequence is about was made by another one.
        (True, (ALONE, BOUND), ("dependent on earlier requests", "needs its sequence")),
        (True, (MAKER, BOUND), ("needs its sequence",)),
        # A list showed it, and no known request of the run made it.
        (True, (SHOWN,), ()),
    ],
)
def test_what_may_not_show_again_is_marked(
    reproduced: bool | None, steps: tuple[Step, ...], marks: tuple[str, ...]
) -> None:
    one = changed(finding("f1"), reproduced=reproduced, steps=steps, interactions=())
    assert marks_of(one) == marks
    ((_, text),) = failures_by_label([one], Truncation())
    heading = f"1. Test Case ID: {one.case}" + (f" ({', '.join(marks)})" if marks else "")
    assert text.partition("\n")[0] == heading


@pytest.mark.parametrize(
    ("reproduced", "spent", "marks"),
    [
        (None, False, ("not tried again",)),
        (True, False, ("temporary by its status",)),
        # The run cannot send its commands again, but a fresh server may not be in the same state either.
        (None, True, ("temporary by its status", "needs a fresh server")),
    ],
)
def test_an_error_that_states_that_it_passes_is_temporary_if_it_was_sent_again(
    reproduced: bool | None, spent: bool, marks: tuple[str, ...]
) -> None:
    sent = samples.interaction(exchange=samples.exchange(status=503))
    one = samples.finding(code="ST101", reproduced=reproduced, spent=spent, steps=(ALONE,), interactions=(sent,))
    assert marks_of(one) == marks


@pytest.mark.parametrize(("status", "marks"), [(500, ("dependent on earlier requests",)), (422, ())])
def test_a_finding_depends_on_a_server_error_that_perhaps_made_its_resource(
    status: int, marks: tuple[str, ...]
) -> None:
    perhaps = ResourceMade("/v1/a/3", "POST /a", "coverage", 1, status, "curl a")
    sent = samples.interaction(exchange=samples.exchange(status=500))
    one = samples.finding(reproduced=True, steps=(ALONE,), interactions=(sent,), needs=(perhaps,))
    assert marks_of(one) == marks


def test_what_holds_for_some_failures_of_a_case_stands_at_their_titles() -> None:
    one = changed(finding("f1"), title="A", reproduced=True, steps=(BOUND,), message="")
    other = changed(one, fingerprint="f2", title="B", reproduced=False)
    ((_, text),) = failures_by_label([one, other], Truncation())
    assert text.split("\n\n")[:3] == [
        f"1. Test Case ID: {one.case} (dependent on earlier requests)",
        "- A",
        "- B (intermittent)",
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"reproduced": False}, {}),
        ({"reproduced": None}, {}),
        ({"hits": 1, "tries": 8}, {"hits": 8, "tries": 8}),
        ({"steps": (MAKER, BOUND)}, {"steps": (ALONE,)}),
        ({"severity": "medium", "steps": (ALONE,)}, {"severity": "high", "steps": (MAKER, BOUND)}),
    ],
)
def test_of_many_places_the_one_is_shown_that_is_easiest_to_see_again(
    first: dict[str, object], second: dict[str, object]
) -> None:
    places = [
        samples.finding(fingerprint=f"f{label}", label=label, case=label[-1], cause="c", **changes)
        for label, changes in (("GET /a", first), ("GET /b", second), ("GET /c", first))
    ]
    ((heading, text),) = failures_by_cause(places, Truncation())
    assert heading == "GET /b and 2 more operations"
    assert "Test Case ID: b" in text
    assert "In 3 operations:" in text


def test_what_is_hidden_is_said_once() -> None:
    found = [
        samples.finding(fingerprint=f"f{label}", label=label, case=label[-1], reproduction=command)
        for label, command in (("GET /a", "X"), ("GET /b", "X"), ("GET /c", "X and Y"))
    ]

    def shown(text: str, parts: object = ()) -> ShownCommand:
        return ShownCommand(text, tuple(f"header {one}" for one in text.split(" and ")))

    texts = [text for _, text in failures_by_cause(found, Truncation(), shown)]
    said = [[line for line in text.split("\n") if line.startswith("Hidden: ")] for text in texts]
    hint = "To see the values: `--output-sanitize false`."
    assert said == [[f"Hidden: header X. {hint}"], [], [f"Hidden: header X, header Y. {hint}"]]
    # Read one by one, each of them says it.
    alone = [text for _, text in failures_by_label(found, Truncation(), shown)]
    assert all("Hidden: header X" in text for text in alone)
