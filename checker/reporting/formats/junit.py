"""JUnit: a test case for each operation and one for all sequences. Failures hold the blocks of the console."""

import socket
from collections.abc import Iterator
from itertools import chain
from xml.etree.ElementTree import Element, SubElement, tostring

from msgspec.structs import replace

from checker.core.graphs import grouped
from checker.corpus.records import Finding
from checker.reporting.baselines import entry_name, known_findings, known_lines
from checker.reporting.findings import errors_by_label, failures_by_label
from checker.reporting.report import OperationOutcome, PhaseTally, Report
from checker.reporting.shown import ReportContext, shown_findings
from checker.reporting.text import xml_text

_SUITE = "checker"
_SEQUENCES = "Stateful tests"  # The test case of all sequences, because a sequence belongs to no single operation.


def write(report: Report, context: ReportContext) -> Iterator[str]:
    """Yield the text of the report."""
    shown = context.masking.command
    failing = tuple(map(_placed, report.failing))
    failures = dict(failures_by_label(failing, context.truncation, shown, context.printed))
    facts: dict[str, str] = {}
    for one in shown_findings(failing, context):
        code = one.finding.code or one.title
        said = f"{code}: {one.fact}" if one.fact else code
        facts[one.finding.label] = f"{facts[one.finding.label]}; {said}" if one.finding.label in facts else said
    of_finding = zip(known_findings(report), known_lines(report), strict=True)
    lines = [(_placed(finding).label, line.strip("- ")) for finding, line in of_finding]
    lines += [(entry.place, f"gone: {entry_name(entry)}") for entry in report.compared.gone]
    known = grouped((label, xml_text(line)) for label, line in lines)
    errors = dict(errors_by_label(report.errors, report.quarantined, shown))
    cases = [
        _case(one, facts.get(one.label, ""), failures, errors, known.get(one.label, []))
        for one in _operations(report, [*failures, *errors, *known])
    ]
    suite = Element("testsuite", name=_SUITE, hostname=xml_text(socket.gethostname()))
    root = Element("testsuites")
    for element in (root, suite):
        for kind in ("error", "failure", "skipped"):
            count = sum(case.find(kind) is not None for case in cases)
            element.set(f"{kind}s" if kind != "skipped" else kind, str(count))
        # Disabled operations have no test case.
        element.set("disabled", "0")
        element.set("tests", str(len(cases)))
        element.set("time", f"{report.time.elapsed_s:.3f}")
    root.append(suite)
    suite.extend(cases)
    yield '<?xml version="1.0" encoding="utf-8"?>\n'
    yield tostring(root, encoding="unicode")
    yield "\n"


def _placed(finding: Finding) -> Finding:
    """Return a finding with the label of its test case. A finding of a sequence names its operation in the message."""
    if len(finding.steps) <= 1:
        return finding
    message = f"Operation: {finding.label}\n\n{finding.message}".strip()
    return replace(finding, label=_SEQUENCES, message=message)


def _operations(report: Report, labels: list[str]) -> Iterator[OperationOutcome]:
    """Return the operations, the sequences if there were any, and other labels with failures or errors, such as the target."""
    sequences = [
        OperationOutcome(_SEQUENCES, "passed", seconds=one.elapsed_s)
        for one in report.phases
        if one.name == "stateful" and one.tally != PhaseTally()
    ]
    known = [*report.operations, *sequences]
    others = dict.fromkeys(labels).keys() - {one.label for one in known}
    unknown = (OperationOutcome(label, "errored") for label in labels if label in others)
    return chain(known, {one.label: one for one in unknown}.values())


def _case(
    operation: OperationOutcome, facts: str, failures: dict[str, str], errors: dict[str, str], known: list[str]
) -> Element:
    """Return the test case of an operation. A test case with nothing but known failures is skipped."""
    label = operation.label
    case = Element("testcase", name=xml_text(label), classname=_SUITE, time=f"{operation.seconds:.3f}")
    if label in failures:
        _add(case, "failure", facts, failures[label])
    if label in errors:
        _add(case, "error", errors[label].splitlines()[0], errors[label])
    if operation.outcome == "skipped" and label not in failures and label not in errors:
        SubElement(case, "skipped", type="skipped", message=xml_text(operation.note))
    if not len(case) and any(not line.startswith("gone: ") for line in known):
        SubElement(case, "skipped", type="skipped", message=f"known failure: {'; '.join(known)}")
    if known:
        SubElement(case, "system-out").text = "\n".join(known)
    return case


def _add(case: Element, kind: str, message: str, text: str) -> None:
    SubElement(case, kind, type=kind, message=xml_text(message)).text = xml_text(text)
