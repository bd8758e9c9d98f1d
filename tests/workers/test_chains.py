"""Values that sequences of the stateful phase take from their answers."""

import json
from collections.abc import Callable, Iterator
from gzip import compress
from pathlib import Path
from typing import Any

import pytest

from checker.checks.judge import UNJUDGED
from checker.core.case import Case
from checker.core.credentials import Credentials
from checker.core.meta import Binding, PhaseInfo
from checker.core.operation import Label
from checker.core.phases import phase_named
from checker.core.response import Decoded, Response
from checker.phases.attempt import Verdict
from checker.phases.case_factory import GeneratedCase
from checker.workers.context import WorkerContext
from tests.asking import saying
from tests.workers.harness import workplace

TOKEN = "tok-C4n4ry-0001"
STATEFUL = PhaseInfo("stateful")
TEXT = {"type": "string", "minLength": 1}
THING = {"type": "object", "properties": {"id": TEXT, "name": TEXT}, "required": ["id"]}
CONTENT = {"application/json": {"schema": THING}}
CREATED: dict[str, Any] = {
    "201": {
        "description": "",
        "content": CONTENT,
        "links": {"again": {"operationId": "put", "requestBody": "$response.body"}},
    }
}
ANSWER = {"200": {"description": "", "content": CONTENT}}
BODY = {"required": True, "content": CONTENT}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Sessions", "version": "1"},
    "paths": {
        "/things": {"post": {"requestBody": BODY, "responses": CREATED}},
        "/things/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": TEXT}],
            "get": {"responses": ANSWER},
        },
        "/latest": {"put": {"operationId": "put", "requestBody": BODY, "responses": ANSWER}},
    },
}


CODINGS: dict[str, Callable[[bytes], bytes]] = {"identity": bytes, "gzip": lambda content: compress(content, mtime=0)}


def bound_after(context: WorkerContext, answer: dict[str, str], coding: str = "identity") -> list[Binding]:
    """What the second steps of twenty sequences take from the answer to their first."""
    headers = [("Content-Type", "application/json"), ("Content-Encoding", coding)]
    response = Response(201, headers, CODINGS[coding](json.dumps(answer).encode()))
    found: list[Binding] = []
    for index in range(20):
        first = context.factory.make(Label("POST /things"), 1, index, STATEFUL)
        sent = Verdict(first.case, None, response, UNJUDGED)
        made = context.explorer.chains.follow((sent,), 1, index, STATEFUL)
        found += made.bindings if made is not None else ()
    return found


@pytest.mark.parametrize("field", ["id", "name"])
def test_credentials_that_an_answer_echoes_are_taken_into_no_later_step(tmp_path: Path, field: str) -> None:
    with workplace(tmp_path, document=DOCUMENT) as context:
        plain = bound_after(context, {"id": "B-7", "name": "x"})
        assert "B-7" in [one.literal for one in plain]
        assert {"id": "B-7", "name": "x"} in [one.literal for one in plain]
        context.recorder.secrets.add_credentials(Credentials({"Authorization": f"Bearer {TOKEN}"}))
        echoed = bound_after(context, {"id": "B-7", "name": "x", field: TOKEN})
    assert TOKEN not in repr([one.literal for one in echoed])
    assert ("B-7" in [one.literal for one in echoed]) is (field == "name")


@pytest.mark.parametrize("coding", CODINGS)
def test_urls_in_answers_name_things_whatever_the_coding(tmp_path: Path, coding: str) -> None:
    with workplace(tmp_path, document=DOCUMENT) as context:
        taken = bound_after(context, {"name": "x", "self": "/things/B-7"}, coding)
    assert "B-7" in [one.literal for one in taken]


JOB = {"name": "jobId", "in": "path", "required": True, "schema": TEXT}
JOBS: dict[str, Any] = {
    "/jobs": {"get": {"responses": {"200": {"description": ""}}}},
    "/jobs/{jobId}": {"parameters": [JOB], "get": {"responses": {"200": {"description": ""}}}},
}


@pytest.mark.parametrize("field", ["links", "_links"])
@pytest.mark.parametrize("jobs", [[], [{"title": "nightly"}]])
def test_what_stands_around_a_list_and_in_links_names_nothing(
    tmp_path: Path, field: str, jobs: list[dict[str, str]]
) -> None:
    """An OGC API lists the formats of its lists, and an empty list holds nothing else."""
    links = [{"href": "http://other.test/jobs?f=html", "rel": "alternate", "title": "As HTML"}]
    content = json.dumps({"type": "JobCollection", "numberMatched": 3, field: links, "jobs": jobs}).encode()
    with workplace(tmp_path, document=DOCUMENT | {"paths": JOBS}) as context:
        first = context.factory.make(Label("GET /jobs"), 1, 0, STATEFUL)
        sent = Verdict(first.case, None, Response(200, [("Content-Type", "application/json")], content), UNJUDGED)
        made = [context.explorer.chains.follow((sent,), 1, index, STATEFUL) for index in range(20)]
    taken = {binding.literal for one in made if one is not None for binding in one.bindings}
    assert taken == {title for job in jobs for title in job.values()}


class CountedResponse(Response):
    """A response that counts how often its body is read."""

    reads = 0

    @property
    def readable(self) -> Decoded:
        self.reads += 1
        return super().readable


def test_an_explored_sequence_reads_each_response_once_although_each_step_has_its_own_index(tmp_path: Path) -> None:
    with workplace(tmp_path, document=DOCUMENT) as context:
        sequence: list[Verdict] = []
        for step in range(5):
            made = context.factory.make(Label("POST /things"), 1, step, STATEFUL)
            response = CountedResponse(201, [("Content-Type", "application/json")], b'{"id": "B-7"}')
            sequence.append(Verdict(made.case, None, response, UNJUDGED))
            assert context.explorer.chains.follow(tuple(sequence), 1, 1000 + step, STATEFUL) is not None
    outcomes = [sent.outcome for sent in sequence]
    counts = [outcome.reads for outcome in outcomes if isinstance(outcome, CountedResponse)]
    # The value of a link is read beside the URLs.
    assert len(counts) == 5
    assert max(counts) <= 2


def below(*names: str) -> str:
    """The path of a member: `/a/{a_id}/b/{b_id}` of a and b."""
    return "".join(f"/{name}/{{{name}_id}}" for name in names)


def deep_document(*, unmade: int) -> dict[str, Any]:
    """Things in things in things, and some that stand below the last and that nobody makes."""
    paths: dict[str, Any] = {}
    for depth, name in enumerate("abc"):
        above = "abc"[:depth]
        paths[f"{below(*above)}/{name}"] = {"post": {"requestBody": BODY, "responses": CREATED}}
        paths[below(*above, name)] = {"get": {"responses": ANSWER}}
    paths[below(*"abc")]["delete"] = {"responses": {"204": {"description": ""}}}
    paths |= {below(*"abc", f"d{n}"): {"get": {"responses": ANSWER}} for n in range(unmade)}
    for path, item in paths.items():
        names = [part[1:-1] for part in path.split("/") if part.startswith("{")]
        item["parameters"] = [{"name": name, "in": "path", "required": True, "schema": TEXT} for name in names]
    without_links = {"201": {key: CREATED["201"][key] for key in ("description", "content")}}
    for item in paths.values():
        if "post" in item:
            item["post"]["responses"] = without_links
    return DOCUMENT | {"paths": paths}


def sequences_of(context: WorkerContext, label: str, count: int) -> list[list[Case]]:
    """What is sent where right data are served and wrong ones refused."""
    found = []
    begin = context.factory.maker(phase_named("stateful"))
    for index in range(count):
        made: GeneratedCase | None = begin(Label(label), 1, index, STATEFUL)
        sequence: list[Verdict] = []
        while made is not None:
            status = 422 if is_wrong(made.case) else 201
            content = json.dumps({key: f"{key}{index}-{len(sequence)}" for key in ("id", "sku")}).encode()
            response = Response(status, [("Content-Type", "application/json")], content)
            sequence.append(Verdict(made.case, None, response, UNJUDGED))
            made = context.explorer.chains.follow(tuple(sequence), 1, index, STATEFUL)
        found.append([sent.case for sent in sequence])
    return found


def is_wrong(case: Case) -> bool:
    assert case.meta is not None
    return case.meta.mode.is_negative


def test_all_steps_of_sequences_are_seldom_wrong_also_the_first(tmp_path: Path) -> None:
    both = saying(generation={"mode": "all"})
    with workplace(tmp_path, document=deep_document(unmade=0), operations=both) as context:
        found = sequences_of(context, "POST /a", 200)
    first = sum(is_wrong(sequence[0]) for sequence in found)
    assert 10 <= first <= 35
    later = [is_wrong(case) for sequence in found for case in sequence[1:]]
    assert 0.03 <= sum(later) / len(later) <= 0.15


def test_sequences_go_on_beside_operations_that_nobody_can_call(tmp_path: Path) -> None:
    with workplace(tmp_path, document=deep_document(unmade=12)) as context:
        found = sequences_of(context, "POST /a", 60)
    assert {len(sequence) for sequence in found} == {6}


def test_sequences_that_head_for_something_far_away_get_there(tmp_path: Path) -> None:
    both = saying(generation={"mode": "all"})
    with workplace(tmp_path, document=deep_document(unmade=0), operations=both) as context:
        found = sequences_of(context, "POST /a", 150)
    # The first goal is the removal: what is removed is read again.
    wanted = ["POST /a", f"POST {below('a')}/b", f"POST {below('a', 'b')}/c"]
    member = below(*"abc")
    wanted += [f"DELETE {member}", f"GET {member}"]
    aimed = [one for one in found[::3] if [case.operation.label for case in one[:5]] == wanted]
    assert len(aimed) >= 8
    assert not any(is_wrong(case) for sequence in aimed for case in sequence[:5])


def joined_document() -> dict[str, Any]:
    """Orders name a customer, whom somebody makes, and products, which are listed, or made by whoever knows a name."""
    line = {"type": "object", "properties": {"sku": TEXT}, "required": ["sku"]}
    order = {
        "type": "object",
        "properties": {"customer_id": TEXT, "lines": {"type": "array", "items": line, "minItems": 1}},
        "required": ["customer_id", "lines"],
    }

    def under(name: str) -> dict[str, Any]:
        given = {"name": name, "in": "path", "required": True, "schema": TEXT}
        return {"parameters": [given], "get": {"responses": ANSWER}}

    def said(schema: dict[str, Any]) -> dict[str, Any]:
        return {"description": "", "content": {"application/json": {"schema": schema}}}

    made = {"responses": {"201": said({"type": "object", "properties": {"id": TEXT}})}}
    paths = {
        "/customers": {"post": made},
        "/customers/{id}": under("id"),
        "/products": {"get": {"responses": {"200": said(line)}}},
        "/products/{sku}": under("sku") | {"put": made},
        "/orders": {
            "post": {"requestBody": {"required": True, "content": {"application/json": {"schema": order}}}, **made}
        },
        "/orders/{id}": under("id"),
        **{f"/others{number}": {"post": made} for number in range(20)},
        **{f"/others{number}/{{id}}": under("id") for number in range(20)},
    }
    return DOCUMENT | {"paths": paths}


def test_sequences_head_for_what_names_things_of_several_collections(tmp_path: Path) -> None:
    with workplace(tmp_path, document=joined_document()) as context:
        found = sequences_of(context, "POST /customers", 30)
    wanted = ["POST /customers", "GET /products", "POST /orders"]
    aimed = found[::3]
    assert [[case.operation.label for case in one[:3]] for one in aimed] == [wanted] * len(aimed)
    for index, one in enumerate(aimed):
        order = one[2].body
        assert order["customer_id"] == f"id{3 * index}-0"
        assert {line["sku"] for line in order["lines"]} == {f"sku{3 * index}-1"}


def conditional_document(*, is_required: bool = False) -> dict[str, Any]:
    """Notes that can be read and replaced only if somebody has, or has not, changed them."""

    def under(*names: str) -> list[Any]:
        return [{"name": name, "in": "header", "schema": TEXT} for name in names]

    named = {"name": "id", "in": "path", "required": True, "schema": TEXT}
    return DOCUMENT | {
        "paths": {
            "/notes": {"post": {"requestBody": BODY, "responses": {"201": ANSWER["200"]}}},
            "/notes/{id}": {
                "parameters": [named],
                "get": {"parameters": under("If-None-Match"), "responses": ANSWER},
                "put": {
                    "parameters": under("If-Match", "If-None-Match", "if-unmodified-since"),
                    "requestBody": BODY,
                    "responses": ANSWER,
                },
                "delete": {
                    "parameters": [one | {"required": is_required} for one in under("If-Match")],
                    "responses": ANSWER,
                },
            },
        }
    }


VERSION, DATE = '"v{}"', "Thu, 01 Jan 1970 00:00:0{} GMT"


def later_steps(context: WorkerContext, *, has_versions: bool) -> Iterator[tuple[GeneratedCase, int]]:
    """(step, its number) of a hundred sequences, but for the first ones."""
    begin = context.factory.maker(phase_named("stateful"))
    for index in range(100):
        made: GeneratedCase | None = begin(Label("POST /notes"), 1, index, STATEFUL)
        sequence: list[Verdict] = []
        while made is not None:
            count = len(sequence)
            headers = [("Content-Type", "application/json")]
            if has_versions:
                headers += [("ETag", VERSION.format(count)), ("Last-Modified", DATE.format(count))]
            response = Response(201, headers, json.dumps({"id": f"id{index}"}).encode())
            sequence.append(Verdict(made.case, None, response, UNJUDGED))
            made = context.explorer.chains.follow(tuple(sequence), 1, index, STATEFUL)
            if made is not None:
                yield made, len(sequence)


def conditions_of_steps(context: WorkerContext, *, has_versions: bool) -> list[tuple[str, ...]]:
    """(operation, header, its value, steps since that value was shown) of what was taken in a hundred sequences."""
    return [
        (made.case.operation.label, one.name, str(one.literal), str(number - one.step))
        for made, number in later_steps(context, has_versions=has_versions)
        for one in made.bindings
        if one.location == "header" and one.expression
    ]


def test_conditions_of_later_steps_are_those_that_answers_gave(tmp_path: Path) -> None:
    with workplace(tmp_path, document=conditional_document()) as context:
        found = conditions_of_steps(context, has_versions=True)
    asked = {(label.split()[0], name) for label, name, _, _ in found}
    # What is to be changed must be as it was, what is to be read must not.
    assert asked == {
        ("GET", "If-None-Match"),
        ("PUT", "If-Match"),
        ("PUT", "if-unmodified-since"),
        ("DELETE", "If-Match"),
    }
    shown = [VERSION.format(n) for n in range(10)] + [DATE.format(n) for n in range(10)]
    assert {value for _, _, value, _ in found} <= set(shown)
    # The last state that a step showed, also where others, or a removal, came between.
    assert sum(age == "1" for _, _, _, age in found) >= len(found) / 2


@pytest.mark.parametrize(("is_required", "low", "high"), [(True, 0.7, 1), (False, 0.2, 0.6)])
def test_a_condition_that_has_to_be_there_mostly_holds(
    is_required: bool, low: float, high: float, tmp_path: Path
) -> None:
    document = conditional_document(is_required=is_required)
    with workplace(tmp_path, document=document) as context:
        removals = [made for made, _ in later_steps(context, has_versions=True) if made.case.method == "DELETE"]
    taken = sum(any(one.name == "If-Match" for one in made.bindings) for made in removals)
    assert len(removals) > 50
    assert low < taken / len(removals) < high


def test_without_versions_no_condition_is_taken(tmp_path: Path) -> None:
    with workplace(tmp_path, document=conditional_document()) as context:
        assert conditions_of_steps(context, has_versions=False) == []


def tenants_of_sequences(context: WorkerContext) -> list[set[str]]:
    """What the right steps of forty sequences say for the tenant."""
    return [
        {sent.headers["X-Tenant"] for sent in sequence if not is_wrong(sent)}
        for sequence in sequences_of(context, "POST /things", 40)
        if len(sequence) > 2
    ]


def test_sequences_mostly_stay_with_the_tenant_that_they_began_with(tmp_path: Path) -> None:
    tenant = {
        "name": "X-Tenant",
        "in": "header",
        "required": True,
        "schema": {"type": "string", "enum": [f"t{n}" for n in range(9)]},
    }
    paths = {
        path: {**item, "parameters": [*item.get("parameters", ()), tenant]} for path, item in DOCUMENT["paths"].items()
    }
    with workplace(tmp_path, document=DOCUMENT | {"paths": paths}) as context:
        found = tenants_of_sequences(context)
    assert len(found) > 10
    assert len(set().union(*found)) > 5
    assert sum(len(one) == 1 for one in found) > len(found) / 3


def test_a_sequence_reads_two_collections_in_a_row_but_none_twice(tmp_path: Path) -> None:
    links = {"all": {"operationId": "all"}, "newest": {"operationId": "newest"}}
    created = {"201": {"description": "", "content": CONTENT, "links": links}}
    paths = {
        "/things": {
            "post": {"requestBody": BODY, "responses": created},
            "get": {"operationId": "all", "responses": ANSWER},
        },
        "/newest": {"get": {"operationId": "newest", "responses": ANSWER}},
    }
    content = json.dumps({"id": "B-7"}).encode()
    found = set()
    with workplace(tmp_path, document={**DOCUMENT, "paths": paths}) as context:
        made = (context.factory.make(Label(label), 1, 0, STATEFUL) for label in ("POST /things", "GET /things"))
        sent = tuple(
            Verdict(one.case, None, Response(status, [("Content-Type", "application/json")], content), UNJUDGED)
            for one, status in zip(made, (201, 200), strict=True)
        )
        for index in range(20):
            following = context.explorer.chains.follow(sent, 1, index, STATEFUL)
            found.add(None if following is None else following.label)
    assert "GET /newest" in found
    assert "GET /things" not in found
