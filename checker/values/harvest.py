"""Scalars of responses, for the pool. The JSON reader is fast, and lenient about integers beyond 64 bits."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from sys import intern
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import orjson

from checker.core.case import Case
from checker.core.operation import Label
from checker.core.request import WireRequest
from checker.core.resource_names import MANY, WRAPPERS, Resource, normalised, noun_of, singular
from checker.core.response import Response
from checker.core.schema import unescaped
from checker.corpus.records import Above
from checker.values.history import LONGEST_TEXT, SCALARS, Origin, Scalar, ValueHistory
from checker.values.locations import URL_MARK, DescribedPaths, may_be_url, member_of, urls_in_headers, value_in

ABSENT: Final = object()
"""Stands for a body that is no JSON. This differs from `null`."""


def json_of(response: Response) -> Any:
    """Return the parsed body, or `ABSENT` if it is no JSON. Integers beyond 64 bits become floats, because no identifier is that long."""
    content = response.content
    if not content:
        return ABSENT
    try:
        return orjson.loads(content)
    except ValueError:
        # Compressed content is no JSON: headers are looked at only then.
        plain = response.readable.content
    if plain is not content:
        with suppress(ValueError):
            return orjson.loads(plain)
    return ABSENT


DEEP = 7  # Limit on the levels of a response that are read.
_ITEMS = 10
_NODES = 400
_PLACES = 2000
_HEADER = "header:"
LOCATION = "header:Location"
_ITEM = "*"
NAME_MARK: Final = "~*"  # Last token of the pointer to a name of a mapping. No escaped key equals it.
_URLS = 20  # URLs of one body that are read.


_NOWHERE: Final[Mapping[Any, Any]] = MappingProxyType({})
Reader = Callable[[Response], Any]  # Parses a response, like `checker.core.operation.Operation.read_answer`.


def value_at(response: Response, pointer: str, read: Reader | None = None) -> Scalar | None:
    """Return the scalar at a recorded pointer; `*` is the first item of an array, `~*` the first name. None if there is no scalar."""
    place, mark, located = pointer.partition(URL_MARK)
    if mark:
        template, _, variable = located.rpartition("#")
        if place.startswith(_HEADER):
            urls = [url for name, url in urls_in_headers(response) if _HEADER + name == place]
        else:
            urls = [value for value in [value_at(response, place, read)] if isinstance(value, str)]
        shown = (value_in(url, template, variable) for url in urls)
        found = next((value for value in shown if value is not None), None)
        return None if found is None else number_or_text(found)
    if pointer.startswith(_HEADER):
        values = response.headers.get(pointer.removeprefix(_HEADER).lower())
        return _last_segment(values[0]) if values else None
    value = json_of(response) if read is None else read(response)
    for token in pointer.split("/")[1:] if pointer else ():
        if isinstance(value, list):
            position = 0 if token == "*" else int(token) if is_integer(token) else -1
            if not 0 <= position < len(value):
                return None
            value = value[position]
        elif isinstance(value, dict):
            value = next(iter(value), None) if token == NAME_MARK else value.get(unescaped(token))
        else:
            return None
    return value if isinstance(value, SCALARS) else None


def number_or_text(text: str) -> Scalar:
    """Return the integer that a text spells, else the text."""
    return int(text) if is_integer(text) else text


class ResponsePlace:
    """One place in the responses of an operation, with the known facts about its scalars."""

    __slots__ = ("around", "below", "hidden_by", "inner", "name", "origin", "resource", "rings", "worth")

    def __init__(self, name: str, origin: Origin, resource: Resource, inner: Resource | None = None) -> None:
        self.name = name
        """Normalised field name; an item has the name of its array."""
        self.origin = origin
        self.resource = resource
        """The collection whose members have this field."""
        self.inner = resource if inner is None else inner
        """The collection of the fields of an object at this place."""
        self.around: ResponsePlace | None = None
        """The object around a part that has no fields of a resource itself, such as `state` of a job."""
        self.hidden_by: tuple[str, ...] = ()
        """Pointers of fields with the same name in the surrounding objects. If there is an `/id`, `/state/id` identifies no job."""
        self.below: dict[str, ResponsePlace] | None = None
        """Key -> place inside this one; None if there is none. Most of some 100,000 places are leaves, and a dict for each takes memory."""
        self.rings: Mapping[type[Scalar], ValueHistory | None] = _NOWHERE
        """Type -> ring of its values; None if they are not kept."""
        self.worth: int | None = None
        """Whether some parameter may ask for the values of this place (`producers.Worth`); None until that is known."""


class Places:
    """All places of one operation. Its responses have the same shape, so each pointer and name is computed once."""

    def __init__(self, label: Label, resource: Resource = (), nouns: Collection[str] = frozenset()) -> None:
        """`resource`: the collection of the operation. `nouns`: the nouns of collections whose members paths name."""
        self._label = label
        self._resource = resource
        self._nouns = nouns
        self._root = ResponsePlace("", (label, ""), resource)
        self._created = ResponsePlace("id", (label, LOCATION), resource)
        self._count = 0
        self._located_places: dict[str, ResponsePlace] = {}
        """Pointer -> place of a value in a URL, or of the names of a mapping."""

    def leaves(
        self,
        response: Response,
        depth: int = DEEP,
        read: Reader | None = None,
        ends: list[int] | None = None,
        names: list[tuple[ResponsePlace, Scalar]] | None = None,
    ) -> list[tuple[ResponsePlace, Scalar]]:
        """Return the scalars of a response down to `depth` nested containers, outermost first.

        `ends` receives the number of scalars after each container: the scalars between two ends belong to one container.
        `names` receives the names in mappings of members: `{"cities": {...}, "rivers": {...}}`.
        """
        found: list[tuple[ResponsePlace, Scalar]] = []
        # `raw_headers`, because sorting all headers for this one takes as long as parsing the body.
        for name, header in response.raw_headers:
            if name.lower() == "location" and (segment := _last_segment(header)):
                found.append((self._created, number_or_text(segment)))
        body = json_of(response) if read is None else read(response)
        if body is ABSENT:
            return found
        level: list[tuple[ResponsePlace, Any]] = []
        if isinstance(body, dict | list):
            level.append((self._root, body))
        elif body is not None and (not isinstance(body, str) or len(body) <= LONGEST_TEXT):
            found.append((self._root, body))
        for _ in range(depth):
            below: list[tuple[ResponsePlace, Any]] = []
            parts: Iterable[tuple[str, Any]]
            for place, value in level:
                if names is not None and place.around is None and value.__class__ is dict and _is_mapping(value):
                    named = self._place_at(f"{place.origin[1]}/{NAME_MARK}", "id", place.inner)
                    names += ((named, key) for key in islice(value, _ITEMS) if len(key) <= LONGEST_TEXT)
                if isinstance(value, list):
                    parts = [(_ITEM, item) for item in value[:_ITEMS]]
                else:
                    parts = islice(value.items(), _NODES) if len(value) > _NODES else value.items()
                self._sort(place, parts, found, below)
                if ends is not None:
                    ends.append(len(found))
                if len(found) + len(below) > _NODES:
                    return found
            if not below:
                break
            level = below
        return found

    def _place_at(self, pointer: str, name: str, resource: Resource) -> ResponsePlace:
        known = self._located_places.get(pointer)
        if known is None:
            known = ResponsePlace(name, (self._label, intern(pointer)), resource)
            if len(self._located_places) < _PLACES:
                self._located_places[pointer] = known
        return known

    def members(
        self, described: DescribedPaths, response: Response, found: Iterable[tuple[ResponsePlace, Scalar]]
    ) -> Iterator[tuple[ResponsePlace, Scalar, Above]]:
        """Yield the members that the URLs of a response name, with their contexts. `found` are the scalars of its body."""
        if described.is_empty:
            return
        request = response.request
        origin = request.origin if isinstance(request, WireRequest) else None
        host = "" if origin is None else origin.host
        headers = ((_HEADER + name, url) for name, url in urls_in_headers(response))
        texts = [(place, value) for place, value in found if isinstance(value, str) and "/" in value]
        bodies = ((place.origin[1], text) for place, text in texts if may_be_url(text))
        for place, url in (*headers, *islice(bodies, _URLS)):
            for one in described.members(url, host):
                if len(one.value) <= LONGEST_TEXT:
                    known = self._place_at(one.pointer(place), one.name, one.resource)
                    yield known, number_or_text(one.value), one.above

    def resource_at(self, pointer: str) -> Resource:
        """Return the collection whose members have the field at a recorded pointer."""
        if (member := member_of(pointer)) is not None:
            return member.resource
        found = self._resource
        for token in pointer.split("/")[1:-1]:
            found = self._inside(found, unescaped(token))
        return found

    def _inside(self, around: Resource, key: str) -> Resource:
        """Return the collection of the objects under a key: `lines` of an order holds lines, `data` of an order still holds orders."""
        if key == _ITEM:
            return around
        noun = singular(key)
        if noun == noun_of(self._resource):
            return self._resource
        return (noun,) if noun in self._nouns else around

    def _sort(
        self,
        place: ResponsePlace,
        parts: Iterable[tuple[str, Any]],
        found: list[tuple[ResponsePlace, Scalar]],
        below: list[tuple[ResponsePlace, Any]],
    ) -> None:
        """Put the scalars of a container into `found` and its containers into `below`. One loop: this is the hot path of learning values."""
        known = place.below
        if known is None:
            known = place.below = {}
        for key, value in parts:
            part = known.get(key) or self._below(place, known, key)
            kind = value.__class__
            if kind is dict or kind is list:
                below.append((part, value))
            elif kind is str:
                if len(value) <= LONGEST_TEXT:
                    found.append((part, value))
            elif value is not None:
                found.append((part, value))

    def _below(self, place: ResponsePlace, known: dict[str, ResponsePlace], key: str) -> ResponsePlace:
        # No parameter has such a long name, so values below a cut key match no consumer.
        key = key[:LONGEST_TEXT]
        name = _of_item(place.name) if key == _ITEM else normalised(key)
        # Operations on one resource have equal pointers.
        pointer = intern(f"{place.origin[1]}/{_escaped(key)}")
        inner = self._inside(place.inner, key)
        found = ResponsePlace(name, (self._label, pointer), place.inner, inner)
        noun = singular(key)
        if noun not in (*WRAPPERS, *self._nouns, noun_of(self._resource)) and key != _ITEM:
            found.around = place
        around = place.around
        while around is not None:
            found.hidden_by += (intern(f"{around.origin[1]}/{_escaped(key)}"),)
            around = around.around
        # Servers may invent keys without end. Places beyond the limit are computed each time.
        if self._count < _PLACES:
            self._count += 1
            known[key] = found
        return found


def _is_mapping(value: dict[str, Any]) -> bool:
    """Whether the keys of an object are names of similar members, and not fields of one resource."""
    if len(value) < 2 or any(one.__class__ is not dict for one in value.values()):
        return False
    is_of_parts = any(singular(key) in WRAPPERS or key.startswith("_") for key in value)
    return not is_of_parts and bool(frozenset.intersection(*map(frozenset, value.values())))


def sent_scalars(case: Case) -> frozenset[object]:
    """Return the scalars at the top level of the request body."""
    body = case.body
    if not isinstance(body, dict):
        return frozenset()
    return frozenset([value for value in body.values() if value.__class__ in SCALARS])


def _last_segment(url: str) -> str:
    try:
        path = urlsplit(url).path
    except ValueError:
        # Servers send invalid URLs.
        return ""
    return unquote(path.rstrip("/").rpartition("/")[2])[:LONGEST_TEXT]


@lru_cache(maxsize=4096)
def field_of(pointer: str) -> str:
    """Return the normalised name of the field at a recorded pointer."""
    if (member := member_of(pointer)) is not None:
        return member.name
    if pointer.startswith(_HEADER):
        return "id"
    if pointer.endswith(NAME_MARK):
        return "id"
    tokens = [token for token in pointer.split("/") if token and token != _ITEM]
    name = normalised(unescaped(tokens[-1]) if tokens else "")
    return _of_item(name) if pointer.endswith(f"/{_ITEM}") else name


def _of_item(name: str) -> str:
    """Return the normalised name of an item of a list: each of `lineIds` is a `lineId`."""
    return name[:-1] if name.endswith(MANY) else name


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1") if "/" in key or "~" in key else key


def is_integer(text: str) -> bool:
    """Whether a text is a non-negative integer below 10^18 without leading zeros."""
    return text.isascii() and text.isdigit() and (text == "0" or text[0] != "0") and len(text) < 19
