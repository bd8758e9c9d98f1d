"""Vectors taken by hand from the specifications, each with its section. What differs from a table is said beside it."""

from typing import Any

import pytest

from checker.core.operation import Location, PropertyEncoding
from checker.openapi.parameters import swagger_style
from checker.schema.views import outline_of
from checker.transport.wire.bodies import cookie_encoder, encode
from checker.transport.wire.decoding import pairs_of
from checker.transport.wire.xml import xml_encoder, xml_readings

from .cells import Typed, parameter, received, schema_of, sent, settled

BLUE = Typed("blue", {"type": "string"})
COLORS = Typed(["blue", "black", "brown"], {"type": "array", "items": {"type": "string"}})
RGB = Typed({"R": 100, "G": 200, "B": 150}, {"type": "object", "additionalProperties": {"type": "integer"}})
EMPTY = Typed("", {"type": "string"})

# OpenAPI 3.0.4 and 3.1.1, 4.8.12.4 (4.7.12.4) "Style Examples": the parameter is named `color`.
# 3.0.0 to 3.0.3 and 3.1.0 spell arrays and objects of `label` without explode with dots
# (`.blue.black.brown`), against RFC 6570, 3.2.5, to which they refer; 3.0.4 and 3.1.1 put it right.
PATHS = [
    ("matrix", False, EMPTY, ";color"),
    ("matrix", False, BLUE, ";color=blue"),
    ("matrix", False, COLORS, ";color=blue,black,brown"),
    ("matrix", False, RGB, ";color=R,100,G,200,B,150"),
    ("matrix", True, EMPTY, ";color"),
    ("matrix", True, BLUE, ";color=blue"),
    ("matrix", True, COLORS, ";color=blue;color=black;color=brown"),
    ("matrix", True, RGB, ";R=100;G=200;B=150"),
    ("label", False, BLUE, ".blue"),
    ("label", False, COLORS, ".blue,black,brown"),
    ("label", False, RGB, ".R,100,G,200,B,150"),
    ("label", True, BLUE, ".blue"),
    ("label", True, COLORS, ".blue.black.brown"),
    ("label", True, RGB, ".R=100.G=200.B=150"),
    ("simple", False, BLUE, "blue"),
    ("simple", False, COLORS, "blue,black,brown"),
    ("simple", False, RGB, "R,100,G,200,B,150"),
    ("simple", True, BLUE, "blue"),
    ("simple", True, COLORS, "blue,black,brown"),
    ("simple", True, RGB, "R=100,G=200,B=150"),
]
QUERIES = [
    ("form", False, EMPTY, "color="),
    ("form", False, BLUE, "color=blue"),
    ("form", False, COLORS, "color=blue,black,brown"),
    ("form", False, RGB, "color=R,100,G,200,B,150"),
    ("form", True, EMPTY, "color="),
    ("form", True, BLUE, "color=blue"),
    ("form", True, COLORS, "color=blue&color=black&color=brown"),
    ("form", True, RGB, "R=100&G=200&B=150"),
    ("spaceDelimited", False, COLORS, "color=blue%20black%20brown"),
    ("spaceDelimited", False, RGB, "color=R%20100%20G%20200%20B%20150"),
    ("pipeDelimited", False, COLORS, "color=blue%7Cblack%7Cbrown"),
    ("pipeDelimited", False, RGB, "color=R%7C100%7CG%7C200%7CB%7C150"),
    ("deepObject", True, RGB, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
]
HEADERS = [
    ("simple", False, COLORS, "blue,black,brown"),
    ("simple", False, RGB, "R,100,G,200,B,150"),
    ("simple", True, COLORS, "blue,black,brown"),
    ("simple", True, RGB, "R=100,G=200,B=150"),
]
# OpenAPI 3.2, 4.12.5: the style `cookie`.
COOKIES = [
    ("cookie", True, BLUE, "color=blue"),
    ("cookie", False, COLORS, "color=blue,black,brown"),
    ("cookie", True, COLORS, "color=blue; color=black; color=brown"),
    ("cookie", True, RGB, "R=100; G=200; B=150"),
    ("cookie", False, Typed("a%20b", {"type": "string"}), "color=a%20b"),
]
TABLE = [
    (location, *row)
    for location, rows in (
        (Location.PATH, PATHS),
        (Location.QUERY, QUERIES),
        (Location.HEADER, HEADERS),
        (Location.COOKIE, COOKIES),
    )
    for row in rows
]


@pytest.mark.parametrize(("location", "style", "explode", "typed", "text"), TABLE)
def test_openapi_style_examples(location, style, explode, typed, text) -> None:
    made = parameter(location, style, explode=explode)
    parts = sent(made, typed.value)
    separator = "; " if location is Location.COOKIE else "&"
    whole = parts if isinstance(parts, str) else separator.join(map("=".join, parts))
    assert whole == text
    found = received(made, typed)
    assert isinstance(found, list)
    assert settled(found) == typed.value


# Swagger 2.0, Parameter Object, `collectionFormat`.
COLLECTIONS = [
    ("csv", "query", "color=blue,black,brown"),
    ("ssv", "query", "color=blue%20black%20brown"),
    ("tsv", "query", "color=blue%09black%09brown"),
    ("pipes", "query", "color=blue%7Cblack%7Cbrown"),
    ("multi", "query", "color=blue&color=black&color=brown"),
    (None, "query", "color=blue,black,brown"),
    ("csv", "path", "blue,black,brown"),
    ("ssv", "path", "blue%20black%20brown"),
    ("tsv", "path", "blue%09black%09brown"),
    ("pipes", "path", "blue%7Cblack%7Cbrown"),
    ("csv", "header", "blue,black,brown"),
    ("ssv", "header", "blue black brown"),
    ("tsv", "header", "blue\tblack\tbrown"),
    ("pipes", "header", "blue|black|brown"),
]


@pytest.mark.parametrize(("collection", "place", "text"), COLLECTIONS)
def test_swagger_collection_formats(collection, place, text) -> None:
    style, explode = swagger_style(collection, place)
    made = parameter(Location(place), style, explode=explode)
    parts = sent(made, COLORS.value)
    assert (parts if isinstance(parts, str) else "&".join(map("=".join, parts))) == text
    found = received(made, COLORS)
    assert isinstance(found, list)
    assert settled(found) == COLORS.value


# RFC 6570, 3.2.1: the variables of its examples.
COUNT = ["one", "two", "three"]
DOM = ["example", "com"]
KEYS = {"semi": ";", "dot": ".", "comma": ","}
RFC6570 = [
    # 3.2.2, simple
    ("simple", False, "value", "value"),
    ("simple", False, "Hello World!", "Hello%20World%21"),
    ("simple", False, "50%", "50%25"),
    ("simple", False, ["red", "green", "blue"], "red,green,blue"),
    ("simple", False, KEYS, "semi,%3B,dot,.,comma,%2C"),
    ("simple", True, KEYS, "semi=%3B,dot=.,comma=%2C"),
    # 3.2.5, label
    ("label", False, "fred", ".fred"),
    ("label", False, "50%", ".50%25"),
    ("label", True, DOM, ".example.com"),
    ("label", False, ["red", "green", "blue"], ".red,green,blue"),
    ("label", True, ["red", "green", "blue"], ".red.green.blue"),
    ("label", False, KEYS, ".semi,%3B,dot,.,comma,%2C"),
    # It has `.semi=%3B.dot=..comma=%2C`, which nobody can take apart: our dot inside a value is encoded.
    ("label", True, KEYS, ".semi=%3B.dot=%2E.comma=%2C"),
    # 3.2.7, path-style parameters
    ("matrix", False, "fred", ";color=fred"),
    ("matrix", False, "", ";color"),
    ("matrix", False, COUNT, ";color=one,two,three"),
    ("matrix", True, COUNT, ";color=one;color=two;color=three"),
    ("matrix", False, KEYS, ";color=semi,%3B,dot,.,comma,%2C"),
    ("matrix", True, KEYS, ";semi=%3B;dot=.;comma=%2C"),
]
RFC6570_FORM = [
    # 3.2.8, form-style query
    (False, "fred", False, "color=fred"),
    (False, "", False, "color="),
    (False, COUNT, False, "color=one,two,three"),
    (True, COUNT, False, "color=one&color=two&color=three"),
    (False, KEYS, False, "color=semi,%3B,dot,.,comma,%2C"),
    (True, KEYS, False, "semi=%3B&dot=.&comma=%2C"),
    # 3.2.3, reserved expansion. The ampersand and the like would end the pair: OpenAPI 3.1.1, 4.8.12, asks to encode them.
    (True, "/foo/bar", True, "color=/foo/bar"),
    (True, "Hello World!", True, "color=Hello%20World!"),
    (True, "a&b=c#d+e", True, "color=a%26b%3Dc%23d%2Be"),
]


@pytest.mark.parametrize(("style", "explode", "value", "text"), RFC6570)
def test_rfc_6570_in_paths(style, explode, value, text) -> None:
    assert sent(parameter(Location.PATH, style, explode=explode), value) == text


@pytest.mark.parametrize(("explode", "value", "allow_reserved", "text"), RFC6570_FORM)
def test_rfc_6570_in_queries(explode, value, allow_reserved, text) -> None:
    made = parameter(Location.QUERY, "form", explode=explode, allow_reserved=allow_reserved)
    assert "&".join(map("=".join, sent(made, value))) == text


# RFC 6265, 4.1.1: cookie-octet = %x21 / %x23-2B / %x2D-3A / %x3C-5B / %x5D-7E.
def test_rfc_6265_cookie_octets() -> None:
    allowed = {0x21, *range(0x23, 0x2C), *range(0x2D, 0x3B), *range(0x3C, 0x5C), *range(0x5D, 0x7F)}
    made = parameter(Location.COOKIE, "form", explode=True)
    for octet in range(0x80):
        ((name, text),) = pairs_of(cookie_encoder("color", made)(chr(octet)), "; ")
        # A percent sign is an octet of cookies, and begins our escapes.
        as_it_is = octet in allowed and chr(octet) != "%"
        assert (name, text) == ("color", chr(octet) if as_it_is else f"%{octet:02X}")


# RFC 6265, 4.2.1: pairs with a semicolon and a space between them; 5.4: in one header field.
def test_rfc_6265_cookie_string() -> None:
    assert pairs_of("SID=31d4d96e407aad42; lang=en-US", "; ") == [("SID", "31d4d96e407aad42"), ("lang", "en-US")]


FORM_DATA = "multipart/form-data"


def parts_of(body: dict[str, Any], **encoding: PropertyEncoding) -> list[bytes]:
    content, media_type = encode(body, FORM_DATA, encoding)
    mark = b"--" + media_type.partition("boundary=")[2].encode()
    first, *parts, last = (b"\r\n" + content).split(b"\r\n" + mark)
    # RFC 2046, 5.1.1: the delimiter begins a line; the last one has two hyphens more.
    assert (first, last) == (b"", b"--\r\n")
    return [part.removeprefix(b"\r\n") for part in parts]


RFC7578 = [
    # 4.2: a name in quotes; 4.4: the media type may be left out and is text/plain
    ({"name": "Joe"}, {}, [b'Content-Disposition: form-data; name="name"\r\n\r\nJoe']),
    # 4.2: a file has a name of its own
    (
        {"f": b"\x00"},
        {},
        [
            b'Content-Disposition: form-data; name="f"; filename="f"\r\n'
            b"Content-Type: application/octet-stream\r\n\r\n\x00"
        ],
    ),
    # 4.3: several files or values of one field are parts of the same name
    (
        {"l": ["a", "b"]},
        {},
        [b'Content-Disposition: form-data; name="l"\r\n\r\na', b'Content-Disposition: form-data; name="l"\r\n\r\nb'],
    ),
    # 5.1: names beyond ASCII are UTF-8, not percent-encoded
    ({"é": "1"}, {}, ['Content-Disposition: form-data; name="é"\r\n\r\n1'.encode()]),
    # OpenAPI 3.0, 4.7.14.4 (3.1, 4.8.14.4): objects are JSON, a declared type counts, and so do headers
    (
        {"address": {"street": "3, Garden St"}},
        {},
        [
            b'Content-Disposition: form-data; name="address"\r\nContent-Type: application/json\r\n\r\n'
            b'{"street":"3, Garden St"}'
        ],
    ),
    (
        {"history": {"a": 1}},
        {
            "history": PropertyEncoding(
                content_type="application/xml; charset=utf-8", headers={"X-Rate-Limit-Limit": "5"}
            )
        },
        [
            b'Content-Disposition: form-data; name="history"\r\n'
            b"Content-Type: application/xml; charset=utf-8\r\nX-Rate-Limit-Limit: 5\r\n\r\n"
            b'<?xml version="1.0" encoding="UTF-8"?>\n<data><a>1</a></data>'
        ],
    ),
]


@pytest.mark.parametrize(("body", "encoding", "parts"), RFC7578)
def test_rfc_7578_and_the_encoding_object(body, encoding, parts) -> None:
    assert parts_of(body, **encoding) == parts


# OpenAPI 3.1.1, 4.8.15.2 (3.0.4, 4.7.15.2): "x-www-form-urlencoded" with the default types of the Encoding Object
def test_openapi_urlencoded_example() -> None:
    body = {"id": "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "address": {"city": "Smallville"}}
    content, _ = encode(body, "application/x-www-form-urlencoded", {})
    assert content == (b"id=f81d4fae-7dec-11d0-a765-00a0c91e6bf6&address=%7B%22city%22%3A%22Smallville%22%7D")


# OpenAPI 3.0 and 3.1, "XML Object Examples": the schema of a property, and what stands inside the root.
TEXTS = {"type": "string"}
XML = [
    ({"animals": TEXTS}, {"animals": "x"}, "<animals>x</animals>"),
    (
        {"animals": {"type": "array", "items": TEXTS}},
        {"animals": ["a", "b"]},
        "<animals>a</animals><animals>b</animals>",
    ),
    (
        {
            "id": {"type": "integer", "xml": {"attribute": True}},
            "name": {**TEXTS, "xml": {"namespace": "https://example.com/schema/sample", "prefix": "sample"}},
        },
        {"id": 123, "name": "example"},
        '<sample:name xmlns:sample="https://example.com/schema/sample">example</sample:name>',
    ),
    (
        {"animals": {"type": "array", "items": {**TEXTS, "xml": {"name": "animal"}}}},
        {"animals": ["value"]},
        "<animal>value</animal>",
    ),
    (
        {"animals": {"type": "array", "items": {**TEXTS, "xml": {"name": "animal"}}, "xml": {"name": "aliens"}}},
        {"animals": ["value"]},
        "<animal>value</animal>",
    ),
    (
        {"animals": {"type": "array", "items": TEXTS, "xml": {"wrapped": True}}},
        {"animals": ["value"]},
        "<animals><animals>value</animals></animals>",
    ),
    (
        {
            "animals": {
                "type": "array",
                "items": {**TEXTS, "xml": {"name": "animal"}},
                "xml": {"name": "aliens", "wrapped": True},
            }
        },
        {"animals": ["value"]},
        "<aliens><animal>value</animal></aliens>",
    ),
    (
        {"animals": {"type": "array", "items": TEXTS, "xml": {"name": "aliens", "wrapped": True}}},
        {"animals": ["value"]},
        "<aliens><aliens>value</aliens></aliens>",
    ),
]


# OpenAPI 3.2.0, XML Object: `nodeType` says what `attribute` and `wrapped` said, and text.
NODES = [
    ({"id": {"type": "integer", "xml": {"nodeType": "attribute"}}}, {"id": 123}, ""),
    ({"name": {**TEXTS, "xml": {"nodeType": "text"}}}, {"name": "a<b"}, "a&lt;b"),
    ({"name": {**TEXTS, "xml": {"nodeType": "cdata"}}}, {"name": "a<b]]>"}, "<![CDATA[a<b]]]]><![CDATA[>]]>"),
    (
        {"name": {"type": "number", "xml": {"nodeType": "text"}}, "other": TEXTS},
        {"name": 1.5, "other": "x"},
        "1.5<other>x</other>",
    ),
    (
        {"animals": {"type": "array", "items": TEXTS, "xml": {"nodeType": "element"}}},
        {"animals": ["a", "b"]},
        "<animals><animals>a</animals><animals>b</animals></animals>",
    ),
    (
        {"animals": {"type": "array", "items": TEXTS, "xml": {"nodeType": "none"}}},
        {"animals": ["a", "b"]},
        "<animals>a</animals><animals>b</animals>",
    ),
]


@pytest.mark.parametrize(("properties", "value", "inner"), [*XML, *NODES])
def test_openapi_xml_examples(properties, value, inner) -> None:
    raw = {"type": "object", "properties": properties, "xml": {"name": "Person"}}
    content = xml_encoder(schema_of(raw))(value)
    start = '<Person id="123">' if "id" in value else "<Person>"
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    assert content.decode() == f"{head}{start}{inner}</Person>"
    assert settled(xml_readings(content, outline_of(schema_of(raw)))) == value
