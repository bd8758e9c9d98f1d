"""one defect (integers outside int64 -> 500 'Internal Server Error', as any SQLAlchemy/sqlite app) in 8 operations: told once or eight times?"""

from base import *
from urllib.parse import unquote, parse_qsl

J = lambda s: {"application/json": {"schema": s}}
r = lambda *c: {x: {"description": x, "content": J({"type": "object"})} for x in c}
names = ["apples", "pears", "plums", "nuts", "figs", "kiwis", "limes", "dates"]
doc = {
    "openapi": "3.1.0",
    "info": {"title": "I", "version": "1"},
    "paths": {
        f"/{n}/{{id}}": {
            "get": {
                "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
                "responses": r("200", "404", "422"),
            }
        }
        for n in names
    },
}


class A(H):
    def route(self, m, p, q, b, bad):
        s = [unquote(x) for x in p.strip("/").split("/")]
        if len(s) != 2 or s[0] not in names:
            return self.send(404, {"detail": "Not Found"})
        if m != "GET":
            return self.send(405, {"detail": "Method Not Allowed"}, h={"Allow": "GET"})
        try:
            i = int(s[1])
        except ValueError:
            return self.send(422, {"detail": "int"})
        if not -(2**63) <= i < 2**63:
            return self.send(500, b"Internal Server Error", ct="text/plain; charset=utf-8")
        self.send(200, {"id": i}) if 0 < i < 100 else self.send(404, {"detail": "no"})


serve(A, doc)
