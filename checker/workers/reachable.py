"""The first connection to the target, with and without TLS, before any case is generated."""

import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit

import pycurl
from msgspec.structs import replace

from checker.config.operation_settings import HttpSettings
from checker.core.request import BaseUrl, loopbacks_of, readable_url
from checker.core.response import NetworkFailure, Outcome
from checker.transport.connection_setup import connection_fault
from checker.workers.context import WorkerContext
from checker.workers.jobs import Job, Pause

_PROXY_PORTS = {"http": 1080, "https": 443}  # libcurl's default ports for proxies without a port.
_PROBES = 3
_PROBE_S = 1.0
_BETWEEN_PROBES_S = 0.2

Connect = Callable[[BaseUrl, float], socket.socket]
"""Opens a connection to a host within this many seconds. Raises `OSError`."""


def unreachable_target(context: WorkerContext) -> str:
    """Return why no request of a run can arrive, for the first worker; empty if one may arrive.

    Behind a proxy only the proxy can be tested, behind a user's transport nothing. Operations with their own hosts or proxies
    may be served although others are not. An unreachable target is tried again as long as the run waits for its description.
    """
    common = context.subject.operations.common
    if context.subject.settings.document is not None:
        return ""
    if is_looked_at(context):
        until = time.monotonic() + (context.subject.settings.target.wait_for_schema_s or 0.0)
        while (found := unreachable(context.subject.origin, common.http.probe_s)) and time.monotonic() < until:
            time.sleep(_BETWEEN_PROBES_S)
        return "" if found and has_own_servers(context) else found
    if not common.http.proxy or context.subject.settings.target.transport or context.subject.settings.target.app:
        return ""
    found = unreachable_proxy(common.http.proxy, common.http.probe_s)
    is_everybodys = all(
        context.subject.operations.of(entry).http.proxy == common.http.proxy
        for entry in context.subject.selected.entries
    )
    return found if is_everybodys else ""


def is_looked_at(context: WorkerContext) -> bool:
    """Whether opening a connection shows anything; False behind a proxy, for an application in this process, and with a user's transport."""
    settings = context.subject.settings
    return not (settings.target.transport or settings.target.app or context.subject.operations.common.http.proxy)


def has_own_servers(context: WorkerContext) -> bool:
    """Whether an operation is on another host than the target. This reads all operations."""
    return any(
        operation.declared_base_url is not None
        and BaseUrl.from_url(operation.declared_base_url).site != context.subject.origin.site
        for operation in context.subject.selected.values()
    )


def unreachable(origin: BaseUrl, patience_s: float, connect: Connect | None = None) -> str:
    """Return why no connection to a target can be opened, in one sentence with advice; empty if one can. Nothing is sent."""
    reason = _obstacle(origin, patience_s, connect)
    return reason and (
        f"nothing was tested: the API at {readable_url(origin.url + origin.base_path)} cannot be reached ({reason}); "
        "check that it runs there, or give its address with `--url`"
    )


def unreachable_proxy(proxy: str, patience_s: float, connect: Connect | None = None) -> str:
    """Return why no connection to an HTTP proxy can be opened, in one sentence with advice; empty if one can."""
    parts = urlsplit(proxy)
    there = replace(BaseUrl.from_url(proxy), port=parts.port or _PROXY_PORTS[parts.scheme])
    reason = _obstacle(there, patience_s, connect)
    return reason and (
        f"nothing was tested: the proxy at {readable_url(there.url)} cannot be reached ({reason}); "
        "check that it runs there, or give another one with `--proxy` (`HTTP_PROXY`, `NO_PROXY`)"
    )


def _obstacle(origin: BaseUrl, patience_s: float, connect: Connect | None) -> str:
    """Return why no connection to a host can be opened, in a few words; empty if one can."""
    try:
        link = (connect or _connected)(origin, patience_s)
    except OSError as error:
        match error:
            case socket.gaierror():
                return f"the name {origin.host} is not known"
            case TimeoutError():
                return f"no connection within {patience_s:g} s"
            case ConnectionRefusedError():
                return "connection refused"
            case _:
                return (error.strerror or str(error)).lower()
    with suppress(OSError):
        link.close()
    return ""


def _connected(origin: BaseUrl, timeout_s: float) -> socket.socket:
    if not origin.socket:
        hosts = loopbacks_of(origin.host)
        # `localhost` has an IPv4 and an IPv6 address, and servers often listen on only one of them.
        *others, last = hosts
        for host in others:
            with suppress(OSError):
                return socket.create_connection((host, origin.port), timeout_s)
        return socket.create_connection((last, origin.port), timeout_s)
    link = socket.socket(socket.AF_UNIX)
    try:
        link.settimeout(timeout_s)
        link.connect(origin.socket)
    except OSError:
        link.close()
        raise
    return link


def is_down(origin: BaseUrl) -> Job[bool]:
    """Return whether a target that has responded before opens no connection three times in a row."""
    # A server that restarts, or whose connection queue is full, refuses one connection and accepts the next.
    for number in range(_PROBES):
        if number:
            yield Pause(_BETWEEN_PROBES_S)
        if not unreachable(origin, _PROBE_S):
            return False
    return True


_BAD_REQUEST: Final = 400
_OF_TLS: Final = (b"HTTPS", b"SSL", b"TLS")  # Words in the body of status 400 by servers that require TLS.


def blocked_connection(context: WorkerContext) -> str:
    """Return why no request of a run can reach the target, for the first worker; empty if one may.

    How a user's transport behaves is unknown, as are settings and hosts of single operations.
    """
    settings, origin = context.subject.settings, context.subject.origin
    is_ours = settings.document is None and not (settings.target.transport or settings.target.app)
    if not is_ours or origin.scheme != "https":
        return ""
    way = context.subject.operations.common.http
    fault = connection_fault(origin, way, way.probe_s)
    if fault is None or has_own_servers(context):
        return ""
    own = (context.subject.operations.of(entry).http for entry in context.subject.selected.entries)
    is_everybodys = all(one.connection == way.connection for one in own)
    return sentence_of(*fault, origin, way) if is_everybodys else ""


def sentence_of(code: int, text: str, origin: BaseUrl, way: HttpSettings) -> str:
    """Return a sentence with advice about what blocks requests, from an error of libcurl; empty if the cause may be temporary."""
    there = readable_url(origin.url + origin.base_path)
    match code:
        case pycurl.E_PEER_FAILED_VERIFICATION:
            whose = "the API or the proxy" if (way.proxy or "").startswith("https") else "the API"
            return (
                f"nothing was tested: the certificate of {whose} at {there} is not trusted ({text}); "
                "give the file of its authority with `--tls-verify FILE`, or accept any certificate with `--tls-verify false`"
            )
        case pycurl.E_SSL_CONNECT_ERROR:
            return (
                f"nothing was tested: no TLS connection to {there} can be made ({text}); "
                "if the API serves plain HTTP there, write `http://` in its address (`--url`), "
                "and if it asks for a client certificate, give that with `--request-cert`"
            )
        case pycurl.E_SSL_CERTPROBLEM:
            return (
                f"nothing was tested: the client certificate cannot be used ({text}); "
                "give a PEM file that holds it with `--request-cert`, and that of its key with `--request-cert-key`"
            )
        case pycurl.E_COULDNT_CONNECT | pycurl.E_RECV_ERROR if "CONNECT" in text:
            proxy = readable_url(BaseUrl.from_url(way.proxy).url) if way.proxy else ""
            return (
                f"nothing was tested: the proxy at {proxy} does not let requests through to {there} ({text}); "
                "give its credentials with `--proxy http://USER:PASSWORD@HOST:PORT`, or another proxy"
            )
        case _:
            return ""


def is_tls_hint(outcome: Outcome) -> bool:
    """Whether the response to the first plain request suggests that the server requires TLS: the connection is closed, or the status is 400."""
    if isinstance(outcome, NetworkFailure):
        return True
    return outcome.status_code == _BAD_REQUEST and any(one in outcome.content for one in _OF_TLS)


def wants_tls(origin: BaseUrl, patience_s: float) -> str:
    """Return the sentence for a target that was contacted without TLS and only accepts TLS; empty for other targets."""
    # The certificate is not verified, because only the use of TLS matters here.
    secure = replace(origin, scheme="https")
    if connection_fault(secure, HttpSettings(verify=False), patience_s) is not None:
        return ""
    there = readable_url(origin.url + origin.base_path)
    return (
        f"nothing was tested: the API at {there} accepts only TLS; "
        f"write `{readable_url(secure.url + origin.base_path)}` as its address (`--url`)"
    )
