"""The version without defects refuses what its document does not allow."""

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .client import Client, Judge, Wanted
from .test_defects import BOOKING, FORM, GUEST, ID, REVIEW, STAY
from .valid import bodies

JSON = {"Content-Type": "application/json"}
URLENCODED = {"Content-Type": "application/x-www-form-urlencoded"}

TARGETS = [
    *(f"/rooms/{raw}" for raw in ("0", "25", "-1", "+5", "05", "1_0", "%205", "5%20", "5.0")),
    *(f"/rooms/{raw}" for raw in ("5e0", "%D9%A5", "true", "null", "%", "%zz", "%ff", "9" * 5000)),
    *("/rooms/a%2Fb", "/rates/eur", "/rates/EUR%0A", "/rates/EUR?on=2023-02-29"),
    *("/rates/EUR?on=2023-2-1", "/rates/EUR?on="),
    *("/rooms?kind=", "/rooms?kind=attic&kind=attic", "/rooms?limit", "/rooms?limit=0"),
    *("/rooms?limit=1.0", "/rooms?max_price=NaN", "/rooms?max_price=1e999", "/rooms?max_price=.5"),
    *("/rooms?max_price=0.25", "/rooms?max_price=-0.5", "/rooms?max_price=inf", "/rooms?unknown=1"),
    *("/rooms?accessible=1", "/rooms?accessible=True", "/rooms?amenities=", "/rooms?amenities=tv"),
    *("/rooms?amenities=wifi&amenities=wifi", "/rooms?amenities=wifi,bath", "/rooms?Limit=5"),
    "/rooms?" + "&".join(f"amenities={name}" for name in ["wifi", "bath", "balcony", "desk", "crib"]),
    *("/rooms/7/photo?width=17", "/rooms/7/photo?width=2147483648", "/rooms/7?limit=1"),
    *("/bookings?since=2030-01-01", "/bookings?since=2030-01-01T24:00:00Z", "/bookings/BK-0"),
    *("/bookings?since=2030-01-01T00:00:00+01:00", "/bookings/BK-0000000a", "/bookings/BK-00000000%0A"),
]


@pytest.mark.parametrize("target", TARGETS)
def test_a_wrong_parameter_is_refused(fixed: Client, target: str) -> None:
    answer = fixed.raw("GET", target)
    assert (answer.status, answer.json()["code"]) == (400, "malformed")


@pytest.mark.parametrize("target", ["/", "/room", "/rooms/", "/rooms/7/", "//rooms", "/bookings//"])
def test_an_unknown_path_is_not_found(fixed: Client, target: str) -> None:
    assert fixed.raw("GET", target).status == 404


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "QUERY", "PATCH", "get"])
def test_another_method_is_answered_with_those_allowed(fixed: Client, method: str) -> None:
    answer = fixed.raw(method, "/bookings")
    assert (answer.status, answer.headers["allow"]) == (405, "GET, POST, HEAD")


@pytest.mark.parametrize("value", [None, "", "3f2b8c1e", "{3f2b8c1e-9d54-4c1a-8a70-5b1f0c6de901}", "3" * 32])
def test_a_booking_needs_its_request_id(fixed: Client, value: str | None) -> None:
    headers = {} if value is None else {"X-Request-ID": value}
    assert fixed.send(Wanted("POST", "/bookings", headers=headers, json=BOOKING)).status == 400


@pytest.mark.parametrize("value", ["locale=xx", "locale=", "locale=de; locale=en"])
def test_a_wrong_cookie_is_refused(fixed: Client, value: str) -> None:
    assert fixed.raw("GET", "/rooms", Cookie=value).status == 400


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"{} {}", b"\xff", b"\xef\xbb\xbf{}", b'{"a":NaN}'),
        *(b'{"a":-Infinity}', b'{"a":1e999}', b'"\\ud800"', b'{"\\udc00":1}', b"[01]", b"[1,]"),
        *(b"[" * 100_000, b"[" + b"1" * 5000 + b"]", b"'a'"),
    ],
)
def test_a_body_that_is_not_json_is_refused(fixed: Client, body: bytes) -> None:
    assert fixed.raw("POST", "/quotes", body, **JSON).status == 400


NOT_OBJECTS: tuple[Any, ...] = (None, [], "", 5, True, {})
NOT_EXTRAS: tuple[Any, ...] = (["cot", "cot"], ["tv"], {}, "cot")
WRONG: list[tuple[str, Any]] = [
    *(("/quotes", value) for value in NOT_OBJECTS),
    *(("/quotes", STAY | {"nights": value}) for value in (0, 31, 1.0, True, "1", None, 10**200)),
    *(("/quotes", STAY | {"discount_percent": value}) for value in (-5, 105, 99, 50.0)),
    *(("/quotes", STAY | {"budget": value}) for value in (0, 0.0, -1, 1e300, 100_001, 10**250)),
    *(("/quotes", STAY | {"voucher": value}) for value in ("ABCD-123", "ABCD-1234\n", "xABCD-1234")),
    *(("/quotes", STAY | {"extras": value}) for value in NOT_EXTRAS),
    ("/quotes", STAY | {"unknown": 1}),
    *(("/guests", GUEST | {"name": value}) for value in ("", "a" * 61, None)),
    *(("/guests", GUEST | {"contact": value}) for value in ({}, {"phone": "0353"}, {"email": "a"})),
    *(("/guests", GUEST | {"country": value}) for value in ("GBR", "gb", "GB\n", "")),
    *(("/guests", GUEST | {"birthday": value}) for value in ("2023-13-01", "1900-02-29", "202\u0663-01-01")),
    ("/guests", GUEST | {"preferences": {str(number): "" for number in range(6)}}),
    ("/guests", GUEST | {"preferences": {"view": 1}}),
    *(("/reviews", REVIEW | {"rating": value}) for value in (0.5, 5.5, 4.25, True, "4")),
    *(("/reviews", REVIEW | {"photo": value}) for value in ("A", "AA=", "====", "A B=", "é===")),
    ("/reviews", REVIEW | {"replies": [{"author": "a", "text": "", "replies": [{}]}]}),
    ("/bookings", BOOKING | {"guests": []}),
    ("/bookings", BOOKING | {"payment": {"method": "invoice", "last_digits": "4242"}}),
    ("/bookings", BOOKING | {"payment": {"method": "card", "last_digits": "\u0664\u0662\u0664\u0662"}}),
    ("/bookings", {name: BOOKING[name] for name in BOOKING if name != "arrival"}),
]


@pytest.mark.parametrize(("path", "value"), WRONG)
def test_a_body_that_breaks_its_schema_is_refused(fixed: Client, path: str, value: Any) -> None:
    wanted = Wanted("POST", path, headers=ID, json=value)
    answer = fixed.raw("POST", path, b"null", **ID, **JSON) if value is None else fixed.send(wanted)
    assert (answer.status, answer.json()["code"]) == (422, "invalid")


@pytest.mark.parametrize(
    "change",
    [
        *({"consent": value} for value in ("1", "", "None")),
        *({"website": value} for value in ("", "example.com", "http://a b", "http://[", "a:#b#c")),
        *({"address": value} for value in ("", "1.2.3", "1.2.3.256", "01.2.3.4", "::1::", ":::", "1:2")),
        *({"email": value} for value in ("a@", "@b", "a@b@c", "a..b@c", "a@-b")),
        *({"language": "en "}, {"unknown": "1"}, {"frequency": "daily"}),
    ],
)
def test_a_wrong_form_is_refused(fixed: Client, change: dict[str, str]) -> None:
    assert fixed.send(Wanted("POST", "/newsletter", form=FORM | change)).status == 422


@pytest.mark.parametrize("body", [b"consent=true&consent=true", b"email=%zz", b"email=%ff"])
def test_a_malformed_form_is_refused(fixed: Client, body: bytes) -> None:
    assert fixed.raw("POST", "/newsletter", body, **URLENCODED).status == 400


@pytest.mark.parametrize(
    "media_type", ["", "text/plain", "application/jsonx", "application/json; charset=latin-1", "json", ";"]
)
def test_another_media_type_is_refused(fixed: Client, media_type: str) -> None:
    assert fixed.raw("POST", "/quotes", b"{}", Content_Type=media_type).status == 415


@pytest.mark.parametrize("media_type", ["APPLICATION/JSON", 'application/json; charset="UTF-8"'])
def test_the_media_type_is_read_as_http_has_it(fixed: Client, media_type: str) -> None:
    assert fixed.raw("POST", "/quotes", b"{}", Content_Type=media_type).status == 422


ODD = (
    st.none()
    | st.booleans()
    | st.integers(-2, 200)
    | st.floats(-5, 200, allow_nan=False)
    | st.text(max_size=8)
    | st.just([])
    | st.just({})
    | st.sampled_from(["EUR", "card", "invoice", "4242", "2024-02-29", "cot", 2.5, 5])
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) within a value."""
    keys = value if isinstance(value, dict) else range(len(value) if isinstance(value, list) else 0)
    found = [(value, key) for key in keys]
    return found + [each for key in keys for each in places(value[key])]


@st.composite
def distorted(draw: st.DrawFn, name: str) -> Any:
    """A body with one of its parts replaced, removed or added."""
    value = copy.deepcopy(draw(bodies[name]))
    container, key = draw(st.sampled_from(places(value)))
    match draw(st.sampled_from(["replace", "remove", "add"])):
        case "replace":
            container[key] = draw(ODD)
        case "remove":
            del container[key]
        case _ if isinstance(container, dict):
            container[draw(st.text(max_size=4) | st.sampled_from(["note", "extras"]))] = draw(ODD)
        case _:
            container.append(draw(ODD))
    return value


@pytest.mark.parametrize("name", ["QuoteRequest", "GuestProfile", "ReviewRequest", "BookingRequest"])
@settings(max_examples=100, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
@pytest.mark.thorough_beyond(1)
def test_bodies_are_accepted_exactly_if_valid(fixed: Client, judge: Judge, name: str, data: st.DataObject) -> None:
    paths = dict(zip(bodies, ("/quotes", "/guests", "/reviews", "/bookings"), strict=False))
    value = data.draw(distorted(name))
    is_valid = judge.validator({"$ref": f"#/components/schemas/{name}"}).is_valid(value)
    answer = fixed.send(Wanted("POST", paths[name], headers=ID, json=value))
    assert is_valid == (answer.status in {200, 201}), (value, answer)
    assert is_valid or answer.status == 422
