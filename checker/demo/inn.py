"""The business of the demo service: rooms, prices, guests and bookings, in memory and bounded."""

import json
import struct
import zlib
from collections import OrderedDict
from collections.abc import Callable, Set
from typing import Any, NamedTuple

from msgspec import Struct


class Defect(Struct, frozen=True):
    """One planted defect: its operation, the check that finds it, and its rarity."""

    id: str
    operation: str  # Label of the operation with the wrong response, such as `GET /rooms`.
    check: str  # Name of the check that finds it.
    sentence: str
    rarity: str  # The property of a request that triggers it, and its frequency among valid random requests.
    needs: str = "positive"
    """The requests that find the defect: valid single requests (`positive`), sequences (`stateful`) or invalid requests (`negative`)."""


DEFECTS: tuple[Defect, ...] = (
    Defect(
        "attic-floor",
        "GET /rooms/{room_id}",
        "response_schema_conformance",
        "Room 24, under the roof, is shown from the old register (203): its `floor` is null and may not be.",
        "the largest of 24 room numbers: 1 in 24",
    ),
    Defect(
        "forint-page",
        "GET /rates/{currency}",
        "content_type_conformance",
        "The rate of the forint is the one of the day before (203), as an HTML page.",
        "one of 24 currencies: 1 in 24",
    ),
    Defect(
        "full-discount",
        "POST /quotes",
        "not_a_server_error",
        "A discount of exactly 100 percent divides by zero.",
        "the largest of 21 discounts: 1 in 21",
    ),
    Defect(
        "latvian-list",
        "POST /newsletter",
        "status_code_conformance",
        "Latvian subscriptions are queued and answered with an undocumented 202.",
        "one of 22 languages: 1 in 22",
    ),
    Defect(
        "foreign-name",
        "POST /guests",
        "not_a_server_error",
        "A guest's name with a letter outside ASCII is not encoded.",
        "any non-ASCII character in `name`: common where text is drawn from all of Unicode",
    ),
    Defect(
        "no-replies",
        "POST /reviews",
        "response_schema_conformance",
        "A review without replies is held back (202) and answered with a body that is not JSON.",
        "an empty `replies` array: about 1 in 4, an array has at most 3 items",
    ),
    Defect(
        "open-period",
        "GET /bookings",
        "not_a_server_error",
        "A period with an end and no start fails.",
        "`until` present and `since` absent: about 1 in 4",
    ),
    Defect(
        "cancelled-view",
        "GET /bookings/{code}",
        "not_a_server_error",
        "A booking that was cancelled by a change can no longer be shown.",
        "create, then change to `cancelled`, then show",
        "stateful",
    ),
    Defect(
        "kept-booking",
        "GET /bookings/{code}",
        "use_after_free",
        "A booking that was removed is still there.",
        "create, then remove, then show",
        "stateful",
    ),
    Defect(
        "endless-list",
        "GET /rooms",
        "negative_data_rejection",
        "A `limit` above its maximum is accepted.",
        "any `limit` above 50",
        "negative",
    ),
)


MAX_BOOKINGS = 2000  # Most bookings that are kept; older ones are dropped.
MAX_REMEMBERED = 10_000
"""Number of references of removed bookings that are kept, and of contents with a known last reference."""

_JSON = "application/json"
_KINDS = ("single", "double", "twin", "family", "suite")
_AMENITIES = ("wifi", "bath", "balcony", "desk", "kettle", "crib")


class Reply(NamedTuple):
    """One response: status, media type (empty: no body), body and further headers."""

    status: int
    media_type: str = ""
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


def problem(status: int, code: str, message: str, pointer: str | None = None) -> Reply:
    """Return an error in the shape that the document gives to all of them."""
    return _reply(status, {"code": code, "message": message, "pointer": pointer})


class Inn:
    """One inn with its 24 rooms; `planted` names the defects (`DEFECTS`) that it has."""

    def __init__(self, planted: Set[str]) -> None:
        self._planted = planted
        self._rooms = [_room(number) for number in range(1, 25)]
        self._bookings: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._removed: OrderedDict[str, None] = OrderedDict()
        self._last_numbers: OrderedDict[int, int] = OrderedDict()
        self._answers: dict[str, Callable[[dict[str, Any], Any], Reply]] = {
            "listRooms": self._list_rooms,
            "getRoom": self._get_room,
            "getRoomPhoto": self._get_photo,
            "getRate": self._get_rate,
            "makeQuote": self._make_quote,
            "registerGuest": self._register_guest,
            "subscribe": self._subscribe,
            "writeReview": self._write_review,
            "listBookings": self._list_bookings,
            "createBooking": self._create_booking,
            "getBooking": self._get_booking,
            "changeBooking": self._change_booking,
            "deleteBooking": self._delete_booking,
        }
        for number in (3, 5, 8):
            self._book(
                {
                    "room_id": number,
                    "arrival": f"2030-06-{number:02}",
                    "nights": 2,
                    "guests": [{"name": "Grace Hopper", "age": 40}],
                    "note": None,
                }
            )

    def answer(self, operation_id: str, arguments: dict[str, Any], body: Any) -> Reply:
        """Return the response to an allowed call: an operation, the values of its parameters, the body."""
        return self._answers[operation_id](arguments, body)

    def _list_rooms(self, arguments: dict[str, Any], body: Any) -> Reply:
        wanted = set(arguments["amenities"] or ())
        found = [
            room
            for room in self._rooms
            if arguments["kind"] in (None, room["kind"])
            and (arguments["max_price"] is None or room["price"] <= arguments["max_price"])
            and arguments["accessible"] in (None, room["accessible"])
            and wanted.issubset(room["amenities"])
        ]
        return _reply(200, found[: arguments["limit"]])

    def _get_room(self, arguments: dict[str, Any], body: Any) -> Reply:
        room = self._rooms[arguments["room_id"] - 1]
        if room["kind"] == "attic" and "attic-floor" in self._planted:
            return _reply(203, room | {"floor": None})
        return _reply(200, room)

    def _get_photo(self, arguments: dict[str, Any], body: Any) -> Reply:
        width = arguments["width"] or 64
        # A grey PNG of one line (W3C PNG, 11).
        header = struct.pack(">IIBBBBB", width, 1, 8, 0, 0, 0, 0)
        pixels = zlib.compress(b"\x00" + bytes((arguments["room_id"] * 10,)) * width)
        parts = ((b"IHDR", header), (b"IDAT", pixels), (b"IEND", b""))
        chunks = (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
            for name, data in parts
        )
        return Reply(200, "image/png", b"\x89PNG\r\n\x1a\n" + b"".join(chunks))

    def _get_rate(self, arguments: dict[str, Any], body: Any) -> Reply:
        currency = arguments["currency"]
        rate = 0.5 + (zlib.crc32(currency.encode()) % 1600) / 8
        if currency == "HUF" and "forint-page" in self._planted:
            return Reply(203, "text/html; charset=utf-8", f"<p>1 EUR = {rate} HUF</p>".encode())
        return _reply(200, {"currency": currency, "rate": rate, "on": arguments["on"]})

    def _make_quote(self, arguments: dict[str, Any], body: Any) -> Reply:
        paid = 100 - body["discount_percent"]
        if not paid and "full-discount" in self._planted:
            return _crash("ZeroDivisionError: division by zero")
        price = self._rooms[body["room_id"] - 1]["price"] + 5.0 * len(body.get("extras", ()))
        per_night = price * paid / 100
        quote = {
            "total": per_night * body["nights"],
            "per_night": per_night,
            "discounted": paid < 100,
            "voucher": body.get("voucher"),
        }
        return _reply(200, quote)

    def _register_guest(self, arguments: dict[str, Any], body: Any) -> Reply:
        profile = body
        if not profile["name"].isascii() and "foreign-name" in self._planted:
            return _crash("UnicodeEncodeError: 'ascii' codec can't encode the name of the guest")
        names = ("name", "country", "birthday", "contact", "preferences")
        kept = {name: profile[name] for name in names if name in profile}
        return _reply(201, kept | {"member_id": _identity(profile), "points": 0})

    def _subscribe(self, arguments: dict[str, Any], body: Any) -> Reply:
        form = body
        is_queued = form["language"] == "lv" and "latvian-list" in self._planted
        subscribed = {
            "id": _identity(form),
            "language": form["language"],
            "frequency": form.get("frequency", "monthly"),
        }
        return _reply(202 if is_queued else 201, subscribed)

    def _write_review(self, arguments: dict[str, Any], body: Any) -> Reply:
        written = body
        review = {"id": _identity(written), "photo": None} | written
        if not written["replies"] and "no-replies" in self._planted:
            return Reply(202, _JSON, _encoded(review).replace(b'"replies":[]', b'"replies":'))
        return _reply(201, review)

    def _list_bookings(self, arguments: dict[str, Any], body: Any) -> Reply:
        since, until = arguments["since"], arguments["until"]
        if until is not None and since is None and "open-period" in self._planted:
            return _crash("TypeError: '<=' not supported between instances of 'NoneType' and 'str'")
        # By calendar day, as texts: RFC 3339 days sort like their letters.
        first, last = (since or "0")[:10], (until or "9999-12-31")[:10]
        status, limit = arguments["status"], arguments["limit"]
        items: list[dict[str, Any]] = []
        for booking in reversed(self._bookings.values()):
            if len(items) == limit:
                break
            if first <= booking["arrival"] <= last and status in (None, booking["status"]):
                items.append(booking)
        return _reply(200, {"items": items, "total": len(self._bookings)})

    def _create_booking(self, arguments: dict[str, Any], body: Any) -> Reply:
        booking = self._book(body)
        location = ("Location", f"/bookings/{booking['reference']}")
        return Reply(201, _JSON, _encoded(booking), (location,))

    def _get_booking(self, arguments: dict[str, Any], body: Any) -> Reply:
        booking = self._bookings.get(arguments["code"])
        if booking is None:
            return NOT_FOUND
        if booking["status"] == "cancelled" and "cancelled-view" in self._planted:
            return _crash("KeyError: 'refund'")
        return _reply(200, booking)

    def _change_booking(self, arguments: dict[str, Any], body: Any) -> Reply:
        booking = self._bookings.get(arguments["code"])
        if booking is None:
            return NOT_FOUND
        if booking["status"] == "cancelled":
            return problem(409, "conflict", "A cancelled booking stays as it is.")
        booking.update(body)
        return _reply(200, booking)

    def _delete_booking(self, arguments: dict[str, Any], body: Any) -> Reply:
        code = arguments["code"]
        if code not in self._bookings:
            return NOT_FOUND
        if "kept-booking" not in self._planted:
            del self._bookings[code]
            self._removed[code] = None
            _forget(self._removed, MAX_REMEMBERED)
        return Reply(204)

    def _book(self, wish: dict[str, Any]) -> dict[str, Any]:
        # References depend on the content and not on a counter, so that equal requests get equal references in any
        # order. References are never reused: a client that removed a booking must not find another one there.
        content = zlib.crc32(_encoded(wish))
        number = self._last_numbers.pop(content, content)
        while True:
            reference = f"BK-{number:08X}"
            if reference not in self._bookings and reference not in self._removed:
                break
            number = zlib.crc32(reference.encode(), number)
        # The search for the n-th booking of a content starts at the last one, or it would be quadratic.
        self._last_numbers[content] = number
        _forget(self._last_numbers, MAX_REMEMBERED)
        booking = {
            "reference": reference,
            "status": "confirmed",
            "room_id": wish["room_id"],
            "arrival": wish["arrival"],
            "nights": wish["nights"],
            "guests": wish["guests"],
            "note": wish.get("note"),
            "check_in_from": f"{wish['arrival']}T15:00:00Z",
        }
        self._bookings[reference] = booking
        _forget(self._bookings, MAX_BOOKINGS)
        return booking


def _forget(entries: OrderedDict[Any, Any], most: int) -> None:
    while len(entries) > most:
        entries.popitem(last=False)


def _encoded(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def _reply(status: int, value: Any) -> Reply:
    return Reply(status, _JSON, _encoded(value))


NOT_FOUND = problem(404, "not_found", "There is no such resource.")


def _crash(message: str) -> Reply:
    return problem(500, "unexpected", message)


def _room(number: int) -> dict[str, Any]:
    kind = "attic" if number == 24 else _KINDS[number % 5]
    beds = {"width_cm": 180} if number % 2 else {"count": 1 + number % 3}
    return {
        "id": number,
        "name": f"Room {number}",
        "kind": kind,
        "price": 60.0 + 7.5 * (number % 9),
        "floor": (number - 1) // 5,
        "accessible": number <= 5,
        "amenities": [name for bit, name in enumerate(_AMENITIES) if number >> bit & 1 or not bit],
        "view": None if number % 4 == 0 else ("harbour" if number % 2 else "garden"),
        "beds": beds,
    }


def _identity(content: Any) -> str:
    """Return a UUID made from a content."""
    data = _encoded(content)
    first, second = zlib.crc32(data), zlib.crc32(data, 1)
    return f"{first:08x}-0000-4000-8000-0000{second:08x}"
