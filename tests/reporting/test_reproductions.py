"""Variables of printed reproductions: one for each value of a response."""

import re
import shlex

from hypothesis import given
from hypothesis import strategies as st

from checker.core import curl
from checker.core.request import BaseUrl, WireRequest
from checker.reporting.calls import Call, Source
from checker.reporting.reproduction import ShownCall, variable_of
from checker.reporting.shell import command_of

WORDS = st.sampled_from(["id", "owner", "items", "x-key", "1st", "ключ", "a b$(touch x)", ""])
PATHS = st.none() | st.lists(WORDS | st.integers(0, 9), max_size=4).map(tuple)


@given(st.integers(0, 9), PATHS)
def test_a_variable_is_a_name_of_a_shell(call: int, path: tuple[str | int, ...] | None) -> None:
    assert re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", variable_of(Source(call, path)))


def test_values_of_one_response_have_variables_of_their_own() -> None:
    paths = (None, ("id",), ("owner", "id"), ("items", 0, "id"), ("items", 1, "id"))
    assert len({variable_of(Source(0, path)) for path in paths}) == len(paths)


def test_a_body_is_never_read_as_options_of_the_command() -> None:
    body = "a $(touch x) -X b #"
    request = WireRequest("POST", b"/orders", [], body.encode())
    # A redirected POST is recorded without its method.
    recorded = curl.render(request, BaseUrl.from_url("http://api.test")).replace("curl -X POST", "curl --location")
    call = Call("POST /orders", request, (), {}, {}, 500, recorded)
    shown = command_of(ShownCall(call, "POST", ("/orders",), (), (body,)), "http://api.test")
    words = shlex.split(shown)
    assert words[:2] == ["curl", "--location"]
    assert body in words
    assert not {"b", "$(touch"} & set(words)
