# 5 operations that refuse limit > 200 with one sentence (argv[2]); and /servers/{id}/stats whose only id is the constant "localhost"
import json, sys, re
from http.server import *
from urllib.parse import urlsplit, parse_qs

msg = sys.argv[2]
js = lambda s: {"content": {"application/json": {"schema": s}}}
ob = {"type": "object"}
P = {}
for i in range(5):
    P[f"/r{i}/filter"] = {
        "post": {
            "requestBody": {
                "required": True,
                "content": {
                    "application/json": {
                        "schema": {
                            "type": "object",
                            "properties": {"limit": {"type": "integer"}},
                            "additionalProperties": False,
                        }
                    }
                },
            },
            "responses": {"200": dict(description="ok", **js(ob)), "422": dict(description="bad", **js(ob))},
        }
    }
P["/servers"] = {
    "get": {
        "responses": {
            "200": dict(
                description="ok",
                **js(
                    {
                        "type": "array",
                        "items": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
                    }
                ),
            )
        }
    }
}
P["/servers/{server_id}/stats"] = {
    "get": {
        "parameters": [{"name": "server_id", "in": "path", "required": True, "schema": {"type": "string"}}],
        "responses": {
            "200": dict(description="ok", **js({"type": "object", "properties": {"n": {"type": "integer"}}})),
            "404": dict(description="no", **js(ob)),
        },
    }
}
SPEC = {"openapi": "3.0.3", "info": {"title": "g", "version": "1"}, "paths": P}


class H(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *a):
        pass

    def rep(self, c, o, **h):
        b = json.dumps(o).encode()
        self.send_response(c)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(b)))
        for k, v in h.items():
            self.send_header(k, v)
        self.end_headers()
        self.wfile.write(b)

    def rd(self):
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def do_GET(self):
        self.rd()
        p = urlsplit(self.path).path
        if p == "/openapi.json":
            return self.rep(200, SPEC)
        if p == "/servers":
            return self.rep(200, [{"id": "localhost"}])
        if p == "/servers/localhost/stats":
            return self.rep(200, {"n": "eight"})  # defect: text for an integer
        if re.fullmatch("/servers/[^/]+/stats", p):
            return self.rep(404, {})
        if re.fullmatch(r"/r\d/filter", p):
            return self.rep(405, {}, Allow="POST")
        self.rep(404, {})

    def bad(self):
        self.rd()
        p = urlsplit(self.path).path
        self.rep(405, {}, Allow="POST" if p.endswith("filter") else "GET")

    do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_TRACE = do_QUERY = bad

    def do_POST(self):
        b = self.rd()
        p = urlsplit(self.path).path
        if not p.endswith("filter"):
            return self.rep(405, {}, Allow="GET")
        if self.headers.get("Content-Type", "").split(";")[0] != "application/json":
            return self.rep(422, {"detail": "type"})
        try:
            v = json.loads(b)
        except Exception:
            return self.rep(422, {"detail": "json"})
        if not isinstance(v, dict) or set(v) - {"limit"}:
            return self.rep(422, {"detail": "body"})
        L = v.get("limit", 1)
        if isinstance(L, bool) or not isinstance(L, (int, float)) or L != int(L):
            return self.rep(422, {"detail": "limit type"})
        if L > 200:
            return self.rep(422, {"detail": msg})
        self.rep(200, {})


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), H).serve_forever()
