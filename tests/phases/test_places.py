"""Places of a case, left out or made smaller."""

from checker.core.case import NOT_SET, Case
from checker.kinds.protocol import ApiOperation
from checker.openapi.loaders import from_dict
from checker.phases.case_parts import names_in, places_of, with_names, without
from checker.phases.shrinking import smaller


def things() -> ApiOperation:
    paths = {"/things": {"post": {"responses": {"200": {"description": "made"}}}}}
    document = {"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": paths}
    (found,) = from_dict(document).get_all_operations()
    assert not hasattr(found, "error")
    return found


def test_smaller_values_come_to_an_end() -> None:
    for start in (40, -7, 2.5, True, "résumé", "0", 0, None):
        value, steps = start, 0
        while (found := list(smaller(value))) and steps < 500:
            value, steps = found[-1], steps + 1
        assert steps < 500, start


def test_places_are_left_out_all_at_once() -> None:
    body = {"a": [1, 2, {"b~/c": 3}], "d": None}
    case = Case(things(), "x", query={"q": 1}, headers={"h": "v"}, cookies={"c": ""}, body=body)
    assert places_of(case) == [
        "query q", "header h", "cookie c", "body", "body /a", "body /d", "body /a/0", "body /a/1",
        "body /a/2", "body /a/2/b~0~1c",
    ]  # fmt: skip
    without(case, ["query q", "cookie c", "body /a/0", "body /a/2/b~0~1c", "header absent"])
    assert (case.query, case.headers, case.cookies) == ({}, {"h": "v"}, {})
    assert case.body == {"a": [2, {}], "d": None}
    without(case, ["body"])
    assert case.body is NOT_SET
    assert case.media_type is None


def test_other_names_leave_the_case_as_it_was() -> None:
    headers = {"Idempotency-Key": "a1", "X-Other": "b1"}
    case = Case(things(), "x", query={"q": 1}, headers=headers, body={"name": "ann"})
    assert names_in(case) == [("header Idempotency-Key", "a1"), ("/name", "ann"), ("query q", 1)]
    other = with_names(
        case, [("header Idempotency-Key", "a2"), ("header X-Other", "b2"), ("/name", "bob"), ("query q", 2)]
    )
    assert dict(other.headers) == {"Idempotency-Key": "a2", "X-Other": "b2"}
    assert (dict(other.query), other.body) == ({"q": 2}, {"name": "bob"})
    assert (dict(case.headers), dict(case.query), case.body) == (headers, {"q": 1}, {"name": "ann"})
