import json, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class H(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *a):
        pass

    def send(self, st, obj=None, ct="application/json", h={}):
        b = b"" if obj is None else (obj if isinstance(obj, bytes) else json.dumps(obj).encode())
        self.send_response(st)
        if b:
            self.send_header("Content-Type", ct)
        for k, v in h.items():
            self.send_header(k, v)
        self.send_header("Content-Length", str(len(b)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(b)

    def go(self):
        n = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(n) if n else b""
        try:
            body = json.loads(raw) if raw else None
            bad = False
        except Exception:
            body = None
            bad = True
        p, _, q = self.path.partition("?")
        if p == "/openapi.json":
            return self.send(200, self.doc)
        try:
            self.route(self.command, p, q, body, bad)
        except BrokenPipeError:
            pass

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_TRACE = do_HEAD = lambda self: self.go()


def serve(cls, doc):
    cls.doc = doc
    s = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), cls)
    s.daemon_threads = True
    s.serve_forever()
