"""URLs in responses, matched with the described paths: `/boxes/77/items` names a member of `/boxes` if `/boxes/{id}/items` is described."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from checker.core.request import host_of
from checker.core.resource_names import Resource, ends_with_variable, normalised, owner_of, variables_of
from checker.core.response import Response
from checker.corpus.records import Above

URL_MARK: Final = "#url:"
"""Separator in a recorded pointer. The text before it points to the URL, the text after it is a template and one of its variables."""
_HEADERS: Final = frozenset(("location", "content-location", "link"))
_LENGTHS: Final = frozenset(map(len, _HEADERS))
_LINK: Final = re.compile(r"<([^<>]*)>")
_PLAIN: Final = re.compile(r"[A-Za-z0-9._~-]+")
_SPACE: Final = re.compile(r"[\s<>\"]")
_MEDIA_TYPE: Final = re.compile(
    r"(?:application|audio|font|image|message|model|multipart|text|video)/(?!\d+$)[^/?#]+", re.IGNORECASE
)
NO_NAMES: Final[tuple[Above, Above]] = ((), ())
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]{14,}={0,2}")
_LONGEST: Final = 1_000
_MOST: Final = 20  # URLs that are read of one response.
_REMEMBERED: Final = 1024  # Results that are cached, by text.


class LocatedMember(Struct, frozen=True):
    """One variable of a template, with its value in a URL."""

    template: str
    variable: str
    value: str
    above: Above  # (collection, value) of the variables before it.

    @property
    def name(self) -> str:
        """Return the variable as pools spell it."""
        return normalised(self.variable)

    @property
    def resource(self) -> Resource:
        """Return the collection that the variable chooses from."""
        return owner_of(self.template, self.variable)

    def pointer(self, place: str) -> str:
        """Return the origin of the value, given the place of the URL."""
        return f"{place}{URL_MARK}{self.template}#{self.variable}"


def member_of(pointer: str) -> LocatedMember | None:
    """Return the variable that a recorded pointer names, without its value; None if the pointer is not about a URL."""
    _, mark, located = pointer.partition(URL_MARK)
    template, _, variable = located.rpartition("#")
    return LocatedMember(template, variable, "", ()) if mark else None


class DescribedPaths:
    """The path templates with variables. A URL matches a template with any host and any path prefix."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_size: dict[int, dict[tuple[int, str], list[str]]] = {}
        """Number of segments -> (position and text of the last literal segment) -> templates."""
        first: dict[str, None] = {}
        for path in dict.fromkeys(paths):
            segments = _segments(path)
            if "{" in path:
                first[segments[0]] = None
            literal = [place for place, one in enumerate(segments) if "{" not in one]
            if literal and len(segments) > len(literal):
                known = self._by_size.setdefault(len(segments), {})
                known.setdefault((literal[-1], segments[literal[-1]]), []).append(path)
        self._by_size = dict(sorted(self._by_size.items(), reverse=True))
        # JSON may write a slash and any other character as an escape.
        is_plain = all(_PLAIN.fullmatch(one) for one in first)
        ends = [one.encode() + sign for one in first for sign in (b"", b"\\")] if is_plain else [b""]
        self._ends = tuple(ends)
        """The possible ends of the text before a slash. A text with a URL of these paths has one of them."""
        # Cases are compared with the same few values again and again, and reading a URL takes as long as drawing a text.
        self.named_by = lru_cache(_REMEMBERED)(self._named_by)
        """`_named_by` with a cache."""

    def may_be_in(self, content: bytes) -> bool:
        """Whether a body may hold a URL of these paths. Takes a fraction of the time of reading its values."""
        # JSON in UTF-16 and UTF-32 has a zero byte beside each ASCII character.
        return b"\0" in content or any(part.endswith(self._ends) for part in content.split(b"/")[:-1])

    @property
    def is_empty(self) -> bool:
        """Whether no template has a variable."""
        return not self._by_size

    def members(self, url: str, host: str = "") -> Sequence[LocatedMember]:
        """Return the members that a URL names, by the longest template at its end; none if its host is not `host`."""
        template, values = self._match(url, host)
        found: list[LocatedMember] = []
        above: Mapping[str, str] = {}
        for variable, value in zip(variables_of(template), values, strict=True):
            one = LocatedMember(template, variable, unquote(value), tuple(above.items()))
            above = {**above, "/".join(one.resource): one.value}
            found.append(one)
        return found

    def _named_by(self, text: str) -> tuple[Above, Above]:
        """Return the context of the resource that a URL names, and that resource; empty for other texts.

        The URL of a list names the resource that contains the list.
        """
        located = self.members(text) if may_be_url(text) else ()
        if not located:
            return NO_NAMES
        names = tuple([("/".join(one.resource), one.value) for one in located])
        size = len(names) - ends_with_variable(located[-1].template)
        return names[:size], names[size:]

    def template(self, url: str) -> str:
        """Return the longest template that the end of a URL matches; empty without one."""
        return self._match(url, "")[0]

    def _match(self, url: str, host: str) -> tuple[str, Sequence[str]]:
        segments = segments_of(url, host)
        for size, known in self._by_size.items() if segments else ():
            rest = segments[-size:]
            alike = [one for key in enumerate(rest) for one in known.get(key, ())] if len(rest) == size else []
            matches = [(one, _pattern_of(one).fullmatch("/".join(rest))) for one in alike]
            found = [(one, match.groups()) for one, match in matches if match is not None]
            if found:
                # If several templates match, the one with the fewest variables is the most specific.
                return min(found, key=lambda one: len(one[1]))
        return "", ()


def value_in(url: str, template: str, variable: str) -> str | None:
    """Return the value that a URL has for a variable of a template; None if it does not match."""
    size = len(_segments(template))
    found = _pattern_of(template).fullmatch("/".join(segments_of(url)[-size:]))
    return None if found is None else unquote(found[variables_of(template).index(variable) + 1])


def urls_in_headers(response: Response) -> Iterator[tuple[str, str]]:
    """Yield (name of the header, URL) of a response and of the redirects that were followed to it."""
    for one in (response, *(outcome for _, outcome, _ in response.earlier)):
        for name, value in one.raw_headers if isinstance(one, Response) else ():
            if len(name) in _LENGTHS and name.lower() in _HEADERS:
                values = _LINK.findall(value[:_LONGEST]) if name.lower() == "link" else [value]
                yield from ((name.lower(), url) for url in values[:_MOST])


def may_be_url(text: object) -> bool:
    """Whether a value of a body may be a URL, absolute or relative."""
    if not (text.__class__ is str and "/" in text and _SPACE.search(text) is None):
        return False
    is_encoded = len(text) % 4 == 0 and ("+" in text or text[-1] == "=") and _BASE64.fullmatch(text) is not None
    return not is_encoded and _MEDIA_TYPE.fullmatch(text) is None


def segments_of(url: str, host: str = "") -> list[str]:
    """Return the segments of a URL's path, still escaped; none for a URL of another host, or an invalid one."""
    try:
        parts = urlsplit(url)
        other = parts.hostname
    except ValueError:
        return []
    if parts.scheme not in ("", "http", "https") or (other and host and host_of(other) != host_of(host)):
        return []
    return _segments(parts.path.partition("{")[0])


def _segments(path: str) -> list[str]:
    return [one for one in path.split("/") if one not in ("", ".", "..")]


@lru_cache(maxsize=4096)
def _pattern_of(template: str) -> re.Pattern[str]:
    """Return a pattern with a group for each variable."""
    parts = re.split(r"(\{[^{}]*\})", "/".join(_segments(template)))
    return re.compile("".join("([^/]+)" if one.startswith("{") else re.escape(one) for one in parts))
