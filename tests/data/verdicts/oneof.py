import json, sys
from http.server import *
from graphql import build_schema, graphql_sync

SDL = "input Pick @oneOf { a: String b: Int }\ntype Query { thing(pick: Pick!): String }\n"
S = build_schema(SDL)
S.query_type.fields["thing"].resolve = lambda *_, **k: "ok"


class H(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *a):
        pass

    def rep(self, c, o):
        b = json.dumps(o).encode()
        self.send_response(c)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(b)))
        self.end_headers()
        self.wfile.write(b)

    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.rep(405, {"errors": [{"message": "POST only"}]})

    def do_POST(self):
        b = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            j = json.loads(b)
            q = j["query"]
        except Exception:
            return self.rep(400, {"errors": [{"message": "bad request"}]})
        r = graphql_sync(S, q, variable_values=j.get("variables"))
        self.rep(200 if r.data is not None or not r.errors else 400, r.formatted)


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), H).serve_forever()
