"""What a default `run` costs, start-up and shrinking included: CPU of all its processes, by phases and as a whole.

    python -m benchmarks.run_speed [FOLDER OF THE C TARGET]

Aim: 5,000 requests per CPU-second. Beside it stands the cost of a request of a bare libcurl loop in the same minute: it
says how busy the machine is. Linux.
"""

import ctypes
import os
import re
import resource
import subprocess
import sys
import tempfile
from statistics import median

from benchmarks.hot_path import TAKES_ALL, Bare
from benchmarks.target import Target, folder_argument, target
from checker.core.phases import default_phases
from checker.core.request import WireRequest

AIM = 5_000
EXAMPLES = "500"
NOT_TRIED = ",".join(TAKES_ALL)
_SUBREAPER = 36
"""`PR_SET_CHILD_SUBREAPER`: workers that outlive the fork server are ours to wait for, and so is their CPU."""
_ALONE = "--alone"
REQUESTS = re.compile(r"^ +([\d,]+) requests", re.MULTILINE)


def main() -> int:
    """Print the table; exit code 1 when the aim is missed."""
    with target(folder_argument()) as server:
        bare_us = _bare_us(server)
        print(f"target: {server.name}; a bare request takes {bare_us:.1f} us of CPU")
        nothing = ("--phases", "fuzzing", "-n", "1", "--exclude-checks", NOT_TRIED)
        # The first run compiles modules.
        _measured(server, nothing)
        _, startup_s = _measured(server, nothing)
        print(f"start-up, one case for each operation: {startup_s:.2f} CPU-s")
        for phase in default_phases():
            arguments = ("--phases", phase, "-n", EXAMPLES, "--exclude-checks", NOT_TRIED)
            print(_line(phase, *_measured(server, arguments), bare_us, startup_s))
        rate = 0.0
        for name, chosen in {
            "default": (),
            f"-n {EXAMPLES}": ("-n", EXAMPLES),
            "clean": ("-n", EXAMPLES, "--exclude-checks", NOT_TRIED),
        }.items():
            requests, cpu_s = _measured(server, chosen)
            rate = requests / cpu_s
            print(_line(name, requests, cpu_s, bare_us, 0.0))
    print(f"aim {AIM:,} requests per CPU-second: {'ok' if rate >= AIM else 'MISSED'}")
    return int(rate < AIM)


def _line(name: str, requests: int, cpu_s: float, bare_us: float, startup_s: float) -> str:
    """A row; of phases without what every run costs."""
    spent_s = max(0.01, cpu_s - startup_s)
    if not requests:
        return f"{name:9} nothing to send"
    each_us = 1e6 * spent_s / requests
    rate = requests / spent_s
    return (
        f"{name:9} {requests:7,} requests {spent_s:6.2f} CPU-s {rate:7,.0f}/CPU-s"
        f" {each_us:6.0f} us = {each_us / bare_us:.1f} x bare"
    )


def _bare_us(server: Target) -> float:
    bare = Bare(server.url, [WireRequest("GET", b"/users", [(b"Accept", b"*/*")])], 1)
    rounds = [bare.round() for _ in range(5)]
    bare.close()
    return median(rounds)


def _measured(server: Target, arguments: tuple[str, ...]) -> tuple[int, float]:
    return measured("run", server.document, "--url", server.url, "--seed", "1", *arguments)


def measured(*arguments: str) -> tuple[int, float]:
    """(requests, CPU-seconds of all processes) of one `run` or `fuzz`."""
    command = [sys.executable, "-m", "benchmarks.run_speed", _ALONE, *arguments]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as scratch:
        ended = subprocess.run(
            command, cwd=scratch, env=environment | {"PYTHONPATH": os.getcwd()}, capture_output=True, text=True
        )
    found = REQUESTS.search(ended.stdout)
    return int(found[1].replace(",", "")) if found else 0, float(ended.stderr.split()[-1])


def _alone(arguments: list[str]) -> int:
    """Run a command, and print what it and all its descendants cost, in CPU-seconds."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    subprocess.run([sys.executable, "-m", "checker", *arguments], check=False)
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(used.ru_utime + used.ru_stime, file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(_alone(sys.argv[2:]) if sys.argv[1:2] == [_ALONE] else main())
