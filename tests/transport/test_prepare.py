from dataclasses import dataclass, field
from typing import cast

import pytest

from checker.config.operation_settings import HttpSettings
from checker.core.case import NOT_SET, Case
from checker.core.operation import Body, Location, Operation, Parameter, PropertyEncoding
from checker.core.request import BaseUrl, WireRequest
from checker.core.send import send_alone
from checker.transport.header_lines import header_lines
from checker.transport.http import HttpLanes
from checker.transport.prepare import RequestMaker

from .cells import schema_of

ANYTHING = schema_of({})
ORIGIN = BaseUrl("http", "127.0.0.1", 8080, "/api v1")
DEFAULTS = {"path": ("simple", False), "query": ("form", True), "header": ("simple", False), "cookie": ("form", True)}


def parameter(place: str, name: str, *, style: str | None = None, explode: bool | None = None, **options) -> Parameter:
    usual_style, usual_explode = DEFAULTS[place]
    return Parameter(
        name,
        Location(place),
        True,
        ANYTHING,
        style or usual_style,
        usual_explode if explode is None else explode,
        **options,
    )


@dataclass
class Plain:
    """As much of an operation as a request needs."""

    method: str = "GET"
    path: str = "/"
    parameters: tuple[Parameter, ...] = ()
    bodies: tuple[Body, ...] = ()
    label: str = field(init=False)

    def __post_init__(self) -> None:
        self.label = f"{self.method} {self.path}"

    def path_behind(self, base_path: str) -> str:
        return self.path


def case(operation: Plain, **parts) -> Case:
    return Case(cast("Operation", operation), "0123456789ab", **parts)


def make(operation: Plain, user=(), /, **parts) -> WireRequest:
    return RequestMaker(ORIGIN, user, version="1.2").make(case(operation, **parts))


def test_a_plain_request() -> None:
    request = make(Plain(path="/users"))
    assert request == WireRequest(
        "GET",
        b"/api%20v1/users",
        [(b"Accept", b"*/*"), (b"User-Agent", b"checker/1.2"), (b"X-Checker-TestCaseId", b"0123456789ab")],
        None,
    )


def test_everything_at_its_place() -> None:
    operation = Plain(
        "POST",
        "/a/{x}/b{y}.json",
        (
            parameter("path", "x"),
            parameter("path", "y", style="label"),
            parameter("query", "q"),
            parameter("query", "f", media_type="application/json"),
            parameter("header", "X-List"),
            parameter("header", "X-Json", media_type="application/json"),
            parameter("cookie", "c"),
            parameter("cookie", "j", media_type="application/json"),
        ),
        (Body("application/json", ANYTHING, "", {}),),
    )
    request = make(
        operation,
        path_parameters={"x": "a/b", "y": [1, 2]},
        query={"q": ["é", None], "f": {"a": 1}, "unknown": True},
        headers={"X-List": [1, True], "x-json": [None]},
        cookies={"c": "a;b", "j": {"a": "é"}},
        body={"a": None},
        media_type="application/json",
    )
    assert request.target == (b"/api%20v1/a/a%2Fb/b.1,2.json?q=%C3%A9&q=null&f=%7B%22a%22%3A1%7D&unknown=true")
    assert request.headers[2:] == [
        (b"X-Checker-TestCaseId", b"0123456789ab"),
        (b"Content-Type", b"application/json"),
        (b"Cookie", b"c=a%3Bb; j={%22a%22:%22%C3%A9%22}"),
        (b"X-List", b"1,true"),
        (b"x-json", b"[null]"),
    ]
    assert request.body == b'{"a":null}'


@pytest.mark.parametrize(
    ("value", "path"), [(".", "/%2E"), ("..", "/%2E%2E"), ("a b", "/a%20b"), (True, "/true"), (None, "/null")]
)
def test_path_values(value, path) -> None:
    maker = RequestMaker(ORIGIN, version="1")
    made = case(Plain(path="/{x}", parameters=(parameter("path", "x"),)), path_parameters={"x": value})
    assert maker.formatted_path(made) == path
    assert maker.target(made) == b"/api%20v1" + path.encode()


def test_headers_of_the_user_win_over_the_case_and_those_over_ours() -> None:
    request = make(
        Plain(),
        [("x-a", "user"), ("X-A", "twice"), ("Cookie", "u=1")],
        headers={"X-a": "case", "accept": "text/html", "X-Checker-TestCaseId": "mine"},
        cookies={"c": "1"},
    )
    assert request.headers == [
        (b"User-Agent", b"checker/1.2"),
        (b"x-a", b"user"),
        (b"X-A", b"twice"),
        (b"Cookie", b"u=1"),
        (b"accept", b"text/html"),
        (b"X-Checker-TestCaseId", b"mine"),
    ]


def test_the_user_may_set_what_we_send_by_ourselves() -> None:
    headers = [("user-agent", "u"), ("Accept", "a"), ("x-checker-testcaseid", "i"), ("content-type", "t/t")]
    request = make(Plain("POST"), headers, body=1)
    assert [value for _, value in request.headers] == [b"u", b"a", b"i", b"t/t"]
    assert request.body == b"1"


def test_header_values_beyond_latin_1_become_utf_8() -> None:
    request = make(Plain(), headers={"X-A": "é", "X-B": "☃", "X-C": "\ud800"})
    assert request.headers[-3:] == [(b"X-A", b"\xe9"), (b"X-B", "☃".encode()), (b"X-C", b"\xed\xa0\x80")]


@pytest.mark.parametrize(
    ("userinfo", "value"), [("Aladdin:open sesame", b"Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="), ("u", b"Basic dTo=")]
)
def test_credentials_of_the_base_url_are_sent_unless_there_are_others(userinfo, value) -> None:
    origin = BaseUrl("http", "h", 80, "", userinfo)
    maker = RequestMaker(origin, version="1")
    assert maker.make(case(Plain())).header(b"authorization") == value
    declared = case(Plain(), headers={"authorization": "Bearer x"})
    assert maker.make(declared).header(b"Authorization") == b"Bearer x"
    maker = RequestMaker(origin, [("AUTHORIZATION", "mine")], version="1")
    assert maker.make(declared).header(b"authorization") == b"mine"


def test_reserved_and_encoded_characters_of_a_base_path_stay() -> None:
    maker = RequestMaker(BaseUrl("http", "h", 80, "/a,b;c=(d)/%2F/é"), version="1")
    assert maker.target(case(Plain(path="/x"))) == b"/a,b;c=(d)/%2F/%C3%A9/x"


def test_a_header_that_is_json_is_json_also_as_text() -> None:
    operation = Plain(parameters=(parameter("header", "X-J", media_type="application/json"),))
    request = make(operation, headers={"x-j": "é☃"})
    assert request.headers[-1] == (b"x-j", b'"\\u00e9\\u2603"')


def test_the_whole_query_may_be_one_json_value() -> None:
    whole = parameter("query", "q", style="querystring", media_type="application/json")
    request = make(Plain(path="/x", parameters=(whole,)), query={"q": {"a": [1, "&"]}})
    assert request.target == b"/api%20v1/x?%7B%22a%22%3A%5B1%2C%22%26%22%5D%7D"


def test_a_form_follows_its_encoding() -> None:
    form = "application/x-www-form-urlencoded"
    encoding = {"l": PropertyEncoding(explode=False)}
    operation = Plain("POST", bodies=(Body(form, ANYTHING, "", encoding),))
    request = make(operation, body={"l": [1, 2]}, media_type=form)
    assert (request.body, request.header(b"content-type")) == (b"l=1,2", form.encode())


def test_multipart_names_its_boundary() -> None:
    request = make(Plain("POST"), body={"a": "b"}, media_type="multipart/form-data")
    content_type = request.header(b"content-type") or b""
    boundary = content_type.removeprefix(b"multipart/form-data; boundary=")
    assert request.body is not None
    assert request.body.startswith(b"--" + boundary + b"\r\n")


def test_a_case_may_type_its_parts() -> None:
    request = make(
        Plain("POST"), body={"a": "b"}, media_type="multipart/form-data", multipart_content_types={"a": "image/png"}
    )
    assert b'name="a"\r\nContent-Type: image/png\r\n\r\nb\r\n' in (request.body or b"")


def test_a_body_without_media_type_takes_the_first_declared() -> None:
    text = Body("text/plain", ANYTHING, "", {})
    assert make(Plain("POST", bodies=(text,)), body="x").header(b"content-type") == b"text/plain"
    assert make(Plain("POST"), body="x").header(b"content-type") == b"application/json"


def test_operations_of_one_label_are_not_mixed_up() -> None:
    maker = RequestMaker(ORIGIN, version="1")
    first = Plain(path="/{x}", parameters=(parameter("path", "x"),))
    second = Plain(path="/{x}", parameters=(parameter("path", "x", style="label"),))
    paths = [maker.formatted_path(case(one, path_parameters={"x": 1})) for one in (first, second, first)]
    assert paths == ["/1", "/.1", "/1"]


def test_what_is_made_is_what_arrives(server) -> None:
    maker = RequestMaker(server.origin, version="1")
    operation = Plain("PUT", "/{x}", (parameter("path", "x"),))
    request = maker.make(
        case(
            operation,
            path_parameters={"x": "é/.."},
            query={"q": "a b&c"},
            headers={"X-A": "é"},
            cookies={"c": 'a"b'},
            body={"k": ["é", 2**70]},
        )
    )
    lanes = HttpLanes(server.origin, HttpSettings(), 1)
    send_alone(lanes, request)
    lanes.close()
    [received] = server.received
    assert received.head[0] == b"PUT /%C3%A9%2F..?q=a%20b%26c HTTP/1.1"
    assert received.head[2:] == [
        b"Accept: */*",
        b"User-Agent: checker/1",
        b"X-Checker-TestCaseId: 0123456789ab",
        b"Content-Type: application/json",
        b"Cookie: c=a%22b",
        b"X-A: \xe9",
        b"Content-Length: %d" % len(received.body),
    ]
    assert received.body == b'{"k":["\\u00e9",1180591620717411303424]}'


@pytest.mark.parametrize("user", [(), [("X-Mine", "1")], [("Content-Type", "a/b")], [("X-Id", "")]])
@pytest.mark.parametrize("name", ["0a1b", "with space ", ""])
@pytest.mark.parametrize("body", [NOT_SET, {"a": 1}])
def test_known_header_lines_say_what_the_headers_say(user, name, body) -> None:
    sent = case(Plain("POST", "/a"), body=body)
    sent.id = name
    made = RequestMaker(ORIGIN, user, version="1").make(sent)
    known, _ = header_lines(made)
    made.lines = None
    worked_out, keeps_connection = header_lines(made)
    assert sorted(known) == sorted(worked_out)
    assert keeps_connection
    # Those that are sent stand in the same order.
    assert [line for line in known if line in worked_out[: len(made.headers)]] == [
        line for line in worked_out if line in worked_out[: len(made.headers)]
    ]


def test_a_template_with_a_query_is_continued() -> None:
    operation = Plain(path="/call?version=1", parameters=(parameter("query", "q"),))
    assert make(operation, query={"q": "?"}).target == b"/api%20v1/call?version=1&q=%3F"
    assert make(operation).target == b"/api%20v1/call?version=1"
