"""Signatures of finished requests: digest authentication, and `auth` objects of HTTP clients.

A separate module, because importing httpx takes a tenth of the start of a worker.
"""

from collections.abc import Callable, Generator, Iterable
from typing import Any

from checker.config.auth import BasicAuth
from checker.config.operation_settings import OperationSettings
from checker.core.case import Case
from checker.core.credentials import Credentials, new_values
from checker.core.errors import CredentialError
from checker.core.operation import Operation
from checker.core.providers import AuthContext, SigningScope
from checker.core.request import BaseUrl, WireRequest
from checker.core.response import Response
from checker.kinds.http_client import httpx
from checker.workers.authentication.keeper import RequestSigner

_MOST_WAITING = 64  # Requests in flight whose response may be a challenge.

_DIGEST_OF_REQUESTS = ("requests.auth", "HTTPDigestAuth")
"""Module and class name, because `requests` may not be installed."""

Flow = Generator[httpx.Request, httpx.Response, None]


class HttpxSigner:
    """Signs with `httpx.Auth`. The flow of the object changes the request and learns from the response, for example a nonce of digest."""

    def __init__(self, origin: BaseUrl, auth_of: Callable[[Case], httpx.Auth | None]) -> None:
        self._origin = origin
        self._auth_of = auth_of
        self._flows: dict[int, tuple[WireRequest, Flow]] = {}
        """By the `id` of requests. The entry keeps the request alive."""

    def sign(self, case: Case, request: WireRequest) -> Credentials | None:
        """Return the headers that the flow adds to a request."""
        auth = self._auth_of(case)
        if auth is None:
            return None
        sent = _as_httpx(request, self._origin)
        before = dict(sent.headers)
        try:
            flow = auth.sync_auth_flow(sent)
            wanted = next(flow)
        except Exception as error:
            raise CredentialError(f"{type(auth).__name__}: {type(error).__name__}: {error}") from error
        # The flow of a request that never gets a response is not removed. The oldest flow is dropped: dictionaries keep
        # their order.
        while len(self._flows) >= _MOST_WAITING:
            self._flows.pop(next(iter(self._flows)))
        self._flows[id(request)] = (request, flow)
        return Credentials(new_values(before, dict(wanted.headers)))

    def is_challenged(self, request: WireRequest, response: Response) -> bool:
        """Whether the flow sends the request again after this response. The flow keeps what it has learned for the next request."""
        _, flow = self._flows.pop(id(request), (request, None))
        if flow is None:
            return False
        answer = httpx.Response(
            response.status_code, headers=response.raw_headers, request=_as_httpx(request, self._origin)
        )
        try:
            flow.send(answer)
        except StopIteration:
            return False
        except Exception as error:
            raise CredentialError(f"{type(error).__name__}: {error}") from error
        return True


class CallableSigner:
    """Signs with an `auth` object of `requests`, which is called with the request and changes it."""

    def __init__(self, origin: BaseUrl, signing: SigningScope) -> None:
        self._origin = origin
        self._signing = signing

    def sign(self, case: Case, request: WireRequest) -> Credentials | None:
        """Return the headers that the object adds to a request."""
        if not self._signing.covers(AuthContext.of(case.operation)):
            return None
        prepared = PreparedRequest(request, self._origin)
        before = dict(prepared.headers)
        try:
            signed = self._signing.signer(prepared) or prepared
        except Exception as error:
            signer = type(self._signing.signer).__name__
            raise CredentialError(f"{signer}: {type(error).__name__}: {error}") from error
        texts = {k: v.decode("latin-1") if isinstance(v, bytes) else str(v) for k, v in signed.headers.items()}
        return Credentials(new_values(before, texts))

    def is_challenged(self, request: WireRequest, response: Response) -> bool:
        """Return False, because these objects do not see responses."""
        return False


class PreparedRequest:
    """The request as `auth` objects of `requests` read and change it."""

    def __init__(self, request: WireRequest, origin: BaseUrl) -> None:
        self.method = request.method
        self.url = request.url_at(origin.plain)
        self.path_url = request.target.decode("latin-1")
        self.headers: dict[str, Any] = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in request.headers
        }
        self.body = request.body

    def register_hook(self, event: str, hook: Callable[..., Any]) -> None:
        """Raise `CredentialError`, because no response is available for the hook. An `httpx.Auth` can do the same."""
        raise CredentialError("objects that read responses are not supported; give an `httpx.Auth`")


def digest_signer(origin: BaseUrl, settings_of: Callable[[Operation], OperationSettings]) -> HttpxSigner:
    """Return the signer of digest authentication (RFC 7616) for operations whose settings ask for it."""
    known: dict[BasicAuth, httpx.DigestAuth] = {}

    def auth_of(case: Case) -> httpx.Auth | None:
        basic = settings_of(case.operation).authentication.basic
        if basic is None or basic.type != "digest":
            return None
        return known.setdefault(basic, httpx.DigestAuth(basic.username, basic.password))

    return HttpxSigner(origin, auth_of)


def signers_of(origin: BaseUrl, given: Iterable[SigningScope]) -> tuple[RequestSigner, ...]:
    """Return the signers of `set_from_requests`."""
    return tuple(
        CallableSigner(origin, one) if flow is None else HttpxSigner(origin, _scoped(one, flow))
        for one, flow in ((one, _flow_of(one.signer)) for one in given)
    )


def _flow_of(signer: Any) -> httpx.Auth | None:
    """Return the flow of a signer that also reads responses; None for an object that only changes requests.

    The digest class of `requests` reads responses by hooks, so httpx's digest replaces it, with the same user and password.
    """
    if isinstance(signer, httpx.Auth):
        return signer
    kind = type(signer)
    if (kind.__module__, kind.__name__) == _DIGEST_OF_REQUESTS:
        return httpx.DigestAuth(signer.username, signer.password)
    return None


def _scoped(signing: SigningScope, flow: httpx.Auth) -> Callable[[Case], httpx.Auth | None]:
    return lambda case: flow if signing.covers(AuthContext.of(case.operation)) else None


class _ExactUrl(httpx.URL):
    """A URL whose path is signed exactly as sent. httpx would normalise the path, and the signature would be wrong."""

    exact = b""

    @property
    def raw_path(self) -> bytes:
        return self.exact


def _as_httpx(request: WireRequest, origin: BaseUrl) -> httpx.Request:
    made = httpx.Request(request.method, origin.plain.url, headers=list(request.headers), content=request.body)
    url = _ExactUrl(origin.plain.url)
    url.exact = request.target
    made.url = url
    return made
