import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from checker.core.errors import LoaderError
from checker.core.meta import PhaseInfo
from checker.core.operation import BrokenOperation
from checker.core.request import Origin
from checker.core.schema import Direction, Schema, UnresolvableReference
from checker.generation.program import GenerationSettings, compile_operation
from checker.generation.sources.choices import RandomSource
from checker.openapi.documents.fetching import Web, beside_file, beside_url
from checker.openapi.documents.neighbours import Provenance
from checker.openapi.loaders import from_dict, from_path, from_url, open_normalised
from checker.openapi.operation import OpenApiOperation
from checker.openapi.schema import OpenApiSchema
from checker.transport.prepare import RequestMaker
from checker.validation.compiled import compile_schema
from checker.validation.referee import referee

USER = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}
TREE = {
    "Node": {
        "properties": {
            "next": {"$ref": "../openapi.json#/components/schemas/Node"},
            "n": {"type": "integer"},
        }
    }
}


def post(schema: Any) -> dict[str, Any]:
    return {"post": {"requestBody": {"content": {"application/json": {"schema": schema}}}}}


def document(schema: Any, version: str = "3.0.3", **more: Any) -> dict[str, Any]:
    return {"openapi": version, "info": {}, "paths": {"/a": post(schema)}, **more}


def written(folder: Path, files: dict[str, Any]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return folder / next(iter(files))


def body(schema: OpenApiSchema) -> Schema:
    operation = schema.find("POST /a")
    assert isinstance(operation, OpenApiOperation), operation
    return operation.bodies[0].schema


def opinions(schema: Schema, value: Any) -> tuple[bool, bool]:
    first = compile_schema(schema, Direction.REQUEST).is_valid(value)
    return first, not referee(schema, Direction.REQUEST).errors(value)


def assert_both(schema: OpenApiSchema, valid: Any, invalid: Any) -> None:
    for one in (schema, open_normalised(schema.normalised())):
        assert opinions(body(one), valid) == (True, True)
        assert opinions(body(one), invalid) == (False, False)


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
    read = beside_file(path)

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
def test_lost_reference_names_place_reason_and_nearest_name(
    tmp_path: Path, raw: Any, words: str
) -> None:
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
    assert (
        schema.document.neighbours.joined("", "//example.com/a.yaml") == "http://example.com/a.yaml"
    )
    assert schema.document.neighbours.joined("", "http://127.0.0.1:9/a.yaml") == "a.yaml"


def test_protocol_relative_references_of_files_are_https(tmp_path: Path) -> None:
    schema = from_path(written(tmp_path, {"openapi.json": document({})}))
    assert (
        schema.document.neighbours.joined("", "//example.com/a.yaml")
        == "https://example.com/a.yaml"
    )


NAMED = {
    "by id": ({"$ref": "user.schema"}, {"U": {"$id": "user.schema", **USER}}),
    "by anchor": ({"$ref": "#user"}, {"U": {"$anchor": "user", **USER}}),
    "by id and anchor": (
        {"$ref": "all#user"},
        {"U": {"$id": "all", "$defs": {"u": {"$anchor": "user", **USER}}}},
    ),
    "pointer inside a named schema": (
        {"$ref": "#/components/schemas/U"},
        {
            "U": {
                "$id": "http://example.com/u",
                "allOf": [{"$ref": "#/$defs/u"}],
                "$defs": {"u": USER},
            }
        },
    ),
    "relative to the name around": (
        {"$ref": "#/components/schemas/U"},
        {
            "U": {"$id": "http://example.com/deep/u", "allOf": [{"$ref": "v"}]},
            "V": {"$id": "http://example.com/deep/v", **USER},
        },
    ),
    "older dialect inside": (
        {"$ref": "#/components/schemas/U"},
        {
            "U": {
                "$id": "http://example.com/old",
                "$schema": "http://json-schema.org/draft-07/schema#",
                "properties": {"id": {"$ref": "#/definitions/i", "minimum": 7}},
                "definitions": {"i": {"type": "integer"}},
            }
        },
    ),
    "dynamic": (
        {"$ref": "#/components/schemas/Users"},
        {
            "List": {
                "$id": "list",
                "type": "object",
                "properties": {"id": {"$dynamicRef": "#item"}},
                "$defs": {"any": {"$dynamicAnchor": "item"}},
            },
            "Users": {
                "$id": "users",
                "$ref": "list",
                "$defs": {"one": {"$dynamicAnchor": "item", "type": "integer"}},
            },
        },
    ),
}


@pytest.mark.parametrize("case", NAMED)
def test_names_in_schemas_count_since_3_1(case: str) -> None:
    raw, schemas = NAMED[case]
    schema = from_dict(document(raw, "3.1.0", components={"schemas": schemas}))
    assert_both(schema, {"id": 1}, {"id": "x"})


def test_names_in_examples_are_data() -> None:
    example = {"properties": {"x": {"$id": "user.schema"}}}
    main = document({"$ref": "user.schema", "example": example}, "3.1.0")
    operation = from_dict(main).find("POST /a")
    assert isinstance(operation, OpenApiOperation)
    assert operation.unusable_bodies


@pytest.mark.parametrize("name", ["http://[", 5, "", "#", None, "http://example.com/%zz"])
def test_name_that_is_none_names_nothing(name: Any) -> None:
    schemas = {"U": {"$id": name, "$anchor": name, "allOf": [USER]}}
    schema = from_dict(
        document({"$ref": "#/components/schemas/U"}, "3.1.0", components={"schemas": schemas})
    )
    assert_both(schema, {"id": 1}, {"id": "x"})


def test_names_in_schemas_beside_the_document(tmp_path: Path) -> None:
    named = {
        "$id": "http://example.com/s",
        "allOf": [{"$ref": "#u"}],
        "$defs": {"a": {"$anchor": "u", **USER}},
    }
    path = written(tmp_path, {"o.json": document({"$ref": "s.json"}, "3.1.0"), "s.json": named})
    assert_both(from_path(path), {"id": 1}, {"id": "x"})


def test_dialect_of_the_whole_document_is_honoured() -> None:
    pair = {"items": [{"type": "integer"}]}
    dialect = {"jsonSchemaDialect": "http://json-schema.org/draft-07/schema#"}
    assert_both(from_dict(document(pair, "3.1.0", **dialect)), [1], ["x"])


def test_own_name_of_the_document_is_what_references_are_relative_to(tmp_path: Path) -> None:
    own = "https://example.com/api/openapi"
    main = document({"$ref": f"{own}#/components/schemas/User"}, "3.2.0")
    main |= {"$self": own, "components": {"schemas": {"User": {"$ref": "user.json"}}}}
    path = written(tmp_path, {"copy.json": main, "user.json": USER})
    assert_both(from_path(path), {"id": 1}, {"id": "x"})


def test_lost_parameter_breaks_its_own_operation_only() -> None:
    lost = {"parameters": [{"$ref": "#/components/parameters/Gone"}]}
    schema = from_dict(
        {"openapi": "3.0.3", "paths": {"/a": {"get": lost, "put": {}}, "/b": {"get": {}}}}
    )
    found = list(schema.get_all_operations())
    assert [isinstance(one, BrokenOperation) for one in found] == [True, False, False]


class _Shelf(BaseHTTPRequestHandler):
    pages: ClassVar[dict[str, bytes]] = {}
    seen: ClassVar[list[tuple[str, str | None]]] = []

    def do_GET(self) -> None:
        type(self).seen.append((self.path, self.headers.get("X-Key")))
        body = self.pages.get(self.path)
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def shelf() -> Iterator[str]:
    _Shelf.seen.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Shelf)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_urls_are_read_relative_to_the_document_and_once(shelf: str) -> None:
    refs = [
        {"$ref": "../common/u.json"},
        {"$ref": f"//{shelf}/common/u.json"},
        {"$ref": f"http://{shelf}/common/u.json#"},
    ]
    lost = [{"$ref": "gone.json"}, {"$ref": "gone.json#/x"}]
    _Shelf.pages = {
        "/api/openapi.json": json.dumps(document({"allOf": refs, "x-lost": lost})).encode(),
        "/common/u.json": json.dumps(USER).encode(),
    }
    schema = from_url(f"http://{shelf}/api/openapi.json", headers={"X-Key": "1"})
    assert_both(schema, {"id": 1}, {"id": "x"})
    asked = sorted(path for path, _ in _Shelf.seen)
    assert asked == ["/api/gone.json", "/api/openapi.json", "/common/u.json"]
    assert {key for _, key in _Shelf.seen} == {"1"}


def test_other_hosts_are_not_shown_the_credentials_and_silent_ones_are_asked_once(
    shelf: str,
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        silent = f"http://127.0.0.1:{closed.getsockname()[1]}"
        _Shelf.pages = {"/u.json": json.dumps(USER).encode()}
        web = Web({"headers": {"X-Key": "secret"}})
        read = beside_url(f"{silent}/openapi.json", web)
        assert read(f"http://{shelf}/u.json") == USER
        assert _Shelf.seen == [("/u.json", None)]
        with pytest.raises(LoaderError, match=r"/a\.json refused the connection"):
            read("a.json")
        # Each is named by its own address, never by the one that was asked for first.
        with pytest.raises(
            LoaderError, match=r"/b\.json is not asked for: .* did not answer before"
        ):
            read("b.json")


def test_network_documents_never_name_local_files(tmp_path: Path) -> None:
    secret = written(tmp_path, {"secret.json": USER})
    read = beside_url("http://127.0.0.1:9/openapi.json", Web({}))
    with pytest.raises(LoaderError, match="use an http"):
        read(secret.as_uri())


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
    source, maker = RandomSource(0), RequestMaker(Origin("http", "h", 80, ""), version="0")
    for seed in range(30):
        source.reset(seed)
        case = program.draw(source, case_id=str(seed), phase=PhaseInfo("fuzzing"))
        assert isinstance(case.body["n"], int)
        assert opinions(operation.bodies[0].schema, case.body) == (True, True)
        assert operation.judge_request(maker.make(case)).outcome == "valid"
