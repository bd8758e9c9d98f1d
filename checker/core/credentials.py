"""Credentials that are fetched during a run: their sources and the registry of sources."""

from base64 import b64encode
from collections.abc import Mapping
from typing import Any, Final, Protocol, TypeVar
from urllib.parse import quote, unquote_plus

from msgspec import Struct, field

from checker.core.case import Case
from checker.core.operation import Label
from checker.core.registry import NameRule, Registry
from checker.core.request import WireRequest, header_bytes
from checker.core.response import Response
from checker.core.security import SecurityScheme
from checker.core.user_code import RunningCode

_COOKIE = b"cookie"


class Credentials(Struct, frozen=True):
    """The credentials of a request. All values are secrets from the moment they exist."""

    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)
    data: Any = None  # Data for the source of the credentials only: None, scalars, bytes, lists, and maps of them.
    case: Case | None = None
    """The case with credentials in its body, if the source puts them there. It is for one request and not shared."""
    refresh_s: float | None = None  # Age in seconds at which they are fetched again; None: the source decides.


def put(request: WireRequest, credentials: Credentials) -> None:
    """Add credentials to a request; later ones replace earlier ones."""
    if credentials.headers:
        _put_headers(request, credentials.headers)
    if credentials.query:
        path, _, query = request.target.partition(b"?")
        given = credentials.query
        kept = [pair for pair in query.split(b"&") if pair and _name_of(pair) not in given]
        kept += (f"{quote(name, safe='')}={quote(value, safe='')}".encode() for name, value in given.items())
        request.target = path + b"?" + b"&".join(kept)
    if credentials.cookies:
        sent = request.header(_COOKIE) or b""
        parts = [part for part in sent.split(b"; ") if part]
        given = credentials.cookies
        kept = [part for part in parts if _name_of(part) not in given]
        own = [header_bytes(f"{name}={value}") for name, value in given.items()]
        _put_headers(request, {"Cookie": b"; ".join([*kept, *own]).decode("latin-1")})


def drop(request: WireRequest, credentials: Credentials) -> bool:
    """Remove the credentials of these names from a request; return whether it had any."""
    before = request.target, list(request.headers)
    path, mark, query = request.target.partition(b"?")
    if credentials.query and mark:
        kept = [pair for pair in query.split(b"&") if _name_of(pair) not in credentials.query]
        request.target = path + b"?" + b"&".join(kept) if kept else path
    names = {header_bytes(name).lower() for name in credentials.headers}
    request.headers = [pair for pair in request.headers if pair[0].lower() not in names]
    sent = request.header(_COOKIE)
    if credentials.cookies and sent is not None:
        parts = [part for part in sent.split(b"; ") if _name_of(part) not in credentials.cookies]
        request.headers = [pair for pair in request.headers if pair[0].lower() != _COOKIE]
        if parts:
            request.headers.append((b"Cookie", b"; ".join(parts)))
    request.lines = None
    return before != (request.target, request.headers)


def _put_headers(request: WireRequest, given: Mapping[str, str]) -> None:
    fields = [(header_bytes(name), header_bytes(value)) for name, value in given.items()]
    names = {name.lower() for name, _ in fields}
    request.headers = [pair for pair in request.headers if pair[0].lower() not in names] + fields
    request.lines = None


def _name_of(pair: bytes) -> str:
    return unquote_plus(pair.partition(b"=")[0].decode("latin-1"))


def basic_authorization(user: str, password: str) -> str:
    """Return the value of `Authorization` for a user (RFC 7617, 2)."""
    return f"Basic {b64encode(f'{user}:{password}'.encode('utf-8', 'surrogatepass')).decode()}"


def new_values(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, str]:
    """Return the values, as texts, that were added or changed."""
    return {name: str(value) for name, value in after.items() if name not in before or before[name] != value}


class CredentialSource(Protocol):
    """A source of credentials. Each worker has one object, and all its cases share the result of `fetch`."""

    name: str  # Distinguishes the source from others. No two sources have the same name.
    refresh_s: float | None = None  # Age in seconds at which credentials are fetched again; None: never.

    is_kept: bool = True  # False: the worker that sends a request fetches credentials for it.

    def key(self, case: Case) -> str | None:
        """Return the key under which the credentials of a case are kept. None if the case needs none."""
        return ""

    def fetch(self, case: Case) -> Credentials:
        """Return new credentials for the key of a case. Called in one worker for all workers.

        The method is called at the first request, when the credentials are too old, and when they were refused.
        Exceptions are reported as errors of the operations that need the credentials.
        """
        ...

    def renewed(self, held: Credentials, case: Case) -> Credentials:
        """Return new credentials that replace the last ones of a key. Behaves like `fetch`. A source may use the `data` of the last ones."""
        return self.fetch(case)

    def carried(self, held: Credentials, case: Case) -> Credentials | None:
        """Return the part of the fetched credentials that belongs into the request of a case; None for nothing. Called for each request."""
        return held

    def is_refused(self, response: Response) -> bool:
        """Whether a response shows that the credentials of its request are no longer valid. Then they are fetched again."""
        return response.status_code == 401


Source = TypeVar("Source", bound=CredentialSource)

CREDENTIAL_SOURCES: Final[Registry[CredentialSource]] = Registry(
    "source of credentials", names=NameRule(".+", "a line of text")
)
"""Sources by name, in the order of registration."""

RUNNING_SOURCES: Final = RunningCode("sources")
"""Sources that are fetching credentials. Requests of a source are sent without its own credentials, which do not exist yet."""


def register(source: Source) -> Source:
    """Add a source, whose credentials are added to requests. Return the source. Raises `IncorrectUsage` for a name that is taken."""
    CREDENTIAL_SOURCES.add_row(source)
    return source


class SignUpFlow(Struct, frozen=True):
    """A request that creates an account, and a request that gets a token for the account."""

    sign_up: Label
    login: Label
    shared: tuple[str, ...]
    """Properties that the bodies of the sign-up and the login have in common: the credentials, as spelled in the sign-up."""
    passwords: frozenset[str]  # The subset of them that are passwords.
    token: str  # JSON pointer of the token in the response to the login.
    scheme: SecurityScheme  # The security scheme that the token is for.
    preferred: tuple[tuple[str, str], ...] = ()
    """(property, value) of enumerations in the body of the sign-up that make the account an administrator."""


class DescribedLogin(Struct, frozen=True):
    """A POST of the description that gives a token for a user and a password."""

    path: str
    media_type: str  # JSON, or fields of a form.
    user: str  # Property of the body that holds the name of the user.
    password: str
    others: tuple[str, ...]  # Further properties that it requires.
    token: str  # JSON pointer of the token in its response.
    scheme: SecurityScheme  # The security scheme that the token is for.
