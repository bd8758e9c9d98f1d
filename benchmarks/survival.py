"""A night in which the service restarts every two minutes, a worker is killed every five seconds, the supervisor every three minutes.

    python -m benchmarks.survival [SECONDS]

Required: no finding is lost or told twice, no process is left behind, and memory and disk keep their budgets. Of 90 minutes
or more: the memory in the last 20 minutes is <= 1.02 x that of minutes 20 to 40.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.chaos import target
from tests.chaos.survival import Limits, Periods, Restarting, Survived, survive
from tests.e2e.runner import Command

SECONDS = 1800.0
PERIODS = Periods(service=120.0, worker=5.0, supervisor=180.0)
LIMITS = Limits(memory_bytes=600 << 20, disk_bytes=64 << 20)
DOWN_S = 3.0
OVER_FOR_A_MOMENT = 1.1
"""Sizes are looked at once a second, and a worker is replaced after its requests in flight."""
_MINUTE_S = 60.0
_LONG_S = 90 * _MINUTE_S
_GROWTH = 1.02


def main() -> int:
    """Print the figures; exit code 1 when something is not as required."""
    seconds = float(sys.argv[1]) if sys.argv[1:] else SECONDS
    service = Restarting(target.defective(pause_s=0.005), target.document(24))
    try:
        with tempfile.TemporaryDirectory() as folder:
            ends_at = time.monotonic() + seconds
            command = Command(Path(folder).resolve())
            found = survive(command, service, time.monotonic, ends_at, PERIODS, LIMITS, down_s=DOWN_S)
            faults = found.faults + _over_budget(found)
            errors = {error.title for error in found.ran.view.errors.values()} if found.ran is not None else set()
            told = found.ran.view.finding_count() if found.ran is not None else 0
    finally:
        service.close()
    deaths = ", ".join(f"{name} {count}" for name, count in sorted(found.deaths.items()))
    print(f"{seconds:.0f} s, {found.requests:,} requests, {told} findings; deaths: {deaths}; errors: {sorted(errors)}")
    for name, place, limit in (("memory", 1, LIMITS.memory_bytes), ("corpus", 2, LIMITS.disk_bytes)):
        sizes = [sample[place] for sample in found.samples]
        middle, most = statistics.median(sizes), max(sizes)
        print(f"{name}: median {middle / 2**20:.0f} MiB, most {most / 2**20:.0f} MiB (limit {limit >> 20})")
    if seconds >= _LONG_S:
        growth = _mean(found, 1, seconds - 20 * _MINUTE_S, seconds) / _mean(found, 1, 20 * _MINUTE_S, 40 * _MINUTE_S)
        print(f"memory of the last 20 minutes by that of minutes 20 to 40: {growth:.3f} (limit {_GROWTH})")
        faults += ["the memory grows"] * (growth > _GROWTH)
    print("\n".join(faults) or "nothing lost, nothing told twice")
    return int(bool(faults))


def _over_budget(found: Survived) -> list[str]:
    most_memory, most_disk = (max(sample[place] for sample in found.samples) for place in (1, 2))
    over = [most_memory > OVER_FOR_A_MOMENT * LIMITS.memory_bytes, most_disk > OVER_FOR_A_MOMENT * LIMITS.disk_bytes]
    return [f"too much {name}" for name, is_over in zip(("memory", "disk"), over, strict=True) if is_over]


def _mean(found: Survived, place: int, since_s: float, until_s: float) -> float:
    return statistics.mean(sample[place] for sample in found.samples if since_s <= sample[0] <= until_s)


if __name__ == "__main__":
    sys.exit(main())
