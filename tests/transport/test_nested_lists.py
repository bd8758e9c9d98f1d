"""Lists in lists that `collectionFormat` of Swagger 2.0 joins: written, and read back."""

import pytest

from checker.core.operation import Location, Parameter, PropertyEncoding
from checker.schema.views import outline_of
from checker.transport.wire import ambiguity
from checker.transport.wire.bodies import form_encoder, header_encoder, path_encoder, query_encoder
from checker.transport.wire.decoding import decode_parameter, pairs_of
from tests.transport.cells import schema_of

INTEGERS = {"type": "array", "items": {"type": "integer"}}
NESTED = {"type": "array", "items": INTEGERS}
DEEP = {"type": "array", "items": NESTED}


def parameter(place: Location, style: str, *inner: str, explode: bool = False) -> Parameter:
    return Parameter("p", place, True, schema_of(NESTED), style, explode, inner=inner)


@pytest.mark.parametrize(
    ("style", "explode", "inner", "text"),
    [
        ("form", False, "|", "p=1%7C2,3"),
        ("form", True, "|", "p=1%7C2&p=3"),
        ("pipeDelimited", False, ",", "p=1%2C2%7C3"),
        ("tabDelimited", False, " ", "p=1%202%093"),
    ],
)
def test_lists_in_a_query_are_joined_and_parted(style: str, explode: bool, inner: str, text: str) -> None:
    made = parameter(Location.QUERY, style, inner, explode=explode)
    assert query_encoder("p", made)([[1, 2], [3]]) == text
    found = decode_parameter(made, pairs_of(text), outline_of(schema_of(NESTED)))
    assert isinstance(found, list)
    assert [[1, 2], [3]] in [one.value for one in found]
    assert {one.doubt for one in found} == {ambiguity.NESTED}


def test_so_are_those_of_a_path_and_of_a_header() -> None:
    outline = outline_of(schema_of(NESTED))
    path, header = (parameter(one, "simple", "|") for one in (Location.PATH, Location.HEADER))
    assert path_encoder("p", path)([[True, None], [3]]) == "true%7Cnull,3"
    assert header_encoder(header)([[1, 2], [3]]) == b"1|2,3"
    for made, text in ((path, "1%7C2,3"), (header, "1|2, 3")):
        found = decode_parameter(made, text, outline)
        assert isinstance(found, list)
        assert [[1, 2], [3]] in [one.value for one in found]


def test_each_depth_has_its_delimiter_and_what_has_none_is_json() -> None:
    value = [[[1, 2], [3]], [[4]]]
    both = parameter(Location.HEADER, "simple", "|", " ")
    assert header_encoder(both)(value) == b"1 2|3,4"
    assert header_encoder(parameter(Location.HEADER, "simple", "|"))(value) == b"[1,2]|[3],[4]"
    assert header_encoder(parameter(Location.HEADER, "simple"))([[1, 2]]) == b"[1,2]"
    found = decode_parameter(both, "1 2|3,4", outline_of(schema_of(DEEP)))
    assert isinstance(found, list)
    assert value in [one.value for one in found]


@pytest.mark.parametrize("value", ["text", 1, None, {"a": 1}, ["a", 1]])
def test_what_is_no_list_of_lists_is_written_as_ever(value: object) -> None:
    plain, inner = (parameter(Location.QUERY, "form", *one) for one in ((), ("|",)))
    assert query_encoder("p", inner)(value) == query_encoder("p", plain)(value)


@pytest.mark.parametrize(("explode", "text"), [(False, b"p=1%7C2,3"), (True, b"p=1%7C2&p=3")])
def test_so_are_those_of_a_form(explode: bool, text: bytes) -> None:
    how = PropertyEncoding(explode=explode, is_styled=True, inner=("|",))
    assert form_encoder({"p": how})({"p": [[1, 2], [3]]}) == text
