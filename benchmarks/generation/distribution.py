"""How many cases it takes to meet a defect that only some values trigger: median of ten seeds."""

from collections.abc import Iterable
from pathlib import Path

from tests.measuring.distribution import ENOUGH, MOST, Row, measured


def table(rows: Iterable[Row]) -> str:
    """The rows in Markdown."""
    lines = ["| kind | defect | cases (median) | best | worst |", "|---|---|---:|---:|---:|"]
    for row in rows:
        name = f"| {row.defect.kind} | {row.defect.name} |"
        if row.cases is None:
            lines.append(f"{name} mode {row.defect.mode} does not exist yet | | |")
        else:
            shown = (row.median, min(row.cases), max(row.cases))
            lines.append(f"{name} {' | '.join(map(_shown, shown))} |")
    return "\n".join(lines)


def _shown(cases: int | None) -> str:
    return f"> {MOST:,}" if cases is None or cases > MOST else f"{cases:,}"


def section(place: Path, options: list[str]) -> None:
    """Prints the table and how many defects take too long."""
    rows = measured()
    print(table(rows))
    slow = [row for row in rows if row.median is not None and row.median > ENOUGH]
    waiting = sum(row.cases is None for row in rows)
    print(f"\n{len(rows)} defects, {len(slow)} not within {ENOUGH:,} cases, {waiting} not measured")
