import base64
import datetime
import ipaddress
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.validation.formats import INTEGER_RANGES, STRING_FORMATS, is_of_format

VALID = {
    "date": ["2024-02-29", "0000-01-01", "9999-12-31"],
    "time": ["10:00:00Z", "10:00:00z", "23:59:60Z", "10:00:00.123+05:30", "10:00:00"],
    "date-time": [
        "2020-01-01T00:00:00Z",
        "2020-01-01t00:00:00z",
        "1990-12-31T23:59:60Z",
        "2020-01-01T00:00:00.123456789-23:59",
        "2020-01-01 00:00:00Z",
    ],
    "duration": ["P1D", "PT1H30M", "P1Y2M3DT4H5M6.5S", "P4W"],
    "uuid": ["2EB8AA08-AA98-11EA-B4AA-73B441D16380", "00000000-0000-0000-0000-000000000000"],
    "email": ["a@b", "joe.bloggs@example.com", '"joe bloggs"@example.com', "ü@exämple.de"],
    "uri": ["http://a/b?c#d", "urn:isbn:1", "mailto:a@b", "http://[::1]/"],
    "uri-reference": ["", "/a", "?b", "//host/x", "a b".replace(" ", "%20")],
    "hostname": ["localhost", "a-b.example.com.", "_dmarc.example.com"],
    "ipv4": ["0.0.0.0", "255.255.255.255"],
    "ipv6": ["::", "::ffff:1.2.3.4"],
    "byte": ["", "YQ==", "YQ", "-_-_", "YWJj\nYWJj"],
    "json-pointer": ["", "/a/~0~1"],
    "regex": ["^a+$", r"\p{L}", "(?<year>a)", "[^]", "[a||b]"],
    "binary": ["anything"],
    "password": ["anything"],
    "made-up": ["anything"],
    # No draft of JSON Schema and no registry says what these are.
    "url": ["/a b", ""],
    "color": ["#12"],
    "full-date": ["today"],
}
INVALID = {
    "date": ["2023-02-29", "2020-13-01", "2020-1-1", "1900-02-29", "\uff12\uff10\uff12\uff10-01-01"],
    "time": ["24:00:00Z", "10:60:00Z", "10:00", "10:00:00+25:00"],
    "date-time": ["2020-01-01", "2020-01-01T00:00:00", "2020-02-30T00:00:00Z", "x" * 30],
    "duration": ["P", "PT", "1D", "P1", "P1S"],
    "uuid": ["0" * 32, "2eb8aa08-aa98-11ea-b4aa-73b441d1638", "x"],
    "email": ["", "a", "a@", "@b", "a b@c", "a@b.", "a@b..de", "a@.de"],
    "uri": ["/a", "a b", "", "http://a b", "//host"],
    "uri-reference": ["a b", "<x>", "\\"],
    "hostname": ["", "-a", "a..b", "a b", "a" * 64],
    "ipv4": ["256.0.0.1", "1.2.3", "01.2.3.4"],
    "ipv6": ["1.2.3.4", ":::", "12345::"],
    "byte": ["Y", "a$b="],
    "json-pointer": ["a", "/~2"],
    "regex": ["(", "a{2,1}"],
}


@pytest.mark.parametrize(("name", "value"), [(n, v) for n in VALID for v in VALID[n]])
def test_value_is_of_its_format(name: str, value: str) -> None:
    assert is_of_format(name, value)


@pytest.mark.parametrize(("name", "value"), [(n, v) for n in INVALID for v in INVALID[n]])
def test_value_is_not_of_the_format(name: str, value: str) -> None:
    assert not is_of_format(name, value)


@given(st.datetimes(timezones=st.just(datetime.UTC)))
def test_every_python_date_time_is_one(moment: datetime.datetime) -> None:
    assert is_of_format("date-time", moment.isoformat())
    assert is_of_format("date", moment.date().isoformat())
    assert is_of_format("time", moment.timetz().isoformat())


@given(st.uuids(), st.ip_addresses(), st.binary(), st.emails())
def test_what_libraries_write_is_of_its_format(
    identifier: uuid.UUID, address: ipaddress.IPv4Address | ipaddress.IPv6Address, data: bytes, email: str
) -> None:
    assert is_of_format("uuid", str(identifier))
    assert is_of_format(f"ipv{address.version}", str(address))
    assert is_of_format("byte", base64.b64encode(data).decode())
    assert is_of_format("byte", base64.urlsafe_b64encode(data).decode())
    assert is_of_format("email", email)


@pytest.mark.parametrize("name", sorted(INTEGER_RANGES))
def test_integer_formats_end_where_their_bits_do(name: str) -> None:
    lowest, highest = INTEGER_RANGES[name]
    assert is_of_format(name, lowest)
    assert is_of_format(name, highest)
    assert not is_of_format(name, lowest - 1)
    assert not is_of_format(name, highest + 1)
    assert is_of_format(name, "text is none of its business")
    assert is_of_format(name, True)


@given(st.text(), st.sampled_from(sorted(STRING_FORMATS)))
def test_any_text_can_be_asked_about(text: str, name: str) -> None:
    assert is_of_format(name, text) in (True, False)
