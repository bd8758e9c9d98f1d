"""Whether TLS with the target comes about, through the proxy if there is one: what keeps it from that is a matter of settings."""

from typing import Final

import pycurl
from msgspec.structs import replace

from checker.config.operation_settings import HttpSettings
from checker.core.request import BaseUrl, readable_url
from checker.core.response import NetworkFailure, Outcome
from checker.transport.connection_setup import ConnectionFault, connection_fault
from checker.workers.context import WorkerContext
from checker.workers.outages.reachable import has_own_servers

_BAD_REQUEST: Final = 400
_OF_TLS: Final = (b"HTTPS", b"SSL", b"TLS")
"""One of them is named by servers that answer 400 to whoever begins without TLS."""


def blocked_connection(context: WorkerContext) -> str:
    """Return the reason why no request of a run can reach the target, for the first worker; empty if one may.

    The behaviour of a user's transport is unknown here, as are settings and hosts of single operations.
    """
    settings, origin = context.settings, context.origin
    is_ours = settings.document is None and not (settings.target.transport or settings.target.app)
    if not is_ours or origin.scheme != "https":
        return ""
    way = context.operations.common.http
    fault = connection_fault(origin, way, way.probe_s)
    if fault is None or has_own_servers(context):
        return ""
    own = (context.operations.of(entry).http for entry in context.selected.entries)
    is_everybodys = all(one.connection == way.connection for one in own)
    return sentence_of(fault, origin, way) if is_everybodys else ""


def sentence_of(fault: ConnectionFault, origin: BaseUrl, way: HttpSettings) -> str:
    """Return the obstacle between requests and their target, with advice; empty for obstacles that may pass by themselves."""
    there = readable_url(origin.url + origin.base_path)
    match fault.code:
        case pycurl.E_PEER_FAILED_VERIFICATION:
            whose = "the API or the proxy" if (way.proxy or "").startswith("https") else "the API"
            return (
                f"nothing was tested: the certificate of {whose} at {there} is not trusted ({fault.text}); "
                "give the file of its authority with `--tls-verify FILE`, or accept any certificate with `--tls-verify false`"
            )
        case pycurl.E_SSL_CONNECT_ERROR:
            return (
                f"nothing was tested: no TLS connection to {there} can be made ({fault.text}); "
                "if the API serves plain HTTP there, write `http://` in its address (`--url`), "
                "and if it asks for a client certificate, give that with `--request-cert`"
            )
        case pycurl.E_SSL_CERTPROBLEM:
            return (
                f"nothing was tested: the client certificate cannot be used ({fault.text}); "
                "give a PEM file that holds it with `--request-cert`, and that of its key with `--request-cert-key`"
            )
        case pycurl.E_COULDNT_CONNECT | pycurl.E_RECV_ERROR if "CONNECT" in fault.text:
            proxy = readable_url(BaseUrl.from_url(way.proxy).url) if way.proxy else ""
            return (
                f"nothing was tested: the proxy at {proxy} does not let requests through to {there} ({fault.text}); "
                "give its credentials with `--proxy http://USER:PASSWORD@HOST:PORT`, or another proxy"
            )
        case _:
            return ""


def is_tls_hint(outcome: Outcome) -> bool:
    """Whether an answer to the first plain request may come of a server that wants TLS: it hangs up, or says so with 400."""
    if isinstance(outcome, NetworkFailure):
        return True
    return outcome.status_code == _BAD_REQUEST and any(one in outcome.content for one in _OF_TLS)


def wants_tls(origin: BaseUrl, patience_s: float) -> str:
    """The sentence for a target that was asked without TLS and takes nothing else; empty where it does not speak TLS."""
    secure = replace(origin, scheme="https")
    if connection_fault(secure, HttpSettings(verify=False), patience_s) is not None:
        return ""
    there = readable_url(origin.url + origin.base_path)
    return (
        f"nothing was tested: the API at {there} answers with TLS alone; "
        f"write `{readable_url(secure.url + origin.base_path)}` as its address (`--url`)"
    )
