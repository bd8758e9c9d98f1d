"""The transport of a worker: libcurl, or the transport that the user names."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from checker.config.operation_settings import HttpSettings
from checker.config.user_code import load_attribute
from checker.core.errors import ConfigError
from checker.core.request import BaseUrl
from checker.core.send import Transport
from checker.transport.http import HttpLanes
from checker.transport.policies import PolicyTransport, RateLimits

TransportFactory = Callable[[BaseUrl, HttpSettings, int], Transport]
"""Makes a transport from an origin, settings and the number of lanes. Called once in each worker."""

NETWORK: Final[TransportFactory] = HttpLanes


def with_policies(connect: TransportFactory, rates: RateLimits | None = None) -> TransportFactory:
    """Return a transport that adds redirects, retries and rates to transports that send each request once."""

    def connected(origin: BaseUrl, http: HttpSettings, lanes: int) -> Transport:
        return PolicyTransport(connect(origin, http, lanes), origin, http, rates)

    return connected


def transport_factory(name: str | None) -> TransportFactory:
    """Return the factory named `module:attribute`; without a name, the factory for HTTP. Raises `ConfigError`."""
    if name is None:
        return NETWORK
    found = load_attribute(name, what="transport")
    if not callable(found):
        raise ConfigError(
            f"the transport {name!r} is {type(found).__name__}; name a function (origin, settings, lanes) that makes one"
        )
    factory: TransportFactory = found
    return factory


def in_process() -> Any:
    """Return the module `checker.transport.applications`, imported on first use because it imports asyncio."""
    return import_module("checker.transport.applications")
