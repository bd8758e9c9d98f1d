# a server whose POST /things panics (closes the connection) on null items; everything else is exact
import json, sys
from http.server import *

SPEC = {
    "openapi": "3.0.3",
    "info": {"title": "drop", "version": "1"},
    "paths": {
        "/things": {
            "post": {
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "array",
                                "maxItems": 3,
                                "items": {
                                    "type": "object",
                                    "properties": {"n": {"type": "integer"}},
                                    "additionalProperties": False,
                                },
                            }
                        }
                    },
                },
                "responses": {
                    "200": {"description": "ok", "content": {"application/json": {"schema": {"type": "object"}}}},
                    "400": {"description": "bad", "content": {"application/json": {"schema": {"type": "object"}}}},
                },
            }
        }
    },
}


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

    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.rep(200, SPEC) if self.path == "/openapi.json" else self.rep(405, {}, Allow="POST")

    def bad(self):
        n = int(self.headers.get("Content-Length") or 0)
        self.rfile.read(n)
        self.rep(405, {}, Allow="POST")

    do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_TRACE = do_QUERY = bad

    def do_POST(self):
        n = int(self.headers.get("Content-Length") or 0)
        b = self.rfile.read(n)
        if self.headers.get("Content-Type", "").split(";")[0] != "application/json":
            return self.rep(400, {})
        try:
            v = json.loads(b)
        except Exception:
            return self.rep(400, {})
        if not isinstance(v, list) or len(v) > 3:
            return self.rep(400, {})
        if any(x is None for x in v):
            self.close_connection = True
            self.connection.close()
            return
        for x in v:
            if (
                not isinstance(x, dict)
                or set(x) - {"n"}
                or (
                    "n" in x
                    and not (
                        isinstance(x["n"], int)
                        and not isinstance(x["n"], bool)
                        or isinstance(x["n"], float)
                        and x["n"] == int(x["n"])
                    )
                )
            ):
                return self.rep(400, {})
        self.rep(200, {})


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), H).serve_forever()
