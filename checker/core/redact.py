"""What must not be shown, and what must not be written.

Sensitive *names* are masked by whatever shows something. *Secrets* are values that came from outside: they are
replaced by references before anything is written, and put back when it is sent again.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import quote, unquote_plus

from checker.core import shell
from checker.core.errors import MissingSecret
from checker.core.media_types import is_form, is_json
from checker.core.request import WireRequest

DEFAULT_KEYS = frozenset(
    [
        "phpsessid",
        "xsrf-token",
        "_csrf",
        "_csrf_token",
        "_session",
        "_xsrf",
        "aiohttp_session",
        "api_key",
        "api-key",
        "apikey",
        "auth",
        "authorization",
        "connect.sid",
        "cookie",
        "credentials",
        "csrf",
        "csrf_token",
        "csrf-token",
        "csrftoken",
        "ip_address",
        "mysql_pwd",
        "passwd",
        "password",
        "private_key",
        "private-key",
        "privatekey",
        "remote_addr",
        "remote-addr",
        "secret",
        "session",
        "sessionid",
        "set_cookie",
        "set-cookie",
        "token",
        "x_api_key",
        "x-api-key",
        "x_csrftoken",
        "x-csrftoken",
        "x_forwarded_for",
        "x-forwarded-for",
        "x_real_ip",
        "x-real-ip",
    ]
)
DEFAULT_MARKERS = ("token", "key", "secret", "password", "auth", "session", "passwd", "credential")

# To the last `@` before the path: a password may hold one.
_USERINFO = re.compile(r"(?<=//)[^/?#\s'\"]*(?=@)")
_QUERY = re.compile(r"(?<=\?)[^#]*")


@dataclass(frozen=True, slots=True)
class Redaction:
    """Which names are sensitive, and what is shown instead of their values."""

    keys: frozenset[str] = DEFAULT_KEYS
    """Whole names, lower case."""
    markers: tuple[str, ...] = DEFAULT_MARKERS
    """Parts of names, lower case."""
    replacement: str = "[Filtered]"

    def is_sensitive(self, name: str) -> bool:
        """True when values under that name are masked."""
        lowered = name.lower()
        return lowered in self.keys or any(marker in lowered for marker in self.markers)

    def places(self, request: WireRequest) -> list[str]:
        """Where a request holds values that are masked: `header X-Key`, `query token`, `body user.password`."""
        media_type = (request.header(b"content-type") or b"").decode("latin-1")
        query = request.target.decode("latin-1").partition("?")[2]
        found = [
            f"header {name.decode('latin-1')}"
            for name, value in request.headers
            if value.strip() and self.is_sensitive(name.decode("latin-1"))
        ]
        found += [f"query {name}" for name in self._names(query)]
        body = request.body or b""
        if is_form(media_type):
            found += [f"body {name}" for name in self._names(body.decode("latin-1"))]
        elif is_json(media_type):
            with suppress(ValueError, RecursionError):
                found += [f"body {path}" for path in self._paths(json.loads(body), "")]
        return list(dict.fromkeys(found))

    def _names(self, text: str) -> Iterator[str]:
        for pair in text.split("&"):
            if self._pair(pair) != pair:
                yield unquote_plus(pair.partition("=")[0])

    def _paths(self, value: Any, above: str) -> Iterator[str]:
        if isinstance(value, dict):
            for name, item in value.items():
                if self.is_sensitive(str(name)) and not _is_empty(item):
                    yield f"{above}{name}"
                else:
                    yield from self._paths(item, f"{above}{name}.")
        elif isinstance(value, list):
            for item in value:
                yield from self._paths(item, above)

    def headers(self, fields: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Fields in the same order; `Cookie` and `Set-Cookie` are sensitive as a whole. Nothing hides in nothing."""
        return [
            (name, self.replacement if value.strip() and self.is_sensitive(name) else value)
            for name, value in fields
        ]

    def pairs(self, text: str) -> str:
        """A query or a form body; all but the masked values stays as it is, byte for byte."""
        return "&".join(map(self._pair, text.split("&")))

    def _pair(self, pair: str) -> str:
        name, _, value = pair.partition("=")
        if value and self.is_sensitive(unquote_plus(name)):
            return f"{name}={quote(self.replacement, safe='')}"
        return pair

    def url(self, text: str) -> str:
        """A URL or a request target: credentials before the host and values in the query."""
        text = _USERINFO.sub(self.replacement, text)
        return _QUERY.sub(lambda query: self.pairs(query[0]), text)

    def value(self, value: Any) -> Any:
        """A parsed JSON value; a list under a sensitive name becomes a list of one replacement."""
        if isinstance(value, dict):
            return {
                name: self._under(item) if self.is_sensitive(str(name)) else self.value(item)
                for name, item in value.items()
            }
        if isinstance(value, list):
            return [self.value(item) for item in value]
        return value

    def _under(self, item: Any) -> Any:
        if _is_empty(item):
            return item
        return [self.replacement] if isinstance(item, list) else self.replacement

    def body(self, content: bytes, media_type: str) -> bytes:
        """A request body: JSON and forms are masked, whatever else there is stays as it is."""
        if is_form(media_type):
            return self.pairs(content.decode("latin-1")).encode("latin-1")
        if not is_json(media_type):
            return content
        try:
            value = json.loads(content)
        except (ValueError, RecursionError):
            return content
        masked = self.value(value)
        # Untouched bytes where there is nothing to mask: spelling is part of a test.
        if masked == value:
            return content
        return json.dumps(masked, ensure_ascii=False, separators=(",", ":")).encode(
            "utf-8", "surrogatepass"
        )

    def request(self, request: WireRequest) -> WireRequest:
        """The request as it may be shown."""
        fields = self.headers(
            (n.decode("latin-1"), v.decode("latin-1")) for n, v in request.headers
        )
        media_type = (request.header(b"content-type") or b"").decode("latin-1")
        body = request.body
        return WireRequest(
            request.method,
            self.url(request.target.decode("latin-1")).encode("latin-1", "replace"),
            [
                (name.encode("latin-1"), value.encode("latin-1", "replace"))
                for name, value in fields
            ],
            body if body is None else self.body(body, media_type),
        )


def _is_empty(item: Any) -> bool:
    return item is None or item in ("", [], {})


def _as_latin(value: str) -> bytes:
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError:
        # No header can hold it.
        return value.encode("utf-8", "surrogatepass")


def _as_utf8(value: str) -> bytes:
    return value.encode("utf-8", "surrogatepass")


def _in_command(spell: Callable[[str], str], encode: Callable[[str], bytes], value: str) -> str:
    """A value within a word of a command."""
    return spell(shell.as_text(encode(value)))


_FORMS: Mapping[str, Callable[[str], str]] = {
    "": str,
    "-quoted": lambda value: quote(value, safe="", errors="surrogatepass"),
    # As it stands in a URL where reserved characters need not be encoded.
    "-reserved": lambda value: quote(value, ":/?#[]@!$&'()*+,;=", errors="surrogatepass"),
    "-json": lambda value: json.dumps(value, ensure_ascii=False)[1:-1],
    "-ascii": lambda value: json.dumps(value)[1:-1],
    # Headers are Latin-1, and what is written takes them for UTF-8; commands cannot even say them.
    "-latin": lambda value: _as_latin(value).decode("utf-8", "surrogateescape"),
    "-shown": lambda value: _as_latin(value).decode("utf-8", "replace"),
    **{
        f"-{name}{kind}": partial(_in_command, spell, encode)
        for name, spell in shell.SPELLINGS.items()
        for kind, encode in (("", _as_utf8), ("latin", _as_latin))
    },
}
"""How a secret may be spelled in what is written: what its reference begins with -> what it is there."""
REFERENCE = re.compile(
    rf"secret(?P<form>{'|'.join(sorted(filter(None, _FORMS)))})?:(?P<name>[A-Za-z]+:[^\s{{}}]+)"
)
"""Stands in what was written where a secret never was."""
EMBEDDED_REFERENCE = re.compile(r"\{" + REFERENCE.pattern + r"\}")
_NOTHING = re.compile(r"(?!)")
_NUMBER = re.compile(r"\.[0-9]+\Z")
_MIN_EMBEDDED = 6
"""Shorter values are replaced only where they are the whole text, or stand under their name: `a` stands in nearly every body."""
_IN_PAIRS = frozenset(("query", "cookie", "parameter", "body"))
"""Kinds of secrets that are written as `name=value`."""


def reference(name: str) -> str:
    """What is written instead of the secret `name`: `secret:header:Authorization`."""
    return f"secret:{name}"


class SecretStore:
    """Secrets of this run by name: `header:Authorization`, `env:TOKEN`, `auth:token`."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        self._needles: dict[str, str] = {}
        self._fields: list[str] = []
        self._pattern: re.Pattern[str] | None = _NOTHING
        """None: to be made of what is known by now."""

    def add(self, name: str, value: str) -> None:
        """Know a secret. A later value of the same name is the one that references resolve to."""
        if not value:
            return
        if not REFERENCE.fullmatch(reference(name)):
            raise ValueError(
                f"{name!r} cannot name a secret: give a kind and a name, like header:X-Key"
            )
        self._values[name] = value
        for form, spelled in _FORMS.items():
            # Earlier values stay secret; the plainest spelling is the one that is put back.
            text = spelled(value)
            if form == "" or text not in self._needles:
                self._needles[text] = f"secret{form}:{name}"
        if len(value) < _MIN_EMBEDDED:
            self._fields += _under_its_name(name, value)
        self._pattern = None

    def forget(self, value: str) -> None:
        """Know a secret no more, unless a reference still resolves to it. Short ones stay."""
        if len(value) < _MIN_EMBEDDED or value in self._values.values():
            return
        for spell in _FORMS.values():
            self._needles.pop(spell(value), None)
        self._pattern = None

    def mask(self, text: str) -> str:
        """Text with a reference in place of each secret; what is written goes through here."""
        whole = self._needles.get(text)
        if whole is not None:
            return whole
        pattern = self._pattern or self._compiled()
        return pattern.sub(lambda found: "{" + self._needles[found[0]] + "}", text)

    def hide(self, text: str, replacement: str) -> str:
        """Text for people, with a replacement in place of each secret."""
        masked = self.mask(text)
        if REFERENCE.fullmatch(masked):
            return replacement
        return EMBEDDED_REFERENCE.sub(lambda _: replacement, masked)

    def resolve(self, text: str) -> str:
        """Text with the secrets back in place. Raises `MissingSecret` that names the one we do not have."""
        if "secret" not in text:
            return text
        whole = REFERENCE.fullmatch(text)
        return self._value(whole) if whole else EMBEDDED_REFERENCE.sub(self._value, text)

    def mask_bytes(self, raw: bytes) -> bytes:
        """The same for bytes, whatever their encoding."""
        return _as_text(self.mask, raw) if self._needles else raw

    def resolve_bytes(self, raw: bytes) -> bytes:
        """The same for bytes. Raises `MissingSecret`."""
        return _as_text(self.resolve, raw) if b"secret" in raw else raw

    def resolve_request(self, request: WireRequest) -> WireRequest:
        """The request as it was sent. Raises `MissingSecret`."""
        resolve = self.resolve_bytes
        return WireRequest(
            request.method,
            resolve(request.target),
            [(name, resolve(value)) for name, value in request.headers],
            None if request.body is None else resolve(request.body),
        )

    def _compiled(self) -> re.Pattern[str]:
        # One pass, lest a secret be found inside a reference; longest first, lest one be left in pieces.
        embedded = sorted((one for one in self._needles if len(one) >= _MIN_EMBEDDED), key=len)
        choices = [*map(re.escape, reversed(embedded)), *self._fields]
        self._pattern = re.compile("|".join(choices)) if choices else _NOTHING
        return self._pattern

    def _value(self, found: re.Match[str]) -> str:
        name = found["name"]
        if name not in self._values:
            raise MissingSecret(
                f"the recorded request needs the secret {name}, which is not given here"
            )
        return _FORMS[found["form"] or ""](self._values[name])


def _under_its_name(name: str, value: str) -> Iterator[str]:
    """Patterns for a short secret where its name says that it is meant: as commands spell a header, as pairs are."""
    kind, _, whole = name.partition(":")
    # Further values of one name are numbered.
    for field in {whole, _NUMBER.sub("", whole)}:
        if kind == "header":
            yield rf"(?<={re.escape(field)}: ){re.escape(value)}(?=')"
        if kind in _IN_PAIRS:
            for text in {value, _FORMS["-quoted"](value)}:
                yield rf"(?<={re.escape(field)}=){re.escape(text)}(?![^&;'\"\s#])"


def _as_text(change: Callable[[str], str], raw: bytes) -> bytes:
    return change(raw.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
