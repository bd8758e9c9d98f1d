"""The titles of errors that cost an operation, in reports."""

import traceback

from checker.core.errors import (
    BudgetSpent,
    CheckError,
    CredentialError,
    HookError,
    SerializationError,
    Unresponsive,
    Unsatisfiable,
)
from checker.core.response import NetworkFailure
from checker.core.system import limit_reached
from checker.core.user_code import users_traceback
from checker.corpus.records import AUTHENTICATION, UNREACHED, Component, Finding, OperationError


def title_of(error: BaseException) -> tuple[str, str]:
    """Title, and the traceback where the error is in code: all of it for ours, the lines of the user for a user's."""
    match error:
        case Unsatisfiable():
            return "Schema Error", ""
        case BudgetSpent():
            return "Generation budget spent", ""
        case Unresponsive():
            return "Given up", ""
        case SerializationError():
            return "Serialization not possible", ""
        case CredentialError():
            return AUTHENTICATION, ""
        case CheckError():
            return "Check Error", _of_user(error)
        case HookError():
            return "Hook Error", _of_user(error)
        case _ if limit_reached(error):
            return "System limit", ""
        case _:
            return "Runtime Error", "".join(traceback.format_exception(error))


def network_error(
    label: str, phase: str, outcome: NetworkFailure, command: str, components: tuple[Component, ...]
) -> OperationError:
    """Return the error to report for a request of an operation that got no complete response."""
    text = ": ".join(filter(None, (outcome.kind.value, outcome.message)))
    return OperationError(label, phase, UNREACHED, text, request=command, components=components)


def network_error_of(finding: Finding) -> OperationError | None:
    """Return the error to report for a withdrawn finding whose request got no complete response, None for any other."""
    last = finding.interactions[-1] if finding.interactions else None
    if not finding.withdrawn or last is None or last.exchange.failure is None:
        return None
    return OperationError(
        finding.label,
        finding.phase,
        UNREACHED,
        last.exchange.failure,
        request=finding.reproduction,
        components=last.components,
    )


def _of_user(error: HookError) -> str:
    return "" if error.__cause__ is None else users_traceback(error.__cause__)
