"""GET /me repeats the caller's own token inside an object that breaks the schema (required property missing). Is it masked in every report?"""

from base import *

J = lambda s: {"application/json": {"schema": s}}
U = {
    "type": "object",
    "required": ["id", "secret"],
    "properties": {"id": {"type": "integer"}, "secret": {"type": "string"}},
}
doc = {
    "openapi": "3.0.3",
    "info": {"title": "K", "version": "1"},
    "security": [{"k": []}],
    "components": {"securitySchemes": {"k": {"type": "apiKey", "in": "header", "name": "Authorization"}}},
    "paths": {
        "/me": {
            "get": {
                "responses": {
                    "200": {"description": "x", "content": J({"type": "object", "properties": {"user": U}})},
                    "401": {"description": "x"},
                    "405": {"description": "x"},
                }
            }
        }
    },
}


class A(H):
    def route(self, m, p, q, b, bad):
        t = self.headers.get("Authorization")
        if p != "/me":
            return self.send(404, {})
        if m != "GET":
            return self.send(405, {}, h={"Allow": "GET"})
        if t != "*:*.964a287eCANARY":
            return self.send(401, {"m": "no"})
        self.send(200, {"user": {"environment": "*", "type": "admin", "secret": t}})


serve(A, doc)
