"""CSRF tokens of sessions: where login pages and responses contain them, and which headers or fields repeat them.

Django repeats its cookie in a header or a form field. Angular, Laravel, Spring and ASP.NET use another cookie. Rails,
Symfony, Flask-WTF and Laravel put a token into pages.
"""

import re
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Final
from urllib.parse import unquote

from msgspec import Struct

from checker.config.value_kinds import header
from checker.core.response import Response

WANTS_TOKEN: Final = frozenset((400, 403, 419, 422))
"""Statuses of a login without its token: 400 of ASP.NET and Flask-WTF, 403 of Django and Spring, 419 of Laravel, 422 of Rails."""

_ECHOED: Final = {"csrftoken": "X-CSRFToken", "XSRF-TOKEN": "X-XSRF-TOKEN"}
"""Cookie -> header that repeats it: the first of Django, the second of Angular, Laravel, Spring and ASP.NET."""
_HEADER: Final = "X-CSRF-Token"  # Header for tokens in pages of Rails, Laravel and Flask-WTF.
_NAME: Final = re.compile("csrf|xsrf|authenticity|requestverification|^_token$", re.IGNORECASE)
_MOST_READ: Final = 1 << 20


class CsrfToken(Struct, frozen=True):
    """A CSRF token in every form that a page offers."""

    headers: Mapping[str, str]  # Headers that repeat the token.
    fields: Mapping[str, str]  # Hidden fields of the form.

    def __bool__(self) -> bool:
        return bool(self.headers or self.fields)


class _Page(HTMLParser):
    """Finds the hidden fields and the `meta` elements of a page that contain tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self.meta = ""

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """Return the end of a declaration. The base raises `AssertionError` for unknown ones (`<![foo bar>`)."""
        try:
            return super().parse_marked_section(i, report)
        except AssertionError:
            return self.parse_bogus_comment(i)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name = given.get("name") or ""
        if not _NAME.search(name):
            return
        if tag == "input" and (value := given.get("value")):
            self.fields.setdefault(name, value)
        if tag == "meta" and name in ("csrf-token", "_csrf"):
            self.meta = given.get("content") or self.meta


def is_csrf_cookie(name: str) -> bool:
    """Whether requests repeat a cookie as a CSRF token, so that it is no session."""
    return name in _ECHOED


def echoed(cookies: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that repeat cookies. Laravel decodes its cookie first.

    If headers cannot contain the decoded value, the cookie is repeated unchanged.
    """
    pairs = ((_ECHOED[name], value, unquote(value)) for name, value in cookies.items() if name in _ECHOED)
    return {name: plain if _fits(plain) else value for name, value, plain in pairs if _fits(value)}


def _fits(value: str) -> bool:
    """Whether a header can hold a value."""
    return header("X", value) is None


def token_of(page: Response, cookies: Mapping[str, str]) -> CsrfToken:
    """Return the CSRF token of a login page. `cookies` are sent with the page's form, and include those that the page set."""
    parser = _Page()
    parser.feed(page.content[:_MOST_READ].decode("utf-8", "replace"))
    headers = echoed(cookies)
    shown = (parser.meta or next(iter(parser.fields.values()), "")).strip()
    if shown and not headers and _fits(shown):
        headers[_HEADER] = shown
    return CsrfToken(headers, parser.fields)
