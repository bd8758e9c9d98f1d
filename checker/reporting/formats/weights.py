"""Weights of shards: the seconds that each operation took, for `--shard-weights` of later runs."""

from collections.abc import Iterator

from checker.config.files import WEIGHTS
from checker.reporting.report import Report
from checker.reporting.shown import ReportContext
from checker.reporting.text import json_text


def write(report: Report, context: ReportContext) -> Iterator[str]:
    """Yield the text of the file. An operation without a case has no weight, so that later runs estimate it."""
    weights = {one.label: round(one.seconds, 3) for one in report.operations if one.cases}
    yield json_text({WEIGHTS: weights}, indent=True)
    yield "\n"
