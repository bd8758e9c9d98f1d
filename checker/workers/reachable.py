"""Whether anybody listens where the target should be: asked once, before anything is generated."""

import socket
from collections.abc import Callable
from contextlib import suppress

from checker.core.request import BaseUrl
from checker.workers.context import WorkerContext

PATIENCE_S = 10.0
"""A host that drops what it is sent is waited for so long."""

Connect = Callable[[tuple[str, int], float], socket.socket]
"""Opens a connection to (host, port) within so many seconds. Raises `OSError`."""


def unreachable_target(place: WorkerContext) -> str:
    """Why no request of a run can arrive, for the first worker to open its description; empty where one may.

    Behind a proxy or a transport of the user nobody knows from here; operations on hosts of their own may be there when
    the target is not.
    """
    settings, common = place.settings, place.operations.common
    is_first = settings.document is None
    if not is_first or settings.transport or settings.app or common.proxy:
        return ""
    found = unreachable(place.origin, common.request_timeout_s)
    if found and any(
        operation.base_url is not None
        and BaseUrl.from_url(operation.base_url).site != place.origin.site
        for operation in place.selected.values()
    ):
        return ""
    return found


def unreachable(origin: BaseUrl, patience_s: float, connect: Connect | None = None) -> str:
    """Why no connection to a target can be opened, in one sentence with advice; empty when one can. Nothing is sent."""
    patience_s = min(patience_s, PATIENCE_S)
    try:
        link = (connect or _connected)((origin.host, origin.port), patience_s)
    except OSError as error:
        reason = _reason(error, origin.host, patience_s)
        return (
            f"nothing was tested: the API at {origin.url}{origin.base_path} cannot be reached ({reason}); "
            "check that it runs there, or give its address with `--url`"
        )
    with suppress(OSError):
        link.close()
    return ""


def _connected(address: tuple[str, int], timeout_s: float) -> socket.socket:
    return socket.create_connection(address, timeout_s)


def _reason(error: OSError, host: str, patience_s: float) -> str:
    match error:
        case socket.gaierror():
            return f"the name {host} is not known"
        case TimeoutError():
            return f"no connection within {patience_s:g} s"
        case ConnectionRefusedError():
            return "connection refused"
        case _:
            return (error.strerror or str(error)).lower()
