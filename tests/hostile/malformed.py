"""Operations one part of which is of the wrong type, and what has to be said of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.hostile.making import OK, TEXT, described


@dataclass(frozen=True)
class Fault:
    """A path item that is wrong somewhere."""

    item: Any
    says: str = ""
    """Words of a warning; the operation is tested all the same."""
    fails: str = ""
    """Words of its error; nothing is sent."""


def _post(operation: Any, says: str = "", fails: str = "") -> Fault:
    return Fault({"post": operation}, says, fails)


def _parameter(says: str = "", fails: str = "", **raw: Any) -> Fault:
    return _post({**OK, "parameters": [{"name": "q", "in": "query", **raw}]}, says, fails)


def _body(raw: Any, says: str = "", fails: str = "") -> Fault:
    return _post({**OK, "requestBody": raw}, says, fails)


def _media(says: str = "", fails: str = "", required: Any = False, **raw: Any) -> Fault:
    body = {"content": {"application/json": raw}, "required": required}
    return _body(body, says, fails)


def _response(says: str, raw: Any) -> Fault:
    return _post({"responses": {"200": raw}}, says)


def _answer(says: str, **raw: Any) -> Fault:
    return _response(says, {"description": "", **raw})


def _form(says: str, encoding: Any) -> Fault:
    schema = {"type": "object", "properties": {"a": TEXT}}
    content = {"multipart/form-data": {"schema": schema, "encoding": encoding}}
    return _body({"content": content}, says)


_OF_ALL_VERSIONS: Final[Mapping[str, Fault]] = {
    "parameters of a mapping": _post({**OK, "parameters": {"a": {}}}, fails="must be a list of parameters; found an object"),
    "parameters of text": _post({**OK, "parameters": "a"}, fails="must be a list of parameters; found text"),
    "common parameters of a mapping": Fault({"parameters": {"a": {}}, "post": OK}, fails="must be a list of parameters"),
    "a parameter that is text": _post({**OK, "parameters": ["q"]}, fails="must be an object; found text"),
    "a parameter that is nothing": _post({**OK, "parameters": [None]}, fails="must be an object; found nothing"),
    "a parameter whose name is a number": _post({**OK, "parameters": [{"name": 5, "in": "query"}]}, "has a number as its `name`"),
    "a parameter in a list": _post({**OK, "parameters": [{"name": "q", "in": ["query"]}]}, "has no `in`"),
    "a reference that is a number": _post({**OK, "parameters": [{"$ref": 5}]}, "`$ref` at"),
    "an operation that is text": _post("x", fails="is not an object"),
    "an operation that is a list": _post([], fails="is not an object"),
    "an operation that is nothing": _post(None, fails="is not an object"),
    "a path item that is a list": Fault([{"post": OK}], fails="is not an object"),
    "a path item that is text": Fault("x", fails="is not an object"),
    "a path item of no reference": Fault({"$ref": 5}, fails="the `$ref` of the path item"),
    "responses that are a list": _post({"responses": [200]}, "`responses` at"),
    "responses that are text": _post({"responses": "200"}, "must be an object; found text, which is ignored"),
    "responses that are nothing": _post({"responses": None}, "must be an object; found nothing"),
    "a response that is text": _response("the response at", "fine"),
    "a response that is nothing": _response("the response at", None),
    "headers that are a list": _answer("`headers` at", headers=["X-A"]),
    "a header that is a number": _answer("the header at", headers={"X-A": 5}),
    "a status that is a word": _post({"responses": {"200": {"description": ""}, "okay": {}}}, "'okay' at"),
    "tags that are text": _post({**OK, "tags": "a"}, "`tags` at"),
    "an identifier that is a number": _post({**OK, "operationId": 5}, "`operationId` at"),
    "deprecated by a word": _post({**OK, "deprecated": "yes"}, "read as true"),
    "security that is a mapping": _post({**OK, "security": {"a": []}}, "`security` at"),
}  # fmt: skip
_OF_THREE: Final[Mapping[str, Fault]] = {
    "a parameter required by a word": _parameter("found text, which is read as true", schema=TEXT, required="yes"),
    "a parameter required by a number": _parameter("found a number, which is ignored", schema=TEXT, required=1),
    "a parameter whose schema is a number": _parameter("must be an object; found a number", schema=5),
    "a required parameter whose schema is a number": _parameter(fails="must be an object; found a number", schema=5, required=True),
    "a parameter whose schema is a list": _parameter("must be an object; found a list", schema=[TEXT]),
    "a style that is a number": _parameter("`style` at", schema=TEXT, style=5),
    "explode by a word": _parameter("read as false", schema=TEXT, explode="no"),
    "content of a parameter that is nothing": _parameter("`content` at", content=None),
    "a media type of a parameter that is a number": _parameter("the media type at", content={"application/json": 5}),
    "a schema below a media type that is a number": _parameter("must be an object", content={"application/json": {"schema": 5}}),
    "examples that are a list": _parameter("`examples` at", schema=TEXT, examples=["a"]),
    "a body that is text": _body("x", "declares no `content`"),
    "a body that is nothing": _body(None, "`requestBody` at"),
    "content that is nothing": _body({"content": None}, "declares no `content`"),
    "required content that is nothing": _body({"content": None, "required": True}, fails="the required body cannot be made"),
    "content that is a list": _body({"content": ["application/json"]}, "declares no `content`"),
    "a media type that is a number": _body({"content": {"application/json": 5}}, "the media type at"),
    "a media type that is nothing": _body({"content": {"application/json": None}}, "the media type at"),
    "a body whose schema is a number": _media("must be an object", schema=5),
    "a required body whose schema is a list": _media(fails="the required body cannot be made", required=True, schema=[]),
    "a body required by a word": _media("read as true", required="true", schema=TEXT),
    "encoding that is a list": _form("`encoding` at", []),
    "an encoding that is a number": _form("the encoding at", {"a": 5}),
    "content of a response that is nothing": _answer("`content` at", content=None),
    "content of a response that is a list": _answer("`content` at", content=["application/json"]),
    "a media type of a response that is a number": _answer("the media type at", content={"application/json": 5}),
    "a response whose schema is a number": _answer("must be a schema; found a number", content={"application/json": {"schema": 5}}),
    "a response whose schema is nothing": _answer("must be a schema; found nothing", content={"application/json": {"schema": None}}),
    "items of a response that are nothing": _answer("cannot be", content={"application/json": {"schema": {"type": "array", "items": 5}}}),
    "an alternative that is a number": _answer("cannot be 5; it is ignored", content={"application/json": {"schema": {"oneOf": [5, {}]}}}),
    "a schema of a header that is a number": _answer("must be a schema", headers={"X-A": {"schema": 5}}),
    "links that are a list": _answer("`links` at", links=[]),
    "a property that is nothing": _media("cannot be null", schema={"type": "object", "properties": {"a": None}}),
    "a reference of a schema that is a number": _media("`$ref` at", schema={"$ref": 5}),
    "a discriminator that is text": _media("`discriminator` at", schema={"oneOf": [TEXT], "discriminator": "k"}),
    "servers that are a mapping": _post({**OK, "servers": {"url": "/a"}}, "`servers` at"),
    "callbacks that are a list": _post({**OK, "callbacks": []}, "`callbacks` at"),
}  # fmt: skip


def _swagger(says: str = "", fails: str = "", place: str = "query", **raw: Any) -> Fault:
    return _post({**OK, "parameters": [{"name": "q", "in": place, **raw}]}, says, fails)


_OF_TWO: Final[Mapping[str, Fault]] = {
    "a body whose schema is a number": _swagger("must be an object", place="body", schema=5),
    "a required body whose schema is a number": _swagger(fails="the required body cannot be made", place="body", schema=5, required=True),
    "a type that is a number": _swagger("`type` at", type=5),
    "items that are a number": _swagger("`items` at", type="array", items=5),
    "a collection format that is a list": _swagger("`collectionFormat` at", type="array", items=TEXT, collectionFormat=[]),
    "a field required by a word": _swagger("read as true", place="formData", type="string", required="yes"),
    "consumes that is text": _post({**OK, "consumes": "application/json", "parameters": [{"name": "b", "in": "body", "schema": TEXT}]}, "read as a list of it"),
    "produces that is a mapping": _post({**OK, "produces": {}}, "`produces` at"),
    "a response whose schema is a number": _answer("must be a schema; found a number", schema=5),
}  # fmt: skip
MALFORMED: Final[Mapping[str, Mapping[str, Fault]]] = {
    "2.0": {**_OF_ALL_VERSIONS, **_OF_TWO},
    "3.0.3": {**_OF_ALL_VERSIONS, **_OF_THREE},
    "3.1.0": {**_OF_ALL_VERSIONS, **_OF_THREE},
}


def malformed(version: str) -> dict[str, Any]:
    """A description with all faults of a version, each at a path of its own, beside a healthy operation."""
    items = {f"/{number}": fault.item for number, fault in enumerate(MALFORMED[version].values())}
    return described(items, version)
