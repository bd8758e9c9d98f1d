import re
import string
from dataclasses import replace
from typing import Any

import pytest

from checker.core.operation import Location, Parameter
from checker.generation.boundaries.operations import Coverage, OperationEdges
from checker.generation.drawing.words import STRUCTURED
from checker.generation.program import GenerationSettings

from .making import PlainOperation, cases, parameter_of, program_of, schema_of


def _values(raw: Any, location: Location, count: int = 400) -> list[Any]:
    program = program_of(parameter_of(raw, location))
    return [getattr(case, location.container)["q"] for case in cases(program, count)]


def test_path_values_are_segments() -> None:
    for value in _values({"type": "string"}, Location.PATH):
        assert value not in ("", ".", "..")
        assert not set("/\\") & set(value)


def test_path_enum_leaves_out_what_cannot_be_sent() -> None:
    assert {"a", "b"} == set(_values({"enum": ["", ".", "..", "a", "b"]}, Location.PATH))


def test_header_values_can_be_sent() -> None:
    for value in _values({"type": "string", "maxLength": 30}, Location.HEADER):
        assert value.isascii()
        assert value.isprintable()
        assert value == value.strip() != ""


def test_listed_values_are_sent_although_random_ones_would_be_plainer() -> None:
    assert {"a/b", "c"} == set(_values({"enum": ["a/b", "c"]}, Location.PATH))
    assert {"a b", "c"} == set(_values({"enum": ["a b", " x", "c"]}, Location.HEADER))
    raw = {"type": "array", "items": {"enum": ["name,asc"]}, "maxItems": 1}
    assert ["name,asc"] in _values(raw, Location.QUERY)
    lists = {"type": "array", "enum": [["a b", "c"], ["d"]]}
    assert ["a b", "c"] in _values(lists, Location.QUERY)


def test_listed_items_of_a_field_hold_blanks_but_no_commas() -> None:
    items = {"type": "array", "items": {"enum": ["a b", "c,d", " e"]}, "maxItems": 1}
    assert {str(one) for one in _values(items, Location.HEADER)} == {"['a b']"}


@pytest.mark.parametrize("pattern", ["^[a-z]+=[0-9]$", "^[a-z]+=((fast|slow)::)?([^=:]|:[^:])+$"])
def test_items_of_queries_hold_separators_where_their_pattern_has_them(pattern: str) -> None:
    raw = {"type": "array", "items": {"type": "string", "pattern": pattern}}
    parameter = parameter_of(raw, Location.QUERY)
    program = program_of(parameter)
    assert not program.opaque
    found = [case.query["q"] for case in cases(program, 100) if "q" in case.query]
    assert found
    for items in found:
        assert all(re.search(pattern, item) for item in items)


def test_header_patterns_with_blanks_work() -> None:
    for value in _values({"type": "string", "pattern": "^Bearer [a-z]{4}$"}, Location.HEADER, 20):
        assert value.startswith("Bearer ")


@pytest.mark.parametrize("codec", ["ascii", "latin-1", "cp1251", "utf-8"])
def test_strings_keep_to_the_codec(codec: str) -> None:
    program = program_of(body={"type": "string"}, settings=GenerationSettings(codec=codec))
    for case in cases(program, 300):
        assert case.body.encode(codec).decode(codec) == case.body


def test_headers_that_http_knows_mostly_have_values_by_their_grammar() -> None:
    known = STRUCTURED["if-match"]
    made = parameter_of({"type": "string", "maxLength": 4}, Location.HEADER, "If-Match")
    found = [case.headers["If-Match"] for case in cases(program_of(made), 400)]
    assert all(len(value) <= 4 for value in found)
    assert {value for value in known if len(value) <= 4} <= set(found)
    assert 0.6 < sum(value in known for value in found) / len(found) < 0.9


@pytest.mark.parametrize(("required", "low", "high"), [(True, 0.45, 0.75), (False, 0.05, 0.3)])
def test_a_condition_that_is_required_mostly_holds(required: bool, low: float, high: float) -> None:
    made = parameter_of({"type": "string"}, Location.HEADER, "If-Match", required=required)
    found = [case.headers.get("If-Match") for case in cases(program_of(made), 4000)]
    sent = [value for value in found if value is not None]
    assert low < sent.count("*") / len(sent) < high
    assert set(STRUCTURED["if-match"]) <= set(sent)


def test_values_of_known_headers_can_be_sent() -> None:
    for name, values in STRUCTURED.items():
        assert name == name.lower()
        for value in values:
            made = parameter_of({"enum": [value]}, Location.HEADER, name)
            assert cases(program_of(made), 1)[0].headers == {name: value}


def test_excluded_header_characters_do_not_turn_up() -> None:
    settings = GenerationSettings(exclude_header_characters="abc\r\n")
    program = program_of(parameter_of({"type": "string"}, Location.HEADER), settings=settings)
    assert not set("abc") & {char for case in cases(program, 300) for char in case.headers["q"]}


def test_cookie_values_are_octets_of_rfc_6265() -> None:
    for value in _values({"type": "string"}, Location.COOKIE):
        assert value
        assert not set('",;\\ ') & set(value)
        assert value.isascii()


def test_query_strings_are_unicode_without_surrogates() -> None:
    values = _values({"type": "string"}, Location.QUERY)
    assert "" not in values
    assert any(not value.isascii() for value in values)
    "".join(values).encode("utf-8")


def test_no_nul_when_it_is_not_allowed() -> None:
    settings = GenerationSettings(allow_x00=False)
    program = program_of(body={"type": "string"}, settings=settings)
    assert not any("\0" in case.body for case in cases(program, 1000))


@pytest.mark.parametrize("location", [Location.PATH, Location.HEADER, Location.COOKIE, Location.QUERY])
def test_lists_outside_bodies_are_not_empty_and_items_have_no_separators(location: Location) -> None:
    for value in _values({"type": "array", "items": {"type": "string"}}, location, 200):
        assert value
        assert not set(",;|=&") & {char for item in value for char in item}


def test_optional_null_is_not_sent_and_required_null_is() -> None:
    raw = {"type": ["integer", "null"]}
    optional = program_of(parameter_of(raw, required=False))
    assert all(case.query.get("q", 0) is not None for case in cases(optional, 200))
    assert None in _values(raw, Location.QUERY)


@pytest.mark.parametrize("schema", [{"type": "string"}, {"enum": ["", "a", "b"]}, {}])
def test_a_query_that_must_not_be_empty_never_is(schema: Any) -> None:
    made = replace(parameter_of(schema), allow_empty=False)
    assert "" not in [case.query["q"] for case in cases(program_of(made), 400)]


@pytest.mark.parametrize("allowed", [None, True])
def test_an_empty_query_is_usual_only_where_it_is_allowed(allowed: bool | None) -> None:
    made = replace(parameter_of({"type": "string"}), allow_empty=allowed)
    found = [case.query["q"] for case in cases(program_of(made), 400)]
    assert ("" in found) is bool(allowed)


@pytest.mark.parametrize(("allowed", "count"), [(None, 1), (True, 1), (False, 0)])
def test_an_empty_query_is_an_edge_where_nothing_forbids_it(allowed: bool | None, count: int) -> None:
    made = replace(parameter_of({"type": "string"}), allow_empty=allowed)
    edges = OperationEdges(PlainOperation((made,)), GenerationSettings(), Coverage()).cases()
    found = [case.parts.containers[Location.QUERY].get("q") for case in edges]
    assert found.count("") == count


def test_texts_in_json_may_begin_and_end_with_blanks() -> None:
    for location in (Location.PATH, Location.QUERY, Location.HEADER, Location.COOKIE):
        made = parameter_of({"type": "string", "pattern": "^ +x $"}, location)
        made = replace(made, media_type="application/json")
        found = cases(program_of(made), 20)
        assert all(getattr(case, location.container)["q"][:1] == " " for case in found)


def test_properties_of_an_exploded_object_do_not_pass_for_other_parameters() -> None:
    open_map = {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1}
    others = [parameter_of({"type": "integer"}, name=name) for name in string.ascii_letters]
    names = {
        name
        for case in cases(program_of(parameter_of(open_map, name="map"), *others), 200)
        for name in case.query["map"]
    }
    assert any(len(name) == 1 for name in names)
    assert not names & set(string.ascii_letters)


def test_names_by_pattern_travel_without_separators() -> None:
    schema = {"type": "object", "patternProperties": {"^x.": {"type": "string"}}, "minProperties": 1}
    made = replace(parameter_of(schema | {"additionalProperties": False}), style="deepObject")
    for case in cases(program_of(made), 300):
        assert not any(set("[]&= ") & set(name) for name in case.query["q"])


def test_cells_of_one_location_do_not_share_texts() -> None:
    # Exploded labels are separated by dots, which plain segments may hold.
    schema = schema_of({"type": "array", "items": {"type": "string"}, "minItems": 1})
    plain = Parameter("p", Location.PATH, True, schema, "simple", False)
    label = Parameter("l", Location.PATH, True, schema, "label", True)
    found = [case.path_parameters for case in cases(program_of(plain, label), 300)]
    assert any("." in item for one in found for item in one["p"])
    assert not any("." in item for one in found for item in one["l"])
