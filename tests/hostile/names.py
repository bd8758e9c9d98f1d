"""Descriptions with odd names, paths, methods, servers and lists."""

from collections.abc import Mapping
from typing import Any, Final

from tests.hostile.making import BOTH, OBJECT, OK, TEXT, Row, parameter, paths, posting, written


def _keyed(**raw: Any) -> dict[str, Any]:
    return {"/a": {"post": {**OK, **raw}}}


ESCAPES: Final = "\x1b[31m\x1b]0;owned\x07\r\n\x00\u202e\u2028"
"""Colours, a window title, lines, zero, a change of direction."""
NAMES: Mapping[str, Row] = {
    "a path without a slash": Row(paths({"a": {"post": OK}}), tested=("GET /ok", "POST a")),
    "an empty path": Row(paths({"": {"post": OK}}), tested=("GET /ok",)),
    "a path that is a URL": Row(paths({"http://e.example/a": {"post": OK}}), tested=("GET /ok",)),
    "a path with a query": Row(paths({"/a?x={y}#z": {"post": OK}}), tested=("GET /ok",)),
    "a path that climbs": Row(paths({"/../../a//./b": {"post": OK}}), tested=("GET /ok",)),
    "a path with an open brace": Row(paths({"/a/{b": {"post": OK}}), tested=("GET /ok",)),
    "a path with a closed brace": Row(paths({"/a/b}": {"post": OK}}), tested=("GET /ok",)),
    "braces in braces": Row(paths({"/a/{{b}}/{}": {"post": OK}}), tested=("GET /ok",)),
    "one variable twice": Row(paths({"/{a}/{a}": {"post": OK}}), tested=("GET /ok",)),
    "variables that touch": Row(paths({"/{a}{b}{c}": {"post": OK}}), tested=("GET /ok",)),
    "a thousand variables": Row(paths({"/" + "/".join(f"{{v{n}}}" for n in range(1000)): {"post": OK}}), fails="100 are the limit", tested=("GET /ok",)),
    "a long path": Row(paths({"/" + "a" * 1_000_000: {"post": OK}}), fails="65,536 are the limit", tested=("GET /ok",)),
    "escapes in a path": Row(paths({f"/{ESCAPES}": {"post": OK}}), tested=("GET /ok",)),
    "half a pair in a path": Row(lambda: paths({"/HALF/{HALF}": {"post": OK}})().replace(b"HALF", b"\\ud800"), tested=("GET /ok",)),
    "escapes in a method": Row(paths({"/a": {"get": OK, ESCAPES: OK}}), says="is not known to"),
    "methods that are no objects": Row(paths({"/a": {"get": [], "put": 5, "post": "x", "delete": None}}), fails="is not an object"),
    "a path item that is a list": Row(paths({"/a": []}), fails="is not an object"),
    "equal operation ids": Row(paths({f"/{n}": {"get": {**OK, "operationId": "same"}} for n in range(50)})),
    "operation ids that are objects": Row(posting({**OK, "operationId": {}, "tags": {}, "deprecated": []}), tested=BOTH),
    "parameters that are an object": Row(posting({**OK, "parameters": {"a": {}}}), fails="must be a list of parameters"),
    "parameters that are no objects": Row(posting({**OK, "parameters": [5, None]}), fails="must be an object"),
    "a parameter without a name": Row(posting({**OK, "parameters": [{"in": "query"}]}), says="has no `name`", tested=BOTH),
    "a parameter in an unknown place": Row(posting({**OK, "parameters": [{"name": "a", "in": "moon"}]}), says="which is not known", tested=BOTH),
    "escapes in a parameter": Row(
        posting({**OK, "parameters": [{"name": ESCAPES, "in": place, "required": True, "schema": TEXT} for place in ("query", "header", "cookie")]})
    ),
    "five hundred parameters": Row(
        posting({**OK, "parameters": [{"name": f"p{n}", "in": "query", "schema": TEXT} for n in range(500)]}), tested=BOTH
    ),
    "styles that are none": Row(parameter(schema={"type": "array"}, style="banana", explode="yes"), tested=("GET /ok",)),
    "a media type that is none": Row(
        posting({"requestBody": {"required": True, "content": {ESCAPES: {}, "": {}, "a": {}}}, **OK}), fails="is not a media type"
    ),
    "a body without content": Row(posting({**OK, "requestBody": {"required": True, "content": {}}}), fails="declares no `content`"),
    "a body that is a list": Row(posting({**OK, "requestBody": []}), says="declares no `content`", tested=BOTH),
    "two bodies in Swagger": Row(
        posting({**OK, "parameters": [{"name": "a", "in": "body", "schema": TEXT}, {"name": "b", "in": "body", "schema": {}}]}, "2.0"),
        says="has 2 `body` parameters", tested=BOTH,
    ),
    "statuses that are none": Row(posting({"responses": {"banana": {}, "-1": [], "99999": "x", "": None}}), tested=BOTH),
    "responses that are a list": Row(posting({"responses": [200]}), tested=BOTH),
    "security of nobody": Row(posting({**OK, "security": [{"nobody": []}, 5, {ESCAPES: "x"}]}), says="is not declared", tested=BOTH),
    "servers that run scripts": Row(paths(_keyed(servers=[{"url": "javascript:alert(1)"}]), servers=[{"url": "file:///etc"}]), tested=BOTH),
    "servers of templates to nowhere": Row(
        paths(_keyed(servers=[{"url": "{a}://{b}:{c}/{d", "variables": {"a": 5, "b": {"default": []}}}]), servers=["x", None, {"url": 5}]), tested=BOTH
    ),
    "a server with a port that is none": Row(paths(_keyed(servers=[{"url": "http://127.0.0.1:99999999/"}])), tested=BOTH),
    "a basePath that is a list": Row(paths(_keyed(), "2.0", basePath=["/"], host={}, schemes="http"), tested=BOTH),
    "an info that is a text": Row(lambda: written({"openapi": "3.0.3", "info": ESCAPES, "paths": {"/ok": {"get": OK}}})),
    "components that are a list": Row(posting(OK, components=[1]), tested=BOTH),
    "a link to nowhere": Row(
        posting({"responses": {"200": {"links": {"l": {"operationId": ESCAPES}, "m": {"operationRef": "#/x"}, "n": 5}}}}), says="", tested=BOTH
    ),
    "a link of bad expressions": Row(
        posting({"operationId": "a", "responses": {"200": {"links": {"l": {"operationId": "a", "parameters": {"q": "$response.body#/" + "a/" * 9999, "$": "$request.{"}}}}}}),
        tested=BOTH,
    ),
    "encodings that are none": Row(
        posting({**OK, "requestBody": {"content": {"multipart/form-data": {"schema": OBJECT, "encoding": {"a": 5, "b": {"headers": [], "contentType": 5}}}}}}),
        tested=BOTH,
    ),
    "XML of escapes": Row(
        posting({**OK, "requestBody": {"content": {"application/xml": {"schema": {**OBJECT, "xml": {"name": ESCAPES, "prefix": 5}, "properties": {"a": {"xml": []}}}}}}})
    ),
    "callbacks in a circle": Row(posting({**OK, "callbacks": {"c": {"$ref": "#/paths/~1a/post/callbacks/c"}}}), tested=BOTH),
}  # fmt: skip
