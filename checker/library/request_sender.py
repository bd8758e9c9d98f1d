"""The sender of calls of a loaded schema: an application in this process, or kept connections."""

from dataclasses import replace
from typing import Final

from checker.config.operation_settings import HttpSettings
from checker.core.request import BaseUrl, WireRequest
from checker.core.response import NetworkFailure, Outcome, Response
from checker.core.send import Transport
from checker.transport.applications import Application
from checker.transport.factories import NETWORK, TransportFactory, with_policies
from checker.transport.policies import RateLimits
from checker.transport.settings import travelling

_MANY: Final = 16
"""Connections that are kept."""


class RequestSender:
    """Sends requests one by one. Not thread-safe."""

    def __init__(self, application: Application | None, connect: TransportFactory | None = None) -> None:
        """The application answers what goes to its own host; None sends everything over the network.

        `connect` makes the transports; None: connections that follow redirects, send again and keep to rates of their own.
        """
        self._application = application
        self._lanes: dict[tuple[BaseUrl, HttpSettings], Transport] = {}
        self._connect = connect or with_policies(NETWORK, RateLimits())

    def send(self, origin: BaseUrl, http: HttpSettings, request: WireRequest) -> Outcome:
        """Return the outcome of a request to a place."""
        application = self._application
        if application is not None and origin.url == application.origin.url:
            return application.send(request, travelling(request, http).request_timeout_s)
        lanes = self._lanes.get((origin, http))
        if lanes is None:
            while len(self._lanes) >= _MANY:
                self._lanes.pop(next(iter(self._lanes))).close()
            lanes = self._lanes[origin, http] = self._connect(origin, http, 1)
        outcome = lanes.send(0, request)
        if isinstance(outcome, NetworkFailure) and outcome.may_be_late:
            outcome = lanes.send(0, replace(request, fresh=True))
        if isinstance(outcome, Response):
            outcome.request = request
        return outcome
