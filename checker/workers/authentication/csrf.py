"""CSRF tokens of sessions: where login pages and responses give them, and what repeats them.

Django repeats its cookie in a header or a field of the form; Angular, Laravel, Spring and ASP.NET another cookie; Rails, Symfony,
Flask-WTF and Laravel put a token into pages.
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
"""Statuses of a login without its token: of ASP.NET and Flask-WTF, of Django and Spring, of Laravel, of Rails."""

_ECHOED: Final = {"csrftoken": "X-CSRFToken", "XSRF-TOKEN": "X-XSRF-TOKEN"}
"""Cookie -> header that repeats it: of Django; of Angular, Laravel, Spring and ASP.NET."""
_HEADER: Final = "X-CSRF-Token"  # The header of tokens in pages: of Rails, Laravel and Flask-WTF.
_NAME: Final = re.compile("csrf|xsrf|authenticity|requestverification|^_token$", re.IGNORECASE)
_MOST_READ: Final = 1 << 20


class CsrfToken(Struct, frozen=True):
    """A CSRF token, in each form that the page gives."""

    headers: Mapping[str, str]  # Headers that repeat it.
    fields: Mapping[str, str]  # Hidden fields of the form.

    def __bool__(self) -> bool:
        return bool(self.headers or self.fields)


class _Page(HTMLParser):
    """The hidden fields and the `meta` element of a page that hold tokens."""

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
    """Whether a cookie is one that requests repeat, and so no session."""
    return name in _ECHOED


def echoed(cookies: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that repeat cookies. Laravel decodes the value of its cookie first.

    A value that no header can hold once it is decoded is repeated as it is.
    """
    pairs = ((_ECHOED[name], value, unquote(value)) for name, value in cookies.items() if name in _ECHOED)
    return {name: plain if _fits(plain) else value for name, value, plain in pairs if _fits(value)}


def _fits(value: str) -> bool:
    """Whether a header can hold a value."""
    return header("X", value) is None


def token_of(page: Response, cookies: Mapping[str, str]) -> CsrfToken:
    """Return the token of a page that is read with these cookies, its own among them."""
    parser = _Page()
    parser.feed(page.content[:_MOST_READ].decode("utf-8", "replace"))
    headers = echoed(cookies)
    shown = (parser.meta or next(iter(parser.fields.values()), "")).strip()
    if shown and not headers and _fits(shown):
        headers[_HEADER] = shown
    return CsrfToken(headers, parser.fields)
