"""How many cases it takes to meet a defect that only some values trigger: median of ten seeds."""

from collections.abc import Iterable
from pathlib import Path

from tests.measuring.distribution import ENOUGH, MOST, Row, measured


def table(rows: Iterable[Row]) -> str:
    """The rows in Markdown."""
    lines = ["| kind | defect | cases (median) | best | worst |", "|---|---|---:|---:|---:|"]
    for row in rows:
        name = f"| {row.defect.kind} | {row.defect.name} |"
        shown = (row.median, min(row.cases), max(row.cases))
        lines.append(f"{name} {' | '.join(map(_shown, shown))} |")
    return "\n".join(lines)


def _shown(cases: int) -> str:
    return f"> {MOST:,}" if cases > MOST else f"{cases:,}"


def section(place: Path, options: list[str]) -> None:
    """Prints the table and how many defects take too long."""
    rows = measured()
    print(table(rows))
    slow = [row for row in rows if row.median > ENOUGH]
    print(f"\n{len(rows)} defects, {len(slow)} not within {ENOUGH:,} cases")
