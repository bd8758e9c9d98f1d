"""What is kept of a request and its answer, with references where secrets stood."""

from collections.abc import Iterable

from checker.core.errors import MissingSecret
from checker.core.request import WireRequest
from checker.core.response import NetworkFailure, Outcome, Response
from checker.corpus.records import Exchange

_PREFIX = b"secret:"
# A shorter value would be found in every second body by chance.
_SHORTEST_ECHO = 8
# Configured like secrets, but what the whole world sends.
_HARMLESS = frozenset(
    (b"accept", b"accept-encoding", b"accept-language", b"content-type", b"user-agent")
)


class Secrets:
    """Values that are written as references: `secret:header:Authorization`."""

    def __init__(self, headers: Iterable[tuple[str, str]] = ()) -> None:
        self._references: dict[tuple[bytes, bytes], bytes] = {}
        self._values: dict[bytes, bytes] = {}
        self._echoes: list[tuple[bytes, bytes]] = []
        for name, value in headers:
            self.add_header(name, value)

    def add_header(self, name: str, value: str) -> None:
        """Taint the value of a header that came from configuration, environment or a token response."""
        key, secret = name.lower().encode("latin-1", "replace"), _wire(value)
        if not secret or key in _HARMLESS:
            return
        reference = _PREFIX + b"header:" + _wire(name)
        self._references[key, secret] = reference
        self._values[reference] = secret
        scheme, space, credentials = secret.partition(b" ")
        for echo in (secret, credentials if space and scheme.isalpha() else b""):
            if len(echo) >= _SHORTEST_ECHO:
                self._echoes.append((echo, reference))

    def mask(self, data: bytes) -> bytes:
        """`data` with a reference wherever a secret of at least 8 bytes stands."""
        for echo, reference in self._echoes:
            if echo in data:
                data = data.replace(echo, reference)
        return data

    def mask_text(self, text: str) -> str:
        """The same for text."""
        if not self._echoes:
            return text
        return self.mask(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def mask_header(self, name: bytes, value: bytes) -> bytes:
        """The reference for a value of any length that was configured for this header."""
        return self._references.get((name.lower(), value)) or self.mask(value)

    def resolve(self, value: bytes) -> bytes:
        """The secret behind a recorded value; any other value as it is. Raises `MissingSecret` with its name."""
        if not value.startswith(_PREFIX):
            return value
        secret = self._values.get(value)
        if secret is None:
            name = value.removeprefix(_PREFIX).decode("latin-1").partition(":")[2]
            raise MissingSecret(
                f"the value of header {name} was not recorded because it is a secret; "
                f"give it again with -H '{name}: ...'"
            )
        return secret

    @property
    def is_empty(self) -> bool:
        """Whether nothing needs to be masked."""
        return not self._references


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
    return exchange if secrets.is_empty else _masked(exchange, secrets)


def _parts(outcome: Outcome) -> tuple[Response | None, str | None]:
    if isinstance(outcome, NetworkFailure):
        kind, message = outcome.kind.value, outcome.message
        return outcome.partial, f"{kind}: {message}" if message else kind
    return outcome, None


def _masked(exchange: Exchange, secrets: Secrets) -> Exchange:
    return Exchange(
        method=exchange.method,
        target=secrets.mask(exchange.target),
        headers=tuple((name, secrets.mask_header(name, value)) for name, value in exchange.headers),
        body=None if exchange.body is None else secrets.mask(exchange.body),
        status=exchange.status,
        reason=exchange.reason,
        response_headers=tuple(
            (name, secrets.mask_text(value)) for name, value in exchange.response_headers
        ),
        response_body=secrets.mask(exchange.response_body),
        response_size=exchange.response_size,
        elapsed_s=exchange.elapsed_s,
        failure=None if exchange.failure is None else secrets.mask_text(exchange.failure),
    )


def _wire(text: str) -> bytes:
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
