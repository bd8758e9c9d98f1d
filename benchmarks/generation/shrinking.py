"""How small failing cases become, and what that costs: executions of the predicate, and CPU time."""

from collections.abc import Iterable
from pathlib import Path

from tests.measuring.predicates import Smallest
from tests.measuring.shrinking import STARTS, Row, measured


def table(rows: Iterable[Row]) -> str:
    """The rows in Markdown; executions and times are those of the dearest shrink."""
    lines = [
        "| kind | predicate | minimal | smallest case | choices at the start | executions | CPU ms |",
        "|---|---|---|---|---:|---:|---:|",
    ]
    for row in rows:
        failing, shrinks = row.failing, row.shrinks
        name = f"| {failing.kind} | {failing.name} |"
        if not shrinks:
            lines.append(f"{name} mode {failing.mode} does not exist yet | | | | |")
            continue
        worst = max(shrinks, key=lambda one: one.executions)
        verdict = "yes" if row.is_minimal else f"**no**: {_largest(row)}"
        lines.append(
            f"{name} {verdict} | {_cell(failing.smallest)} | {max(one.choices for one in shrinks)} "
            f"| {worst.executions} | {max(one.cpu_ms for one in shrinks):.0f} |"
        )
    return "\n".join(lines)


def _largest(row: Row) -> str:
    return _cell(max((one.found for one in row.shrinks), key=lambda found: len(repr(found))))


def _cell(smallest: Smallest) -> str:
    text = str(smallest).replace("|", "\\|")
    return f"`{text if len(text) <= 90 else text[:87] + '...'}`"


def section(place: Path, options: list[str]) -> None:
    """Prints the table and how many are not minimal."""
    rows = measured()
    print(table(rows))
    missed = sum(not row.is_minimal for row in rows)
    print(f"\n{len(rows)} predicates from {STARTS} cases each, {missed} not minimal")
