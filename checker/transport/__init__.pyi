"""Made of `checker.faces.PUBLIC` by `python -m tests.typed.stubs`: what type checkers see of names that are resolved on first use."""

from checker.config.operation_settings import HttpSettings
from checker.core.request import BaseUrl, WireRequest
from checker.core.response import FailureKind, NetworkFailure, Response
from checker.core.send import Transport
from checker.transport.applications import BlockingTransport, asgi, wsgi

__all__ = [
    "BaseUrl",
    "BlockingTransport",
    "FailureKind",
    "HttpSettings",
    "NetworkFailure",
    "Response",
    "Transport",
    "WireRequest",
    "asgi",
    "wsgi",
]
