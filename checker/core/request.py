"""A request as it is sent: locations of its parts, header fields, base URLs."""

import dataclasses
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from enum import StrEnum
from functools import lru_cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final, Self, SupportsIndex, TypeVar, overload
from urllib.parse import quote, unquote, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from checker.core.user_code import require

Field = tuple[bytes, bytes]
Default = TypeVar("Default")


class SentHeaders(list[Field]):
    """`headers["X-Key"]` is a text, in any letter case of the name. As a list it has a pair of bytes for each line."""

    def keys(self) -> list[str]:
        """Return the names as they were sent, each once."""
        return list(dict(self.items()))

    def values(self) -> list[str]:
        """Return the values as text, in order."""
        return [value for _, value in self.items()]

    def items(self) -> Iterator[tuple[str, str]]:
        """Return the names and values as text, in order."""
        return ((name.decode("latin-1"), value.decode("latin-1")) for name, value in self)

    @overload
    def get(self, name: str) -> str | None: ...
    @overload
    def get(self, name: str, default: Default) -> str | Default: ...
    def get(self, name: str, default: Any = None) -> Any:
        """Return the values of a name, joined by commas if there are several (RFC 9110, 5.3)."""
        wanted = name.lower()
        found = [value for key, value in self.items() if key.lower() == wanted]
        return ", ".join(found) if found else default

    @overload
    def __getitem__(self, place: str) -> str: ...
    @overload
    def __getitem__(self, place: SupportsIndex) -> Field: ...
    @overload
    def __getitem__(self, place: slice) -> list[Field]: ...
    def __getitem__(self, place: Any) -> Any:
        """Return the value of a name, or the pair at an index as in any list. Raises `KeyError` for a name that was not sent."""
        if not isinstance(place, str):
            return super().__getitem__(place)
        found = self.get(place)
        if found is None:
            raise KeyError(place)
        return found

    def __contains__(self, wanted: object) -> bool:
        return self.get(wanted) is not None if isinstance(wanted, str) else super().__contains__(wanted)


LONGEST_TARGET = 8_000  # Octets of a request target: the length that every recipient should support (RFC 9110, 4.1).
LOOPBACK: Final = "localhost"
ANY_CHECK: Final = "*"
_UNIX: Final = "unix:"
_MOST_OF_SOCKET: Final = 107
"""Octets of the path of a unix socket: an address has 108, with the NUL that ends it (unix(7))."""
_HOST = re.compile(r"[^\x00-\x20\x7f\s\"<>\\^`{|}/?#@]+")
"""Host names and addresses (RFC 3986, 3.2.2), names in other scripts included."""
# Greedy up to the last `@` before the path, because a password may contain `@`.
_USERINFO = re.compile(r"(?<=://)[^/?#]*@")
_UNSHOWN = re.compile(rb"[^!-~]")


class BaseUrl(Struct, frozen=True):
    """The base of all URLs: scheme, host, port, and the path before every operation path."""

    scheme: str
    host: str
    """Without brackets for IPv6."""
    port: int
    base_path: str
    """Starts with `/` or is empty; never ends with `/`."""
    userinfo: str = ""
    """`user:password`, decoded: sent as basic authentication, and not part of any other text."""
    socket: str = ""
    """Path of the Unix socket to connect to; empty for TCP."""

    @property
    def url(self) -> str:
        """`http://127.0.0.1:8080`, without the base path; `http://%2Frun%2Fapp.sock` for a socket."""
        if self.socket:
            return f"{self.scheme}://{quote(self.socket, safe='')}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        default = {"http": 80, "https": 443}[self.scheme]
        return f"{self.scheme}://{host}" + ("" if self.port == default else f":{self.port}")

    @property
    def site(self) -> tuple[str, str, int]:
        """Return scheme, host and port (RFC 6454, 4): two sites are equal if credentials for one are credentials for the other.

        All spellings of this machine are one host. Descriptions may have `localhost` or `0.0.0.0` if the user gave
        `127.0.0.1`, and no third party controls these names or their routes.
        """
        return self.scheme, self.socket or host_of(self.host), self.port

    @property
    def service(self) -> tuple[str, int]:
        """Host and port in one spelling; the usual ports of HTTP and HTTPS are one service, and every other port is a service of its own."""
        return self.socket or host_of(self.host), 0 if self.port in (80, 443) else self.port

    @property
    def plain(self) -> "BaseUrl":
        """The base URL as connected clients name it: `http://localhost` for a socket."""
        return replace(self, socket="") if self.socket else self

    def with_userinfo(self, userinfo: str) -> "BaseUrl":
        """Return a copy of this base URL with these credentials."""
        return replace(self, userinfo=userinfo)

    @classmethod
    def from_url(cls, url: str) -> "BaseUrl":
        """Return the base of an absolute http(s) URL or of the address of a unix socket. Raises `ValueError` with a sentence for other texts."""
        return _base_url(url)


@lru_cache(maxsize=64)  # Calls of Python users ask for the same one several times for each case.
def _base_url(url: str) -> BaseUrl:
    parts = urlsplit(canonical_url(url))
    if parts.scheme == "http" and parts.netloc[:3].upper() == "%2F":
        path = unquote(parts.netloc)
        if len(path.encode("utf-8", "surrogateescape")) > _MOST_OF_SOCKET or "\0" in path:
            raise ValueError(
                f"{path!r} cannot be a unix socket: its path may have {_MOST_OF_SOCKET} octets; give a shorter one"
            )
        return BaseUrl(parts.scheme, LOOPBACK, 80, parts.path.rstrip("/"), socket=path)
    host = parts.hostname or ""
    if parts.scheme not in ("http", "https") or not _HOST.fullmatch(host):
        raise ValueError(f"{_shown(url)!r} is not an absolute http(s) URL; give one like http://127.0.0.1:8080")
    port = parts.port
    if port == 0:
        raise ValueError(f"{_shown(url)!r} has port 0, on which no server can listen; give a port from 1 to 65535")
    usual = 443 if parts.scheme == "https" else 80
    userinfo = unquote(parts.netloc.rpartition("@")[0])
    return BaseUrl(parts.scheme, host, port or usual, parts.path.rstrip("/"), userinfo)


def canonical_url(url: str) -> str:
    """Return a URL in the form that every library reads: `http://%2Frun%2Fapp.sock/api` for `unix:/run/app.sock:/api`, others unchanged.

    Raises `ValueError` for a socket without an absolute path.
    """
    if not url.startswith(_UNIX):
        return url
    path, colon, below = url.removeprefix(_UNIX).partition(":/")
    path = path if colon else path.removesuffix(":")
    if not path.strip("/") or not path.startswith("/"):
        raise ValueError(
            f"{url!r} names no socket by an absolute path; give one like unix:/run/app.sock, "
            "or unix:/run/app.sock:/api where the API has a path of its own"
        )
    return f"http://{quote('/' + path.lstrip('/'), safe='')}" + (f"/{below}" if colon else "")


def readable_url(url: str) -> str:
    """Return a URL in the form that people write: `unix:/run/app.sock:/api` for `http://%2Frun%2Fapp.sock/api`, others unchanged."""
    netloc, slash, below = url.removeprefix("http://").partition("/")
    if not url.startswith("http://") or netloc[:3].upper() != "%2F":
        return url
    return f"{_UNIX}{unquote(netloc)}" + (f":/{below}" if slash else "")


def loopbacks_of(host: str) -> tuple[str, ...]:
    """Return both loopback addresses for the name of this machine, regardless of its hosts file (RFC 6761, 6.3); other hosts unchanged."""
    return ("127.0.0.1", "::1") if host.lower() == LOOPBACK else (host,)


def without_userinfo(url: str) -> str:
    """Return a URL without the credentials before its host."""
    return _USERINFO.sub("", url, count=1)


def _shown(url: str) -> str:
    """Return the part of a URL that an error may show. The query is left out, because it may contain credentials."""
    return without_userinfo(url).partition("?")[0]


@lru_cache(maxsize=1024)
def host_of(name: str) -> str:
    """Return the host of a name or an address, with one spelling for this machine."""
    lowered = name.lower().rstrip(".")
    try:
        address = ip_address(lowered)
    except ValueError:
        return lowered
    return LOOPBACK if address.is_loopback or address.is_unspecified else lowered


@dataclasses.dataclass(slots=True)
class WireRequest:
    """One request, byte for byte. `Host` and `Content-Length` are left to the transport unless given."""

    method: str
    target: bytes
    """Request target in origin form: base path, path, query."""
    headers: list[tuple[bytes, bytes]]
    """Headers in order, with duplicates, and with names as they are sent."""
    body: bytes | None = None
    """The body. None sends no body at all; `b""` sends `Content-Length: 0`."""
    fresh: bool = dataclasses.field(default=False, compare=False)
    """Whether the request needs a new connection, because a confirmation must not come from a retry on a closing one. The bytes do not show this."""
    confirms: str = dataclasses.field(default="", compare=False)
    """The check whose failure the request investigates, `ANY_CHECK` if that is unknown.

    For such a request, checks send requests that they otherwise send rarely.
    """
    patience_s: float | None = dataclasses.field(default=None, compare=False)
    """Seconds after which the request is given up; None: the timeout of its lane."""
    delay_s: float = dataclasses.field(default=0.0, compare=False)
    """Seconds to wait before the request is sent, so that the server has finished the previous one."""
    is_of_check: bool = dataclasses.field(default=False, compare=False)
    """Whether a check sends this request in place of the request of a case."""
    client_has_credentials: bool = dataclasses.field(default=False, compare=False, repr=False)
    """Whether a logged-in client of the user sends the request. The headers may not show that, because a test client can force a login."""
    is_twice: bool = dataclasses.field(default=False, compare=False)
    """Whether the request is sent twice at once, on two connections.

    The outcome is the better response, with the other one among its earlier exchanges.
    """
    is_probed: bool = dataclasses.field(default=False, compare=False)
    """Whether this is the first accepted request of its operation, for which checks send their probes."""
    proofs: tuple[tuple[str, int], ...] = dataclasses.field(default=(), compare=False, repr=False)
    """Sources of the credentials, each with the number of the returned credentials."""
    via: object | None = dataclasses.field(default=None, compare=False, repr=False)
    """Options of the transport; None: those of its lanes."""
    origin: BaseUrl | None = dataclasses.field(default=None, compare=False, repr=False)
    """The destination, if it was known when the request was made."""
    is_kept: Callable[[], bool] | None = dataclasses.field(default=None, compare=False, repr=False)
    """Returns whether a redirect counts as the response and is not followed; None: it is followed. Called when there is a redirect."""
    drawn: Collection[tuple[bytes, bytes]] = dataclasses.field(default=(), compare=False, repr=False)
    """Headers of the request of a run that user code sends again."""
    lines: list[bytes] | None = dataclasses.field(default=None, init=False, compare=False, repr=False)
    """The headers as lines of the transport, if they were written in advance. Reset this field when the headers change."""

    def is_for(self, check: str) -> bool:
        """Whether the request investigates a failure of a check."""
        return self.confirms in (check, ANY_CHECK)

    @property
    def is_confirmation(self) -> bool:
        """Whether its verdict decides about a failure, so that checks wait until the server shows what it has accepted.

        Candidates of a shrink are hurried: the smallest is confirmed.
        """
        return bool(self.confirms) and self.patience_s is None

    def header(self, name: bytes) -> bytes | None:
        """Return the first value of a header. Names are compared without case."""
        wanted = name.lower()
        for key, value in self.headers:
            if key.lower() == wanted:
                return value
        return None

    @property
    def path(self) -> bytes:
        """Path as it is sent, without the query."""
        return self.target.partition(b"?")[0]

    @property
    def url(self) -> str:
        """Return the absolute URL; the target alone if the base is unknown."""
        if self.origin is None:
            return self.target.decode("latin-1")
        return self.url_at(self.origin.plain)

    def shown(self, origin: BaseUrl | None = None) -> Self:
        """Return this request in a readable form for users: headers also by name, and the URL."""
        if not isinstance(self.headers, SentHeaders):
            self.headers = SentHeaders(self.headers)
        self.origin = origin or self.origin
        return self

    def url_at(self, origin: BaseUrl) -> str:
        """Return the absolute URL, non-ASCII bytes percent-encoded. A target at another host contains it (RFC 9112, 3.2.2)."""
        text = _UNSHOWN.sub(lambda byte: b"%%%02X" % ord(byte[0]), self.target).decode("ascii")
        return text if text.startswith(("http://", "https://")) else origin.url + text


if TYPE_CHECKING:

    class SentRequest(WireRequest):
        """A request that was sent, for users (`shown`): its headers can also be found by name."""

        headers: SentHeaders
else:
    # Hot path: headers get their readable class only before user code sees them.
    SentRequest = WireRequest


class Location(StrEnum):
    """The location of a part of a request. The order is the order in which parts are drawn."""

    PATH = "path"
    QUERY = "query"
    HEADER = "header"
    COOKIE = "cookie"
    BODY = "body"

    @property
    def container(self) -> str:
        """Name of the field of `Case` that holds parts of this location."""
        return CONTAINERS[self]

    def key(self, name: str) -> str:
        """Return a name in the form in which names of this location are compared: headers ignore case (RFC 9110, 5.1)."""
        return name.lower() if self is Location.HEADER else name


CONTAINERS: Final[Mapping[str, str]] = {
    Location.PATH: "path_parameters",
    Location.QUERY: "query",
    Location.HEADER: "headers",
    Location.COOKIE: "cookies",
    Location.BODY: "body",
}


def header_bytes(text: str) -> bytes:
    """Return a header's text as bytes: Latin-1 if possible, otherwise UTF-8."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def header_text(value: object) -> str:
    """Return the text of a header's value that a user wrote: a text, bytes or a number."""
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def latin_fields(pairs: Iterable[tuple[str, Any]]) -> list[Field]:
    """Return headers as bytes in Latin-1; other characters become question marks."""
    return [
        (name.encode("latin-1", "replace"), header_text(value).encode("latin-1", "replace")) for name, value in pairs
    ]


CONDITIONS: Final = frozenset(("if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range"))
"""Headers that make a request conditional, in lower case (RFC 9110, 13.1)."""

GivenHeaders = list[tuple[str, str]] | Mapping[str, str | Iterable[str]]


def header_pairs(headers: GivenHeaders) -> list[tuple[str, str]]:
    """Return names and values of headers, one pair for each value. Raises `IncorrectUsage` for other objects."""
    try:
        found = (
            [
                (name, value)
                for name, given in headers.items()
                for value in ([given] if isinstance(given, str) else given)
            ]
            if isinstance(headers, Mapping)
            else [(name, value) for name, value in headers]
        )
        is_right = all(isinstance(text, str) for pair in found for text in pair)
    except (TypeError, ValueError):
        found, is_right = [], False
    require(is_right, "headers", "names and values, as a dict or as pairs", headers)
    return found


class HeaderFields(dict[str, Any]):
    """Values by name, in any letter case (RFC 9110, 5.1); names stay as they were first written."""

    def __init__(self, values: Mapping[str, Any] | Iterable[tuple[str, Any]] = ()) -> None:
        super().__init__()
        self.update(values)

    def _known(self, name: str) -> str:
        """Return the existing spelling of a name."""
        if super().__contains__(name):
            return name
        wanted = name.lower()
        return next((one for one in self if one.lower() == wanted), name)

    def __getitem__(self, name: str) -> Any:
        return super().__getitem__(self._known(name))

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(self._known(name), value)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(self._known(name))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and super().__contains__(self._known(name))

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a name, or the default."""
        return super().get(self._known(name), default)

    def pop(self, name: str, *default: Any) -> Any:
        """Remove a name and return its value, or the default. Raises `KeyError`."""
        return super().pop(self._known(name), *default)

    def setdefault(self, name: str, default: Any = None) -> Any:
        """Return the value of a name; if it is absent, set and return the default."""
        return super().setdefault(self._known(name), default)

    def update(self, values: Any = (), /, **named: Any) -> None:
        """Set several values; the last one of a name counts."""
        for name, value in dict(values, **named).items():
            self[name] = value
