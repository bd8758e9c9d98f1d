"""Filters by what operations ask of their callers."""

from typing import Any

from checker.core.errors import IncorrectUsage
from checker.core.operation_filter import Predicate


def require_security_scheme(name: str) -> Predicate:
    """Filter function: operations that take credentials of a scheme, by the name that the description gives it.

    What an operation says counts before what the description says for all. For `include`, `exclude`, `apply_to`, `skip_for`.
    """
    if not isinstance(name, str):
        raise IncorrectUsage(f"the name of a security scheme must be a string, got {name!r}")

    def requires(context: Any) -> bool:
        alternatives = getattr(context.operation, "security", ())
        return any(scheme.name == name for one in alternatives for scheme in one.schemes)

    return requires
