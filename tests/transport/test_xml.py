"""XML that is read: safe, and by names alone."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.core.schema import Dialect, Schema
from checker.schema.views import outline_of
from checker.transport.wire.ambiguity import MANY
from checker.transport.wire.xml import DEEPEST, escaped_name, parse_xml, unescaped_name, xml_encoder, xml_readings

from .cells import schema_of, settled


def read(content: bytes, raw: Any) -> Any:
    return settled(xml_readings(content, outline_of(schema_of(raw))))


def values(content: bytes, raw: Any) -> list[Any]:
    return [one.value for one in xml_readings(content, outline_of(schema_of(raw)))]


BOMB = b"""<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;&b;">]><a>&c;</a>"""
FILE = b"""<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]><a>&b;</a>"""


@pytest.mark.parametrize("content", [BOMB, FILE, b'<!DOCTYPE a SYSTEM "http://127.0.0.1/x"><a/>'])
def test_document_types_are_refused(content) -> None:
    with pytest.raises(ValueError, match="document type"):
        parse_xml(content)


def test_depth_is_bounded() -> None:
    assert parse_xml(b"<a>" * DEEPEST + b"</a>" * DEEPEST).name == "a"
    with pytest.raises(ValueError, match="too deeply"):
        parse_xml(b"<a>" * (DEEPEST + 1) + b"</a>" * (DEEPEST + 1))


@pytest.mark.parametrize("content", [b"", b"<a>", b"<a></b>", b"<a/><b/>", b"\xff", b"<a>&nbsp;</a>"])
def test_what_is_not_well_formed_is_a_value_error(content) -> None:
    with pytest.raises(ValueError, match="not well-formed"):
        parse_xml(content)


def test_prefixes_of_others_do_not_matter() -> None:
    raw = {"type": "object", "properties": {"a": {"type": "integer", "xml": {"prefix": "p"}}}}
    assert read(b'<x><z:a xmlns:z="urn:z">1</z:a></x>', raw) == {"a": 1}


def test_nil_is_null() -> None:
    raw = {"type": "object", "properties": {"a": {"type": ["integer", "null"]}}}
    content = b'<x xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><a i:nil="true"/></x>'
    assert read(content, raw) == {"a": None}


def test_one_element_is_a_list_where_a_list_is_declared() -> None:
    raw = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}}
    assert read(b"<x><a>1</a></x>", raw) == {"a": [1]}
    assert read(b"<x><a>1</a><a>2</a></x>", raw) == {"a": [1, 2]}


def test_empty_text_of_an_element_may_be_none() -> None:
    inner = {"type": "string", "xml": {"nodeType": "text"}}
    raw = {"type": "object", "properties": {"t": inner, "a": {"type": "integer"}}}
    assert values(b"<x><a>1</a></x>", raw) == [{"a": 1}, {"a": 1, "t": ""}]
    assert values(b"<x>\n <a>1</a>\n</x>", raw)[0] == {"a": 1}
    assert read(b"<x>b</x>", raw) == {"t": "b"}


def test_text_of_two_properties_is_in_doubt() -> None:
    inner = {"type": "string", "xml": {"nodeType": "cdata"}}
    raw = {"type": "object", "properties": {"t": inner, "u": inner}}
    (found,) = xml_readings(b"<x>ab</x>", outline_of(schema_of(raw)))
    assert found.doubt == MANY


def test_what_is_not_declared_is_read_by_its_names() -> None:
    value = read(b'<x k="v"><a>b</a></x>', {"type": "object"})
    candidates = value.candidates if hasattr(value, "candidates") else (value,)
    assert {"k": "v", "a": "b"} in candidates


class Components:
    """A document with one schema in it."""

    root: object = None

    def __init__(self) -> None:
        self.facts: dict[object, object] = {}

    def resolve(self, reference: str, *, at: str) -> tuple[object, str]:
        pet = {"type": "object", "properties": {"id": {"type": "integer", "xml": {"attribute": True}}}}
        return {"#/components/schemas/Pet": (pet, reference)}[reference]


@pytest.mark.parametrize("dialect", [Dialect.OPENAPI30, Dialect.OPENAPI31])
def test_the_root_is_named_by_its_reference_and_names_are_found_through_it(dialect) -> None:
    schema = Schema({"$ref": "#/components/schemas/Pet"}, "#/x", dialect, Components())
    assert xml_encoder(schema)({"id": 1}).endswith(b'<Pet id="1"></Pet>')
    listed = Schema({"type": "array", "items": schema.raw}, "#/x", dialect, Components())
    assert xml_encoder(listed)([{"id": 1}]).endswith(b'<data><data id="1"></data></data>')


@pytest.mark.parametrize("raw", [True, {}, False])
def test_boolean_and_empty_schemas_are_no_obstacle(raw) -> None:
    assert xml_encoder(schema_of(raw))({"a": [1, None]}).endswith(b"<data><a>1</a><a>null</a></data>")


def test_one_prefix_of_several_attributes_is_declared_once() -> None:
    how = {"attribute": True, "prefix": "p", "namespace": "urn:p"}
    raw = {"properties": {name: {"type": "string", "xml": how} for name in "ab"}}
    content = xml_encoder(schema_of(raw))({"a": "1", "b": "2"})
    assert content.endswith(b'<data xmlns:p="urn:p" p:a="1" p:b="2"></data>')
    assert parse_xml(content).attributes == {"a": "1", "b": "2"}


NAMED = {"prefix": "p", "namespace": "urn:p"}


def test_what_is_inside_shares_the_prefix_that_is_declared_further_out() -> None:
    inner = {"type": "string", "xml": {"prefix": "p"}}
    listed = {"type": "array", "xml": {"wrapped": True}, "items": inner}
    raw = {"type": "object", "xml": {"name": "n", **NAMED}, "properties": {"a": inner, "b": listed}}
    assert xml_encoder(schema_of(raw))({"a": "1", "b": ["2"]}).endswith(
        b'<p:n xmlns:p="urn:p"><p:a>1</p:a><b><p:b>2</p:b></b></p:n>'
    )


def test_an_attribute_may_declare_the_prefix_of_its_element() -> None:
    properties = {
        "a": {"type": "string", "xml": {"attribute": True, "prefix": "p"}},
        "b": {"type": "string", "xml": {"attribute": True, **NAMED}},
    }
    raw = {"type": "object", "xml": {"prefix": "p", "name": "n"}, "properties": properties}
    assert xml_encoder(schema_of(raw))({"a": "1", "b": "2"}).endswith(b'<p:n xmlns:p="urn:p" p:a="1" p:b="2"></p:n>')


@pytest.mark.parametrize("how", [{"prefix": "p"}, {"prefix": "p", "attribute": True}])
def test_a_prefix_that_nothing_declares_is_a_value_error(how) -> None:
    declared_below = {"type": "string", "xml": NAMED}
    raw = {"properties": {"a": {"type": "string", "xml": how}, "c": declared_below}}
    with pytest.raises(ValueError, match="the prefix 'p' of 'a' has no namespace"):
        xml_encoder(schema_of(raw))({"c": "1", "a": "1"})


def test_the_prefix_of_xml_itself_needs_no_declaration() -> None:
    how = {"attribute": True, "prefix": "xml"}
    raw = {"properties": {"lang": {"type": "string", "xml": how}}}
    assert xml_encoder(schema_of(raw))({"lang": "en"}).endswith(b'<data xml:lang="en"></data>')


@pytest.mark.parametrize("value", ["\0", {"a": "\x0b"}, "\ud800", ["\uffff"]])
def test_what_xml_cannot_say_is_a_value_error(value) -> None:
    with pytest.raises(ValueError, match="it cannot be written as XML"):
        xml_encoder(None)(value)


@given(st.text(st.characters(codec="utf-8"), max_size=5) | st.text("_x0041a:-", max_size=9))
def test_names_are_read_back_whatever_they_are(name) -> None:
    written = escaped_name(name)
    assert unescaped_name(written) == name
    assert parse_xml(f"<{written}/>".encode()).name == name
