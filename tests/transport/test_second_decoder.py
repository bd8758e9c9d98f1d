"""A decoder that others wrote, openapi-core, reads what we write: all seven styles and the body types that it knows.

Where it cannot agree, the cell stands in `DIFFERENT` with the reason, and the test holds it to that.
"""

from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, unquote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema_path import SchemaPath
from openapi_core import OpenAPI
from openapi_core.casting.schemas import oas31_schema_casters_factory
from openapi_core.casting.schemas.exceptions import CastError
from openapi_core.deserializing.exceptions import DeserializeError
from openapi_core.deserializing.styles import style_deserializers
from openapi_core.deserializing.styles.factories import StyleDeserializersFactory
from openapi_core.testing import MockRequest
from werkzeug.datastructures import ImmutableMultiDict

from checker.core.operation import Location
from checker.transport.wire.bodies import encode

from .cells import parameter, schema_of, sent

WORDS = st.text("abcdefgh", min_size=1, max_size=6)
NUMBERS = st.integers(-(10**9), 10**9)
STRING, INTEGER = {"type": "string"}, {"type": "integer"}
VALUES = {
    "string": (STRING, WORDS),
    "integer": (INTEGER, NUMBERS),
    "boolean": ({"type": "boolean"}, st.booleans()),
    "array": ({"type": "array", "items": INTEGER}, st.lists(NUMBERS, min_size=2, max_size=4)),
    "object": (
        {"type": "object", "properties": {"R": INTEGER, "G": STRING}},
        st.fixed_dictionaries({"R": NUMBERS, "G": WORDS}),
    ),
}
CELLS = [
    (Location.PATH, "simple", False),
    (Location.PATH, "simple", True),
    (Location.PATH, "label", False),
    (Location.PATH, "label", True),
    (Location.PATH, "matrix", False),
    (Location.PATH, "matrix", True),
    (Location.QUERY, "form", False),
    (Location.QUERY, "form", True),
    (Location.QUERY, "spaceDelimited", False),
    (Location.QUERY, "pipeDelimited", False),
    (Location.QUERY, "deepObject", True),
    (Location.HEADER, "simple", False),
    (Location.HEADER, "simple", True),
    (Location.COOKIE, "form", True),
]
DELIMITED_SCALARS = ("string", "integer", "boolean")
DIFFERENT = {
    **{
        (Location.QUERY, style, False, kind): "it reads only arrays and objects of this style"
        for style in ("spaceDelimited", "pipeDelimited")
        for kind in DELIMITED_SCALARS
    },
    **{
        (Location.QUERY, "deepObject", True, kind): "it reads only objects of this style"
        for kind in (*DELIMITED_SCALARS, "array")
    },
    (Location.QUERY, "form", True, "object"): "it wants the pairs of the object as one value under its own name, which is not in the style table",
    (Location.COOKIE, "form", True, "object"): "the same",
    (Location.COOKIE, "form", True, "array"): "cookies of one name hide each other in the standard library's parser",
}  # fmt: skip
AGREED = [(*cell, kind) for cell in CELLS for kind in VALUES if (*cell, kind) not in DIFFERENT]


def decoder(style: str, *, explode: bool, raw: Any) -> Any:
    spec = SchemaPath.from_dict({"openapi": "3.1.0", "schema": raw})
    factory = StyleDeserializersFactory(oas31_schema_casters_factory, style_deserializers)
    return factory.create(spec, spec / "schema", style, explode, "color")


def location_of(location: Location, style: str, explode: bool, value: Any) -> Any:
    """What openapi-core is given: decoded by the standard library, under the names that it looks for."""
    parts = sent(parameter(location, style, explode=explode), value)
    if location is Location.PATH:
        mark = {"label": ".", "matrix": ";"}.get(style, "")
        return {f"{mark}color{'*' if mark and explode else ''}": unquote(str(parts))}
    if location is Location.HEADER:
        return {"color": parts}
    if location is Location.COOKIE:
        cookies = SimpleCookie("; ".join(map("=".join, parts)))
        return {name: one.value for name, one in cookies.items()}
    query = "&".join(map("=".join, parts))
    if style == "spaceDelimited":
        # It looks for the escape itself, in a value that is not decoded.
        return dict(pair.split("=", 1) for pair in query.split("&"))
    return ImmutableMultiDict(parse_qsl(query, keep_blank_values=True))


@pytest.mark.parametrize(("location", "style", "explode", "kind"), AGREED)
@settings(max_examples=15)
@given(data=st.data())
def test_it_reads_what_was_meant(location, style, explode, kind, data) -> None:
    raw, values = VALUES[kind]
    value = data.draw(values)
    read = decoder(style, explode=explode, raw=raw)
    assert read.deserialize(location_of(location, style, explode, value)) == value


EXAMPLES = {"string": "ab", "integer": 5, "boolean": True, "array": [1, 2], "object": {"R": 1, "G": "a"}}


@pytest.mark.parametrize(("location", "style", "explode", "kind"), DIFFERENT)
def test_where_it_differs_it_still_does(location, style, explode, kind) -> None:
    read = decoder(style, explode=explode, raw=VALUES[kind][0])
    try:
        found = read.deserialize(location_of(location, style, explode, EXAMPLES[kind]))
    except (DeserializeError, CastError, KeyError):
        return
    assert found != EXAMPLES[kind]


BODY_SCHEMA = {
    "type": "object",
    "properties": {"n": INTEGER, "s": STRING, "l": {"type": "array", "items": INTEGER}, "b": {"type": "boolean"}},
}  # fmt: skip
PARTS_SCHEMA = {
    "type": "object",
    "properties": {"s": STRING, "l": {"type": "array", "items": STRING}, "o": BODY_SCHEMA},
}
"""Text in parts is all text to it; an object is JSON, and is read."""
BODIES = st.fixed_dictionaries(
    {"n": NUMBERS, "s": WORDS, "l": st.lists(NUMBERS, min_size=2, max_size=3), "b": st.booleans()}
)
JSON, FORM, MULTIPART = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data")
API = OpenAPI.from_dict(
    {
        "openapi": "3.1.0",
        "info": {"title": "echo", "version": "1"},
        "paths": {
            "/": {
                "post": {
                    "requestBody": {
                        "content": {
                            **{name: {"schema": BODY_SCHEMA} for name in (JSON, FORM)},
                            MULTIPART: {"schema": PARTS_SCHEMA},
                            "text/plain": {"schema": STRING},
                            "application/octet-stream": {},
                        }
                    },
                    "responses": {"200": {"description": "done"}},
                }
            }
        },
    }
)


def read_body(value: Any, media_type: str) -> Any:
    content, content_type = encode(value, media_type, {}, schema_of(BODY_SCHEMA))
    request = MockRequest("http://localhost", "post", "/", data=content, content_type=content_type)
    return API.unmarshal_request(request).body


@pytest.mark.parametrize("media_type", [JSON, FORM])
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(value=BODIES)
def test_it_reads_bodies_as_they_were_meant(media_type, value) -> None:
    assert read_body(value, media_type) == value


@given(s=WORDS, words=st.lists(WORDS, min_size=2, max_size=3), o=BODIES)
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
def test_it_reads_parts_as_they_were_meant(s, words, o) -> None:
    assert read_body({"s": s, "l": words, "o": o}, MULTIPART) == {"s": s, "l": words, "o": o}


@given(WORDS)
@settings(max_examples=10)
def test_it_reads_text_and_octets(value) -> None:
    assert read_body(value, "text/plain") == value
    assert read_body(value.encode(), "application/octet-stream") == value.encode()
