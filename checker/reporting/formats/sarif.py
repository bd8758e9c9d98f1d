"""SARIF 2.1.0 and GitLab's code quality: findings for code scanning, at their lines of the description."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml

from checker import __version__
from checker.checks.table import FAILURES
from checker.config.reading import repository_of
from checker.core.blocks import hidden_paragraphs, marked
from checker.core.errors import CheckerError
from checker.core.system import read_local
from checker.core.terminal import one_line
from checker.reporting.baselines import entry_name
from checker.reporting.explain import PAGES
from checker.reporting.findings import cause_of
from checker.reporting.report import Report
from checker.reporting.shown import ReportContext, ShownFinding, shown_findings, standing_text
from checker.reporting.text import json_text

_MOST_BYTES = 4 << 20  # Largest description in which lines are looked up: for larger ones, YAML nodes take too long.
_METHODS = frozenset(("get", "put", "post", "delete", "options", "head", "patch", "trace", "query"))


def operation_lines(location: str) -> Mapping[str, int]:
    """Return label -> line, from 1, of each operation in a local JSON or YAML file; empty for other locations."""
    try:
        text = read_local(location, "an API description", most_bytes=_MOST_BYTES).decode()
        root = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (CheckerError, OSError, ValueError, yaml.YAMLError, RecursionError):
        # A URL, a missing file, or JSON that is not YAML: the report has no lines.
        return {}
    return dict(_lines(root))


def _lines(root: yaml.Node | None) -> Iterator[tuple[str, int]]:
    for name, paths, _ in _entries(root):
        if name != "paths":
            continue
        for path, item, _ in _entries(paths):
            for method, _, line in _entries(item):
                if method in _METHODS:
                    yield f"{method.upper()} {path}", line


def _entries(node: yaml.Node | None) -> Iterator[tuple[str, yaml.Node, int]]:
    """Yield (key, value, line of the key) of a mapping."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield str(key.value), value, key.start_mark.line + 1


_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"critical": "error", "high": "error", "medium": "warning", "low": "note"}
_SCORES = {"critical": "9.0", "high": "7.0", "medium": "5.0", "low": "2.0"}
"""`security-severity`, by which GitHub sorts alerts."""

_KINDS = {kind.code: kind for kind in reversed(list(FAILURES.values())) if kind.code}


def write(report: Report, context: ReportContext) -> Iterator[str]:
    """Yield the text of the report."""
    shown = shown_findings(report.findings, context)
    rules = {one.code: _rule(one) for one in shown}
    place = _Positions(context)
    run = {
        "tool": {"driver": {"name": "checker", "version": __version__, "rules": list(rules.values())}},
        "invocations": [
            {"commandLine": context.command, "executionSuccessful": report.is_complete and report.outcome != "error"}
        ],
        "results": [
            *(_result(one, list(rules).index(one.code), place) for one in shown),
            *(
                {
                    "ruleId": entry.check,
                    "baselineState": "absent",
                    "kind": "pass",
                    "level": "none",
                    "message": {"text": entry_name(entry)},
                    "locations": [place.of(entry.operation)],
                    "partialFingerprints": {"checker/v1": entry.fingerprint.removeprefix("v1-")},
                }
                for entry in report.compared.gone
            ),
        ],
        "columnKind": "unicodeCodePoints",
    }
    yield json_text({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=True)
    yield "\n"


class _Positions:
    def __init__(self, context: ReportContext) -> None:
        self.has_baseline = bool(context.baseline)
        self._path = _path(context.location)
        self._lines: Mapping[str, int] = operation_lines(context.location)

    def in_file(self, label: str) -> dict[str, Any]:
        """Return the location of an operation as GitLab reads it, with a file name and not a URL."""
        return {"path": self._path, "lines": {"begin": self._lines.get(label, 1)}}

    def of(self, label: str) -> dict[str, Any]:
        """Return the location of an operation; the first line if its line is unknown."""
        return {
            "physicalLocation": {
                "artifactLocation": {
                    # A URL parser cannot be used, because the replacement of masked credentials is not valid in a URL.
                    "uri": quote(self._path, safe="%/:=&?~#+!$,;'@()*" if "://" in self._path else "/~")
                },
                "region": {"startLine": self._lines.get(label, 1)},
            },
            "logicalLocations": [{"fullyQualifiedName": label, "kind": "function"}],
        }


def _rule(shown: ShownFinding) -> dict[str, Any]:
    severity = shown.finding.severity
    kind = _KINDS.get(shown.finding.code)
    page = PAGES.get(shown.code)
    if page is None:
        explained = {}
    else:
        help_text = f"{page.what} {page.fix}" + (f"\n\n{page.setting}" if page.setting else "")
        explained = {"fullDescription": {"text": page.what}, "help": {"text": help_text}}
    return {
        "id": shown.code,
        "name": shown.finding.check,
        "shortDescription": {"text": kind.title if kind else shown.title},
        **explained,
        "defaultConfiguration": {"level": _LEVELS.get(severity, "warning")},
        "properties": {"security-severity": _SCORES.get(severity, "5.0"), "tags": ["api", shown.finding.check]},
    }


def _headline(shown: ShownFinding) -> str:
    return marked(f"{shown.finding.label}: {shown.headline}", shown.marks)


def _details(shown: ShownFinding) -> str:
    told = [shown.message]
    if shown.status:
        told.append(f"Response: {shown.status}")
    if shown.query:
        told.append(f"Query:\n{shown.query}")
    if shown.commands:
        told.append("Reproduce with:\n" + "\n".join(shown.commands))
        told += hidden_paragraphs(shown.hidden)
    return "\n\n".join(part for part in told if part)


def _result(shown: ShownFinding, rule: int, place: _Positions) -> dict[str, Any]:
    finding = shown.finding
    state: dict[str, Any] = {}
    if shown.entry is not None:
        state = {"baselineState": "unchanged"}
    elif place.has_baseline:
        state = {"baselineState": "new"}
    if not shown.fails:
        why = standing_text(shown.standing, shown.entry)
        state["suppressions"] = [{"kind": "external", "justification": why}]
    return {
        **state,
        "ruleId": shown.code,
        "ruleIndex": rule,
        "level": _LEVELS.get(finding.severity, "warning"),
        "message": {"text": "\n\n".join(filter(None, (_headline(shown), _details(shown))))},
        "locations": [place.of(finding.label)],
        "partialFingerprints": {"checker/v1": finding.fingerprint},
        "properties": {"stability": shown.stability, "severity": finding.severity, "cause": cause_of(finding)},
    }


def _path(location: str) -> str:
    """Return a path as code scanning knows the file: relative to the root of the repository, otherwise to the working directory.

    Paths elsewhere and URLs are unchanged.
    """
    if not os.path.exists(location):
        return location
    path, folder = Path(os.path.abspath(location)), Path.cwd()
    root = repository_of(folder) or folder
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else location


_GITLAB = {"critical": "critical", "high": "major", "medium": "minor", "low": "info"}


def code_quality(report: Report, context: ReportContext) -> Iterator[str]:
    """Yield the text of a report for GitLab, which lists new failures in merge requests: a subset of the format of Code Climate."""
    place = _Positions(context)
    issues = [
        {
            "description": one_line(_headline(shown)),
            "check_name": shown.code,
            "fingerprint": shown.finding.fingerprint,
            "severity": _GITLAB.get(shown.finding.severity, "minor"),
            "location": place.in_file(shown.finding.label),
            "content": {"body": _details(shown)},
        }
        for shown in shown_findings(report.failing, context)
    ]
    yield json_text(issues, indent=True)
    yield "\n"
