"""Settings of HTTP requests: limits, proxy and certificates."""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from ipaddress import ip_address, ip_network
from math import inf
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from checker.config.operation_settings import HttpSettings
from checker.config.table import default_of
from checker.core.credentials import Credentials
from checker.core.request import BaseUrl, WireRequest, host_of

Headers = tuple[tuple[str, str], ...]  # Pairs (name, value) of the headers that users set for every request.


class HttpChanges(Struct, frozen=True):
    """Changes that a user's hook makes to the HTTP settings of one request."""

    usual: HttpSettings | None = None  # Settings of its operation; None for the settings of the lane.
    timeout_s: float | None = None
    """At most the time limit of the settings. After that limit, the supervisor regards a worker as hung."""
    verify: bool | str | None = None
    follows_redirects: bool | None = None

    @property
    def options(self) -> dict[str, Any]:
        """Return the changes under the argument names of HTTP clients."""
        found = {"timeout": self.timeout_s, "verify": self.verify, "follow_redirects": self.follows_redirects}
        return {name: value for name, value in found.items() if value is not None}

    def over(self, usual: HttpSettings) -> HttpSettings:
        """Return the settings of the request on a lane with these settings."""
        known, follows = self.usual or usual, self.follows_redirects
        redirects = known.max_redirects
        if follows is not None and follows != (redirects > 0):
            redirects = default_of((), "max-redirects") if follows else 0
        return replace(
            known,
            timeout_s=min(self.timeout_s or inf, known.timeout_s),
            verify=known.verify if self.verify is None else self.verify,
            max_redirects=redirects,
        )


def environment_proxy(origin: BaseUrl) -> str | None:
    """Return the HTTP proxy that the environment sets for an origin (`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`).

    None for this machine, and for proxies of other protocols.
    """
    if not any(name.lower().endswith("_proxy") for name in os.environ) or bypasses_proxy(origin):
        return None
    found = _environment(f"{origin.scheme}_proxy") or _environment("all_proxy")
    url = found if "://" in found or not found else f"http://{found}"
    return url if url.startswith(("http://", "https://")) else None


def bypasses_proxy(origin: BaseUrl) -> bool:
    """Whether the environment's proxies are not used for an origin: this machine, and the entries of `NO_PROXY`.

    An entry is a host with its subdomains (`x`, `.x`, `*.x`), an address or a range (`10.0.0.0/8`), each optionally with a
    port, or `*` for all.
    """
    if origin.socket or host_of(origin.host) == "localhost":
        return True
    return any(_is_listed(origin, entry) for entry in re.split(r"[,\s]+", _environment("no_proxy").lower()))


def _is_listed(origin: BaseUrl, entry: str) -> bool:
    # Several colons without brackets belong to an IPv6 address.
    name, _, port = entry.rpartition(":") if re.search(r"(?:^[^:]*|\]):\d+$", entry) else (entry, "", "")
    if port and int(port) != origin.port:
        return False
    host, name = origin.host.strip("[]").lower(), name.strip("[]")
    with suppress(ValueError):
        return ip_address(host) in ip_network(name, strict=False)
    name = name.removeprefix("*").lstrip(".")
    return entry == "*" or (bool(name) and f".{host}".endswith(f".{name}"))


def _environment(name: str) -> str:
    """Return a variable in lower case, else in upper case. In a CGI program, `HTTP_PROXY` is the request header `Proxy` and is ignored."""
    is_header = name == "http_proxy" and "REQUEST_METHOD" in os.environ
    return os.environ.get(name) or ("" if is_header else os.environ.get(name.upper(), ""))


def reaching(usual: HttpSettings, home: BaseUrl, other: BaseUrl) -> HttpSettings:
    """Return the settings of a target for another origin: the environment's proxy for the target may not apply to the other origin."""
    is_of_environment = other.site != home.site and usual.proxy == environment_proxy(home)
    return replace(usual, proxy=None) if is_of_environment else usual


def timeout_of(given: object) -> float | None:
    """Return a timeout in seconds; None if the value is no timeout.

    As in `requests`, a pair contains the limits for connecting and reading (None for no limit). The sum of the two
    limits the request.
    """
    match given:
        case int() | float() if given > 0 and not isinstance(given, bool):
            return given
        case (connect, read):
            limits = [inf if one is None else timeout_of(one) for one in (connect, read)]
            return None if None in limits else sum(one for one in limits if one is not None)
        case _:
            return None


def travelling(request: WireRequest, usual: HttpSettings) -> HttpSettings:
    """Return the settings of a request on a lane with these settings."""
    via = request.via
    if isinstance(via, HttpChanges):
        return via.over(usual)
    return via if isinstance(via, HttpSettings) else usual


def time_limit_s(request: WireRequest, usual: HttpSettings) -> float:
    """Return the seconds for the response to a request on a lane with these settings."""
    return travelling(request, usual).timeout_s


class Dispatch(Struct, frozen=True):
    """The settings of an operation for one request: credentials, headers, HTTP."""

    headers: Headers
    http: HttpSettings | None = None  # None for the settings of the lane.
    credentials: Mapping[int | None, Credentials] = field(default_factory=dict)
    """Credentials that replace those of a case under the same names, by the security alternative of the case
    (`Case.alternative`). Headers for all cases are in `headers`.
    """
