"""Descriptions whose references lead in circles, nowhere, or too far."""

from collections.abc import Mapping
from typing import Any, Final

from tests.hostile.making import BOTH, OBJECT, OK, TEXT, Row, S, body, parameter, paths, posting


def _chain(count: int) -> dict[str, Any]:
    links = {f"S{n}": {"$ref": f"#/components/schemas/S{n + 1}"} for n in range(count)}
    return {**links, f"S{count}": TEXT}


LOST: Final = "points at nothing"

REFERENCES: Mapping[str, Row] = {
    "to itself": Row(body({"$ref": S + "A"}, A={"$ref": S + "A"}), fails="leads back to itself"),
    "to each other": Row(
        body({"$ref": S + "A"}, A={"$ref": S + "B"}, B={"$ref": S + "A"}), fails="leads back to itself"
    ),
    "through allOf": Row(body({"$ref": S + "A"}, A={"allOf": [{"$ref": S + "A"}]}), says="contains itself in its `allOf`"),
    "through allOf of two": Row(
        body({"$ref": S + "A"}, A={"allOf": [{"$ref": S + "B"}]}, B={"allOf": [OBJECT, {"$ref": S + "A"}]}),
        says="contains itself in its `allOf`", tested=BOTH,
    ),
    "through anyOf": Row(body({"$ref": S + "A"}, A={"anyOf": [{"$ref": S + "A"}]}), fails="#/components/schemas/A"),
    "through oneOf, with a way out": Row(body({"$ref": S + "A"}, A={"oneOf": [{"$ref": S + "A"}, TEXT]})),
    "through not": Row(body({"$ref": S + "A"}, A={"not": {"$ref": S + "A"}})),
    "through a required property": Row(
        body({"$ref": S + "A"}, A={**OBJECT, "required": ["a"], "properties": {"a": {"$ref": S + "A"}}}),
        fails="#/components/schemas/A",
    ),
    "through an optional property": Row(
        body({"$ref": S + "A"}, A={**OBJECT, "properties": {"a": {"$ref": S + "A"}}}), tested=BOTH
    ),
    "through required items": Row(
        body({"$ref": S + "A"}, A={"type": "array", "minItems": 1, "items": {"$ref": S + "A"}}),
        fails="#/components/schemas/A",
    ),
    "through a discriminator": Row(
        body(
            {"$ref": S + "A"},
            A={"oneOf": [{"$ref": S + "B"}], "discriminator": {"propertyName": "k"}},
            B={"allOf": [{"$ref": S + "A"}, OBJECT]},
        ),
        fails="#/",
    ),
    "through the mapping of a discriminator": Row(
        body(
            {"oneOf": [{"$ref": S + "A"}], "discriminator": {"propertyName": "k", "mapping": {"a": S + "M", "b": "nowhere.json"}}},
            A={**OBJECT, "properties": {"k": TEXT}},
            M={"$ref": S + "M"},
        )
    ),
    "through $dynamicRef": Row(
        body({"$ref": S + "A"}, "3.1.0", A={"$dynamicAnchor": "a", "$dynamicRef": "#a"})
    ),
    "through $dynamicRef, optional": Row(
        body({"$ref": S + "A"}, "3.1.0", A={"$dynamicAnchor": "a", "properties": {"a": {"$dynamicRef": "#a"}}}),
        tested=BOTH,
    ),
    "through $recursiveRef": Row(
        body(
            {"$ref": S + "A"}, "3.1.0",
            A={"$schema": "https://json-schema.org/draft/2019-09/schema", "$id": "a", "$recursiveAnchor": True, "$recursiveRef": "#"},
        )
    ),
    "through $defs of its own": Row(
        body({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}, "$id": "http://e.example/a"}, "3.1.0"), fails="leads back"
    ),
    "five thousand in a row": Row(body({"$ref": S + "S0"}, **_chain(5000)), fails="too deeply"),
    "to all of the document": Row(body({"$ref": "#"}), tested=BOTH),
    "to all of the document, 3.1": Row(body({"$ref": "#"}, "3.1.0"), tested=BOTH),
    "to a text": Row(body({"$ref": "#/info/title"}), tested=("GET /ok",)),
    "to nowhere": Row(body({"$ref": S + "None"}), fails=LOST),
    "to nowhere inside": Row(body({**OBJECT, "properties": {"a": {"$ref": S + "None"}}}), fails=LOST),
    "to a file that is not there": Row(body({"$ref": "file:///nowhere/a.json"}), fails=LOST),
    "to a device": Row(body({"$ref": "file:///dev/zero"}), fails=LOST),
    "to a parent folder": Row(body({"$ref": "../" * 100 + "etc/passwd#/a"}), fails=LOST),
    "to a scheme that is none": Row(body({"$ref": "gopher://x/1"}), fails=LOST),
    "to no URI": Row(body({"$ref": "http://[::1"}), fails=LOST),
    "by a bad escape": Row(body({"$ref": "#/components/schemas/a~2b%zz"}), fails=LOST),
    "by a pointer without end": Row(body({"$ref": "#" + "/a" * 100_000}), fails=LOST),
    "by a large index": Row(body({"$ref": "#/paths/~1a/post/parameters/99999999999999999999"}), fails=LOST),
    "by digits of another script": Row(body({"$ref": "#/tags/\u0661"}), fails=LOST),
    "by a name that is no text": Row(body({"$ref": 5, "type": "string"}), tested=BOTH),
    "by a list": Row(body({"$ref": ["#"]}), tested=BOTH),
    "with siblings": Row(body({"$ref": S + "A", "type": "integer", "maximum": -1}, A=TEXT), tested=BOTH),
    "with siblings, 3.1": Row(body({"$ref": S + "A", "type": "integer"}, "3.1.0", A=TEXT), fails="type"),
    "path items in a circle": Row(paths({"/a": {"$ref": "#/paths/~1b"}, "/b": {"$ref": "#/paths/~1a"}}), fails="leads back"),
    "a path item that is its own": Row(paths({"/a": {"$ref": "#/paths/~1a"}}), fails="leads back"),
    "parameters in a circle": Row(
        posting({"parameters": [{"$ref": "#/components/parameters/A"}]}, components={"parameters": {"A": {"$ref": "#/components/parameters/A"}}}),
        fails="leads back",
    ),
    "a parameter that is its own list": Row(posting({"parameters": [{"$ref": "#/paths/~1a/post/parameters"}]}), fails="must be an object"),
    "a body that is its own": Row(posting({"requestBody": {"$ref": "#/paths/~1a/post/requestBody"}}), fails="leads back"),
    "responses in a circle": Row(
        posting({"responses": {"200": {"$ref": "#/components/responses/A"}}}, components={"responses": {"A": {"$ref": "#/components/responses/A"}}}),
        says="leads back",
    ),
    "headers in a circle": Row(
        posting({"responses": {"200": {"headers": {"X-A": {"$ref": "#/components/headers/A"}}}}}, components={"headers": {"A": {"$ref": "#/components/headers/A"}}}),
        says="leads back",
    ),
    "examples in a circle": Row(
        parameter(schema=TEXT, examples={"a": {"$ref": "#/paths/~1a/post/parameters/0/examples/a"}}), tested=BOTH
    ),
    "links in a circle": Row(
        posting({"responses": {"200": {"links": {"l": {"$ref": "#/paths/~1a/post/responses/200/links/l"}}}}}), says="leads back"
    ),
    "security schemes in a circle": Row(
        posting({**OK, "security": [{"k": []}]}, components={"securitySchemes": {"k": {"$ref": "#/components/securitySchemes/k"}}})
    ),
    "ids that are all the same": Row(
        body({"$ref": "same"}, "3.1.0", **{f"S{n}": {"$id": "same", "type": "string"} for n in range(500)}), tested=BOTH
    ),
    "an id that is a fragment of itself": Row(body({"$id": "#a", "$anchor": "a", "$ref": "#a"}, "3.1.0"), fails="leads back to itself"),
    "a dialect that is its own": Row(
        body({"$ref": S + "A"}, "3.1.0", A={"$id": "http://e.example/m", "$schema": "http://e.example/m", "type": "string"}), tested=BOTH
    ),
    "a dialect that is no text": Row(body({"$schema": {}, "type": "string"}, "3.1.0"), tested=BOTH),
}  # fmt: skip
