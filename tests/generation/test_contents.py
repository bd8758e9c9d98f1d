"""Strings that contain something else are what a reader of the schema expects, asserted or not."""

import base64
import json
import quopri
from collections.abc import Callable
from typing import Any

import pytest

from checker.core.operation import Location
from checker.core.schema import Dialect
from checker.generation.drawing.files import SAMPLES

from .making import bodies, cases, parameter_of, program_of

DECODERS: dict[str, Callable[[str], bytes]] = {
    "base64": lambda text: base64.b64decode(text, validate=True),
    "base64url": lambda text: base64.b64decode(text, altchars=b"-_", validate=True),
    "base32": base64.b32decode,
    "base16": base64.b16decode,
    "quoted-printable": quopri.decodestring,
    "BASE64": lambda text: base64.b64decode(text, validate=True),
}
SAYING = (Dialect.OPENAPI31, Dialect.DRAFT2020, Dialect.DRAFT2019)


@pytest.mark.parametrize("dialect", SAYING)
@pytest.mark.parametrize("encoding", DECODERS)
def test_text_can_be_decoded(encoding: str, dialect: Dialect) -> None:
    texts = bodies({"type": "string", "contentEncoding": encoding}, 100, dialect=dialect)
    assert len({DECODERS[encoding](text) for text in texts}) > 50
    assert all(text.isascii() for text in texts)


@pytest.mark.parametrize("sizes", [(5, 9), (40, 44), (16, 16), (0, 4)])
@pytest.mark.parametrize("encoding", ["base64", "base32", "base16"])
def test_lengths_are_kept_where_they_can_be(encoding: str, sizes: tuple[int, int]) -> None:
    low, high = sizes
    raw = {"type": "string", "contentEncoding": encoding, "minLength": low, "maxLength": high}
    texts = bodies(raw, 50)
    assert all(low <= len(text) <= high for text in texts)
    if encoding != "base32" or sizes != (0, 4):
        assert all(DECODERS[encoding](text) is not None for text in texts)


def test_lengths_that_no_encoded_text_has_win() -> None:
    raw = {"type": "string", "contentEncoding": "base64", "minLength": 5, "maxLength": 7}
    assert {len(text) for text in bodies(raw, 50)} == {5, 6, 7}


@pytest.mark.parametrize("extra", [{}, {"contentEncoding": "base64"}])
def test_json_is_of_its_schema(extra: dict[str, Any]) -> None:
    inner = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    raw = {"type": "string", "contentMediaType": "application/json", "contentSchema": inner, **extra}
    for text in bodies(raw, 50):
        document = json.loads(base64.b64decode(text) if extra else text)
        assert isinstance(document["n"], int)


def test_schema_of_a_content_may_contain_itself() -> None:
    components = {"Tree": {"type": "object", "properties": {"below": {"contentMediaType": "application/json", "type": "string", "contentSchema": {"$ref": "#/components/schemas/Tree"}}}}}  # fmt: skip
    texts = [
        value["below"]
        for value in bodies({"$ref": "#/components/schemas/Tree"}, 100, components=components)
        if "below" in value
    ]
    assert any("below" in json.loads(text) for text in texts)


def test_image_is_one() -> None:
    raw = {"type": "string", "contentEncoding": "base64", "contentMediaType": "image/png"}
    found = [base64.b64decode(text) for text in bodies(raw, 50)]
    assert found.count(SAMPLES["image/png"]) > 30


def test_pattern_holds_as_well() -> None:
    raw = {"type": "string", "contentEncoding": "base64", "pattern": "^[A-Za-z0-9+/]{4,}=*$"}
    texts = bodies(raw, 50)
    assert all(len(base64.b64decode(text, validate=True)) > 0 for text in texts)
    odd = {"type": "string", "contentEncoding": "base64", "pattern": "^!+$"}
    assert all(set(text) == {"!"} for text in bodies(odd, 20))


@pytest.mark.parametrize("raw", [{"contentEncoding": "x-own"}, {"contentMediaType": "text/html"}, {"contentEncoding": 3}])  # fmt: skip
def test_what_nobody_knows_is_any_text(raw: dict[str, Any]) -> None:
    texts = bodies({"type": "string", **raw}, 100)
    assert any(not text.isascii() for text in texts)


def test_older_documents_do_not_know_the_keyword() -> None:
    raw = {"type": "string", "contentEncoding": "base64"}
    assert any(not text.isascii() for text in bodies(raw, 100, dialect=Dialect.OPENAPI30))


def test_parameters_are_encoded_as_well() -> None:
    raw = {"type": "string", "contentEncoding": "base64", "minLength": 1}
    program = program_of(parameter_of(raw, Location.PATH))
    texts = [case.path_parameters["q"] for case in cases(program, 50)]
    assert all(base64.b64decode(text, validate=True) for text in texts)
