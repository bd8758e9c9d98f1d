"""What happens before the first request: CPU of `--help`, CPU of all processes until a request leaves, operations compiled.

    python -m benchmarks.startup [--against CHECKOUT] [DESCRIPTION ...]

Compared are medians of alternating runs: `run --help` with a bare interpreter; with another CHECKOUT of the project `run --help`,
and the first request for each description of 7 operations and for each given one (JSON). Required: at most lanes x workers
operations are compiled before the first request; against e0df63be at most `AIMS` of the CPU (aims, not met yet, see the output).
"""

import argparse
import compileall
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
FEW = 7
ROUNDS = 5
AIMS = {"run --help": 0.42, "few": 0.53, "many": 0.48}
"""Share of the CPU of e0df63be: 0.15 of 0.36 s; 0.45 of 0.85 s for 7 operations, 1.0 of 2.1 s for 767."""
WORKERS = 2
OWN = Path(__file__).parents[1]

_COUNTING_HOOKS = """
import os
import checker.kinds.static as operation

original = operation.compile_operation

def counted(*arguments, **options):
    with open(os.environ["COMPILED"], "a") as log:
        log.write(".")
    return original(*arguments, **options)

operation.compile_operation = counted
"""


def main() -> int:
    """Print the figures; exit code 1 when operations are compiled too early, or when an aim is not met against another checkout."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--against", type=Path)
    parser.add_argument("descriptions", nargs="*", type=Path)
    asked = parser.parse_args()
    other: Path | None = asked.against
    roots = [OWN] if other is None else [OWN, other]
    for root in roots:
        compileall.compile_dir(root / "checker", quiet=2)
    bare_s = statistics.median(cpu_s("-c", "pass") for _ in range(ROUNDS))
    is_met = shown("run --help", [[help_cpu_s(root) for root in roots] for _ in range(ROUNDS)], bare_s, "run --help")
    rows = [(f"first request of {FEW} operations", document(FEW), "few")]
    rows += [(f"first request of {path.name}", path.read_bytes(), "many") for path in asked.descriptions]
    for title, described, aim in rows:
        rounds = [[first_request(described, root, workers=1)[0] for root in roots] for _ in range(ROUNDS)]
        is_met &= shown(title, rounds, bare_s, aim)
    first_s, compiled = first_request(document(), counts=True)
    print(
        f"operations compiled of {OPERATIONS} by {WORKERS} workers in {first_s:.2f} CPU-s: {compiled} (limit {WORKERS})"
    )
    return int(compiled > WORKERS or not is_met)


def shown(title: str, rounds: list[list[float]], bare_s: float, aim: str) -> bool:
    """Print a row of medians; return whether it meets its aim, True without a second checkout."""
    own_s, *other_s = (statistics.median(column) for column in zip(*rounds, strict=True))
    line = f"{title}: {own_s:.2f} CPU-s, {own_s / bare_s:.1f} times a bare interpreter"
    ratios = [own_s / one for one in other_s]
    for ratio in ratios:
        line += f", {ratio:.2f} of the other checkout (aim {AIMS[aim]})"
    print(line)
    return all(ratio <= AIMS[aim] for ratio in ratios)


def help_cpu_s(root: Path = OWN) -> float:
    """Return the CPU seconds of one `checker run --help`."""
    return cpu_s("-m", "checker", "run", "--help", root=root)


def cpu_s(*arguments: str, root: Path = OWN) -> float:
    """Return the CPU seconds of one interpreter with these arguments."""
    before = _children_s()
    # `-m` looks into the working directory first.
    command = [sys.executable, *arguments]
    subprocess.run(command, check=True, capture_output=True, cwd=root, env=_environment(root))
    return _children_s() - before


def _environment(root: Path) -> dict[str, str]:
    """Return an environment in which `checker` is that of a checkout, with its bytecode."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": str(root)}


def first_request(
    described: bytes, root: Path = OWN, *, workers: int = WORKERS, counts: bool = False
) -> tuple[float, int]:
    """Return CPU seconds of the whole process tree, and operations compiled if `counts`, when the first request arrives."""
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
        environment = _environment(root)
        if counts:
            environment |= {"CHECKER_HOOKS": str(hooks), "COMPILED": str(log)}
        command = [sys.executable, "-m", "checker", "run", f"{base}/openapi.json", "--url", base]
        command += ["--workers", str(workers)]
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


def document(operations: int = OPERATIONS) -> bytes:
    """Return an API of that many operations, half of them with a body of a usual size."""
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
        for number in range((operations + 1) // 2)
    }
    if operations % 2:
        del paths["/things0"]["post"]
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
