"""Applications of this process that are named on the command line, and a transport that sends nothing at all."""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from checker.config.user_code import load_attribute
from checker.core.errors import ConfigError, LoaderError
from checker.core.request import BaseUrl, WireRequest
from checker.core.response import Response
from checker.core.send import Transport
from checker.transport.applications import Application, AsgiApplication, WsgiApplication
from checker.transport.blocking import BlockingTransport
from checker.transport.factories import TransportFactory
from checker.transport.settings import HttpSettings


@cache
def application_named(name: str) -> Application:
    """Return the started application that `module:variable` names, ASGI or WSGI: one for each process. Raises `ConfigError`."""
    found = load_attribute(name, what="application")
    if not callable(found):
        raise ConfigError(
            f"{name!r} is {type(found).__name__}; name an ASGI or WSGI application, such as 'main:app'"
        )
    return AsgiApplication(found) if _is_asgi(found) else WsgiApplication(found)


def application_transport(name: str) -> TransportFactory:
    """Return the factory of transports to the application of that name. Raises `ConfigError`."""
    application = application_named(name)

    def connect(origin: BaseUrl, settings: HttpSettings, lanes: int) -> Transport:
        return BlockingTransport(application.send, settings)

    return connect


def site_of(name: str) -> str:
    """Scheme and host that the application of that name believes to be. Raises `ConfigError`."""
    return application_named(name).origin.url


def document_of(
    name: str, path: str, headers: tuple[tuple[str, str], ...], timeout_s: float
) -> Callable[[WireRequest], Response]:
    """Return a function that asks the application of that name for the document at a path. Raises `LoaderError` if there is no answer."""
    application = application_named(name)
    sent = [(key.encode(), value.encode()) for key, value in headers]

    def exchange(request: WireRequest) -> Response:
        request.headers += sent
        answer = application.send(request, timeout_s)
        if isinstance(answer, Response):
            return answer
        raise LoaderError(f"{path} of {name} cannot be loaded: {answer.message}")

    return exchange


def nothing_sent(origin: BaseUrl, settings: HttpSettings, lanes: int) -> Transport:
    """Return a transport for dry runs: every request is answered with 204 and not sent."""
    return BlockingTransport(
        lambda request, _: Response(204, [], b"", request=request, message="No Content"), settings
    )


def _is_asgi(app: Any) -> bool:
    """By what it is called with: scope, receive and send; or environment and start_response."""
    if inspect.iscoroutinefunction(app) or inspect.iscoroutinefunction(type(app).__call__):
        return True
    try:
        inspect.signature(app).bind(None, None, None)
    except (TypeError, ValueError):
        return False
    return True
