"""Positive cases have members and parameters that nobody declared now and then, where nothing speaks against it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from checker.core.case import NOT_SET, Case
from checker.core.contract import Outcome
from checker.core.media_types import is_json
from checker.core.meta import GenerationMode
from checker.core.operation import Location, Operation, Parameter
from checker.core.request import BaseUrl
from checker.core.schema import Direction
from checker.core.security import SecurityRequirement, SecurityScheme
from checker.generation.drawing.extras import Room, with_extras
from checker.generation.hooks import ComponentHooks, PartHooks
from checker.generation.program import GenerationSettings, OperationProgram, compile_operation
from checker.generation.sources import alphabets
from checker.generation.sources.basic import constant
from checker.generation.sources.choices import RandomSource
from checker.generation.sources.replay import ReplaySource
from checker.generation.sources.shrinking import shrink
from checker.transport.prepare import RequestMaker
from checker.validation.referee import referee
from tests.measuring.sketches import sketched
from tests.searching import searched

from .making import PlainOperation, bodies, body_of, cases, drawer, opinions, parameter_of, program_of, schema_of

CASES = 1_500
CLOSED = GenerationSettings(allow_extra_parameters=False)
PRICE: dict[str, Any] = {
    "type": "object",
    "properties": {"amount": {"type": "integer"}, "unit": {"enum": ["EUR", "CHF"]}},
    "required": ["amount", "unit"],
}
OFFER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "price": PRICE,
        "lines": {"type": "array", "items": PRICE, "minItems": 1, "maxItems": 3},
    },
    "required": ["name", "price", "lines"],
}
QUERY = parameter_of({"type": "integer"}, Location.QUERY, "page", required=False)
HEADER = parameter_of({"type": "integer"}, Location.HEADER, "X-Trace")
COOKIE = parameter_of({"type": "integer"}, Location.COOKIE, "session")


def undeclared(value: Any, schema: Any) -> Iterator[str]:
    """Names of members that no `properties` has."""
    if isinstance(value, dict):
        declared = schema.get("properties", {})
        yield from value.keys() - declared.keys()
        for name in value.keys() & declared.keys():
            yield from undeclared(value[name], declared[name])
    elif isinstance(value, list):
        for item in value:
            yield from undeclared(item, schema["items"])


def test_objects_have_members_that_nobody_declared_now_and_then() -> None:
    drawn = bodies(OFFER, CASES)
    share = sum(any(undeclared(value, OFFER)) for value in drawn) / CASES
    assert 0.01 < share < 0.05
    assert any(value.keys() - OFFER["properties"].keys() for value in drawn)
    assert any(value["price"].keys() - PRICE["properties"].keys() for value in drawn)
    assert any(line.keys() - PRICE["properties"].keys() for value in drawn for line in value["lines"])
    is_valid = opinions(schema_of(OFFER))
    assert all(map(is_valid, drawn))


def test_parameters_are_there_that_nobody_declared() -> None:
    found = cases(program_of(QUERY, HEADER, COOKIE), CASES)
    for declared, drawn in (
        ("page", [case.query for case in found]),
        ("X-Trace", [case.headers for case in found]),
        ("session", [case.cookies for case in found]),
    ):
        share = sum(bool(values.keys() - {declared}) for values in drawn) / CASES
        assert 0.002 < share < 0.03
    fields = {name for case in found for name in case.headers} - {"X-Trace"}
    assert all(name.startswith("X-") and name[2:].isalpha() for name in fields)


def test_nothing_is_added_if_that_is_not_allowed() -> None:
    found = cases(program_of(QUERY, HEADER, COOKIE, body=OFFER, settings=CLOSED), CASES)
    assert {"page"} >= {name for case in found for name in case.query}
    assert {"X-Trace"} == {name for case in found for name in case.headers}
    assert {"session"} == {name for case in found for name in case.cookies}
    assert not any(any(undeclared(case.body, OFFER)) for case in found)


@pytest.mark.parametrize(
    "more",
    [
        {"additionalProperties": False},
        {"unevaluatedProperties": False},
        {"maxProperties": 3},
        {"propertyNames": {"enum": ["name", "price", "lines"]}},
        {"patternProperties": {"": {"const": {"nobody": "has this"}}}},
        {"allOf": [{"additionalProperties": False, "properties": OFFER["properties"]}]},
        {"not": {"minProperties": 4}},
    ],
    ids=lambda more: next(iter(more)),
)
def test_nothing_is_added_where_something_speaks_against_it(more: dict[str, Any]) -> None:
    raw = {**OFFER, "properties": {"name": {}, "price": {}, "lines": {}}, **more}
    if "patternProperties" in more:
        raw = {"type": "object", "properties": {"name": {"type": "string"}}, "additionalProperties": False}
    assert not any(value.keys() - raw["properties"].keys() for value in bodies(raw, CASES))


def test_what_is_added_satisfies_what_is_said_of_it() -> None:
    raw = {**PRICE, "patternProperties": {"^[a-mA-M]": {"type": "integer"}}, "propertyNames": {"maxLength": 8}}
    is_valid = opinions(schema_of(raw))
    drawn = bodies(raw, CASES)
    assert all(map(is_valid, drawn))
    assert any(name[0].lower() > "m" for value in drawn for name in undeclared(value, raw))


def told_apart(*alternatives: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"oneOf": list(alternatives), **more}


@pytest.mark.parametrize(
    "raw",
    [
        told_apart(PRICE, {**PRICE, "properties": {**PRICE["properties"], "unit": {"const": "USD"}}}),
        told_apart(
            {**PRICE, "additionalProperties": False},
            {**PRICE, "minProperties": 3, "additionalProperties": {"type": "integer"}},
        ),
        {"anyOf": [{**PRICE, "maxProperties": 2}, {"required": ["tax"], "properties": {"tax": {"type": "integer"}}}]},
        {**PRICE, "if": {"minProperties": 3}, "then": {"required": ["amount", "tax"]}},
        {"type": "object", "discriminator": {"propertyName": "@type"}, **told_apart({"$ref": "#/components/schemas/Price"})},
    ],
    ids=["values", "additional", "any", "condition", "discriminator"],
)  # fmt: skip
def test_alternatives_stay_what_they_are(raw: dict[str, Any]) -> None:
    components = {"Price": PRICE}
    schema = schema_of(raw, components=components)
    first, second = opinions(schema), referee(schema, Direction.REQUEST)
    for value in bodies(raw, CASES, components=components):
        assert first(value)
        assert not list(second.errors(value))


def spread(style: str = "form", *, explode: bool = True) -> Parameter:
    raw = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    return replace(parameter_of(raw, Location.QUERY, "filter"), style=style, explode=explode)


@pytest.mark.parametrize(
    ("parameter", "expected"),
    [(spread(), False), (spread("querystring"), False), (spread("deepObject"), True), (spread(explode=False), True)],
    ids=["exploded", "querystring", "deepObject", "in one"],
)  # fmt: skip
def test_no_pair_is_added_that_may_belong_to_an_object(parameter: Parameter, expected: bool) -> None:
    found = cases(program_of(parameter, QUERY), CASES)
    assert any(case.query.keys() - {"filter", "page"} for case in found) is expected


@pytest.mark.parametrize(
    "media_type", ["application/x-www-form-urlencoded", "multipart/form-data", "application/xml", "application/yaml"]
)
def test_only_json_has_members_that_nobody_declared(media_type: str) -> None:
    drawn = bodies(OFFER, CASES, media_type=media_type)
    assert not any(any(undeclared(value, OFFER)) for value in drawn)
    assert not is_json(media_type)


def test_names_that_mean_something_are_left_alone() -> None:
    schemes = tuple(
        SecurityScheme("key", "apiKey", "#", location=Location.QUERY, parameter=name) for name in ("KEY", "token")
    )
    operation: Operation = PlainOperation((QUERY,), security=(SecurityRequirement(schemes),))
    room = Room(operation, [Location.QUERY])
    for name in ("page", "Page", "key", "TOKEN"):
        assert not room.is_free(Location.QUERY, name)
    assert room.is_free(Location.QUERY, "other")


def test_parts_that_hooks_have_seen_stay_as_they_are() -> None:
    hooks = ComponentHooks(
        body=PartHooks(map=(lambda context, body: body,)), query=PartHooks(filter=(lambda context, query: True,))
    )
    found = cases(program_of(QUERY, HEADER, body=OFFER, hooks=hooks), CASES)
    assert not any(any(undeclared(case.body, OFFER)) or case.query.keys() - {"page"} for case in found)
    assert any(case.headers.keys() - {"X-Trace"} for case in found)


def everywhere() -> OperationProgram:
    return program_of(QUERY, HEADER, COOKIE, body=OFFER)


def has_extra(case: Case) -> bool:
    return any(undeclared(case.body, OFFER)) or bool(case.query.keys() - {"page"})


def test_a_record_adds_what_chance_added() -> None:
    plain, extras = everywhere(), 0
    for seed in range(CASES):
        source = RandomSource(seed)
        case = drawer(plain)(source)
        again = drawer(plain)(ReplaySource(source.choices))
        assert (case.query, case.headers, case.cookies, case.body) == (
            again.query, again.headers, again.cookies, again.body,
        )  # fmt: skip
        extras += has_extra(case)
    assert extras > 10


def failing(fails: Any) -> tuple[Any, tuple[Any, ...]]:
    """A draw, and choices of the first case that has something undeclared and fails."""
    draw = drawer(everywhere())
    for seed in range(CASES):
        source = RandomSource(seed)
        case = draw(source)
        if has_extra(case) and fails(case):
            return draw, tuple(source.choices)
    raise AssertionError("no case fails")


def test_what_nobody_declared_is_left_out_first() -> None:
    draw, choices = failing(lambda case: len(case.body["lines"]) > 1)
    tried: list[Case] = []

    def still_fails(case: Case) -> bool:
        tried.append(case)
        return len(case.body["lines"]) > 1

    found = searched(shrink(draw, choices), still_fails)
    assert not has_extra(found.value)
    assert found.value.body["lines"] == [{"amount": 0, "unit": "EUR"}] * 2


def test_a_member_that_matters_becomes_small() -> None:
    def fails(case: Case) -> bool:
        return any(undeclared(case.body, OFFER))

    draw, choices = failing(fails)
    (name,) = undeclared(searched(shrink(draw, choices), fails).value.body, OFFER)
    assert name == "0"


@pytest.mark.thorough
def test_the_referee_calls_them_valid() -> None:
    operation = sketched(
        OFFER,
        query_page={"type": "integer"},
        query_filter={"type": "array", "items": {"type": "integer"}},
        header_trace={"type": "integer"},
        cookie_session={"type": "integer"},
    )
    program = compile_operation(operation, GenerationSettings())
    maker, source = RequestMaker(BaseUrl("http", "127.0.0.1", 80, ""), version="0"), RandomSource()
    extras = 0
    for seed in range(CASES):
        source.reset(seed)
        case = drawer(program)(source)
        if has_extra(case) or len(case.headers) > 1 or len(case.cookies) > 1:
            extras += 1
            assert operation.judge_request(maker.make(case)).outcome is Outcome.VALID
    assert extras > 20


def test_a_negative_case_is_never_wrong_for_what_is_allowed() -> None:
    settings = GenerationSettings(mode=GenerationMode.NEGATIVE)
    is_valid = opinions(schema_of(OFFER))
    for case in cases(program_of(body=OFFER, settings=settings), 300):
        assert case.body is NOT_SET or not is_valid(case.body)


def test_operations_without_room_ask_for_nothing() -> None:
    whole = constant(({}, {}, {}, {}, None))
    text = PlainOperation(bodies=(body_of(schema_of({"type": "string"}), "text/plain"),))
    room = Room(text, [Location.PATH, Location.BODY])
    assert with_extras(whole, room, alphabets.TEXT, "") is whole
    source = RandomSource()
    drawer(compile_operation(text, GenerationSettings()))(source)
    assert [str] == [type(choice) for choice in source.choices]
