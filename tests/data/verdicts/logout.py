"""GET /auth/logout (307, empty) revokes the token for good; everything else then 403. Who is blamed, what is left untested?"""

from base import *
import re, itertools

J = lambda s: {"application/json": {"schema": s}}
r = lambda *c: {x: {"description": x, "content": J({"type": "object"})} for x in c}
names = ["assets", "backfills", "connections", "pools", "variables", "jobs"]
pid = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer", "minimum": 1, "maximum": 1000}}
B = {
    "required": True,
    "content": J(
        {
            "type": "object",
            "required": ["name"],
            "additionalProperties": False,
            "properties": {"name": {"type": "string", "minLength": 1, "maxLength": 20}},
        }
    ),
}
doc = {
    "openapi": "3.1.0",
    "info": {"title": "L", "version": "1"},
    "security": [{"k": []}],
    "components": {"securitySchemes": {"k": {"type": "http", "scheme": "bearer"}}},
    "paths": {
        "/auth/logout": {"get": {"responses": {"307": {"description": "to the login page"}, **r("200", "401", "403")}}},
        **{
            f"/{n}": {
                "get": {"responses": r("200", "401", "403")},
                "post": {"requestBody": B, "responses": r("201", "401", "403", "422")},
            }
            for n in names
        },
        **{
            f"/{n}/{{id}}": {
                "parameters": [pid],
                "get": {"responses": r("200", "404", "422", "401", "403")},
                "patch": {"requestBody": B, "responses": r("200", "404", "422", "401", "403")},
                "delete": {"responses": r("200", "404", "422", "401", "403")},
            }
            for n in names
        },
    },
}
rev = set()
D = {n: {} for n in names}
seq = itertools.count(1)
lock = threading.Lock()


class A(H):
    def route(self, m, p, q, b, bad):
        s = p.strip("/").split("/")
        t = self.headers.get("Authorization")
        if s == ["auth", "logout"]:
            if m != "GET":
                return self.send(405, {}, h={"Allow": "GET"})
            if t:
                rev.add(t)
            return self.send(307, None, h={"Location": "/login"})
        if s[0] not in names or len(s) > 2:
            return self.send(404, {"m": "no"})
        al = ["GET", "POST"] if len(s) == 1 else ["GET", "PATCH", "DELETE"]
        if m not in al:
            return self.send(405, {}, h={"Allow": ", ".join(al)})
        if not t:
            return self.send(401, {"detail": "Not authenticated"}, h={"WWW-Authenticate": "Bearer"})
        if t in rev or t != "Bearer abc":
            return self.send(403, {"detail": "Invalid JWT token"})
        okb = isinstance(b, dict) and set(b) == {"name"} and isinstance(b["name"], str) and 1 <= len(b["name"]) <= 20
        with lock:
            d = D[s[0]]
            if len(s) == 1:
                if m == "GET":
                    return self.send(200, {"items": [{"id": k, **v} for k, v in d.items()]})
                if not okb:
                    return self.send(422, {})
                i = next(seq)
                d[i] = b
                return self.send(201, {"id": i})
            try:
                i = int(s[1])
            except ValueError:
                return self.send(422, {})
            if not 1 <= i <= 1000:
                return self.send(422, {})
            if m == "PATCH" and not okb:
                return self.send(422, {})
            if i not in d:
                return self.send(404, {"detail": "no"})
            if m == "DELETE":
                d.pop(i)
            if m == "PATCH":
                d[i] = b
            return self.send(200, {"id": i})


serve(A, doc)
