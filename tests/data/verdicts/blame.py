"""POST /settings/access {"tokens_enabled":true} switches legacy tokens off (the other field's default is false): the token in use is dead for good.
DELETE /users/{id} is harmless, and requests with the same token are served after it. Who is blamed?"""

from base import *
import itertools

J = lambda s: {"application/json": {"schema": s}}
r = lambda *c: {x: {"description": x, "content": J({"type": "object"})} for x in c}
names = ["projects", "tasks", "views", "labels", "storages"]
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
S = {
    "type": "object",
    "properties": {
        "tokens_enabled": {"type": "boolean", "default": True},
        "legacy_tokens_enabled": {"type": "boolean", "default": False},
    },
}
L = {
    **r("401"),
    "200": {
        "description": "l",
        "content": J({"type": "array", "items": {"type": "object", "properties": {"id": {"type": "integer"}}}}),
    },
}
doc = {
    "openapi": "3.0.3",
    "info": {"title": "J", "version": "1"},
    "security": [{"k": []}],
    "components": {"securitySchemes": {"k": {"type": "apiKey", "in": "header", "name": "Authorization"}}},
    "paths": {
        "/users": {"get": {"responses": L}, "post": {"requestBody": B, "responses": r("201", "401", "422")}},
        "/users/{id}": {
            "parameters": [pid],
            "get": {"responses": r("200", "404", "422", "401")},
            "delete": {"responses": r("200", "404", "422", "401")},
        },
        "/settings/access": {
            "get": {"responses": r("200", "401")},
            "post": {"requestBody": {"content": J(S)}, "responses": r("200", "401", "422")},
        },
        **{
            f"/{n}": {"get": {"responses": L}, "post": {"requestBody": B, "responses": r("201", "401", "422")}}
            for n in names
        },
        **{
            f"/{n}/{{id}}": {
                "parameters": [pid],
                "get": {"responses": r("200", "404", "422", "401")},
                "patch": {"requestBody": B, "responses": r("200", "404", "422", "401")},
                "delete": {"responses": r("200", "404", "422", "401")},
            }
            for n in names
        },
    },
}
D = {n: {} for n in names + ["users"]}
seq = itertools.count(1)
lock = threading.Lock()
st = {"legacy": True}
for i in range(1, 6):
    D["users"][i] = {"name": "u%d" % i}


class A(H):
    def route(self, m, p, q, b, bad):
        s = p.strip("/").split("/")
        t = self.headers.get("Authorization")
        if t != "Token abc":
            return self.send(401, {"detail": "Authentication credentials were not provided"})
        if not st["legacy"]:
            return self.send(
                401, {"detail": "Authentication token no longer valid: legacy token authentication has been disabled"}
            )
        if s == ["settings", "access"]:
            if m == "GET":
                return self.send(200, st)
            if m != "POST":
                return self.send(405, {}, h={"Allow": "GET, POST"})
            b = {} if b is None and not bad else b
            if not isinstance(b, dict) or any(
                not isinstance(b.get(k, True), bool) for k in ("tokens_enabled", "legacy_tokens_enabled")
            ):
                return self.send(422, {})
            st["legacy"] = b.get("legacy_tokens_enabled", False)
            return self.send(200, {"tokens_enabled": True, "legacy_tokens_enabled": st["legacy"]})
        if s[0] not in D or len(s) > 2:
            return self.send(404, {"m": "no"})
        al = ["GET", "POST"] if len(s) == 1 else ["GET", "DELETE"] + (["PATCH"] if s[0] != "users" else [])
        if m not in al:
            return self.send(405, {}, h={"Allow": ", ".join(al)})
        okb = isinstance(b, dict) and set(b) == {"name"} and isinstance(b["name"], str) and 1 <= len(b["name"]) <= 20
        with lock:
            d = D[s[0]]
            if len(s) == 1:
                if m == "GET":
                    return self.send(200, [{"id": k, **v} for k, v in d.items()])
                if not okb:
                    return self.send(422, {})
                i = next(seq) + 100
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
