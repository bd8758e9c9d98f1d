"""Valid requests to the demo service, written by hand from its document."""

from typing import Any

from hypothesis import strategies as st

from checker.demo import document

from .client import Wanted

SCHEMAS = document()["components"]["schemas"]
GeneratedCase = st.SearchStrategy[Any]


def members(name: str) -> GeneratedCase:
    return st.sampled_from(SCHEMAS[name]["enum"])


def text(most: int, least: int = 0) -> GeneratedCase:
    return st.text(st.characters(codec="utf-8"), min_size=least, max_size=most)


def some(required: dict[str, GeneratedCase], optional: dict[str, GeneratedCase] | None = None) -> GeneratedCase:
    return st.fixed_dictionaries(required, optional=optional or {})


def upto(most: float) -> GeneratedCase:
    return st.integers(0, int(most * 2)).map(lambda half: half / 2)


def matching(pattern: str) -> GeneratedCase:
    return st.from_regex(pattern, fullmatch=True)


dates = st.dates().map(str)
moments = st.datetimes().map(lambda each: each.isoformat() + "Z")
emails = matching(r"[a-z0-9!#$%&'*+/=?^_`{|}~-]{1,20}@[a-z0-9]{1,20}(\.[a-z]{2,5}){0,2}")
room_ids = st.integers(1, 24)
nights = st.integers(1, 30)
notes = st.none() | text(200)
codes = matching(r"BK-[0-9A-F]{8}")
photos = matching(r"([A-Za-z0-9+/]{4}){0,5}([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
comments = st.recursive(
    some({"author": text(40, 1), "text": text(200)}),
    lambda inner: some({"author": text(40, 1), "text": text(200)}, {"replies": st.lists(inner, max_size=2)}),
    max_leaves=4,
)

quotes = some(
    {"room_id": room_ids, "nights": nights, "discount_percent": st.integers(0, 20).map(lambda step: 5 * step)},
    {
        "extras": st.lists(members("Extra"), max_size=5, unique=True),
        "voucher": matching(r"[A-Z]{4}-[0-9]{4}"),
        "budget": st.floats(0, 100_000, exclude_min=True, allow_subnormal=False),
    },
)
profiles = some(
    {
        "name": text(60, 1),
        "country": matching(r"[A-Z]{2}"),
        "contact": some({"email": emails}) | some({"phone": matching(r"\+[1-9][0-9]{6,14}")}),
    },
    {"birthday": dates, "preferences": st.dictionaries(text(10), text(40), max_size=5), "nickname": notes},
)
forms = some(
    {
        "email": emails,
        "language": st.sampled_from(SCHEMAS["Subscription"]["properties"]["language"]["enum"]),
        "consent": st.booleans(),
    },
    {
        "frequency": st.sampled_from(["weekly", "monthly"]),
        "website": matching(r"https?://[a-z0-9.-]{1,20}(:[0-9]{1,4})?(/[a-z%&=+]{0,9}){0,2}").filter(
            lambda uri: "%" not in uri
        ),
        "address": st.ip_addresses().map(str),
    },
)
reviews = some(
    {
        "room_id": room_ids,
        "rating": st.integers(2, 10).map(lambda half: half / 2),
        "text": text(500, 1),
        "replies": st.lists(comments, max_size=3),
    },
    {"photo": photos},
)
bookings = some(
    {
        "room_id": room_ids,
        "arrival": dates,
        "nights": nights,
        "guests": st.lists(some({"name": text(60, 1), "age": st.integers(0, 120)}), min_size=1, max_size=4),
        "payment": some({"method": st.just("card"), "last_digits": matching(r"[0-9]{4}")})
        | some({"method": st.just("invoice"), "company": text(60, 1)}),
    },
    {"note": notes},
)
changes = some({}, {"status": members("BookingStatus"), "nights": nights, "note": notes}).filter(bool)
bodies = {
    "QuoteRequest": quotes,
    "GuestProfile": profiles,
    "ReviewRequest": reviews,
    "BookingRequest": bookings,
    "BookingChange": changes,
}


def a_request(method: str, template: str, **parts: GeneratedCase) -> GeneratedCase:
    return st.builds(Wanted, st.just(method), st.just(template), **parts)


def requests(known_codes: GeneratedCase = codes) -> dict[str, GeneratedCase]:
    """Strategies by label; booking references come from `known_codes`."""
    code = some({"code": known_codes})
    room = some({"room_id": room_ids})
    made = [
        a_request(
            "GET",
            "/rooms",
            query=some(
                {},
                {
                    "kind": members("RoomKind"),
                    "max_price": upto(1000),
                    "amenities": st.lists(members("Amenity"), min_size=1, max_size=4, unique=True),
                    "accessible": st.booleans(),
                    "limit": st.integers(1, 50),
                },
            ),
            headers=some({}, {"Cookie": st.sampled_from(["locale=de", "a=b; locale=en"])}),
        ),
        a_request("GET", "/rooms/{room_id}", path=room),
        a_request(
            "GET",
            "/rooms/{room_id}/photo",
            path=room,
            query=some({}, {"width": st.integers(1, 64).map(lambda step: 16 * step)}),
        ),
        a_request(
            "GET", "/rates/{currency}", path=some({"currency": members("Currency")}), query=some({}, {"on": dates})
        ),
        a_request("POST", "/quotes", json=quotes),
        a_request("POST", "/guests", json=profiles),
        a_request("POST", "/newsletter", form=forms),
        a_request("POST", "/reviews", json=reviews),
        a_request(
            "GET",
            "/bookings",
            query=some(
                {},
                {"status": members("BookingStatus"), "since": moments, "until": moments, "limit": st.integers(1, 100)},
            ),
        ),
        a_request("POST", "/bookings", headers=some({"X-Request-ID": st.uuids().map(str)}), json=bookings),
        a_request("GET", "/bookings/{code}", path=code),
        a_request("PATCH", "/bookings/{code}", path=code, json=changes),
        a_request("DELETE", "/bookings/{code}", path=code),
    ]
    return dict(zip(LABELS, made, strict=True))


LABELS = [
    f"{method.upper()} {path}"
    for path, item in document()["paths"].items()
    for method in item
    if method != "parameters"
]
