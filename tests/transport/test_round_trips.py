"""decode(encode(x)) == x in every cell; or a row of the table of ambiguous cells says of x why not."""

import re
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from checker.core.operation import Location
from checker.transport.wire import ambiguity

from .ambiguity_table import CELLS as TABLE
from .ambiguity_table import Wire
from .cells import (
    CELLS,
    Ambiguous,
    Typed,
    deep,
    flat,
    nulls,
    objects,
    parameter,
    received,
    same,
    scalars,
    sent,
    settled,
)

NULL_INSIDE = Typed([{"": None}], {"prefixItems": [{"properties": {"": {"type": "null"}}}]})
NAMES = ("color", "a b", "é[x]", "x.y")


def law(location: Location, style: str, explode: bool, typed: Typed, **options: Any) -> None:
    made = parameter(location, style, explode=explode, **options)
    found = received(made, typed)
    rows = [cell for cell in TABLE if cell.holds(typed.value, Wire(location, style, explode))]
    if any(row.is_lost for row in rows):
        return
    assert isinstance(found, list), found
    meaning = settled(found)
    if isinstance(meaning, Ambiguous):
        assert meaning.reason in {row.reason for row in rows}
        assert any(same(typed.value, candidate) for candidate in meaning.candidates)
    else:
        assert same(typed.value, meaning)


@pytest.mark.parametrize(("location", "style", "explode"), CELLS)
@settings(max_examples=20)
@given(typed=flat, name=st.sampled_from(NAMES))
def test_what_was_sent_is_what_is_read(location, style, explode, typed, name) -> None:
    law(location, style, explode, typed, name="color" if location is Location.COOKIE else name)


@pytest.mark.parametrize(("location", "style", "explode"), CELLS)
@settings(max_examples=20)
@given(typed=deep)
@example(typed=NULL_INSIDE)
def test_nested_values_are_read_or_known_to_be_ambiguous(location, style, explode, typed) -> None:
    law(location, style, explode, typed)


@given(typed=flat, style=st.sampled_from(["form", "deepObject", "pipeDelimited"]))
def test_reserved_characters_are_read_back_raw(typed, style) -> None:
    for explode in (True, False):
        law(Location.QUERY, style, explode, typed, allow_reserved=True)


lists_of_one_type = st.sampled_from([{"type": "integer"}, {"type": "boolean"}]).flatmap(
    lambda raw: st.lists(st.integers() if raw["type"] == "integer" else st.booleans(), min_size=1, max_size=3).map(
        lambda found: Typed(found, {"type": "array", "items": raw})
    )
)


@given(
    st.recursive(
        lists_of_one_type | st.integers().map(lambda one: Typed(one, {"type": "integer"})),
        lambda inner: st.dictionaries(st.text("abc", min_size=1), inner, min_size=1, max_size=3).map(
            lambda found: Typed(
                {name: one.value for name, one in found.items()},
                {"type": "object", "properties": {name: one.raw for name, one in found.items()}},
            )
        ),
        max_leaves=5,
    )
)
def test_deep_objects_are_read_back_with_lists_and_objects_in_them(typed) -> None:
    made = parameter(Location.QUERY, "deepObject", explode=True)
    found = received(made, typed)
    assert isinstance(found, list)
    assert same(typed.value, settled(found))


@given(st.dictionaries(st.text("abc", min_size=1), lists_of_one_type, min_size=1, max_size=3))
def test_lists_of_an_exploded_object_are_read_back(found) -> None:
    typed = Typed(
        {name: one.value for name, one in found.items()},
        {"type": "object", "properties": {name: one.raw for name, one in found.items()}},
    )
    for style in ("form", "spaceDelimited"):
        made = parameter(Location.QUERY, style, explode=True)
        readings = received(made, typed)
        assert isinstance(readings, list)
        assert same(typed.value, settled(readings))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("location", [Location.PATH, Location.QUERY, Location.HEADER, Location.COOKIE])
@given(value=json_values)
def test_content_parameters_are_read_back_whatever_they_hold(location, value) -> None:
    made = parameter(location, "form", explode=False, media_type="application/json")
    found = received(made, Typed(value, {}))
    assert isinstance(found, list)
    meaning = settled(found)
    if isinstance(meaning, Ambiguous):
        assert (location, meaning.reason) == (Location.HEADER, ambiguity.OCTETS)
        assert any(same(value, one) for one in meaning.candidates)
    else:
        assert same(value, meaning)


@given(value=json_values)
def test_a_query_string_that_is_json_is_read_back(value) -> None:
    made = parameter(Location.QUERY, "querystring", explode=False, media_type="application/json")
    text = sent(made, value)
    assert isinstance(text, str)
    assert not set(" #&=+") & set(text)
    found = received(made, Typed(value, {}))
    assert isinstance(found, list)
    assert same(value, settled(found))


@given(objects(scalars, min_size=1, max_size=3))
def test_a_query_string_that_is_a_form_is_read_back(typed) -> None:
    made = parameter(Location.QUERY, "querystring", explode=False, media_type="application/x-www-form-urlencoded")
    if any(re.search(r"[\ud800-\udfff]", str(text)) for pair in typed.value.items() for text in pair):
        return
    found = received(made, typed)
    assert isinstance(found, list)
    assert same(typed.value, settled(found))


PYTHON = re.compile(r"\b(True|False|None|nan|inf)\b|[{\[]'|b'")


@pytest.mark.parametrize(("location", "style", "explode"), CELLS)
@settings(max_examples=20)
@given(
    typed=st.recursive(
        nulls | st.booleans().map(lambda one: Typed(one, {})) | st.integers().map(lambda one: Typed(one, {})),
        lambda inner: (
            st.lists(inner, max_size=3).map(lambda found: Typed([one.value for one in found], {}))
            | st.dictionaries(st.text("abc", max_size=2), inner, max_size=3).map(
                lambda found: Typed({name: one.value for name, one in found.items()}, {})
            )
        ),
        max_leaves=6,
    )
)
def test_nothing_is_spelled_as_python_does(location, style, explode, typed) -> None:
    parts = sent(parameter(location, style, explode=explode), typed.value)
    whole = parts if isinstance(parts, str) else "&".join(map("=".join, parts))
    assert not PYTHON.search(whole)


WITNESSES = [
    (Location.QUERY, "form", True, Typed(None, {"type": ["integer", "null"]})),
    (Location.QUERY, "form", True, Typed(1, {"type": ["integer", "string"]})),
    (Location.PATH, "simple", False, Typed([[1]], {"type": "array", "items": {"type": "array"}})),
    (Location.PATH, "simple", False, Typed(["a,b"], {"type": "array"})),
    (Location.HEADER, "simple", False, Typed("Ã©", {"type": "string"})),
    (Location.COOKIE, "form", True, Typed("a b", {"type": "string"})),
    (Location.COOKIE, "form", False, Typed([1, 2], {"type": "array", "items": {"type": "integer"}})),
]


@pytest.mark.parametrize(("location", "style", "explode", "typed"), WITNESSES)
def test_decoding_says_itself_that_nobody_can_know(location, style, explode, typed) -> None:
    found = received(parameter(location, style, explode=explode), typed)
    assert isinstance(found, list)
    meaning = settled(found)
    assert isinstance(meaning, Ambiguous)
    assert any(same(typed.value, candidate) for candidate in meaning.candidates)
    assert meaning.reason in {cell.reason for cell in TABLE}


LOST = [
    (Location.QUERY, "form", True, [], {"type": "array"}),
    (Location.QUERY, "form", False, [""], {"type": "array"}),
    (Location.PATH, "simple", False, "", {"type": "string"}),
    (Location.QUERY, "form", True, "\ud800", {"type": "string"}),
    (Location.QUERY, "spaceDelimited", False, ["a b"], {"type": "array"}),
    (Location.HEADER, "simple", False, ["a,b"], {"type": "array", "items": {"type": "string"}}),
    (Location.HEADER, "simple", False, " a", {"type": "string"}),
    (Location.HEADER, "simple", False, "\x01", {"type": "string"}),
    (Location.COOKIE, "cookie", True, "a b", {"type": "string"}),
    (Location.QUERY, "deepObject", True, {"a]": "1"}, {"type": "object"}),
]


@pytest.mark.parametrize(("location", "style", "explode", "value", "raw"), LOST)
def test_rows_of_lost_values_are_not_idle(location, style, explode, value, raw) -> None:
    rows = [row for row in TABLE if row.holds(value, Wire(location, style, explode)) and row.is_lost]
    assert len(rows) >= 1
    found = received(parameter(location, style, explode=explode), Typed(value, raw))
    assert not isinstance(found, list) or not same(value, settled(found))


def test_rows_of_the_table_name_reasons_once_for_each_cell() -> None:
    keys = [(cell.locations, cell.styles, cell.shapes, cell.reason) for cell in TABLE]
    assert len(keys) == len(set(keys))
    assert all(cell.values and cell.reason for cell in TABLE)
