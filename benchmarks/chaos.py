"""`kill -9` of workers and supervisors: one kill in each of many short runs, then kills of `fuzz` at each stage of its work.

    python -m benchmarks.chaos [RUNS [STAGES]]

Required of the runs: each has a report, with every planted 500 that was answered before the last flush of a journal and with all
requests that the server counted, and half of them have a failure. Of `fuzz`: nothing that was on record at a kill is missing from
the report or told twice. No process is left behind.
"""

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.apps.serving import serving
from tests.chaos import target
from tests.chaos.killing import STAGES, Campaign, kill_supervisors, kill_workers
from tests.chaos.seeded_kills import VICTIMS, Killed, killed_run, plans
from tests.e2e.runner import Command

RUNS = 200
KILLS = 36
_KILLS_OF_A_CAMPAIGN = 6
_INTERRUPTED = 130


def main() -> int:
    """Print both tables; exit code 1 when something was lost."""
    runs = int(sys.argv[1]) if sys.argv[1:] else RUNS
    kills = int(sys.argv[2]) if sys.argv[2:] else KILLS
    began = time.monotonic()
    is_well = _seeded(runs)
    campaigns = [_campaign(number) for number in range(-(-kills // _KILLS_OF_A_CAMPAIGN))]
    is_well &= _table(campaigns)
    print(f"{time.monotonic() - began:.0f} s")
    return int(not is_well)


def _seeded(count: int) -> bool:
    """Print a row for each kind of kill; return whether every run is as required."""
    killed: list[Killed] = []
    for number, plan in enumerate(plans(count, seed=1)):
        with tempfile.TemporaryDirectory() as folder:
            one = killed_run(Command(Path(folder).resolve()), plan)
        killed.append(one)
        if one.faults:
            print(f"run {number}, {plan}: {', '.join(one.faults)}\n{one.shown}", flush=True)
    columns = ("runs", "reports", "failing", "planted", "faulty")
    print(f"{'victim':<12}{'after':<14}" + "".join(f"{name:>9}" for name in columns))
    for victim in VICTIMS:
        for name, is_first in (("no request", True), ("request 1-200", False)):
            row = [one for one in killed if one.plan.victim == victim and (one.plan.after == 0) is is_first]
            counts = (
                len(row),
                sum(one.is_reported for one in row),
                sum(bool(one.findings) for one in row),
                sum(len(one.planted) for one in row),
                sum(bool(one.faults) for one in row),
            )
            print(f"{victim:<12}{name:<14}" + "".join(f"{one:>9}" for one in counts))
    has_enough = 2 * sum(bool(one.findings) for one in killed) >= len(killed)
    return has_enough and not any(one.faults for one in killed)


def _campaign(number: int) -> Campaign:
    """Every second one is of supervisors; each begins with another stage, when little is known yet."""
    turn = number // 2 % len(STAGES)
    stages = [*STAGES[turn:], *STAGES[:turn]]
    app = serving(target.defective(pause_s=0.005), target.document(24))
    with app as api, tempfile.TemporaryDirectory() as folder:
        command = Command(Path(folder).resolve())
        kill = kill_supervisors if number % 2 else kill_workers
        return kill(command, api.document_url, stages, seed=number)


def _table(campaigns: list[Campaign]) -> bool:
    """Print it; whether all is well."""
    totals: dict[tuple[str, str], Counter[str]] = {}
    for kill in (kill for campaign in campaigns for kill in campaign.kills):
        row = totals.setdefault((kill.victim, kill.stage.name.lower()), Counter())
        row.update(kills=1, seen=len(kill.new), lost=kill.lost, duplicated=kill.duplicated, orphans=kill.orphans)
    columns = ("kills", "seen", "lost", "duplicated", "orphans")
    print(f"{'victim':<12}{'stage':<10}" + "".join(f"{name:>12}" for name in columns))
    for (victim, stage), row in sorted(totals.items()):
        print(f"{victim:<12}{stage:<10}" + "".join(f"{row[name]:>12}" for name in columns))
    whole = sum(totals.values(), Counter[str]())
    print(f"{'all':<22}" + "".join(f"{whole[name]:>12}" for name in columns))
    left = sum(campaign.orphans for campaign in campaigns)
    codes = Counter(campaign.ran.code for campaign in campaigns if campaign.ran is not None)
    print(f"exit codes of the last runs: {dict(codes)}; processes left after them: {left}")
    is_lossless = not (whole["lost"] or whole["duplicated"] or whole["orphans"] or left)
    return is_lossless and set(codes) == {_INTERRUPTED}


if __name__ == "__main__":
    sys.exit(main())
