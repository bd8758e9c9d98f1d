"""Cookies that clients of users keep: they go out beside those of a case, which stand over them by name."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from importlib import import_module
from typing import Any, Final

from checker.core.request import WireRequest

_COOKIE: Final = b"Cookie"


def joined(request: WireRequest, kept: str | None) -> WireRequest:
    """Return a request whose `Cookie` has its own values, and those that a client keeps under other names.

    Clients do not change a header that is there: a logged-in client would be anonymous at every
    operation that has a cookie of its own.
    """
    own = (request.header(_COOKIE) or b"").decode("latin-1")
    if not own or not kept:
        return request
    taken = {_name(pair) for pair in own.split(";")}
    more = [pair.strip() for pair in kept.split(";") if _name(pair) not in taken]
    value = "; ".join([own, *more]).encode("latin-1", "replace")
    headers = [(name, value if name.lower() == _COOKIE.lower() else text) for name, text in request.headers]
    return replace(request, headers=headers)


def names_in(kept: str | None) -> frozenset[str]:
    """Return the names of the cookies of a header."""
    return frozenset(_name(pair) for pair in (kept or "").split(";")) - {""}


def _name(pair: str) -> str:
    return pair.partition("=")[0].strip()


def of_httpx(session: Any, url: str) -> str | None:
    """Return the cookies that a client of `httpx` sends to a URL."""
    found: str | None = session.build_request("GET", url).headers.get("cookie")
    return found


def of_requests(session: Any, url: str) -> str:
    """Return the cookies that a session of `requests` sends to a URL."""
    requests = import_module("requests")
    kept = requests.cookies.get_cookie_header(session.cookies, requests.Request("GET", url))
    return "; ".join(one for one in (session.headers.get("Cookie"), kept) if one)


def of_django(session: Any) -> str:
    """Return the cookies that Django's test client sends to every URL."""
    return "; ".join(f"{one.key}={one.coded_value}" for one in session.cookies.values())


def kept_by_werkzeug(session: Any, request: WireRequest, host: str) -> Any:
    """While it lasts, a test client of werkzeug keeps the cookies of a request: it replaces the header by what it keeps."""
    own = (request.header(_COOKIE) or b"").decode("latin-1")
    try:
        session.get_cookie("")
    except TypeError:
        # It was made to keep none, and leaves the header alone.
        return nullcontext()
    return _lent(session, own, host)


@contextmanager
def _lent(session: Any, own: str, host: str) -> Iterator[None]:
    parse = import_module("werkzeug.http").parse_cookie
    before = []
    for name, value in parse(own).items(multi=True):
        earlier = session.get_cookie(name, host)
        session.set_cookie(name, value, domain=host)
        before.append((name, session.get_cookie(name, host), earlier))
    try:
        yield
    finally:
        for name, lent, earlier in before:
            # What the answer has set stays.
            if session.get_cookie(name, host) is lent:
                _put_back(session, name, earlier, host)


def _put_back(session: Any, name: str, cookie: Any, host: str) -> None:
    if cookie is None:
        session.delete_cookie(name, domain=host)
        return
    session.set_cookie(
        name,
        cookie.decoded_value,
        domain=cookie.domain,
        origin_only=cookie.origin_only,
        path=cookie.path,
        expires=cookie.expires,
        max_age=cookie.max_age,
        secure=cookie.secure,
        httponly=cookie.http_only,
        samesite=cookie.same_site,
    )
