"""The values that a client of a user adds to each request. They take the place of the values that were drawn for a case."""

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from importlib import import_module
from typing import Any, Final

from msgspec import Struct

from checker.core.case import Case
from checker.core.foreign import is_usual
from checker.core.redact import Redaction
from checker.core.request import Location
from checker.library import session_cookies
from checker.library.options import CallOptions

_REDACTION: Final = Redaction()
"""Tells names of credentials, such as `sessionid` and `X-Api-Key`."""
_DEFAULTS: Final = {"accept": "*/*", "connection": "keep-alive"}
"""Headers that `requests` and `httpx` add to every request, beside those of `core/foreign.py`."""


class ClientValues(Struct, frozen=True):
    """Names of what a client adds, header names in lower case."""

    headers: frozenset[str] = frozenset()
    cookies: frozenset[str] = frozenset()
    query: frozenset[str] = frozenset()
    authenticates: bool = False
    """Whether it is logged in by other means: an `auth` object, a client certificate, a forced login of a test client."""

    @property
    def has_credentials(self) -> bool:
        """Whether the client is logged in, as far as it shows."""
        names = (*self.headers, *self.cookies, *self.query)
        return self.authenticates or any(map(_REDACTION.is_sensitive, names))


def values_of(session: Any, url: str) -> ClientValues:
    """Return what a client adds to a request to a URL; nothing is known of other clients than those that can send."""
    for package, read in _READERS.items():
        if is_of(session, package):
            return read(session, url)
    return ClientValues()


def for_client(case: Case, options: CallOptions, url: str) -> Case:
    """Return the case without drawn values that would replace those of the client that sends it.

    Drawn credentials go as well where the client has others: a server may look at the first that it finds. What the caller
    wrote into the case or into the call stays, and so does a case that was made by hand.
    """
    if options.session is None or case.drawn is None:
        return case
    own = values_of(options.session, url)
    places = {(place, name.lower()) for place, name in _places(case)} if own.has_credentials else ()
    path, headers, cookies, query, body = case.drawn
    changed = copy(case)

    def gone(place: Location, drawn: Mapping[str, Any], said: Iterable[str]) -> list[str]:
        names = {
            Location.HEADER: own.headers, Location.COOKIE: own.cookies, Location.QUERY: own.query,
        }[place]  # fmt: skip
        now, said = getattr(case, place.container), set(said)
        return [
            name
            for name, value in drawn.items()
            if name not in said
            and now.get(name) == value
            and (_key(place, name) in names or (place, name.lower()) in places)
        ]

    without = (
        (Location.HEADER, headers, ()),
        (Location.COOKIE, cookies, options.cookies),
        (Location.QUERY, query, options.params),
    )
    left = []
    for place, drawn, said in without:
        names = gone(place, drawn, said)
        kept = copy(getattr(case, place.container))
        for name in names:
            del kept[name]
        setattr(changed, place.container, kept)
        left.append({name: value for name, value in drawn.items() if name not in names})
    changed.drawn = (path, left[0], left[1], left[2], body)
    return changed


def is_of(value: object, package: str) -> bool:
    """Whether a class of a value, or one that it inherits from, belongs to a package."""
    return any(one.__module__.partition(".")[0] == package for one in type(value).__mro__)


def _places(case: Case) -> list[tuple[Location, str]]:
    return [scheme.place for need in case.operation.security for scheme in need.schemes]


def _key(place: Location, name: str) -> str:
    return name.lower() if place is Location.HEADER else name


def _own(headers: Iterable[tuple[str, Any]]) -> frozenset[str]:
    """Names of headers that a user gave a client. Those about the body belong to each request."""
    found = ((name.lower(), str(value)) for name, value in headers)
    return frozenset(
        name
        for name, value in found
        if not name.startswith("content-") and _DEFAULTS.get(name) != value and not is_usual(name, value)
    )


def _of_requests(session: Any, url: str) -> ClientValues:
    params = import_module("requests").utils.to_key_val_list(session.params or {})
    return ClientValues(
        _own(session.headers.items()),
        session_cookies.names_in(session_cookies.of_requests(session, url)),
        frozenset(str(name) for name, _ in params),
        session.auth is not None or session.cert is not None,
    )


def _of_httpx(session: Any, url: str) -> ClientValues:
    return ClientValues(
        _own(session.headers.items()),
        session_cookies.names_in(session_cookies.of_httpx(session, url)),
        frozenset(session.params.keys()),
        session.auth is not None,
    )


def _of_werkzeug(session: Any, url: str) -> ClientValues:
    environment = getattr(session, "environ_base", None) or {}
    cookies = getattr(session, "_cookies", None) or {}
    return ClientValues(_own(_in_environment(environment)), frozenset(one.key for one in cookies.values()))


def _of_django(session: Any, url: str) -> ClientValues:
    # `_credentials` and `_force_*` are of the client of Django REST framework.
    given = {**session.defaults, **getattr(session, "_credentials", {})}
    forced = (getattr(session.handler, f"_force_{name}", None) for name in ("user", "token"))
    return ClientValues(
        _own(_in_environment(given)),
        frozenset(session.cookies.keys()),
        authenticates=any(one is not None for one in forced),
    )


def _in_environment(environment: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """Headers in the environment of WSGI (PEP 3333): `HTTP_X_KEY`."""
    return (
        (name.removeprefix("HTTP_").replace("_", "-"), value)
        for name, value in environment.items()
        if name.startswith("HTTP_")
    )


_READERS: Final[Mapping[str, Callable[[Any, str], ClientValues]]] = {
    "httpx": _of_httpx,
    "httpx2": _of_httpx,
    "requests": _of_requests,
    "werkzeug": _of_werkzeug,
    "django": _of_django,
}
"""Package of the client's class -> what reads it, as in `sessions.py`."""
