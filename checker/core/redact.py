"""Masking of sensitive values by their names, for everything that is shown."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any
from urllib.parse import quote, unquote_plus

from checker.core.media_types import is_form, is_json
from checker.core.meta import ANYTHING
from checker.core.request import Location, WireRequest

DEFAULT_KEYS = frozenset(
    ["phpsessid", "xsrf-token", "_csrf", "_csrf_token", "_session", "_xsrf", "aiohttp_session", "api_key", "api-key",
     "apikey", "auth", "authorization", "connect.sid", "cookie", "credentials", "csrf", "csrf_token", "csrf-token",
     "csrftoken", "ip_address", "mysql_pwd", "passwd", "password", "private_key", "private-key", "privatekey",
     "remote_addr", "remote-addr", "secret", "session", "sessionid", "set_cookie", "set-cookie", "token", "x_api_key",
     "x-api-key", "x_csrftoken", "x-csrftoken", "x_forwarded_for", "x-forwarded-for", "x_real_ip", "x-real-ip"]
)  # fmt: skip
DEFAULT_MARKERS = ("token", "key", "secret", "password", "auth", "session", "passwd", "credential")

_HARMLESS = {
    "auth": re.compile("author(?!i[sz])"),
    "key": re.compile("key(?:word|board|note|stone|frame)|monkey|turkey|donkey|hockey|jockey|whiskey"),
}
"""Marker -> words that contain it and name no secret."""
# Matches up to the last `@` before the path, because a password may contain `@`.
_USERINFO = re.compile(r"(?<=//)[^/?#\s'\"]*(?=@)")
_QUERY = re.compile(r"(?<=\?)[^#]*")
_PLAIN_NAME = re.compile(
    r"[_$@]?[A-Za-z][a-z]{0,14}(?:[A-Z]{1,3}[a-z]{1,14}|[_. -][A-Za-z][a-z]{0,14})*[A-Z]{0,3}[_-]?\d{0,2}|\d{1,3}"
)
"""Names made of words, such as `sortKey` or `expires_at`, and small numbers; other names may be values themselves."""
_LONGEST_NAME = 30
_DEEPEST = 200
"""Levels of a JSON body that are read.

Deeper values are replaced as a whole. Generated bodies have fewer levels, so they are printed as they were sent.
"""


@dataclass(frozen=True, slots=True)
class Redaction:
    """The rules of masking: by names, by origin, and the text that takes the place of a value.

    Values of every origin are masked under whole names in headers, cookies, the query and forms, and at places of credentials
    in all of these except forms. In JSON, and under parts of names, only values that may come from outside are masked.
    """

    keys: frozenset[str] = DEFAULT_KEYS  # Whole names, lower case.
    markers: tuple[str, ...] = DEFAULT_MARKERS  # Parts of names, lower case.
    replacement: str = "[Filtered]"
    generated: bool = False  # Whether drawn values are masked like values from outside.
    credentials: frozenset[str] = frozenset()
    """Places that security schemes name, lower case: `header authorization`, `query appid`."""
    outside: Mapping[str, Collection[str]] = field(default_factory=dict, hash=False)
    """The values that came from outside, by location: names, paths in the body (`user.token`), or `ANYTHING`.

    For a missing location this is unknown.
    """

    def knowing(self, outside: Mapping[str, Collection[str]]) -> "Redaction":
        """Return the rules for one request whose values from outside are known."""
        return self if self.generated else replace(self, outside=outside)

    def is_sensitive(self, name: str) -> bool:
        """Whether values from outside are masked under this name."""
        return _is_sensitive(name, self.keys, self.markers)

    def masks(self, location: Location, name: str) -> bool:
        """Whether the value of a header, cookie or pair of the query is masked."""
        if self.credentials and f"{location} {name.lower()}" in self.credentials:
            return True
        if not self.is_sensitive(name):
            return False
        lowered = name.lower()
        if lowered in self.keys:
            return True
        outside = self.outside.get(location, _UNKNOWN)
        return ANYTHING in outside or any(lowered == of.lower() for of in outside)

    def places(self, request: WireRequest) -> list[str]:
        """Return the places of a request with masked values: `header X-Key`, `query token`, `body user.password`."""
        media_type = (request.header(b"content-type") or b"").decode("latin-1")
        query = request.target.decode("latin-1").partition("?")[2]
        fields = [(n.decode("latin-1"), v.decode("latin-1")) for n, v in request.headers]
        found = [f"header {name}" for name, value in fields if self._header(name, value) != value]
        found += [f"query {name}" for name in self._names(query, self._pair)]
        body = request.body or b""
        if is_form(media_type):
            found += [f"body {name}" for name in self._names(body.decode("latin-1"), self._field)]
        elif is_json(media_type) and not self._shows_members:
            with suppress(ValueError):
                try:
                    found += [f"body {path}".rstrip() for path in self._paths(json.loads(body), "")]
                except RecursionError:
                    found.append("body")
        return list(dict.fromkeys(found))

    @property
    def _shows_members(self) -> bool:
        """Whether all of the body was drawn, so that no member of it is masked."""
        return not self.outside.get(_BODY, _UNKNOWN)

    def _names(self, text: str, masked: Callable[[str], str]) -> Iterator[str]:
        for pair in text.split("&"):
            if masked(pair) != pair:
                yield unquote_plus(pair.partition("=")[0])

    def _paths(self, value: Any, above: str, depth: int = 0) -> Iterator[str]:
        if _is_too_deep(value, depth):
            yield above.removesuffix(".")
        elif isinstance(value, dict):
            for name, item in value.items():
                path = f"{above}{name}"
                if self._masks_member(path, name) and self._under(item, path, depth + 1) != item:
                    yield path
                else:
                    yield from self._paths(item, f"{path}.", depth + 1)
        elif isinstance(value, list):
            for item in value:
                yield from self._paths(item, above, depth + 1)

    def headers(self, fields: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return the masked fields in the same order. An empty value stays empty."""
        return [(name, self._header(name, value)) for name, value in fields]

    def _header(self, name: str, value: str) -> str:
        if not value.strip():
            return value
        is_masked, is_cookie = self.masks(Location.HEADER, name), name.lower() == "cookie"
        if is_cookie:
            return ";".join(self._cookie(pair, is_masked=is_masked) for pair in value.split(";"))
        return self.replacement if is_masked else value

    def _header_bytes(self, name: bytes, value: bytes) -> bytes:
        text = value.decode("latin-1")
        shown = self._header(name.decode("latin-1"), text)
        return value if shown is text else shown.encode("latin-1", "replace")

    def _cookie(self, pair: str, *, is_masked: bool) -> str:
        name, has_name, value = pair.partition("=")
        if is_masked and not has_name and pair.strip():
            return self.replacement
        is_masked = is_masked or self.masks(_COOKIE, name.strip())
        return f"{name}={self.replacement}" if value and is_masked else pair

    def pairs(self, text: str) -> str:
        """Return a masked query; everything else in it stays unchanged, byte for byte."""
        return "&".join(map(self._pair, text.split("&")))

    def _pair(self, pair: str) -> str:
        return self._masked_pair(pair, partial(self.masks, Location.QUERY))

    def _field(self, pair: str) -> str:
        """Return a masked pair of a form. The style of the form determines the property of a pair, so a value from outside may be in any pair."""
        if self._shows_members:
            return self._masked_pair(pair, lambda name: name.lower() in self.keys)
        return self._masked_pair(pair, self.is_sensitive)

    def _masked_pair(self, pair: str, is_masked: Callable[[str], bool]) -> str:
        name, _, value = pair.partition("=")
        if value and is_masked(unquote_plus(name)):
            return f"{name}={quote(self.replacement, safe='')}"
        return pair

    def url(self, text: str) -> str:
        """Return a URL or a request target with masked credentials before the host and masked values in the query."""
        text = _USERINFO.sub(self.replacement, text)
        return _QUERY.sub(lambda query: self.pairs(query[0]), text)

    def _value(self, value: Any, above: str = "", depth: int = 0) -> Any:
        """Return a parsed JSON value with the replacement in place of sensitive ones. Objects and lists keep their structure."""
        if _is_too_deep(value, depth):
            return self.replacement
        if isinstance(value, dict):
            return {
                name: self._under(item, f"{above}{name}", depth + 1)
                if self._masks_member(f"{above}{name}", name)
                else self._value(item, f"{above}{name}.", depth + 1)
                for name, item in value.items()
            }
        if isinstance(value, list):
            return [self._value(item, above, depth + 1) for item in value]
        return value

    def _masks_member(self, path: str, name: str) -> bool:
        """Whether a member of a JSON body is masked, because it contains a value from outside or is inside one."""
        return self.is_sensitive(name) and self._is_outside(path)

    def _is_outside(self, path: str) -> bool:
        outside = self.outside.get(_BODY, _UNKNOWN)
        if ANYTHING in outside:
            return True
        here = path.replace("/", ".") + "."
        return any(f"{of}.".startswith(here) or here.startswith(f"{of}.") for of in outside)

    def _under(self, item: Any, path: str, depth: int, *, is_member: bool = False) -> Any:
        """Return the replacement of a value under a sensitive name.

        An object keeps its structure. Texts, and names that are not plain words, are replaced; numbers from outside become 0.
        """
        if item is None or item in ("", [], {}):
            return item
        if _is_too_deep(item, depth):
            return self.replacement
        if isinstance(item, list):
            return [self._under(one, path, depth + 1, is_member=is_member) for one in item]
        if isinstance(item, dict):
            return {
                name if len(name) <= _LONGEST_NAME and _PLAIN_NAME.fullmatch(name) else self.replacement: self._under(
                    one, f"{path}.{name}", depth + 1, is_member=True
                )
                for name, one in item.items()
            }
        if not is_member or isinstance(item, str):
            return self.replacement
        return item if isinstance(item, bool) or not self._is_outside(path) else 0

    def body(self, content: bytes, media_type: str) -> bytes:
        """Return a request body in which JSON and forms are masked, and other content stays unchanged."""
        if is_form(media_type):
            fields = content.decode("latin-1").split("&")
            return "&".join(map(self._field, fields)).encode("latin-1")
        if self._shows_members or not is_json(media_type):
            return content
        try:
            value = json.loads(content)
        except ValueError:
            return content
        except RecursionError:
            return self.replacement.encode()
        masked = self._value(value)
        # If nothing is masked, the bytes stay unchanged, because the spelling is part of a test.
        if masked == value:
            return content
        return json.dumps(masked, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")

    def request(self, request: WireRequest) -> WireRequest:
        """Return the request with masked values."""
        media_type = (request.header(b"content-type") or b"").decode("latin-1")
        body = request.body
        return WireRequest(
            request.method,
            self.url(request.target.decode("latin-1")).encode("latin-1", "replace"),
            [(name, self._header_bytes(name, value)) for name, value in request.headers],
            body if body is None else self.body(body, media_type),
            origin=request.origin,
        )


_COOKIE, _BODY = Location.COOKIE, Location.BODY
_UNKNOWN = (ANYTHING,)


def _is_too_deep(value: Any, depth: int) -> bool:
    return depth >= _DEEPEST and isinstance(value, dict | list)


@lru_cache(maxsize=4096)
def _is_sensitive(name: str, keys: frozenset[str], markers: tuple[str, ...]) -> bool:
    # Writing a cassette looks up the same few names a million times.
    lowered = name.lower()
    if lowered in keys:
        return True
    return any(marker in (_HARMLESS[marker].sub("", lowered) if marker in _HARMLESS else lowered) for marker in markers)
