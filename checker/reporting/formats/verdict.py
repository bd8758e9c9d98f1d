"""JSON: the result of a run for programs. `verdict.schema.json` is its schema."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from msgspec.structs import asdict

from checker import __version__
from checker.config.files import WEIGHTS
from checker.reporting.baselines import baseline_values, entry_values
from checker.reporting.described import Alternatives, OperationCoverage, OutcomeCounts
from checker.reporting.findings import Cause, cause_of, causes_of, prose
from checker.reporting.report import Discovery, PhaseOutcome, Report
from checker.reporting.shown import ReportContext, ShownFinding, shown_findings
from checker.reporting.text import json_text, unicode_text
from checker.reporting.warnings import WarningGroup, warning_groups

SCHEMA_VERSION = 2
"""Version of the format. The version changes if a key is removed or changes its meaning, not if a key is added."""


def write(report: Report, context: ReportContext) -> Iterator[str]:
    """Yield the text of the report."""
    yield json_text(verdict(report, context), indent=True)
    yield "\n"


def verdict(report: Report, context: ReportContext) -> dict[str, Any]:
    """Return the report as plain values."""
    shown = context.masking.command
    began = datetime.fromtimestamp(context.started_at, UTC).isoformat()
    shares = {name: {"met": share.met, "total": share.total} for name, share in report.coverage.shares.items()}
    return {
        "format_version": SCHEMA_VERSION,
        "version": __version__,
        "command": context.command,
        "seed": report.seed,
        "location": context.location,
        "base_url": context.base_url,
        "api": {"title": context.title, "specification": context.specification},
        "started_at": began if context.started_at else None,
        "running_time": report.time.elapsed_s,
        "stop_reason": report.outcome,
        "complete": report.is_complete and report.outcome not in ("interrupted", "error"),
        "operations": _operations(report),
        "phases": {phase.name: _phase(phase) for phase in report.phases},
        "test_cases": {
            "generated": report.counts.cases,
            "with_failures": report.counts.failed_cases,
            "unique_failures": len(report.findings),
            "requests": report.counts.requests,
        },
        "failures": [
            _failure(one, report.seen_in(one.finding.fingerprint)) for one in shown_findings(report.findings, context)
        ],
        "causes": [_cause(one) for one in causes_of(report.findings)],
        "coverage": shares
        | {
            "shortfalls": list(report.coverage.shortfalls),
            "results": [_coverage(one) for one in report.coverage.operations],
        },
        "baseline": baseline_values(report.compared),
        "since_last_run": {
            name.replace(" ", "_"): [
                {"fingerprint": one, "operation": label, "title": unicode_text(title)} for one, label, title in places
            ]
            for name, places in report.changes.found.items()
        }
        or None,
        "discovery": _discovery(report.discovery),
        "errors": [
            {
                "operation": error.label,
                "phase": error.phase or None,
                "title": error.title,
                "message": prose(error.message, shown),
            }
            for error in report.errors
        ],
        "quarantined": [
            {"operation": case.label, "stage": case.stage, "reason": case.reason} for case in report.quarantined
        ],
        "runs": [{name: value for name, value in asdict(one).items() if name != "fingerprints"} for one in report.runs],
        "warnings": [_warning(group) for group in warning_groups(report.notes)],
    }


def _discovery(found: Discovery) -> dict[str, Any] | None:
    if not found.points:
        return None
    points = [{"seconds": seconds, "causes": causes, "statuses": seen} for seconds, causes, seen in found.points]
    return {"points": points, "expected": {"seconds": found.further_s, "statuses": round(found.expected, 3)}}


def _operations(report: Report) -> dict[str, Any]:
    outcomes = [one.outcome for one in report.operations]
    return {
        "total": report.counts.total,
        "selected": report.counts.selected,
        "tested": report.tested,
        "reached": report.succeeded,
        "errored": outcomes.count("errored"),
        "skipped": outcomes.count("skipped"),
        "results": [
            {
                "operation": one.label,
                "outcome": one.outcome,
                "reach": one.reach or None,
                "cases": one.cases,
                "statuses": {str(status): count for status, count in one.statuses},
                "seconds": round(one.seconds, 6),
                "note": one.note or None,
            }
            for one in report.operations
        ],
    }


def _coverage(one: OperationCoverage) -> dict[str, Any]:
    return {
        "operation": one.label,
        "responses": dict(one.documented),
        "undocumented": list(one.undocumented),
        "places": [
            {
                "place": place.place,
                "valid": _came_back(place.valid),
                "edges": _came_back(place.edges),
                "broken": {keyword: _came_back(came) for keyword, came in place.broken},
            }
            for place in one.places
        ],
        "enum_values": [_alternatives(alternatives) for alternatives in one.enumerations],
        "media_types": [_alternatives(alternatives) for alternatives in one.media_types],
    }


def _alternatives(found: Alternatives) -> dict[str, Any]:
    return {"place": found.place, "listed": {listed: _came_back(came) for listed, came in found.listed}}


def _came_back(came: OutcomeCounts) -> dict[str, int]:
    return {"cases": came.cases, "accepted": came.accepted, "refused": came.refused}


def _phase(phase: PhaseOutcome) -> dict[str, Any]:
    return {
        "status": phase.icon,
        "note": phase.note or None,
        **{name: getattr(phase.tally, name) for name in ("passed", "failed", "errored", "skipped", "known")},
        "began": round(phase.began_s, 6),
        "seconds": round(phase.elapsed_s, 6),
    }


def _cause(cause: Cause) -> dict[str, Any]:
    worst = cause.worst
    return {
        "fingerprint": cause.fingerprint,
        "code": worst.code or None,
        "check": worst.check,
        "title": unicode_text(worst.title),
        "severity": worst.severity,
        "places": [
            {"operation": one.label, "fingerprint": one.fingerprint, "case_id": one.case or None}
            for one in cause.places
        ],
    }


def _failure(shown: ShownFinding, seen_in: list[str]) -> dict[str, Any]:
    finding = shown.finding
    return {
        "fingerprint": finding.fingerprint,
        "cause": cause_of(finding),
        "id": shown.id,
        "standing": str(shown.standing),
        "known": None if shown.entry is None else entry_values(shown.entry),
        "code": finding.code or None,
        "check": finding.check,
        "title": shown.title,
        "severity": finding.severity,
        "operation": finding.label,
        "message": shown.message,
        "rule": finding.unique_key,
        "text": unicode_text(finding.text),
        "phase": finding.phase or None,
        "case_id": finding.case or None,
        "stability": shown.stability,
        "answer": shown.status or None,
        "reproduce": list(shown.commands),
        "hidden": list(shown.hidden),
        "seen_in": seen_in,
    }


def _warning(group: WarningGroup) -> dict[str, Any]:
    return {
        "kind": group.kind,
        "title": group.title,
        "advice": group.advice,
        "places": [
            {"pointer": pointer, "message": text, "operations": sorted(labels)}
            for (pointer, text), labels in group.places
        ],
    }


def weights(report: Report, context: ReportContext) -> Iterator[str]:
    """Yield the seconds that each operation took, for `--shard-weights` of later runs.

    Operations without a case are omitted, so that later runs estimate their weight.
    """
    yield json_text(
        {WEIGHTS: {one.label: round(one.seconds, 3) for one in report.operations if one.cases}}, indent=True
    )
    yield "\n"
