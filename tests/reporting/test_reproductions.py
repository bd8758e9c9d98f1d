"""Printed reproductions: variables for values of responses, and the scripts that run them."""

import json
import re
import shlex
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from checker.checks.authentication import wrong_values
from checker.config.settings import Sanitization
from checker.core import curl
from checker.core.meta import Binding, Drawn, Step
from checker.core.operation import Label
from checker.core.request import BaseUrl, Location, WireRequest
from checker.corpus.fold import fold
from checker.corpus.records import Component, Finding, ResourceMade
from checker.corpus.references import SecretStore
from checker.reporting.calls import Call, Source
from checker.reporting.findings import failed_case
from checker.reporting.formats import collections, pytest_file
from checker.reporting.masking import Masking
from checker.reporting.report import report_of
from checker.reporting.reproduction import Secret, ShownCall, Taken, shown_calls, variables_of
from checker.reporting.shell import command_of, value_of
from checker.reporting.shown import ReportContext
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.fork_server import plain_environment

from .samples import exchange, finding, interaction, settings

WORDS = st.sampled_from(["id", "owner", "items", "x-key", "1st", "ключ", "имя", "a b$(touch x)", ""])
PATHS = st.none() | st.lists(WORDS | st.integers(0, 9), max_size=4).map(tuple)
SOURCES = st.builds(Source, st.integers(0, 9), PATHS)
JSON = ((b"Content-Type", b"application/json"),)


@given(st.lists(st.tuples(SOURCES, st.booleans()), max_size=6))
def test_each_value_has_a_name_of_a_shell_for_itself(uses: list[tuple[Source, bool]]) -> None:
    found = variables_of(uses)
    assert set(found) == set(uses)
    assert len(set(found.values())) == len(found)
    assert all(re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name) for name in found.values())


def test_a_value_is_named_after_its_place() -> None:
    uses = [(Source(0, path), False) for path in (None, ("id",), ("owner", "id"), ("items", 0, "id"))]
    assert list(variables_of(uses).values()) == ["location_1", "id_1", "owner_id_1", "items_0_id_1"]


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
    assert not {"b", "$(touch", "POST"} & set(words)


def test_a_value_in_a_substituted_body_is_filled() -> None:
    request = WireRequest("POST", b"/", [], b'{"a": "%\0", "id": 7}')
    taken = Taken(Source(0, ("id",)), True, "id_1")
    call = Call("POST /", request, (), {}, {("id",): taken.source}, 500)
    command = command_of(ShownCall(call, "POST", ("/",), (), ('{"a": "%\0", "id": ', taken, "}")), "http://api.test")
    script = f'curl() {{ for word; do case $word in @*) cat "${{word#@}}" ;; esac; done; }}; id_1=902; {command}'
    ran = subprocess.run(["bash", "-c", script], capture_output=True, check=True)
    assert ran.stdout == b'{"a": "%\0", "id": 902}'


def made(path: str, command: str, pointer: str) -> ResourceMade:
    return ResourceMade(path, "POST /items", "coverage", 0, 201, f"curl -X POST {command}", pointer=pointer)


def failing(method: str, target: bytes, status: int, answer: bytes, body: bytes | None = None, **changes: Any) -> Any:
    head = changes.pop("response_head", b"Content-Type: application/json\r\n")
    headers = changes.pop("headers", JSON)
    said = exchange(
        method=method, target=target, headers=headers if body else (), body=body, status=status,
        response_head=head, response_body=answer, response_size=len(answer),
    )  # fmt: skip
    return finding(
        fingerprint=f"{1:016x}", label=f"{method} {target.decode()}", interactions=(interaction(exchange=said),),
        reproduction="", steps=(), **changes,
    )  # fmt: skip


def texts(write: Any, url: str, found: Finding) -> str:
    return "".join(write(report_of(fold([(1, found)]), settings(), "completed"), ReportContext("checker run", 1, url)))


def by_bash(directory: Path, url: str, found: Finding, path: str | None = None) -> tuple[int, str]:
    """Run the script of a failure; return exit code and output."""
    (directory / "failures.sh").write_text(texts(collections.script, url, found))
    variables = plain_environment() | ({} if path is None else {"PATH": path})
    bash = ["/bin/bash", "failures.sh"]
    ran = subprocess.run(bash, cwd=directory, env=variables, capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout


WRONG, WRONG_USER = wrong_values("GET /")
DRAWN = (Component("header", "positive", ()), Component("cookie", "positive", ()))
OUTSIDE = (Component("header", "positive", ("Authorization",)), Component("cookie", "positive", ("sid",)))


@pytest.mark.parametrize(
    ("name", "value", "components", "shown"),
    [
        ("Cookie", f"sid={WRONG}", (), (f"sid={WRONG}",)),
        ("Cookie", "sid=drawn", DRAWN, ("sid=drawn",)),
        ("Cookie", "sid={secret:cookie:sid}", DRAWN, ("sid=", Secret("CHECKER_SID"))),
        ("Cookie", "sid=given", OUTSIDE, ("sid=", Secret("CHECKER_SID"))),
        ("Cookie", "sid=given", (), ("sid=", Secret("CHECKER_SID"))),
        ("Cookie", "secret:header:Cookie", (), (Secret("CHECKER_COOKIE"),)),
        ("Authorization", f"Bearer {WRONG}", (), (f"Bearer {WRONG}",)),
        ("Authorization", f"Basic {WRONG_USER}", OUTSIDE, (f"Basic {WRONG_USER}",)),
        ("Authorization", "Bearer drawn", DRAWN, ("Bearer drawn",)),
        ("Authorization", "Bearer given", OUTSIDE, (Secret("CHECKER_AUTHORIZATION"),)),
        ("Authorization", "secret:header:Authorization", DRAWN, (Secret("CHECKER_AUTHORIZATION"),)),
    ],
)
def test_a_credential_that_nobody_gave_is_sent_again(
    name: str, value: str, components: tuple[Component, ...], shown: Any
) -> None:
    said = exchange(target=b"/", headers=((name.encode(), value.encode()),))
    sent = interaction(exchange=said, label="GET /", components=components)
    places = ("cookie sid", "header authorization")
    masking = ReportContext("checker run", 1, "http://h", credentials=places).masking
    (call,) = shown_calls(finding(label="GET /", interactions=(sent,), reproduction=""), masking, "")
    assert call.headers == ((name, shown),)
    of_all = replace(masking, sanitization=Sanitization(generated=True))
    (call,) = shown_calls(finding(label="GET /", interactions=(sent,), reproduction=""), of_all, "")
    assert any(isinstance(part, Secret) for part in call.headers[0][1])


@pytest.mark.parametrize(
    ("value", "command", "hidden"),
    [
        (f"Bearer {WRONG}", f"curl -X GET -H 'Authorization: Bearer {WRONG}' http://h/", ()),
        ("Bearer given", "curl -X GET -H 'Authorization: [Filtered]' http://h/", ("header Authorization",)),
    ],
)
def test_a_command_shows_credentials_that_a_check_made_up(value: str, command: str, hidden: tuple[str, ...]) -> None:
    said = exchange(target=b"/", headers=((b"Authorization", value.encode()),))
    sent = interaction(exchange=said, label="GET /", components=OUTSIDE)
    recorded = f"curl -X GET -H 'Authorization: {value}' http://h/"
    context = ReportContext("checker run", 1, "http://h", credentials=("header authorization",))
    one = finding(label="GET /", interactions=(sent,), reproduction=recorded)
    found = failed_case([one], context.masking.command, context.printed)
    assert (found.commands, found.hidden) == ((command,), hidden)


def test_a_failure_that_the_run_did_not_look_into_has_commands() -> None:
    said = exchange(target=b"/v1/boxes/0?full=1", headers=((b"Authorization", b"secret:header:Authorization"),))
    one = finding(interactions=(interaction(exchange=said, label="GET /boxes/{box}"),), reproduction="")
    context = ReportContext("checker run", 1, "http://h/v1", credentials=("header authorization",))
    found = failed_case([one], context.masking.command, context.printed)
    assert found.commands == ("curl -X GET -H \"Authorization: $CHECKER_AUTHORIZATION\" 'http://h/v1/boxes/0?full=1'",)
    assert found.hidden == ("export CHECKER_AUTHORIZATION=...",)
    two = ReportContext("checker run", 1, "http://h/v1, http://other/v1")
    assert failed_case([one], two.masking.command, two.printed).commands == ()


def test_a_script_without_its_programs_judges_nothing(tmp_path: Path) -> None:
    code, shown = by_bash(tmp_path, "http://127.0.0.1:1", failing("GET", b"/", 500, b"{}"), path=str(tmp_path))
    assert (code, shown) == (3, "NOT REPRODUCED: this script needs curl\n")


NAMES = ["a b/ü?#%", 'say "x" \\', "..%2F[1-3]{a,b}", 902]


FORM = (b"Content-Type", b"application/x-www-form-urlencoded")


@pytest.mark.parametrize("is_form", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_values_of_responses_are_written_as_their_place_demands(name: Any, is_form: bool, tmp_path: Path) -> None:
    first = made("/items/n71x", "-H 'Content-Type: application/json' -d '{}' http://h/items", "/name")
    body = b"note=a+b%21&item_id=n71x" if is_form else b'{"note": "a b!", "item_id": "n71x"}'
    found = failing("PUT", b"/items/n71x/parts", 500, b"{}", body, needs=(first,), headers=(FORM,) if is_form else JSON)
    seen: list[tuple[bytes, Any]] = []

    def answer(request: Request) -> Reply:
        if request.method == "POST":
            return json_reply({"name": name}, 201)
        content = dict(parse_qsl(request.body.decode())) if is_form else json.loads(request.body)
        seen.append((request.target, content))
        return json_reply({}, 500)

    with serving(answer, {}) as app:
        assert by_bash(tmp_path, app.url, found)[0] == 1
    ((target, sent),) = seen
    assert unquote(target.decode().removeprefix("/items/").removesuffix("/parts")) == str(name)
    assert target.count(b"/") == 3
    assert sent == {"note": "a b!", "item_id": str(name)}


def test_a_field_of_a_form_takes_the_value_of_an_earlier_response() -> None:
    first = exchange(method="POST", target=b"/baskets", status=201, response_body=b'{"id": 71}')
    last = exchange(method="POST", target=b"/orders", headers=(FORM,), body=b"basket=71&x=%41&basket=71", status=500)
    bound = Binding(Location.BODY, "/basket", Label("POST /baskets"), "/id", 0, 71)
    steps = (Step(Label("POST /baskets"), Drawn(())), Step(Label("POST /orders"), Drawn(()), (bound,)))
    sent = (interaction(label="POST /baskets", exchange=first), interaction(label="POST /orders", exchange=last))
    masking = Masking(Sanitization(), SecretStore())
    _, shown = shown_calls(finding(steps=steps, interactions=sent, reproduction=""), masking, "")
    taken = Taken(Source(0, ("id",)), False, "id_1")
    assert shown.body == ("basket=", taken, "&x=%41&basket=", taken)


URL_OF_LINE = "http://h/api/baskets/71/lines/93/?page=1#x"
URL = "/items/0/url#url:/baskets/{basket}/lines/{line}"


@pytest.mark.parametrize("program", ["bash", "pytest", "editor"])
def test_a_name_that_stands_in_a_url_of_a_response_is_taken_from_it(program: str, tmp_path: Path) -> None:
    label = "DELETE /baskets/{basket}/lines/{line}"
    head = b"Content-Type: application/json\r\n"
    listed = json.dumps({"items": [{"url": URL_OF_LINE}]}).encode()
    first = exchange(method="POST", target=b"/lines", status=201, response_body=listed, response_head=head)
    last = exchange(
        method="DELETE", target=b"/baskets/71/lines/93", status=500, response_body=b"{}", response_head=head
    )
    bound = tuple(
        Binding(Location.PATH, name, Label("POST /lines"), f"{URL}#{name}", 0, literal)
        for name, literal in (("basket", 71), ("line", 93))
    )
    steps = (Step(Label("POST /lines"), Drawn(())), Step(Label(label), Drawn(()), bound))
    sent = (interaction(label="POST /lines", exchange=first), interaction(label=label, exchange=last))
    found = finding(fingerprint=f"{1:016x}", label=label, steps=steps, interactions=sent, reproduction="")
    seen: list[bytes] = []

    def answer(request: Request) -> Reply:
        if request.method == "POST":
            return json_reply({"items": [{"url": "http://h/api/baskets/5/lines/6"}]}, 201)
        seen.append(request.target)
        return json_reply({}, 500)

    with serving(answer, {}) as app:
        if program == "bash":
            assert by_bash(tmp_path, app.url, found)[0] == 1
        elif program == "pytest":
            path = tmp_path / "test_failures.py"
            path.write_text(texts(pytest_file.write, app.url, found))
            ran = subprocess.run(
                [sys.executable, "-m", "pytest", "-q", path], cwd=tmp_path, capture_output=True, check=False
            )
            assert ran.returncode == 0, ran.stdout
        else:
            assert '.split("/").slice(-3)[0]' in texts(collections.requests, app.url, found)
            return
    assert seen == [b"/baskets/5/lines/6"]


def test_a_name_that_a_read_repeats_is_taken_from_the_creation(tmp_path: Path) -> None:
    creation, read, label = "POST /lines", "GET /lines/{line}", "GET /lines/{line}/price"
    head = b"Content-Type: application/json\r\n"
    body = b'{"id": 14, "url": "http://h/lines/14/"}'
    exchanges = {
        creation: exchange(method="POST", target=b"/lines", status=201, response_body=body, response_head=head),
        read: exchange(target=b"/lines/14", status=200, response_body=body, response_head=head),
        label: exchange(target=b"/lines/14/price", status=500, response_body=b"{}", response_head=head),
    }
    of_creation = Binding(Location.PATH, "line", Label(creation), "/id", 0, 14, '"$response.body#/id"', 0)
    of_read = Binding(Location.PATH, "line", Label(read), "/url#url:/lines/{line}#line", 0, 14)
    bound: dict[str, tuple[Binding, ...]] = {creation: (), read: (of_creation,), label: (of_read,)}
    steps = tuple(Step(Label(name), Drawn(()), bindings) for name, bindings in bound.items())
    sent = tuple(interaction(label=name, exchange=one) for name, one in exchanges.items())
    found = finding(fingerprint=f"{1:016x}", label=label, steps=steps, interactions=sent, reproduction="")

    def answer(request: Request) -> Reply:
        if request.method == "POST":
            return json_reply({"id": 4}, 201)
        is_of_creation = request.target.startswith(b"/lines/4")
        return json_reply({}, (500 if request.target.endswith(b"/price") else 200) if is_of_creation else 404)

    with serving(answer, {}) as app:
        assert by_bash(tmp_path, app.url, found)[0] == 1


@pytest.mark.parametrize("program", ["bash", "pytest"])
def test_a_name_in_a_location_of_a_step_is_taken_from_it(program: str, tmp_path: Path) -> None:
    creation, label = "POST /executions", "GET /jobs/{job}"
    head = b"Content-Type: application/json\r\n"
    started = exchange(
        method="POST", target=b"/executions", status=200, response_body=b'{"value": "Hello"}',
        response_head=head + b"Location: http://h/jobs/9a8fcea2-ec9d\r\n",
    )  # fmt: skip
    shown = exchange(target=b"/jobs/9a8fcea2-ec9d?f=x", status=500, response_body=b"{}", response_head=head)
    place = "$response.header.Location"
    bound = Binding(Location.PATH, "job", Label(creation), place, 0, "9a8fcea2-ec9d", json.dumps(place), 0)
    steps = (Step(Label(creation), Drawn(())), Step(Label(label), Drawn(()), (bound,)))
    sent = (interaction(label=creation, exchange=started), interaction(label=label, exchange=shown))
    found = finding(fingerprint=f"{1:016x}", label=label, steps=steps, interactions=sent, reproduction="")
    seen: list[bytes] = []

    def answer(request: Request) -> Reply:
        if request.method == "POST":
            return replace(json_reply({"value": "Hello"}), headers=(("Location", "http://h/jobs/57b1"),))
        seen.append(request.target)
        return json_reply({}, 500)

    with serving(answer, {}) as app:
        if program == "bash":
            assert by_bash(tmp_path, app.url, found)[0] == 1
        else:
            path = tmp_path / "test_failures.py"
            path.write_text(texts(pytest_file.write, app.url, found))
            ran = subprocess.run([sys.executable, "-m", "pytest", "-q", path], capture_output=True, check=False)
            assert ran.returncode == 0, ran.stdout
    assert seen == [b"/jobs/57b1?f=x"]


def test_a_version_comes_from_the_step_that_gave_it(tmp_path: Path) -> None:
    creation, label = "PUT /notes/1", "PATCH /notes/1"
    head = b"Content-Type: application/json\r\n"
    made = exchange(
        method="PUT", target=b"/notes/1", status=200, response_body=b"{}", response_head=head + b'ETag: "71"\r\n'
    )
    sent_version = ((b"If-Match", b'"71"'),)
    changed = exchange(
        method="PATCH", target=b"/notes/1", headers=sent_version, status=500, response_body=b"{}", response_head=head
    )
    place = "$response.header.ETag"
    # Another request of the same operation had shown a version first.
    bound = Binding(Location.HEADER, "If-Match", Label(label), place, 0, '"71"', json.dumps(place), 0)
    steps = (Step(Label(creation), Drawn(())), Step(Label(label), Drawn(()), (bound,)))
    sent = (interaction(label=creation, exchange=made), interaction(label=label, exchange=changed))
    found = finding(fingerprint=f"{1:016x}", label=label, steps=steps, interactions=sent, reproduction="")

    def answer(request: Request) -> Reply:
        if request.method == "PUT":
            return replace(json_reply({}), headers=(("ETag", '"8"'),))
        return json_reply({}, 500 if request.headers.get("if-match") == '"8"' else 412)

    with serving(answer, {}) as app:
        assert by_bash(tmp_path, app.url, found)[0] == 1


def _always(reply: Reply, _: Request) -> Reply:
    return reply


@pytest.mark.parametrize(
    ("broken", "mended", "about"),
    [
        (Reply(200, "application/json", b'{"n": 1.0}'), b'{"n": "1"}', ("body.n", "properties/n/type")),
        (Reply(200, "application/json", b'{"n": 1.5}'), b'{"n": 1}', ("body.n", "properties/n/type")),
        (Reply(200, "application/json", b'{"n": 1}'), b'{"n": 5}', ("body.n", "properties/n/minimum")),
        (Reply(200, "application/json", b"null"), b"{}", ("body", "type")),
        (Reply(200, "application/json", b'"\xff"'), b'"a"', ("", "undecodable")),
        (Reply(200, "application/json", b"{} {}"), b"{}", ("", "undecodable")),
        (Reply(200), b"{}", ("media", "")),
        (Reply(200, "text", b"{}"), b"{}", ("media", "")),
    ],
)  # fmt: skip
def test_a_script_sees_a_defect_and_its_end(
    broken: Reply, mended: bytes, about: tuple[str, str], tmp_path: Path
) -> None:
    place, key = about
    head = f"Content-Type: {broken.media_type}\r\n".encode() if broken.media_type else b""
    check = "content_type_conformance" if place == "media" else "response_schema_conformance"
    found = failing(
        "GET", b"/", 200, broken.body, response_head=head, check=check, unique_key=key, message=f"{place}: is wrong"
    )
    for reply, code in ((broken, 1), (Reply(200, "application/json", mended), 0)):
        with serving(partial(_always, reply), {}) as app:
            assert by_bash(tmp_path, app.url, found)[0] == code


@pytest.mark.parametrize(("items", "code"), [(b'[{"n": "1"}]', 1), (b'[{"n": 1}]', 0), (b"[{}]", 0), (b"[]", 3)])
def test_an_empty_list_is_no_fix_of_its_item(items: bytes, code: int, tmp_path: Path) -> None:
    found = failing(
        "GET", b"/", 200, b'[{"n": "1"}]', check="response_schema_conformance", unique_key="properties/n/type",
        message="body[0].n: is no integer",
    )  # fmt: skip
    with serving(partial(_always, Reply(200, "application/json", items)), {}) as app:
        assert by_bash(tmp_path, app.url, found)[0] == code


@pytest.mark.parametrize("removed", [True, False])
@pytest.mark.parametrize(("status", "code"), [(404, 0), (403, 3), (503, 3)])
def test_an_earlier_request_that_is_refused_unhandled_is_no_fix(
    status: int, code: int, removed: bool, tmp_path: Path
) -> None:
    first = made("/items/71", "http://h/items/71", "")
    first = replace(first, status=404, is_gone=removed)
    found = failing("GET", b"/items/71", 500, b"{}", needs=(first,))

    def answer(request: Request) -> Reply:
        return json_reply({}, status if request.method == "POST" else 200)

    with serving(answer, {}) as app:
        assert by_bash(tmp_path, app.url, found)[0] == code


@pytest.mark.parametrize("body", [b"\x00\xff", b'"{{process.exit(7)}}"', b"a\n### b"])
def test_a_body_that_editors_would_read_as_theirs_is_not_judged(body: bytes) -> None:
    text = texts(collections.requests, "http://h", failing("POST", b"/", 500, b"{}", body))
    assert "client.assert(false, " in text
    assert "is fixed" not in text


@pytest.mark.parametrize("name", ["etag", "x.y", "x'|*$`~^!#&+%-_9"])
def test_a_header_of_any_name_is_read_by_the_shell(tmp_path: Path, name: str) -> None:
    # An unquoted pattern such as `[Ee]` stands for the names of files.
    (tmp_path / name).write_text("")
    (tmp_path / "head").write_bytes(f"HTTP/1.1 200 OK\r\nother: 0\r\n{name.title()}: v1\r\n\r\n".encode())
    script = f"""value() {{ sed -n "s/\\r\\$//; s/^$2: *//p" head; }}; value {value_of(Taken(Source(0, None, name), False, "v"))}"""
    found = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (found.stdout, found.stderr) == ("v1\n", "")
