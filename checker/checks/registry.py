"""The checks by name, in the order in which they run."""

from collections.abc import Mapping, Sequence

from checker.checks.conformance import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from checker.checks.context import Check
from checker.checks.custom import custom_check
from checker.checks.headers import response_headers_conformance
from checker.checks.server_error import not_a_server_error
from checker.core.errors import NotAvailableYet, UsageError
from checker.core.registry import BUILT_IN_CHECKS, CUSTOM_CHECKS

BUILT_IN: Mapping[str, Check] = {
    "not_a_server_error": not_a_server_error,
    "status_code_conformance": status_code_conformance,
    "content_type_conformance": content_type_conformance,
    "response_headers_conformance": response_headers_conformance,
    "response_schema_conformance": response_schema_conformance,
}


def selected_checks(names: Sequence[str]) -> tuple[tuple[str, Check], ...]:
    """(name, check) pairs in the order of the table, users' checks last. Raises `UsageError`, `NotAvailableYet`."""
    known = dict(BUILT_IN)
    known |= {name: custom_check(name, function) for name, function in CUSTOM_CHECKS.items()}
    unknown = [name for name in names if name not in known]
    if unknown and unknown[0] in BUILT_IN_CHECKS:
        raise NotAvailableYet(f"the check {unknown[0]}")
    if unknown:
        raise UsageError(f"unknown check {unknown[0]!r}; choose from {', '.join(known)}")
    return tuple((name, check) for name, check in known.items() if name in names)
