"""The defects that are planted in the demo service, one labelled row each."""

from msgspec import Struct


class Defect(Struct, frozen=True):
    """One planted defect: its operation, the check that finds it, and its rarity."""

    id: str
    operation: str  # Label of the operation with the wrong response, such as `GET /rooms`.
    check: str  # Name of the check that finds it.
    sentence: str
    rarity: str  # The property of a request that triggers it, and its frequency among valid random requests.
    needs: str = "positive"
    """The requests that find it: valid single ones (`positive`), sequences (`stateful`) or invalid ones (`negative`)."""


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
