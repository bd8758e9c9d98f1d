"""`checker list`: operations as lines for people, and as JSON."""

from msgspec import to_builtins

from checker.reporting.json_text import json_text
from checker.reporting.text import xml_text
from checker.workers.starting.outline import OutlinedOperation, RunOutline

_WIDEST = 60
"""Columns of labels: a longer one moves its own line alone."""


def outline_text(outline: RunOutline) -> str:
    """One line an operation: its label, what it takes (`*`: required), the phases that test it."""
    head = " · ".join(
        part
        for part in (
            outline.title,
            outline.specification,
            f"{outline.selected} selected / {outline.total} total",
        )
        if part
    )
    lines = [head]
    if outline.filters:
        lines.append(f"Filters: {', '.join(outline.filters)}")
    lines.append("")
    width = min(_WIDEST, max((len(one.label) for one in outline.operations), default=0))
    lines += [_line(one, width) for one in outline.operations]
    if outline.broken:
        lines += ["", "Not readable:"]
        lines += [f"{label}: {error}" for label, error in outline.broken]
    return "\n".join(xml_text(" ".join(line.splitlines())) for line in lines)


def _line(one: OutlinedOperation, width: int) -> str:
    parts = [f"{found.name}{'*' * found.is_required} ({found.location})" for found in one.inputs]
    parts += [f"body {name}" for name in one.media_types]
    notes = [", ".join(parts) or "-", f"[{', '.join(one.phases) or 'no phase'}]"]
    if one.deprecated:
        notes.append("deprecated")
    return "  ".join((f"{one.label:<{width}}", *notes))


def outline_json(outline: RunOutline) -> str:
    """An object: `operations` in document order, each with `label`, `inputs`, `phases` and what else is known of it."""
    plain = to_builtins(outline)
    plain["selected"] = outline.selected
    plain["broken"] = [{"label": label, "error": error} for label, error in outline.broken]
    return json_text(plain, indent=True)
