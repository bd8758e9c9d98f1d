"""Checks by the names that were chosen."""

from collections.abc import Iterable, Sequence
from inspect import isclass

from checker.checks.check import Check
from checker.checks.classes import AFTER_RESPONSE, ClassCheck
from checker.checks.custom import CUSTOM_CHECKS, custom_check
from checker.checks.table import BUILT_IN
from checker.core.errors import UsageError


def selected_checks(names: Sequence[str], classes: Iterable[ClassCheck] = ()) -> tuple[Check, ...]:
    """Checks in the order of the table, users' functions after them, `classes` last.

    Raises `UsageError`.
    """
    custom = {
        name: custom_check(name, one.source, one.applies)
        for name, one in CUSTOM_CHECKS.items()
        if not isclass(one.source)
    }
    watching = {
        one.name: custom_check(one.name, one.instance.after_response, one.applies)
        for one in classes
        if hasattr(one.instance, AFTER_RESPONSE)
    }
    known = {**BUILT_IN, **custom, **watching}
    unknown = [name for name in names if name not in known and name not in CUSTOM_CHECKS]
    if unknown:
        raise UsageError(f"unknown check {unknown[0]!r}; choose from {', '.join(known)}")
    return tuple(one for name, one in known.items() if name in names)
