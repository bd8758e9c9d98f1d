"""A service that looks and acts in two steps, with a moment between them; the fixed twin does both under a lock."""

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from threading import Lock, Thread
from typing import Any

Json = dict[str, Any]
MOMENT_S = 0.005
"""What a service takes to ask its database."""

_ERROR = {"description": "refused"}
_ID: Json = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
_IF_MATCH: Json = {"name": "If-Match", "in": "header", "required": True, "schema": {"type": "string"}}
_KEY: Json = {
    "name": "Idempotency-Key", "in": "header", "required": True,
    "schema": {"type": "string", "minLength": 8, "pattern": "^[a-z0-9]{8,20}$"},
}  # fmt: skip


def _schema(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


_TEXT: Json = {"type": "string", "pattern": "^[a-z]{3,12}$"}
_COUPON = _schema(percent={"type": "integer", "minimum": 1, "maximum": 90})
_MEMBER = _schema(name=_TEXT)
_NOTE = _schema(text=_TEXT)
_PAYMENT = _schema(amount={"type": "integer", "minimum": 1, "maximum": 1000})


def _operation(statuses: Json, body: Json | None = None, *parameters: Json) -> Json:
    found: Json = {"parameters": list(parameters), "responses": statuses}
    if body is not None:
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    return found


def _answers(status: int, schema: Json, *refusals: int, headers: Json | None = None) -> Json:
    shown = {"description": "", "content": {"application/json": {"schema": schema}}, "headers": headers or {}}
    return {str(status): shown} | {str(one): _ERROR for one in (400, 422, *refusals)}


def _shown(schema: Json) -> Json:
    return {"type": "object", "properties": {"id": {"type": "string"}, **schema["properties"]}}


_ETAG: Json = {"ETag": {"schema": {"type": "string"}}}
PATHS: Json = {
    "/accounts": {"post": _operation(_answers(201, _shown(_MEMBER)), _MEMBER)},
    "/accounts/{id}/payments": {"post": _operation(_answers(201, _shown(_PAYMENT), 404, 409), _PAYMENT, _ID, _KEY)},
    "/coupons": {"post": _operation(_answers(201, _shown(_COUPON)), _COUPON)},
    "/coupons/{id}/redemption": {"post": _operation(_answers(200, _shown(_COUPON), 404, 409), None, _ID)},
    "/members": {"post": _operation(_answers(201, _shown(_MEMBER), 409), _MEMBER)},
    "/notes": {"post": _operation(_answers(201, _shown(_NOTE), headers=_ETAG), _NOTE)},
    "/notes/{id}": {
        "get": _operation(_answers(200, _shown(_NOTE), 404, headers=_ETAG), None, _ID),
        "put": _operation(_answers(200, _shown(_NOTE), 404, 412, headers=_ETAG), _NOTE, _ID, _IF_MATCH),
    },
    "/payments": {"post": _operation(_answers(201, _shown(_PAYMENT), 409), _PAYMENT, _KEY)},
}
RACING = (
    "POST /accounts/{id}/payments",
    "POST /coupons/{id}/redemption",
    "POST /members",
    "POST /payments",
    "PUT /notes/{id}",
)
DOCUMENT: Json = {"openapi": "3.0.3", "info": {"title": "Racing", "version": "1"}, "paths": PATHS}


class Service:
    """What is stored, and how it is written."""

    def __init__(self, *, is_fixed: bool) -> None:
        self.requests = 0
        self.pause: Callable[[], object] = partial(time.sleep, MOMENT_S)
        """Called between the look at what is stored and the write."""
        self._lock: Any = Lock() if is_fixed else nullcontext()
        self._ids = count(1)
        self._things: dict[str, Json] = {}
        self._redeemed: set[str] = set()
        self._names: set[str] = set()
        self._versions: dict[str, int] = {}
        self._paid: dict[str, tuple[str, Json]] = {}
        """Key -> account and payment."""

    def respond(self, method: str, path: str, headers: Any, body: bytes) -> tuple[int, Json, dict[str, str]]:
        """Return status, body and headers of a response."""
        self.requests += 1
        if path == "/openapi.json":
            return 200, DOCUMENT, {}
        kind, _, rest = path.strip("/").partition("/")
        name, _, action = rest.partition("/")
        schemas = {"accounts": _MEMBER, "coupons": _COUPON, "members": _MEMBER, "notes": _NOTE, "payments": _PAYMENT}
        schema = _PAYMENT if action == "payments" else schemas.get(kind)
        if schema is None or (not name and method != "POST"):
            return 404, {}, {}
        sent: Json = {}
        if method in ("POST", "PUT") and action != "redemption":
            try:
                sent = json.loads(body)
            except ValueError:
                return 400, {"message": "no JSON"}, {}
            if not _is_valid(sent, schema):
                return 422, {"message": "not valid"}, {}
        with self._lock:
            return self._written(method, kind, name, action, headers, sent)

    def _written(
        self, method: str, kind: str, name: str, action: str, headers: Any, sent: Json
    ) -> tuple[int, Json, dict[str, str]]:
        key = f"{kind}/{name}"
        if name and key not in self._things:
            return 404, {"message": "not found"}, {}
        if action == "redemption" and method == "POST":
            if key in self._redeemed:
                return 409, {"message": "the coupon is redeemed"}, {}
            self.pause()
            self._redeemed.add(key)
            return 200, self._things[key], {}
        if action == "payments" and method == "POST":
            return self._payment(name, headers, sent)
        if name and method == "GET":
            return 200, self._things[key], self._tag(key)
        if name and kind == "notes" and method == "PUT":
            if headers.get("If-Match") != self._tag(key)["ETag"]:
                return 412, {"message": "the note has another version"}, {}
            self.pause()
            self._versions[key] += 1
            self._things[key] |= sent
            return 200, self._things[key], self._tag(key)
        if name:
            return 405, {}, {"Allow": "GET"}
        if kind == "members":
            if sent["name"] in self._names:
                return 409, {"message": "the name is taken"}, {}
            self.pause()
            self._names.add(sent["name"])
        if kind == "payments":
            return self._payment("", headers, sent)
        made = {"id": f"{kind[0]}{next(self._ids)}", **sent}
        self._things[f"{kind}/{made['id']}"] = made
        self._versions[f"{kind}/{made['id']}"] = 1
        return 201, made, self._tag(f"{kind}/{made['id']}")

    def _payment(self, account: str, headers: Any, sent: Json) -> tuple[int, Json, dict[str, str]]:
        token = headers.get("Idempotency-Key", "")
        if re.fullmatch("[a-z0-9]{8,20}", token) is None:
            return 400, {"message": "no key"}, {}
        if token in self._paid:
            of, made = self._paid[token]
            is_same = (of, made["amount"]) == (account, sent["amount"])
            return (201, made, {}) if is_same else (409, {"message": "the key is used"}, {})
        self.pause()
        made = {"id": f"p{next(self._ids)}", **sent}
        self._paid[token] = account, made
        return 201, made, {}

    def _tag(self, key: str) -> dict[str, str]:
        return {"ETag": f'"v{self._versions[key]}"'}


def _is_valid(sent: Any, schema: Json) -> bool:
    if not isinstance(sent, dict) or sent.keys() != schema["properties"].keys():
        return False
    for name, one in schema["properties"].items():
        value = sent[name]
        if one["type"] == "string":
            if not isinstance(value, str) or re.fullmatch(one["pattern"].strip("^$"), value) is None:
                return False
        elif type(value) is not int or not one["minimum"] <= value <= one["maximum"]:
            return False
    return True


@contextmanager
def racing(*, is_fixed: bool, port: int = 0) -> Iterator[tuple[str, Service]]:
    """Serve on loopback, each connection by a thread of its own. Gives URL and service."""
    service = Service(is_fixed=is_fixed)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Head and body of a response in one packet.
        wbufsize = -1

        def _respond(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            path = self.path.partition("?")[0]
            status, shown, headers = service.respond(self.command, path, self.headers, body)
            content = json.dumps(shown).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _respond

        def log_message(self, format: str, *args: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", service
    finally:
        server.shutdown()
        server.server_close()
