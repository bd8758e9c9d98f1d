"""What happens before the first request: CPU of `--help`, CPU of all processes until a request leaves, operations compiled.

    python -m benchmarks.startup

Required: `--help` <= 100 ms CPU; first request after <= 1.5 CPU-s for 200 operations, with at most
lanes x workers of them compiled by then.
"""

import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import psutil

OPERATIONS = 200
ROUNDS = 5
HELP_LIMIT_S = 0.100
FIRST_LIMIT_S = 1.5
WORKERS = 2

_COUNTING_HOOKS = """
import os
import checker.openapi.operation as operation

original = operation.compile_operation

def counted(*arguments, **options):
    with open(os.environ["COMPILED"], "a") as log:
        log.write(".")
    return original(*arguments, **options)

operation.compile_operation = counted
"""


def main() -> int:
    """Print the figures; exit code 1 when a limit is broken."""
    help_s = statistics.median(help_cpu_s() for _ in range(ROUNDS))
    print(f"checker --help: {help_s * 1000:.0f} ms CPU (limit {HELP_LIMIT_S * 1000:.0f})")
    rounds = [first_request(document()) for _ in range(ROUNDS)]
    first_s = statistics.median(cpu_s for cpu_s, _ in rounds)
    compiled = max(count for _, count in rounds)
    print(
        f"first request of {OPERATIONS} operations, {WORKERS} workers: {first_s:.2f} CPU-s over all processes"
        f" (limit {FIRST_LIMIT_S}); operations compiled by then: {compiled} (limit {WORKERS})"
    )
    return int(help_s > HELP_LIMIT_S or first_s > FIRST_LIMIT_S or compiled > WORKERS)


def help_cpu_s() -> float:
    """CPU seconds of one `checker --help`."""
    before = _children_s()
    subprocess.run([sys.executable, "-m", "checker", "--help"], check=True, capture_output=True)
    return _children_s() - before


def first_request(described: bytes) -> tuple[float, int]:
    """(CPU seconds of the whole process tree, operations compiled) when the first request arrives."""
    seen = threading.Event()
    found: list[tuple[float, int]] = []
    with tempfile.TemporaryDirectory() as scratch:
        log = Path(scratch, "compiled")
        log.write_text("")
        hooks = Path(scratch, "hooks.py")
        hooks.write_text(_COUNTING_HOOKS)
        process: list[subprocess.Popen[bytes]] = []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                if self.path != "/openapi.json" and not found:
                    found.append((_tree_s(process[0].pid), len(log.read_text())))
                    seen.set()
                body = described if self.path == "/openapi.json" else b"{}"
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_GET  # noqa: N815

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        server = HTTPServer(("127.0.0.1", 0), Handler)
        # Workers hang up when the run is stopped.
        server.handle_error = lambda *_: None  # type: ignore[method-assign]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_address[1]}"
        environment = {**os.environ, "CHECKER_HOOKS": str(hooks), "COMPILED": str(log)}
        command = [sys.executable, "-m", "checker", "run", f"{base}/openapi.json", "--url", base]
        command += ["--workers", str(WORKERS)]
        process.append(
            subprocess.Popen(
                command, cwd=scratch, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        )
        seen.wait(60)
        process[0].send_signal(signal.SIGINT)
        process[0].wait(30)
        server.shutdown()
        server.server_close()
    return found[0]


def document() -> bytes:
    """An API of 200 operations with bodies of a usual size."""
    schema = {
        "type": "object",
        "required": ["name", "count"],
        "properties": {
            "name": {"type": "string", "minLength": 1, "maxLength": 40},
            "count": {"type": "integer", "minimum": 0, "maximum": 1000},
            "tags": {"type": "array", "items": {"type": "string"}},
            "when": {"type": "string", "format": "date-time"},
        },
    }
    answer = {"200": {"description": "", "content": {"application/json": {"schema": {"type": "object"}}}}}
    paths = {
        f"/things{number}": {
            "get": {"parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}}], "responses": answer},
            "post": {"requestBody": {"content": {"application/json": {"schema": schema}}}, "responses": answer},
        }
        for number in range(OPERATIONS // 2)
    }
    described = {"openapi": "3.0.3", "info": {"title": "Things", "version": "1"}, "paths": paths}
    return json.dumps(described).encode()


def _children_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _tree_s(pid: int) -> float:
    root = psutil.Process(pid)
    total = 0.0
    for process in [root, *root.children(recursive=True)]:
        times = process.cpu_times()
        total += times.user + times.system
    return total


if __name__ == "__main__":
    raise SystemExit(main())
