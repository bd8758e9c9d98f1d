"""Known values in place of generated ones: from users, the description, HTTP, or earlier responses.

The use of a known value is a recorded choice, so that records can be shrunk and replayed.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from checker.config.overrides import TypeWords, as_type
from checker.core.case import NOT_SET, copied
from checker.core.constraints import ITEMS
from checker.core.meta import ANYTHING, Origin
from checker.core.operation import Location
from checker.generation.drawing.nodes import IsValid, is_json
from checker.generation.drawing.places import TextPlace, location_of
from checker.generation.normalization import forms
from checker.generation.sources.basic import either, finished, listed
from checker.generation.sources.choices import Source
from checker.generation.sources.context import Draw, DrawContext, GivenValue

EXAMPLES: Final = 0.2  # Probability that a declared example replaces a generated value.
_KINDS: Final = {forms.STRING: "string", forms.INTEGER: "integer", forms.NUMBER: "number"}


class Words(Struct, frozen=True):
    """Known values for one kind of place."""

    entries: tuple[Any, ...]
    share: float  # Probability that one of these values is taken.
    origin: Origin
    location: Location | None = None  # Part of the request that the values are for; None outside of requests.
    name: str = ANYTHING  # Name of the parameter that the values are for.

    def at(self, place: TextPlace, is_valid: IsValid) -> "Words":
        """Return the words that can be sent at the place and are valid."""
        location = location_of(place)
        entries = tuple(v for v in self.entries if place.carries(v) and is_valid(v))
        return replace(self, entries=entries, location=location)

    def sampled(self, draw: Draw, context: DrawContext) -> Draw:
        """Draws one of the values with probability `share`, otherwise a value of `draw`."""
        entries, share = self.entries, self.share
        count = len(entries)
        if not count or self.location is None:
            return draw
        given, which = GivenValue(self.location, self.origin, self.name), listed(range(count))

        def take(index: int) -> Any:
            value = entries[index]
            context.bindings.append(given)
            return copied(value) if isinstance(value, list | dict) else value

        taken = finished(which, take)
        return either(share, taken, draw) if share < 1 else taken


def fitting(entries: Iterable[Any], types: frozenset[str], accepts: Callable[[Any], bool]) -> tuple[Any, ...]:
    """Return the entries that are accepted, unchanged or converted to one of the wanted types."""
    found: dict[str, Any] = {}
    for entry in entries:
        for reading in readings(entry, types):
            if accepts(reading):
                found.setdefault(repr(reading), reading)
                break
    return tuple(found.values())


def readings(entry: Any, types: frozenset[str]) -> Iterator[Any]:
    """Yield an entry unchanged, and converted to each of some types; nothing for YAML values that JSON does not have."""
    if not is_json(entry):
        return
    yield entry
    if isinstance(entry, str | int | float) and not isinstance(entry, bool):
        for kind, name in _KINDS.items():
            if kind in types:
                reading = as_type(name, entry)
                if reading is not None:
                    yield reading


def words_of_types(types: Sequence[TypeWords]) -> Mapping[str, Words]:
    """Return, by JSON type, the words that may replace a generated value of that type."""
    kinds = {name: kind for kind, name in _KINDS.items()}
    return {kinds[one.type]: Words(one.entries, one.share, Origin.DICTIONARY) for one in types}


KNOWN: Final = 0.75  # Probability that a value from the grammar of a header replaces a generated one.
_TAGS = ('"a"', 'W/"a"', "*", '"a", W/"b"', '""')
_DATES = (
    "Thu, 01 Jan 1970 00:00:00 GMT",
    "Sun, 06 Nov 1994 08:49:37 GMT",
    "Thu, 29 Feb 2024 23:59:59 GMT",
    "Fri, 31 Dec 9999 23:59:59 GMT",
)
_ADDRESSES = ("192.0.2.1", "2001:db8::1", "192.0.2.1, 198.51.100.2")
_PAGES = ("http://127.0.0.1/", "https://example.com/a?b=c#d")
_LANGUAGES = ("en", "de-CH", "*", "en-GB, en;q=0.8, *;q=0")

AUTHORIZATIONS: Final = (
    "Basic YTpi", "Bearer YWJj", "Digest username=a", "Token a",
    # A scheme alone, a user without a password, broken Base64, and tokens (RFC 7519) with a part that is missing or broken.
    "Bearer", "Token", "Basic", "Basic YQ==", "Basic a", "Bearer e30.e30", "Bearer e30.a.", "Bearer eyJhbGciOiJIUzI1NiJ9.e30.a",
)  # fmt: skip
"""Credentials in the shapes that parsers of `Authorization` know."""
STRUCTURED: Final[Mapping[str, tuple[str, ...]]] = {
    # RFC 9110, 5 to 14
    "accept-charset": ("utf-8", "utf-8, iso-8859-1;q=0.5", "*"),
    "accept-encoding": ("gzip", "identity", "*;q=0", "br;q=1.0, gzip;q=0.8"),
    "accept-language": _LANGUAGES,
    "accept-ranges": ("bytes", "none"),
    "allow": ("GET", "GET, HEAD"),
    "authorization": AUTHORIZATIONS,
    "content-encoding": ("gzip", "identity"),
    "content-language": ("en", "de, en"),
    "content-location": _PAGES,
    "content-range": ("bytes 0-0/1", "bytes 0-99/*", "bytes */100"),
    "date": _DATES,
    "etag": ('"a"', 'W/"a"', '""'),
    "from": ("a@example.com",),
    "if-match": _TAGS,
    "if-modified-since": _DATES,
    "if-none-match": _TAGS,
    "if-range": ('"a"', _DATES[0], _DATES[-1]),
    "if-unmodified-since": _DATES,
    "last-modified": _DATES,
    "location": _PAGES,
    "max-forwards": ("0", "1"),
    "range": ("bytes=0-0", "bytes=0-", "bytes=-1", "bytes=0-0,-1", "bytes=5-2"),
    "referer": _PAGES,
    "retry-after": ("0", "120", _DATES[-1]),
    "user-agent": ("a/1.0", "a/1.0 (b)"),
    "vary": ("*", "accept"),
    "via": ("1.1 a",),
    # RFC 9111, 5.2; RFC 6266; RFC 6454; RFC 7240; RFC 7239; RFC 8288; RFC 9530
    "cache-control": ("no-cache", "no-store", "max-age=0", "max-stale=1, only-if-cached"),
    "pragma": ("no-cache",),
    "content-disposition": ("inline", 'attachment; filename="a.txt"', "form-data; name=a"),
    "origin": ("null", "https://example.com"),
    "prefer": ("return=minimal", "return=representation", "respond-async, wait=10"),
    "forwarded": ("for=192.0.2.1;proto=http", 'for="[2001:db8::1]"'),
    "link": ("<https://example.com/>; rel=next",),
    "content-digest": ("sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:",),
    # No standard: as clients and proxies send them.
    "content-md5": ("1B2M2Y8AsgTpgAmY7PhCfg==",),
    "x-forwarded-for": _ADDRESSES,
    "x-forwarded-host": ("example.com", "example.com:8080"),
    "x-forwarded-proto": ("http", "https"),
    "x-http-method-override": ("GET", "PUT", "DELETE"),
    "x-real-ip": _ADDRESSES[:2],
    "x-requested-with": ("XMLHttpRequest",),
    # W3C Trace Context, 3.2
    "traceparent": ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",),
    "tracestate": ("a=1", "a=1,b@c=2"),
}
"""Header name in lower case -> values of its grammar, unusual ones included."""


TOPICAL: Final = 0.3  # Probability that a word of its topic replaces a generated string.
_TOPICS: Final = tuple(
    (re.compile(rf"\b(?:{names})\b"), tuple(words.split()))
    for names, words in (
        ("days?|weekdays?", "monday Monday mon sunday 1 31"),
        ("months?", "january January jan december 1 12"),
        ("currency|currencies", "USD EUR usd JPY"),
        ("country|countries|nationality", "US DE us Germany"),
        ("lang|language|locale", "en de en-US"),
        ("timezone|time zone|tz", "UTC Europe/Berlin"),
        ("units?", "kg m km celsius c"),
        ("suffix|extension|ext|file|filename|file name", "a.txt txt .pdf jpg a.tar.gz"),
        ("gender|sex", "male female m f"),
        ("phones?|phone numbers?|mobiles?|mobile numbers?|telephones?|fax", "+14155552671 +442079460958"),
        ("title|salutation|honorific", "mr mrs dr"),
        ("operator|operation|op|function", "plus minus add subtract multiply divide pi sin"),
        ("sort|order|direction|order by|sort by|sort order", "asc desc id -id name"),
        ("colou?r", "red blue #ff0000"),
        ("codes|status codes?|http codes?", "200 400"),
        ("status|state", "active open closed pending"),
    )
)


def topical(name: str, form: forms.Canonical, *, is_text: bool = False) -> tuple[str, ...]:
    """Return short words of the topic that the name or the prose of a free string mentions; none without a topic.

    With `is_text`, values of any type count, because they are sent as text.
    """
    is_other = forms.STRING not in form.types or (form.types == frozenset(forms.TYPES) and not is_text)
    if is_other or form.enum is not None or form.formats or form.strings.patterns or form.strings.content is not None:
        return ()
    said = (str(facet.raw.get("description", ""))[:80] for facet in form.facets if isinstance(facet.raw, dict))
    return next(filter(None, map(_of_topic, (name, *said))), ())


@lru_cache(maxsize=4096)
def _of_topic(text: str) -> tuple[str, ...]:
    """Return the words of the first topic that a text mentions; none without a topic. Cached, because operations repeat names and prose."""
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])|[_\W]", " ", text).lower()
    return next((words for topic, words in _TOPICS if topic.search(plain)), ())


def holding(name: str) -> tuple[str, ...]:
    """Return the values for which a condition always holds (RFC 9110, 13.1.1). Operations refuse other values without reading the request."""
    return ("*",) if name.lower() == "if-match" else ()


HOLDING_WEIGHT: Final = 15  # Weight of a condition that holds; each other value has weight 1.


SOMETIMES = 0.2
OFTEN = 0.95
"""Share of known values in path parameters and in members of bodies that name resources. A random name leads to 404: with a
share of 0.8, half of the refusals of two services were such 404s.
"""
TOGETHER = 0.98  # A path with one known part leads to a resource only if the others are known as well.
_POOLED = 63
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,18})")


def pooled(
    draw: Draw, target: tuple[Location, str | None], kinds: tuple[str, ...], is_valid: IsValid, context: DrawContext
) -> Draw:
    """Draws a value, or takes a value of the pool for the named parameter; without a name, for the place `context.path` in the body."""
    location, name = target
    # A pool value is converted to a wanted type (5 to "5", "5" to 5), unless both types are wanted, or neither.
    is_text, is_numeric = forms.STRING in kinds, forms.INTEGER in kinds or forms.NUMBER in kinds
    coerced: Callable[[Any], Any] | None = None
    if is_text and not is_numeric:
        coerced = lambda value: str(value) if value.__class__ is int else value  # noqa: E731
    elif is_numeric and not is_text:
        coerced = lambda value: (  # noqa: E731
            int(value) if value.__class__ is str and _INTEGER.fullmatch(value) else value
        )
    # Python finds a member of an enumeration ten times slower than a name.
    is_path = location is Location.PATH
    share = OFTEN if is_path else SOMETIMES

    def take(at: str, index: int) -> Any:
        pool = context.pool
        found = None if pool is None else pool.pick(location, at, index)
        if found is None:
            return NOT_SET
        value = found.literal if coerced is None else coerced(found.literal)
        if not is_valid(value):
            return NOT_SET
        context.bindings.append(found)
        return value

    def drawn(source: Source) -> Any:
        if not context.is_reusing:
            return draw(source)
        likely = share
        if is_path and any(one.location is Location.PATH for one in context.bindings):
            likely = TOGETHER
        if name is None and context.naming and _is_naming(tuple(context.path), context.naming):
            likely = OFTEN
        if source.boolean(likely):
            index = source.integer(0, _POOLED)
            value = take(name if name is not None else "".join([f"/{token}" for token in context.path]), index)
            if value is not NOT_SET:
                return value
        return draw(source)

    return drawn


@lru_cache(maxsize=4096)
def _is_naming(path: tuple[str, ...], naming: frozenset[tuple[str, ...]]) -> bool:
    """Whether the value at a place of the body names a resource. In a list, every item names a resource."""
    has_items = any(map(str.isdigit, path))
    return path in naming or (has_items and tuple([ITEMS if one.isdigit() else one for one in path]) in naming)
