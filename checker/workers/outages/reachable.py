"""The first connection to the target, tried once before anything is generated."""

import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from urllib.parse import urlsplit

from msgspec.structs import replace

from checker.core.request import BaseUrl, loopbacks_of, readable_url
from checker.workers.context import WorkerContext
from checker.workers.jobs import Job, Pause

_PROXY_PORTS = {"http": 1080, "https": 443}
"""Of libcurl, for proxies without a port."""
_PROBES = 3
_PROBE_S = 1.0
_BETWEEN_PROBES_S = 0.2

Connect = Callable[[BaseUrl, float], socket.socket]
"""Opens a connection to a place within so many seconds. Raises `OSError`."""


def unreachable_target(context: WorkerContext) -> str:
    """Return the reason why no request of a run can arrive, for the first worker; empty if one may.

    Behind a proxy or a transport of the user nobody knows from here, but whether the proxy is there; operations on hosts
    or with proxies of their own may be served when others are not.
    """
    common = context.operations.common
    if context.settings.document is not None:
        return ""
    if is_looked_at(context):
        found = unreachable(context.origin, common.http.probe_s)
        return "" if found and has_own_servers(context) else found
    if not common.http.proxy or context.settings.target.transport or context.settings.target.app:
        return ""
    found = unreachable_proxy(common.http.proxy, common.http.probe_s)
    is_everybodys = all(
        context.operations.of(entry).http.proxy == common.http.proxy for entry in context.selected.entries
    )
    return found if is_everybodys else ""


def is_looked_at(context: WorkerContext) -> bool:
    """Whether a connection tells anything: not behind a proxy, of an application in this process or a user's transport."""
    settings = context.settings
    return not (settings.target.transport or settings.target.app or context.operations.common.http.proxy)


def has_own_servers(context: WorkerContext) -> bool:
    """Whether an operation is on another host than the target. Reads all of them."""
    return any(
        operation.base_url is not None and BaseUrl.from_url(operation.base_url).site != context.origin.site
        for operation in context.selected.values()
    )


def unreachable(origin: BaseUrl, patience_s: float, connect: Connect | None = None) -> str:
    """Return the reason why no connection to a target can be opened, in one sentence with advice; empty if one can. Nothing is sent."""
    reason = _obstacle(origin, patience_s, connect)
    return reason and (
        f"nothing was tested: the API at {readable_url(origin.url + origin.base_path)} cannot be reached ({reason}); "
        "check that it runs there, or give its address with `--url`"
    )


def unreachable_proxy(proxy: str, patience_s: float, connect: Connect | None = None) -> str:
    """Return the reason why no connection to an HTTP proxy can be opened, in one sentence with advice; empty if one can."""
    parts = urlsplit(proxy)
    there = replace(BaseUrl.from_url(proxy), port=parts.port or _PROXY_PORTS[parts.scheme])
    reason = _obstacle(there, patience_s, connect)
    return reason and (
        f"nothing was tested: the proxy at {readable_url(there.url)} cannot be reached ({reason}); "
        "check that it runs there, or give another one with `--proxy`"
    )


def _obstacle(origin: BaseUrl, patience_s: float, connect: Connect | None) -> str:
    """Return the reason why no connection to a place can be opened, in a few words; empty if one can."""
    try:
        link = (connect or _connected)(origin, patience_s)
    except OSError as error:
        return _reason(error, origin.host, patience_s)
    with suppress(OSError):
        link.close()
    return ""


def _connected(origin: BaseUrl, timeout_s: float) -> socket.socket:
    if not origin.socket:
        return _connected_to_any(loopbacks_of(origin.host), origin.port, timeout_s)
    link = socket.socket(socket.AF_UNIX)
    try:
        link.settimeout(timeout_s)
        link.connect(origin.socket)
    except OSError:
        link.close()
        raise
    return link


def _connected_to_any(hosts: Sequence[str], port: int, timeout_s: float) -> socket.socket:
    *others, last = hosts
    for host in others:
        with suppress(OSError):
            return socket.create_connection((host, port), timeout_s)
    return socket.create_connection((last, port), timeout_s)


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


def is_down(origin: BaseUrl, connect: Connect | None = None) -> Job[bool]:
    """Return whether a target that has responded before opens no connection any more, three times in a row."""
    for number in range(_PROBES):
        if number:
            yield Pause(_BETWEEN_PROBES_S)
        if not unreachable(origin, _PROBE_S, connect):
            return False
    return True
