"""What a call of the Python API makes of a case, and of an answer that did not come."""

from checker.core.case import Case
from checker.core.errors import IncorrectUsage
from checker.core.response import FailureKind, NetworkFailure
from checker.kinds.protocol import ApiOperation
from checker.library.options import CallOptions


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
