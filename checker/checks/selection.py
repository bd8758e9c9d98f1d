"""Checks by the names that were chosen."""

from collections.abc import Sequence

from checker.checks.check import Check
from checker.checks.custom import CUSTOM_CHECKS, custom_check
from checker.checks.table import AVAILABLE, BUILT_IN
from checker.core.errors import NotAvailableYet, UsageError


def selected_checks(names: Sequence[str]) -> tuple[Check, ...]:
    """Checks in the order of the table, users' last. Raises `UsageError`, `NotAvailableYet`."""
    custom = {
        name: custom_check(name, one.source, one.applies) for name, one in CUSTOM_CHECKS.items()
    }
    known = {**AVAILABLE, **custom}
    unknown = [name for name in names if name not in known]
    if unknown and unknown[0] in BUILT_IN:
        raise NotAvailableYet(f"the check {unknown[0]}")
    if unknown:
        raise UsageError(f"unknown check {unknown[0]!r}; choose from {', '.join(known)}")
    return tuple(one for name, one in known.items() if name in names)
