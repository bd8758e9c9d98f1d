"""One call of a user: what it sends in place of what was generated, how, and what it raises."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from checker.config.credentials import credentials_of_call
from checker.config.operation_settings import OperationSettings
from checker.config.overrides import Overrides
from checker.config.settings import RunSettings
from checker.core.blocks import reproduction_paragraphs
from checker.core.case import NOT_SET, Case
from checker.core.errors import IncorrectUsage
from checker.core.response import FailureKind, NetworkFailure
from checker.kinds.protocol import ApiOperation
from checker.library.options import CallOptions
from checker.transport.settings import HttpSettings


def credentials_of(case: Case, options: CallOptions, settings: RunSettings) -> tuple[str, ...]:
    """What the caller wrote: options, and all of a case that was made by hand."""
    given = [
        ("header", options.headers),
        ("query", options.params),
        ("cookie", options.cookies),
    ]
    if case.meta is None:
        given += [("header", case.headers), ("query", case.query), ("cookie", case.cookies)]
    return credentials_of_call(settings.sanitization.redaction, given)


def http_settings(
    own: OperationSettings, *, timeout_s: float | None = None, verify: bool | str | None = None
) -> HttpSettings:
    """How requests of an operation travel; what a call says stands over it."""
    usual = HttpSettings.of(own)
    return replace(
        usual,
        request_timeout_s=timeout_s or usual.request_timeout_s,
        verify=usual.verify if verify is None else verify,
    )


def only_media_type(operation: ApiOperation) -> str:
    """The media type of a body that is given without one. Raises `IncorrectUsage`."""
    types = [body.media_type for body in operation.bodies]
    if len(types) == 1:
        return types[0]
    if not types:
        raise IncorrectUsage(
            f"{operation.label} declares no body that can be sent; give `media_type`"
        )
    listed = ", ".join(types)
    raise IncorrectUsage(
        f"{operation.label} accepts several media types ({listed}); give `media_type`"
    )


def parts_by_hand(
    operation: ApiOperation, overrides: Overrides, parts: Mapping[str, Any]
) -> dict[str, Any]:
    """What a case made by hand has: what its author says, and what a configuration forces beside that.

    Raises `IncorrectUsage` when the media type of the body is not clear.
    """
    whole = dict(parts)
    for parameter in operation.parameters if overrides.parameters else ():
        override = overrides.parameter(parameter.location, parameter.name)
        if override is None or not override.is_forced:
            continue
        place = parameter.location.container
        given = whole.get(place) or {}
        if not any(override.names(parameter.location, name) for name in given):
            whole[place] = {**given, parameter.name: override.entries[0]}
    if whole.get("body", NOT_SET) is not NOT_SET and whole.get("media_type") is None:
        whole["media_type"] = only_media_type(operation)
    return whole


def error_of(failure: NetworkFailure, command: str) -> Exception:
    """What a call without an answer raises; `command` sends its request again."""
    match failure.kind:
        case FailureKind.TIMEOUT:
            error: Exception = TimeoutError(failure.message)
        case FailureKind.UNSENDABLE:
            return ValueError(failure.message)
        case _:
            error = ConnectionError(f"{failure.kind}: {failure.message}")
    error.add_note("\n" + "\n\n".join(reproduction_paragraphs((command,), reproduced=None)))
    return error
