"""Credentials that cases make up: in the words of their schemes, and only where nobody else gives them."""

import base64
from collections import Counter
from typing import Any

import pytest

from checker.core.case import Case
from checker.core.meta import GenerationMode, PhaseInfo
from checker.core.operation import Location
from checker.generation.boundaries.operations import Coverage, OperationEdges
from checker.generation.drawing.words import AUTHORIZATIONS
from checker.generation.program import compile_operation
from checker.generation.settings import GenerationSettings
from checker.generation.sources.choices import RandomSource
from checker.openapi.operation import OpenApiOperation
from tests.openapi.documents import operation

SCHEMES = {
    "basic": {"type": "http", "scheme": "basic"},
    "bearer": {"type": "http", "scheme": "bearer"},
    "oauth": {"type": "oauth2", "flows": {}},
    "header": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "query": {"type": "apiKey", "in": "query", "name": "key"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": "session"},
    "certificate": {"type": "mutualTLS"},
}
QUERY = {"name": "q", "in": "query", "required": True, "schema": {"type": "integer"}}


def secured(*alternatives: dict[str, list[str]], parameters: Any = (QUERY,)) -> OpenApiOperation:
    definition = {"security": list(alternatives), "parameters": list(parameters)}
    return operation(definition, components={"securitySchemes": SCHEMES})


def drawn(found: OpenApiOperation, count: int = 200, **settings: Any) -> list[Case]:
    program = compile_operation(found, GenerationSettings(allow_extra_parameters=False, **settings))
    cases = []
    for seed in range(count):
        source = RandomSource(seed)
        cases.append(program.draw(source, f"{seed:012x}", PhaseInfo("fuzzing")))
    return cases


def test_basic_credentials_are_a_user_and_a_password() -> None:
    values = {case.headers["Authorization"] for case in drawn(secured({"basic": []}))}
    for value in values - set(AUTHORIZATIONS):
        user, _, password = base64.b64decode(value.removeprefix("Basic ")).decode().partition(":")
        assert user
        assert password
    assert len(values) > 5


@pytest.mark.parametrize("scheme", ["bearer", "oauth"])
def test_tokens_are_bearer_tokens(scheme: str) -> None:
    values = Counter(case.headers["Authorization"] for case in drawn(secured({scheme: []})))
    others = values.keys() & AUTHORIZATIONS
    # A scheme alone, the word of another scheme, and broken tokens: parsers fail at each.
    assert {"Bearer", "Basic", "Token a"} & others
    assert all(value.startswith("Bearer ") and value[7:].isascii() for value in values.keys() - others)
    # Who makes something is most often who looks for it.
    (_, most), *_ = values.most_common(1)
    assert 150 < most < 200


def test_keys_are_where_their_schemes_say() -> None:
    for case in drawn(secured({"header": [], "query": [], "cookie": [], "certificate": []})):
        assert (set(case.headers), set(case.cookies)) == ({"X-Key"}, {"session"})
        assert set(case.query) == {"q", "key"}


def test_one_alternative_is_chosen_for_each_case() -> None:
    found = drawn(secured({"header": [], "query": []}, {"bearer": []}, {}))
    kinds = Counter((*sorted(case.headers), *sorted(set(case.query) - {"q"})) for case in found)
    assert set(kinds) == {("X-Key", "key"), ("Authorization",), ()}
    assert min(kinds.values()) > 40


def test_nothing_is_made_up_that_a_user_gives_or_does_not_want() -> None:
    bearer, key = secured({"bearer": []}), secured({"query": []})
    fixed = drawn(bearer, 5, fixed_headers=frozenset({"authorization"}))
    assert all(not case.headers for case in fixed)
    given = drawn(key, 5, fixed_places=frozenset({(Location.QUERY, "key")}))
    assert all(set(case.query) == {"q"} for case in given)
    assert all(not case.headers for case in drawn(bearer, 5, security_parameters=False))


def test_a_declared_parameter_is_drawn_by_its_schema() -> None:
    declared = {"name": "key", "in": "query", "required": True, "schema": {"enum": ["k"]}}
    assert {case.query["key"] for case in drawn(secured({"query": []}, parameters=[declared]))} == {"k"}


def test_wrong_cases_carry_them_and_parts_are_known() -> None:
    for case in drawn(secured({"header": []}), 50, mode=GenerationMode.NEGATIVE):
        assert case.headers["X-Key"]
        assert case.meta is not None
        assert case.meta.components[Location.HEADER].outside == ()


def edges(found: OpenApiOperation) -> list[Any]:
    return list(OperationEdges(found, GenerationSettings(), Coverage()).cases())


def test_edges_carry_usual_ones_and_miss_each_in_turn() -> None:
    listed = edges(secured({"header": [], "query": []}))
    missing = [case for case in listed if case.description.startswith("Missing `")]
    assert [(case.parameter, case.location) for case in missing] == [
        ("q", Location.QUERY),
        ("X-Key", Location.HEADER),
        ("key", Location.QUERY),
    ]
    assert missing[1].pointer == "#/components/securitySchemes/header"
    for case in listed:
        carried = {*case.parts.containers[Location.HEADER], *case.parts.containers[Location.QUERY]}
        assert len({"X-Key", "key"} - carried) == (case in missing[1:])


def test_what_may_be_left_out_is_not_missed() -> None:
    listed = edges(secured({"header": []}, {}))
    assert "X-Key" not in {case.parameter for case in listed}
    *others, bare = listed
    assert all("X-Key" in case.parts.containers[Location.HEADER] for case in others)
    assert "X-Key" not in bare.parts.containers[Location.HEADER]
    assert (bare.description, bare.alternative) == ("No credentials, which are optional", 1)


def test_edges_carry_each_other_alternative_once() -> None:
    operation = secured({"header": []}, {"query": [], "cookie": []})
    *others, last = edges(operation)
    assert (last.description, last.alternative) == ("Credentials of query and cookie", 1)
    assert set(last.parts.containers[Location.QUERY]) == {"q", "key"}
    assert set(last.parts.containers[Location.COOKIE]) == {"session"}
    assert not last.parts.containers[Location.HEADER]
    assert {case.alternative for case in others} == {None}
    # Whoever sends it puts credentials into it by that.
    assert last.case(operation, "id").alternative == 1


def test_what_users_give_is_met_by_most_cases_and_the_others_by_some() -> None:
    alternatives = secured({"query": []}, {"bearer": []}, {}, {"header": []})
    given: dict[str, Any] = {"fixed_headers": frozenset({"authorization", "x-key"}), "met_alternatives": (1, 3, 2)}
    cases = drawn(alternatives, 400, **given)
    met = Counter(case.alternative for case in cases)
    assert set(met) == {None, 3, 2}
    assert (320 < met[None] < 390, met[3] > 5, met[2] > 5) == (True, True, True)
    # The key that nobody gave belongs to an alternative that no request meets.
    assert all((set(case.query), set(case.headers)) == ({"q"}, set()) for case in cases)
    listed = [
        case.alternative for case in OperationEdges(alternatives, GenerationSettings(**given), Coverage()).cases()
    ]
    assert [one for one in listed if one is not None] == [3, 2]


def test_what_is_missing_of_a_given_alternative_is_made_up() -> None:
    both = secured({"header": [], "query": []})
    given: dict[str, Any] = {"fixed_headers": frozenset({"x-key"}), "met_alternatives": (0,)}
    for case in drawn(both, 5, **given):
        assert (set(case.query), set(case.headers), case.alternative) == ({"q", "key"}, set(), None)


def test_a_header_that_users_want_in_each_request_is_the_one_alternative() -> None:
    found = secured({"query": []}, {"bearer": []})
    for case in drawn(found, 20, fixed_headers=frozenset({"authorization"})):
        assert set(case.query) == {"q"}


def test_who_wants_nothing_made_up_gets_what_is_configured_in_each_request() -> None:
    found = drawn(secured({"bearer": []}, {}), 50, met_alternatives=(0, 1), security_parameters=False)
    assert {case.alternative for case in found} == {None}
