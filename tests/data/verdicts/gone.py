import json, sys, re
from http.server import *

js = {"content": {"application/json": {"schema": {"type": "object"}}}}
SPEC = {
    "openapi": "3.0.3",
    "info": {"title": "g", "version": "1"},
    "paths": {
        "/leases/{id}/renew": {
            "post": {
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "string", "format": "uuid"}}
                ],
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "required": ["seconds"],
                                "properties": {"seconds": {"type": "integer"}},
                            }
                        }
                    },
                },
                "responses": {
                    "200": dict(description="ok", **js),
                    "400": dict(description="bad", **js),
                    "410": dict(description="gone", **js),
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

    def rd(self):
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def do_GET(self):
        self.rd()
        self.rep(200, SPEC) if self.path == "/openapi.json" else self.rep(405, {}, Allow="POST")

    def bad(self):
        self.rd()
        self.rep(405, {}, Allow="POST")

    do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_TRACE = do_QUERY = bad

    def do_POST(self):
        self.rd()
        self.rep(410, {"detail": "The lease is gone"})  # looked for first, as with 404


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), H).serve_forever()
