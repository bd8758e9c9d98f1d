"""WFC: the report format of the Web Fuzzing Commons, for their viewer and for comparisons of tools."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from checker import __version__
from checker.corpus.records import Finding
from checker.reporting.report import Report
from checker.reporting.shown import ReportContext, ShownFinding, shown_findings
from checker.reporting.text import json_text
from checker.reporting.warnings import warning_groups

_VERSION: Final = "0.8.0"
_OWN: Final = 900  # Codes from here on belong to the tool and not to the catalogue.
_CODES: Final = {
    "not_a_server_error": 100,
    "status_code_conformance": 200,
    "content_type_conformance": 200,
    "response_headers_conformance": 200,
    "response_schema_conformance": 200,
    "negative_data_rejection": 206,
    "missing_required_header": 206,
    "positive_data_acceptance": 207,
    "unsupported_method": 905,
    "allow_header_conformance": 201,
    "use_after_free": 113,
    "ensure_resource_availability": 122,
    "ignored_auth": 311,
    "max_response_time": 312,
    "object_level_authorization": 906,
    "error_disclosure": 907,
    "collection_conformance": 908,
    "location_conformance": 911,
    "mass_assignment": 912,
    "races": 913,
    "refused_write": 910,
    "read_your_writes": 909,
}
"""Check -> code before the response refines it."""
_CHANGING: Final = ("DELETE", "PUT", "PATCH")
_IDS: Final = {
    100: "HTTP_STATUS_500",
    121: "HTTP_OTHER_STATUS_5XX",
    205: "SCHEMA_STATUS_NO_501_IF_IMPLEMENTED",
    110: "HTTP_STATUS_NO_405_IF_NO_ALLOW",
    310: "SECURITY_HIDDEN_ACCESSIBLE_ENDPOINT",
    113: "HTTP_NONWORKING_DELETE",
    122: "HTTP_CREATED_RESOURCE_NOT_FOUND",
    200: "SCHEMA_INVALID_RESPONSE",
    201: "SCHEMA_INVALID_ALLOW",
    207: "SCHEMA_VALID_INPUT_REJECTED",
    206: "SCHEMA_VALIDATION_BYPASS",
    311: "SECURITY_DECLARED_AUTH_NOT_ENFORCED",
    308: "SECURITY_ANONYMOUS_MODIFICATIONS",
    312: "SECURITY_CALL_TIMEOUT",
}
"""Code -> its stable name in the catalogue."""


def write(report: Report, context: ReportContext) -> Iterator[str]:
    """Yield the text of the report."""
    shown = shown_findings(report.findings, context)
    cases = {_case(one): None for one in shown}
    # A fault of the whole run has a label that is no operation.
    labels = [*(one.label for one in report.operations), *(one.finding.label for one in shown)]
    at = datetime.fromtimestamp(context.started_at + report.time.elapsed_s, UTC)
    yield json_text(
        {
            "schemaVersion": _VERSION,
            "toolName": "checker",
            "toolVersion": __version__,
            "creationTime": at.isoformat(),
            "executionTimeInSeconds": int(report.time.elapsed_s),
            "faults": {
                "totalNumber": len({(_code(one.finding), _context(one)) for one in shown}),
                "foundFaults": [_fault(one) for one in shown],
            },
            "problemDetails": {
                "rest": {
                    "outputHttpCalls": sum(len(one.finding.interactions) for one in shown),
                    "evaluatedHttpCalls": report.counts.requests,
                    "endpointIds": list(dict.fromkeys(map(_endpoint, labels))),
                    "coveredHttpStatus": [*_covered(shown)],
                }
            },
            "totalTests": len(cases),
            "testFilePaths": [],
            "testCases": [{"id": case, "name": case} for case in cases],
            "warnings": [
                {"message": f"{group.title}: {text or pointer}", "category": group.kind}
                for group in warning_groups(report.notes)
                for (pointer, text), _ in group.places
            ],
        },
        indent=True,
    )
    yield "\n"


def _fault(shown: ShownFinding) -> dict[str, Any]:
    code = _code(shown.finding)
    category = {"code": code, "id": _IDS.get(code, shown.code), "context": _context(shown)}
    return {"operationId": _endpoint(shown.finding.label), "testCaseId": _case(shown), "faultCategories": [category]}


def _covered(shown: list[ShownFinding]) -> Iterator[dict[str, Any]]:
    for one in {_case(one): one for one in shown}.values():
        statuses: dict[str, dict[int, None]] = {}
        for sent in one.finding.interactions:
            answered = statuses.setdefault(_endpoint(sent.label), {})
            if sent.exchange.status is not None and sent.exchange.status < 600:
                answered[sent.exchange.status] = None
        for endpoint, found in statuses.items():
            yield {"endpointId": endpoint, "testCaseId": _case(one), "httpStatus": [*found]}


def _code(finding: Finding) -> int:
    status = finding.interactions[-1].exchange.status if finding.interactions else None
    code = _CODES.get(finding.check, _OWN)
    if code == 100 and status not in (None, 500):
        return 205 if status == 501 else 121
    if code == 206 and status is not None and status // 100 != 2:
        return 904
    if code == 905 and status is not None:
        return 310 if status // 100 == 2 else 110 if status == 405 else 905
    if code == 311 and finding.label.partition(" ")[0] in _CHANGING:
        return 308
    return code


def _context(shown: ShownFinding) -> str:
    finding = shown.finding
    return " ".join(part for part in (finding.check, finding.unique_key, finding.text) if part)


def _case(shown: ShownFinding) -> str:
    return shown.finding.case or shown.finding.fingerprint


def _endpoint(label: str) -> str:
    """Return `GET:/users` for `GET /users`."""
    return label.replace(" ", ":", 1)
