"""Every labelled defect shows by a plain request, and only in the version that has it."""

import json

import pytest

from checker.demo import DEFECTS, document

from .client import Client, Judge, Wanted
from .valid import LABELS

GUEST = {"name": "Ada", "country": "GB", "contact": {"email": "ada@example.com"}}
REVIEW = {"room_id": 7, "rating": 4.5, "text": "Quiet.", "replies": []}
STAY = {"room_id": 7, "nights": 2, "discount_percent": 100}
BOOKING = {
    "room_id": 7,
    "arrival": "2030-06-01",
    "nights": 3,
    "guests": [{"name": "Ada", "age": 36}],
    "payment": {"method": "card", "last_digits": "4242"},
}
ID = {"X-Request-ID": "3f2b8c1e-9d54-4c1a-8a70-5b1f0c6de901"}
FORM = {"email": "ada@example.com", "language": "lv", "consent": True}

SINGLE = {
    "attic-floor": Wanted("GET", "/rooms/{room_id}", path={"room_id": 24}),
    "forint-page": Wanted("GET", "/rates/{currency}", path={"currency": "HUF"}),
    "full-discount": Wanted("POST", "/quotes", json=STAY),
    "latvian-list": Wanted("POST", "/newsletter", form=FORM),
    "foreign-name": Wanted("POST", "/guests", json=GUEST | {"name": "Zoë"}),
    "no-replies": Wanted("POST", "/reviews", json=REVIEW),
    "open-period": Wanted("GET", "/bookings", query={"until": "2030-01-01T00:00:00Z"}),
}
HARMLESS = {
    "attic-floor": Wanted("GET", "/rooms/{room_id}", path={"room_id": 23}),
    "forint-page": Wanted("GET", "/rates/{currency}", path={"currency": "CHF"}),
    "full-discount": Wanted("POST", "/quotes", json=STAY | {"discount_percent": 95}),
    "latvian-list": Wanted("POST", "/newsletter", form=FORM | {"language": "lt"}),
    "foreign-name": Wanted("POST", "/guests", json=GUEST),
    "no-replies": Wanted("POST", "/reviews", json=REVIEW | {"replies": [{"author": "Host", "text": ""}]}),
    "open-period": Wanted("GET", "/bookings", query={"since": "2030-01-01T00:00:00Z"}),
}
CHECK = {defect.id: defect.check for defect in DEFECTS}


@pytest.mark.parametrize("defect", SINGLE)
def test_a_single_request_shows_the_defect(buggy: Client, judge: Judge, defect: str) -> None:
    assert {CHECK[defect]} == judge.failures(SINGLE[defect], buggy.send(SINGLE[defect]))


@pytest.mark.parametrize("defect", SINGLE)
def test_the_fixed_version_has_not_the_defect(fixed: Client, judge: Judge, defect: str) -> None:
    answer = fixed.send(SINGLE[defect])
    assert set() == judge.failures(SINGLE[defect], answer)
    assert answer.status < 300


@pytest.mark.parametrize("defect", HARMLESS)
def test_the_request_beside_it_is_answered_well(buggy: Client, judge: Judge, defect: str) -> None:
    assert set() == judge.failures(HARMLESS[defect], buggy.send(HARMLESS[defect]))


def book(client: Client) -> Wanted:
    """A new booking; the request that shows it."""
    answer = client.send(Wanted("POST", "/bookings", headers=ID, json=BOOKING))
    assert answer.status == 201
    code = answer.json()["reference"]
    assert answer.headers["location"] == f"/bookings/{code}"
    return Wanted("GET", "/bookings/{code}", path={"code": code})


def test_a_removed_booking_is_gone_only_when_fixed(fixed: Client, buggy: Client) -> None:
    statuses = []
    for client in (fixed, buggy):
        show = book(client)
        assert client.send(show).status == 200
        assert client.send(Wanted("DELETE", show.template, path=show.path)).status == 204
        statuses.append(client.send(show).status)
    assert statuses == [404, 200]


def test_a_cancelled_booking_can_be_shown_only_when_fixed(fixed: Client, buggy: Client) -> None:
    statuses = []
    for client in (fixed, buggy):
        show = book(client)
        cancel = Wanted("PATCH", show.template, path=show.path, json={"status": "cancelled"})
        assert client.send(cancel).status == 200
        assert client.send(cancel).status == 409
        statuses.append(client.send(show).status)
    assert statuses == [200, 500]


@pytest.mark.parametrize("limit", [51, 2**31 - 1])
def test_an_excessive_limit_is_refused_only_when_fixed(fixed: Client, buggy: Client, limit: int) -> None:
    wanted = Wanted("GET", "/rooms", query={"limit": limit})
    assert [fixed.send(wanted).status, buggy.send(wanted).status] == [400, 200]


def test_the_table_covers_what_it_promises() -> None:
    assert 8 <= len(DEFECTS) <= 10
    assert len({defect.id for defect in DEFECTS}) == len(DEFECTS)
    assert len({(defect.operation, defect.check) for defect in DEFECTS}) == len(DEFECTS)
    assert {defect.operation for defect in DEFECTS} <= set(LABELS)
    assert {each.id for each in DEFECTS if each.needs == "positive"} == set(SINGLE)
    assert len({each.operation for each in DEFECTS if each.needs == "positive"}) == len(SINGLE)


def test_every_documented_example_is_accepted(fixed: Client) -> None:
    for path, item in document()["paths"].items():
        for method, operation in item.items():
            content = operation.get("requestBody", {}) if method != "parameters" else {}
            example = content.get("content", {}).get("application/json", {}).get("example")
            if example is not None and "{" not in path:
                body = json.dumps(example).encode()
                headers = ID | {"Content-Type": "application/json"}
                assert fixed.raw(method.upper(), path, body, **headers).status in {200, 201}
