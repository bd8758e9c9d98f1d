# PUT /files/{name}: 201 with a defect the first time, 409-like 400 after that
import json, sys, re
from http.server import *

js = lambda s: {"content": {"application/json": {"schema": s}}}
SPEC = {
    "openapi": "3.0.3",
    "info": {"title": "o", "version": "1"},
    "paths": {
        "/files/{name}": {
            "put": {
                "parameters": [
                    {"name": "name", "in": "path", "required": True, "schema": {"type": "string", "enum": ["a", "b"]}}
                ],
                "responses": {
                    "201": dict(
                        description="made", **js({"type": "object", "properties": {"size": {"type": "integer"}}})
                    ),
                    "409": dict(description="there", **js({"type": "object"})),
                },
            }
        }
    },
}
made = set()


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
        self.rep(200, SPEC) if self.path == "/openapi.json" else self.rep(405, {}, Allow="PUT")

    def bad(self):
        self.rd()
        self.rep(405, {}, Allow="PUT")

    do_POST = do_PATCH = do_DELETE = do_OPTIONS = do_TRACE = do_QUERY = bad

    def do_PUT(self):
        self.rd()
        m = re.fullmatch("/files/([ab])", self.path.split("?")[0])
        if not m:
            return self.rep(404, {})
        if m[1] in made:
            return self.rep(409, {})
        made.add(m[1])
        self.rep(201, {"size": None})


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), H).serve_forever()
