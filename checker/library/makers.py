"""What writes the requests of a loaded schema, kept as long as calls ask for the same headers."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from checker import __version__
from checker.config.operation_settings import OperationSettings
from checker.core.given_values import require_names
from checker.core.operation import Operation
from checker.core.request import BaseUrl
from checker.transport.prepare import RequestMaker
from checker.transport.settings import Dispatch, Headers
from checker.workers.authentication.schemes import SchemeCredentials
from checker.workers.operation_tools import dispatched

_MANY: Final = 16
"""Makers that are kept: each call may bring headers of its own."""


def joined_headers(own: OperationSettings, headers: Mapping[str, Any]) -> Headers:
    """Headers of a call over those of the configuration. Raises `IncorrectUsage`."""
    require_names(headers=headers)
    given = {name.lower() for name in headers}
    kept = [(name, value) for name, value in own.headers if name.lower() not in given]
    return (*kept, *((name, str(value)) for name, value in headers.items()))


class RequestMakers:
    """Makers by where requests go and by the headers that they carry."""

    def __init__(self) -> None:
        self._kept: dict[tuple[BaseUrl, Headers, bool], RequestMaker] = {}

    def of(
        self,
        origin: BaseUrl,
        headers: Headers,
        declared: Callable[[], BaseUrl | None],
        schemes: SchemeCredentials | None,
    ) -> RequestMaker:
        """The maker of these; `declared` is where the description says that the API is.

        `schemes` are credentials for security schemes; None has requests go without.
        """
        key = (origin, headers, schemes is None)
        maker = self._kept.get(key)
        if maker is None:
            known = declared()
            is_declared = known is not None and origin == known.with_userinfo(origin.userinfo)

            def dispatch(operation: Operation) -> Dispatch:
                given = {} if schemes is None else schemes.by_alternative(operation)
                return dispatched(headers, given)

            maker = RequestMaker(
                origin,
                headers,
                version=__version__,
                own_servers=is_declared,
                dispatch=dispatch if schemes else None,
            )
            if len(self._kept) >= _MANY:
                self._kept.clear()
            self._kept[key] = maker
        return maker

    def clear(self) -> None:
        """Forget them: the configuration has changed."""
        self._kept.clear()
