"""Sentences of refusals and descriptions that relate values of one request."""

import re

import pytest

from checker.core.constraints import comparison
from checker.core.request import Location
from checker.core.system import Later
from checker.refusals import relations
from checker.refusals.relations import Place, relations_in

NAMES = (
    "startsAt",
    "endsAt",
    "min_price",
    "max_price",
    "from",
    "to",
    "alpha",
    "omega",
    "checkIn",
    "checkOut",
    "user",
    "email",
    "id",
)
PLACES: list[Place] = [(Location.BODY, (name,)) for name in NAMES]


def related(text: str, *, is_refusal: bool = False) -> list[tuple[str, str, object]]:
    found = relations_in(text, PLACES, "itemId", is_refusal=is_refusal)
    return [(one.path[-1], one.keyword, one.given) for one in found]


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("start time must be before end time", "startsAt", "endsAt"),
        ("endsAt must be after startsAt", "startsAt", "endsAt"),
        ("End date cannot be earlier than start date.", "startsAt", "endsAt"),
        ("Invalid body. `min_price` must be less than or equal to `max_price`", "min_price", "max_price"),
        ("max_price should not be less than min_price", "min_price", "max_price"),
        ("alpha must precede omega", "alpha", "omega"),
        ("check-out date has to be later than check-in date", "checkIn", "checkOut"),
        ("from must not exceed to", "from", "to"),
        ("Ensure endsAt is after startsAt", "startsAt", "endsAt"),
        ("alpha <= omega", "alpha", "omega"),
    ],
)
def test_a_sentence_states_an_order(text: str, low: str, high: str) -> None:
    assert related(text) == [(low, "below", high)]


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("Inconsistent number of IDs, vectors and URIs", ["vectors", "uris"]),
        ("ids and vectors must have the same length", ["vectors"]),
        ("The lengths of `ids` and `uris` do not match", ["uris"]),
        ("the number of ids is too large", None),
        ("ids must have the same length", None),
        ("vectors and uris are wrong", None),
    ],
)
def test_a_sentence_states_that_lists_are_equally_long(text: str, others: list[str] | None) -> None:
    places: list[Place] = [(Location.BODY, (name,)) for name in ("ids", "vectors", "uris")]
    found = [one.given for one in relations_in(text, places) if one.keyword == "parallel"]
    assert found == ([] if others is None else [others])


def test_a_refusal_may_state_what_is_wrong() -> None:
    both = {("startsAt", "below", "endsAt"), ("endsAt", "below", "startsAt")}
    assert set(related("End date is before start date", is_refusal=True)) == both


def test_a_refusal_without_names_is_about_the_only_two_values() -> None:
    places: list[Place] = [(Location.QUERY, ("a",)), (Location.QUERY, ("b",))]
    found = relations_in("the first one must be before the second one", places)
    assert [(one.path, one.given) for one in found] == [(("a",), "b"), (("b",), "a")]


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("only one of user or email may be given", ("user", "exclusive", ["email"])),
        ("user and email are mutually exclusive", ("user", "exclusive", ["email"])),
        ("Provide either user or email, but not both", ("user", "exclusive", ["email"])),
        ("email cannot be used with user", ("email", "exclusive", ["user"])),
        ("user and email must not both be set", ("user", "exclusive", ["email"])),
        ("user requires email", ("user", "requires", ["email"])),
        ("`email` is required when `user` is given", ("user", "requires", ["email"])),
        ("The id in the body must match the id in the URL", ("id", "same", "itemId")),
        ("ID mismatch between payload and path", ("id", "same", "itemId")),
    ],
)
def test_a_sentence_states_what_stands_together(text: str, relation: tuple[str, str, object]) -> None:
    assert related(text) == [relation]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Provide at least one of user or email", ["user", "email"]),
        ("Either user or email is required", ["user", "email"]),
        ("Provide either user or email", ["user", "email"]),
        ("One of `user`, `email`, `alpha` must be specified", ["user", "email", "alpha"]),
        ("At least one field must be provided", []),
        ("No fields to update", []),
        ("Request body cannot be empty", []),
        ("nothing to update", []),
    ],
)
def test_a_refusal_demands_any_of_several_members(text: str, names: list[str]) -> None:
    found = relations_in(text, PLACES)
    assert [(one.path, one.keyword, one.given) for one in found] == [((), "any", names)]
    assert relations_in(text, PLACES, is_refusal=False) == []


@pytest.mark.parametrize(
    ("low", "high", "order"),
    [
        (1, 2.5, -1),
        (3, 3, 0),
        ("2024-01-02", "2024-01-01", 1),
        ("2024-01-01T10:00:00+05:00", "2024-01-01T06:00:00Z", -1),
        ("2024-01-01t10:00:00z", "2024-01-01T10:00:00.000+00:00", 0),
        ("2024-13-01T10:00:00Z", "2024-01-01T10:00:00Z", None),
        ("b", "a", None),
        (1, "2024-01-01", None),
        ("2024-01-01", "10:00", None),
        ("2024-01-01", "2024-01-01T10:00:00Z", None),
        ("10:00", "10:00:30", -1),
        ("10:00", "10:00:00", 0),
        ("10:00:00Z", "10:00:00.5-02:00", -1),
        ("10:00", "10:00Z", 0),
        (True, 2, None),
    ],
)
def test_moments_are_compared_whatever_their_zone(low: object, high: object, order: int | None) -> None:
    assert comparison(low, high) == order


@pytest.mark.parametrize(
    "text",
    [
        "alpha must be at least 1",
        "alpha must be greater than 5",
        "user is required",
        "email must be an email",
        "",
        "either way",
        "alpha must contain at least one digit",
        "User name conflicts with existing email",
        "email is incompatible with that user",
    ],
)
def test_other_sentences_relate_nothing(text: str) -> None:
    assert related(text, is_refusal=True) == []


_LEADS = re.compile(r"(?:\(\?P<\w+>|\(\?:|\(|\\b)*(?:\.|\\s|\\w)[*+]")
"""The beginning of a pattern that a search tries, to the end of the text, at each of its places."""


def test_no_pattern_over_text_of_servers_begins_with_anything() -> None:
    patterns = [one.pattern for one in vars(relations).values() if isinstance(one, Later)]
    assert patterns
    assert [one for one in patterns if _LEADS.match(one)] == []


@pytest.mark.parametrize(
    "text",
    [
        "lorem ipsum " * 200,
        "field must be " * 150,
        "<p class='from'>Expected to</p> " * 60,
        "Expected " + " | ".join(f"'A{letter}'" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ") * 9,
    ],
)
def test_long_texts_relate_nothing(text: str) -> None:
    assert related(text, is_refusal=True) == []


def test_a_sentence_is_read_up_to_300_characters() -> None:
    assert related(f"alpha must be before omega {'x ' * 200}")
    assert related(f"{'x ' * 200} alpha must be before omega") == []
