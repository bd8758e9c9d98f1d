"""Compares names of resources and their members, fields that refer to them, and paths. Pure."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final
from urllib.parse import quote

_IDENTIFIERS = """
id uuid guid code slug reference ref token key number no name handle identifier username email
"""
IDENTIFIERS = frozenset(_IDENTIFIERS.split())  # Normalised names of identifying fields.
OF_USERS: Final = frozenset(("username", "email", "handle"))  # Identifiers with the same meaning everywhere.
VERSION_FIELDS: Final = frozenset(("version", "revision", "etag", "lockversion"))
"""Normalised names of fields with the version of a resource."""
URLS: Final = frozenset(("url", "uri", "href", "self"))
"""Normalised names of fields with the URL of the object around them."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_VARIABLE = re.compile(r"\{([^{}]+)\}")
_VERSION = re.compile(r"v[0-9]+(\.[0-9]+)*|api|rest", re.IGNORECASE)

SIGN_UPS: Final = (
    re.compile(r"(sign|join)up|register|registration|registrations|create(account|user)"),
    re.compile(r"users?|accounts?"),
)
"""Last segments of the paths of sign-ups, the most specific first."""
_LOGIN = re.compile(
    r"log(in|on)|signin|auth|authenticate|authentication|authorize|tokens?|sessions?|oauth2?|jwt|obtaintoken|accesstoken"
)
_USUAL = ("id", "uuid", "_id", "key", "slug", "name")
"""Members that identify a resource, if none has the name of the variable of its path."""
MANY = ("ids", "uuids", "guids", "codes", "keys", "slugs", "refs")
_NO_SEGMENTS: Final = ("", ".", "..")
_NOT_IN_SEGMENTS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f/\\\ud800-\udfff]")
_EACH = "*"
WRAPPERS = ("data", "result", "item")  # Members that hold the resource itself.

_SHARED = {
    "uri": "uri", "url": "uri", "iri": "uri", "email": "email", "idn-email": "email", "hostname": "hostname",
    "ipv4": "ipv4", "ipv6": "ipv6",
}  # fmt: skip
"""Format -> its kind, for formats whose values are worth trying in any other field of the kind. Dates and UUIDs are too unspecific."""
_QUALIFIERS: Final = frozenset(
    ["source", "target", "from", "to", "src", "dst", "dest", "destination", "origin", "other", "another", "parent",
     "child", "root", "old", "new", "first", "second", "next", "previous", "prev", "left", "right", "sender",
     "receiver", "recipient", "payer", "payee", "debit", "credit", "primary", "secondary", "main", "default",
     "current", "original", "related", "linked", "reply", "replied", "successor", "predecessor", "before", "after",
     "base"]
)  # fmt: skip
"""Qualifiers, which distinguish several members of one collection: `source_account_id`, `fromAccount`, `parentId`."""
_ENDS: Final = frozenset(
    ["source", "target", "src", "dst", "dest", "destination", "from", "to", "origin", "sender", "receiver",
     "recipient", "payer", "payee", "debit", "credit"]
)  # fmt: skip
"""Qualifiers that need no noun if there are two of them: `source` and `target` of a transfer."""
_AMOUNTS: Final = frozenset(["amount", "total", "price", "sum", "due"])
_CODES: Final = frozenset(["code", "token", "pin", "otp", "reference"])
_OTHER_CODES: Final = frozenset(
    ["barcode", "zipcode", "postcode", "postalcode", "countrycode", "currencycode", "languagecode", "statuscode",
     "errorcode"]
)  # fmt: skip
_ORDERED: Final = frozenset(
    (low, high)
    for lows, highs in (
        ("after begin begins from since start starts", "before end ends finish stop till to until"),
        ("open opening opens", "close closes closing"),
        ("departs departure", "arrival arrives return"),
        ("issue issued valid", "due expires expiry"),
        ("low lower min minimum", "high max maximum upper"),
        ("gt gte", "lt lte"),
        ("in", "out"),
    )
    for low in lows.split()
    for high in highs.split()
)
"""Words by which the names of a lower and a higher value differ."""
Resource = tuple[str, ...]
"""Segments of a collection, lower case, without versions and the like before it; parameters as `{}`."""


@lru_cache(maxsize=4096)
def words(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case: `bookingId`, `booking_id` and `booking-id` are the same."""
    return tuple(word.lower() for word in _WORD.findall(name))


_LOW: Final = frozenset(low for low, _ in _ORDERED)


def is_low(name: str) -> bool:
    """Whether a name may belong to the lower one of two values."""
    return not _LOW.isdisjoint(words(name))


def is_ordered(low: str, high: str) -> bool:
    """Whether two names suggest that the first value is below the second: `startsAt` and `endsAt`."""
    return differing_words(low, high) in _ORDERED


def differing_words(one: str, other: str) -> tuple[str, str] | None:
    """Return the two words by which names differ; None unless they differ in exactly one place."""
    first, second = words(one), words(other)
    differing = [pair for pair in zip(first, second, strict=False) if pair[0] != pair[1]]
    return differing[0] if len(first) == len(second) and len(differing) == 1 else None


@lru_cache(maxsize=4096)
def normalised(name: str) -> str:
    """Return a name without case and separators."""
    return "".join(words(name)) or name.lower()


@lru_cache(maxsize=4096)
def singular(word: str) -> str:
    """Return a plural noun as a singular one. Approximate: results are only compared with each other."""
    word = normalised(word)
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 2 else word


def shared_format(name: object) -> str:
    """Return the kind of a format whose values fit other fields of the same kind; empty for other formats."""
    return _SHARED.get(name, "") if isinstance(name, str) else ""


def is_login(path: str) -> bool:
    """Whether a path template has a usual name of operations that return tokens for credentials."""
    return _LOGIN.fullmatch(last_word(path)) is not None


def is_of_accounts(path: str) -> bool:
    """Whether a path template has a usual name of operations that take the credentials of an account: a login or a sign-up."""
    return is_login(path) or any(one.fullmatch(last_word(path)) for one in SIGN_UPS)


def last_word(path: str) -> str:
    """Return the last segment of a path template, normalised."""
    return normalised(path.rstrip("/").rpartition("/")[2])


def is_identifier(field: str) -> bool:
    """Whether a normalised field name is a usual one for identifiers."""
    return field in IDENTIFIERS


@lru_cache(maxsize=4096)
def resource_of(path: str) -> Resource:
    """Return the collection that an operation belongs to: its template without trailing parameters."""
    return _collection(_segments(path))


def owner_of(path: str, name: str) -> Resource:
    """Return the collection that the path parameter `name` chooses from: the template before it."""
    segments = [segment for segment in path.split("/") if segment]
    for position, segment in enumerate(segments):
        if "{" + name + "}" in segment:
            return _collection(_segments("/".join(segments[:position])))
    return resource_of(path)


def looked_up(owner: Resource, name: str) -> str:
    """Return the noun of the resources that a path finds by one of their fields, such as `/users/by-email/{email}`; empty for other paths."""
    collection = owner[:-1]
    is_field = bool(collection) and normalised(owner[-1]).removeprefix("by") == normalised(name)
    return noun_of(collection) if is_field and collection[-1] != "{}" else ""


def may_be_segment(text: str) -> bool:
    """Whether a text can be the value of a path variable. For servers a slash ends the segment, and they refuse control characters."""
    return text not in _NO_SEGMENTS and text.strip() == text and _NOT_IN_SEGMENTS.search(text) is None


def variables_of(path: str) -> list[str]:
    """Return the names of the parameters in a path template."""
    return _VARIABLE.findall(path)


@lru_cache(maxsize=4096)
def noun_of(resource: Resource) -> str:
    """Return the noun of the members of a collection: the last word of the path, as a singular."""
    for segment in reversed(resource):
        if segment != "{}" and not _VERSION.fullmatch(segment):
            return singular(segment)
    return ""


@lru_cache(maxsize=16384)
def spellings(name: str, owner: Resource) -> tuple[tuple[str, str], ...]:
    """(noun or "", field) pairs that a parameter's name may mean: `booking_id` may be the `id` of a booking, `reply_to` the `id` of an owner."""
    parts = words(name)
    found = [("", normalised(name))]
    if len(parts) > 1 and set(parts) <= _QUALIFIERS:
        found.append((noun_of(owner), "id"))
    for cut in range(1, len(parts)):
        field = "".join(parts[cut:])
        if is_identifier(field):
            found.append((singular("".join(parts[:cut])), field))
            found += ((noun, field) for noun in _qualified(parts[:cut], owner))
    if len(parts) == 1 and is_identifier(parts[0]):
        noun = noun_of(owner)
        # Responses often call the id of a booking `booking_id`.
        found += [(noun, parts[0]), ("", noun + parts[0])]
    return tuple(found)


def _qualified(parts: Sequence[str], owner: Resource) -> Iterator[str]:
    """Yield the nouns that remain without qualifiers: `account` for `from account`, the noun of the owner for `parent`."""
    if set(parts) <= _QUALIFIERS:
        yield noun_of(owner)
    for cut in range(1, len(parts)):
        yield singular("".join(parts[cut:]))


@lru_cache(maxsize=4096)
def is_qualified(name: str) -> bool:
    """Whether a name begins with a qualifier, so that it may refer to another member of its own collection: `parentId`."""
    return words(name)[:1] != () and words(name)[0] in _QUALIFIERS


def ends_among(names: Iterable[str]) -> frozenset[str]:
    """Return the members of one object that refer to two members of a collection without naming it: `source` beside `target`."""
    ends = frozenset(name for name in names if normalised(name) in _ENDS)
    return ends if len(ends) > 1 else frozenset()


def qualified_noun(name: str) -> str:
    """Return the noun of a name that begins with a qualifier: `account` for `fromAccount`; empty for other names."""
    return singular("".join(words(name)[1:])) if is_qualified(name) else ""


@lru_cache(maxsize=16384)
def affinity(name: str, owner: Resource, field: str, resource: Resource, *, is_path: bool = True) -> float:
    """Return the likelihood that values of `field`, seen at `resource`, are values of the parameter `name` of `owner`: 0 to 1.

    0 for unrelated names. The values are not considered here, but by `ValueHistory.looks_like_identifier`. `is_path`:
    whether the parameter is a path variable, which may have another noun than its collection (but not another one's `id`).
    """
    at_home = resource == owner
    akin = at_home or (bool(owner) and noun_of(resource) == noun_of(owner))
    for noun, wanted in spellings(name, owner):
        if field != wanted:
            continue
        if noun == noun_of(resource) or (at_home and (is_path or not noun)):
            # The whole name comes first: `order_line_id` rather belongs to an order line than to a line.
            whole = (noun_of(owner), singular(normalised(name)[: -len(field)]))
            return 0.95 if at_home or noun in whole else 0.9
        if not noun and not is_identifier(field):
            return 0.85
        if not noun and field in OF_USERS:
            # This is enough for a path variable: `GET /user` shows the `username` of `/profiles/{username}`.
            return 0.8
    if not akin:
        return 0.0
    base = 0.6 if is_identifier(field) else 0.4
    return base if at_home else base / 2


def is_carried(asked: str, shown: str) -> bool:
    """Whether a request below a resource may repeat a field of the resource under another name.

    `code` and `token` may repeat a `confirmation_code`, and `amount` a `total`. Both names are normalised.
    """
    if asked in _AMOUNTS:
        return any(word in shown for word in _AMOUNTS)
    return asked in _CODES and _is_code(shown)


def is_given_out(asked: str, shown: str) -> bool:
    """Whether servers issue a value only for a later request: codes under any name, amounts under another name. Both names are normalised."""
    return _is_code(shown) or (asked != shown and is_carried(asked, shown))


def _is_code(name: str) -> bool:
    return name.endswith(tuple(_CODES)) and name not in _OTHER_CODES


def place_word(pointer: str, telling: Collection[str] = ()) -> str:
    """Return the word for the value that a place in a body takes: the id of a product for `/lines/0/productId` and `/productIds/*`.

    `telling`: normalised names that are unambiguous at any place, such as `vin`.
    """
    tokens = [token for token in pointer.split("/") if token]
    names = [token for token in tokens if token != _EACH and not token.isdigit()]
    if not names:
        return ""
    own = names[-1]
    if tokens[-1] is not own and words(own)[-1:] and words(own)[-1] in MANY:
        # The items of a plural name are single values, so the plural ending is removed.
        own = own[:-1]
    parts = words(own)
    if normalised(own) in telling or (len(parts) > 1 and is_identifier(parts[-1])):
        return own
    return "_".join((*names[:-1], own))


def segment_of(name: str | int) -> str:
    """Return a name as a segment of a path. Servers accept and send lone surrogates as well."""
    return quote(str(name), safe="", errors="surrogatepass")


def identifier_in(body: Any, names: Sequence[str]) -> str | int | None:
    """Return the value in a body that identifies its resource: the member with the name of the path variable, or with a usual name."""
    if isinstance(body, str | int) and not isinstance(body, bool):
        return body
    if not isinstance(body, dict):
        return None
    for name in (*names, *_USUAL):
        value = body.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            return value
    inner = [body[name] for name in WRAPPERS if isinstance(body.get(name), dict)]
    return identifier_in(inner[0], names) if inner else None


def ends_with_variable(path: str) -> bool:
    """Whether a path names one member of a collection."""
    return path.rstrip("/").endswith("}")


def _segments(path: str) -> list[str]:
    found = ["{}" if "{" in segment else segment.lower() for segment in path.split("/") if segment]
    while found and _VERSION.fullmatch(found[0]):
        del found[0]
    return found


def _collection(segments: list[str]) -> Resource:
    while segments and segments[-1] == "{}":
        segments.pop()
    return tuple(segments)


_CURSORS: Final = frozenset(
    ["aftercursor", "beforecursor", "continuation", "continuationtoken", "cursor", "endingbefore", "nextcursor",
     "nextmarker", "nextpagetoken", "nexttoken", "pagecursor", "pagetoken", "paginationtoken", "scrollid",
     "searchafter", "skiptoken", "startingafter"]
)  # fmt: skip
_OF_CONNECTIONS: Final = ({"after", "first"}, {"before", "last"})
"""Pairs of arguments of connections (Relay): a cursor, and the number of items after or before it."""
_SIZES: Final = frozenset(["limit", "pagesize", "perpage", "take", "top"])
_COUNTS: Final = _SIZES | {"first", "last", "offset", "page", "pagenumber", "skip"}
USUAL_COUNTS: Final = range(1, 101)  # Page sizes that hardly any server rejects.
_NEXT: Final = ("next", "end", "last")
_MARKS: Final = ("cursor", "token", "marker")


def marks_among(names: Collection[str]) -> frozenset[str]:
    """Return the names of parameters for marks of pages, which have a meaning only for the server that made them.

    `names` are the members of one object, the arguments of one field, or the parameters of one place: `page_token`, `cursor`, `after`
    beside `first` (Relay), `token` beside `limit`.
    """
    of_connections = [pair & set(names) for pair in _OF_CONNECTIONS if pair <= set(names)]
    beside = set().union(*of_connections) - _COUNTS
    # A `token` without a further word is the token of a user.
    marks = _CURSORS | {"token"} if any(normalised(name) in _SIZES for name in names) else _CURSORS
    return frozenset(beside.union(name for name in names if normalised(name) in marks))


def is_count(name: str) -> bool:
    """Whether a parameter is the size or the start of a page: `first`, `pageSize`, `offset`."""
    return normalised(name) in _COUNTS


def next_mark(parameter: str, fields: Iterable[str]) -> str | None:
    """Return the field of a response whose value is the cursor of the next page: `next_cursor` for `cursor`."""
    asked = normalised(parameter)
    ranked = [(_rank(normalised(field), asked), field) for field in fields]
    best = min((one for one in ranked if one[0]), key=lambda one: one[0], default=None)
    return None if best is None else best[1]


def _rank(shown: str, asked: str) -> int:
    """Return 1 for the likeliest field, 3 for the least likely, 0 for other fields."""
    if shown in [f"{word}{asked}" for word in _NEXT] or (shown == asked and asked.startswith(_NEXT)):
        return 1
    if shown.startswith(_NEXT) and shown.endswith(_MARKS):
        return 2
    return 3 if shown == asked else 0
