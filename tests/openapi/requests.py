"""Requests to one operation that has a part of every kind, taken apart so that a test can spoil one of them."""

import json
from dataclasses import dataclass, field
from random import Random
from typing import Any

from checker.core.request import WireRequest
from checker.openapi.operation import OpenApiOperation

from .documents import operation

INTEGERS = {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3}
ORDER = {
    "type": "object",
    "required": ["name", "count"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "minLength": 2, "maxLength": 8},
        "count": {"type": "integer", "minimum": 1, "maximum": 100},
        "step": {"type": "number", "multipleOf": 0.25},
        "kind": {"enum": ["small", "large"]},
        "mail": {"type": "string", "format": "email"},
        "codes": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
        "note": {"type": "string", "nullable": True},
    },
}
UPLOAD = {
    "type": "object",
    "required": ["file", "meta"],
    "properties": {
        "file": {"type": "string", "format": "binary"},
        "meta": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}},
        "label": {"type": "integer"},
    },
}
FORM = {
    "type": "object",
    "required": ["who"],
    "properties": {"who": {"type": "string", "maxLength": 9}, "age": {"type": "integer"}},
}
FILTER = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"min": {"type": "integer"}, "kind": {"enum": ["red", "blue"]}},
}


def _parameter(name: str, place: str, schema: Any, *, required: bool = False, **more: Any) -> Any:
    return {"name": name, "in": place, "required": required, "schema": schema, **more}


PARAMETERS = [
    _parameter("shop", "path", {"type": "integer", "minimum": 1, "maximum": 99}, required=True),
    _parameter("day", "path", {"type": "string", "format": "date"}, required=True),
    _parameter("limit", "query", {"type": "integer", "maximum": 100}, required=True),
    _parameter("sort", "query", {"enum": ["name", "age"]}),
    _parameter("exact", "query", {"type": "boolean"}),
    _parameter("ids", "query", INTEGERS, explode=False),
    _parameter("bars", "query", INTEGERS, style="pipeDelimited", explode=False),
    _parameter("many", "query", INTEGERS),
    _parameter("filter", "query", FILTER, style="deepObject", explode=True),
    {"name": "where", "in": "query", "content": {"application/json": {"schema": FILTER}}},
    _parameter("X-Count", "header", {"type": "integer", "minimum": 0}, required=True),
    _parameter("X-List", "header", INTEGERS),
    _parameter("X-Id", "header", {"type": "string", "format": "uuid"}),
    _parameter("session", "cookie", {"type": "string", "pattern": "^[a-f0-9]{8}$"}, required=True),
    _parameter("depth", "cookie", {"type": "integer"}),
]
MEDIA_TYPES = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data")
BOUNDARY = "b0undary"


def the_operation() -> OpenApiOperation:
    schemas = dict(zip(MEDIA_TYPES, (ORDER, FORM, UPLOAD), strict=True))
    content = {name: {"schema": schema} for name, schema in schemas.items()}
    definition = {"parameters": PARAMETERS, "requestBody": {"required": True, "content": content}, "responses": {}}
    return operation(definition, path="/shops/{shop}/orders/{day}", method="post")


@dataclass
class Sketch:
    """A request in parts, as they are written."""

    method: str = "POST"
    path: list[str] = field(default_factory=list)
    query: list[tuple[str, str]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    cookies: list[tuple[str, str]] = field(default_factory=list)
    media_type: str = MEDIA_TYPES[0]
    content_type: str | None = None
    value: dict[str, Any] = field(default_factory=dict)
    """Of a JSON body."""
    content: bytes | None = None

    def put(self, name: str, text: str) -> None:
        """Another text for a parameter of the query."""
        self.query = [(key, text if key == name else value) for key, value in self.query]

    def put_cookie(self, name: str, text: str) -> None:
        """Another text for a cookie."""
        self.cookies = [(key, text if key == name else value) for key, value in self.cookies]

    def wire(self) -> WireRequest:
        target = "/base/" + "/".join(self.path)
        target += "?" + "&".join(f"{key}={value}" for key, value in self.query)
        fields = list(self.headers.items())
        fields += [("Cookie", "; ".join(f"{key}={value}" for key, value in self.cookies))]
        if self.content_type is not None:
            fields += [("Content-Type", self.content_type)]
        headers = [(name.encode(), value.encode("latin-1")) for name, value in fields]
        body = json.dumps(self.value).encode() if self.content is None else self.content
        has_body = self.content_type is not None
        return WireRequest(self.method, target.encode(), headers, body if has_body else None)


def sketched(random: Random, media_type: str = MEDIA_TYPES[0]) -> Sketch:
    """A valid request, different for each state of `random`."""

    def number(low: int = 1, high: int = 99) -> str:
        return str(random.randint(low, high))

    def numbers() -> list[str]:
        return [number() for _ in range(random.randint(1, 3))]

    sketch = Sketch(
        path=["shops", number(), "orders", f"20{number(10, 99)}-0{number(1, 9)}-1{number(0, 9)}"],
        query=[
            ("limit", number(-5, 100)),
            ("sort", random.choice(["name", "age"])),
            ("exact", random.choice(["true", "false"])),
            ("ids", ",".join(numbers())),
            ("bars", random.choice(["%7C", "|"]).join(numbers())),
            *(("many", text) for text in numbers()),
            ("filter[min]", number()),
            ("filter%5Bkind%5D", random.choice(["red", "blue"])),
            ("where", f"%7B%22min%22:{number()}%7D"),
        ],
        headers={
            "X-Count": number(),
            "x-list": ", ".join(numbers()),
            "X-Id": f"{random.getrandbits(128):032x}",
            "Accept": "*/*",
        },
        cookies=[("session", f"{random.getrandbits(32):08x}"), ("depth", number())],
        media_type=media_type,
        content_type=media_type,
    )
    raw = sketch.headers["X-Id"]
    sketch.headers["X-Id"] = "-".join((raw[:8], raw[8:12], raw[12:16], raw[16:20], raw[20:]))
    _fill_body(sketch, random)
    return sketch


def _fill_body(sketch: Sketch, random: Random) -> None:
    if sketch.media_type == MEDIA_TYPES[1]:
        sketch.content = f"who=a+b{random.randint(0, 9)}&age={random.randint(0, 99)}".encode()
    elif sketch.media_type == MEDIA_TYPES[2]:
        sketch.content_type = f"{MEDIA_TYPES[2]}; boundary={BOUNDARY}"
        sketch.content = multipart(
            part("file", random.randbytes(9), '; filename="f"', "application/octet-stream"),
            part("meta", json.dumps({"n": random.randint(0, 9)}).encode(), "", "application/json"),
            part("label", str(random.randint(0, 9)).encode()),
        )
    else:
        sketch.value = {
            "name": "abcdefgh"[: random.randint(2, 8)],
            "count": random.randint(1, 100),
            "step": random.randint(-8, 8) / 4,
            "kind": random.choice(["small", "large"]),
            "mail": f"a{random.randint(0, 9)}@b.example",
            "codes": random.sample(range(9), 3),
            "note": random.choice([None, "x"]),
        }


def part(name: str, content: bytes, more: str = "", media_type: str | None = None) -> bytes:
    head = f'Content-Disposition: form-data; name="{name}"{more}'
    if media_type is not None:
        head += f"\r\nContent-Type: {media_type}"
    return head.encode() + b"\r\n\r\n" + content


def multipart(*parts: bytes) -> bytes:
    mark = f"--{BOUNDARY}".encode()
    return b"".join(mark + b"\r\n" + one + b"\r\n" for one in parts) + mark + b"--\r\n"
