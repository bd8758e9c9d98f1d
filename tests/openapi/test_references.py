"""References inside a description and to the files beside it."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest

from checker.core.meta import PhaseInfo
from checker.core.operation import BrokenOperation
from checker.core.request import BaseUrl
from checker.core.schema import Direction, UnresolvableReference
from checker.generation.program import GenerationSettings, compile_operation
from checker.generation.sources.choices import RandomSource
from checker.kinds.web import Web
from checker.openapi.documents.neighbours import Provenance, reader
from checker.openapi.loaders import from_dict, from_path, open_normalised
from checker.openapi.operation import OpenApiOperation
from checker.openapi.schema import OpenApiSchema
from checker.transport.prepare import RequestMaker
from checker.validation.compiled import compile_schema
from checker.validation.referee import referee
from tests.apps.serving import json_reply, serving

from .described import USER, assert_both, body, document, opinions, written


def _name_of(schema: OpenApiSchema, reference: str) -> str:
    """Return the name of the document that a reference in the description points to."""
    neighbours = schema.document.neighbours
    return neighbours.name_of(urljoin(neighbours.uri, reference))


TREE = {
    "Node": {"properties": {"next": {"$ref": "../openapi.json#/components/schemas/Node"}, "n": {"type": "integer"}}}
}


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        ("user.json", "user.json"),
        ("./user.json#", "user.json"),
        ("models/all.yaml#/User", "models/all.yaml"),
        ("models/../models/all.yaml#/a~1b%20c", "models/all.yaml"),
        ("models/with%20blank.json#/%7Bx%7D", "models/with blank.json"),
    ],
)
@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
def test_files_are_read_relative_to_where_the_reference_stands(
    tmp_path: Path, reference: str, name: str, version: str
) -> None:
    content: Any = {"User": {"$ref": "../user.json"}, "a/b c": USER, "{x}": USER}
    files = {
        "api/openapi.json": document({"$ref": reference}, version),
        "api/user.json": USER,
        f"api/{name}": USER if name == "user.json" else content,
    }
    schema = from_path(written(tmp_path, files))
    assert_both(schema, {"id": 1}, {"id": "x"})


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
def test_files_may_refer_to_each_other_and_back(tmp_path: Path, version: str) -> None:
    components = {"schemas": {"Node": {"$ref": "more/tree.json#/Node"}}}
    main = document({"$ref": "#/components/schemas/Node"}, version, components=components)
    schema = from_path(written(tmp_path, {"openapi.json": main, "more/tree.json": TREE}))
    assert_both(schema, {"next": {"next": {"n": 1}}}, {"next": {"next": {"n": "x"}}})
    (violation,) = referee(body(schema), Direction.REQUEST).errors({"next": {"n": "x"}})
    assert violation.schema_pointer == "more/tree.json#/Node/properties/n"


def test_each_document_is_read_once_and_never_after_the_first_opening(tmp_path: Path) -> None:
    refs = [{"$ref": "b.json#/x"}, {"$ref": "./b.json#/y"}, {"$ref": "c.json"}]
    path = written(
        tmp_path,
        {
            "openapi.json": document({"allOf": refs}),
            "b.json": {"x": USER, "y": {"$ref": "c.json"}, "unused": {"$ref": "gone.json"}},
            "c.json": {"properties": {"me": {"$ref": "b.json#/x"}}},
        },
    )
    asked: list[str] = []
    read = reader(Web({}), path.name, folder=path.parent)

    def counted(name: str) -> object:
        asked.append(name)
        return read(name)

    root = json.loads(path.read_text())
    schema = OpenApiSchema(root, Provenance(own_name="openapi.json", read=counted))
    assert opinions(body(schema), {"id": 1, "me": {"id": "x"}}) == (False, False)
    written_down = schema.normalised()
    assert sorted(asked) == ["b.json", "c.json", "gone.json"]
    for file in tmp_path.iterdir():
        file.unlink()
    again = open_normalised(written_down)
    assert opinions(body(again), {"id": 1, "me": {"id": "x"}}) == (False, False)
    assert again.normalised() == written_down


def test_parameters_and_path_items_may_stand_in_other_files(tmp_path: Path) -> None:
    item = {
        "parameters": [{"$ref": "shared.yaml#/limit"}],
        "get": {"parameters": [{"name": "id", "in": "query", "schema": {"$ref": "#/ID"}}]},
        "ID": {"type": "integer"},
    }
    files = {
        "openapi.yaml": "openapi: 3.0.3\npaths:\n  /a:\n    $ref: paths/a.json\n",
        "paths/a.json": item,
        "paths/shared.yaml": "limit: {name: limit, in: query, schema: {type: integer}}\n",
    }
    schema = from_path(written(tmp_path, files))
    for one in (schema, open_normalised(schema.normalised())):
        operation = one.find("GET /a")
        assert isinstance(operation, OpenApiOperation)
        assert [p.name for p in operation.parameters] == ["limit", "id"]
        assert operation.parameters[0].pointer == "paths/shared.yaml#/limit"
        assert operation.parameters[0].definition["name"] == "limit"
        assert opinions(operation.parameters[1].schema, "x") == (False, False)


LOST = [
    ({"$ref": "#/components/schemas/Usr"}, "did you mean `User`?"),
    ({"$ref": "#/definitions/User"}, "did you mean `#/components/schemas/User`?"),
    ({"$ref": "User"}, "did you mean `#/components/schemas/User`?"),
    ({"$ref": "gone.yaml#/User"}, "gone.yaml does not exist"),
    ({"$ref": "broken.yaml#/User"}, "neither valid JSON nor valid YAML at line 1"),
    ({"$ref": "ftp://127.0.0.1/x.yaml"}, "use a file or an http(s) URL"),
    ({"$ref": "http://[/x.yaml"}, "it is no URI"),
    ({"$ref": "#anchor"}, "write it as `#/components/...`"),
]


@pytest.mark.parametrize(("raw", "words"), LOST)
def test_lost_reference_names_place_reason_and_nearest_name(tmp_path: Path, raw: Any, words: str) -> None:
    main = document({}, components={"schemas": {"User": USER}})
    schema = from_path(written(tmp_path, {"openapi.json": main, "broken.yaml": "a: [}"}))
    with pytest.raises(UnresolvableReference) as caught:
        schema.document.resolve(raw["$ref"], at="#/paths/~1a")
    assert words in str(caught.value)
    assert f"`{raw['$ref']}` at #/paths/~1a points at nothing" in str(caught.value)
    assert str(caught.value).count(" at #") == 1


def test_document_without_a_place_says_how_to_give_it_one() -> None:
    schema = from_dict(document({"$ref": "user.json"}))
    operation = schema.find("POST /a")
    assert isinstance(operation, OpenApiOperation)
    assert "load it from its file or URL" in operation.unusable_bodies[0].reason


def test_local_files_are_not_shown_to_documents_of_the_network() -> None:
    origin = Provenance("http://127.0.0.1:9/openapi.json", read=None)
    schema = OpenApiSchema(document({}), origin)
    assert _name_of(schema, "//example.com/a.yaml") == "http://example.com/a.yaml"
    assert _name_of(schema, "http://127.0.0.1:9/a.yaml") == "a.yaml"


def test_protocol_relative_references_of_files_are_https(tmp_path: Path) -> None:
    schema = from_path(written(tmp_path, {"openapi.json": document({})}))
    assert _name_of(schema, "//example.com/a.yaml") == "https://example.com/a.yaml"


def test_own_name_of_the_document_is_what_references_are_relative_to(tmp_path: Path) -> None:
    own = "https://example.com/api/openapi"
    main = document({"$ref": f"{own}#/components/schemas/User"}, "3.2.0")
    main |= {"$self": own, "components": {"schemas": {"User": {"$ref": "user.json"}}}}
    path = written(tmp_path, {"copy.json": main, "user.json": USER})
    assert_both(from_path(path), {"id": 1}, {"id": "x"})


def test_lost_parameter_breaks_its_own_operation_only() -> None:
    lost = {"parameters": [{"$ref": "#/components/parameters/Gone"}]}
    schema = from_dict({"openapi": "3.0.3", "paths": {"/a": {"get": lost, "put": {}}, "/b": {"get": {}}}})
    found = list(schema.get_all_operations())
    assert [isinstance(one, BrokenOperation) for one in found] == [True, False, False]


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
def test_properties_of_a_part_in_another_file_refer_within_that_file(tmp_path: Path, version: str) -> None:
    user = {"properties": {"id": {"$ref": "#/Id"}}}
    part = {"allOf": [{"$ref": "user.json#/User"}]}
    path = written(
        tmp_path, {"openapi.json": document(part, version), "user.json": {"User": user, "Id": {"type": "integer"}}}
    )
    assert_both(from_path(path), {"id": 1}, {"id": "x"})


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
def test_cases_are_made_of_what_stands_in_other_files(tmp_path: Path, version: str) -> None:
    node = {**TREE["Node"], "required": ["n"], "additionalProperties": False}
    main = document({"$ref": "more/tree.json#/Node"}, version)
    main["components"] = {"schemas": {"Node": {"$ref": "more/tree.json#/Node"}}}
    main["paths"]["/a"]["post"]["requestBody"]["required"] = True
    path = written(tmp_path, {"openapi.json": main, "more/tree.json": {"Node": node}})
    operation = open_normalised(from_path(path).normalised()).find("POST /a")
    assert isinstance(operation, OpenApiOperation)
    program = compile_operation(operation, GenerationSettings())
    source, maker = RandomSource(0), RequestMaker(BaseUrl("http", "h", 80, ""), version="0")
    for seed in range(30):
        source.reset(seed)
        case = program.draw(source, case_id=str(seed), phase=PhaseInfo("fuzzing"))
        assert isinstance(case.body["n"], int)
        assert opinions(operation.bodies[0].schema, case.body) == (True, True)
        assert operation.judge_request(maker.make(case)).outcome == "valid"


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
def test_a_dictionary_refers_to_files_by_their_urls(tmp_path: Path, version: str) -> None:
    # With a blank, a file below and one beside it.
    url = written(tmp_path, {"a b/user.json": {"$ref": "../id.json"}, "id.json": USER}).as_uri()
    schema = from_dict(document({"$ref": url}, version))
    assert_both(schema, {"id": 1}, {"id": "x"})
    again = open_normalised(schema.normalised())
    assert_both(again, {"id": 1}, {"id": "x"})


def test_a_relative_reference_of_a_dictionary_has_nowhere_to_start(tmp_path: Path) -> None:
    (operation,) = from_dict(document({"$ref": "user.json"})).get_all_operations()
    assert isinstance(operation, OpenApiOperation)
    (fault,) = operation.unusable_bodies
    assert "user.json cannot be found, because the schema came without a location" in fault.reason


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
@pytest.mark.parametrize("host", ["file://", "file://description"])
def test_a_document_of_the_network_reads_no_file_whoever_refers_to_it(tmp_path: Path, version: str, host: str) -> None:
    secret = written(tmp_path, {"secret.json": USER})
    stranger = {"User": {"$ref": f"{host}{secret}"}}
    with serving(lambda _: json_reply(stranger), {}) as app:
        main = document({"$ref": f"{app.url}/user.json#/User"}, version)
        path = written(tmp_path, {"openapi.json": main})
        for schema in (from_path(path), open_normalised(from_path(path).normalised())):
            (operation,) = schema.get_all_operations()
            assert isinstance(operation, OpenApiOperation)
            (fault,) = operation.unusable_bodies
            assert "must not refer to it" in fault.reason
            assert USER not in schema.document.neighbours.known.values()


def test_a_reference_goes_through_what_stands_on_its_way(tmp_path: Path) -> None:
    parts = {
        "A": {"type": "object", "properties": {"b": {"$ref": "#/components/schemas/B"}}},
        "B": {"allOf": [{"$ref": "more.json#/User"}]},
        "Round": {"$ref": "#/components/schemas/Round/properties/x"},
    }
    way = "#/components/schemas/A/properties/b/allOf/0/properties/id"
    main = document({"properties": {"n": {"$ref": way}}}, components={"schemas": parts})
    files = {"openapi.json": main, "more.json": {"User": {"$ref": "#/Real"}, "Real": USER}}
    schema = from_path(written(tmp_path, files))
    for one in (schema, open_normalised(schema.normalised())):
        is_valid = compile_schema(body(one), Direction.REQUEST).is_valid
        assert (is_valid({"n": 1}), is_valid({"n": "x"})) == (True, False)
        # By the letter the reference means nothing, so the second opinion accepts what it likes.
        assert opinions(body(one), {"n": 1}) == (True, True)
    with pytest.raises(UnresolvableReference, match="leads through itself"):
        schema.document.resolve("#/components/schemas/Round/properties/x", at="#")
