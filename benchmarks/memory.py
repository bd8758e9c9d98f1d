"""Memory of a worker during a minute of `fuzz`.

    python -m benchmarks.memory [FOLDER OF THE C TARGET]

Required: median RSS of seconds 50-60 <= 1.05 x that of seconds 15-25, and <= 150 MiB a worker.
"""

import statistics
import subprocess
import sys
import tempfile
import time

import psutil

from benchmarks.target import folder_argument, target

SECONDS = 62
GROWTH_LIMIT = 1.05
LIMIT_MIB = 150
WORKERS = 2


def main() -> int:
    """Print the figures; exit code 1 when a limit is broken."""
    samples: list[tuple[float, float]] = []
    with target(folder_argument()) as server, tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "checker", "fuzz", server.document, "--url", server.url]
        command += ["--max-time", str(SECONDS), "--continue-on-failure", "--workers", str(WORKERS)]
        run = subprocess.Popen(command, cwd=scratch, stdout=subprocess.PIPE)
        began = time.monotonic()
        while run.poll() is None:
            at = time.monotonic() - began
            samples += [(at, rss) for rss in _workers_mib(run.pid)]
            time.sleep(0.25)
        output = run.stdout.read().decode() if run.stdout else ""
    early = statistics.median(rss for at, rss in samples if 15 <= at <= 25)
    late = statistics.median(rss for at, rss in samples if 50 <= at <= 60)
    most = max(rss for at, rss in samples)
    rate = next((line.strip() for line in output.splitlines() if "requests/s" in line), "")
    print(
        f"target: {server.name}; {rate}\n"
        f"RSS of a worker: seconds 15-25 {early:.1f} MiB, 50-60 {late:.1f} MiB, growth {late / early:.3f}"
        f" (limit {GROWTH_LIMIT}), most {most:.1f} MiB (limit {LIMIT_MIB})"
    )
    return int(late / early > GROWTH_LIMIT or most > LIMIT_MIB)


def _workers_mib(pid: int) -> list[float]:
    """RSS of each worker: the processes below the fork server."""
    found = []
    try:
        for child in psutil.Process(pid).children():
            found += [worker.memory_info().rss / 2**20 for worker in child.children()]
    except psutil.NoSuchProcess:
        pass
    return found


if __name__ == "__main__":
    raise SystemExit(main())
