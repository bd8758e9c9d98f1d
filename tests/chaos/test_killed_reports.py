"""A supervisor that is killed leaves enough for every report. `python -m benchmarks.killed_reports` asks at 20 points."""

from pathlib import Path

from tests.apps.serving import serving
from tests.chaos import target
from tests.chaos.told import killed_after
from tests.e2e.runner import Command


def test_what_is_left_of_a_killed_run_makes_every_report(command: Command, tmp_path: Path) -> None:
    api = serving(target.defective(pause_s=0.0), target.document(6))
    with api as app:
        (killed,) = killed_after(command, app, (150,), tmp_path.parent / "reports")
    assert killed.absent == ()
    assert killed.missing == frozenset()
    assert killed.unsaid == frozenset()
    assert killed.on_record
    assert killed.kept
