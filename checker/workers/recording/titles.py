"""What an error that costs an operation is called in reports."""

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
from checker.corpus.records import AUTHENTICATION


def title_of(error: BaseException) -> tuple[str, str]:
    """Title, and the traceback where the error is in code: ours or a user's."""
    trace = "".join(traceback.format_exception(error))
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
            return "Check Error", trace
        case HookError():
            return "Hook Error", trace
        case _:
            return "Runtime Error", trace
