import json, sys
from http.server import *
from graphql import build_schema, graphql_sync, GraphQLError

M = [
    "Only admin can perform this action",
    "No span notes provided.",
    "Expected a hex color, got x",
    "Must provide at least one trace ID to delete",
    "Authentication must be enabled to manage API keys",
    "Unknown node: x",
    "Cannot delete built-in model",
    "At least one field must be set",
    "a label must not be empty",
    "You are not allowed to do this",
    "Both a filter and a session filter cannot be applied at the same time",
    "Name cannot be empty",
    "First should be a positive number",
    "you must provide a token",
    "An app name is required for password reset",
]
S = build_schema("type Query {\n" + "\n".join(f"f{i}(text: String!): String" for i in range(len(M))) + "\n}")
for i, m in enumerate(M):

    def r(_, info, m=m, **k):
        raise GraphQLError(m)

    S.query_type.fields[f"f{i}"].resolve = r


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
        self.rep(200, graphql_sync(S, q, variable_values=j.get("variables")).formatted)


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), H).serve_forever()
