"""A night in which the service restarts every two minutes, a worker is killed every five seconds, the supervisor every three minutes.

    python -m benchmarks.survival [SECONDS]

Required: no finding is lost or told twice, no process is left behind, and memory and disk keep their budgets. Of 90 minutes
or more: the memory in the last 20 minutes, and the bytes written for each request, are <= 1.02 x those of minutes 20 to 40.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.chaos import target
from tests.chaos.survival import Limits, Periods, Restarting, Sample, Survived, survive
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
    for name, limit in (("memory", LIMITS.memory_bytes), ("corpus", LIMITS.disk_bytes)):
        sizes = [getattr(sample, name) for sample in found.samples]
        middle, most = statistics.median(sizes), max(sizes)
        print(f"{name}: median {middle / 2**20:.0f} MiB, most {most / 2**20:.0f} MiB (limit {limit >> 20})")
    samples, quarter = found.samples, len(found.samples) // 4
    parts = [samples[number * quarter : (number + 1) * quarter + 1] for number in range(4)]
    # At a lower rate the frames of recorded traffic are smaller, so that each request takes more bytes.
    print("requests/s, by quarters: " + ", ".join(f"{_rate(one):,.0f}" for one in parts))
    print("bytes written for each request, by quarters: " + ", ".join(f"{_written(one):,.0f}" for one in parts))
    # A run that ended early is a fault already.
    if seconds >= _LONG_S and samples[-1].at_s >= seconds - _MINUTE_S:
        early = [one for one in found.samples if 20 * _MINUTE_S <= one.at_s <= 40 * _MINUTE_S]
        late = [one for one in found.samples if one.at_s >= seconds - 20 * _MINUTE_S]
        for name, of in (("memory", _memory), ("bytes written for each request", _written)):
            growth = of(late) / of(early)
            print(f"{name}: last 20 minutes by minutes 20 to 40: {growth:.3f} (limit {_GROWTH})")
            faults += [f"growth: {name}"] * (growth > _GROWTH)
    print("\n".join(faults) or "nothing lost, nothing told twice")
    return int(bool(faults))


def _over_budget(found: Survived) -> list[str]:
    limits = {"memory": LIMITS.memory_bytes, "corpus": LIMITS.disk_bytes}
    most = {name: max(getattr(sample, name) for sample in found.samples) for name in limits}
    return [f"too much {name}" for name, limit in limits.items() if most[name] > OVER_FOR_A_MOMENT * limit]


def _memory(samples: Sequence[Sample]) -> float:
    return statistics.mean(one.memory for one in samples)


def _rate(samples: Sequence[Sample]) -> float:
    first, last = samples[0], samples[-1]
    return (last.requests - first.requests) / (last.at_s - first.at_s)


def _written(samples: Sequence[Sample]) -> float:
    """Return the bytes that were written for each request between the first and the last sample."""
    first, last = samples[0], samples[-1]
    return (last.written - first.written) / max(1, last.requests - first.requests)


if __name__ == "__main__":
    sys.exit(main())
