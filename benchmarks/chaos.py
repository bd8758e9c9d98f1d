"""`kill -9` of workers and supervisors of `fuzz`, at each stage of their work.

    python -m benchmarks.chaos [KILLS]

Required: nothing that was on record at a kill is missing from the report or told twice, and no process is left behind.
"""

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.apps.serving import serving
from tests.chaos import target
from tests.chaos.killing import STAGES, Campaign, kill_supervisors, kill_workers
from tests.e2e.runner import Command

KILLS = 36
_KILLS_OF_A_CAMPAIGN = 6
_INTERRUPTED = 130


def main() -> int:
    """Print the table; exit code 1 when something was lost."""
    kills = int(sys.argv[1]) if sys.argv[1:] else KILLS
    began = time.monotonic()
    campaigns = [_campaign(number) for number in range(-(-kills // _KILLS_OF_A_CAMPAIGN))]
    is_well = _table(campaigns)
    print(f"{time.monotonic() - began:.0f} s")
    return int(not is_well)


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
        row.update(
            kills=1,
            seen=len(kill.new),
            lost=kill.lost,
            duplicated=kill.duplicated,
            orphans=kill.orphans,
        )
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
