"""What a large description costs: the CPU of its resource model, and the memory of a `run` of it with two workers.

    python -m benchmarks.large_document DOCUMENT.json [SECONDS]

Required of the largest of the descriptions that we know (1,049 operations): the model costs <= 2 CPU-s, workers read it
and do not build it, and all processes of the run together take <= 400 MiB at any time. What several of them share counts
once (PSS). SECONDS limits the run. Linux.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NoReturn
from unittest.mock import patch

import psutil

from benchmarks.described_target import described_target
from benchmarks.run_speed import NOT_TRIED, REQUESTS
from checker.openapi.documents.parsing import parse_json
from checker.openapi.schema import OpenApiSchema, open_normalised

MODEL_LIMIT_S = 2.0
LIMIT_MIB = 400
WORKERS = 2
_PAUSE_S = 0.5


def main() -> int:
    """Print the figures; exit code 1 when a limit is broken."""
    document = Path(sys.argv[1])
    seconds = sys.argv[2] if len(sys.argv) > 2 else ""
    built_s, read_s = _model(document.read_bytes())
    print(
        f"resource model: built in {built_s:.2f} CPU-s (limit {MODEL_LIMIT_S}), operations read for it;"
        f" read by workers in {read_s:.3f} CPU-s, not built"
    )
    most, by_process, told = _memory(document, seconds)
    parts = ", ".join(f"{mib:.0f}" for mib in by_process)
    print(f"{told}\nmost memory of all processes: {most:.0f} MiB (limit {LIMIT_MIB}) = {parts}")
    return int(built_s > MODEL_LIMIT_S or most > LIMIT_MIB)


def _model(content: bytes) -> tuple[float, float]:
    """CPU-seconds of building the model, operations included, and of reading what was written down of it."""
    schema = OpenApiSchema(parse_json(content))
    began = time.process_time()
    built = schema.resources()
    built_s = time.process_time() - began
    reopened = open_normalised(schema.normalised())
    with patch("checker.openapi.schema.modelled.resource_model", _not_again):
        began = time.process_time()
        read = reopened.resources()
        read_s = time.process_time() - began
    assert read.plain() == built.plain()
    return built_s, read_s


def _not_again(*_: object) -> NoReturn:
    raise AssertionError("the model was built although it was written down")


def _memory(document: Path, seconds: str) -> tuple[float, list[float], str]:
    """Most MiB of all processes at one time, those of each then, and what the run says of its requests."""
    samples: list[list[float]] = []
    with described_target(document) as url, tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "checker", "run", str(document), "--url", url]
        command += ["--workers", str(WORKERS), "--seed", "1", "--exclude-checks", NOT_TRIED]
        command += ["--max-time", seconds] if seconds else []
        output = Path(scratch, "output")
        with output.open("w") as stdout:
            run = subprocess.Popen(command, cwd=scratch, stdout=stdout)
            while run.poll() is None:
                samples.append(_processes_mib(run.pid))
                time.sleep(_PAUSE_S)
        found = REQUESTS.search(output.read_text())
    most = max(samples, key=sum)
    return (sum(most), sorted(most, reverse=True), "no requests" if found is None else found[0].strip())


def _processes_mib(pid: int) -> list[float]:
    """PSS of each process of a run."""
    found = []
    try:
        run = psutil.Process(pid)
        for one in (run, *run.children(recursive=True)):
            found.append(one.memory_full_info().pss / 2**20)
    except psutil.Error:
        # It has just ended.
        pass
    return found


if __name__ == "__main__":
    raise SystemExit(main())
