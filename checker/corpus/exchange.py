"""What is kept of a request and its answer, with references where secrets stood."""

from collections.abc import Iterable

from checker.core.redact import SecretStore
from checker.core.request import WireRequest
from checker.core.response import NetworkFailure, Outcome, Response
from checker.corpus.records import Exchange

# Configured like secrets, but what the whole world sends.
_HARMLESS = frozenset(
    ("accept", "accept-encoding", "accept-language", "content-type", "user-agent")
)


class Secrets:
    """What must not reach the disk: written as references like `secret:header:Authorization`."""

    def __init__(
        self, headers: Iterable[tuple[str, str]] = (), store: SecretStore | None = None
    ) -> None:
        self.store = SecretStore() if store is None else store
        self.is_empty = store is None
        """Whether nothing needs to be masked."""
        for name, value in headers:
            self.add_header(name, value)

    def add_header(self, name: str, value: str) -> None:
        """Taint the value of a header that came from configuration, environment or a token response."""
        if not value or name.lower() in _HARMLESS:
            return
        self.is_empty = False
        scheme, space, credentials = value.partition(" ")
        if space and scheme.isalpha():
            # A server that echoes a token leaves out its scheme.
            self.store.add(f"credentials:{name}", credentials)
        self.store.add(f"header:{name}", value)


def exchange_of(request: WireRequest, outcome: Outcome, secrets: Secrets) -> Exchange:
    """A request and what came back, as it is recorded."""
    response, failure = _parts(outcome)
    exchange = Exchange(
        method=request.method,
        target=request.target,
        headers=tuple(request.headers),
        body=request.body,
        status=response.status_code if response is not None else None,
        reason=response.message if response is not None else "",
        response_headers=tuple(response.raw_headers) if response is not None else (),
        response_body=response.content if response is not None else b"",
        response_size=response.content_size if response is not None else 0,
        elapsed_s=outcome.elapsed,
        failure=failure,
    )
    return exchange if secrets.is_empty else _masked(exchange, secrets.store)


def _parts(outcome: Outcome) -> tuple[Response | None, str | None]:
    if isinstance(outcome, NetworkFailure):
        kind, message = outcome.kind.value, outcome.message
        return outcome.partial, f"{kind}: {message}" if message else kind
    return outcome, None


def _masked(exchange: Exchange, store: SecretStore) -> Exchange:
    mask, mask_text = store.mask_bytes, store.mask
    return Exchange(
        method=exchange.method,
        target=mask(exchange.target),
        headers=tuple((name, mask(value)) for name, value in exchange.headers),
        body=None if exchange.body is None else mask(exchange.body),
        status=exchange.status,
        reason=exchange.reason,
        response_headers=tuple(
            (name, mask_text(value)) for name, value in exchange.response_headers
        ),
        response_body=mask(exchange.response_body),
        response_size=exchange.response_size,
        elapsed_s=exchange.elapsed_s,
        failure=None if exchange.failure is None else mask_text(exchange.failure),
    )
