"""nothing enforces the declared security. POST /labels: value must be new (409), type must be one of two that exist (400 in prose otherwise).
The probe without credentials re-draws every string, the reference too, and files its own 400/500 as 'Unexpected response to a request without authentication'."""

from base import *

J = lambda s: {"application/json": {"schema": s}}
O = {"type": "object"}
r = lambda *c: {x: {"description": x, "content": J(O)} for x in c}
seen = set()
lock = threading.Lock()
doc = {
    "openapi": "3.0.3",
    "info": {"title": "N", "version": "1"},
    "security": [{"k": []}],
    "components": {"securitySchemes": {"k": {"type": "http", "scheme": "bearer"}}},
    "paths": {
        "/labels": {
            "post": {
                "requestBody": {
                    "required": True,
                    "content": J(
                        {
                            "type": "object",
                            "required": ["type", "value"],
                            "properties": {
                                "type": {"type": "string", "example": "simple", "minLength": 2, "maxLength": 50},
                                "value": {"type": "string", "example": "a-tag-value", "minLength": 2, "maxLength": 50},
                                "color": {"type": "string", "example": "#FFFFFF"},
                            },
                        }
                    ),
                },
                "responses": r("201", "400", "401", "405", "409", "500"),
            }
        }
    },
}


class A(H):
    def route(self, m, p, q, b, bad):
        if p != "/labels":
            return self.send(404, {"m": "no"})
        if m != "POST":
            return self.send(405, {"m": "no"}, h={"Allow": "POST"})
        if (
            not isinstance(b, dict)
            or not all(isinstance(b.get(k), str) and 2 <= len(b[k]) <= 50 for k in ("type", "value"))
            or ("color" in b and not isinstance(b["color"], str))
        ):
            return self.send(400, {"message": "bad"})
        if b["type"] not in ("simple", "other"):
            return self.send(
                500,
                {
                    "name": "UnknownError",
                    "message": 'insert into "tags" - violates foreign key constraint "tags_type_fkey"',
                },
            )
        with lock:
            if (b["type"], b["value"]) in seen:
                return self.send(409, {"message": "Tag already exists"})
            seen.add((b["type"], b["value"]))
        self.send(201, {})


serve(A, doc)
