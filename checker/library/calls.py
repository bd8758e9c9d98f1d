"""What a call of the Python API makes of a case, and of an answer that did not come."""

from dataclasses import replace

from checker.config.operation_settings import OperationSettings
from checker.core.case import Case
from checker.core.errors import IncorrectUsage
from checker.core.hooks import GLOBAL_HOOKS, HookContext
from checker.core.response import FailureKind, NetworkFailure
from checker.kinds.protocol import ApiOperation
from checker.library.options import CallOptions
from checker.phases.attempt import CallHooks
from checker.transport.settings import HttpSettings


def overridden(case: Case, options: CallOptions) -> Case:
    """The case as it is sent: single parameters replaced, everything else as generated."""
    if not (options.headers or options.params or options.cookies):
        return case
    names = {name.lower() for name in options.headers}
    return Case(
        case.operation,
        case.id,
        path_parameters=case.path_parameters,
        query={**case.query, **options.params},
        headers={name: value for name, value in case.headers.items() if name.lower() not in names},
        cookies={**case.cookies, **options.cookies},
        body=case.body,
        media_type=case.media_type,
        multipart_content_types=case.multipart_content_types,
        meta=case.meta,
        engine=case.engine,
    )


def only_media_type(operation: ApiOperation) -> str:
    """The one media type of an operation. Raises `IncorrectUsage`."""
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


def error(failure: NetworkFailure) -> Exception:
    """What is raised where no answer came."""
    if failure.kind is FailureKind.TIMEOUT:
        return TimeoutError(failure.message)
    if failure.kind is FailureKind.UNSENDABLE:
        return ValueError(failure.message)
    return ConnectionError(f"{failure.kind}: {failure.message}")


def call_hooks() -> CallHooks:
    """What users run around each call."""
    return CallHooks(
        before=GLOBAL_HOOKS.named("before_call"),
        after=GLOBAL_HOOKS.named("after_call"),
        context=lambda case: HookContext(case.operation),
    )


def http_settings(
    own: OperationSettings, *, timeout_s: float | None = None, verify: bool | str | None = None
) -> HttpSettings:
    """How a call travels: as its operation does, but for what the call says itself."""
    usual = HttpSettings.of(own)
    return replace(
        usual,
        request_timeout_s=timeout_s or usual.request_timeout_s,
        verify=usual.verify if verify is None else verify,
    )
