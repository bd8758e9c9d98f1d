"""What Python users wait for: `import checker`, collecting tests of many operations, a case of an application in process.

    python -m benchmarks.python_faces

Aims: import 60 ms; collecting 1,000 operations 1 CPU-s; a case 0.5 ms, of which drawing by Hypothesis alone takes 0.3 ms.
"""

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings

import checker

OPERATIONS = 1000
CASES = 100
ROUNDS = 5
_SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
_OTHERS = [word for name in ("xdist", "faker", "timeout") for word in ("-p", f"no:{name}")]
"""Plug-ins that only the development of this project installs."""
_TESTS = """
import json
import checker

schema = checker.openapi.from_path("openapi.json")

@schema.parametrize()
def test_api(case):
    case.call_and_validate()
"""


def document(operations: int) -> dict[str, Any]:
    """A description of POST operations, each with a body and a path parameter."""
    one: dict[str, Any] = {
        "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
        "requestBody": {"required": True, "content": {"application/json": {"schema": _SCHEMA}}},
        "responses": {"200": {"description": ""}},
    }
    return {
        "openapi": "3.0.3",
        "info": {"title": "Many", "version": "1"},
        "paths": {f"/things{number}/{{id}}": {"post": one} for number in range(operations)},
    }


def cpu_of(*command: str, folder: str = ".") -> float:
    """CPU seconds of a process and those that it waits for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def importing() -> float:
    """CPU seconds of `import checker`, a bare interpreter taken away."""
    bare = statistics.median(cpu_of(sys.executable, "-c", "pass") for _ in range(ROUNDS))
    own = statistics.median(cpu_of(sys.executable, "-c", "import checker") for _ in range(ROUNDS))
    return own - bare


def collecting() -> tuple[float, float]:
    """CPU seconds of `pytest --collect-only` over many operations, and over one."""
    found = []
    for operations in (OPERATIONS, 1):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, ".git").mkdir()
            Path(folder, "openapi.json").write_text(json.dumps(document(operations)))
            Path(folder, "test_api.py").write_text(_TESTS)
            command = [sys.executable, "-m", "pytest", "--collect-only", "-qq", *_OTHERS]
            found.append(min(cpu_of(*command, folder=folder) for _ in range(3)))
    return found[0], found[1]


async def application(scope: dict[str, Any], receive: Any, send: Callable[..., Any]) -> None:
    """Answers everything at once: what is measured is ours."""
    if scope["type"] == "http":
        await receive()
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        body = json.dumps(document(1)).encode() if scope["path"] == "/openapi.json" else b"{}"
        await send({"type": "http.response.body", "body": body})


def case_in_process() -> float:
    """CPU seconds of one case: drawn by Hypothesis, sent to an application that does nothing, judged."""
    schema = checker.openapi.from_asgi("/openapi.json", application)

    @settings(
        max_examples=CASES, deadline=None, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(schema["/things0/{id}"]["POST"].as_strategy())
    def test(case: checker.Case) -> None:
        case.call_and_validate()

    test()
    rounds = []
    for _ in range(ROUNDS):
        started = time.process_time()
        test()
        rounds.append((time.process_time() - started) / CASES)
    return min(rounds)


def main() -> None:
    """Print a line for each."""
    print(f"import checker: {importing() * 1000:.1f} ms CPU (aim 60)")
    many, one = collecting()
    print(f"collecting {OPERATIONS} operations: {many:.2f} CPU-s (aim 1); one operation: {one:.2f}")
    print(f"a case in process: {case_in_process() * 1000:.2f} ms CPU (aim 0.5)")


if __name__ == "__main__":
    main()
