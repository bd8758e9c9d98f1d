"""What is read of a body is what was written, for each media type; or nothing but what no text can tell apart."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.core.operation import Body, PropertyEncoding
from checker.openapi.referee import Rule, body_readings
from checker.transport.wire.bodies import encode
from tests.transport.cells import Typed, same, schema_of, settled, texts

from .documents import operation

JSON, YAML, XML = "application/problem+json", "application/yaml", "application/xml"
FORM, MULTIPART = "application/x-www-form-urlencoded; charset=utf-8", "multipart/form-data"


def read(value: Any, raw: Any, media_type: str, encoding: Any = None) -> Any:
    body = Body(media_type, schema_of(raw), "#", encoding or {})
    content, content_type = encode(value, media_type, body.encoding, body.schema)
    return settled(body_readings(body, content, content_type, Rule(body.schema)))


plain = st.characters(codec="utf-8", exclude_characters="\x00")
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64) | st.text(plain, max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(plain, max_size=4), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@pytest.mark.parametrize("media_type", [JSON, "application/json", "text/json"])
@settings(max_examples=40)
@given(value=values)
def test_json(media_type, value) -> None:
    assert same(value, read(value, {}, media_type))


@settings(max_examples=40)
@given(st.text(plain, max_size=20))
def test_text(value) -> None:
    assert read(value, {"type": "string"}, "text/plain") == value


@settings(max_examples=40)
@given(st.binary(max_size=20))
def test_octets(value) -> None:
    raw = {"type": "string", "format": "binary"}
    for media_type in ("application/octet-stream", "image/*"):
        found = read(value, raw, media_type)
        assert found == value.decode("latin-1")


sendable = texts.filter(lambda text: text.isprintable() or not text.isascii()).filter(
    lambda text: not any("\ud800" <= char <= "\udfff" for char in text)
)
in_forms = st.one_of(
    st.integers().map(lambda one: Typed(one, {"type": "integer"})),
    st.booleans().map(lambda one: Typed(one, {"type": "boolean"})),
    sendable.map(lambda one: Typed(one, {"type": "string"})),
)
lists = st.lists(st.integers(), min_size=1, max_size=3).map(
    lambda one: Typed(one, {"type": "array", "items": {"type": "integer"}})
)
nested = st.dictionaries(st.text("abc", min_size=1), st.integers() | st.none(), max_size=2).map(
    lambda one: Typed(one, {"type": "object"})
)


def fields(inner: st.SearchStrategy[Typed]) -> st.SearchStrategy[Typed]:
    return st.dictionaries(st.text("abcé ", min_size=1, max_size=4), inner, min_size=1, max_size=4).map(
        lambda found: Typed(
            {name: one.value for name, one in found.items()},
            {"type": "object", "properties": {name: one.raw for name, one in found.items()}},
        )
    )  # fmt: skip


@pytest.mark.parametrize("media_type", [FORM, MULTIPART])
@settings(max_examples=60)
@given(typed=fields(in_forms | lists | nested))
def test_forms(media_type, typed) -> None:
    assert same(typed.value, read(typed.value, typed.raw, media_type))


@settings(max_examples=40)
@given(typed=fields(lists), style=st.sampled_from(["form", "spaceDelimited", "pipeDelimited"]), explode=st.booleans())
def test_lists_in_forms_by_their_style(typed, style, explode) -> None:
    how = PropertyEncoding(style=style, explode=explode, is_styled=True)
    assert same(typed.value, read(typed.value, typed.raw, FORM, dict.fromkeys(typed.value, how)))


@settings(max_examples=40)
@given(st.dictionaries(st.text("abc", min_size=1), st.integers(), min_size=1, max_size=3))
def test_objects_in_forms_by_their_style(value) -> None:
    raw = {
        "type": "object",
        "properties": {"o": {"type": "object", "properties": {key: {"type": "integer"} for key in value}}},
    }
    for how in (
        PropertyEncoding(style="deepObject", is_styled=True),
        PropertyEncoding(is_styled=True),
        PropertyEncoding(content_type="application/json"),
        PropertyEncoding(explode=False, is_styled=True),
    ):
        assert same({"o": value}, read({"o": value}, raw, FORM, {"o": how}))


def test_a_form_that_is_a_file_is_read_byte_for_byte() -> None:
    raw = {"type": "object", "properties": {"f": {"type": "string", "format": "binary"}}}
    octets = bytes(range(256)) + b"\r\n--x\r\n"
    assert read({"f": octets}, raw, MULTIPART) == {"f": octets.decode("latin-1")}


def is_xml(text: str) -> bool:
    return all(char in "\t\n" or " " <= char < "\ud800" or "\ue000" <= char < "\ufffe" or char > "\uffff" for char in text)  # fmt: skip


xml_texts = (st.text(plain, max_size=6) | st.text("<&>]\r\n\t '\"é", max_size=4)).filter(
    lambda text: is_xml(text.replace("\r", ""))
)
xml_scalars = st.one_of(
    st.integers().map(lambda one: Typed(one, {"type": "integer"})),
    st.booleans().map(lambda one: Typed(one, {"type": "boolean"})),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda one: Typed(one, {"type": "number"})),
    xml_texts.map(lambda one: Typed(one, {"type": "string"})),
)


@st.composite
def in_xml(draw: Any, depth: int = 2) -> Typed:
    """Values with `xml` objects of all kinds; what XML cannot tell apart is left out."""
    kind = draw(st.integers(0, 4 if depth else 2))
    if kind <= 2:
        scalar: Typed = draw(xml_scalars)
        return scalar
    if kind == 3:
        one = draw(in_xml(depth=depth - 1))
        count = draw(st.integers(1, 3))
        items = dict(one.raw)
        if draw(st.booleans()):
            items["xml"] = {"name": "one"}
        raw = {"type": "array", "items": items, "xml": {"wrapped": draw(st.booleans())}}
        return Typed([one.value] * count, raw)
    found = draw(st.dictionaries(xml_texts.filter(bool), in_xml(depth=depth - 1), max_size=3))
    properties = {}
    for index, (name, one) in enumerate(found.items()):
        properties[name] = named(draw, one, index)
    raw = {"type": "object", "properties": properties}
    return Typed({name: one.value for name, one in found.items()}, raw)


def named(draw: Any, one: Typed, index: int) -> dict[str, Any]:
    how: dict[str, Any] = dict(one.raw.get("xml", {}))
    if one.raw["type"] == "array":
        inner = dict(one.raw["items"], xml={**one.raw["items"].get("xml", {}), "name": f"item{index}"})
        return {**one.raw, "items": inner, "xml": {**how, "name": f"list{index}"}}
    if draw(st.booleans()):
        how["name"] = f"n{index}"
    if draw(st.booleans()):
        how["prefix"] = draw(st.sampled_from(["p", "q"]))
        how["namespace"] = f"urn:{how['prefix']}"
    if one.raw["type"] != "object" and draw(st.booleans()):
        how["attribute"] = True
    return {**one.raw, "xml": how} if how else one.raw


@settings(max_examples=100)
@given(in_xml(depth=3))
def test_xml(typed) -> None:
    assert same(typed.value, read(typed.value, typed.raw, XML))


@settings(max_examples=40)
@given(values)
def test_yaml_is_read_or_known_to_be_read_in_two_ways(value) -> None:
    body = Body(YAML, schema_of({}), "#", {})
    content, content_type = encode(value, YAML, {})
    found = body_readings(body, content, content_type, Rule(body.schema))
    assert any(same(value, one.value) for one in found)


@pytest.mark.parametrize("media_type", [JSON, YAML, FORM, MULTIPART, XML, "text/plain"])
@given(
    st.recursive(
        st.none() | st.booleans(),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("xy", max_size=2), inner, max_size=2),
        max_leaves=5,
    )
)  # fmt: skip
@settings(max_examples=30)
def test_nothing_in_a_body_is_spelled_as_python_does(media_type, value) -> None:
    content, _ = encode(value, media_type, {})
    assert not any(word in content for word in (b"True", b"False", b"None", b"{'", b"['"))


def test_encodings_are_read_with_the_headers_of_their_parts() -> None:
    raw = {
        "encoding": {
            "a": {
                "contentType": "image/png, image/jpeg",
                "headers": {
                    "X-Known": {"schema": {"type": "string", "default": "b"}},
                    "X-Needed": {"required": True, "schema": {"type": "integer"}},
                    "X-Free": {"schema": {"type": "string"}},
                    "Content-Type": {"schema": {"type": "string", "default": "c"}},
                },
            },
            "b": {"explode": False},
            "c": 5,
        }
    }
    found = operation({"requestBody": {"content": {MULTIPART: {"schema": {}, **raw}}}})
    encoding = found.bodies[0].encoding
    assert set(encoding) == {"a", "b"}
    assert encoding["a"].headers == {"X-Known": "b", "X-Needed": "0"}
    assert (encoding["a"].is_styled, encoding["b"].is_styled) == (False, True)
