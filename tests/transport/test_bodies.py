import json
from urllib.parse import parse_qsl

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from checker.core.operation import PropertyEncoding
from checker.transport.wire.bodies import concrete, encode, reason_not

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(values)
def test_json_says_what_was_meant(value) -> None:
    content, content_type = encode(value, "application/json", {})
    assert json.loads(content) == value
    assert content_type == "application/json"


@pytest.mark.parametrize(
    ("value", "content"),
    [
        (2**64, b"18446744073709551616"),
        ({"a": [-(2**70)]}, b'{"a":[-1180591620717411303424]}'),
        (2**63, b"9223372036854775808"),
        ("\ud800", b'"\\ud800"'),
        (None, b"null"),
        (b"{broken", b"{broken"),
        ({"a": b"\xff"}, '{"a":"ÿ"}'.encode()),
        ({"a": b"\xff", "b": 2**64}, b'{"a":"\\u00ff","b":18446744073709551616}'),
        ({"a": None, "b": 1.5}, b'{"a":null,"b":1.5}'),
    ],
)
def test_json_that_orjson_alone_gets_wrong(value, content) -> None:
    assert encode(value, "application/problem+json", {})[0] == content


@pytest.mark.parametrize("value", [float("nan"), {"a": [float("inf")]}, [None, 2**64, float("nan")]])
def test_json_has_no_nan(value) -> None:
    with pytest.raises(ValueError, match=r"NaN|JSON compliant"):
        encode(value, "application/json", {})


@pytest.mark.parametrize(
    ("media_type", "sent"),
    [
        ("*/*", "application/json"),
        ("application/*", "application/json"),
        ("application/*+json", "application/json"),
        ("text/*", "text/plain"),
        ("application/json; charset=utf-8", "application/json; charset=utf-8"),
    ],
)
def test_wildcards_become_concrete(media_type, sent) -> None:
    assert concrete(media_type) == sent
    assert encode("x", media_type, {})[1] == sent


@pytest.mark.parametrize(
    "media_type",
    [
        "application/json",
        "text/json",
        "application/vnd.x+json",
        "application/x-www-form-urlencoded; charset=utf-8",
        "multipart/form-data",
        "text/plain",
        "application/octet-stream",
        "image/png",
        "application/binary",
        "application/xml",
        "image/svg+xml",
        "image/*",
        "application/*+xml",
        "application/jwt",
        "application/jose+jwe",
        "*/*",
    ],
)
def test_what_can_be_sent(media_type) -> None:
    assert reason_not(media_type) is None


@pytest.mark.parametrize("media_type", ["message/*", "nonsense", ""])
def test_what_cannot_be_sent_has_a_reason(media_type) -> None:
    assert media_type in (reason_not(media_type) or "")
    with pytest.raises(ValueError, match="serialiser"):
        encode({}, media_type, {})


FORM = "application/x-www-form-urlencoded"


def test_forms() -> None:
    value = {"a b": "x&y=z", "n": None, "t": True, "l": [1, 2], "o": {"k": "v"}}
    assert encode(value, FORM, {})[0] == b"a%20b=x%26y%3Dz&n=null&t=true&l=1&l=2&o=%7B%22k%22%3A%22v%22%7D"


def test_form_encodings() -> None:
    encoding = {
        "l": PropertyEncoding(explode=False),
        "o": PropertyEncoding(style="deepObject", is_styled=True),
        "s": PropertyEncoding(is_styled=True),
        "j": PropertyEncoding(content_type="application/json"),
    }
    value = {"l": [1, 2], "o": {"k": "v"}, "j": {"k": [1]}, "s": {"x": 1, "y": [2, 3]}}
    content, _ = encode(value, FORM, encoding)
    assert content == b"l=1,2&o%5Bk%5D=v&j=%7B%22k%22%3A%5B1%5D%7D&x=1&y=2&y=3"


@given(st.dictionaries(st.text(min_size=1), st.text(), max_size=4))
def test_forms_read_back(value) -> None:
    content, _ = encode(value, FORM, {})
    assert dict(parse_qsl(content.decode("ascii"), keep_blank_values=True)) == value


def test_text_and_octets() -> None:
    assert encode("é", "text/plain", {}) == ("é".encode(), "text/plain")
    assert encode(True, "text/plain", {})[0] == b"true"
    assert encode(b"\xff\0", "application/octet-stream", {})[0] == b"\xff\0"
    assert encode("ab", "image/png", {}) == (b"ab", "image/png")


@pytest.mark.parametrize("media_type", ["application/json", "application/yaml"])
def test_what_a_type_cannot_say_is_a_value_error(media_type) -> None:
    with pytest.raises(ValueError, match="cannot be written as"):
        encode({"a": object()}, media_type, {})


@given(values)
def test_yaml_says_what_was_meant(value) -> None:
    content, _ = encode(value, "application/yaml", {})
    assert yaml.safe_load(content) == value


def test_csv() -> None:
    rows = [{"a": 1, "b": "x,y"}, {"b": None, "c": True}]
    assert encode(rows, "text/csv", {})[0] == b'a,b,c\r\n1,"x,y",\r\n,null,true\r\n'
    assert encode([[1, "é"], 2], "text/csv", {})[0] == "1,é\r\n2\r\n".encode()
    assert [encode("a,b", "text/csv", {})[0], encode([], "text/csv", {})[0]] == [b"a,b", b""]


def test_multipart() -> None:
    value = {"name": 'a"b', "file": b"\x00\xff", "o": {"k": [True]}, "l": [1, None]}
    encoding = {
        "name": PropertyEncoding(content_type="text/html", headers={"X-Part": "1"}),
        "file": PropertyEncoding(content_type="image/*, application/octet-stream"),
    }
    content, content_type = encode(value, "multipart/form-data", encoding)
    boundary = content_type.partition("boundary=")[2].encode()
    assert (
        content
        == b"".join(
            b"--" + boundary + b"\r\n" + part + b"\r\n"
            for part in [
                b'Content-Disposition: form-data; name="name"\r\nContent-Type: text/html\r\nX-Part: 1\r\n\r\na"b',
                b'Content-Disposition: form-data; name="file"; filename="file"\r\n'
                b"Content-Type: application/octet-stream\r\n\r\n\x00\xff",
                b'Content-Disposition: form-data; name="o"\r\nContent-Type: application/json\r\n\r\n{"k":[true]}',
                b'Content-Disposition: form-data; name="l"\r\n\r\n1',
                b'Content-Disposition: form-data; name="l"\r\n\r\nnull',
            ]
        )
        + b"--"
        + boundary
        + b"--\r\n"
    )


def test_a_part_that_is_null_is_left_out_where_it_is_not_json() -> None:
    encoding = {"b": PropertyEncoding(content_type="application/json")}
    content, _ = encode({"a": None, "b": None}, "multipart/form-data", encoding)
    assert content.count(b"Content-Disposition") == 1
    assert b'name="b"\r\nContent-Type: application/json\r\n\r\nnull\r\n' in content


def test_the_same_multipart_value_has_the_same_bytes() -> None:
    assert encode({"a": "b"}, "multipart/form-data", {}) == encode({"a": "b"}, "multipart/form-data", {})


@given(st.dictionaries(st.text(max_size=5), st.binary(max_size=30), max_size=3))
def test_no_part_holds_the_boundary(value) -> None:
    content, content_type = encode(value, "multipart/form-data", {})
    boundary = content_type.partition("boundary=")[2].encode()
    assert content.count(b"--" + boundary) == len(value) + 1


@pytest.mark.parametrize(("value", "parts"), [([1, {"a": 2}], [b"1", b'{"a":2}']), (5, [b"5"])])
def test_multipart_of_what_is_no_object_has_parts_without_names(value, parts) -> None:
    content, content_type = encode(value, "multipart/mixed", {})
    assert content_type.startswith("multipart/mixed; boundary=")
    assert b"Content-Disposition" not in content
    assert [part.partition(b"\r\n\r\n")[2] for part in content.split(b"\r\n--")][:-1] == parts


def test_an_empty_multipart_body_is_its_terminator() -> None:
    content, content_type = encode({}, "multipart/form-data", {})
    assert content == b"--" + content_type.partition("boundary=")[2].encode() + b"--\r\n"


@pytest.mark.parametrize(
    ("content", "name", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n", b"f.png", b"image/png"),
        (b"\xff\xd8\xff\xe0", b"f.jpg", b"image/jpeg"),
        (b"GIF89a", b"f.gif", b"image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", b"f.webp", b"image/webp"),
        (b"%PDF-1.4", b"f.pdf", b"application/pdf"),
        (b"PK\x03\x04", b"f.zip", b"application/zip"),
        (b"\0", b"f", b"application/octet-stream"),
    ],
)
def test_files_have_the_extension_of_their_kind(content, name, kind) -> None:
    body, _ = encode({"f": content}, "multipart/form-data", {})
    assert b'filename="' + name + b'"\r\nContent-Type: ' + kind + b"\r\n" in body


def test_one_of_several_content_types_is_chosen_and_the_same_each_time() -> None:
    options = ["text/a", "text/b", "text/c"]
    encoding = {"p": PropertyEncoding(content_type=", ".join(options))}
    found = set()
    for number in range(40):
        body, _ = encode({"p": str(number)}, "multipart/form-data", encoding)
        assert body == encode({"p": str(number)}, "multipart/form-data", encoding)[0]
        found.add(body.partition(b"Content-Type: ")[2].partition(b"\r\n")[0].decode())
    assert found == set(options)


def test_text_in_a_charset_of_its_media_type() -> None:
    assert encode("é", "text/plain; charset=iso-8859-1", {})[0] == b"\xe9"
    assert encode("é", "text/plain; charset=unheard-of", {})[0] == "é".encode()
    with pytest.raises(ValueError, match="encode"):
        encode("☃", "text/plain; charset=iso-8859-1", {})
