"""An API that does what its description says and no more: right requests are served, wrong ones refused."""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from enum import Enum
from itertools import count
from threading import Lock
from typing import Any
from urllib.parse import parse_qsl, unquote, unquote_to_bytes

from msgspec.structs import replace

from tests.apps.document import METHODS, Described, Document, Missing
from tests.apps.http import Reply, Request
from tests.apps.mock import Mock
from tests.apps.witness import Witness

_IGNORED = frozenset({"accept", "content-type", "authorization"})
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_INTEGER = re.compile(r"-?(0|[1-9]\d*)", re.ASCII)
_UNSURE_WORDS = frozenset(
    {
        "discriminator",
        "readOnly",
        "contentEncoding",
        "contentMediaType",
        "contentSchema",
        "$dynamicRef",
        "$anchor",
        "$id",
        "xml",
    }
)
_SURE_FORMATS = frozenset({"int32", "int64", "float", "double", "password", "binary"})
_IDENTIFIER = re.compile(r"(?i)(^|_)(id|uuid)$|[a-z]Id$")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LIMITS = frozenset({"limit", "perpage", "pagesize", "maxresults", "pagelimit"})
REFUSED = {"description": "Refused."}
SERVED = {"description": "Served."}


class Sight(Enum):
    """What can be said of a request by the letter of the description."""

    RIGHT = "right"
    WRONG = "wrong"
    UNSURE = "unsure"
    """This decoder does not read it; such requests are forbidden, which proves nothing."""


def prepared(root: dict[str, Any]) -> dict[str, Any]:
    """A copy of a description whose operations may refuse and may serve, and ask for no credentials."""
    document = deepcopy(root)
    document.pop("security", None)
    for item in (document.get("paths") or {}).values():
        if not isinstance(item, dict):
            continue
        for method, operation in item.items():
            if method.lower() in METHODS and isinstance(operation, dict):
                operation.pop("security", None)
                responses = operation.setdefault("responses", {})
                if isinstance(responses, dict):
                    if not any(str(one)[0] in "23d" for one in responses if one):
                        responses["200"] = SERVED
                    for status in ("400", "403", "404", "415"):
                        responses[status] = REFUSED
    return document


class Exact(Mock):
    """Serves what is right, refuses what is wrong, keeps what was made and forgets what was deleted."""

    def __init__(self, root: dict[str, Any], *, prefix: str = "") -> None:
        super().__init__(root, prefix=prefix)
        self.sights: dict[Sight, int] = dict.fromkeys(Sight, 0)
        self._eyes = Eyes(self.document)
        self._deleted: set[bytes] = set()
        self._numbers = count(1000)
        self._lock = Lock()
        self._begins = prefix.encode()

    def __call__(self, request: Request) -> Reply:
        path = request.target.partition(b"?")[0]
        segments = [unquote_to_bytes(part) for part in path.removeprefix(self._begins).split(b"/")]
        found = self.find(request.method, segments, request.headers) if path.startswith(self._begins) else None
        if found is None:
            return self._undeclared(request.method, segments)
        operation, values = found
        sight = self._eyes.sight(operation, request, values)
        with self._lock:
            self.sights[sight] += 1
            self.answered.add(operation.label)
            if self._eyes.lacks_credentials(operation, request):
                return Reply(401)
            if sight is not Sight.RIGHT:
                return Reply(400 if sight is Sight.WRONG else 403)
            return _limited(self._served(operation, path), request)

    def _undeclared(self, method: str, segments: list[bytes]) -> Reply:
        others = sorted(one for one in self._routes if self.find(one, segments))
        if not others:
            return Reply(404)
        status = 204 if method == "OPTIONS" else 405
        return Reply(status, headers=(("Allow", ", ".join(others)),))

    def _served(self, operation: Described, path: bytes) -> Reply:
        above = [gone for gone in self._deleted if _is_below(path, gone)]
        if operation.method in ("POST", "PUT"):
            if any(gone != path for gone in above):
                # Nothing is made in what is gone: nobody could read it.
                return Reply(404)
            # What is made, and all that stands below it, is there again.
            self._deleted = {gone for gone in self._deleted if not _is_below(gone, path)}
        elif above:
            return Reply(404)
        reply = self.reply(operation)
        if reply.status >= 400:
            # No value is what its description promises: nobody can serve it by the letter.
            return Reply(403)
        if operation.method == "DELETE" and 200 <= reply.status < 300:
            self._deleted.add(path)
        return self._numbered(operation, reply) if operation.method == "POST" else self._without_deleted(path, reply)

    def _without_deleted(self, path: bytes, reply: Reply) -> Reply:
        """A list without the members that were deleted."""
        items = json.loads(reply.body) if reply.body.startswith(b"[") and "json" in (reply.media_type or "") else ()
        kept = [
            one
            for one in items
            if not isinstance(one, dict) or path + b"/" + str(one.get("id")).encode() not in self._deleted
        ]
        return reply if len(kept) == len(items) else replace(reply, body=json.dumps(kept).encode())

    def _numbered(self, operation: Described, reply: Reply) -> Reply:
        """The answer of a creation with identifiers of its own, where its schema admits them."""
        schema = self._schema_of(operation, reply)
        if schema is None:
            return reply
        value = json.loads(reply.body)
        number = next(self._numbers)
        for name, old in list(value.items()) if isinstance(value, dict) else []:
            if _IDENTIFIER.search(name) and not isinstance(old, bool):
                fresh = _fresh(old, number)
                if fresh is not None:
                    changed = {**value, name: fresh}
                    if self._builder.witness.problem(schema, changed) is None:
                        value = changed
        return Reply(reply.status, reply.media_type, json.dumps(value).encode(), reply.headers)

    def _schema_of(self, operation: Described, reply: Reply) -> Any:
        if not reply.body or "json" not in (reply.media_type or ""):
            return None
        for name, raw in (operation.raw.get("responses") or {}).items():
            if str(reply.status) == name or name == "default":
                raw = self.document.resolved(raw)
                if self.document.is_swagger:
                    return raw.get("schema")
                for item in (raw.get("content") or {}).values():
                    return self.document.resolved(item).get("schema")
        return None


def _limited(reply: Reply, request: Request) -> Reply:
    """A list with as many items as the request wants at most."""
    query = parse_qsl(request.target.partition(b"?")[2].decode("latin-1"))
    limits = [int(text) for name, text in query if name.lower().replace("_", "") in _LIMITS and text.isdecimal()]
    if not limits or "json" not in (reply.media_type or ""):
        return reply
    body = json.loads(reply.body)
    if isinstance(body, dict):
        body = {name: value[: limits[0]] if isinstance(value, list) else value for name, value in body.items()}
    cut = body[: limits[0]] if isinstance(body, list) else body
    return Reply(reply.status, reply.media_type, json.dumps(cut).encode(), reply.headers)


def _is_below(path: bytes, other: bytes) -> bool:
    return path == other or path.startswith(other.rstrip(b"/") + b"/")


def _fresh(old: Any, number: int) -> Any:
    if isinstance(old, int):
        return number
    if isinstance(old, str):
        return f"00000000-0000-4000-8000-{number:012d}" if _UUID.fullmatch(old) else str(number)
    return None


class Eyes:
    """Reads single values, lists of them in the default style, and JSON."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._witness = Witness(document, is_response=False)
        self._known: dict[str, bool] = {}

    def lacks_credentials(self, operation: Described, request: Request) -> bool:
        """Whether a request lacks a required parameter `Authorization`."""
        return "authorization" not in request.headers and any(
            one["in"] == "header" and one["name"].lower() == "authorization" and one.get("required")
            for one in self._document.parameters(operation)
        )

    def sight(self, operation: Described, request: Request, path: dict[str, bytes]) -> Sight:
        """What can be said of a whole request: wrong in one part is wrong."""
        try:
            sights = set(self._parts(operation, request, path))
        except Missing:
            return Sight.UNSURE
        for sight in (Sight.WRONG, Sight.UNSURE):
            if sight in sights:
                return sight
        return Sight.RIGHT

    def _parts(self, operation: Described, request: Request, path: dict[str, bytes]) -> Iterator[Sight]:
        query = parse_qsl(request.target.partition(b"?")[2].decode("latin-1"), True)
        pairs = [(unquote(name), value) for name, value in query]
        for parameter in self._document.parameters(operation):
            place, name = parameter["in"], parameter["name"]
            if place == "query":
                yield self._of_query(parameter, pairs, name)
            elif place == "path":
                if name not in path:
                    yield Sight.UNSURE
                else:
                    text = path[name].decode("utf-8", "replace")
                    yield self._of_texts(parameter, [text], is_single=True)
            elif place == "header":
                if name.lower() not in _IGNORED:
                    value = request.headers.get(name.lower())
                    found = [] if value is None else [value]
                    sight = self._of_texts(parameter, found, is_single=True)
                    # Blanks at both ends do not travel, and who knows what was before.
                    is_told = value is None or sight is Sight.RIGHT
                    yield sight if is_told else self._of_header(parameter, sight)
            elif place == "cookie":
                has_cookies = "cookie" in request.headers
                yield Sight.UNSURE if has_cookies or parameter.get("required") else Sight.RIGHT
            elif place == "formData":
                yield Sight.UNSURE
        yield self._of_body(operation, request)

    def _of_header(self, parameter: dict[str, Any], sight: Sight) -> Sight:
        return Sight.UNSURE if self._kind(self._schema(parameter)) == "string" else sight

    def _of_query(self, parameter: dict[str, Any], pairs: list[tuple[str, str]], name: str) -> Sight:
        values = [value for key, value in pairs if key == name]
        if not values and any(key.startswith((f"{name}[", f"{name}.")) for key, _ in pairs):
            return Sight.UNSURE
        schema = self._schema(parameter)
        if self._kind(schema) == "array":
            return self._of_list(parameter, schema, values)
        if self._kind(schema) not in ("integer", "number", "boolean", "string"):
            # Members of an exploded object stand beside the others.
            return Sight.RIGHT if not pairs and not parameter.get("required") else Sight.UNSURE
        return self._of_texts(parameter, values, is_single=True)

    def _of_list(self, parameter: dict[str, Any], schema: Any, values: list[str]) -> Sight:
        is_plain = parameter.get("style", "form") == "form" and parameter.get("explode", True)
        if self._document.is_swagger:
            is_plain = parameter.get("collectionFormat") == "multi"
        if not values:
            return (
                Sight.WRONG
                if parameter.get("required") and is_plain
                else (Sight.UNSURE if parameter.get("required") else Sight.RIGHT)
            )
        items = self._document.resolved(schema.get("items", {}))
        kind = self._kind(items)
        if not is_plain or kind not in ("integer", "number", "boolean", "string") or "" in values:
            return Sight.UNSURE
        found = [_read(value, kind) for value in values]
        if any(one is _WRONG or one is _UNSURE for one in found):
            return Sight.WRONG if all(one is not _UNSURE for one in found) else Sight.UNSURE
        return self._of_value(schema, found)

    def _of_texts(self, parameter: dict[str, Any], values: list[str], *, is_single: bool) -> Sight:
        if not values:
            return Sight.WRONG if parameter.get("required") else Sight.RIGHT
        schema = self._schema(parameter)
        kind = self._kind(schema)
        if kind not in ("integer", "number", "boolean", "string") or "content" in parameter:
            return Sight.UNSURE
        if len(values) > 1 or (not values[0] and kind != "string") or values[0] == "null":
            return Sight.UNSURE
        if not values[0] and (parameter.get("allowEmptyValue") or self._is_nullable(schema)):
            return Sight.UNSURE
        value = _read(values[0], kind)
        if value is _WRONG or value is _UNSURE:
            return Sight.WRONG if value is _WRONG else Sight.UNSURE
        return self._of_value(schema, value)

    def _of_body(self, operation: Described, request: Request) -> Sight:
        sent = request.headers.get("content-type")
        if self._document.is_swagger:
            body = next((p for p in self._document.parameters(operation) if p["in"] == "body"), None)
            if body is None:
                return Sight.RIGHT
            consumes = operation.raw.get("consumes") or self._document.root.get("consumes") or []
            contents = {name: {"schema": body.get("schema", {})} for name in consumes}
            is_required = body.get("required") is True
        else:
            described = self._document.resolved(operation.raw.get("requestBody") or {})
            if not described:
                return Sight.RIGHT
            contents = described.get("content") or {}
            is_required = described.get("required") is True
        if not request.body and sent is None:
            return Sight.WRONG if is_required else Sight.RIGHT
        if sent is None or not request.body:
            return Sight.UNSURE
        return self._of_content(contents, sent, request.body)

    def _of_content(self, contents: dict[str, Any], sent: str, body: bytes) -> Sight:
        name = sent.partition(";")[0].strip().lower()
        by_name = {key.partition(";")[0].strip().lower(): item for key, item in contents.items()}
        if not by_name or any("*" in key for key in by_name):
            return Sight.UNSURE
        if name not in by_name:
            return Sight.WRONG
        if not name.endswith(("/json", "+json")):
            return Sight.UNSURE
        schema = self._document.resolved(by_name[name]).get("schema", {})
        try:
            value = json.loads(body, parse_constant=_refuse)
        except (ValueError, RecursionError):
            return Sight.WRONG
        return self._of_value(schema, value)

    def _of_value(self, schema: Any, value: Any) -> Sight:
        problem = self._witness.problem(schema, value)
        if problem is not None:
            return Sight.UNSURE if problem.startswith("schema: ") else Sight.WRONG
        return Sight.RIGHT if self._is_plain(schema) else Sight.UNSURE

    def _schema(self, parameter: dict[str, Any]) -> Any:
        if "schema" in parameter or not self._document.is_swagger:
            return self._document.resolved(parameter.get("schema", {}))
        return parameter

    def _is_nullable(self, schema: Any) -> bool:
        return bool(self._document.nullable and schema.get(self._document.nullable))

    @staticmethod
    def _kind(schema: Any) -> Any:
        if not isinstance(schema, dict) or {"allOf", "anyOf", "oneOf", "not"} & schema.keys():
            return None
        return schema.get("type")

    def _is_plain(self, schema: Any) -> bool:
        """Whether the schema says nothing that this decoder and others may read in two ways."""
        key = json.dumps(schema, sort_keys=True, default=str)
        if key not in self._known:
            self._known[key] = self._walked(schema, set())
        return self._known[key]

    def _walked(self, schema: Any, seen: set[str]) -> bool:
        if isinstance(schema, list):
            return all(self._walked(one, seen) for one in schema)
        if not isinstance(schema, dict):
            return True
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference not in seen:
            seen.add(reference)
            if not self._walked(self._document.resolved(schema), seen):
                return False
        name, pattern = schema.get("format"), schema.get("pattern")
        if isinstance(pattern, str) and re.search(r"\\[pPsSbBkucx]|\(\?", pattern):
            # Classes of characters that engines know differently.
            return False
        if _UNSURE_WORDS & schema.keys() or (isinstance(name, str) and name not in _SURE_FORMATS):
            return False
        return all(
            self._walked(value, seen)
            for key, value in schema.items()
            if key not in ("enum", "const", "default", "example", "examples")
        )


_WRONG, _UNSURE = object(), object()


def _refuse(name: str) -> Any:
    raise ValueError(name)


def _read(text: str, kind: str) -> Any:
    """A value of a text; wrong, or unsure where frameworks differ."""
    if kind == "string":
        return text
    if kind == "boolean":
        known = {"true": True, "false": False}
        odd = _UNSURE if text.lower() in ("true", "false", "1", "0", "yes", "no", "on", "off") else _WRONG
        return known.get(text, odd)
    if kind == "integer" and _INTEGER.fullmatch(text):
        return json.loads(text) if len(text) < 400 else _UNSURE
    if kind == "number" and _NUMBER.fullmatch(text) and len(text) < 400:
        return json.loads(text)
    try:
        float(text)
    except ValueError:
        return _WRONG
    return _UNSURE


def first_operations(root: dict[str, Any], most: int) -> dict[str, Any]:
    """A copy of a description with its first operations only."""
    document = deepcopy(root)
    left = most
    for path, item in list((document.get("paths") or {}).items()):
        methods = [name for name in item if name.lower() in METHODS] if isinstance(item, dict) else []
        for name in methods[left:]:
            del item[name]
        left -= min(left, len(methods))
        if methods and not left and not any(name.lower() in METHODS for name in item):
            del document["paths"][path]
    return document
