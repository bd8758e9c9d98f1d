"""A target that the kernel kills three times during a run, each time gone for 5 s: findings as if nothing had happened, and one for each death.

    python -m benchmarks.deaths [SECONDS]

Required, with 1 and with 2 workers: the operations' findings are those of a run that nobody disturbed, each death is a finding of
its own, and no operation has an error.
"""

import json
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.e2e.runner import Command
from tests.health.killed import KilledTarget, killed_target
from tests.health.test_dying import PATHS, TITLE

_LASTS = (60, 150, 200)
_GONE_S = 5.0


def main() -> int:
    """Print a line for each run; exit code 1 when one is not as required."""
    gone_s = float(sys.argv[1]) if sys.argv[1:] else _GONE_S
    is_well = True
    print(f"{'workers':>8}{'deaths':>8}{'told':>6}{'errors':>8}  findings of operations")
    for workers in (1, 2):
        calm, _, _ = _run(workers, (), gone_s)
        found, errors, deaths = _run(workers, _LASTS, gone_s)
        told = sum(count for (_, title), count in found.items() if title == TITLE)
        others = Counter({key: n for key, n in found.items() if key[1] != TITLE})
        is_same = others == calm
        is_well &= is_same and told == deaths == len(_LASTS) and not errors and bool(calm)
        shown = "as undisturbed" if is_same else f"{dict(others)} for {dict(calm)}"
        print(f"{workers:>8}{deaths:>8}{told:>6}{errors:>8}  {shown}", flush=True)
    return int(not is_well)


def _run(workers: int, lasts: tuple[int, ...], gone_s: float) -> tuple[Counter[tuple[str, str]], int, int]:
    """((operation, title) -> count, errors, deaths) of one run over a target that is killed by such requests."""
    with tempfile.TemporaryDirectory() as folder, killed_target(*lasts) as target:
        place, over = Path(folder).resolve(), threading.Event()
        document = {"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": PATHS}
        (place / "api.json").write_text(json.dumps(document))
        nurse = threading.Thread(target=_raise, args=(target, gone_s, over))
        nurse.start()
        try:
            Command(place)(
                *("run", "api.json", "--url", target.url, "--workers", str(workers)),
                *("--seed", "1", "--report", "json", "--report-json-path", "report.json"),
            )
        finally:
            over.set()
            nurse.join()
        report: dict[str, Any] = json.loads((place / "report.json").read_text())
        found = Counter((one["operation"], one["title"]) for one in report["failures"])
        return found, len(report["errors"]), target.deaths


def _raise(target: KilledTarget, gone_s: float, over: threading.Event) -> None:
    """Whenever it is killed, have it back after so many seconds."""
    while not over.is_set():
        if target.incarnations[-1].poll() is None:
            time.sleep(0.01)
        elif not over.wait(gone_s):
            target.rise()


if __name__ == "__main__":
    sys.exit(main())
