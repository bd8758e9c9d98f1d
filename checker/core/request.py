"""The request as it stands on the wire."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from urllib.parse import unquote, urlsplit

_LOOPBACK = "localhost"
# To the last `@` before the path: a password may hold one.
_HOST = re.compile(r"[^\x00-\x20\x7f\s\"<>\\^`{|}/?#@]+")
"""What no name or address of a host holds stays out (RFC 3986, 3.2.2); names in other scripts pass."""
_USERINFO = re.compile(r"(?<=://)[^/?#]*@")
_UNSHOWN = re.compile(rb"[^!-~]")


@dataclass(frozen=True, slots=True)
class BaseUrl:
    """Where requests go: scheme, host, port, and the path before every operation path."""

    scheme: str
    host: str
    """Without brackets for IPv6."""
    port: int
    base_path: str
    """Starts with `/` or is empty; never ends with `/`."""
    userinfo: str = ""
    """`user:password`, decoded: sent as basic authentication, and part of no other text."""

    @property
    def url(self) -> str:
        """`http://127.0.0.1:8080`, without the base path."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        default = {"http": 80, "https": 443}[self.scheme]
        return f"{self.scheme}://{host}" + ("" if self.port == default else f":{self.port}")

    @property
    def site(self) -> tuple[str, str, int]:
        """Scheme, host and port (RFC 6454, 4): equal where credentials for one are credentials for the other.

        All spellings of this machine are one host. Descriptions say `localhost` or `0.0.0.0` where the user said
        `127.0.0.1`, and no name or route that somebody else controls leads there.
        """
        return self.scheme, host_of(self.host), self.port

    def with_userinfo(self, userinfo: str) -> "BaseUrl":
        """This place, reached with these credentials."""
        return replace(self, userinfo=userinfo)

    @classmethod
    def from_url(cls, url: str) -> "BaseUrl":
        """What an absolute http(s) URL says. Raises `ValueError` with a sentence when it is not one."""
        parts = urlsplit(url)
        host = parts.hostname or ""
        if parts.scheme not in ("http", "https") or not _HOST.fullmatch(host):
            raise ValueError(
                f"{_shown(url)!r} is not an absolute http(s) URL; give one like http://127.0.0.1:8080"
            )
        port = parts.port
        if port == 0:
            raise ValueError(
                f"{_shown(url)!r} has port 0, which nobody can listen on; give a port from 1 to 65535"
            )
        usual = 443 if parts.scheme == "https" else 80
        userinfo = unquote(parts.netloc.rpartition("@")[0])
        return cls(parts.scheme, host, port or usual, parts.path.rstrip("/"), userinfo)


def without_userinfo(url: str) -> str:
    """A URL without credentials before its host."""
    return _USERINFO.sub("", url, count=1)


def _shown(url: str) -> str:
    """As much of a URL as an error may show: its query may hold credentials, too."""
    return without_userinfo(url).partition("?")[0]


def host_of(name: str) -> str:
    """The host of a name or an address, one spelling for this machine."""
    lowered = name.lower().rstrip(".")
    try:
        address = ip_address(lowered)
    except ValueError:
        return lowered
    return _LOOPBACK if address.is_loopback or address.is_unspecified else lowered


@dataclass(slots=True)
class WireRequest:
    """One request, byte for byte. `Host` and `Content-Length` are left to the transport unless given."""

    method: str
    target: bytes
    """Request target in origin form: base path, path, query."""
    headers: list[tuple[bytes, bytes]]
    """In order, duplicates kept, names as they are sent."""
    body: bytes | None = None
    """None sends no body at all; `b""` sends `Content-Length: 0`."""
    fresh: bool = field(default=False, compare=False)
    """On a new connection: confirmations must not be answered by a resend on a dying one. No byte tells."""
    proofs: tuple[tuple[str, int], ...] = field(default=(), compare=False, repr=False)
    """Sources of credentials that it carries, each with the number of what it gave."""
    via: object | None = field(default=None, compare=False, repr=False)
    """How it travels, in words of the transport; None: as its lanes are set up."""
    is_kept: Callable[[], bool] | None = field(default=None, compare=False, repr=False)
    """Whether a redirect is an answer to it, and not followed; None: it is followed. Asked when there is one."""
    lines: list[bytes] | None = field(default=None, init=False, compare=False, repr=False)
    """The headers as the transport wants them, each a line, if whoever made them knew. To be forgotten when they change."""

    def header(self, name: bytes) -> bytes | None:
        """First value of a header, names compared without case."""
        wanted = name.lower()
        for key, value in self.headers:
            if key.lower() == wanted:
                return value
        return None

    @property
    def path(self) -> bytes:
        """Path as it is sent, without the query."""
        return self.target.partition(b"?")[0]

    def url(self, origin: BaseUrl) -> str:
        """Absolute URL; bytes outside ASCII are shown percent-encoded."""
        text = _UNSHOWN.sub(lambda byte: b"%%%02X" % ord(byte[0]), self.target)
        return origin.url + text.decode("ascii")
