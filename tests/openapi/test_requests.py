"""Parameters and bodies of operations."""

from typing import Any

import pytest

from checker.core.meta import PhaseInfo
from checker.core.operation import Location, Parameter
from checker.generation.program import GenerationSettings, compile_operation
from checker.generation.sources.choices import RandomSource
from checker.transport.wire.bodies import encode

from .documents import broken, operation

TEXT = {"type": "string"}


def param(name: str, place: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "in": place, "schema": TEXT, **more}


def only(raw: dict[str, Any], version: str = "3.0.3", **more: Any) -> Parameter:
    (found,) = operation({"parameters": [raw]}, version=version, **more).parameters
    return found


STYLES = [
    ("query", {}, "form", True),
    ("cookie", {}, "form", True),
    ("header", {}, "simple", False),
    ("path", {}, "simple", False),
    ("query", {"explode": False}, "form", False),
    ("query", {"style": "deepObject", "explode": True}, "deepObject", True),
    ("query", {"style": "pipeDelimited"}, "pipeDelimited", False),
    ("path", {"style": "matrix"}, "matrix", False),
]


@pytest.mark.parametrize(("place", "more", "style", "explode"), STYLES)
def test_styles_are_explicit(place: str, more: Any, style: str, explode: bool) -> None:
    found = only(param("q", place, **more), path="/a/{q}" if place == "path" else "/a")
    assert (found.location.value, found.style, found.explode) == (place, style, explode)
    assert found.required is (place == "path")


FORMATS = [
    ("query", None, "form", False),
    ("query", "multi", "form", True),
    ("query", "ssv", "spaceDelimited", False),
    ("query", "tsv", "tabDelimited", False),
    ("query", "pipes", "pipeDelimited", False),
    ("header", "csv", "simple", False),
    ("path", "multi", "simple", False),
    ("path", "pipes", "pipeDelimited", False),
]


@pytest.mark.parametrize(("place", "collection", "style", "explode"), FORMATS)
def test_collection_formats_become_styles(place: str, collection: str | None, style: str, explode: bool) -> None:
    raw = {"name": "q", "in": place, "type": "array", "items": TEXT, "required": True}
    raw |= {} if collection is None else {"collectionFormat": collection}
    found = only(raw, "2.0", path="/a/{q}" if place == "path" else "/a")
    assert (found.style, found.explode) == (style, explode)
    assert found.schema.raw == {"type": "array", "items": TEXT}


def test_operation_overrides_its_path_item() -> None:
    item = {"parameters": [param("A", "header"), param("b", "query"), param("b", "cookie")]}
    own = [param("a", "header", required=True), {"$ref": "#/components/parameters/B"}]
    components = {"parameters": {"B": {"$ref": "#/components/parameters/C"}, "C": param("b", "query", description="x")}}
    found = operation({"parameters": own}, item=item, components=components).parameters
    assert [(p.name, p.location.value, p.required) for p in found] == [
        ("a", "header", True),
        ("b", "query", False),
        ("b", "cookie", False),
    ]
    assert found[1].pointer == "#/components/parameters/C"


def test_content_parameter_carries_its_media_type() -> None:
    found = only({"name": "q", "in": "query", "content": {"application/json": {"schema": TEXT}}})
    assert found.media_type == "application/json"
    assert found.schema.pointer.endswith("/parameters/0/content/application~1json/schema")


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0", "3.2.0"])
def test_headers_that_negotiation_makes_are_left_out(version: str) -> None:
    names = ["Content-Type", "accept", "AUTHORIZATION", "X-Accept"]
    raw = [param(name, "header", required=True) for name in names]
    found = operation({"parameters": raw}, version=version)
    assert [p.name for p in found.parameters] == ["AUTHORIZATION", "X-Accept"]


def test_swagger_speaks_of_the_headers_that_later_versions_ignore() -> None:
    raw = [{"name": name, "in": "header", "type": "string"} for name in ("accept", "Authorization")]
    found = operation({"parameters": raw}, version="2.0").parameters
    assert [p.name for p in found] == ["accept", "Authorization"]


def test_swagger_says_how_lists_in_lists_are_joined() -> None:
    text = {"type": "string"}
    deep = {"type": "array", "items": text, "collectionFormat": "ssv"}
    inner = {"type": "array", "items": deep, "collectionFormat": "pipes"}
    raw = {"name": "p", "in": "query", "type": "array", "items": inner}
    found = operation({"parameters": [raw]}, version="2.0").parameters[0]
    assert (found.style, found.explode, found.inner) == ("form", False, ("|", " "))
    raw = raw | {"items": {"type": "array", "items": text}, "collectionFormat": "multi"}
    found = operation({"parameters": [raw]}, version="2.0").parameters[0]
    assert (found.explode, found.inner) == (True, (",",))
    assert only({"name": "p", "in": "query", "schema": {"type": "array", "items": raw}}).inner == ()


NAMELESS = [
    ({"in": "query"}, "has no `name`; add it"),
    ({"in": "query", "name": None, "required": True}, "has no `name`; add it"),
    ({"in": "header", "name": 5}, "has a number as its `name`; make it text"),
    ({"in": "query", "name": ["a"]}, "has a list as its `name`; make it text"),
    ({"in": "path", "name": True, "required": True}, "has a boolean as its `name`; make it text"),
    ({"name": "a"}, "has no `in`; add it"),
    ({"name": "a", "in": 1}, "has no `in`; add it"),
    ({}, "has no `in`; add it"),
]


@pytest.mark.parametrize(("raw", "words"), NAMELESS)
def test_parameter_without_a_name_costs_itself_alone(raw: Any, words: str) -> None:
    found = operation({"parameters": [raw, param("b", "query"), raw]})
    assert [p.name for p in found.parameters] == ["b"]
    assert [words in reason for reason in found.unusable_parameters.values()] == [True, True]
    assert [one.message for one in found.warnings() if one.kind == "unusable_parameter"]


NEEDED = [{"in": "path", "required": True, "schema": TEXT}, {"name": "id", "schema": TEXT}]


@pytest.mark.parametrize("raw", NEEDED)
def test_variable_whose_parameter_has_no_name_breaks_its_operation(raw: Any) -> None:
    error = broken({"parameters": [raw]}, path="/a/{id}")
    assert "#/paths/~1a~1{id}/post/parameters/0 has no" in error
    named = param("id", "path", required=True)
    found = operation({"parameters": [raw | {"name": None}, named]}, path="/a/{id}")
    assert [p.name for p in found.parameters] == ["id"]


def test_swagger_field_without_a_name_costs_itself_alone() -> None:
    fields = [{"in": "formData", "type": "string", "name": name} for name in (5, "a")]
    found = operation({"parameters": fields}, version="2.0", method="post")
    assert list(found.bodies[0].schema.raw["properties"]) == ["a"]  # type: ignore[index]
    assert len(found.unusable_parameters) == 1


def test_headers_that_frame_the_message_are_left_out() -> None:
    names = ["Content-Length", "transfer-encoding", "Host", "X-Connection"]
    found = operation({"parameters": [param(name, "header") for name in names]}).parameters
    assert [p.name for p in found] == ["X-Connection"]


def test_path_variable_that_nobody_declares_is_text() -> None:
    (found,) = operation({}, path="/a/{id}").parameters
    assert (found.name, found.location, found.required) == ("id", Location.PATH, True)


def test_path_parameter_without_a_variable_is_left_out() -> None:
    assert operation({"parameters": [param("id", "path", required=True)]}).parameters == ()


LOST = {"$ref": "#/components/schemas/Usr"}
NAMES = {"schemas": {"User": {"required": ["a"], "properties": {"a": {"$ref": "#/components/schemas/None"}}}}}


def test_optional_parameter_with_a_lost_reference_is_left_out_and_named() -> None:
    raw = [param("a", "query", schema=LOST), param("b", "query")]
    found = operation({"parameters": raw}, components=NAMES)
    assert [p.name for p in found.parameters] == ["b"]
    ((pointer, reason),) = found.unusable_parameters.items()
    assert pointer.endswith("/parameters/0")
    assert "points at nothing" in reason


def test_required_parameter_with_a_lost_reference_breaks_its_operation() -> None:
    raw = {"parameters": [param("a", "query", schema=LOST, required=True)]}
    error = broken(raw, components=NAMES)
    assert "`#/components/schemas/Usr` at #/paths/~1a/post/parameters/0/schema" in error
    assert "did you mean `User`?" in error


MALFORMED = [
    ({"parameters": {}}, "must be a list of parameters; found an object"),
    ({"parameters": [None]}, "must be an object; found nothing"),
    ({"parameters": [{"name": "a", "required": True}]}, "has no `in`"),
    ({"parameters": [param("a", "moon", required=True)]}, "is in `moon`, which is not known"),
    ({"parameters": [{"$ref": "#/none"}]}, "points at nothing"),
    ({"parameters": [{"$ref": "other.yaml#/a"}]}, "load it from its file or URL"),
    ({"parameters": [{"$ref": "#/paths/~1a/post/parameters/0"}]}, "leads back to itself"),
]


@pytest.mark.parametrize(("definition", "words"), MALFORMED)
def test_broken_operation_says_why(definition: Any, words: str) -> None:
    assert words in broken(definition)


def test_bodies_are_sendable_or_say_why_not() -> None:
    content = {
        "application/json": {"schema": TEXT},
        "application/x-unheard-of": {"schema": {"type": "object"}},
        "application/x-www-form-urlencoded": {
            "schema": {"type": "object"},
            "encoding": {"a": {"style": "deepObject", "contentType": "text/x"}, "b": None},
        },
        "multipart/form-data": {"schema": {"$ref": "#/components/schemas/User"}},
    }
    found = operation({"requestBody": {"content": content, "required": True}}, components=NAMES)
    assert [body.media_type for body in found.bodies] == ["application/json", "application/x-www-form-urlencoded"]
    encoding = found.bodies[1].encoding["a"]
    assert (encoding.style, encoding.explode, encoding.content_type) == ("deepObject", False, "text/x")
    unheard, lost = found.unusable_bodies
    assert "application/x-unheard-of" in unheard.reason
    assert "`#/components/schemas/None`" in lost.reason
    assert found.body_required
    assert not found.has_skipped_required_body


@pytest.mark.parametrize("raw", [{"$ref": "#/none"}, {"required": True}, {"required": True, "content": {"a/*": {}}}])
def test_required_body_that_cannot_be_sent_is_said_to_be_skipped(raw: Any) -> None:
    found = operation({"requestBody": raw})
    assert found.has_skipped_required_body
    assert found.unusable_bodies[0].reason


def test_swagger_body_is_made_for_each_media_type() -> None:
    raw = {"name": "it", "in": "body", "required": True, "schema": TEXT}
    plain = operation({"parameters": [raw]}, version="2.0", method="post")
    assert [body.media_type for body in plain.bodies] == ["application/json"]
    assert plain.body_required
    assert plain.parameters == ()
    two = operation({"parameters": [raw]}, version="2.0", consumes=["application/json", "x/*"])
    assert [body.media_type for body in two.bodies] == ["application/json"]
    assert [body.media_type for body in two.unusable_bodies] == ["x/*"]


def test_swagger_form_is_one_object() -> None:
    fields = [
        {"name": "a", "in": "formData", "type": "array", "items": TEXT, "collectionFormat": "multi"},
        {"name": "b", "in": "formData", "type": "string", "required": True},
    ]
    (body,) = operation({"parameters": fields}, version="2.0").bodies
    assert body.media_type == "application/x-www-form-urlencoded"
    assert body.schema.raw == {
        "type": "object",
        "properties": {"a": {"type": "array", "items": TEXT}, "b": TEXT},
        "required": ["b"],
    }
    assert (body.encoding["a"].explode, body.encoding["b"].explode) == (True, False)


def test_swagger_file_travels_in_parts() -> None:
    fields = [{"name": "f", "in": "formData", "type": "file"}]
    consumes = ["application/x-www-form-urlencoded"]
    (body,) = operation({"parameters": fields, "consumes": consumes}, version="2.0").bodies
    assert body.media_type == "multipart/form-data"
    assert body.schema.raw["properties"]["f"] == {"type": "string", "format": "binary"}  # type: ignore[index]


def whole(name: str = "q", **more: Any) -> dict[str, Any]:
    content = {"application/x-www-form-urlencoded": {"schema": {"type": "object"}, **more}}
    return {"name": name, "in": "querystring", "content": content}


BESIDE = [
    [whole(), param("a", "query")],
    [param("a", "query"), whole()],
    [whole(), whole("a")],
    [whole(), whole("a", encoding={"b": {"explode": False}})],
]


@pytest.mark.parametrize("raw", BESIDE)
def test_nothing_stands_beside_a_whole_query(raw: list[dict[str, Any]]) -> None:
    found = operation({"parameters": raw}, version="3.2.0")
    assert [parameter.name for parameter in found.parameters] == ["q"]
    (reason,) = found.unusable_parameters.values()
    assert "beside the query string `q`" in reason
    (other,) = [one for one in raw if one["name"] == "a"]
    required = [whole(), other | {"required": True}]
    assert "beside" in broken({"parameters": required}, version="3.2.0")


def test_whole_query_is_not_written_by_an_encoding_that_is_not_understood() -> None:
    raw = whole(encoding={"b": {"explode": False}})
    (reason,) = operation({"parameters": [raw]}, version="3.2.0").unusable_parameters.values()
    assert "has an `encoding`" in reason


def test_parts_that_would_not_be_sent_as_declared_are_not_sent() -> None:
    media = {"schema": {"type": "object"}, "encoding": {"a": {"contentType": "multipart/mixed"}}}
    content = {"multipart/mixed": media, "application/json": {"schema": TEXT, "itemSchema": TEXT}}
    found = operation({"requestBody": {"content": content}}, version="3.2.0")
    assert [body.media_type for body in found.bodies] == ["application/json"]
    assert found.unusable_bodies[0].reason.startswith(("#/paths", "the part `a` at #/paths"))


def sent_as(media_type: str, media: dict[str, Any], count: int = 12) -> list[tuple[Any, bytes, str]]:
    """Return values of a body with their bytes and content type."""
    posted = {"requestBody": {"required": True, "content": {media_type: media}}}
    found = operation(posted, version="3.2.0", method="post")
    program, source = compile_operation(found, GenerationSettings()), RandomSource()
    made = []
    for seed in range(count):
        source.reset(seed)
        value = program.draw(source, case_id="c", phase=PhaseInfo("fuzzing")).body
        made.append((value, *encode(value, media_type, found.bodies[0].encoding)))
    return made


EVENT = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}, "additionalProperties": False}


@pytest.mark.parametrize(("media_type", "start", "end"), [
    ("application/jsonl", b"", b"\n"),
    ("application/x-ndjson", b"", b"\n"),
    ("application/json-seq", b"\x1e", b"\n"),
    ("text/event-stream", b"data: ", b"\n\n"),
])  # fmt: skip
def test_items_of_a_stream_are_sent_one_after_another(media_type: str, start: bytes, end: bytes) -> None:
    for value, content, sent in sent_as(media_type, {"itemSchema": EVENT}):
        assert content == b"".join(start + b'{"n":%d}' % one["n"] + end for one in value)
        assert sent == media_type


def test_parts_of_an_array_are_encoded_by_their_position() -> None:
    media = {
        "schema": {"type": "array", "prefixItems": [EVENT, TEXT], "items": TEXT, "minItems": 3, "maxItems": 3},
        "prefixEncoding": [{"contentType": "application/json"}, {"contentType": "text/plain"}],
        "itemEncoding": {"contentType": "text/csv"},
    }
    for value, content, _ in sent_as("multipart/mixed", media):
        types = [line for line in content.split(b"\r\n") if line.startswith(b"Content-Type")]
        assert types == [b"Content-Type: application/json", b"Content-Type: text/plain", b"Content-Type: text/csv"]
        assert b'\r\n\r\n{"n":%d}\r\n' % value[0]["n"] in content
        assert b"name=" not in content


@pytest.mark.parametrize("charset", ["us-ascii", "iso-8859-1", "windows-1252"])
@pytest.mark.parametrize(
    "media_type", ["text/plain", "text/csv", "application/json", "application/xml", "application/x-foo"]
)
def test_text_is_drawn_from_its_charset(media_type: str, charset: str) -> None:
    media = {"schema": {"type": "string", "minLength": 3}}
    contents = [content for _, content, _ in sent_as(f"{media_type}; charset={charset}", media, 60)]
    texts = [content.decode(charset) for content in contents]
    assert len(set(texts)) > 40
    is_text = media_type not in ("application/json", "application/xml")
    assert all(content.isascii() for content in contents) is (charset == "us-ascii" or not is_text)
    parts = {"schema": {"type": "object", "required": ["t"], "properties": {"t": TEXT}, "additionalProperties": False}}
    parts["encoding"] = {"t": {"contentType": f"{media_type}; charset={charset}"}}
    for value, content, _ in sent_as("multipart/form-data", parts, 20):
        assert not is_text or value["t"] in content.split(b"\r\n\r\n", 1)[1].decode(charset)
