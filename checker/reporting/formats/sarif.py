"""SARIF 2.1.0: findings for code scanning, at the lines of the description that they are about."""

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from checker import __version__
from checker.checks.table import FAILURES
from checker.core.known import KnownFailure
from checker.reporting.causes import cause_of
from checker.reporting.context import ReportContext
from checker.reporting.json_text import json_text
from checker.reporting.known_text import entry_name
from checker.reporting.lines import operation_lines
from checker.reporting.report import Report
from checker.reporting.shown import ShownFinding, shown_findings, standing_text

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"critical": "error", "high": "error", "medium": "warning", "low": "note"}
_SCORES = {"critical": "9.0", "high": "7.0", "medium": "5.0", "low": "2.0"}
"""What GitHub calls `security-severity`: it sorts alerts by it."""

_KINDS = {kind.code: kind for kind in reversed(list(FAILURES.values())) if kind.code}


def write(report: Report, context: ReportContext) -> Iterator[str]:
    """Text of the report."""
    shown = shown_findings(report.findings, context)
    rules = {one.code: _rule(one) for one in shown}
    place = _Positions(context)
    run = {
        "tool": {
            "driver": {"name": "checker", "version": __version__, "rules": list(rules.values())}
        },
        "invocations": [
            {
                "commandLine": context.command,
                "executionSuccessful": report.is_complete and report.outcome != "error",
            }
        ],
        "results": [
            *(_result(one, list(rules).index(one.code), place) for one in shown),
            *(_absent(entry, place) for entry in report.compared.gone),
        ],
        "columnKind": "unicodeCodePoints",
    }
    yield json_text({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=True)
    yield "\n"


class _Positions:
    """Where in the description operations stand."""

    def __init__(self, context: ReportContext) -> None:
        self.has_baseline = bool(context.baseline)
        """Whether anything is known of earlier runs."""
        self._uri = _uri(context.location)
        self._lines: Mapping[str, int] = operation_lines(context.location)

    def of(self, label: str) -> dict[str, Any]:
        """The location of an operation; the first line where nobody knows the line."""
        return {
            "physicalLocation": {
                "artifactLocation": {"uri": self._uri},
                "region": {"startLine": self._lines.get(label, 1)},
            },
            "logicalLocations": [{"fullyQualifiedName": label, "kind": "function"}],
        }


def _rule(shown: ShownFinding) -> dict[str, Any]:
    severity = shown.finding.severity
    kind = _KINDS.get(shown.finding.code)
    return {
        "id": shown.code,
        "name": shown.finding.check,
        "shortDescription": {"text": kind.title if kind else shown.title},
        "defaultConfiguration": {"level": _LEVELS.get(severity, "warning")},
        "properties": {
            "security-severity": _SCORES.get(severity, "5.0"),
            "tags": ["api", shown.finding.check],
        },
    }


def _result(shown: ShownFinding, rule: int, place: _Positions) -> dict[str, Any]:
    finding = shown.finding
    told = [f"{finding.label}: {shown.title}", shown.message]
    if shown.status:
        told.append(f"Answer: {shown.status}")
    if shown.query:
        told.append(f"Query:\n{shown.query}")
    if shown.setup:
        told.append(f"Send first on a fresh server:\n{shown.setup}")
    if shown.commands:
        told.append("Reproduce with:\n" + "\n".join(shown.commands))
    state: dict[str, Any] = {}
    if shown.entry is not None:
        state = {"baselineState": "unchanged"}
        if not shown.fails:
            why = standing_text(shown.standing, shown.entry)
            state["suppressions"] = [{"kind": "external", "justification": why}]
    elif place.has_baseline:
        state = {"baselineState": "new"}
    return {
        **state,
        "ruleId": shown.code,
        "ruleIndex": rule,
        "level": _LEVELS.get(finding.severity, "warning"),
        "message": {"text": "\n\n".join(part for part in told if part)},
        "locations": [place.of(finding.label)],
        "partialFingerprints": {"checker/v1": finding.fingerprint},
        "properties": {
            "stability": shown.stability,
            "severity": finding.severity,
            "cause": cause_of(finding),
        },
    }


def _absent(entry: KnownFailure, place: _Positions) -> dict[str, Any]:
    """What was known and did not show again."""
    return {
        "ruleId": entry.check,
        "baselineState": "absent",
        "kind": "pass",
        "level": "none",
        "message": {"text": entry_name(entry)},
        "locations": [place.of(entry.operation)],
        "partialFingerprints": {"checker/v1": entry.fingerprint.removeprefix("v1-")},
    }


def _uri(location: str) -> str:
    """A URL as it is, a path as a relative reference (RFC 3986, 4.2) where it is relative."""
    # Nothing that reads URLs: what stands for credentials in one is no part of a URL.
    if "://" in location:
        return quote(location, safe="%/:=&?~#+!$,;'@()*")
    return quote(PurePath(location).as_posix(), safe="/~")
