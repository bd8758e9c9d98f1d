"""Allure: a folder with a result for each operation."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid5

from checker.core.blocks import hidden_paragraphs, marked
from checker.core.graphs import grouped
from checker.core.terminal import without_ci_commands
from checker.reporting.findings import INTERMITTENT, kinds_of, prose, severity_rank
from checker.reporting.report import OperationOutcome, Report
from checker.reporting.shown import ReportContext, ShownFinding, shown_findings
from checker.reporting.text import json_text

_NAMES = UUID("8d7c1f4e-3b53-4c1e-9d0f-6b3a3c2f7e11")  # Namespace of ids, so that equal runs have equal ids.
_SEVERITIES = {"critical": "blocker", "high": "critical", "medium": "normal", "low": "minor"}
_STATUSES = {"passed": "passed", "failed": "failed", "errored": "broken", "skipped": "skipped"}


def write(report: Report, context: ReportContext) -> Iterator[tuple[str, str | bytes]]:
    """Yield (name, content) of each file."""
    by_label = grouped((shown.finding.label, shown) for shown in shown_findings(report.findings, context))
    errors = grouped(
        [
            *((one.label, f"{one.title}: {prose(one.message, context.masking.command)}") for one in report.errors),
            *((case.label, f"Quarantined case: {case.reason}") for case in report.quarantined),
        ]
    )
    known = {one.label: one for one in report.operations}
    for label in dict.fromkeys([*known, *by_label, *errors]):
        operation = known.get(label) or OperationOutcome(label, "failed")
        yield from _files(operation, by_label.get(label, []), errors.get(label, []), context)


def _named(text: str) -> UUID:
    """Return the id of a text; lone surrogates, which UTF-8 cannot encode, are escaped."""
    return uuid5(_NAMES, text.encode(errors="backslashreplace").decode())


def _hidden(told: Any, context: ReportContext) -> Any:
    match told:
        case str():
            return context.secrets.store.hide(told, context.sanitization.replacement)
        case bytes():
            return _hidden(told.decode(errors="surrogateescape"), context).encode(errors="surrogateescape")
        case dict():
            return {name: _hidden(one, context) for name, one in told.items()}
        case tuple():
            return tuple(_hidden(one, context) for one in told)
        case _:
            return told


def _files(
    operation: OperationOutcome, findings: list[ShownFinding], errors: list[str], context: ReportContext
) -> Iterator[tuple[str, str | bytes]]:
    """Yield (name, content) of the attachments of one operation, then of the result that refers to them."""
    own_id = _named(f"{context.started_at} {operation.label}")
    steps = []
    for number, shown in enumerate(findings):
        source = f"{uuid5(own_id, str(number))}-attachment"
        if shown.body:
            yield source, without_ci_commands(shown.body)
        steps.append(_step(shown, source if shown.body else ""))
    start = int(context.started_at * 1000)
    given = {key[1] for key in context.allure.get(operation.label, {}) if key[0] == "labels"}
    result: dict[str, Any] = {
        "uuid": str(own_id),
        "historyId": str(_named(operation.label)),
        "testCaseId": str(_named(operation.label)),
        "name": operation.label,
        "fullName": f"{context.title}: {operation.label}" if context.title else operation.label,
        "status": _status(operation, findings, errors),
        "stage": "finished",
        "start": start,
        "stop": start + int(operation.seconds * 1000),
        "labels": [
            {"name": name, "value": value} for name, value in _labels(operation, findings, context) if name not in given
        ],
        "steps": steps,
    }
    if message := "\n\n".join([*errors, *(one.headline for one in findings)]):
        result["statusDetails"] = {
            "message": message,
            "known": bool(findings) and not any(one.fails for one in findings),
        }
    elif operation.note:
        result["statusDetails"] = {"message": operation.note}
    for key, told in context.allure.get(operation.label, {}).items():
        told = _hidden(told, context) if context.sanitization.enabled else told
        member = key[0]
        if len(key) == 1:
            result[member] = told
        elif member == "attachments":
            name, media_type, extension, content = told
            source = f"{uuid5(own_id, key[2])}-attachment.{extension}"
            yield source, content
            result.setdefault(member, []).append({"name": name, "source": source, "type": media_type})
        else:
            result.setdefault(member, []).append(told)
    yield f"{own_id}-result.json", json_text(result, indent=True)


def _status(operation: OperationOutcome, findings: list[ShownFinding], errors: list[str]) -> str:
    if errors:
        return "broken"
    if findings and not any(one.fails for one in findings):
        return "skipped"
    return "failed" if findings else _STATUSES[operation.outcome]


def _labels(
    operation: OperationOutcome, findings: list[ShownFinding], context: ReportContext
) -> Iterator[tuple[str, str]]:
    yield "framework", "checker"
    yield "layer", "API"
    yield "story", operation.label
    if context.title:
        yield "epic", context.title
    for tag in operation.tags:
        yield "feature", tag
    if findings:
        worst = min((one.finding.severity for one in findings), key=severity_rank)
        yield "severity", _SEVERITIES.get(worst, "normal")


def _step(shown: ShownFinding, source: str) -> dict[str, Any]:
    at = int(shown.finding.at * 1000)
    step: dict[str, Any] = {
        "name": f"Test Case: {shown.finding.case}" if shown.finding.case else "Whole run",
        "status": "failed" if shown.fails else "skipped",
        "stage": "finished",
        "start": at,
        "stop": at,
        "statusDetails": {
            "message": "\n\n".join(part for part in (marked(shown.title, shown.marks), shown.message) if part),
            "trace": "\n".join((*shown.commands, *hidden_paragraphs(shown.hidden))),
            "known": not shown.fails,
            "flaky": INTERMITTENT in kinds_of(shown.finding),
        },
    }
    if source:
        name = f"Response {shown.status}".strip()
        step["attachments"] = [{"name": name, "source": source, "type": "text/plain"}]
    return step
