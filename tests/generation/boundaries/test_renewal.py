"""Bodies of listed cases name things of their own, where nothing else is tested."""

import re
from typing import Any

import pytest

from checker.core.case import Case
from checker.core.constraints import SELDOM, USUAL, Constraint
from checker.generation.boundaries.operations import Coverage, OperationEdges
from checker.generation.settings import GenerationSettings
from tests.openapi.documents import operation

TEXT = {"type": "string"}
MIXED = GenerationSettings(mode=None)


def renewed(
    schema: Any, path: str = "/things", method: str = "post", settings: GenerationSettings = MIXED
) -> list[Case]:
    """Cases with what they name, each under a token of its own."""
    content = {"application/json": {"schema": {"type": "object", **schema}}}
    found = operation({"requestBody": {"content": content}}, path=path, method=method)
    cases = []
    for number, listed in enumerate(OperationEdges(found, settings, Coverage()).cases()):
        case = listed.case(found, "")
        if number and listed.renewal is not None:
            case.body = listed.renewal.renewed(case.body, f"token {number}")
        cases.append(case)
    return cases


def values(cases: list[Case], name: str) -> list[Any]:
    return [case.body[name] for case in cases if isinstance(case.body, dict) and name in case.body]


def distinct_texts(cases: list[Case], name: str) -> set[str]:
    return {value for value in values(cases, name) if isinstance(value, str)}


@pytest.mark.parametrize(
    ("name", "schema", "form"),
    [
        ("name", {**TEXT, "minLength": 1}, "[a-z][a-z0-9]{7}"),
        ("slug", {**TEXT, "maxLength": 4}, "[a-z][a-z0-9]{3}"),
        ("displayName", {**TEXT, "minLength": 12}, "[a-z][a-z0-9]+"),
        ("contact_email", {**TEXT, "format": "email"}, r"[a-z0-9]+@example\.com"),
        ("id", {**TEXT, "format": "uuid"}, "[0-9a-f-]{36}"),
        ("thingCode", {**TEXT, "pattern": "^[A-Z]{3}-[0-9]{4}$"}, "[A-Z]{3}-[0-9]{4}"),
        ("email", {**TEXT, "example": "jo@corp.org"}, r"jo(\.[a-z0-9]{6})?@corp\.org"),
    ],
)
def test_what_names_a_thing_differs_from_case_to_case(name: str, schema: Any, form: str) -> None:
    extra = {f"x{number}": {"type": "integer"} for number in range(6)}
    cases = renewed({"properties": {name: schema, **extra}, "required": [name]})
    about_others = [case for case in cases if isinstance(case.body, dict) and "x0" in case.body]
    found = [one for one in distinct_texts(about_others, name) if re.fullmatch(form, one)]
    assert len(found) >= 8


def test_a_name_that_was_accepted_differs_from_case_to_case() -> None:
    accepted = (Constraint("body", ("name",), USUAL, '"north"'), Constraint("body", ("name",), "minLength", "3"))
    settings = GenerationSettings(mode=None, learned=accepted)
    extra = {f"x{number}": {"type": "integer"} for number in range(6)}
    cases = renewed({"properties": {"name": TEXT, **extra}, "required": ["name"]}, settings=settings)
    about_others = [case for case in cases if isinstance(case.body, dict) and "x0" in case.body]
    found = distinct_texts(about_others, "name")
    assert len([one for one in found if len(one) >= 3]) >= 8


@pytest.mark.parametrize("is_accepted", [True, False])
def test_a_name_of_the_description_is_sent_until_it_was_accepted(*, is_accepted: bool) -> None:
    learned = (Constraint("body", ("name",), USUAL, '"north"'),) if is_accepted else ()
    schema = {"properties": {"name": {**TEXT, "example": "north"}, "note": TEXT}, "required": ["name"]}
    cases = renewed(schema, settings=GenerationSettings(mode=None, learned=learned))
    # The first case is the plain one.
    assert ("north" in values(cases[1:], "name")) is not is_accepted


def test_names_differ_where_other_parts_are_left_out() -> None:
    learned = tuple(Constraint("body", (name,), SELDOM) for name in ("x0", "x1"))
    settings = GenerationSettings(mode=None, learned=learned)
    extra: dict[str, Any] = {"x0": {"type": "boolean"}, "x1": {"type": "integer"}, "x2": TEXT}
    cases = renewed({"properties": {"name": TEXT, **extra}, "required": ["name"]}, settings=settings)
    about_others = [case for case in cases if isinstance(case.body, dict) and "x2" in case.body]
    assert len({one for one in distinct_texts(about_others, "name") if len(one) == 8}) >= 8


def test_numbers_that_name_a_thing_differ_within_their_bounds() -> None:
    number = {"type": "integer", "minimum": 1, "maximum": 300}
    cases = renewed({"properties": {"number": number, "a": TEXT, "b": TEXT}})
    about_others = [case for case in cases if isinstance(case.body, dict) and "a" in case.body]
    found = {one for one in values(about_others, "number") if type(one) is int and 1 < one < 299}
    assert len(found) >= 6


def test_what_a_case_is_about_stays() -> None:
    bounds = {**TEXT, "minLength": 2, "maxLength": 9}
    cases = renewed({"properties": {"name": bounds, "age": {"type": "integer"}}})
    lengths = {len(one) for one in values(cases, "name") if isinstance(one, str)}
    assert lengths >= {1, 2, 3, 9, 10}
    assert {type(one) for one in values(cases, "name")} >= {bool, dict, int, list, str}
    assert {type(one) for one in values(cases, "age")} >= {bool, dict, int, list, str}


@pytest.mark.parametrize(
    ("path", "method", "name"),
    [
        ("/login", "post", "username"),
        ("/things/search", "post", "name"),
        ("/things/{name}", "put", "name"),
        ("/things/{thing}", "patch", "id"),
        ("/things", "post", "colour"),
        ("/things", "post", "country_code"),
    ],
)
def test_what_need_not_be_new_is_the_same_each_time(path: str, method: str, name: str) -> None:
    variables = re.findall("{(.*)}", path)
    content = {"application/json": {"schema": {"type": "object", "properties": {name: TEXT}}}}
    given = [{"name": one, "in": "path", "required": True, "schema": TEXT} for one in variables]
    declared = {"requestBody": {"content": content}, "parameters": given}
    found = operation(declared, path=path, method=method)
    assert all(one.renewal is None for one in OperationEdges(found, MIXED, Coverage()).cases())


def test_one_token_gives_one_body() -> None:
    schema = {"properties": {"name": TEXT, "email": {**TEXT, "format": "email"}}}
    assert [one.body for one in renewed(schema)] == [one.body for one in renewed(schema)]
